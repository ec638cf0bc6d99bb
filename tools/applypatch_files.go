package tools

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/patch"
)

// A patchTarget is one file of a call, as it was found.
type patchTarget struct {
	file    *patch.File
	abs     string // by the first spelling
	key     fsbackend.Key
	info    fsbackend.Info
	version fsbackend.Version // of a file that was read
	data    []byte            // likewise; the document shares it
	creates bool              // an operation wants to make it
}

// A patchView is what one call finds: each of its files once.
type patchView struct {
	files map[string]*patch.File // by each spelling of the call
	order []*patchTarget         // in order of first mention
	dirs  map[string]string      // missing folders: absolute path by the name in results
	names map[string]string      // and the reverse, by real path
	byKey map[fsbackend.Key]*patchTarget
}

// observe looks at every file that operations name and reads those that
// exist. What is wrong with a file is kept with it, for the planner to report
// together with the rest; the error is the context's end alone.
func (e *env) observe(ctx context.Context, ops []patch.Operation) (*patchView, error) {
	v := &patchView{
		files: map[string]*patch.File{}, dirs: map[string]string{}, names: map[string]string{},
		byKey: map[fsbackend.Key]*patchTarget{},
	}
	for _, o := range ops {
		if o == nil {
			continue
		}
		if err := v.add(ctx, e, o); err != nil {
			return nil, cancelledPatch(err)
		}
	}
	if most := e.Patch.Limits.Files; len(v.order) > cmp.Or(most, patch.DefaultLimits.Files) {
		return v, nil // refused for their number; nobody needs their texts
	}
	for i, err := range v.lookAll(ctx, e) {
		if isCancel(err) {
			return nil, cancelledPatch(err)
		} else if err != nil {
			v.order[i].file.Fault = faultOf(err)
		}
	}
	return v, nil
}

// readers is how many files of a call are read at once.
const readers = 8

// lookAll fills in what is at the targets that have no fault yet, and returns
// the error of each. Files are read beside each other; names that are not there
// are looked at one by one, since they share what is missing above them.
func (v *patchView) lookAll(ctx context.Context, e *env) []error {
	errs := make([]error, len(v.order))
	var reading sync.WaitGroup
	free := make(chan struct{}, readers)
	for i, t := range v.order {
		switch {
		case t.file.Fault != nil:
		case t.info.Exists:
			free <- struct{}{}
			reading.Go(func() {
				errs[i] = v.look(ctx, e, t)
				<-free
			})
		default:
			errs[i] = v.look(ctx, e, t)
		}
	}
	reading.Wait()
	return errs
}

// add finds the file that an operation names.
func (v *patchView) add(ctx context.Context, e *env, o patch.Operation) error {
	_, creates := o.(patch.CreateFile)
	spelled := o.Target()
	if f := v.files[spelled]; f != nil {
		for _, t := range v.order {
			t.creates = t.creates || creates && t.file == f
		}
		return nil
	}
	var info fsbackend.Info
	abs, err := e.resolve(ctx, applyPatch, "path", spelled)
	if err == nil {
		info, err = e.Files.Stat(ctx, abs)
	}
	if isCancel(err) {
		return err
	}
	if err != nil {
		t := &patchTarget{abs: abs, file: &patch.File{Path: e.shortPath(abs, spelled), Fault: faultOf(err)}}
		v.files[spelled] = t.file
		v.order = append(v.order, t)
		return nil
	}
	t := v.byKey[info.Key]
	if t == nil {
		t = &patchTarget{abs: abs, key: info.Key, info: info, file: &patch.File{Path: e.shortPath(abs, spelled)}}
		v.byKey[info.Key] = t
		v.order = append(v.order, t)
	}
	t.creates = t.creates || creates
	v.files[spelled] = t.file
	return nil
}

