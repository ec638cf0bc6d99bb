package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDoctor(t *testing.T) {
	vars := map[string]string{"ANTHROPIC_API_KEY": "sk-secret", "DSH_BASE_URL": "https://me:secret@proxy.example/v1", "DSH_MODEL": "m",
		"DSH_LOG": "debug:/tmp/d.log", "ANTHROPIC_MODEL": "other"}
	src := withFile(t, env(t, vars), "{\n\"guard\": {\"block\": []},\n\"maxRetries\": 1}")
	c, err := Load(src)
	require.NoError(t, err)
	cred, err := c.Credential(src, &store{})
	require.NoError(t, err)
	r := c.Doctor(nil, cred, nil, "/opt/dsh-acp")

	require.Len(t, r.Rows, len(Settings())+1)
	rows := map[string]Row{}
	for _, row := range r.Rows {
		assert.NotEmpty(t, row.Value)
		assert.NotEmpty(t, row.Origin)
		assert.Empty(t, row.Problem)
		rows[row.Setting] = row
	}
	assert.Equal(t, "m", rows["model"].Value)
	assert.Equal(t, "environment DSH_MODEL", rows["model"].Origin)
	assert.Equal(t, "https://me:xxxxx@proxy.example/v1", rows["baseURL"].Value)
	assert.Equal(t, "(not set)", rows["guard.allow"].Value)
	assert.Equal(t, "(empty)", rows["guard.block"].Value)
	assert.Equal(t, c.File+":3", rows["maxRetries"].Origin)
	assert.Equal(t, "[redacted], sent as x-api-key", rows["key"].Value)
	assert.Equal(t, "5m", rows["idleTimeout"].Value)

	var zed struct {
		Servers map[string]struct {
			Type, Command string
			Args          []string
			Env           map[string]string
		} `json:"agent_servers"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.Zed), &zed))
	agent := zed.Servers["dsh-acp"]
	assert.Equal(t, "custom", agent.Type)
	assert.Equal(t, "/opt/dsh-acp", agent.Command)
	assert.Equal(t, map[string]string{"DSH_MODEL": "m", "DSH_LOG": "debug:/tmp/d.log"}, agent.Env, "no password, no key")

	text := r.Text()
	assert.Equal(t, c.File, r.File)
	assert.NotContains(t, text, "secret")
	assert.Contains(t, text, r.Zed)
	assert.Contains(t, text, "  model ")
	assert.NotContains(t, text, "Missing:")
}

func TestDoctorTellsWhatIsMissing(t *testing.T) {
	src := withFile(t, env(t, nil), `{"maxRetries": "many"}`)
	c, loadErr := Load(src)
	_, credErr := c.Credential(src, &store{})
	r := c.Doctor(loadErr, Credential{}, credErr, "/opt/dsh-acp")
	assert.Len(t, r.Missing, 1)
	text := r.Text()
	assert.Contains(t, text, "Problems:\n  settings file "+c.File+":1:16: maxRetries")
	assert.Contains(t, text, "Missing:\n  no key for anthropic: run dsh-acp login")
	marks := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "! ") {
			marks++
		}
	}
	assert.Equal(t, 2, marks)

	c, err := Load(env(t, map[string]string{"DSH_NO_KEY": "true"}))
	require.NoError(t, err)
	r = c.Doctor(nil, Credential{}, nil, "/opt/dsh-acp")
	assert.Equal(t, c.File+" (not there)", r.File)
	assert.Equal(t, Row{Setting: "key", Value: "none", Origin: "not needed"}, r.Rows[len(r.Rows)-1])
}

func TestNearest(t *testing.T) {
	names := []string{"model", "mode", "maxRetries", "read.maxLines"}
	for in, want := range map[string]string{"modell": "model", "mdoe": "mode", "MaxRetries": "maxRetries", "maxlines": "read.maxLines", "max-retries": "maxRetries", "colour": "", "": "", "x": ""} {
		assert.Equal(t, want, nearest(in, names), in)
	}
}
