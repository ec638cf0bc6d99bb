package shell

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnswers(t *testing.T) {
	for command, want := range map[string]bool{
		"grep x a.txt":            true,
		"cat a | grep -c x":       true,
		"cd src && rg x":          true,
		"diff a b":                true,
		"git grep x":              true,
		"test -f a":               true,
		"[ -f a ]":                true,
		"git diff --exit-code":    false,
		"grep x a && go test":     false,
		"go test":                 false,
		"exit 1":                  false,
		"if true; then grep; fi":  false,
		"":                        false,
		"$(grep x a)":             false,
		"grep x a > b || go test": false,
	} {
		assert.Equal(t, want, Answers(command), command)
	}
}
