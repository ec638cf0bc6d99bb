package arch

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "dsh-acp"

// floors is a statement of policy: a package imports from lower floors only.
// Change it in a commit of its own, with the reason. A package that is not
// named here does not belong anywhere yet.
const floors = `
	0  internal/msg internal/text internal/syntax
	1  presenter internal/guard internal/hashline internal/patch internal/jsonedit internal/astedit
	2  fsbackend internal/eventlog internal/model internal/config internal/shell internal/search
	2  internal/syntax/sitter
	2  internal/model/transport internal/model/anthropic internal/model/openai internal/model/scripted
	3  tools tools/fs internal/agent
	4  acp internal/mcpserve
	5  internal/app
	6  cmd/dsh-acp conformance internal/demo

	# Tests and measuring tools stand beside the floors; the agent knows none of them.
	aside  internal/arch internal/acptest internal/acpschema internal/modelserver
	aside  internal/cases internal/cases/run internal/bench fsbackend/fsbackendtest
`

// within are the arrows inside of a floor: the second imports the first.
const within = `
	internal/jsonedit < internal/patch
	tools/fs < tools
	internal/model < internal/model/transport internal/model/anthropic internal/model/openai internal/model/scripted
	internal/model/transport < internal/model/anthropic internal/model/openai internal/model/scripted
	conformance < cmd/dsh-acp
	internal/demo < cmd/dsh-acp
`

// strangers never import each other although their floors would let them.
const strangers = `
	acp fsbackend
	acp tools
	acp internal/config
	internal/agent fsbackend
	presenter fsbackend
`

// measures are the packages that may import those aside, in code that ships.
const measures = `conformance internal/demo`

// libraries says which packages may import a module, in code that is no test.
// One for command lines is left out on purpose: docs/design/command-line.md.
const libraries = `
	charm.land/lipgloss/v2                     : internal/demo conformance
	github.com/OneOfOne/xxhash                 : internal/hashline
	github.com/alecthomas/chroma/v2            : internal/demo
	github.com/anthropics/anthropic-sdk-go/v2  : internal/model/anthropic
	github.com/aymanbagabas/go-udiff           : internal/text presenter
	github.com/bmatcuk/doublestar/v4           : tools fsbackend internal/search
	github.com/coder/acp-go-sdk                : acp internal/demo
	github.com/gofrs/flock                     : internal/app internal/eventlog
	github.com/modelcontextprotocol/go-sdk     : cmd/dsh-acp internal/app internal/mcpserve
	github.com/openai/openai-go/v3             : internal/model/openai
	github.com/rs/zerolog                      : acp internal/app cmd/dsh-acp
	github.com/santhosh-tekuri/jsonschema/v6   : internal/acpschema
	github.com/sourcegraph/jsonrpc2            : acp conformance
	github.com/stretchr/testify                : fsbackend/fsbackendtest
	github.com/tailscale/hujson                : internal/config internal/jsonedit internal/cases
	github.com/tidwall/gjson                   : internal/model/transport internal/model/anthropic internal/model/openai
	github.com/tree-sitter                     : internal/syntax/sitter
	github.com/zalando/go-keyring              : internal/config
	golang.org/x/sys                           : cmd/dsh-acp fsbackend internal/eventlog internal/cases internal/shell internal/search
	golang.org/x/term                          : cmd/dsh-acp internal/demo
	golang.org/x/text                          : internal/acpschema tools
`

// outside is what the floors 0 and 1 do not touch: the world, and time.
const outside = `os net log time math/rand context syscall`

// A file is one Go file's place and imports.
type file struct {
	path    string // slash-separated, from the module's root
	pkg     string // its folder
	test    bool
	imports []string
}

// files reads the imports of all Go files, whatever their build tags.
func files(t *testing.T) []file {
	t.Helper()
	root := filepath.Join("..", "..")
	var out []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		base := path.Base(rel)
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || base == "scripts") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		f := file{path: rel, pkg: path.Dir(rel), test: strings.HasSuffix(base, "_test.go")}
		for _, imp := range parsed.Imports {
			p, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, p)
		}
		out = append(out, f)
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(out), 50, "the module's files")
	return out
}

