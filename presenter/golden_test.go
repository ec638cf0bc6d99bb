package presenter

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected updates in testdata/golden")

// A scenario is a script with the updates that it must yield, live and when
// its events are replayed.
type scenario struct {
	name, file string
	archive    *txtar.Archive
	config     Config
	steps      []step
}

func scenarios(t testing.TB) []scenario {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var out []scenario
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		require.NoError(t, err)
		s := scenario{
			name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: a,
			config: Config{Cwd: "/w", Tools: testTools(), ContextWindow: 200000, CardTextMax: 400},
		}
		comment := string(a.Comment)
		s.config.Terminal = strings.Contains(comment, "(display terminal)")
		s.steps = parseScript(t, s.section("script"))
		out = append(out, s)
	}
	return out
}

func (s scenario) section(name string) string {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// live plays the script: each line that yields something, then what it yields.
func (s scenario) live(t testing.TB, c Config) string {
	p := New(c)
	var b strings.Builder
	for _, st := range s.steps {
		var out string
		if st.ask != "" {
			call, ok := p.PermissionCall(st.ask, st.question)
			require.True(t, ok, st.line)
			out = encode(t, call) + "\n"
		} else {
			out = encodeAll(t, st.live(t, p))
		}
		if out != "" {
			b.WriteString("# " + st.line + "\n" + out)
		}
	}
	return b.String()
}

func (s scenario) replay(t testing.TB, c Config) string {
	p := New(c)
	var b strings.Builder
	for _, st := range s.steps {
		if st.event != nil {
			b.WriteString(encodeAll(t, p.Replay(*st.event)))
		}
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, s := range scenarios(t) {
		t.Run(s.name, func(t *testing.T) {
			live, replay := s.live(t, s.config), s.replay(t, s.config)
			if *update {
				out := &txtar.Archive{Comment: s.archive.Comment, Files: []txtar.File{
					{Name: "script", Data: []byte(s.section("script"))},
					{Name: "live", Data: []byte(live)},
					{Name: "replay", Data: []byte(replay)},
				}}
				require.NoError(t, os.WriteFile(s.file, txtar.Format(out), 0o644))
				return
			}
			assert.Equal(t, s.section("live"), live)
			assert.Equal(t, s.section("replay"), replay)
			assert.Equal(t, live, s.live(t, s.config), "a second presenter says something else")
			assert.Equal(t, replay, s.replay(t, s.config), "a second replay says something else")
		})
	}
}
