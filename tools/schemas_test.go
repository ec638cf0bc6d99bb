package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/tools/fs"
)

// Each schema is one by the rules of JSON Schema itself: hosts and services
// refuse a whole request because of one tool whose schema is not.
func TestSchemasAreSchemas(t *testing.T) {
	specs := make(map[string]json.RawMessage, len(all))
	for name, tl := range all {
		specs[name] = tl.spec(name).InputSchema
	}
	for _, engine := range []fs.Engine{fs.Auto, fs.Replace, fs.AST} {
		for _, trees := range []bool{false, true} {
			for _, d := range fs.Describe(fs.Offer{Engine: engine, Trees: trees, Batch: true}) {
				specs[fmt.Sprintf("%s, engine %d, trees %v", d.Name, engine, trees)] = d.InputSchema
			}
		}
	}
	for name, raw := range specs {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		require.NoError(t, err, name)
		c := jsonschema.NewCompiler() // holds it against the meta-schema
		require.NoError(t, c.AddResource("tool.json", doc), name)
		_, err = c.Compile("tool.json")
		assert.NoError(t, err, name)
	}
}
