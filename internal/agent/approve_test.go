package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// TestAskedAgainWhenTheFileChanges has a user who takes time to answer.
func TestAskedAgainWhenTheFileChanges(t *testing.T) {
	for _, c := range []struct {
		name    string
		files   []string // as they are when the answer comes, one for each question
		answer  func(v Verdict) (Verdict, error)
		again   []bool
		want    string // code of the result
		details string // kept with it
		ran     string // the file that was changed, as it was then
	}{
		{"it stays", []string{"1"}, nil, []bool{false}, "ok", "", "1"},
		{"changes once", []string{"2", "2"}, nil, []bool{false, true}, "ok", "", "2"},
		{"changes twice", []string{"2", "3", "3"}, nil, []bool{false, true, true}, "ok", "", "3"},
		{"changes each time", []string{"2", "3", "4"}, nil, []bool{false, true, true}, msg.CodeQuestionAborted, `{"diffs":["4"]}`, ""},
		{"cannot be made any more", []string{"gone"}, nil, []bool{false}, "EDIT_NOT_FOUND", "", ""},
		{"nobody was asked", []string{"2"}, func(Verdict) (Verdict, error) { return Verdict{Allow: true}, nil }, []bool{false}, "ok", "", "2"},
		{"rejected", []string{"2"}, func(v Verdict) (Verdict, error) {
			v.Allow, v.Text = false, "no"
			return v, nil
		}, []bool{false}, msg.CodeRejected, `{"diffs":["1"]}`, ""},
		{"no answer", []string{"2"}, func(v Verdict) (Verdict, error) {
			v.Allow = false
			return v, errors.New("gone")
		}, []bool{false}, msg.CodeQuestionAborted, `{"diffs":["1"]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, script(uses("a:edit"), bye))
			w.tools.file = "1"
			w.tools.plan = map[string]func(msg.ToolUse) *msg.ToolResult{"edit": func(msg.ToolUse) *msg.ToolResult {
				if w.tools.file != "gone" {
					return nil
				}
				r := msg.Failed("EDIT_NOT_FOUND", "not there")
				return &r
			}}
			ran := ""
			w.tools.run["edit"] = func(context.Context, msg.ToolUse) msg.ToolResult {
				ran = w.tools.file
				return text("done")
			}
			var again []bool
			w.judge.say = func(_ context.Context, _ msg.ToolUse, n Need) (Verdict, error) {
				v := Verdict{Allow: true, Asked: true, Shown: n.Preview()}
				w.tools.file = c.files[len(again)]
				again = append(again, n.Again)
				if c.answer != nil {
					return c.answer(v)
				}
				return v, nil
			}
			_, err := w.run(t.Context(), "go")
			require.NoError(t, err)
			w.log.check(t)
			assert.Equal(t, c.again, again)
			assert.Equal(t, c.ran, ran)
			var result msg.ToolReturned
			for _, e := range w.log.events {
				p, err := msg.Decode(e)
				require.NoError(t, err)
				if r, ok := p.(msg.ToolReturned); ok {
					result = r
				}
			}
			code, details := "ok", ""
			if result.Error != nil {
				code, details = result.Error.Code, string(result.Error.Details)
			}
			assert.Equal(t, c.want, code, "%v", result.Message.Content)
			assert.Equal(t, c.details, details)
		})
	}
}

// TestALookIsNotPlannedAgain holds that only changes to files are compared.
func TestALookIsNotPlannedAgain(t *testing.T) {
	w := newWorld(t, script(uses("a:look"), bye))
	w.judge.say = func(context.Context, msg.ToolUse, Need) (Verdict, error) {
		return Verdict{Allow: true, Asked: true}, nil
	}
	_, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	assert.Len(t, only(w.log.trail, "plan a"), 1)
}

// TestAskedAgainWhenItLeadsElsewhere has the same hunks in another file.
func TestAskedAgainWhenItLeadsElsewhere(t *testing.T) {
	w := newWorld(t, script(uses("a:edit"), bye))
	w.tools.file = "1"
	var asked [][]string
	w.judge.say = func(_ context.Context, _ msg.ToolUse, n Need) (Verdict, error) {
		asked = append(asked, n.Paths)
		w.tools.paths = []string{"/elsewhere/a.txt"}
		return Verdict{Allow: true, Asked: true, Shown: n.Preview()}, nil
	}
	_, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"/w/a.txt"}, {"/elsewhere/a.txt"}}, asked)
	assert.Len(t, only(w.log.trail, "run a"), 1)
}

// TestAVerdictThatEndsTheTurn is of a user who wants to say something first.
func TestAVerdictThatEndsTheTurn(t *testing.T) {
	w := newWorld(t, script(uses("a:edit", "b:edit"), bye))
	w.judge.say = func(context.Context, msg.ToolUse, Need) (Verdict, error) {
		return Verdict{Code: msg.CodeRejected, Text: "not yet", End: true}, nil
	}
	out, err := w.run(t.Context(), "go")
	require.NoError(t, err)
	assert.Equal(t, StopCancelled, out.Stop)
	trail := w.log.told()
	assert.Contains(t, trail, "tool/result a "+msg.CodeRejected)
	assert.Contains(t, trail, "tool/result b "+msg.CodeAbortedUnstarted)
	assert.NotContains(t, trail, "approve b")
}
