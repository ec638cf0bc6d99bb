package hashline

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/OneOfOne/xxhash"

	"dsh-acp/internal/text"
)

// An ID tells texts apart. Two texts have one ID when they differ in nothing
// but their mark, their line endings and blanks at the ends of lines.
// It is comparable.
type ID struct {
	Hash   uint32            // xxHash32, of which a tag shows the low digits
	Digest [sha256.Size]byte // decides whether two texts are the same
}

// Identify computes the ID of a text: both hashes are those of the text with
// LF line ends, without mark, and with spaces, tabs and carriage returns
// removed from the end of each line. Whether the last line ends is kept.
func Identify(d text.Doc) ID {
	short := xxhash.New32()
	long := sha256.New()
	normal(d.Text(), func(b []byte) {
		// Neither hash fails.
		_, _ = short.Write(b)
		_, _ = long.Write(b)
	})
	id := ID{Hash: short.Sum32()}
	long.Sum(id.Digest[:0])
	return id
}

// Name is Identify(d).Short() at a fraction of the cost, for those who need the
// name only.
func Name(d text.Doc) Tag {
	short := xxhash.New32()
	normal(d.Text(), func(b []byte) { _, _ = short.Write(b) }) // it does not fail
	return ID{Hash: short.Sum32()}.Short()
}

// normal gives the normalised text of s piece by piece. CRLF needs no folding,
// since its "\r" is at the end of a line.
func normal(s string, put func([]byte)) {
	b := unsafe.Slice(unsafe.StringData(s), len(s)) // only read
	const blanks = " \t\r"
	from, at := 0, 0
	for at < len(s) {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 {
			end = len(s)
		} else {
			end += at
		}
		if end > at && strings.IndexByte(blanks, s[end-1]) >= 0 {
			kept := at + len(strings.TrimRight(s[at:end], blanks))
			put(b[from:kept])
			from = end
		}
		at = end + 1
	}
	if from < len(s) {
		put(b[from:])
	}
}

// Short returns the tag of four digits.
func (id ID) Short() Tag { return Tag{id.Hash & 0xFFFF, 4} }

// Long returns the tag of eight digits, for a text whose short tag is taken.
func (id ID) Long() Tag { return Tag{id.Hash, 8} }

// A Tag is a name for a text: the last 4 to 8 hex digits of its hash. It is a
// name and no proof, since few digits collide. The zero Tag is no tag.
// Tags are comparable.
type Tag struct {
	bits   uint32
	digits int
}

// ParseTag reads a tag in any case. A "#" before it and a whole header
// ("¶path#TAG") are accepted too. It fails with a CodeNoTag.
func ParseTag(s string) (Tag, error) {
	given := s
	s = strings.TrimSpace(s)
	if i := strings.LastIndexByte(s, '#'); i == 0 || i > 0 && strings.HasPrefix(s, "¶") {
		s = s[i+1:]
	}
	if s == "" {
		return Tag{}, refuse(CodeNoTag, "file_hash is missing: give the tag that a read or an edit shows behind the # of its header")
	}
	bits, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) < 4 || len(s) > 8 || s[0] == '+' {
		return Tag{}, refuse(CodeNoTag, "file_hash %q is not a tag of 4 to 8 hex digits: copy the tag behind the # of the header", given)
	}
	return Tag{uint32(bits), len(s)}, nil
}

// Names reports whether the tag may mean a text with that ID.
func (t Tag) Names(id ID) bool {
	return t.digits > 0 && id.Hash&(1<<(4*t.digits)-1) == t.bits
}

// String returns the digits in upper case, "" for the zero Tag.
func (t Tag) String() string {
	if t.digits == 0 {
		return ""
	}
	return fmt.Sprintf("%0*X", t.digits, t.bits)
}
