package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// env makes a Source whose home is a fresh folder; it does not see the
// process's environment.
func env(t testing.TB, vars map[string]string) Source {
	home := t.TempDir()
	return Source{Getenv: func(name string) (string, bool) {
		if v, ok := vars[name]; ok {
			return v, true
		}
		switch name {
		case "HOME", "USERPROFILE":
			return home, true
		}
		return "", false
	}}
}

// withFile puts a settings file where Load looks for it.
func withFile(t testing.TB, src Source, text string) Source {
	dir, err := configDir(src)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(settingsFile(dir), []byte(text), 0o600))
	return src
}

func TestDefaults(t *testing.T) {
	src := env(t, nil)
	c, err := Load(src)
	require.NoError(t, err)
	home, err := homeDir(src)
	require.NoError(t, err)
	assert.Equal(t, Anthropic, c.Provider)
	assert.Equal(t, 5*time.Minute, c.IdleTimeout)
	assert.EqualValues(t, 4, c.MaxRetries)
	assert.Equal(t, Toolset{Preset: "claude"}, c.Toolset)
	assert.Equal(t, "default", c.Mode)
	assert.Nil(t, c.Guard.Allow)
	assert.Equal(t, filepath.Join(home, ".config", "dsh-acp", "settings.json"), c.File)
	assert.Equal(t, filepath.Join(home, ".local", "state", "dsh-acp"), c.StateDir)
	_, err = os.Stat(c.Dir)
	assert.ErrorIs(t, err, os.ErrNotExist, "loading makes no folder")
	for _, s := range Settings() {
		assert.Equal(t, Origin{}, c.Origin(s.Name), s.Name)
	}
}

func TestRisingOrder(t *testing.T) {
	file := "// mine\n{\n  \"model\": \"file\", // trailing\n  \"maxRetries\": 1,\n}\n"
	vars := map[string]string{}
	src := withFile(t, env(t, vars), file)
	steps := []struct {
		name, value, want, origin string
		set                       func(string)
	}{
		{"", "", "file", "settings.json:3", func(string) {}},
		{"ANTHROPIC_MODEL", "vendor", "vendor", "environment ANTHROPIC_MODEL", func(v string) { vars["ANTHROPIC_MODEL"] = v }},
		{"DSH_MODEL", "own", "own", "environment DSH_MODEL", func(v string) { vars["DSH_MODEL"] = v }},
		{"--model", "flag", "flag", "flag --model", func(v string) { src.Flags = map[string]string{"model": v} }},
	}
	for _, s := range steps {
		s.set(s.value)
		c, err := Load(src)
		require.NoError(t, err)
		assert.Equal(t, s.want, c.Model)
		assert.True(t, strings.HasSuffix(c.Origin("model").String(), s.origin), c.Origin("model"))
		assert.EqualValues(t, 1, c.MaxRetries)
	}
}

