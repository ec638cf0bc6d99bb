package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

var testParams = []param{
	{"file_path", stringParam, true},
	{"offset", countParam, false},
	{"replace_all", boolParam, false},
}

var decodeCases = []struct {
	raw  string
	code string // "" for success
	says []string
}{
	{`{"file_path":"a"}`, "", nil},
	{`{"file_path":"a","offset":3,"replace_all":true}`, "", nil},
	{`{"file_path":"a","offset":3.0}`, "", nil},
	{`{"file_path":"a","offset":1e2}`, "", nil},
	{`{"file_path":"a","offset":99999999999999}`, "", nil},
	{" {\n\"file_path\" : \"\\ud83d\\udc0e\" } ", "", nil},
	{`{"file_path":"\\ud83d"}`, "", nil},
	{`{"file_path":"\\\ud83d"}`, CodeInvalidUnicode, []string{"file_path", `\ud83d`}},
	{`{"file_path":"\ud83d"}`, CodeInvalidUnicode, []string{"file_path", `\ud83d`}},
	{`{"file_path":"\udc0e"}`, CodeInvalidUnicode, []string{"file_path"}},
	{`{"file_path":"\ud83d\ud83d\udc0e"}`, CodeInvalidUnicode, []string{"file_path"}},
	{`{"file_path":"\ud83d\n"}`, CodeInvalidUnicode, []string{"file_path"}},
	{"{\"file_path\":\"\xff\"}", CodeInvalidUnicode, []string{"byte 14"}},
	{``, msg.CodeInvalidArgs, []string{"file_path", "missing"}},
	{`{}`, msg.CodeInvalidArgs, []string{"file_path", "missing"}},
	{`null`, msg.CodeInvalidArgs, []string{"found null"}},
	{`"x"`, msg.CodeInvalidArgs, []string{`the string "x"`}},
	{`{"file_path":"a"`, msg.CodeInvalidArgs, []string{"ends too early"}},
	{`{"file_path":"a",}`, msg.CodeInvalidArgs, []string{"not one JSON object"}},
	{`{"file_path":"a"}x`, msg.CodeInvalidArgs, []string{"more after its end"}},
	{`{"File_Path":"a"}`, msg.CodeInvalidArgs, []string{`"File_Path"`, `did you mean "file_path"`}},
	{`{"file_path":"a","file_path":"a"}`, msg.CodeInvalidArgs, []string{"file_path", "twice"}},
	{`{"file_path":"a","file_p\u0061th":"a"}`, msg.CodeInvalidArgs, []string{"file_path", "twice"}},
	{`{"file_path":["a"]}`, msg.CodeInvalidArgs, []string{"file_path", "a string", "an array"}},
	{`{"file_path":null}`, msg.CodeInvalidArgs, []string{"file_path", "null"}},
	{`{"file_path":"a","offset":0}`, msg.CodeInvalidArgs, []string{"offset", "from 1 on"}},
	{`{"file_path":"a","offset":-3}`, msg.CodeInvalidArgs, []string{"offset"}},
	{`{"file_path":"a","offset":1.5}`, msg.CodeInvalidArgs, []string{"offset", "1.5"}},
	{`{"file_path":"a","offset":1e400}`, msg.CodeInvalidArgs, []string{"offset"}},
	{`{"file_path":"a","replace_all":"true"}`, msg.CodeInvalidArgs, []string{"replace_all", "true or false"}},
	{`{"file_path":"a","zebra":1}`, msg.CodeInvalidArgs, []string{`unknown argument "zebra"`, "takes file_path, offset (optional)"}},
}

func TestDecode(t *testing.T) {
	for _, c := range decodeCases {
		_, err := decode("Tool", c.raw, testParams)
		if c.code == "" {
			assert.NoError(t, err, c.raw)
			continue
		}
		var f *failure
		require.ErrorAs(t, err, &f, c.raw)
		assert.Equal(t, c.code, f.code, c.raw)
		for _, s := range c.says {
			assert.Contains(t, f.text, s, c.raw)
		}
	}
}

// FuzzDecode: what decode takes is valid JSON, and its strings say what the
// text says.
func FuzzDecode(f *testing.F) {
	for _, c := range decodeCases {
		f.Add(c.raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		args, err := decode("Tool", raw, testParams)
		if err != nil {
			return
		}
		if !json.Valid([]byte(raw)) {
			t.Fatalf("took %q, which is no JSON", raw)
		}
		path := args.text("file_path")
		if !utf8.ValidString(path) || strings.Contains(path, "\ufffd") && !strings.Contains(raw, "\ufffd") && !strings.Contains(strings.ToLower(raw), `\ufffd`) {
			t.Fatalf("%q decoded to %q", raw, path)
		}
	})
}

func TestSchemasNameTheParameters(t *testing.T) {
	for name, tl := range all {
		var schema struct {
			Properties           map[string]struct{ Type any } // a text, or a list of them
			Required             []string
			AdditionalProperties *bool
		}
		spec := tl.spec(name)
		require.NoError(t, json.Unmarshal(spec.InputSchema, &schema), name)
		assert.Equal(t, name, spec.Name)
		assert.NotEmpty(t, spec.Description)
		require.NotNil(t, schema.AdditionalProperties, name)
		assert.False(t, *schema.AdditionalProperties, name)
		plain, ok := tl.(plainTool)
		if !ok {
			require.Implements(t, (*rawTool)(nil), tl, name)
			continue
		}
		var required []string
		for _, p := range plain.params() {
			want := map[paramKind]string{stringParam: "string", countParam: "integer", sizeParam: "integer", boolParam: "boolean", listParam: "array"}[p.kind]
			assert.Equal(t, want, schema.Properties[p.name].Type, "%s %s", name, p.name)
			if p.required {
				required = append(required, p.name)
			}
		}
		assert.Len(t, schema.Properties, len(plain.params()), name)
		assert.Equal(t, required, schema.Required, name)
	}
}
