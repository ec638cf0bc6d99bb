package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// readTool shows a part of a text file, or a picture.
type readTool struct{}

//go:embed read.md
var readText string

const readSchema = `{
  "type": "object",
  "properties": {
    "file_path": {"type": "string", "description": "the file, absolute or relative to the working directory"},
    "offset": {"type": "integer", "minimum": 1, "description": "the first line to show, counted from 1"},
    "limit": {"type": "integer", "minimum": 1, "description": "how many lines to show"}
  },
  "required": ["file_path"],
  "additionalProperties": false
}`

const (
	// streamFrom is the size from which a file is not held whole to be read,
	// if the backend can stream.
	streamFrom = 10 << 20
	// maxPicture bounds the bytes of a picture; services refuse larger ones
	// once they are written as base64.
	maxPicture = 3_750_000
)

// An Opener is a backend that can also stream. Open fails as Read does; the
// caller closes what it returns.
type Opener interface {
	Open(ctx context.Context, path string) (io.ReadCloser, fsbackend.Info, error)
}

func (readTool) params() []param {
	return []param{{"file_path", stringParam, true}, {"offset", countParam, false}, {"limit", countParam, false}}
}

func (readTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: readText, InputSchema: json.RawMessage(readSchema)}
}

func (readTool) cards() presenter.Tool { return readCards{} }

func (readTool) plan(ctx context.Context, e *env, name string, args arguments) (*Plan, error) {
	r := readRun{env: e, name: name, path: args.text("file_path"), offset: max(args.count("offset"), 1), limit: args.count("limit")}
	var err error
	if r.abs, err = e.resolve(ctx, name, "file_path", r.path); err != nil {
		return nil, err
	}
	if _, err := r.look(ctx); err != nil {
		return nil, err
	}
	return &Plan{
		Need: Need{Access: Look, Paths: []string{r.abs}, Outside: e.outside(r.abs)},
		run: func(ctx context.Context) msg.ToolResult {
			res, err := r.run(ctx)
			if err != nil {
				return failed(name, err)
			}
			return res
		},
	}, nil
}

type readRun struct {
	env           *env
	name          string
	path, abs     string
	offset, limit int // limit 0: none given
}

func (r readRun) look(ctx context.Context) (fsbackend.Info, error) {
	info, err := r.env.Files.Stat(ctx, r.abs)
	switch {
	case err != nil:
		return info, err
	case !info.Exists:
		r.env.Seen.Note(info.Key, fsbackend.Version{})
		return info, r.env.missing(ctx, "read", r.path, r.abs, "")
	case info.Dir:
		return info, failf(fsbackend.CodeNotRegular, "read %s: it is a folder: name a file in it", r.path)
	}
	return info, nil
}

func (r readRun) run(ctx context.Context) (msg.ToolResult, error) {
	info, err := r.look(ctx)
	if err != nil {
		return msg.ToolResult{}, err
	}
	if o, ok := r.env.Files.(Opener); ok && info.Size >= streamFrom {
		return r.stream(ctx, o)
	}
	file, err := r.env.Files.Read(ctx, r.abs)
	if err != nil {
		return msg.ToolResult{}, err
	}
	r.env.Seen.NoteFile(file)
	if mime := pictureType(file.Data); mime != "" {
		return r.picture(mime, file.Data)
	}
	doc, err := file.Doc()
	if err != nil {
		return msg.ToolResult{}, err
	}
	if isNotebook(r.abs) && r.limit == 0 && r.offset == 1 {
		if view, ok := notebookView(doc.LF(), r.env.Read.Bytes); ok {
			return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: view}}, Meta: json.RawMessage(`{"notebook":true}`)}, nil
		}
	}
	w := newWindow(r.env.Read, r.offset, r.limit)
	w.add([]byte(doc.Text()))
	res, err := r.result(w)
	return withNotes(res, file.Notes), err
}

// withNotes puts what is to be known of a file below its text.
func withNotes(res msg.ToolResult, notes []string) msg.ToolResult {
	for _, note := range notes {
		if t, ok := res.Content[0].(msg.Text); ok {
			t.Text += "\n\n(" + note + ")"
			res.Content[0] = t
		}
	}
	return res
}

// stream reads a large file in pieces. All of it is read, since the version
// that the session saw is that of the whole file.
func (r readRun) stream(ctx context.Context, o Opener) (msg.ToolResult, error) {
	f, info, err := o.Open(ctx, r.abs)
	if err != nil {
		return msg.ToolResult{}, err
	}
	defer f.Close()
	h, w, check := sha256.New(), newWindow(r.env.Read, r.offset, r.limit), utf8Stream{}
	buf := make([]byte, 256<<10)
	var flaw error
	for first := true; ; first = false {
		if err := ctx.Err(); err != nil {
			return msg.ToolResult{}, err
		}
		n, err := io.ReadFull(f, buf)
		piece := buf[:n]
		h.Write(piece)
		if first && pictureType(piece) != "" {
			return r.picture(pictureType(piece), make([]byte, maxPicture+1))
		}
		if flaw == nil {
			flaw = check.add(piece)
		}
		if first {
			piece = bytes.TrimPrefix(piece, []byte("\ufeff"))
		}
		w.add(piece)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return msg.ToolResult{}, failf(fsbackend.CodeIO, "read %s: %v", r.path, err)
		}
	}
	if flaw == nil {
		flaw = check.end()
	}
	r.env.Seen.Note(info.Key, fsbackend.Version(h.Sum(nil)))
	if flaw != nil {
		return msg.ToolResult{}, failf(fsbackend.CodeNotText, "read %s: not UTF-8 text: %v; use a command that understands the file's format", r.path, flaw)
	}
	return r.result(w)
}

func (r readRun) result(w *window) (msg.ToolResult, error) {
	v := w.end()
	if v.total == 0 && !v.trailing {
		return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: "(the file is empty)"}}}, nil
	}
	if last := v.total; r.offset > last {
		// No failure: that there is nothing more is what the model wanted to know.
		return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: fmt.Sprintf("(offset %d is behind the end: the file has %s; use an offset from 1 to %d)",
			r.offset, plural(last, "1 line", "%d lines"), last)}}}, nil
	}
	var b strings.Builder
	for i, line := range v.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d\t%s", r.offset+i, line)
	}
	if v.trailing {
		fmt.Fprintf(&b, "\n%d\t", r.offset+len(v.lines))
	}
	if next := r.offset + len(v.lines); v.capped {
		fmt.Fprintf(&b, "\n\n(lines %d to %d of %d; %s allows no more at once: go on with offset %d)", r.offset, next-1, v.total, r.name, next)
	}
	meta, err := msg.Marshal(struct {
		Read readMeta `json:"read"`
	}{readMeta{Offset: r.offset, Lines: len(v.lines), Total: v.total}})
	return msg.ToolResult{Content: msg.Blocks{msg.Text{Text: b.String()}}, Meta: meta}, err
}

func (r readRun) picture(mime string, data []byte) (msg.ToolResult, error) {
	if len(data) > maxPicture {
		return msg.ToolResult{}, failf(fsbackend.CodeTooLarge, "read %s: the picture has more than %d bytes: make a smaller copy and read that", r.path, maxPicture)
	}
	return msg.ToolResult{Content: msg.Blocks{msg.Image{MIME: mime, Data: data}}}, nil
}

// pictureType tells a picture by its first bytes, "" if it is none: names lie.
func pictureType(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}