// look fills in what is at a target. Its error is the target's fault.
func (v *patchView) look(ctx context.Context, e *env, t *patchTarget) error {
	if g, ok := e.Files.(fsbackend.Guard); ok {
		if err := g.MayWrite(ctx, t.abs); err != nil {
			return err
		}
	}
	switch {
	case !t.info.Exists:
		return v.absent(ctx, e, t)
	case !t.info.Regular:
		t.file.State = patch.Other
		return nil
	}
	t.file.State = patch.Regular
	if most := cmp.Or(e.Patch.Limits.FileSize, patch.DefaultLimits.FileSize); t.info.Size > int64(most) {
		return patch.NewError(patch.CodeLimitExceeded, "the file has %d bytes, the limit is %d", t.info.Size, most)
	}
	file, err := fsbackend.ReadForChange(ctx, e.Files, t.abs)
	if err != nil {
		return err
	}
	t.version, t.data = file.Version, file.Data
	if err := fsbackend.MayReplace(e.Files, t.abs, file.Data); err != nil {
		return err
	}
	if t.file.Doc, err = file.Doc(); err != nil {
		return err
	}
	if perm := file.Mode.Perm(); perm != 0 && perm&0o222 == 0 {
		return patch.NewError(fsbackend.CodePermission, "the file is marked read-only (mode %04o); leave it, or ask the user to make it writable", perm)
	}
	return nil
}

// absent looks at what is above a file that is not there.
func (v *patchView) absent(ctx context.Context, e *env, t *patchTarget) error {
	type folder struct{ abs, real string }
	var missing []folder // innermost first
	above := ""          // the real path of the folder that is there
	for dir := filepath.Dir(t.abs); ; dir = filepath.Dir(dir) {
		info, err := e.Files.Stat(ctx, dir)
		if isCancel(err) {
			return err
		}
		if err != nil {
			return nil // a file may be open where its folder is not
		}
		if info.Exists && !info.Dir {
			return patch.NewError(patch.CodeNotDirectory, "%s is a file, so nothing can be below it; choose another path", e.shortPath(dir, dir))
		}
		if info.Exists || dir == filepath.Dir(dir) {
			above = info.Real
			break
		}
		missing = append(missing, folder{dir, info.Real})
	}
	for _, dir := range slices.Backward(missing) {
		if leadsAway(above, dir.abs, dir.real) {
			return patch.NewError(patch.CodeNotDirectory, "%s is a link that leads to nothing; choose another path", e.shortPath(dir.abs, dir.abs))
		}
		above = dir.real
		name, known := v.names[dir.real]
		if !known {
			name = e.shortPath(dir.abs, dir.abs) + "/"
			v.names[dir.real], v.dirs[name] = name, dir.abs
		}
		t.file.NoParents = append(t.file.NoParents, name)
	}
	if leadsAway(above, t.abs, t.info.Real) {
		t.file.State = patch.Other // a link to nothing is in the way
		return nil
	}
	if near := e.near(ctx, t.abs); near != "" && !t.creates {
		return patch.NewError(patch.CodeNotFound, "there is no such file; did you mean %s?", e.shortPath(near, near))
	}
	return nil
}

// leadsAway reports whether a path that does not exist is not where it would
// be made in its folder: then its last name is a link.
func leadsAway(folder, path, real string) bool {
	return folder != "" && real != "" && real != filepath.Join(folder, filepath.Base(path))
}

// shortPath is how results name a file: from the session's folder on, with
// slashes, or absolute outside of it. A path that could not be made out stays
// as it was spelled.
func (e *env) shortPath(abs, spelled string) string {
	if abs == "" {
		return spelled
	}
	if rel, err := filepath.Rel(e.Cwd, abs); err == nil && within(e.Cwd, abs) {
		return filepath.ToSlash(rel)
	}
	return abs
}

// patchCodes are the codes of storage that have a name of their own here.
var patchCodes = map[string]string{
	fsbackend.CodeNotFound:     patch.CodeNotFound,
	fsbackend.CodeNotDirectory: patch.CodeNotDirectory,
	fsbackend.CodeNotRegular:   patch.CodeNotRegular,
	fsbackend.CodeNotText:      patch.CodeUnsupportedEncoding,
	fsbackend.CodeTooLarge:     patch.CodeLimitExceeded,
	fsbackend.CodeNotObserved:  patch.CodeStaleVersion,
	fsbackend.CodeAborted:      patch.CodeAborted,
}

// faultOf makes an error of the planner of one of storage or of a path.
func faultOf(err error) *patch.Error {
	var known *patch.Error
	if errors.As(err, &known) {
		return known
	}
	var bad *failure
	if errors.As(err, &bad) {
		return patch.NewError(patch.CodeInvalidArguments, "%s", bad.text)
	}
	code, why := fsbackend.CodeOf(err), err.Error()
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		why = pe.Err.Error() // the path is told by what it is a fault of
	}
	if code == "" {
		code = fsbackend.CodeIO
	}
	return patch.NewError(cmp.Or(patchCodes[code], code), "%s", why)
}
