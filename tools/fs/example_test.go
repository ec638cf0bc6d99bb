package fs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dsh-acp/tools/fs"
)

// folder makes a folder with one file.
func folder(text string) string {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o644); err != nil {
		panic(err)
	}
	return dir
}

// A read shows numbered lines under a tag; an edit names both.
func ExampleFs() {
	dir := folder("alpha\nbeta\ngamma\n")
	defer os.RemoveAll(dir)
	files := fs.New().Cwd(dir)
	defer files.Close()
	ctx := context.Background()

	fmt.Println(files.Read(ctx, []fs.Target{{Path: "a.txt"}})[0].Content)
	done, err := files.Edit(ctx, json.RawMessage(`{"path": "a.txt", "file_hash": "B6C1", "ops": "replace 2:\n+BETA"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(done[0].Header)
	fmt.Print(*done[0].Diff)
	back, err := files.Rollback(ctx, "a.txt", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.Header, "replaced", back.ReplacedHash)
	// Output:
	// ¶a.txt#B6C1
	// 1| alpha
	// 2| beta
	// 3| gamma
	// ¶a.txt#F1C1
	// --- a.txt
	// +++ a.txt
	// @@ -1,3 +1,3 @@
	//  alpha
	// -beta
	// +BETA
	//  gamma
	// ¶a.txt#B6C1 replaced F1C1
}

// A batch that stops says what is written and what was not tried.
func ExampleEditBatchError() {
	dir := folder("alpha\nbeta\ngamma\n")
	defer os.RemoveAll(dir)
	files := fs.New().Cwd(dir)
	defer files.Close()
	_, err := files.Edit(context.Background(), json.RawMessage(`{"targets": [
		{"path": "a.txt", "file_hash": "B6C1", "ops": "replace 2:\n+BETA"},
		{"path": "b.txt", "file_hash": "B6C1", "ops": "delete 1"},
		{"path": "c.txt", "file_hash": "B6C1", "ops": "delete 1"}]}`))
	var batch *fs.EditBatchError
	if errors.As(err, &batch) {
		fmt.Println(batch.FailedPath, fs.CodeOf(err), batch.Applied[0].Header, batch.Skipped)
	}
	// Output: b.txt FS_NOT_FOUND ¶a.txt#F1C1 [c.txt]
}

// Lists open single files outside of the root, and close folders in it.
func ExampleFs_Blocklist() {
	dir := folder("x\n")
	defer os.RemoveAll(dir)
	files := fs.New().Cwd(dir).Blocklist("secret")
	defer files.Close()
	r, err := files.Write(context.Background(), []fs.TargetFile{{Path: "secret/key", Text: "k"}, {Path: "secretary.txt", Text: "s"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r[0].Header == "", r[1].Header != "")
	// Output: true true
}