// rows cuts a policy into lines of words, without remarks.
func rows(policy string) [][]string {
	var out [][]string
	for line := range strings.Lines(policy) {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

const aside = -1

func floorOf() map[string]int {
	m := map[string]int{}
	for _, row := range rows(floors) {
		n := aside
		if row[0] != "aside" {
			var err error
			if n, err = strconv.Atoi(row[0]); err != nil {
				panic("arch: floor " + row[0])
			}
		}
		for _, pkg := range row[1:] {
			m[pkg] = n
		}
	}
	return m
}

// fault says what is wrong with an import of one package by another, "" if
// nothing is.
func fault(from, to string, floor map[string]int) string {
	a, known := floor[from]
	if !known {
		return fmt.Sprintf("package %s stands on no floor", from)
	}
	b, known := floor[to]
	if !known {
		return fmt.Sprintf("package %s stands on no floor", to)
	}
	for _, row := range rows(strangers) {
		if slices.Contains(row, from) && slices.Contains(row, to) {
			return fmt.Sprintf("%s and %s do not know each other", from, to)
		}
	}
	switch {
	case a == aside:
		return "" // it measures what it likes
	case b == aside:
		if !slices.Contains(strings.Fields(measures), from) {
			return fmt.Sprintf("%s imports %s, which is for tests and measuring", from, to)
		}
		return ""
	case a > b:
		return ""
	}
	for _, row := range rows(within) {
		if a == b && row[0] == to && slices.Contains(row[2:], from) {
			return ""
		}
	}
	return fmt.Sprintf("%s (floor %d) imports %s (floor %d)", from, a, to, b)
}

func TestFloors(t *testing.T) {
	floor := floorOf()
	for _, f := range files(t) {
		if _, known := floor[f.pkg]; !known {
			t.Errorf("%s: package %s stands on no floor", f.path, f.pkg)
		}
		if f.test {
			continue
		}
		for _, imp := range f.imports {
			to, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			if why := fault(f.pkg, to, floor); why != "" {
				t.Errorf("%s: %s", f.path, why)
			}
		}
	}
}

func TestPureFloors(t *testing.T) {
	floor := floorOf()
	for _, f := range files(t) {
		if n := floor[f.pkg]; f.test || n != 0 && n != 1 {
			continue
		}
		for _, imp := range f.imports {
			for _, bad := range strings.Fields(outside) {
				if imp == bad || strings.HasPrefix(imp, bad+"/") {
					t.Errorf("%s: a pure package imports %s", f.path, imp)
				}
			}
		}
	}
}

// allowed returns the packages that may import a library, and whether the
// library is known.
func allowed(imp string) ([]string, bool) {
	for _, row := range rows(libraries) {
		if imp == row[0] || strings.HasPrefix(imp, row[0]+"/") {
			return row[2:], true
		}
	}
	return nil, false
}

func TestLibraries(t *testing.T) {
	for _, f := range files(t) {
		if f.test {
			continue
		}
		for _, imp := range f.imports {
			first, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(first, ".") {
				continue // ours, or Go's own
			}
			who, known := allowed(imp)
			switch {
			case !known:
				t.Errorf("%s: the library %s is in no policy", f.path, imp)
			case !slices.Contains(who, f.pkg):
				t.Errorf("%s: %s may be imported by %v only", f.path, imp, who)
			}
		}
	}
}

func TestThePolicyCanFail(t *testing.T) {
	floor := floorOf()
	for _, c := range []struct{ from, to, want string }{
		{"tools", "fsbackend", ""},
		{"internal/model/anthropic", "internal/model", ""},
		{"conformance", "internal/modelserver", ""},
		{"internal/cases", "tools", ""},
		{"internal/msg", "presenter", "floor 0"},
		{"tools", "internal/agent", "floor 3"},
		{"fsbackend", "internal/eventlog", "floor 2"},
		{"internal/model", "internal/model/anthropic", "floor 2"},
		{"acp", "tools", "do not know each other"},
		{"acp", "fsbackend", "do not know each other"},
		{"internal/app", "internal/modelserver", "for tests"},
		{"acp", "nowhere", "no floor"},
		{"nowhere", "acp", "no floor"},
	} {
		got := fault(c.from, c.to, floor)
		if c.want == "" {
			assert.Empty(t, got)
			continue
		}
		assert.Contains(t, got, c.want)
	}
	who, known := allowed("github.com/sourcegraph/jsonrpc2/websocket")
	assert.True(t, known)
	assert.Equal(t, []string{"acp", "conformance"}, who)
	_, known = allowed("github.com/sourcegraph/jsonrpc22")
	assert.False(t, known)
}
