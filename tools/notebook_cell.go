package tools

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsh-acp/internal/jsonedit"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/text"
)

// A notebook is what is read of a notebook's JSON.
type notebook struct {
	Cells    []json.RawMessage `json:"cells"`
	Format   int               `json:"nbformat"`
	Minor    int               `json:"nbformat_minor"`
	Metadata struct {
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
	} `json:"metadata"`
}

// A cell is what is read of one of its cells.
type cell struct {
	ID     string `json:"id"`
	Type   string `json:"cell_type"`
	Source lined  `json:"source"`
	Out    []struct {
		Text lined            `json:"text"`
		Data map[string]lined `json:"data"`
		Name string           `json:"ename"`
		Why  string           `json:"evalue"`
	} `json:"outputs"`
}

// A lined text is a string or a list of lines with their breaks. What is
// neither is no text.
type lined struct {
	text  string
	whole bool // it was one string
}

func (l *lined) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &l.text) == nil {
		l.whole = true
		return nil
	}
	var parts []string
	_ = json.Unmarshal(b, &parts) // pictures and the like
	l.text = strings.Join(parts, "")
	return nil
}

// parseNotebook reads a notebook with its cells. The error says what is wrong.
func parseNotebook(lf string) (notebook, []cell, error) {
	var n notebook
	if err := json.Unmarshal([]byte(lf), &n); err != nil {
		return n, nil, err
	}
	if n.Cells == nil || n.Format < 4 {
		return n, nil, errors.New("it has no list of cells, or is older than format 4")
	}
	cells := make([]cell, len(n.Cells))
	for i, raw := range n.Cells {
		if err := json.Unmarshal(raw, &cells[i]); err != nil {
			return n, nil, fmt.Errorf("cell %d: %w", i, err)
		}
		if cells[i].ID == "" {
			cells[i].ID = fmt.Sprintf("cell-%d", i)
		}
	}
	return n, cells, nil
}

// A cellEdit is what a call asks for.
type cellEdit struct {
	path   string // for messages
	id     string
	source string
	kind   string // "" keeps the cell's
	mode   string // replace, insert or delete
}

// apply makes the edit in d and says what it did.
func (c cellEdit) apply(d text.Doc) (text.Doc, string, error) {
	n, cells, err := parseNotebook(d.LF())
	if err != nil {
		return d, "", failf(CodeNotebook, "notebookedit %s: the file is no notebook: %v; nothing was written", c.path, err)
	}
	at := slices.IndexFunc(cells, func(x cell) bool { return x.ID == c.id })
	if at < 0 && (c.mode != "insert" || c.id != "") {
		ids := make([]string, 0, maxListed)
		for _, x := range cells[:min(len(cells), maxListed)] {
			ids = append(ids, x.ID)
		}
		return d, "", failf(CodeNoCell, "notebookedit %s: there is no cell %q; the notebook has %s: %s; nothing was written",
			c.path, c.id, plural(len(cells), "1 cell", "%d cells"), list(ids))
	}
	doc, err := jsonedit.Parse(d, jsonedit.Limits{})
	if err != nil {
		return d, "", failf(CodeNotebook, "notebookedit %s: %v; nothing was written", c.path, err)
	}
	var change jsonedit.Change
	said := ""
	switch c.mode {
	case "replace":
		said = fmt.Sprintf("Updated cell %s with %s", c.id, c.source)
		change, err = setJSON(doc, fmt.Sprintf("/cells/%d", at), c.replaced(n.Cells[at], cells[at]))
	case "delete":
		said = "Deleted cell " + c.id
		rest := slices.Delete(slices.Clone(n.Cells), at, at+1)
		change, err = setJSON(doc, "/cells", mustJSON(rest))
	default:
		id, raw := c.made(n, at)
		said = fmt.Sprintf("Inserted cell %s with %s", id, c.source)
		var v jsonedit.Value
		if v, err = jsonedit.ParseValue(raw, jsonedit.Limits{}); err == nil && len(n.Cells) == 0 {
			change, err = doc.Set("/cells/-", v)
		} else if err == nil {
			change, err = insertCell(doc, at+1, len(n.Cells), v)
		}
	}
	if err != nil {
		return d, "", failf(CodeNotebook, "notebookedit %s: %v; nothing was written", c.path, err)
	}
	if len(change.Edits) == 0 {
		return d, "", failf(CodeNoChange, "notebookedit %s: the cell %s is so already: there is nothing to change; nothing was written", c.path, c.id)
	}
	after, err := d.Apply(change.Edits...)
	if err == nil {
		err = doc.Check(after, change)
	}
	if err != nil {
		return d, "", failf(CodeNotebook, "notebookedit %s: %v; nothing was written", c.path, err)
	}
	return after, said, nil
}

