//go:build linux || darwin

package fsbackend_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dsh-acp/fsbackend"
)

func asRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
}

func TestOwnerAndSpecialBitsStay(t *testing.T) {
	asRoot(t)
	dir := realTemp(t)
	p := filepath.Join(dir, "a")
	put(t, p, "old")
	require.NoError(t, os.Chown(p, 1234, 2345))
	require.NoError(t, os.Chmod(p, 0o755|os.ModeSetuid|os.ModeSetgid))
	r, err := local(t, fsbackend.Options{Roots: []string{dir}}).Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("new")})
	require.NoError(t, err)
	assert.Empty(t, r.Notes)
	fi, err := os.Stat(p)
	require.NoError(t, err)
	st := fi.Sys().(*syscall.Stat_t)
	assert.EqualValues(t, 1234, st.Uid)
	assert.EqualValues(t, 2345, st.Gid)
	assert.Equal(t, 0o755|os.ModeSetuid|os.ModeSetgid, fi.Mode())
}

func TestXattrsStay(t *testing.T) {
	dir := realTemp(t)
	p := filepath.Join(dir, "a")
	put(t, p, "old")
	if err := unix.Setxattr(p, "user.dsh", []byte("kept"), 0); err != nil {
		t.Skipf("this file system has no extended attributes: %v", err)
	}
	r, err := local(t, fsbackend.Options{Roots: []string{dir}}).Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("new")})
	require.NoError(t, err)
	assert.Empty(t, r.Notes)
	buf := make([]byte, 10)
	n, err := unix.Getxattr(p, "user.dsh", buf)
	require.NoError(t, err)
	assert.Equal(t, "kept", string(buf[:n]))
}

// The folder's default ACL is for new files, not for those that exist.
func TestDefaultACLIsForNewFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("POSIX ACLs as extended attributes are Linux's")
	}
	dir := realTemp(t)
	old := filepath.Join(dir, "old")
	put(t, old, "x")
	// version 2; user::rw-, user:1234:rw-, group::r--, mask::rw-, other::r--
	acl := []byte{
		2, 0, 0, 0,
		1, 0, 6, 0, 255, 255, 255, 255,
		2, 0, 6, 0, 0xd2, 4, 0, 0,
		4, 0, 4, 0, 255, 255, 255, 255,
		16, 0, 6, 0, 255, 255, 255, 255,
		32, 0, 4, 0, 255, 255, 255, 255,
	}
	if err := unix.Setxattr(dir, "system.posix_acl_default", acl, 0); err != nil {
		t.Skipf("this file system has no ACLs: %v", err)
	}
	l := local(t, fsbackend.Options{Roots: []string{dir}})
	for _, p := range []string{old, filepath.Join(dir, "new")} {
		_, err := l.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("y")})
		require.NoError(t, err)
	}
	_, err := unix.Getxattr(old, "system.posix_acl_access", nil)
	assert.Error(t, err, "the old file had no ACL")
	n, err := unix.Getxattr(filepath.Join(dir, "new"), "system.posix_acl_access", nil)
	require.NoError(t, err, "the new file has the folder's")
	assert.Equal(t, len(acl), n)
	// An ACL of the file's own stays.
	require.NoError(t, unix.Setxattr(old, "system.posix_acl_access", acl, 0))
	before, err := os.Stat(old)
	require.NoError(t, err)
	_, err = l.Write(t.Context(), fsbackend.Write{Path: old, Data: []byte("z")})
	require.NoError(t, err)
	got := make([]byte, 100)
	n, err = unix.Getxattr(old, "system.posix_acl_access", got)
	require.NoError(t, err)
	assert.Equal(t, acl, got[:n])
	after, err := os.Stat(old)
	require.NoError(t, err)
	assert.Equal(t, before.Mode(), after.Mode())
}

func TestPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may do everything")
	}
	dir := realTemp(t)
	l := local(t, fsbackend.Options{Roots: []string{dir}})
	p := filepath.Join(dir, "shut/a")
	put(t, p, "x")
	require.NoError(t, os.Chmod(filepath.Dir(p), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(p), 0o755) })
	_, err := l.Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("y")})
	assert.Equal(t, fsbackend.CodePermission, fsbackend.CodeOf(err), "%v", err)
	theirs := filepath.Join(dir, "theirs")
	put(t, theirs, "x")
	require.NoError(t, os.Chmod(theirs, 0o020)) // writable, but not for us; the folder is
	_, err = l.Write(t.Context(), fsbackend.Write{Path: theirs, Data: []byte("y")})
	assert.Equal(t, fsbackend.CodePermission, fsbackend.CodeOf(err), "%v", err)
	q := filepath.Join(dir, "secret")
	put(t, q, "x")
	require.NoError(t, os.Chmod(q, 0o200))
	_, err = l.Read(t.Context(), q)
	assert.Equal(t, fsbackend.CodePermission, fsbackend.CodeOf(err), "%v", err)
	r, err := l.Write(t.Context(), fsbackend.Write{Path: q, Data: []byte("y")})
	require.NoError(t, err)
	assert.Nil(t, r.Before)
	assert.NotEmpty(t, r.Notes)
}

