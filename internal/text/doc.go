// Package text holds a file's text as a value: its byte order mark, its lines
// with their own terminators, and edits by byte offset that leave every other
// byte as it was. It refuses what is not UTF-8 text; it never converts.
//
// Two views of a document matter. [Doc.Text] is what the file holds, less the
// mark. [Doc.LF] is the same with each "\r\n" folded to "\n": what a model
// reads, what it searches, and what diffs are made of. Offsets go from one to
// the other by [Doc.RawOffset] and [Doc.LFOffset].
//
// A line ends with "\n" or "\r\n". A carriage return on its own is content.
package text

import (
	"strings"
	"unsafe"
)

const mark = "\uFEFF" // as UTF-8, the bytes EF BB BF

// A Doc is the text of one file. It never changes, may be copied, and is safe
// for concurrent use. The zero Doc is the empty text. Documents are compared
// by [Doc.Raw], not with ==.
type Doc struct {
	raw  string // with the mark
	bom  bool
	lazy *lazy // nil for the zero Doc
}

// Parse reads the bytes of a file. It fails with a *[NotTextError] if they
// are not UTF-8 or hold a NUL byte. b is copied.
func Parse(b []byte) (Doc, error) { return ParseString(string(b)) }

// ParseOwned is [Parse] without the copy: the document keeps b, which nobody
// may write to from then on. It is for large files that were just read.
func ParseOwned(b []byte) (Doc, error) {
	return ParseString(unsafe.String(unsafe.SliceData(b), len(b)))
}

// ParseString is [Parse] for bytes that are in a string already.
func ParseString(s string) (Doc, error) {
	if err := check(s); err != nil {
		return Doc{}, err
	}
	return known(s), nil
}

// known makes a document of bytes that passed check, or whose parts did.
func known(s string) Doc {
	return Doc{raw: s, bom: strings.HasPrefix(s, mark), lazy: new(lazy)}
}

// Bytes returns the file's bytes, in a slice that the caller owns.
func (d Doc) Bytes() []byte { return []byte(d.raw) }

// Raw is [Doc.Bytes] as a string, and needs no copy.
func (d Doc) Raw() string { return d.raw }

// BOM reports whether the file starts with a UTF-8 byte order mark. The mark
// is no part of the text, of an offset or of line 1.
func (d Doc) BOM() bool { return d.bom }

// Text returns the text without the mark, terminators as they are.
func (d Doc) Text() string {
	if d.bom {
		return d.raw[len(mark):]
	}
	return d.raw
}

// WithBOM returns the document with the mark or without it.
func (d Doc) WithBOM(bom bool) Doc {
	if bom == d.bom {
		return d
	}
	if bom {
		return known(mark + d.raw)
	}
	return known(d.Text())
}

// Rewrite returns the document that replaces d when content is written over
// it as a whole. The mark of d stays. Content that holds a CRLF is taken as
// given. Content with bare LFs alone gets the endings of d: CRLF where all
// lines of d end so; where they are mixed, a line that stays keeps its own
// ending, and a new one gets that of most lines. folded says that endings of
// content were changed. It fails as [Parse] does.
func (d Doc) Rewrite(content string) (doc Doc, folded bool, err error) {
	n, err := ParseString(content)
	if err != nil {
		return Doc{}, false, err
	}
	if s, was := n.Shape(), d.Shape(); s.LF > 0 && s.CRLF == 0 && was.CRLF > 0 {
		body := n.Text()
		if was.Mixed() {
			body = keepEndings(d.Text(), body, was.Ending())
		} else {
			body = WithEnding(body, CRLF)
		}
		folded = body != n.Text()
		n = known(n.raw[:len(n.raw)-len(n.Text())] + body)
	}
	return n.WithBOM(n.bom || d.bom), folded, nil
}
