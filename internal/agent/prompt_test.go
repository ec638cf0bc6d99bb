package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"dsh-acp/internal/msg"
)

func TestSystemPrompt(t *testing.T) {
	f := PromptFacts{Cwd: "/w", Folders: []string{"/x", "/y"}, Platform: "linux/amd64", Date: "2026-11-30",
		Tools: []msg.ToolSpec{{Name: "Read"}, {Name: "Edit"}}, RulesName: "AGENTS.md", Rules: "Use tabs.\n"}
	got := SystemPrompt(f)
	for _, want := range []string{"Your tools: Read, Edit.", "Working folder: /w\n", "Further folders: /x, /y\n",
		"Platform: linux/amd64\n", "Date: 2026-11-30\n", "in AGENTS.md", "<instructions>\nUse tabs.\n</instructions>"} {
		assert.Contains(t, got, want)
	}
	assert.Equal(t, got, SystemPrompt(f), "the same facts give the same text")
	assert.Less(t, len(got), 2500, "short")

	bare := SystemPrompt(PromptFacts{Cwd: "/w"})
	for _, absent := range []string{"Your tools", "Platform", "Date", "Further", "instructions>"} {
		assert.NotContains(t, bare, absent)
	}
	f.RulesMax = -1
	assert.NotContains(t, SystemPrompt(f), "Use tabs")
}

func TestRulesAreCapped(t *testing.T) {
	tests := []struct {
		name  string
		rules string
		limit int
		want  string // what stands before the note; "" for no note
	}{
		{"fits", "abc", 3, ""},
		{"at a line's end", "line one\nline two\nline three", 20, "line one\nline two"},
		{"within a long line", strings.Repeat("x", 50), 20, strings.Repeat("x", 20)},
		{"not within a character", strings.Repeat("é", 20), 7, "ééé"},
		{"the default", strings.Repeat("y", DefaultRulesMax+1), 0, strings.Repeat("y", DefaultRulesMax)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := SystemPrompt(PromptFacts{RulesName: "CLAUDE.md", Rules: tt.rules, RulesMax: tt.limit})
			assert.True(t, utf8.ValidString(got))
			if tt.want == "" {
				assert.NotContains(t, got, "is cut here")
				return
			}
			assert.Contains(t, got, "<instructions>\n"+tt.want+"\n[CLAUDE.md is cut here: ")
		})
	}
}
