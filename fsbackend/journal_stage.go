package fsbackend

import "os"

// The bytes of a write go into the journal while the write itself waits for
// the disk: digest, tag and file are ready by the time the write is done, and
// all that is left is a record of the index.

// A staged version has its file already, or soon, but no record yet.
type staged struct {
	users int    // writes that have begun with these bytes and not ended
	ready bool   // what follows is known
	tag   string // its short name
	err   error  // why the file could not be stored
}

// stage begins to store the bytes of a write. The function it returns ends
// that, in any case: it waits, so that data is the caller's again, has record
// called, and takes the file away if no record names it after that. record may
// be nil.
func (j *Journal) stage(data []byte) (end func(record func() error) error) {
	if j.fits(int64(len(data))) != nil {
		return func(record func() error) error { return call(record) }
	}
	var digest Version
	done := make(chan struct{})
	go func() {
		defer close(done)
		digest = VersionOf(data)
		if j.enter(digest) {
			j.ready(digest, j.opt.Tag(data), j.store(digest, data))
		}
	}()
	return func(record func() error) error {
		<-done
		defer j.leave(digest)
		return call(record)
	}
}

func call(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

// enter counts a user, and reports whether the file is to be stored.
func (j *Journal) enter(d Version) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.staged[d]
	if s == nil {
		s = &staged{}
		j.staged[d] = s
	}
	s.users++
	return j.blobs[d] == nil && !j.closed
}

func (j *Journal) ready(d Version, tag string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.staged[d]
	s.ready, s.tag, s.err = true, tag, err
}

func (j *Journal) leave(d Version) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.staged[d]
	s.users--
	if s.users > 0 {
		return
	}
	delete(j.staged, d)
	if s.ready && j.blobs[d] == nil {
		os.Remove(j.blobPath(d)) // what is left is swept when the journal is opened
	}
}
