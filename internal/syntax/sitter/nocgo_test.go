//go:build !cgo

package sitter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/syntax"
)

func TestBuildWithoutC(t *testing.T) {
	p := New(Options{})
	_, err := p.Parse(syntax.Go, "package p\n")
	require.ErrorIs(t, err, syntax.ErrUnavailable)
	_, err = p.Grammar(syntax.Go)
	require.ErrorIs(t, err, syntax.ErrUnavailable)
	assert.False(t, Available)
	assert.Empty(t, Langs())
}