// Every row of the table works in the file, the environment and as a flag.
func TestTable(t *testing.T) {
	samples := map[string]string{"provider": OpenAI, "baseURL": "https://h/v1", "toolset": "Read,Edit", "mode": "plan", "authScheme": AuthBearer,
		"keyring": "never", "logLevel": "debug", "apiKeyEnv": "MY_KEY"}
	names, flags := map[string]bool{}, map[string]bool{}
	for _, s := range Settings() {
		t.Run(s.Name, func(t *testing.T) {
			assert.False(t, names[s.Name] || flags[s.Flag], "twice in the table")
			names[s.Name], flags[s.Flag] = true, true
			assert.NotEmpty(t, s.Help)
			assert.Regexp(t, `^--[a-z]+(-[a-z]+)*$`, s.Flag)
			assert.Regexp(t, `^DSH_[A-Z_]+$`, s.Env)

			text, quoted := samples[s.Name], true
			if text == "" {
				switch s.bind(new(Config)).(type) {
				case *bool:
					text, quoted = "true", false
				case *int64:
					text, quoted = "4097", false
					if s.Max < 4097 {
						text = "7"
					}
				case *time.Duration:
					text = "90s"
				default:
					text = filepath.Join(t.TempDir(), "x")
					if n := len(s.Choices); n > 0 {
						text = s.Choices[n-1]
					}
				}
			}
			file := text
			if quoted {
				file = `"` + strings.ReplaceAll(text, `\`, `\\`) + `"`
			}
			if _, ok := s.bind(new(Config)).(*List); ok {
				file = "[" + file + "]"
			}
			if s.Name == "toolset" {
				file = `["Read", "Edit"]`
			}
			for _, part := range strings.Split(s.Name, ".")[1:] {
				file = `{"` + part + `": ` + file + `}`
			}
			group, _, _ := strings.Cut(s.Name, ".")
			variable := text
			if s.Name == "logFile" {
				variable = "info:" + text
			}
			for from, src := range map[int]Source{
				FromFile: withFile(t, env(t, nil), `{"`+group+`": `+file+`}`),
				FromEnv:  env(t, map[string]string{s.Env: variable}),
				FromFlag: func() Source { src := env(t, nil); src.Flags = map[string]string{s.Name: text}; return src }(),
			} {
				c, err := Load(src)
				if s.Name != "provider" {
					require.NoError(t, err)
				}
				want := text
				if s.Name == "idleTimeout" || s.Name == "requestTimeout" || s.Name == "retryAfterCap" {
					want = "1m30s"
				}
				assert.Equal(t, want, find(s.Name).text(&c))
				assert.Equal(t, from, c.Origin(s.Name).Kind)
			}
		})
	}
}

func TestFileFaults(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"{\n  \"modle\": \"x\"\n}", `:2:3: modle: there is no such setting; did you mean "model"?`},
		{`{"max_retries": 1}`, `:1:2: max_retries: there is no such setting; did you mean "maxRetries"?`},
		{`{"maxLines": 1}`, `did you mean "read.maxLines"?`},
		{`{"read": {"maxLine": 1}}`, `:1:11: read.maxLine: there is no such setting; did you mean "read.maxLines"?`},
		{`{"zzzzzzzz": 1}`, "dsh-acp doctor lists all"},
		{`{"read": 5}`, ":1:10: read: found a number, want an object { … } with maxLines, maxColumns, maxBytes"},
		{`{"maxRetries": "x"}`, ":1:16: maxRetries: found a text, want a whole number from 0 to 100"},
		{`{"maxRetries": 1.5}`, `found "1.5", want a whole number`},
		{`{"maxRetries": 1e99}`, "want a whole number"},
		{`{"maxRetries": -1}`, "found -1, want a whole number from 0 to 100"},
		{`{"model": 5}`, "found a number, want a text in quotes"},
		{`{"noKey": "true"}`, "found a text, want true or false"},
		{`{"idleTimeout": 5}`, `want a time in quotes`},
		{`{"idleTimeout": "5 minutes"}`, `found "5 minutes", want a time from 1s to 24h, such as`},
		{`{"idleTimeout": "-5m"}`, "want a time from 1s"},
		{`{"provider": "antropic"}`, `want one of anthropic, openai, scripted; did you mean "anthropic"?`},
		{`{"provider": "scripted"}`, ":1:2: provider: the scripted provider needs scriptFile"},
		{`{"toolset": ["Read", "Read"]}`, `tool "Read" is listed twice`},
		{`{"toolset": ["claude", "Read"]}`, `"claude" is a preset and stands alone`},
		{`{"toolset": []}`, "found no tool"},
		{`{"toolset": {}}`, "found an object, want a list"},
		{`{"guard": {"allow": ["a", 1]}}`, ":1:21: guard.allow: element 2 of the list is a number"},
		{`{"baseURL": "ftp://u:secret@h"}`, "begins with https:// or http://"},
		{`{"baseURL": "https://"}`, "names no host"},
		{`{"baseURL": "https://u:secret@h/?x=1"}`, "has a query"},
		{"{\"model\": \"a\",\n \"é\": 1, \"model\": \"b\"}", ":2:10: model: it is set twice"},
		{`{"model": "a"`, ":1:14: not JSON with comments"},
		{`{"model": 'a'}`, ":1:11: not JSON with comments"},
		{"{\n\"model\": \"a\xff\"}", ":2:12: not UTF-8"},
		{`["model"]`, ":1:1: found a list, want an object"},
		{`{"apiKeyEnv": "sk-secret"}`, "not the name of a variable"},
		{`{"apiKey": "sk-secret"}`, "keys are not kept in the settings file; run dsh-acp login"},
		{`{"ANTHROPIC_AUTH_TOKEN": "sk-secret"}`, "keys are not kept in the settings file"},
	} {
		_, err := Load(withFile(t, env(t, nil), c.in))
		var fault *FileError
		require.ErrorAs(t, err, &fault, c.in)
		assert.ErrorContains(t, err, c.want)
		assert.ErrorContains(t, err, "settings.json")
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestFileForms(t *testing.T) {
	for name, in := range map[string]string{
		"empty":            "",
		"blank":            " \n",
		"byte order mark":  "\uFEFF{}",
		"comments":         "/* a */ {// b\n}",
		"schema":           `{"$schema": "https://x/y.json"}`,
		"null is default":  `{"maxRetries": null, "guard": {"allow": null}, "provider": null}`,
		"windows newlines": "{\r\n  \"maxRetries\": 4,\r\n}\r\n",
	} {
		c, err := Load(withFile(t, env(t, nil), in))
		require.NoError(t, err, name)
		assert.EqualValues(t, 4, c.MaxRetries, name)
		assert.Nil(t, c.Guard.Allow, name)
	}
	c, err := Load(withFile(t, env(t, nil), `{"guard": {"allow": [], "block": ["~/x", "y"]}, "scriptFile": "s.json"}`))
	require.NoError(t, err)
	assert.Equal(t, List{}, c.Guard.Allow, "empty is not unset")
	assert.True(t, filepath.IsAbs(c.Guard.Block[0]))
	assert.Equal(t, "y", c.Guard.Block[1])
	assert.Equal(t, filepath.Join(c.Dir, "s.json"), c.ScriptFile, "relative to its file")
}

// All faults are told, and what is good is in force.
func TestManyFaults(t *testing.T) {
	src := withFile(t, env(t, map[string]string{"DSH_MODE": "plann", "DSH_LOG": "loud"}), `{"maxRetries": "x", "model": "m", "keyring": "nevr"}`)
	src.Flags = map[string]string{"noKey": "perhaps", "nope": "1"}
	c, err := Load(src)
	for _, want := range []string{"maxRetries", `did you mean "never"?`, `environment DSH_MODE: found "plann"`, "environment DSH_LOG", "flag --no-key", "flag nope"} {
		assert.ErrorContains(t, err, want)
	}
	assert.Equal(t, "m", c.Model)
	assert.Equal(t, "default", c.Mode)

	r := c.Doctor(err, Credential{}, nil, "/bin/dsh-acp")
	assert.Len(t, r.Problems, 6)
	marked := 0
	for _, row := range r.Rows {
		if row.Problem != "" {
			marked++
		}
	}
	assert.Equal(t, 5, marked, "one problem has no row")
}

func TestNamedFile(t *testing.T) {
	src := env(t, nil)
	src.File = filepath.Join(t.TempDir(), "mine.json")
	_, err := Load(src)
	assert.ErrorContains(t, err, "mine.json")
	require.NoError(t, os.WriteFile(src.File, []byte(`{"model": "m"}`), 0o600))
	c, err := Load(src)
	require.NoError(t, err)
	assert.Equal(t, "m", c.Model)
	src.File = t.TempDir()
	_, err = Load(src)
	assert.ErrorContains(t, err, "not a regular file")
}

func TestVendorVariables(t *testing.T) {
	vars := map[string]string{"ANTHROPIC_BASE_URL": "https://a", "OPENAI_BASE_URL": "https://o", "OPENAI_MODEL": "om"}
	c, err := Load(env(t, vars))
	require.NoError(t, err)
	assert.Equal(t, "https://a", c.BaseURL)
	assert.Empty(t, c.Model)
	vars["DSH_PROVIDER"] = OpenAI
	c, err = Load(env(t, vars))
	require.NoError(t, err)
	assert.Equal(t, "https://o", c.BaseURL)
	assert.Equal(t, "om", c.Model)
	src := env(t, vars)
	src.Flags = map[string]string{"provider": Anthropic}
	c, err = Load(src)
	require.NoError(t, err)
	assert.Equal(t, "https://a", c.BaseURL)
	assert.Empty(t, c.Model)
}

func TestPlaces(t *testing.T) {
	abs := t.TempDir()
	c, err := Load(env(t, map[string]string{"XDG_CONFIG_HOME": abs, "XDG_STATE_HOME": abs}))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(abs, "dsh-acp"), c.Dir)
	assert.Equal(t, filepath.Join(abs, "dsh-acp"), c.StateDir)
	c, err = Load(env(t, map[string]string{"XDG_CONFIG_HOME": "rel", "DSH_STATE_DIR": abs}))
	require.NoError(t, err)
	assert.NotContains(t, c.Dir, "rel", "relative ones do not count")
	assert.Equal(t, abs, c.StateDir)

	nowhere := Source{Getenv: func(string) (string, bool) { return "", false }}
	_, err = Load(nowhere)
	assert.ErrorContains(t, err, "set HOME")
}

