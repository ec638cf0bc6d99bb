package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/config"
	"dsh-acp/internal/guard"
	"dsh-acp/internal/mcpserve"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/shell"
	"dsh-acp/tools"
	"dsh-acp/tools/fs"
)

// MCPOptions say what [App.ServeMCP] serves, besides the settings.
type MCPOptions struct {
	// Roots are the folders to work in, absolute; with none the client is
	// asked for its own.
	Roots []string
	// Tools are names of tools and of presets, of which the tools for files
	// are taken; empty means the default, see [MCPTools].
	Tools []string
	// Engine is how fs_edit edits: "auto", "replace" or "ast"; "" leaves it to
	// the settings.
	Engine string
}

// CheckMCPEngine fails if no value of MCPOptions.Engine has this name.
func CheckMCPEngine(name string) error {
	if _, ok := engines[name]; !ok && name != "" {
		return fmt.Errorf("there is no engine %q; the engines are auto, replace and ast", name)
	}
	return nil
}

// ServeMCP offers the tools to a host over the Model Context Protocol, until
// in ends or ctx does. The lists of paths and the limits are those of the
// settings.
func (a *App) ServeMCP(ctx context.Context, o MCPOptions, in io.Reader, out io.Writer) error {
	defer a.diag.close()
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	m := mcpTools{app: a, cfg: cfg}
	if m.offer, err = MCPTools(o.Tools); err != nil {
		return err
	}
	if err := CheckMCPEngine(o.Engine); err != nil {
		return err
	}
	m.cfg.Hashline.Engine = cmp.Or(o.Engine, m.cfg.Hashline.Engine)
	roots := make([]string, len(o.Roots))
	for i, r := range o.Roots {
		roots[i] = filepath.Clean(r)
	}
	if len(roots) > 0 {
		// What is wrong with them is said at once, and not with each call.
		box, err := m.open(roots)
		if err != nil {
			return err
		}
		if err := box.Close(); err != nil {
			return err
		}
	}
	specs, err := m.specs()
	if err != nil {
		return err
	}
	return mcpserve.Serve(ctx, mcpserve.Config{
		Name: Name, Version: a.opts.Version, Specs: specs, Roots: roots, Open: m.open,
		Warn: func(text string) { a.log.Warn().Msg(text) },
		OnPanic: func(where string, v any, stack []byte) {
			a.log.Error().Str("where", where).Bytes("stack", stack).Msgf("panic: %v", v)
		},
	}, in, out)
}

