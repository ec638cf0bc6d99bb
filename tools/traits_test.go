package tools

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryToolHasTraits(t *testing.T) {
	for name := range all {
		got, ok := TraitsOf(name)
		assert.True(t, ok, name)
		assert.NotEmpty(t, got.Title, name)
		assert.False(t, got.Destroys && got.Access == Look, "%s: what only looks destroys nothing", name)
	}
	_, ok := TraitsOf("nothing")
	assert.False(t, ok)
}
