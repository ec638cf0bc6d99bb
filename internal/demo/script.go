package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dsh-acp/internal/msg"
)

const task = "Log with levels, tidy up Many, and add a test."

// files is the workspace before.
var files = map[string]string{
	"greet.go": `package greet

import (
	"fmt"
	"log"
)

// Hello returns a greeting.
func Hello(name string) string {
	log.Printf("greeting %q", name)
	if name == "" {
		return "Hello!"
	}
	return fmt.Sprintf("Hello, %s!", name)
}

// Many greets each name on a line of its own.
func Many(names []string) string {
	var out string
	for _, n := range names {
		out += Hello(n) + "\n"
	}
	log.Printf("greeted %d names", len(names))
	return out
}
`,
	"README.md": "# greet\n\nSays hello.\n",
}

const test = `package greet

import "testing"

func TestHello(t *testing.T) {
	if got := Hello("Ada"); got != "Hello, Ada!" {
		t.Fatal(got)
	}
}
`

// block is a content block of the scripted model. $W stands for the workspace.
type block map[string]any

func text(s string) block { return block{"type": "text", "text": s} }

// call is a tool call; args are names and values in the order the model writes them.
func call(id, name string, args ...any) block {
	var input strings.Builder
	for i := 0; i < len(args); i += 2 {
		value, err := msg.Marshal(args[i+1])
		if err != nil {
			panic("demo: script: " + err.Error())
		}
		fmt.Fprintf(&input, ",%q:%s", args[i], value)
	}
	return block{"type": "tool_use", "id": id, "name": name, "input": json.RawMessage("{" + input.String()[1:] + "}")}
}

// script is what the model says, one answer a request.
var script = [][]block{
	{text("I read the file first."), call("call_read", "Read", "file_path", "$W/greet.go")},
	{text("Both log lines at once."), call("call_edit", "Edit",
		"file_path", "$W/greet.go", "old_string", "log.Printf(", "new_string", "log.Printf(\"info: \" + ", "replace_all", true)},
	{text("A test for it."), call("call_write", "Write", "file_path", "$W/greet_test.go", "content", test)},
	// Spaces where the file has a tab: refused, and told what differs.
	{text("Now the variable."), call("call_wrong", "Edit",
		"file_path", "$W/greet.go", "old_string", "    var out string", "new_string", "    var out strings.Builder")},
	{text("It is a tab."), call("call_right", "Edit",
		"file_path", "$W/greet.go", "old_string", "\tvar out string", "new_string", "\tout := \"\"")},
	{text("Done: two log lines, one declaration, one test.")},
}

// writeScript stores answers where the scripted provider finds them.
func writeScript(dir, work string, answers [][]block) (string, error) {
	if answers == nil {
		answers = [][]block{}
	}
	raw, err := msg.Marshal(answers)
	if err != nil {
		return "", err
	}
	quoted, err := json.Marshal(work)
	if err != nil {
		return "", err
	}
	raw = []byte(strings.ReplaceAll(string(raw), "$W", strings.Trim(string(quoted), `"`)))
	name := filepath.Join(dir, "script.json")
	return name, os.WriteFile(name, raw, 0o600)
}
