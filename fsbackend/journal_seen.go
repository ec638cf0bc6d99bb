package fsbackend

// Seen gives what the session has seen of its files, which the journal keeps
// from here on, so that a file that was read need not be read again when the
// session goes on in another process. It is not what the journal was asked
// for: plans and searches read files of which a model is shown nothing.
// It is to be called once.
func (j *Journal) Seen() *Seen {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := &Seen{m: map[Key]Version{}, keep: j.saw}
	for key, h := range j.files {
		if h.saw != nil {
			s.m[key] = *h.saw
		}
	}
	return s
}

// saw records which version the session has seen. What cannot be recorded has
// to be read again later.
func (j *Journal) saw(key Key, v Version) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.append(record{Event: eventSaw, Key: rawText(key), Digest: v}); err != nil {
		j.note("what was seen is not kept: " + bare(err).Error())
	}
}

func (j *Journal) applySaw(key Key, v Version) {
	path := string(key)
	if h := j.files[key]; h != nil {
		path = h.path
	}
	j.history(key, path).saw = &v
}
