package tools

import (
	"context"
	"encoding/json"
	"strings"

	"dsh-acp/internal/hashline"
	"dsh-acp/internal/msg"
	"dsh-acp/internal/syntax"
	"dsh-acp/presenter"
	"dsh-acp/tools/fs"
)

// HashlineConfig holds the choices of the tools fs_read, fs_write, fs_edit and
// fs_rollback. The zero value is the default.
type HashlineConfig struct {
	Engine    fs.Engine
	SeenLines fs.SeenPolicy
	NoRepair  bool
	// AdvertiseBatch tells the model that one call of fs_edit takes several
	// files.
	AdvertiseBatch bool
	// Parser is as in fs.Config: nil means that there are no syntax trees.
	Parser syntax.Parser
}

// fsTool is one of the four tools of the toolbox, which describes and carries
// out; here its calls are made calls of a session.
type fsTool struct{ name string }

// newBox makes the toolbox of a session.
func (e *env) newBox() (*fs.Box, error) {
	return fs.NewBox(fs.Config{
		Root: e.Cwd, Files: e.Files, Seen: e.Seen, OverwriteUnread: e.OverwriteUnread,
		Resolve: func(ctx context.Context, path string) (string, error) {
			return e.resolve(ctx, "path", "path", path)
		},
		Engine: e.Hashline.Engine, SeenLines: e.Hashline.SeenLines, NoRepair: e.Hashline.NoRepair,
		Parser: e.Hashline.Parser,
	})
}

// spec is that of the default engine; a set gives its own by fsSpec.
func (t fsTool) spec(string) msg.ToolSpec { return fsSpec(t.name, HashlineConfig{}) }

// fsSpec describes a tool as the session's engine has it.
func fsSpec(name string, c HashlineConfig) msg.ToolSpec {
	for _, d := range fs.Describe(fs.Offer{Engine: c.Engine, Trees: c.Parser != nil, Batch: c.AdvertiseBatch}) {
		if d.Name == name {
			return msg.ToolSpec{Name: d.Name, Description: d.Description, InputSchema: d.InputSchema}
		}
	}
	panic("tools: the toolbox has no tool " + name)
}

func (t fsTool) cards() presenter.Tool {
	switch t.name {
	case fs.NameRead:
		return fsReadCards{}
	case fs.NameWrite:
		return fsWriteCards{}
	case fs.NameEdit:
		return fsEditCards{}
	case fs.NameRollback:
		return fsRollbackCards{}
	}
	panic("tools: no cards for " + t.name)
}

var fsParams = map[string][]param{
	fs.NameRead: {{"path", stringParam, true}, {"offset", countParam, false}, {"limit", countParam, false}, {"symbol", stringParam, false},
		{"line", countParam, false}, {"line_range", stringParam, false}},
	fs.NameWrite:    {{"path", stringParam, true}, {"content", stringParam, true}, {"file_hash", stringParam, false}},
	fs.NameRollback: {{"path", stringParam, true}, {"hash", stringParam, true}, {"dry_run", boolParam, false}},
}

