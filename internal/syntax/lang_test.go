package syntax

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestByName(t *testing.T) {
	for name, want := range map[string]Lang{
		"main.go": Go, "a/b.jsx": JavaScript, "x.d.ts": TypeScript, "x.tsx": TSX, "a.PY": Python, "A.Json": JSON,
		`C:\src\a.rs`: Rust, "a.h": C, "a.hpp": CPP, "a.c++": CPP, "a.C": "", "a.H": "", "/home/u/.bashrc": Bash,
		"x.gemspec": Ruby, "Gemfile": Ruby, "go": "", "": "", ".go": Go, "dir.go/readme": "", "a.unknownlang": "", "Makefile": "",
	} {
		assert.Equal(t, want, ByName(name), name)
	}
	seen := map[string]Lang{}
	for _, lang := range Langs() {
		assert.NotEmpty(t, Endings(lang))
		for _, e := range Endings(lang) {
			assert.Empty(t, seen[e], "%s is claimed twice", e)
			seen[e] = lang
			assert.Equal(t, lang, ByName("a."+e))
		}
	}
	assert.Len(t, Langs(), 17)
}