func TestNewFileHasTheUmask(t *testing.T) {
	dir := realTemp(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "theirs"), nil, 0o666))
	theirs, err := os.Stat(filepath.Join(dir, "theirs"))
	require.NoError(t, err)
	_, err = local(t, fsbackend.Options{Roots: []string{dir}}).Write(t.Context(), fsbackend.Write{Path: filepath.Join(dir, "ours")})
	require.NoError(t, err)
	ours, err := os.Stat(filepath.Join(dir, "ours"))
	require.NoError(t, err)
	assert.Equal(t, theirs.Mode(), ours.Mode())
}

// The staged text of a private file is private too.
func TestStagedFileIsPrivate(t *testing.T) {
	dir := realTemp(t)
	p := filepath.Join(dir, "key.pem")
	put(t, p, "old")
	require.NoError(t, os.Chmod(p, 0o600))
	faults := fsbackend.NewFaults(fsbackend.Fault{At: fsbackend.AtTempWrite, Do: func(string) {
		staged, err := filepath.Glob(filepath.Join(dir, ".dsh-*"))
		require.NoError(t, err)
		require.Len(t, staged, 1)
		fi, err := os.Stat(staged[0])
		require.NoError(t, err)
		assert.EqualValues(t, 0o600, fi.Mode())
	}})
	_, err := local(t, fsbackend.Options{Roots: []string{dir}, Faults: faults}).Write(t.Context(), fsbackend.Write{Path: p, Data: []byte("new")})
	require.NoError(t, err)
}

// A mode that is set between a file's begin and its turn stays.
func TestBegunFileKeepsALaterMode(t *testing.T) {
	dir := realTemp(t)
	c, paths := manyFiles(t, dir, 2)
	faults := fsbackend.NewFaults(fsbackend.Fault{At: fsbackend.AtAfterWrite, Nth: 1, Do: func(string) {
		require.NoError(t, os.Chmod(paths[1], 0o700))
	}})
	_, err := c.Run(t.Context(), local(t, fsbackend.Options{Roots: []string{dir}, Faults: faults}))
	require.NoError(t, err)
	fi, err := os.Stat(paths[1])
	require.NoError(t, err)
	assert.EqualValues(t, 0o700, fi.Mode())
	assert.Equal(t, map[string]int{"new": 2}, contents(t, paths))
	assert.Empty(t, temporary(t, dir))
}

// A link that is turned between a file's begin and its turn leads the write to
// where it leads then, or nowhere.
func TestBegunFileBehindATurnedLink(t *testing.T) {
	dir := realTemp(t)
	put(t, filepath.Join(dir, "one/f"), "old")
	put(t, filepath.Join(dir, "two/f"), "other")
	require.NoError(t, os.Symlink("one", filepath.Join(dir, "link")))
	c, _ := manyFiles(t, dir, 1)
	c.Steps = append(c.Steps, c.Steps[0])
	c.Steps[1].Write.Path = filepath.Join(dir, "link/f")
	faults := fsbackend.NewFaults(fsbackend.Fault{At: fsbackend.AtAfterWrite, Nth: 1, Do: func(string) {
		require.NoError(t, os.Remove(filepath.Join(dir, "link")))
		require.NoError(t, os.Symlink("two", filepath.Join(dir, "link")))
	}})
	_, err := c.Run(t.Context(), local(t, fsbackend.Options{Roots: []string{dir}, Faults: faults}))
	assert.Equal(t, fsbackend.CodeStaleVersion, fsbackend.CodeOf(err))
	assert.Equal(t, map[string]int{"old": 1, "other": 1}, contents(t, []string{filepath.Join(dir, "one/f"), filepath.Join(dir, "two/f")}))
	for _, sub := range []string{"", "one", "two"} {
		assert.Empty(t, temporary(t, filepath.Join(dir, sub)))
	}
}
