package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// lsTool lists a folder.
type lsTool struct{}

//go:embed ls.md
var lsText string

const lsSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "the folder, absolute or relative to the working directory, which it is if left out"}
  },
  "additionalProperties": false
}`

// maxNames is how many names a listing shows.
const maxNames = 1000

func (lsTool) params() []param { return []param{{"path", stringParam, false}} }

func (lsTool) spec(name string) msg.ToolSpec {
	return msg.ToolSpec{Name: name, Description: lsText, InputSchema: json.RawMessage(lsSchema)}
}

func (lsTool) cards() presenter.Tool { return lsCards{} }

func (lsTool) plan(ctx context.Context, e *env, name string, args arguments) (*Plan, error) {
	abs, info, err := e.folder(ctx, name, args)
	if err != nil {
		return nil, err
	}
	if !info.Dir {
		return nil, failf(fsbackend.CodeNotDirectory, "ls %s: it is a file, not a folder: use Read to see what is in it", args.text("path"))
	}
	return e.look(name, abs, func(ctx context.Context) (string, error) { return e.list(ctx, abs) }), nil
}

func (e *env) list(ctx context.Context, abs string) (string, error) {
	dir, err := fsbackend.OpenDir(ctx, e.Files, abs)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	f, err := dir.Root.Open(".")
	if err != nil {
		return "", err
	}
	defer f.Close()
	// The first names of a huge folder are kept as they come, in bounded
	// memory, and the rest is counted.
	var names []string
	total := 0
	for {
		entries, err := f.ReadDir(4096)
		for _, entry := range entries {
			if dir.Readable != nil && !dir.Readable(filepath.Join(dir.Real, entry.Name())) {
				continue
			}
			total++
			names = append(names, entryName(dir.Root, entry))
		}
		if slices.Sort(names); len(names) > maxNames {
			names = names[:maxNames]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
	}
	if total == 0 {
		return fmt.Sprintf("the folder %s is empty", e.place(abs)), nil
	}
	text := strings.Join(names, "\n")
	if len(names) < total {
		text += fmt.Sprintf("\n\n(the first %d of %d names; use Glob to find others)", len(names), total)
	}
	return text, nil
}

// entryName is a name with a sign of what it is.
func entryName(root *os.Root, e fs.DirEntry) string {
	switch name := strings.ToValidUTF8(e.Name(), "\ufffd"); {
	case e.IsDir():
		return name + "/"
	case e.Type()&fs.ModeSymlink != 0:
		if target, err := root.Readlink(e.Name()); err == nil {
			return name + " -> " + strings.ToValidUTF8(target, "\ufffd")
		}
		return name
	default:
		return name
	}
}

type lsCards struct{}

func (lsCards) Call(args json.RawMessage, _ bool) presenter.Card {
	path, _ := loosely(args).text("path")
	title := "List the folder"
	if path != "" {
		title = "List `" + path + "`"
	}
	return presenter.Generic{Title: title, Kind: presenter.KindSearch, Locations: locations(path, 0)}
}

func (lsCards) Result(_ json.RawMessage, r msg.ToolResult) presenter.Card { return foundCard(r) }

func (lsCards) Input(args json.RawMessage) json.RawMessage { return args }