// MCPTools are the tools that names stand for, each once: a tool is itself, a
// preset its tools that work on files. Commands are only run if named. No
// names are the preset "hashline" and apply_patch.
func MCPTools(names []string) ([]string, error) {
	if len(names) == 0 {
		names = []string{"hashline", "apply_patch"}
	}
	var out []string
	for _, name := range names {
		all, preset := tools.Preset(name)
		if !preset {
			all = []string{name}
		}
		for _, n := range all {
			t, ok := tools.TraitsOf(n)
			switch {
			case preset && (t.Session || t.Access == tools.Execute || n == "BashOutput"):
				continue
			case !ok:
				return nil, fmt.Errorf("there is no tool and no preset %q", n)
			case t.Session:
				return nil, fmt.Errorf("the tool %s cannot be served: it needs an agent's session", n)
			}
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out, nil
}

// mcpTools makes the tools that are served.
type mcpTools struct {
	app   *App
	cfg   config.Config
	offer []string
}

// specs are what a host is told before any folder is known.
func (m mcpTools) specs() (specs []msg.ToolSpec, err error) {
	nowhere, err := fsbackend.NewLocal(fsbackend.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, nowhere.Close()) }()
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	set, err := tools.New(m.config(dir, nil, nowhere))
	if err != nil {
		return nil, err
	}
	return set.Specs(), nil
}

// open makes the tools for folders. Those after the first that cannot be
// opened are left out, since a host may list what is not there any more.
func (m mcpTools) open(roots []string) (mcpserve.Toolbox, error) {
	kept := roots[:1:1]
	for _, r := range roots[1:] {
		if info, err := os.Stat(r); err != nil || !info.IsDir() {
			m.app.log.Warn().Str("folder", r).Msg("left out: it is no folder that can be opened")
			continue
		}
		kept = append(kept, r)
	}
	policy, err := guardPolicy(m.cfg, kept)
	if err != nil {
		return mcpserve.Toolbox{}, err
	}
	const widen = "use a path in it, or ask the user to start the server with another --root"
	local, err := fsbackend.NewLocal(fsbackend.Options{
		Roots: kept, Locks: &m.app.locks, BeforeMax: m.cfg.Diff.BasisMaxBytes, OnSync: m.app.synced("file"), Widen: widen,
	})
	if err != nil {
		return mcpserve.Toolbox{}, err
	}
	// What is replaced is kept while these tools are in use: a host has no
	// session that could be found again, and two may serve one folder.
	dir := versionDir(m.cfg, "mcp-"+rand.Text())
	journal, err := fsbackend.OpenJournal(fsbackend.JournalOptions{Dir: dir, Tag: fs.TagOf, Now: m.app.opts.Now})
	if err != nil {
		return mcpserve.Toolbox{}, errors.Join(fmt.Errorf("earlier versions of files: %w", err), local.Close())
	}
	shut := func() error { return errors.Join(journal.Close(), os.RemoveAll(dir), local.Close()) }
	files := fsbackend.Restrict(local, fsbackend.Limits{Policy: policy, Generated: generated[m.cfg.Guard.Generated], Widen: widen})
	c := m.config(kept[0], kept, journal.Over(files))
	c.Commands = shell.New(shell.Config{Dir: kept[0]})
	set, err := tools.New(c)
	if err != nil {
		c.Commands.Close()
		return mcpserve.Toolbox{}, errors.Join(err, shut())
	}
	return mcpserve.Toolbox{Set: set, Close: func() error {
		c.Commands.Close()
		return shut()
	}}, nil
}

func (m mcpTools) config(cwd string, roots []string, files fsbackend.Backend) tools.Config {
	return tools.Config{
		Cwd: cwd, Roots: roots, Files: files, Offer: m.offer, OverwriteUnread: m.cfg.OverwriteUnread, Patch: patching(m.cfg),
		Hashline: hashlining(m.cfg),
		// Who names the tools wants them; only single names stay hidden.
		Hiding: tools.Hiding{Names: m.cfg.HiddenToolNames},
		Read:   tools.ReadLimits{Lines: int(m.cfg.Read.MaxLines), Columns: int(m.cfg.Read.MaxColumns), Bytes: int(m.cfg.Read.MaxBytes)},
		// No hints from the folders: a name in one may be blocked.
		List: nil,
	}
}

// guardPolicy is the policy of the settings for folders, of which relative
// entries are in the first.
func guardPolicy(cfg config.Config, roots []string) (guard.Policy, error) {
	g := cfg.Guard
	own := ownFolders(cfg, roots)
	if g.ReadBlock != nil {
		g.ReadBlock = append(slices.Clone(g.ReadBlock), own...)
	}
	g.Block = append(slices.Clone(g.Block), own...)
	p, err := guard.New(guard.Config{
		Root: roots[0], More: roots[1:], Allow: g.Allow, Block: g.Block, ReadAllow: g.ReadAllow, ReadBlock: g.ReadBlock,
		Style: guard.Style{Windows: runtime.GOOS == "windows", Fold: fsbackend.FoldsCase(roots[0])},
	})
	if err != nil {
		return guard.Policy{}, fmt.Errorf("the lists of paths in the settings (guard): %s", strings.TrimPrefix(err.Error(), "guard: "))
	}
	return p, nil
}

// ownFolders are the program's own that lie in an open folder: settings, keys,
// session logs and the permissions of projects. A tool that may edit files must
// not be able to widen what it may do.
func ownFolders(cfg config.Config, roots []string) config.List {
	var out config.List
	for _, dir := range []string{cfg.StateDir, cfg.Dir} {
		if dir == "" {
			continue
		}
		real := dir
		if r, err := filepath.EvalSymlinks(dir); err == nil {
			real = r
		}
		for _, root := range roots {
			if r, err := filepath.EvalSymlinks(root); err == nil && (isBelow(r, real) || isBelow(root, dir)) {
				out = append(out, dir)
				break
			}
		}
	}
	return out
}

func isBelow(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}
