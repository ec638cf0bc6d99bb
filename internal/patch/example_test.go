package patch_test

import (
	"fmt"

	"dsh-acp/internal/patch"
	"dsh-acp/internal/text"
)

// A call is decoded, planned on the files as they are, and reported.
func ExampleMake() {
	req, errs := patch.Decode([]byte(`{"operations": [
		{"op": "replace_text", "path": "a.go", "search": "return 1", "replace": "return 2"},
		{"op": "set_json", "path": "c.jsonc", "pointer": "/debug", "value": true}]}`), patch.Limits{})
	if errs != nil {
		fmt.Println(errs.Text(nil))
		return
	}
	files := map[string]*patch.File{}
	for path, s := range map[string]string{
		"a.go":    "func f() int {\n\treturn 1\n}\n",
		"c.jsonc": "{\n  \"port\": 8080 // default port\n}\n",
	} {
		doc, err := text.ParseString(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		files[path] = &patch.File{Path: path, State: patch.Regular, Doc: doc}
	}
	plan, errs := patch.Make(req, files, patch.Options{})
	if errs != nil {
		fmt.Println(errs.Text(nil))
		return
	}
	fmt.Print(plan.Report().Text())
	fmt.Print(plan.Files[1].After.Text())
	// Output:
	// Success: 2 file(s), 2 span(s), +3 -2 lines
	// M a.go
	// M c.jsonc
	// {
	//   "port": 8080, // default port
	//   "debug": true
	// }
}

// A patch text of another tool is shown as the call that it should have been.
func ExampleConvert() {
	c := patch.Convert("*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-    return 1\n+    return 2\n*** End Patch\n",
		func(string) (text.Doc, bool) {
			doc, err := text.ParseString("def f():\n    return 1\n")
			return doc, err == nil
		})
	fmt.Println(c.Message())
	// Output:
	// apply_patch takes operations, not a Codex patch; nothing was written. The same change as operations:
	// {"operations": [
	//   {"op":"replace_range","path":"a.py","startLine":2,"endLine":2,"oldText":"    return 1","text":"    return 2"}
	// ]}
}