func setJSON(doc *jsonedit.Document, pointer string, raw json.RawMessage) (jsonedit.Change, error) {
	v, err := jsonedit.ParseValue(raw, jsonedit.Limits{})
	if err != nil {
		return jsonedit.Change{}, err
	}
	return doc.Set(pointer, v)
}

func insertCell(doc *jsonedit.Document, at, count int, v jsonedit.Value) (jsonedit.Change, error) {
	if at == count {
		return doc.Set("/cells/-", v)
	}
	return doc.Insert("/cells", at, v)
}

// replaced is a cell with the new source, and without what came of the old one.
func (c cellEdit) replaced(raw json.RawMessage, old cell) json.RawMessage {
	kind := old.Type
	if c.kind != "" {
		kind = c.kind
	}
	source := sourceJSON(c.source, old.Source.whole)
	members, err := splitObject(string(raw))
	if err != nil {
		panic("tools: a cell that was read is no object: " + err.Error())
	}
	var out []member
	has := map[string]bool{}
	for _, m := range members {
		has[m.name] = true
		switch m.name {
		case "source":
			m.value = source
		case "cell_type":
			m.value = mustJSON(kind)
		case "outputs", "execution_count":
			if kind != "code" {
				continue // only code has them
			}
			m.value = emptied(m.name)
		}
		out = append(out, m)
	}
	for _, name := range []string{"execution_count", "outputs"} {
		if kind == "code" && !has[name] {
			out = append(out, member{name, emptied(name)})
		}
	}
	if !has["source"] {
		out = append(out, member{"source", source})
	}
	return object(out)
}

// made is a new cell behind the one at, with an id where the format has them.
func (c cellEdit) made(n notebook, at int) (id string, raw json.RawMessage) {
	members := []member{{"cell_type", mustJSON(c.kind)}}
	if c.kind == "code" {
		members = append(members, member{"execution_count", emptied("execution_count")})
	}
	id = fmt.Sprintf("cell-%d", at+1)
	if n.Format > 4 || n.Minor >= 5 {
		id = c.freshID(n)
		members = append(members, member{"id", mustJSON(id)})
	}
	members = append(members, member{"metadata", json.RawMessage("{}")})
	if c.kind == "code" {
		members = append(members, member{"outputs", emptied("outputs")})
	}
	return id, object(append(members, member{"source", sourceJSON(c.source, false)}))
}

// freshID is made from what is inserted where, so that a plan and its run
// give the same one.
func (c cellEdit) freshID(n notebook) string {
	for i := 0; ; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", i, c.id, c.source))
		id := hex.EncodeToString(sum[:4])
		if !slices.ContainsFunc(n.Cells, func(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(`"`+id+`"`)) }) {
			return id
		}
	}
}

func emptied(name string) json.RawMessage {
	if name == "outputs" {
		return json.RawMessage("[]")
	}
	return json.RawMessage("null")
}

// sourceJSON writes a source as a list of lines, which is the custom, or as
// one string where the cell had one.
func sourceJSON(source string, whole bool) json.RawMessage {
	if whole {
		return mustJSON(source)
	}
	parts := []string{}
	for line := range strings.Lines(source) {
		parts = append(parts, line)
	}
	return mustJSON(parts)
}

func object(members []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(mustJSON(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// mustJSON encodes strings, and lists of them or of JSON, which cannot fail.
func mustJSON(v any) json.RawMessage {
	raw, err := msg.Marshal(v)
	if err != nil {
		panic("tools: " + err.Error())
	}
	return raw
}
