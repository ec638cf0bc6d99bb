package fs

import (
	"slices"
	"sync"

	"dsh-acp/fsbackend"
	"dsh-acp/internal/hashline"
	"dsh-acp/internal/text"
)

// The bounds of what a toolbox remembers of texts.
const (
	storeBytes  = 64 << 20 // of all versions together
	recallBytes = 16 << 20 // of the versions that an earlier process left of one file
	versionsMax = 32       // of one file
)

// A store remembers the texts that were shown or written, for the tags that
// stand for them. It is safe for concurrent use.
type store struct {
	mu    sync.Mutex
	files map[fsbackend.Key][]*recorded // newest first; guarded by mu
	bytes int                           // guarded by mu
	clock int64                         // guarded by mu
	// recalled are the files of which earlier versions were asked for.
	recalled map[fsbackend.Key]bool // guarded by mu
}

// recorded is a version with the moment of its last use.
type recorded struct {
	hashline.Version
	used int64
}

// record notes that a file holds a text, of which lines are known to the
// model; nil lines add nothing to what is noted. It returns the tag to show.
func (s *store) record(key fsbackend.Key, d text.Doc, lines hashline.Ranges) hashline.Tag {
	id := hashline.Identify(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[fsbackend.Key][]*recorded{}
	}
	s.clock++
	list := s.files[key]
	tag := hashline.NameFor(id, named(list))
	v := &recorded{Version: hashline.Version{ID: id, Shown: tag}}
	kept := make([]*recorded, 1, len(list)+1)
	for _, w := range list {
		if w.ID == id {
			v = w
			s.bytes -= len(w.Text.Raw())
			continue
		}
		kept = append(kept, w)
	}
	v.Text, v.used = d, s.clock
	if lines != nil {
		// A reader may hold the old set: a new one is made.
		seen := append(hashline.Ranges{}, v.Seen...)
		for _, r := range lines {
			seen = seen.Add(r.First, r.Last)
		}
		v.Seen = seen
	}
	s.bytes += len(d.Raw())
	kept[0] = v
	for len(kept) > versionsMax {
		s.bytes -= len(kept[len(kept)-1].Text.Raw())
		kept = kept[:len(kept)-1]
	}
	s.files[key] = kept
	for s.bytes > storeBytes && s.dropOldest(v) {
	}
	return tag
}

// recall puts the texts that a file held in an earlier process, newest first,
// behind those that are known. load is asked once for each file.
func (s *store) recall(key fsbackend.Key, load func() []text.Doc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recalled[key] {
		return
	}
	if s.recalled == nil {
		s.recalled = map[fsbackend.Key]bool{}
	}
	s.recalled[key] = true
	list := s.files[key]
	docs := load()
	var behind []*recorded
	// The oldest first: of two with one short tag it was given the older one.
	for _, d := range slices.Backward(docs) {
		known := append(slices.Clone(list), behind...)
		id := hashline.Identify(d)
		if len(known) >= versionsMax || slices.ContainsFunc(known, func(v *recorded) bool { return v.ID == id }) {
			continue
		}
		behind = append(behind, &recorded{Version: hashline.Version{ID: id, Shown: hashline.NameFor(id, named(known)), Text: d}})
		s.bytes += len(d.Raw())
	}
	if len(behind) == 0 {
		return
	}
	slices.Reverse(behind)
	if s.files == nil {
		s.files = map[fsbackend.Key][]*recorded{}
	}
	s.files[key] = append(slices.Clone(list), behind...)
	for s.bytes > storeBytes && s.dropOldest(nil) {
	}
}

// dropOldest forgets the version that was used longest ago, except keep. It
// reports whether there was one. It needs mu.
func (s *store) dropOldest(keep *recorded) bool {
	var from fsbackend.Key
	var oldest *recorded
	for key, list := range s.files {
		if v := list[len(list)-1]; v != keep && (oldest == nil || v.used < oldest.used) {
			from, oldest = key, v
		}
	}
	if oldest == nil {
		return false
	}
	s.bytes -= len(oldest.Text.Raw())
	if rest := s.files[from][:len(s.files[from])-1]; len(rest) > 0 {
		s.files[from] = rest
	} else {
		delete(s.files, from)
	}
	return true
}

// note marks lines of a version as shown, if it is kept.
func (s *store) note(key fsbackend.Key, t hashline.Tag, lines hashline.Ranges) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.files[key] {
		if v.Shown != t && !t.Names(v.ID) {
			continue
		}
		seen := append(hashline.Ranges{}, v.Seen...)
		for _, r := range lines {
			seen = seen.Add(r.First, r.Last)
		}
		v.Seen = seen
		return
	}
}

// of gives the versions of a file as they are now.
func (s *store) of(key fsbackend.Key) versions {
	s.mu.Lock()
	defer s.mu.Unlock()
	return named(s.files[key])
}

// versions are of one file, newest first.
type versions []hashline.Version

func named(list []*recorded) versions {
	out := make(versions, len(list))
	for i, v := range list {
		out[i] = v.Version
	}
	return out
}

// Named is of [hashline.Versions].
func (vs versions) Named(t hashline.Tag) []hashline.Version {
	var out []hashline.Version
	for _, v := range vs {
		if t.Names(v.ID) {
			out = append(out, v)
		}
	}
	return out
}

// Newest is of [hashline.Versions].
func (vs versions) Newest() (hashline.Version, bool) {
	if len(vs) == 0 {
		return hashline.Version{}, false
	}
	return vs[0], true
}

// matches reports whether a tag stands for a text: for one that was shown under
// it, else for one that its digits fit, or, if none is kept, by its own digits.
func (vs versions) matches(t hashline.Tag, id hashline.ID) bool {
	list := vs.Named(t)
	if i := slices.IndexFunc(list, func(v hashline.Version) bool { return v.Shown == t }); i >= 0 {
		return list[i].ID == id
	}
	for _, v := range list {
		if v.ID == id {
			return true
		}
	}
	return len(list) == 0 && t.Names(id)
}
