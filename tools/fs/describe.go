package fs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// The names of the tools, as they are offered.
const (
	NameRead     = "fs_read"
	NameWrite    = "fs_write"
	NameEdit     = "fs_edit"
	NameRollback = "fs_rollback"
)

// A ToolDescription tells a model of a tool. As JSON it is a tool of the Model
// Context Protocol.
type ToolDescription struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

//go:embed fs_read.md
var readText string

//go:embed fs_read_block.md
var readBlockText string

//go:embed fs_write.md
var writeText string

//go:embed fs_edit_replace.md
var editReplaceText string

//go:embed fs_edit_block.md
var editBlockText string

//go:embed fs_edit_noast.md
var editNoASTText string

//go:embed fs_edit_ast.md
var editASTText string

//go:embed fs_edit_content.md
var editContentText string

//go:embed fs_edit_batch.md
var editBatchText string

//go:embed fs_rollback.md
var rollbackText string

// Parts of schemas that several tools have.
const (
	pathProp   = `"path": {"type": "string", "minLength": 1, "description": "the file, relative to the root or absolute"}`
	dryRunProp = `"dry_run": {"type": "boolean", "default": false, "description": "only tell what would be done"}`
	forceProp  = `"force": {"type": "boolean", "default": false, "description": "write a result that does not parse all the same; only with pat and out"}`
	filesProp  = `"max_files": {"type": "integer", "minimum": 1, "default": 1000, "description": "how many files are looked at; only with pat and out"}`
	patOps     = `"ops": {"type": "array", "minItems": 1, "description": "the rewrites, in order", "items": {"type": "object", "properties": {"pat": {"type": "string"}, "out": {"type": "string"}}, "required": ["pat", "out"], "additionalProperties": false}}`
)

// An Offer says what of the toolbox a model is told.
type Offer struct {
	Engine Engine
	// Trees says that there are syntax trees. Without them nothing that needs
	// them is offered, and the text says that it is not in this build.
	Trees bool
	// Batch tells that one call of the edit tool takes several files. Such
	// calls work all the same.
	Batch bool
}

// Describe gives the four tools in the order read, write, edit, rollback. A
// forced engine's edit tool does not tell of the other.
func Describe(o Offer) []ToolDescription {
	read := trim(readText)
	if o.Trees {
		read += "\n" + trim(readBlockText)
	}
	return []ToolDescription{
		{NameRead, read, schema("path", pathProp,
			`"offset": {"type": "integer", "minimum": 1, "description": "the first line, counted from 1"}`,
			`"limit": {"type": "integer", "minimum": 1, "description": "how many lines"}`,
			`"symbol": {"type": "string", "description": "show the definition of this name"}`)},
		{NameWrite, trim(writeText), schema("path,content", pathProp,
			`"content": {"type": "string", "description": "the whole new text"}`,
			`"file_hash": {"type": ["string", "null"], "description": "the tag under which the file was shown; null: none"}`)},
		describeEdit(o),
		{NameRollback, trim(rollbackText), schema("path,hash", pathProp,
			`"hash": {"type": "string", "description": "the tag of the version to go back to; empty for the one before"}`, dryRunProp)},
	}
}

func describeEdit(o Offer) ToolDescription {
	tag := `"file_hash": {"type": "string", "description": "the tag from the header, such as B6C1"}`
	ops := `"ops": {"type": "string", "description": "the edit, as lines of text"}`
	paths := `"paths": {"type": "array", "items": {"type": "string"}, "description": "files, folders and globs, instead of path"}`
	targets := `"targets": {"type": "array", "minItems": 1, "description": "edits of several files, in order, instead of path, file_hash and ops", "items": ` +
		string(schema("path,file_hash,ops", pathProp, tag, ops)) + `}`
	lines := trim(editReplaceText)
	if o.Trees {
		lines += "\n\n" + trim(editBlockText)
	}
	switch o.Engine {
	case Replace:
		text, props, required := lines, []string{pathProp, tag, ops, dryRunProp}, "path,file_hash,ops"
		if o.Batch {
			text, props, required = text+"\n\n"+trim(editBatchText), append(props, targets), ""
		}
		return ToolDescription{NameEdit, text, schema(required, props...)}
	case AST:
		text := trim(editASTText)
		if !o.Trees {
			text += "\n" + trim(editNoASTText)
		}
		return ToolDescription{NameEdit, text, schema("ops", pathProp, patOps, paths, filesProp, forceProp, dryRunProp)}
	case Auto:
		text := lines + "\n\n" + trim(editContentText)
		props := []string{
			pathProp, tag, ops,
			`"old_string": {"type": "string", "description": "the text to replace, exactly"}`,
			`"new_string": {"type": "string", "description": "the text to put in its place"}`,
			`"replace_all": {"type": "boolean", "default": false, "description": "replace every occurrence of old_string"}`,
			dryRunProp,
		}
		if o.Batch {
			text += "\n\n" + trim(editBatchText)
			props = append(props, targets)
		}
		if o.Trees {
			text += "\n\n" + trim(editASTText)
			props[2] = `"ops": {"description": "lines of text with file_hash, or a list of pat and out"}`
			props = append(props, paths, filesProp, forceProp)
		} else {
			text += "\n\n" + trim(editNoASTText)
		}
		return ToolDescription{NameEdit, text, schema("", props...)}
	default:
		panic(fmt.Sprintf("fs: no description for engine %d", o.Engine))
	}
}

func trim(s string) string { return strings.TrimSpace(s) }

// schema puts properties together; required is a list with commas.
func schema(required string, props ...string) json.RawMessage {
	out := `{"type": "object", "properties": {` + strings.Join(props, ", ") + `}`
	if required != "" {
		out += `, "required": ["` + strings.ReplaceAll(required, ",", `", "`) + `"]`
	}
	return json.RawMessage(out + `, "additionalProperties": false}`)
}
