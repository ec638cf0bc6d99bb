package presenter

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var metaCases = []struct {
	name, meta string
	want       []FileDiff
	omitted    int
}{
	{"absent", ``, nil, 0},
	{"null", `null`, nil, 0},
	{"scalar", `7`, nil, 0},
	{"text", `"diffs"`, nil, 0},
	{"array", `[{"path":"a","oldText":null,"newText":"b"}]`, nil, 0},
	{"no diffs", `{"other":1}`, nil, 0},
	{"another case", `{"Diffs":[{"path":"a","oldText":null,"newText":"b"}]}`, nil, 0},
	{"diffs no list", `{"diffs":{"path":"a"}}`, nil, 0},
	{"diffs null", `{"diffs":null}`, nil, 0},
	{"empty list", `{"diffs":[]}`, nil, 0},
	{"path missing", `{"diffs":[{"oldText":null,"newText":"b"}]}`, nil, 0},
	{"path no string", `{"diffs":[{"path":1,"oldText":null,"newText":"b"}]}`, nil, 0},
	{"newText missing", `{"diffs":[{"path":"a","oldText":"x"}]}`, nil, 0},
	{"newText null", `{"diffs":[{"path":"a","oldText":"x","newText":null}]}`, nil, 0},
	{"oldText missing", `{"diffs":[{"path":"a","newText":"b"}]}`, nil, 0},
	{"oldText number", `{"diffs":[{"path":"a","oldText":0,"newText":"b"}]}`, nil, 0},
	{"key in another case", `{"diffs":[{"Path":"a","oldText":null,"newText":"b"}]}`, nil, 0},
	{"one of two is bad", `{"diffs":[{"path":"a","oldText":null,"newText":"b"},{"path":"a"}]}`, nil, 0},
	{"entry no object", `{"diffs":[null]}`, nil, 0},
	{"cut off", `{"diffs":[{"path":"a","oldText":null,"newText":"b"}`, nil, 0},
	{"null before", `{"diffs":[{"path":"a","oldText":null,"newText":"b"}]}`, []FileDiff{{Path: "a", NewText: "b"}}, 0},
	{"empty before", `{"diffs":[{"path":"a","oldText":"","newText":""}]}`, []FileDiff{{Path: "a", OldText: new(string)}}, 0},
	{"numbers", `{"diffs":[{"path":"a","oldText":null,"newText":"b","oldStart":1,"newStart":2,"added":3,"removed":4,"coarse":true}]}`,
		[]FileDiff{{Path: "a", NewText: "b", OldStart: 1, NewStart: 2, Added: 3, Removed: 4, Coarse: true}}, 0},
	{"senseless numbers", `{"diffs":[{"path":"a","oldText":null,"newText":"b","oldStart":-1,"newStart":"2","added":1.5,"removed":1e99,"coarse":1}]}`,
		[]FileDiff{{Path: "a", NewText: "b"}}, 0},
	{"more keys", `{"diffs":[{"path":"a","oldText":null,"newText":"b","x":[]}],"y":{}}`, []FileDiff{{Path: "a", NewText: "b"}}, 0},
	{"truncated", `{"diffs":[],"truncated":{"hunks":2,"of":5}}`, nil, 3},
	{"truncated, nonsense", `{"diffs":[],"truncated":{"hunks":7,"of":5}}`, nil, 0},
	{"truncated, no object", `{"diffs":[],"truncated":true}`, nil, 0},
}

func TestDiffsFromMeta(t *testing.T) {
	for _, c := range metaCases {
		assert.Equal(t, c.want, DiffsFromMeta(json.RawMessage(c.meta)), c.name)
		assert.Equal(t, c.omitted, OmittedFromMeta(json.RawMessage(c.meta)), c.name)
	}
}

func TestNewDiffMeta(t *testing.T) {
	assert.Equal(t, `{"diffs":[]}`, string(NewDiffMeta(nil).JSON()))
	assert.Equal(t, `{"diffs":[]}`, string(DiffMeta{}.JSON()))

	diffs := make([]FileDiff, 9)
	for i := range diffs {
		diffs[i] = FileDiff{Path: "a", NewText: fmt.Sprint("<", i, ">"), NewStart: i + 1}
	}
	whole := len(mustMarshal(diffs))
	for limit := range whole + 2 {
		m := newDiffMeta(diffs, limit)
		require.LessOrEqual(t, len(mustMarshal(m.Diffs)), max(limit, len("[]")))
		if limit >= whole {
			require.Equal(t, DiffMeta{Diffs: diffs}, m)
			continue
		}
		require.Equal(t, &Truncated{Hunks: len(m.Diffs), Of: 9}, m.Truncated)
		require.Equal(t, diffs[:len(m.Diffs)], m.Diffs)
		// One more would not have fitted.
		require.Greater(t, len(mustMarshal(diffs[:len(m.Diffs)+1])), limit)
		require.Equal(t, 9-len(m.Diffs), OmittedFromMeta(m.JSON()))
	}

	big := []FileDiff{{Path: "a", NewText: strings.Repeat("x", MetaMaxBytes)}, {Path: "a"}}
	assert.Equal(t, `{"diffs":[],"truncated":{"hunks":0,"of":2}}`, string(NewDiffMeta(big).JSON()))
}

// FuzzDiffsFromMeta: what is read of any meta is the same after it was stored again.
func FuzzDiffsFromMeta(f *testing.F) {
	for _, c := range metaCases {
		f.Add([]byte(c.meta))
	}
	f.Fuzz(func(t *testing.T, meta []byte) {
		diffs := DiffsFromMeta(meta)
		if diffs == nil {
			return
		}
		assert.Equal(t, diffs, DiffsFromMeta(newDiffMeta(diffs, 1<<30).JSON()))
		assert.GreaterOrEqual(t, OmittedFromMeta(meta), 0)
	})
}