func (t fsTool) planRaw(ctx context.Context, e *env, name, raw string) (*Plan, error) {
	if t.name == fs.NameEdit {
		return planFsEdit(ctx, e, name, raw)
	}
	if t.name == fs.NameWrite {
		raw = strings.TrimSpace(raw)
		raw = withoutNull(raw, "file_hash")
	}
	args, err := decode(name, raw, fsParams[t.name])
	if err != nil {
		return nil, err
	}
	path := args.text("path")
	abs, err := e.resolve(ctx, name, "path", path)
	if err != nil {
		return nil, err
	}
	p := &Plan{Need: Need{Access: Change, Paths: []string{abs}, Outside: e.outside(abs)}}
	var run func(ctx context.Context) (msg.ToolResult, error)
	switch t.name {
	case fs.NameRead:
		p.Need.Access = Look
		target := fs.Target{
			Path: path, Offset: args.count("offset"), Limit: args.count("limit"), Symbol: args.text("symbol"),
			Line: args.count("line"), LineRange: args.text("line_range"),
		}
		run = func(ctx context.Context) (msg.ToolResult, error) { return e.fsRead(ctx, target) }
	case fs.NameWrite:
		target := fs.TargetFile{Path: path, Text: args.text("content"), FileHash: args.text("file_hash")}
		would, err := e.box.CheckWrite(ctx, target)
		if err != nil {
			return nil, err
		}
		p.Need.Blind = hidesOld(would)
		p.preview = func() []presenter.FileDiff { return changeHunks(path, would) }
		run = func(ctx context.Context) (msg.ToolResult, error) { return e.fsWrite(ctx, target) }
	case fs.NameRollback:
		hash := args.text("hash")
		would, err := e.box.CheckRollback(ctx, path, hash)
		if err != nil {
			return nil, err
		}
		if args.flag("dry_run") {
			p.Need.Access = Look
			run = func(context.Context) (msg.ToolResult, error) { return fsRolledBack(would) }
			break
		}
		p.Need.Blind = hidesOld(would.Change) || would.Header == ""
		p.preview = func() []presenter.FileDiff { return rollbackHunks(would) }
		run = func(ctx context.Context) (msg.ToolResult, error) { return e.fsRollback(ctx, path, hash) }
	default:
		panic("tools: no way to run " + t.name)
	}
	p.run = func(ctx context.Context) msg.ToolResult { return fsResult(ctx, name, run) }
	return p, nil
}

// withoutNull takes a member that is null out of the text of an object: some
// models write one for what they leave out.
func withoutNull(raw, name string) string {
	members, err := splitObject(raw)
	if err != nil {
		return raw // told by who reads it next
	}
	for i, m := range members {
		if m.name != name || string(m.value) != "null" {
			continue
		}
		rest := append(members[:i:i], members[i+1:]...)
		parts := make([]string, len(rest))
		for j, m := range rest {
			key, err := msg.Marshal(m.name)
			if err != nil {
				return raw
			}
			parts[j] = string(key) + ":" + string(m.value)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return raw
}

func planFsEdit(ctx context.Context, e *env, name, raw string) (*Plan, error) {
	if esc := msg.LoneSurrogate(raw); esc != "" {
		return nil, failf(CodeInvalidUnicode, "%s: the arguments hold %s, one half of a surrogate pair, which is no character: write the character itself or both halves", name, esc)
	}
	if at := firstInvalid(raw); at >= 0 {
		return nil, failf(CodeInvalidUnicode, "%s: the arguments are not valid UTF-8 at byte %d: send the text again, whole", name, at)
	}
	call, err := hashline.Decode(json.RawMessage(raw), e.box.Engine)
	if err != nil {
		return nil, err
	}
	if ast, ok := call.(hashline.ASTCall); ok {
		return planRewrite(ctx, e, name, ast)
	}
	paths, dryRun := fs.EditPaths(call)
	p := &Plan{Need: Need{Access: Change}}
	if dryRun {
		p.Need.Access = Look
	}
	for _, path := range paths {
		abs, err := e.box.Abs(ctx, path)
		if err != nil {
			if len(paths) > 1 {
				continue // told when the call comes to it
			}
			return nil, err
		}
		p.Need.Paths = append(p.Need.Paths, abs)
		p.Need.Outside = p.Need.Outside || e.outside(abs)
	}
	// The user is not asked about a call that cannot succeed. Of several
	// targets those before the one that fails are written, and shown.
	would, err := e.box.EditCall(ctx, asDryRun(call))
	if err != nil && len(would) == 0 {
		return nil, err
	}
	p.preview = func() []presenter.FileDiff { return editHunks(would) }
	p.run = func(ctx context.Context) msg.ToolResult {
		return fsResult(ctx, name, func(ctx context.Context) (msg.ToolResult, error) {
			done, err := e.box.EditCall(ctx, call)
			if err != nil {
				return msg.ToolResult{}, err
			}
			return fsEdited(done), nil
		})
	}
	return p, nil
}

func asDryRun(call hashline.Call) hashline.Call {
	switch c := call.(type) {
	case hashline.ReplaceCall:
		c.DryRun = true
		return c
	case hashline.ContentCall:
		c.DryRun = true
		return c
	}
	panic("tools: an unknown form of edit")
}
