package fsbackend

import "sync"

// Seen is what one session knows of files: the version that it last read,
// wrote or edited, by identity. A file whose reading failed because it is not
// text counts as seen, and so does one that was found missing (its version is
// zero). A tool that replaces whole files asks it, so that nothing is
// overwritten unread. The zero value knows nothing; it is safe for concurrent
// use, and forgets all when the process ends; [Journal.Seen] gives one that does
// not.
type Seen struct {
	keep func(Key, Version) // records what is new; nil: nobody does

	mu sync.Mutex
	m  map[Key]Version // guarded by mu
}

// Note remembers that the session saw this version; the zero Version means
// that it saw that there is no file.
func (s *Seen) Note(k Key, v Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = map[Key]Version{}
	}
	if was, ok := s.m[k]; ok && was == v {
		return
	}
	s.m[k] = v
	if s.keep != nil {
		s.keep(k, v)
	}
}

// NoteFile remembers a file as it was read, text or not.
func (s *Seen) NoteFile(f File) { s.Note(f.Key, f.Version) }

// Version is the version that the session last saw, and whether it saw any.
// The zero Version with true means that there was no file.
func (s *Seen) Version(k Key) (Version, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.m[k]
	return v, ok
}

// Guard is the precondition of a write that must not overwrite what the
// session has not seen: the version that it saw, or that there is no file.
func (s *Seen) Guard(k Key) Precondition {
	v, ok := s.Version(k)
	if !ok || v == (Version{}) {
		return Absent{}
	}
	return Unchanged{Version: v}
}
