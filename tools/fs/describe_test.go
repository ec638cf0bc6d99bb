package fs_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/tools/fs"
)

// A model that has one engine must not learn of the other.
func TestForcedEnginesDoNotBetrayTheOther(t *testing.T) {
	for _, c := range []struct {
		tools []fs.ToolDescription
		words []string
	}{
		{fs.New().OnlyReplace().Descriptions(), []string{`\bpat\b`, `\bout\b"`, `\$NAME`, `\$\$\$`, `\bAST\b`, `syntax`, `old_string`}},
		{fs.New().OnlyAST().Descriptions()[2:3], []string{`file_hash`, `hashline`, `targets`, `replace block`, `¶`, `old_string`}},
		{fs.Describe(fs.Offer{}), []string{`\bpat\b`, `\$NAME`, `replace block`, `symbol shows`}}, // no trees are there
	} {
		raw, err := json.Marshal(c.tools)
		require.NoError(t, err)
		for _, w := range c.words {
			assert.NotRegexp(t, regexp.MustCompile(w), string(raw))
		}
	}
	raw, err := json.Marshal(fs.Describe(fs.Offer{Trees: true}))
	require.NoError(t, err)
	for _, w := range []string{"file_hash", "old_string", "$NAME", "replace block", "force"} {
		assert.Contains(t, string(raw), w)
	}
	for _, o := range []fs.Offer{{}, {Engine: fs.AST}} {
		assert.Contains(t, fs.Describe(o)[2].Description, "not in this build")
		o.Trees = true
		assert.NotContains(t, fs.Describe(o)[2].Description, "not in this build")
	}
	again, err := json.Marshal(fs.New().OnlyAST().Auto().Descriptions())
	require.NoError(t, err)
	first, err := json.Marshal(fs.New().Descriptions())
	require.NoError(t, err)
	assert.Equal(t, string(first), string(again))
}

// Each description is a tool of MCP whose schema is one, and takes what it
// should take and no more.
func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		engine fs.Engine
		trees  bool
		tool   int
		args   string
		ok     bool
	}{
		{fs.Auto, false, 0, `{"path":"a","offset":1,"limit":2}`, true},
		{fs.Auto, false, 0, `{"path":"a","offset":0}`, false},
		{fs.Auto, false, 0, `{"path":"a","line":1}`, false},
		{fs.Auto, false, 1, `{"path":"a","content":""}`, true},
		{fs.Auto, false, 1, `{"path":"a"}`, false},
		{fs.Replace, false, 2, `{"path":"a","file_hash":"B6C1","ops":"delete 1","dry_run":true}`, true},
		{fs.Replace, false, 2, `{"path":"a","ops":"delete 1"}`, false},
		{fs.AST, true, 2, `{"path":"a","ops":[{"pat":"a","out":"b"}]}`, true},
		{fs.AST, true, 2, `{"path":"a","ops":[{"pat":"a"}]}`, false},
		{fs.AST, true, 2, `{"paths":["a"],"ops":[{"pat":"a","out":"b"}],"force":true,"max_files":2}`, true},
		{fs.Auto, false, 2, `{"path":"a","old_string":"a","new_string":"b"}`, true},
		{fs.Auto, false, 2, `{"path":"a","ops":[{"pat":"a","out":"b"}]}`, false},
		{fs.Auto, true, 2, `{"path":"a","ops":[{"pat":"a","out":"b"}]}`, true},
		{fs.Auto, false, 3, `{"path":"a","hash":""}`, true},
		{fs.Auto, false, 3, `{"path":"a"}`, false},
	} {
		d := fs.Describe(fs.Offer{Engine: c.engine, Trees: c.trees})[c.tool]
		schema, err := jsonschema.UnmarshalJSON(strings.NewReader(string(d.InputSchema)))
		require.NoError(t, err, d.Name)
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource("tool.json", schema))
		s, err := compiler.Compile("tool.json")
		require.NoError(t, err, d.Name)
		args, err := jsonschema.UnmarshalJSON(strings.NewReader(c.args))
		require.NoError(t, err)
		err = s.Validate(args)
		assert.Equal(t, c.ok, err == nil, "%s %s: %v", d.Name, c.args, err)
	}
}
