package tools_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"dsh-acp/fsbackend"
	"dsh-acp/tools"
)

// store makes files in memory below a working directory.
func store(files map[string]string) (fsbackend.Backend, string) {
	cwd, err := filepath.Abs(string(filepath.Separator) + "work")
	if err != nil {
		panic(err)
	}
	mem, err := fsbackend.NewMem(fsbackend.MemOptions{Roots: []string{cwd}})
	if err != nil {
		panic(err)
	}
	for name, text := range files {
		if _, err := mem.Write(context.Background(), fsbackend.Write{Path: filepath.Join(cwd, name), Data: []byte(text)}); err != nil {
			panic(err)
		}
	}
	return mem, cwd
}

// Several changes go into one call, and all of them or none are made.
func ExampleApplyPatch() {
	files, cwd := store(map[string]string{
		"a.go":    "func f() int {\n\treturn 1\n}\n",
		"c.jsonc": "{\n  \"port\": 8080 // default port\n}\n",
	})
	report, err := tools.ApplyPatch(context.Background(), files, []byte(`{"operations": [
		{"op": "replace_text", "path": "a.go", "search": "return 1", "replace": "return 2"},
		{"op": "set_json", "path": "c.jsonc", "pointer": "/debug", "value": true},
		{"op": "create_file", "path": "docs/n.md", "text": "# New\n", "parents": true}]}`),
		tools.PatchOptions{Cwd: cwd})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report.Text())
	file, err := files.Read(context.Background(), filepath.Join(cwd, "c.jsonc"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(file.Data))
	// Output:
	// Success: 3 file(s), 3 span(s), +4 -2 lines
	// M a.go
	// M c.jsonc
	// A docs/n.md
	//   (created directory docs/)
	// {
	//   "port": 8080, // default port
	//   "debug": true
	// }
}

// A call that does not fit says what is there instead, and writes nothing.
func ExamplePatchError() {
	files, cwd := store(map[string]string{"a.js": "init();\nwork();\ninit();\n"})
	_, err := tools.ApplyPatch(context.Background(), files,
		[]byte(`{"operations": [{"op": "replace_text", "path": "a.js", "search": "init();", "replace": "start();"}]}`),
		tools.PatchOptions{Cwd: cwd})
	var failed *tools.PatchError
	if errors.As(err, &failed) {
		fmt.Println(failed.Report.Code, *failed.Report.Details.Actual)
	}
	fmt.Println(err)
	// Output:
	// MATCH_COUNT 2
	// MATCH_COUNT: operation 0, replace_text a.js: search occurs 2 times, want 1; add surrounding lines until it is unique, or set expect to 2 if all are meant; candidates:
	//   line 1: init();
	//   line 3: init();
	// Nothing was written.
}

// A dry run tells the same as the call itself.
func ExampleApplyPatch_dryRun() {
	files, cwd := store(map[string]string{"a.txt": "one\n"})
	report, err := tools.ApplyPatch(context.Background(), files,
		[]byte(`{"dryRun": true, "operations": [{"op": "append_text", "path": "a.txt", "text": "two\n"}]}`),
		tools.PatchOptions{Cwd: cwd})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report.Text())
	// Output:
	// Preview: 1 file(s), 1 span(s), +1 -0 lines
	// M a.txt
	// (dry run: nothing was written)
}
