package fsbackend

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// modeBits are the bits of a mode that a file can be given.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// tempName is the name of a staged file: hidden, short enough for any file
// system whatever the target's name is, and never the same twice.
func tempName() string { return ".dsh-" + rand.Text()[:16] + ".tmp" }

// stage writes the new file beside the old one. What it opened is the
// caller's to sync and close, also on an error.
func (j *writing) stage(ctx context.Context) (*os.File, error) {
	perm := fs.FileMode(0o600)
	if j.p.info == nil && j.w.Mode == 0 {
		perm = 0o666 // a new file: the system takes the umask or the folder's default ACL into account
	}
	name := tempName()
	f, err := j.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, j.gone(err)
	}
	j.tmp = name
	if err := j.writeTemp(ctx, f); err != nil {
		return f, err
	}
	if err := j.attributes(f); err != nil {
		return f, err
	}
	return f, j.hit(AtSync)
}

// writeTemp passes the caller's bytes on without copying them.
func (j *writing) writeTemp(ctx context.Context, f *os.File) error {
	data := j.w.Data
	for _, x := range j.l.opt.Faults.take2(AtTempWrite, j.w.Path, j.p.real) {
		if _, err := f.Write(data[:min(x.AfterBytes, len(data))]); err != nil {
			return err
		}
		if x.Do != nil {
			x.Do(j.w.Path)
		}
		if x.Err != nil {
			return x.Err
		}
		if _, err := f.Seek(0, 0); err != nil {
			return err
		}
	}
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.Write(data[:min(chunk, len(data))])
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// attributes gives the staged file the owner, extended attributes and mode
// that it is to have. Owner and attributes are kept where the system lets us;
// where not, the result says so. The order matters: a change of owner clears
// setuid, and an ACL changes the bits of the group.
func (j *writing) attributes(f *os.File) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	mode := now.Mode() & modeBits
	if old := j.p.info; old != nil {
		if mode, err = j.inherit(f, old, now); err != nil {
			return err
		}
	}
	if j.w.Mode != 0 {
		mode = j.w.Mode & modeBits
	}
	if j.w.Executable {
		mode |= mode & 0o444 >> 2 // x where r is, so nobody gains access
	}
	if mode == now.Mode()&modeBits {
		return nil
	}
	return f.Chmod(mode)
}

// inherit takes over what the old file has, and returns the mode to set.
func (j *writing) inherit(f *os.File, old, now fs.FileInfo) (fs.FileMode, error) {
	mode := old.Mode() & modeBits
	if !keepOwner(f, old, now) {
		// The bits would now act for somebody else.
		mode &^= fs.ModeSetuid | fs.ModeSetgid
		j.note("the file belongs to another user or group now, since the old owner could not be kept")
	}
	if err := mayWrite(j.dir, j.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, failWith("write", j.w.Path, "the file may not be written, nothing was changed", err)
	}
	src, err := openRegular(j.dir, j.name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return mode, nil // the last check deals with it
	case err != nil:
		return 0, err
	}
	defer src.Close()
	if lost := keepXattrs(f, src); lost > 0 {
		j.note(fmt.Sprintf("%s could not be kept", plural(lost, "extended attribute")))
	}
	return mode, nil
}
