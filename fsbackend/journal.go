package fsbackend

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The codes of a rollback that cannot be.
const (
	// CodeNoHistory: nothing of the file was recorded in this session.
	CodeNoHistory = "ROLLBACK_NO_HISTORY"
	// CodeUnknownVersion: no version that is kept has that name, or several
	// have, or its bytes are lost.
	CodeUnknownVersion = "ROLLBACK_UNKNOWN"
	// CodeIsCurrent: the file is that version already.
	CodeIsCurrent = "ROLLBACK_CURRENT"
	// CodeIsOldest: nothing older is kept.
	CodeIsOldest = "ROLLBACK_OLDEST"
	// CodeChangedOutside: the file holds what this session neither saw nor
	// wrote, so that it is not known what comes before it.
	CodeChangedOutside = "ROLLBACK_EXTERNAL"
)

// The bounds of a Journal whose options name none.
const (
	DefaultJournalMax = 64 << 20
	DefaultSeenMax    = 512 << 10
)

// maxChanges is how many changes a journal remembers for undoing groups.
const maxChanges = 2000

// JournalOptions say how a Journal works.
type JournalOptions struct {
	// Dir is the journal's own folder: one for each session, absolute. It is
	// made when there is something to keep. Required.
	Dir string
	// MaxBytes bounds what all versions take together; the oldest are dropped.
	// A file of more than half of it is not kept. 0 means DefaultJournalMax.
	MaxBytes int64
	// SeenMax is the size up to which a file that is only read is kept. 0 means
	// DefaultSeenMax, a negative number that none is.
	SeenMax int64
	// Tag gives a version its short name, "" for bytes that have none; nil
	// means that there are digests only.
	Tag func(data []byte) string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Faults are for tests: AtTempWrite for a version, AtAppend for the index.
	Faults *Faults
}

// A Journal keeps earlier versions of a session's files: raw bytes by their
// SHA-256, and for each file the order of its versions. It is on disk and
// outlives the process; only one process may have it open.
//
// What it holds it holds as well as it can: nothing is synced, so that after a
// loss of power the last versions may be missing, and whatever is damaged is
// left out and told by Notes. It never keeps a file from being read or
// written. It is safe for concurrent use.
type Journal struct {
	opt JournalOptions

	mu      sync.Mutex
	files   map[Key]*history    // guarded by mu
	blobs   map[Version]*blob   // guarded by mu
	staged  map[Version]*staged // versions on their way; guarded by mu
	bytes   int64               // of all blobs; guarded by mu
	seq     uint64              // of the latest record; guarded by mu
	changes []FileChange        // oldest first; guarded by mu
	undos   []undo              // oldest first; guarded by mu
	undone  map[Group]bool      // groups that were undone and not brought back; guarded by mu
	undoes  map[Group]Group     // what a group undid; guarded by mu
	index   *os.File            // nil until something is kept; guarded by mu
	notes   []string            // guarded by mu
	closed  bool                // guarded by mu
}

// A history is the versions of one file.
type history struct {
	path     string // as it was last asked for
	versions []kept // newest first; no digest twice
	// last is the state in which this session last saw or left the file; zero:
	// missing, or not known.
	last Version
	saw  *Version // as Seen was told; nil: nothing
}

// kept is a version of a file.
type kept struct {
	digest Version
	tag    string
	mode   fs.FileMode
	time   time.Time
	seq    uint64 // of the record that put it where it is
}

// blob is bytes on disk.
type blob struct {
	size int64
	refs int // versions of files that are these bytes
}

// VersionInfo tells of a version that is kept.
type VersionInfo struct {
	Digest  Version
	Tag     string // "" if it has none
	Size    int64
	Mode    fs.FileMode
	Time    time.Time // when it was recorded
	Current bool      // the file on disk holds these bytes
}

// Name is the shortest name that Restore takes: the tag, else the digest's
// first digits.
func (v VersionInfo) Name() string {
	if v.Tag != "" {
		return v.Tag
	}
	return hex.EncodeToString(v.Digest[:minDigits/2])
}

// minDigits is how many digits of a digest at least name a version.
const minDigits = 8

// Group says in whose course a file was changed. The words are the caller's.
type Group struct{ Turn, Call string }

type groupKey struct{}

// WithGroup gives the changes that are made under a context their group. It is
// a value of the context because the tools in between know no journal.
func WithGroup(ctx context.Context, g Group) context.Context {
	return context.WithValue(ctx, groupKey{}, g)
}

func groupOf(ctx context.Context) Group {
	g, _ := ctx.Value(groupKey{}).(Group)
	return g
}

// FileChange is one change of a file.
type FileChange struct {
	Group  Group
	Path   string // as asked
	Key    Key
	Before Version     // zero: there was no file
	After  Version     // zero: there is none
	Mode   fs.FileMode // before
	Time   time.Time
}

