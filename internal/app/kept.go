package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gofrs/flock"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/config"
)

// A project is where the permissions of one folder are kept for all its
// sessions: a file of the user's own, named after the folder's real path. It is
// not in the folder, where whoever wrote what is in it could give himself
// permissions. It does [acp.Kept].
type project struct {
	folder string // the real path
	file   string
}

// keptFile is what the file holds.
type keptFile struct {
	Project string   `json:"project"` // the folder
	Allowed []string `json:"allowed"` // scopes, sorted
}

// keptMax bounds the file.
const keptMax = 1 << 20

// projectOf finds the project of a session's folder, which must exist.
func projectOf(cfg config.Config, cwd string) (*project, error) {
	folder, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(folder))
	return &project{folder, filepath.Join(cfg.StateDir, "projects", hex.EncodeToString(sum[:16])+".json")}, nil
}

// load gives the file's bytes, nil if there is no file.
func (p *project) load() ([]byte, error) {
	info, err := os.Lstat(p.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("permissions of the project: %w", err)
	case !info.Mode().IsRegular():
		return nil, p.bad("it is no plain file")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return nil, p.bad(fmt.Sprintf("others may write it (mode %04o)", info.Mode().Perm()))
	case info.Size() > keptMax:
		return nil, p.bad("it is too large")
	}
	data, err := os.ReadFile(p.file)
	if err != nil {
		return nil, fmt.Errorf("permissions of the project: %w", err)
	}
	return data, nil
}

// bad is the error of a file that is not used.
func (p *project) bad(why string) error {
	return fmt.Errorf("permissions of the project: the file %s is not used, since %s; remove it to begin anew", p.file, why)
}

// List gives the scopes, sorted.
func (p *project) List() ([]string, error) {
	data, err := p.load()
	if err != nil || data == nil {
		return nil, err
	}
	var f keptFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, p.bad("it is not what this program writes: " + err.Error())
	}
	if f.Project != p.folder {
		return nil, p.bad(fmt.Sprintf("it is about the folder %q and not about %q", f.Project, p.folder))
	}
	slices.Sort(f.Allowed)
	return slices.Compact(f.Allowed), nil
}

// Keep adds a scope.
func (p *project) Keep(scope string) error {
	return p.change(func(scopes []string) []string { return append(scopes, scope) })
}

// Drop takes a scope away.
func (p *project) Drop(scope string) error {
	return p.change(func(scopes []string) []string {
		return slices.DeleteFunc(scopes, func(s string) bool { return s == scope })
	})
}

// change replaces the file in one step. Others that change it wait.
func (p *project) change(f func([]string) []string) error {
	dir := filepath.Dir(p.file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("permissions of the project: %w", err)
	}
	lock := flock.New(p.file+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("permissions of the project: %w", err)
	}
	defer lock.Unlock()
	files, err := fsbackend.NewLocal(fsbackend.Options{Roots: []string{dir}})
	if err != nil {
		return fmt.Errorf("permissions of the project: %w", err)
	}
	defer files.Close()
	scopes, err := p.List()
	if err != nil {
		return err
	}
	scopes = f(scopes)
	slices.Sort(scopes)
	data, err := json.MarshalIndent(keptFile{p.folder, append([]string{}, slices.Compact(scopes)...)}, "", "  ")
	if err != nil {
		return fmt.Errorf("permissions of the project: %w", err)
	}
	_, err = files.Write(context.Background(), fsbackend.Write{Path: p.file, Data: append(data, '\n'), Mode: 0o600})
	return err
}
