package hashline

import "strings"

// An Engine is a way to edit that a call may use.
type Engine uint8

// The engines.
const (
	Auto          Engine = iota // the arguments decide
	ReplaceEngine               // numbered lines
	ASTEngine                   // syntax patterns
)

// A Shape is an example of arguments, as JSON text.
type Shape string

// The shapes of calls.
const (
	ShapeReplace Shape = `{"path": "a.go", "file_hash": "B6C1", "ops": "replace 2..3:\n+new text"}`
	ShapeTargets Shape = `{"targets": [{"path": "a.go", "file_hash": "B6C1", "ops": "replace 2..3:\n+new text"}]}`
	ShapeContent Shape = `{"path": "a.go", "old_string": "old text", "new_string": "new text"}`
	ShapeEdits   Shape = `{"edits": [{"path": "a.go", "old_string": "old text", "new_string": "new text"}]}`
	ShapeAST     Shape = `{"path": "a.go", "ops": [{"pat": "foo($A)", "out": "bar($A)"}]}`
	ShapeASTMany Shape = `{"ast": {"ops": [{"pat": "foo($A)", "out": "bar($A)"}], "paths": ["src"]}}`
)

func shapesOf(e Engine) []Shape {
	switch e {
	case ReplaceEngine:
		return []Shape{ShapeReplace}
	case ASTEngine:
		return []Shape{ShapeAST}
	}
	return []Shape{ShapeReplace, ShapeContent, ShapeAST}
}

// correct is a refusal of arguments that shows what would work.
func correct(why string, shapes ...Shape) *Error {
	lines := make([]string, len(shapes))
	for i, s := range shapes {
		lines[i] = "\n" + string(s)
	}
	e := refuse(CodeArgs, "%s; what works:%s", why, strings.Join(lines, ""))
	e.Details.Expected = shapes
	return e
}
