package presenter

import (
	"bytes"
	"encoding/json"
	"strconv"

	"dsh-acp/internal/msg"
)

// MetaMaxBytes bounds the serialised diffs of a [DiffMeta]. The log keeps
// them for good and a client holds them in memory, so a change of thousands of
// hunks is stored in part rather than whole.
const MetaMaxBytes = 256 << 10

// A DiffMeta is what a tool that changes files stores with its result, and
// what its card is drawn from, live and on replay. A tool with more to store
// embeds it in a struct of its own. It holds hunks, never whole files, and
// paths as the model wrote them, so that a log says nothing of the machine.
type DiffMeta struct {
	Diffs []FileDiff `json:"diffs"` // never null
	// Truncated is nil unless hunks were left out for their size.
	Truncated *Truncated `json:"truncated,omitempty"`
}

// Truncated says how many of a change's hunks were kept.
type Truncated struct {
	Hunks int `json:"hunks"` // kept, from the start
	Of    int `json:"of"`
}

// NewDiffMeta keeps as many of diffs, from the first one on, as fit into
// [MetaMaxBytes] of JSON. It does not copy them.
func NewDiffMeta(diffs []FileDiff) DiffMeta { return newDiffMeta(diffs, MetaMaxBytes) }

func newDiffMeta(diffs []FileDiff, limit int) DiffMeta {
	size := len("[]")
	for i, d := range diffs {
		raw := mustMarshal(d)
		size += len(raw)
		if i > 0 {
			size += len(",")
		}
		if size > limit {
			return DiffMeta{
				Diffs:     append([]FileDiff{}, diffs[:i]...),
				Truncated: &Truncated{Hunks: i, Of: len(diffs)},
			}
		}
	}
	if diffs == nil {
		diffs = []FileDiff{}
	}
	return DiffMeta{Diffs: diffs}
}

// JSON encodes m for msg.ToolResult.Meta.
func (m DiffMeta) JSON() json.RawMessage {
	if m.Diffs == nil {
		m.Diffs = []FileDiff{}
	}
	return mustMarshal(m)
}

// DiffsFromMeta reads the hunks of a stored meta. It returns nil for anything
// but an object whose "diffs" is a list of well-formed entries, at least one:
// a log may be old or edited by hand, and half a diff would be a lie. Keys
// that it does not know are ignored, and numbers that make no sense are 0.
func DiffsFromMeta(meta json.RawMessage) []FileDiff {
	// Maps rather than structs: struct fields match keys of any case, and
	// cannot tell an absent oldText from null.
	var entries []map[string]json.RawMessage
	if json.Unmarshal(member(meta, "diffs"), &entries) != nil || len(entries) == 0 {
		return nil
	}
	diffs := make([]FileDiff, 0, len(entries))
	for _, m := range entries {
		d, ok := diffFromMeta(m)
		if !ok {
			return nil
		}
		diffs = append(diffs, d)
	}
	return diffs
}

// OmittedFromMeta returns the number of hunks that a stored meta says were
// left out, 0 if it says nothing sensible of the kind.
func OmittedFromMeta(meta json.RawMessage) int {
	if !bytes.Contains(meta, []byte("truncated")) && !bytes.Contains(meta, []byte(`\u`)) {
		return 0 // there is no such key, however it is written
	}
	raw := member(meta, "truncated")
	kept, of := natural(member(raw, "hunks")), natural(member(raw, "of"))
	return max(of-kept, 0)
}

func diffFromMeta(m map[string]json.RawMessage) (FileDiff, bool) {
	path, ok1 := jsonString(m["path"])
	newText, ok2 := jsonString(m["newText"])
	if !ok1 || !ok2 {
		return FileDiff{}, false
	}
	d := FileDiff{
		Path: path, NewText: newText,
		OldStart: natural(m["oldStart"]), NewStart: natural(m["newStart"]),
		Added: natural(m["added"]), Removed: natural(m["removed"]),
		Coarse: string(m["coarse"]) == "true",
	}
	if old := m["oldText"]; string(old) != "null" {
		s, ok := jsonString(old)
		if !ok {
			return FileDiff{}, false
		}
		d.OldText = &s
	}
	return d, true
}

// member returns the value of key in the JSON object raw, nil if there is none.
func member(raw json.RawMessage, key string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m[key]
}

// jsonString decodes a JSON string, and nothing else.
func jsonString(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// natural decodes a JSON integer that is not negative; everything else is 0.
func natural(raw json.RawMessage) int {
	n, err := strconv.Atoi(string(raw)) // what it takes beyond JSON cannot be there
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// mustMarshal encodes values of this package's own types, which cannot fail.
func mustMarshal(v any) json.RawMessage {
	raw, err := msg.Marshal(v)
	if err != nil {
		panic("presenter: " + err.Error())
	}
	return raw
}
