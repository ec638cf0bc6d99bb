package tools

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
)

func specNames(s *Set) []string {
	var out []string
	for _, spec := range s.Specs() {
		out = append(out, spec.Name)
	}
	return out
}

func TestHiding(t *testing.T) {
	native := Hiding{EditTools: true}
	for _, c := range []struct {
		name   string
		offer  []string
		hiding Hiding
		shown  []string
		hidden []string
	}{
		{"edit tools", []string{"read", "write", "edit", "Edit", applyPatch}, native, []string{"read", "write", applyPatch}, []string{"edit", "Edit"}},
		{"nothing", []string{"read", "edit", applyPatch}, Hiding{}, []string{"read", "edit", applyPatch}, nil},
		{"by name, without the switch", []string{"write", "edit", applyPatch}, Hiding{Names: []string{"write", "fly"}}, []string{"edit", applyPatch}, []string{"write"}},
		{"never itself", []string{"edit", applyPatch}, Hiding{EditTools: true, Names: []string{applyPatch}}, []string{applyPatch}, []string{"edit"}},
		{"not without apply_patch", []string{"write", "edit"}, Hiding{EditTools: true, Names: []string{"write"}}, []string{"write", "edit"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, set := patchSet(t, nil, func(cfg *Config) { cfg.Offer, cfg.Hiding = c.offer, c.hiding })
			assert.Equal(t, c.shown, specNames(set))
			assert.ElementsMatch(t, c.hidden, set.Hidden())
		})
	}
}

// TestHiddenToolsDoNotRun: a conversation that began under other settings may
// call them all the same.
func TestHiddenToolsDoNotRun(t *testing.T) {
	dir, set := patchSet(t, map[string]string{"a.txt": "one\n"}, func(c *Config) {
		c.Hiding, c.OverwriteUnread = Hiding{EditTools: true, Names: []string{"Bash"}}, true
	})
	for name, says := range map[string]string{
		"edit": `"op":"replace_text"`, "str_replace_editor": applyPatch, "fs_edit": applyPatch, "Bash": "the tools are read, write, " + applyPatch,
	} {
		r := call(t, set, name, editArgs("a.txt", "one", "1"))
		require.NotNil(t, r.Error, name)
		assert.Equal(t, msg.CodeUnknownTool, r.Error.Code)
		assert.Contains(t, r.Content.PlainText(), says, name)
	}
	assert.Equal(t, "one\n", read(t, dir, "a.txt"))
	w := call(t, set, "write", `{"file_path":"a.txt","content":"all\n"}`)
	assert.False(t, w.IsError, w.Content.PlainText())
}

// TestHidingChangesWhileASessionRuns: the next look at the tools has it.
func TestHidingChangesWhileASessionRuns(t *testing.T) {
	dir, set := patchSet(t, map[string]string{"a.txt": "one\n"}, func(c *Config) { c.Hiding.EditTools = true })
	p, refused := set.Plan(t.Context(), msg.ToolUse{Name: "edit", Input: editArgs("a.txt", "one", "1")})
	require.Nil(t, p)
	require.NotNil(t, refused)
	set.Hide(Hiding{})
	assert.Contains(t, specNames(set), "edit")
	assert.False(t, call(t, set, "edit", editArgs("a.txt", "one", "1")).IsError)
	set.Hide(Hiding{EditTools: true})
	assert.NotContains(t, specNames(set), "edit")
	assert.True(t, call(t, set, "edit", editArgs("a.txt", "1", "2")).IsError)
	assert.Equal(t, "1\n", read(t, dir, "a.txt"))
}

// TestAdviceNamesAToolThatIsThere: what a refusal recommends is offered.
func TestAdviceNamesAToolThatIsThere(t *testing.T) {
	for _, c := range []struct {
		offer []string
		says  string
	}{
		{[]string{"write", "edit", applyPatch}, "use apply_patch for a change"},
		{[]string{"write", "edit"}, "use edit for a change"},
		{[]string{"write", "Edit"}, "use Edit for a change"},
	} {
		dir, set := patchSet(t, map[string]string{"a.txt": "one\n"}, func(cfg *Config) { cfg.Offer = c.offer })
		r := call(t, set, "write", `{"file_path":"a.txt","content":"all\n"}`)
		require.NotNil(t, r.Error)
		assert.Equal(t, fsbackend.CodeNotObserved, r.Error.Code)
		assert.Contains(t, r.Content.PlainText(), c.says)
		assert.Equal(t, "one\n", read(t, dir, "a.txt"))
	}
	_, set := patchSet(t, map[string]string{"a.txt": "one\n"}, func(cfg *Config) { cfg.Offer = []string{"write"} })
	r := call(t, set, "write", `{"file_path":"a.txt","content":"all\n"}`)
	assert.NotContains(t, r.Content.PlainText(), "for a change of a part")
}
