package conformance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dsh-acp/internal/msg"
)

// Senders of an [Entry].
const (
	fromClient = "client"
	fromAgent  = "agent"
)

// An Entry is one message of a trace, in the order of passing.
type Entry struct {
	Seq     int             `json:"seq"` // 1, 2, 3, …
	From    string          `json:"from"`
	Message json.RawMessage `json:"message"`
}

// ReadTrace reads a trace.jsonl.
func ReadTrace(path string) ([]Entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Entry
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			var e Entry
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
			if e.From != fromClient && e.From != fromAgent {
				return nil, fmt.Errorf("%s:%d: from %q: want client or agent", path, n, e.From)
			}
			out = append(out, e)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func writeTrace(path string, entries []Entry) error {
	var b strings.Builder
	for _, e := range entries {
		line, err := msg.Marshal(e)
		if err != nil {
			return err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// placeholders turns what differs between two runs into names and back.
type placeholders struct {
	pairs [][2]string // name, value; longer values first
}

func newPlaceholders(workspace, home string) *placeholders {
	p := &placeholders{}
	p.add("${WORKSPACE}", workspace)
	p.add("${HOME}", home)
	return p
}

func (p *placeholders) add(name, value string) {
	if value == "" {
		return
	}
	i := 0
	for i < len(p.pairs) && len(p.pairs[i][1]) >= len(value) {
		i++
	}
	p.pairs = append(p.pairs, [2]string{})
	copy(p.pairs[i+1:], p.pairs[i:])
	p.pairs[i] = [2]string{name, value}
}

// hide replaces the values in JSON text by their names. On systems whose
// paths have backslashes, those after a workspace become slashes, as the
// traces have them.
func (p *placeholders) hide(raw json.RawMessage) json.RawMessage {
	s := string(raw)
	for _, pair := range p.pairs {
		s = strings.ReplaceAll(s, inJSON(pair[1]), pair[0])
	}
	if filepath.Separator == '\\' {
		s = slashTail(s)
	}
	return json.RawMessage(s)
}

// show replaces the names in JSON text by their values.
func (p *placeholders) show(raw json.RawMessage) json.RawMessage {
	s := string(raw)
	for _, pair := range p.pairs {
		s = strings.ReplaceAll(s, pair[0], inJSON(pair[1]))
	}
	return json.RawMessage(s)
}

// showText is show for text that is not JSON.
func (p *placeholders) showText(s string) string {
	for _, pair := range p.pairs {
		s = strings.ReplaceAll(s, pair[0], pair[1])
	}
	return s
}

// inJSON is s as it stands inside a JSON string.
func inJSON(s string) string {
	b, err := msg.Marshal(s)
	if err != nil {
		panic("conformance: " + err.Error()) // a string always encodes
	}
	return string(b[1 : len(b)-1])
}

// slashTail turns the backslashes of paths below a placeholder into slashes.
func slashTail(s string) string {
	const mark = "${WORKSPACE}"
	var b strings.Builder
	for {
		i := strings.Index(s, mark)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i+len(mark)])
		s = s[i+len(mark):]
		end := strings.IndexAny(s, "\" \n")
		if end < 0 {
			end = len(s)
		}
		b.WriteString(strings.ReplaceAll(s[:end], `\\`, "/"))
		s = s[end:]
	}
}