// OpenJournal reads what an earlier process left. It fails if the folder
// cannot be read; damage in it is no failure, but is told by Notes.
func OpenJournal(opt JournalOptions) (*Journal, error) {
	if !filepath.IsAbs(opt.Dir) {
		return nil, fmt.Errorf("journal: %q: not an absolute path", opt.Dir)
	}
	if opt.MaxBytes == 0 {
		opt.MaxBytes = DefaultJournalMax
	}
	if opt.SeenMax == 0 {
		opt.SeenMax = DefaultSeenMax
	}
	if opt.Tag == nil {
		opt.Tag = func([]byte) string { return "" }
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	j := &Journal{
		opt: opt, files: map[Key]*history{}, blobs: map[Version]*blob{}, staged: map[Version]*staged{},
		undone: map[Group]bool{}, undoes: map[Group]Group{},
	}
	if err := j.load(); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return j, nil
}

// Close gives the index back. What comes later is not kept.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	if j.index == nil {
		return nil
	}
	err := j.index.Close()
	j.index = nil
	return err
}

// Notes tell what was lost, or could not be kept, since the journal was
// opened.
func (j *Journal) Notes() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.notes)
}

// note needs mu. The same is told once.
func (j *Journal) note(s string) {
	if !slices.Contains(j.notes, s) {
		j.notes = append(j.notes, s)
	}
}

// Bytes is how much the versions take.
func (j *Journal) Bytes() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bytes
}

// Paths are the files that have versions, as they were last asked for, sorted.
func (j *Journal) Paths() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for _, h := range j.files {
		if len(h.versions) > 0 {
			out = append(out, h.path)
		}
	}
	slices.Sort(out)
	return out
}

var errClosed = errors.New("the journal is closed")

// keep records that a file holds these bytes. It moves the version to the
// front, unless it is already known as the file's state and front is false.
func (j *Journal) keep(key Key, path string, data []byte, digest Version, mode fs.FileMode, front bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.files[key]
	known := h != nil && h.find(digest) >= 0
	if known && !front && h.last == digest {
		return nil
	}
	if err := j.fits(int64(len(data))); err != nil {
		return err
	}
	tag, s := "", j.staged[digest]
	switch {
	case known:
		tag = h.versions[h.find(digest)].tag
	case s != nil && s.ready:
		tag = s.tag
	default:
		tag = j.opt.Tag(data)
	}
	if err := j.putBlob(digest, data); err != nil {
		return err
	}
	if err := j.append(record{
		Event: eventVersion, Key: rawText(key), Path: rawText(path), Digest: digest, Mode: uint32(mode & modeBits),
		Size: int64(len(data)), Tag: tag, Time: j.opt.Now(),
	}); err != nil {
		return err
	}
	return j.shrink()
}

// fits says whether a file of that size is kept at all.
func (j *Journal) fits(size int64) error {
	if most := j.opt.MaxBytes / 2; size > most {
		return fmt.Errorf("%d bytes are more than the %d of one version that are kept", size, most)
	}
	return nil
}

// promote moves a version to the front, with the mode that the file has now.
func (j *Journal) promote(key Key, d Version, mode fs.FileMode) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.files[key]
	if h == nil {
		return nil
	}
	i := h.find(d)
	if i < 0 || i == 0 && h.versions[0].mode == mode&modeBits {
		return nil
	}
	k := h.versions[i]
	return j.append(record{
		Event: eventVersion, Key: rawText(key), Path: rawText(h.path), Digest: d, Mode: uint32(mode & modeBits),
		Size: j.blobs[d].size, Tag: k.tag, Time: k.time,
	})
}

// stand records which version a file holds, without changing their order; the
// zero Version is that of no file.
func (j *Journal) stand(key Key, path string, digest Version) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if h := j.files[key]; h != nil && h.last == digest {
		return nil
	}
	return j.append(record{Event: eventStands, Key: rawText(key), Path: rawText(path), Digest: digest, Time: j.opt.Now()})
}

// changed records a change of a file for its group.
func (j *Journal) changed(g Group, key Key, path string, before, after Version, mode fs.FileMode) error {
	if before == after {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.append(record{
		Event: eventChange, Key: rawText(key), Path: rawText(path), Before: before, Digest: after,
		Mode: uint32(mode & modeBits), Turn: g.Turn, Call: g.Call, Time: j.opt.Now(),
	})
}

// find is the index of a version, or -1.
func (h *history) find(d Version) int {
	return slices.IndexFunc(h.versions, func(k kept) bool { return k.digest == d })
}

// versions lists what is kept of a file, newest first.
func (j *Journal) versions(key Key) (list []VersionInfo, last Version) {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.files[key]
	if h == nil {
		return nil, Version{}
	}
	for _, k := range h.versions {
		list = append(list, VersionInfo{Digest: k.digest, Tag: k.tag, Size: j.blobs[k.digest].size, Mode: k.mode, Time: k.time})
	}
	return list, h.last
}

// named are the versions that a word names: a tag, or at least minDigits
// digits of a digest, in any case.
func named(list []VersionInfo, word string) []VersionInfo {
	word = strings.ToLower(strings.TrimSpace(word))
	var out []VersionInfo
	for _, v := range list {
		digits := len(word) >= minDigits && strings.HasPrefix(v.Digest.String(), word)
		if digits || v.Tag != "" && strings.ToLower(v.Tag) == word {
			out = append(out, v)
		}
	}
	return out
}

// has reports whether a version's bytes are kept.
func (j *Journal) has(key Key, d Version) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.files[key]
	return h != nil && h.find(d) >= 0
}
