package fsbackend

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
)

var (
	errNotRegular = errors.New("not a regular file")
	errTooLarge   = errors.New("too large")
)

// openRegular opens for reading and never waits, whatever the file is by now.
// The name is the last part of a real path, so it is no link; if it has become
// one it is not followed, and errMoved is the error.
func openRegular(dir *os.Root, name string) (*os.File, error) {
	for range tries {
		seen, err := dir.Lstat(name)
		if err != nil {
			return nil, err
		}
		if seen.Mode()&fs.ModeSymlink != 0 {
			return nil, errMoved
		}
		f, err := dir.OpenFile(name, os.O_RDONLY|openFlags, 0)
		if err != nil {
			return nil, err
		}
		if got, err := f.Stat(); err == nil && os.SameFile(seen, got) {
			return f, nil
		}
		f.Close() // another file took its place
	}
	return nil, errMoved
}

// A snapshot is what one pass over an open file saw.
type snapshot struct {
	info    fs.FileInfo
	data    []byte // nil if the file was as large as keep
	size    int64
	version Version
}

// chunk is how much is read or written between two looks at the context.
const chunk = 1 << 20

// readWhole reads an open file to its end and hashes it on the way. The bytes
// are kept if they are fewer than keep. A file of more than limit bytes is
// errTooLarge. If it changes meanwhile it is read again, a few times; at last
// what was read counts, and its version is that of these bytes.
func readWhole(ctx context.Context, f *os.File, limit, keep int64) (snapshot, error) {
	for try := 0; ; try++ {
		s, err := readOnce(ctx, f, limit, keep)
		if err != nil {
			return s, err
		}
		after, err := f.Stat()
		if err != nil {
			return s, err
		}
		calm := after.ModTime().Equal(s.info.ModTime()) && after.Size() == s.size
		if calm || try == 3 {
			return s, nil
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return s, err
		}
	}
}

func readOnce(ctx context.Context, f *os.File, limit, keep int64) (snapshot, error) {
	info, err := f.Stat()
	if err != nil {
		return snapshot{}, err
	}
	s := snapshot{info: info}
	if !info.Mode().IsRegular() {
		return s, errNotRegular
	}
	if info.Size() > limit {
		return s, errTooLarge
	}
	h := sha256.New()
	if info.Size() < keep {
		return s, s.readKept(ctx, f, h, limit)
	}
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		s.size += int64(n)
		if err == io.EOF {
			h.Sum(s.version[:0])
			return s, nil
		}
		if err != nil {
			return s, err
		}
	}
}

// readKept reads into one buffer of the file's size: no copy, no growth
// unless the file grows.
func (s *snapshot) readKept(ctx context.Context, r io.Reader, h hash.Hash, limit int64) error {
	size := s.info.Size()
	data := make([]byte, 0, int(min(size, math.MaxInt-1))+1) // one more, so that the end is seen without growing
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+chunk)])
		h.Write(data[len(data) : len(data)+n])
		data = data[:len(data)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if int64(len(data)) > limit {
			return errTooLarge
		}
	}
	s.data, s.size = data, int64(len(data))
	h.Sum(s.version[:0])
	return nil
}
