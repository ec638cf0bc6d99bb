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

//go:embed fs_write.md
var writeText string

//go:embed fs_edit_replace.md
var editReplaceText string

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
	patOps     = `"ops": {"type": "array", "minItems": 1, "description": "the rewrites, in order", "items": {"type": "object", "properties": {"pat": {"type": "string"}, "out": {"type": "string"}}, "required": ["pat", "out"], "additionalProperties": false}}`
)

// An Offer says what of the toolbox a model is told.
type Offer struct {
	Engine Engine
	// Rewriter says that there is an engine of patterns: without one Auto does
	// not tell of it.
	Rewriter bool
	// Batch tells that one call of the edit tool takes several files. Such
	// calls work all the same.
	Batch bool
}

// Describe gives the four tools in the order read, write, edit, rollback. A
// forced engine's edit tool does not tell of the other.
func Describe(o Offer) []ToolDescription {
	return []ToolDescription{
		{NameRead, trim(readText), schema("path", pathProp,
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
	switch o.Engine {
	case Replace:
		text, props, required := trim(editReplaceText), []string{pathProp, tag, ops, dryRunProp}, "path,file_hash,ops"
		if o.Batch {
			text, props, required = text+"\n\n"+trim(editBatchText), append(props, targets), ""
		}
		return ToolDescription{NameEdit, text, schema(required, props...)}
	case AST:
		return ToolDescription{NameEdit, trim(editASTText), schema("ops", pathProp, patOps, paths, dryRunProp)}
	case Auto:
		text := trim(editReplaceText) + "\n\n" + trim(editContentText)
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
		if o.Rewriter {
			text += "\n\n" + trim(editASTText)
			props[2] = `"ops": {"description": "lines of text with file_hash, or a list of pat and out"}`
			props = append(props, paths)
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
