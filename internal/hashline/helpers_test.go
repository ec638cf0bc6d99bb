package hashline

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dsh-acp/internal/text"
)

// notation: "|" ends a line, "¬" is a carriage return, "^" a byte order mark.
var notation = strings.NewReplacer("|", "\n", "¬", "\r", "^", "\uFEFF")

func doc(t testing.TB, s string) text.Doc {
	t.Helper()
	d, err := text.ParseString(s)
	require.NoError(t, err)
	return d
}

// history is a list of versions, the last recorded first.
type history []Version

func (h history) Named(t Tag) []Version {
	var out []Version
	for _, v := range h {
		if t.Names(v.ID) {
			out = append(out, v)
		}
	}
	return out
}

func (h history) Newest() (Version, bool) {
	if len(h) == 0 {
		return Version{}, false
	}
	return h[0], true
}

func recorded(t testing.TB, texts ...string) history {
	var h history
	for _, s := range texts {
		d := doc(t, s)
		h = append(h, Version{ID: Identify(d), Text: d})
	}
	return h
}

func tagOf(t testing.TB, s string) string {
	return Identify(doc(t, s)).Short().String()
}

// edit applies ops to live, whose numbers mean tagged.
func edit(t testing.TB, tagged, live, ops string) (Result, error) {
	t.Helper()
	return Apply(Request{
		Path: "a.txt", Live: doc(t, live), Versions: recorded(t, tagged),
		Tag: tagOf(t, tagged), Change: Script{Ops: ops},
	})
}

func refusal(t testing.TB, err error) *Error {
	t.Helper()
	var e *Error
	require.True(t, errors.As(err, &e), "%v", err)
	require.True(t, strings.HasPrefix(err.Error(), "edit rejected, nothing written: "), err.Error())
	return e
}
