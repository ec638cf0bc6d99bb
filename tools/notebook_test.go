package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
	"dsh-acp/internal/text"
)

const someNotebook = `{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "c1",
   "metadata": {"tags":  ["x"]},
   "outputs": [{"output_type": "stream", "name": "stdout", "text": ["one\n"]}],
   "source": [
    "print('one')\n",
    "x = 1"
   ]
  },
  {
   "cell_type": "markdown",
   "id": "c2",
   "metadata": {},
   "source": "# Title"
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestNotebookEdits(t *testing.T) {
	for _, c := range []struct {
		name string
		edit cellEdit
		want []string // pairs: what is there before, what stands in its place
	}{
		{"replace", cellEdit{mode: "replace", id: "c1", source: "y = 2\nprint(y)"}, []string{
			`"execution_count": 3`, `"execution_count": null`,
			`[{"output_type": "stream", "name": "stdout", "text": ["one\n"]}]`, `[]`,
			`"print('one')\n"`, `"y = 2\n"`, `"x = 1"`, `"print(y)"`}},
		{"replace a string", cellEdit{mode: "replace", id: "c2", source: "# New"}, []string{`"# Title"`, `"# New"`}},
		{"delete the last", cellEdit{mode: "delete", id: "c2"}, []string{`,
  {
   "cell_type": "markdown",
   "id": "c2",
   "metadata": {},
   "source": "# Title"
  }`, ``}},
	} {
		d, err := text.ParseString(someNotebook)
		require.NoError(t, err)
		after, _, err := c.edit.apply(d)
		require.NoError(t, err, c.name)
		assert.Equal(t, strings.NewReplacer(c.want...).Replace(someNotebook), after.Raw(), c.name)
	}
}

func TestNotebookCellsComeAndGo(t *testing.T) {
	d, err := text.ParseString(strings.ReplaceAll(someNotebook, "\n", "\r\n"))
	require.NoError(t, err)
	ids := func() string {
		_, cells, err := parseNotebook(d.LF())
		require.NoError(t, err)
		var out []string
		for _, c := range cells {
			out = append(out, c.Type+":"+c.Source.text)
		}
		return strings.Join(out, "|")
	}
	step := func(e cellEdit) {
		t.Helper()
		var err error
		d, _, err = e.apply(d)
		require.NoError(t, err)
		require.True(t, json.Valid([]byte(d.LF())))
		require.NotContains(t, strings.ReplaceAll(d.Raw(), "\r\n", ""), "\n", "line ends stay")
	}
	step(cellEdit{mode: "insert", kind: "markdown", source: "first"})
	step(cellEdit{mode: "insert", kind: "code", id: "c1", source: "a\nb\n"})
	step(cellEdit{mode: "insert", kind: "code", id: "c2", source: "end"})
	assert.Equal(t, "markdown:first|code:print('one')\nx = 1|code:a\nb\n|markdown:# Title|code:end", ids())
	step(cellEdit{mode: "replace", kind: "markdown", id: "c1", source: "now text"})
	step(cellEdit{mode: "replace", kind: "code", id: "c2", source: "now = 1"})
	assert.Equal(t, "markdown:first|markdown:now text|code:a\nb\n|code:now = 1|code:end", ids())
	_, cells, err := parseNotebook(d.LF())
	require.NoError(t, err)
	n, _, _ := parseNotebook(d.LF())
	assert.NotContains(t, string(n.Cells[1]), "outputs", "text has no outputs")
	assert.Contains(t, string(n.Cells[3]), "outputs", "code has")
	for _, c := range cells {
		step(cellEdit{mode: "delete", id: c.ID})
	}
	assert.Equal(t, "", ids())
	step(cellEdit{mode: "insert", kind: "code", source: "again"})
	assert.Equal(t, "code:again", ids())
}

func TestNotebookRefusals(t *testing.T) {
	dir, set := open(t, nil, map[string]string{"n.ipynb": someNotebook, "bad.ipynb": "{", "old.ipynb": `{"nbformat":3,"worksheets":[]}`})
	set, err := New(Config{Cwd: dir, Files: set.env.Files, Offer: []string{"NotebookEdit", "Read"}})
	require.NoError(t, err)
	for _, c := range []struct{ args, code, want string }{
		{`{"notebook_path":"n.ipynb","new_source":"x","cell_id":"c9"}`, CodeNoCell, "c1, c2"},
		{`{"notebook_path":"n.ipynb","new_source":"x"}`, msg.CodeInvalidArgs, "cell_id is missing"},
		{`{"notebook_path":"n.ipynb","new_source":"x","edit_mode":"insert"}`, msg.CodeInvalidArgs, "needs a cell_type"},
		{`{"notebook_path":"n.ipynb","new_source":"x","edit_mode":"swap"}`, msg.CodeInvalidArgs, "want replace"},
		{`{"notebook_path":"n.ipynb","new_source":"x","cell_type":"raw","cell_id":"c1"}`, msg.CodeInvalidArgs, "want code"},
		{`{"notebook_path":"n.ipynb","new_source":"# Title","cell_id":"c2"}`, CodeNoChange, "nothing to change"},
		{`{"notebook_path":"bad.ipynb","new_source":"x","cell_id":"c1"}`, CodeNotebook, "no notebook"},
		{`{"notebook_path":"old.ipynb","new_source":"x","cell_id":"c1"}`, CodeNotebook, "older"},
		{`{"notebook_path":"none.ipynb","new_source":"x","cell_id":"c1"}`, "FS_NOT_FOUND", "no such file"},
	} {
		r := call(t, set, "NotebookEdit", c.args)
		require.True(t, r.IsError, c.args)
		assert.Equal(t, c.code, r.Error.Code, c.args)
		assert.Contains(t, r.Content.PlainText(), c.want, c.args)
	}
	assert.Equal(t, someNotebook, read(t, dir, "n.ipynb"))

	view := call(t, set, "Read", `{"file_path":"n.ipynb"}`)
	assert.Equal(t, "<cell id=\"c1\">print('one')\nx = 1</cell id=\"c1\">\n\none\n\n"+
		"<cell id=\"c2\"><cell_type>markdown</cell_type># Title</cell id=\"c2\">", view.Content.PlainText())
	assert.Contains(t, call(t, set, "Read", `{"file_path":"n.ipynb","limit":2}`).Content.PlainText(), "2\t \"cells\": [")
	assert.Contains(t, call(t, set, "Read", `{"file_path":"bad.ipynb"}`).Content.PlainText(), "1\t{")
	require.False(t, call(t, set, "NotebookEdit", `{"notebook_path":"n.ipynb","new_source":"","cell_id":"c2","edit_mode":"delete"}`).IsError)
	assert.NotContains(t, read(t, dir, "n.ipynb"), "# Title")
}
