package fsbackend

import "slices"

// LastUndo is the latest undo of something that a call did, if that was not
// taken back itself. To undo it brings back what was undone.
func (j *Journal) LastUndo() (Group, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range slices.Backward(j.changes) {
		of, ok := j.undoes[c.Group]
		if !ok || j.isUndone(c.Group) {
			continue
		}
		if _, again := j.undoes[of]; !again {
			return c.Group, true
		}
	}
	return Group{}, false
}

// Undone reports whether a group's changes were taken back. A turn counts as
// taken back if it was as a whole.
func (j *Journal) Undone(g Group) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.isUndone(g)
}

// IsUndo reports whether a group's changes took others back.
func (j *Journal) IsUndo(g Group) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.isUndo(g)
}

// Kept lists what is kept of a file, newest first. It asks nobody whether the
// file may be read; see [Journaled.Versions].
func (j *Journal) Kept(key Key) []VersionInfo {
	list, _ := j.versions(key)
	return list
}

// Content gives the bytes of a version of a file. It fails if they are no
// longer kept.
func (j *Journal) Content(key Key, v Version) ([]byte, error) { return j.bytesOf(key, v) }
