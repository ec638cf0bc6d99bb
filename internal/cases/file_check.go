package cases

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// compare checks the folder top, whose workspace is work, against what it was
// and what is expected of it. Files that are not named must be as they were,
// and no other may be there.
func compare(top, work string, before snapshot, want map[string]File) error {
	now, err := take(top)
	if err != nil {
		return fmt.Errorf("files: %w", err)
	}
	named := map[string]bool{}
	parents := map[string]bool{}
	for _, name := range sortedKeys(want) {
		rel, err := filepath.Rel(top, join(work, name))
		if err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
		rel = filepath.ToSlash(rel)
		named[rel] = true
		for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
			parents[dir] = true
		}
		got, there := now[rel]
		if err := checkFile(work, want[name], got, there); err != nil {
			return fmt.Errorf("file %s: %w", name, err)
		}
	}
	for _, rel := range sortedKeys(before) {
		if named[rel] {
			continue
		}
		got, there := now[rel]
		if !there {
			return fmt.Errorf("file %s: is gone, and must be untouched", shownPath(top, work, rel))
		}
		if got != before[rel] {
			return fmt.Errorf("file %s: must be untouched (%v), is %v", shownPath(top, work, rel), before[rel], got)
		}
	}
	for _, rel := range sortedKeys(now) {
		if _, ok := before[rel]; ok || named[rel] || now[rel].kind == "dir" && parents[rel] {
			continue
		}
		return fmt.Errorf("file %s: must not be there: %v", shownPath(top, work, rel), now[rel])
	}
	return nil
}

func shownPath(top, work, rel string) string {
	if r, err := filepath.Rel(work, filepath.Join(top, filepath.FromSlash(rel))); err == nil {
		return filepath.ToSlash(r)
	}
	return rel
}

func checkFile(work string, want File, got entry, there bool) error {
	if want.Absent {
		if there {
			return fmt.Errorf("must be absent, is %v", got)
		}
		return nil
	}
	if !there {
		return fmt.Errorf("is missing")
	}
	switch {
	case want.Symlink != nil:
		if target := expandRoot(*want.Symlink, work); got.kind != "link" || got.target != target {
			return fmt.Errorf("must be a link to %s, is %v", target, got)
		}
		return nil
	case want.Dir:
		if got.kind != "dir" {
			return fmt.Errorf("must be a folder, is %v", got)
		}
	case want.FIFO:
		if got.mode&fs.ModeNamedPipe == 0 {
			return fmt.Errorf("must be a pipe, is %v", got)
		}
	case want.JSON != nil:
		if err := checkJSON(want, got); err != nil {
			return err
		}
	case want.Hardlink != nil:
		other, err := os.ReadFile(join(work, *want.Hardlink))
		if err != nil || got.data != string(other) {
			return fmt.Errorf("must hold what %s holds, is %v", *want.Hardlink, got)
		}
	default:
		data, ok, err := want.content()
		if err != nil {
			return err
		}
		if ok && (got.kind != "file" || got.data != string(data)) {
			return fmt.Errorf("must be %s, is %v", brief(string(data)), got)
		}
	}
	if want.Mode != "" && runtime.GOOS != "windows" {
		mode, err := want.mode(0)
		if err != nil {
			return err
		}
		if got.mode.Perm() != mode.Perm() {
			return fmt.Errorf("must have mode %04o, has %04o", mode.Perm(), got.mode.Perm())
		}
	}
	return nil
}

func checkJSON(want File, got entry) error {
	plain, err := hujson.Standardize([]byte(strings.TrimPrefix(got.data, "\ufeff")))
	if err != nil {
		return fmt.Errorf("must parse as JSONC: %w in %v", err, got)
	}
	var have, need any
	if err := json.Unmarshal(plain, &have); err != nil {
		return fmt.Errorf("must parse as JSONC: %w", err)
	}
	if err := json.Unmarshal(want.JSON, &need); err != nil {
		return err
	}
	if !reflect.DeepEqual(have, need) {
		return fmt.Errorf("must parse to %s, is %v", want.JSON, got)
	}
	rest := got.data
	for _, s := range want.Keeps {
		i := strings.Index(rest, s)
		if i < 0 {
			return fmt.Errorf("must still hold %q in its place, is %v", s, got)
		}
		rest = rest[i+len(s):]
	}
	return nil
}
