package cases

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A File is one of the forms in which a case gives a file.
type File struct {
	Text     *string         `json:"text"`
	Base64   *string         `json:"base64"`
	Repeat   *Repeat         `json:"repeat"`
	From     string          `json:"from"`
	Symlink  *string         `json:"symlink"`
	Hardlink *string         `json:"hardlink"`
	Dir      bool            `json:"dir"`
	FIFO     bool            `json:"fifo"`
	Mode     string          `json:"mode"`
	Absent   bool            `json:"absent"`
	JSON     json.RawMessage `json:"json"`
	Keeps    []string        `json:"keeps"`
}

// Repeat is a long text in short form: {i} in Unit is the running number.
type Repeat struct {
	Head  string `json:"head"`
	Unit  string `json:"unit"`
	Times int    `json:"times"`
	Tail  string `json:"tail"`
}

func (r Repeat) text() string {
	var b strings.Builder
	b.Grow(len(r.Head) + len(r.Unit)*r.Times + len(r.Tail))
	b.WriteString(r.Head)
	numbered := strings.Contains(r.Unit, "{i}")
	for i := range r.Times {
		if numbered {
			b.WriteString(strings.ReplaceAll(r.Unit, "{i}", strconv.Itoa(i)))
		} else {
			b.WriteString(r.Unit)
		}
	}
	b.WriteString(r.Tail)
	return b.String()
}

// content returns the bytes of a plain file, and whether f is one.
func (f File) content() ([]byte, bool, error) {
	switch {
	case f.Text != nil:
		return []byte(*f.Text), true, nil
	case f.Base64 != nil:
		b, err := base64.StdEncoding.DecodeString(*f.Base64)
		return b, true, err
	case f.Repeat != nil:
		return []byte(f.Repeat.text()), true, nil
	}
	return nil, false, nil
}

func (f File) mode(fallback fs.FileMode) (fs.FileMode, error) {
	if f.Mode == "" {
		return fallback, nil
	}
	n, err := strconv.ParseUint(f.Mode, 8, 32)
	if err != nil {
		return 0, fmt.Errorf("mode %q is not octal", f.Mode)
	}
	return fs.FileMode(n), nil
}

// lay puts files below dir. Links come after what they may point to.
func lay(dir string, files map[string]File) error {
	for pass := range 2 {
		for _, name := range sortedKeys(files) {
			f := files[name]
			late := f.Hardlink != nil
			if late != (pass == 1) {
				continue
			}
			if err := place(dir, name, f); err != nil {
				return fmt.Errorf("file %s: %w", name, err)
			}
		}
	}
	// Modes last: a folder without w takes no files.
	for _, name := range sortedKeys(files) {
		f := files[name]
		if f.Mode == "" || f.Symlink != nil {
			continue
		}
		mode, err := f.mode(0)
		if err != nil {
			return err
		}
		if err := os.Chmod(join(dir, name), mode); err != nil {
			return err
		}
	}
	return nil
}

func place(dir, name string, f File) error {
	path := join(dir, name)
	if f.Absent {
		return os.RemoveAll(path)
	}
	if f.Dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	switch {
	case f.Symlink != nil:
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return os.Symlink(expandRoot(*f.Symlink, dir), path)
	case f.Hardlink != nil:
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return os.Link(join(dir, *f.Hardlink), path)
	case f.FIFO:
		return makeFIFO(path)
	}
	data, ok, err := f.content()
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("no form of file that this runner knows")
	}
	return os.WriteFile(path, data, 0o644)
}

// join puts a case's path, which has slashes and may lead beside the root,
// below dir.
func join(dir, name string) string {
	name = expandRoot(name, dir)
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

func expandRoot(s, dir string) string {
	return strings.NewReplacer("${root}", dir, "${work}", dir).Replace(s)
}

// An entry is a file as a snapshot saw it.
type entry struct {
	kind   string // file, dir, link, other
	mode   fs.FileMode
	data   string // of a file
	target string // of a link
}

func (e entry) String() string {
	switch e.kind {
	case "file":
		return fmt.Sprintf("file %04o %s", e.mode.Perm(), brief(e.data))
	case "link":
		return "link to " + e.target
	}
	return fmt.Sprintf("%s %04o", e.kind, e.mode.Perm())
}

// A snapshot is all that is below a folder, by path with slashes.
type snapshot map[string]entry

func take(top string) (snapshot, error) {
	s := snapshot{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == top {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		e, err := look(path, d)
		if os.IsNotExist(err) {
			return nil // gone between the listing and the look
		}
		s[filepath.ToSlash(rel)] = e
		return err
	})
	return s, err
}

func look(path string, d fs.DirEntry) (entry, error) {
	info, err := d.Info()
	if err != nil {
		return entry{}, err
	}
	e := entry{mode: info.Mode()}
	switch {
	case info.Mode().IsRegular():
		e.kind = "file"
		data, err := readAny(path, info.Mode())
		e.data = string(data)
		return e, err
	case info.IsDir():
		e.kind = "dir"
	case info.Mode()&fs.ModeSymlink != 0:
		e.kind = "link"
		e.target, err = os.Readlink(path)
	default:
		e.kind = "other"
	}
	return e, err
}

// readAny reads a file, also one whose mode forbids it to its owner.
func readAny(path string, mode fs.FileMode) ([]byte, error) {
	data, err := os.ReadFile(path)
	if !os.IsPermission(err) {
		return data, err
	}
	if err := os.Chmod(path, mode.Perm()|0o400); err != nil {
		return nil, err
	}
	data, err = os.ReadFile(path)
	if cerr := os.Chmod(path, mode.Perm()); err == nil {
		err = cerr
	}
	return data, err
}

func brief(s string) string {
	const most = 160
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:most], len(s))
}
