package jsonedit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseValue(t *testing.T) {
	for _, c := range []struct{ in, code string }{
		{`{"a": [1, "x", null, true]}`, ""},
		{`"\ud83d\ude00"`, ""},
		{"\"\uFFFD\"", ""},
		{`"\\ud83d"`, ""},
		{`"\ud83d"`, CodeUnicode},
		{`"\ude00\ud83d"`, CodeUnicode},
		{`"\ud83d\u0041"`, CodeUnicode},
		{`{"\udfff": 1}`, CodeUnicode},
		{`[["\ud83dx"]]`, CodeUnicode},
		{"\"\xff\"", CodeUnicode},
		{`{"a": 1, "\u0061": 2}`, CodeValueFormat},
		{`[1,]`, CodeValueFormat},
		{`// c`, CodeValueFormat},
		{``, CodeValueFormat},
		{strings.Repeat("[", 513) + strings.Repeat("]", 513), CodeLimit},
	} {
		_, err := ParseValue([]byte(c.in), Limits{})
		if c.code == "" {
			assert.NoError(t, err, c.in)
			continue
		}
		e, ok := asError(err)
		if assert.True(t, ok, "%s: %v", c.in, err) {
			assert.Equal(t, c.code, e.Code, c.in)
		}
	}
}

func TestValueAccess(t *testing.T) {
	v := value(t, `{"b": [1.50, "x\u00e9"], "a": null}`)
	members, ok := v.Members()
	require.True(t, ok)
	require.Len(t, members, 2)
	assert.Equal(t, "b", members[0].Key)
	elements, ok := members[0].Value.Elements()
	require.True(t, ok)
	assert.Equal(t, "1.50", elements[0].Literal())
	assert.Equal(t, byte('0'), elements[0].Kind())
	s, ok := elements[1].Str()
	assert.True(t, ok)
	assert.Equal(t, "xé", s)
	assert.Equal(t, 2, v.Depth())
	assert.Equal(t, "{\n  \"b\": [\n    1.50,\n    \"xé\"\n  ],\n  \"a\": null\n}", v.String())
	_, ok = v.Elements()
	assert.False(t, ok)
	_, ok = elements[0].Members()
	assert.False(t, ok)
	_, ok = elements[0].Str()
	assert.False(t, ok)
	assert.Zero(t, Value{}.Kind())
	assert.Empty(t, Value{}.String())
}

func TestLoneSurrogatesOfADocumentStayApart(t *testing.T) {
	d, doc := open(t, `{"\ud83d": 1, "\ud83e": 2, "a": 3}`)
	c, err := d.Set("/a", value(t, "4"))
	require.NoError(t, err)
	got, err := doc.Apply(c.Edits...)
	require.NoError(t, err)
	assert.Equal(t, `{"\ud83d": 1, "\ud83e": 2, "a": 4}`, got.Text())
	assert.NoError(t, d.Check(got, c))
}