func TestLogVariable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.log")
	for in, want := range map[string][2]string{"": {"warn", ""}, "debug": {"debug", ""}, "info:" + file: {"info", file}, ":" + file: {"warn", file}} {
		c, err := Load(env(t, map[string]string{"DSH_LOG": in}))
		require.NoError(t, err)
		assert.Equal(t, want, [2]string{c.LogLevel, c.LogFile}, in)
	}
}

func TestTakeFlags(t *testing.T) {
	flags, rest, err := TakeFlags([]string{"doctor", "--model", "m", "--no-key", "--json", "--max-retries=0", "--read-max-lines", "9", "--no-key=false", "--", "--model", "x"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"model": "m", "noKey": "false", "maxRetries": "0", "read.maxLines": "9"}, flags)
	assert.Equal(t, []string{"doctor", "--json", "--", "--model", "x"}, rest)
	_, _, err = TakeFlags([]string{"--base-url"})
	assert.ErrorContains(t, err, "flag --base-url: it needs a value")
}

// Whatever the file holds, it is loaded or a fault is told with its place.
func FuzzSettingsFile(f *testing.F) {
	for _, s := range []string{"{}", "{\"model\": \"m\", // c\n}", `{"read": {"maxLines": 5}}`, "\uFEFF{", `{"guard":{"allow":["~/"]}}`, `{"\u006dodel":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Load(withFile(t, env(t, nil), string(b)))
		for _, fault := range flatten(err) {
			fe, ok := fault.(*FileError)
			if !ok || fe.Why == "" || fe.Line < 1 || fe.Column < 1 {
				t.Fatalf("%q: fault without place: %v", b, fault)
			}
		}
		c.Doctor(err, Credential{}, nil, "/bin/dsh-acp").Text()
	})
}
