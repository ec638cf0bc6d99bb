package fsbackend

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"
)

// The index is a file of JSON lines, each an event; what a journal knows is
// the events one after another. A line that is torn or damaged is passed over:
// what it told is lost, and nothing else.

const indexName = "changes.log"

// The events.
const (
	eventVersion = "version" // a file holds Digest, which moves to the front
	eventStands  = "stands"  // a file holds Digest; zero: it is missing
	eventChange  = "change"  // a file was changed from Before to Digest
	eventDrop    = "drop"    // Digest is no longer kept for the file
	eventUndone  = "undone"  // a group was undone, by another
	eventSaw     = "saw"     // the session has seen Digest of a file; zero: that it is missing
)

type record struct {
	Event  string    `json:"event"`
	Key    rawText   `json:"key,omitempty"`
	Path   rawText   `json:"path,omitempty"`
	Digest Version   `json:"digest,omitzero"`
	Before Version   `json:"before,omitzero"`
	Mode   uint32    `json:"mode,omitempty"`
	Size   int64     `json:"size,omitempty"`
	Tag    string    `json:"tag,omitempty"`
	Turn   string    `json:"turn,omitempty"`
	Call   string    `json:"call,omitempty"`
	ByTurn string    `json:"byTurn,omitempty"`
	ByCall string    `json:"byCall,omitempty"`
	Time   time.Time `json:"time,omitzero"`
}

// MarshalText is the digest in hexadecimal.
func (v Version) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, v[:]), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Version) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(v) || len(text)%2 != 0 {
		return fmt.Errorf("%q is no SHA-256", text)
	}
	_, err := hex.Decode(v[:], text)
	return err
}

// rawText is a path, which need not be UTF-8: then it is a list of its bytes
// in base64.
type rawText string

// MarshalJSON is a string where that loses nothing.
func (r rawText) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(r)) {
		return json.Marshal(string(r))
	}
	return json.Marshal([][]byte{[]byte(r)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *rawText) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*r = rawText(s)
		return nil
	}
	var b [][]byte
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	*r = rawText(bytes.Join(b, nil))
	return nil
}

// apply takes an event into the state; it needs mu.
func (j *Journal) apply(r record) {
	j.seq++
	key := Key(r.Key)
	switch r.Event {
	case eventVersion:
		h := j.history(key, string(r.Path))
		k := kept{digest: r.Digest, tag: r.Tag, mode: fs.FileMode(r.Mode), time: r.Time, seq: j.seq}
		if i := h.find(r.Digest); i >= 0 {
			h.versions = slices.Delete(h.versions, i, i+1)
		} else {
			b := j.blobs[r.Digest]
			if b == nil {
				b = &blob{size: r.Size}
				j.blobs[r.Digest] = b
				j.bytes += b.size
			}
			b.refs++
		}
		h.versions = slices.Insert(h.versions, 0, k)
		h.last = r.Digest
	case eventStands:
		j.history(key, string(r.Path)).last = r.Digest
	case eventChange:
		j.changes = append(j.changes, FileChange{
			Group: Group{Turn: r.Turn, Call: r.Call}, Path: string(r.Path), Key: key,
			Before: r.Before, After: r.Digest, Mode: fs.FileMode(r.Mode), Time: r.Time,
		})
		if n := len(j.changes) - maxChanges; n > 0 {
			j.changes = slices.Delete(j.changes, 0, n)
		}
	case eventDrop:
		j.forget(key, r.Digest)
	case eventSaw:
		j.applySaw(key, r.Digest)
	case eventUndone:
		j.applyUndone(undo{of: Group{r.Turn, r.Call}, by: Group{r.ByTurn, r.ByCall}})
	}
}

func (j *Journal) history(key Key, path string) *history {
	h := j.files[key]
	if h == nil {
		h = &history{}
		j.files[key] = h
	}
	h.path = path
	return h
}

// forget takes a version off a file; the bytes are no longer counted when no
// file has them.
func (j *Journal) forget(key Key, d Version) {
	h := j.files[key]
	if h == nil {
		return
	}
	i := h.find(d)
	if i < 0 {
		return
	}
	h.versions = slices.Delete(h.versions, i, i+1)
	b := j.blobs[d]
	if b.refs--; b.refs == 0 {
		j.bytes -= b.size
		delete(j.blobs, d)
	}
}

// append writes an event and takes it in; it needs mu.
func (j *Journal) append(r record) error {
	if err := j.write(r); err != nil {
		return err
	}
	j.apply(r)
	return nil
}

func (j *Journal) write(r record) error {
	if j.closed {
		return errClosed
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if j.index == nil {
		if err := os.MkdirAll(j.opt.Dir, 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(filepath.Join(j.opt.Dir, indexName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		j.index = f
	}
	if err := j.opt.Faults.Hit(AtAppend, j.opt.Dir); err != nil {
		return err
	}
	// A line that was torn by a full disk must not fuse with the next: every
	// line brings a break before it, too. Empty lines are passed over.
	_, err = j.index.Write(append(append([]byte{'\n'}, line...), '\n'))
	return err
}

// load reads the index, and takes away what it does not name.
func (j *Journal) load() error {
	name := filepath.Join(j.opt.Dir, indexName)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		j.sweep(true)
		return nil
	}
	if err != nil {
		return err
	}
	lines, bad, err := j.replay(f)
	f.Close()
	if err != nil {
		return err
	}
	if bad > 0 {
		j.note(fmt.Sprintf("%s of the journal's index could not be read; what they told of earlier versions is lost", plural(bad, "line")))
	}
	j.dropMissing()
	j.sweep(false)
	if live := j.live(); bad > 0 || lines > 2*len(live)+100 {
		if err := j.rewrite(live); err != nil {
			j.note("the journal's index could not be rewritten: " + bare(err).Error())
		}
	}
	return nil
}

// replay takes in every line that can be read.
func (j *Journal) replay(f io.Reader) (lines, bad int, err error) {
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return lines, bad, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines++
			var rec record
			if json.Unmarshal(line, &rec) != nil || !rec.valid() {
				bad++
			} else {
				j.apply(rec)
			}
		}
		if err == io.EOF {
			return lines, bad, nil
		}
	}
}

// valid reports whether a record can be taken in.
func (r record) valid() bool {
	switch r.Event {
	case eventVersion:
		return r.Key != "" && r.Digest != Version{} && r.Size >= 0
	case eventStands, eventChange, eventDrop, eventSaw:
		return r.Key != ""
	case eventUndone:
		return true
	}
	return false
}

// live is the least list of events that gives the present state.
func (j *Journal) live() []record {
	type placed struct {
		seq uint64
		rec record
	}
	var all []placed
	var out, states []record
	for key, h := range j.files {
		for _, k := range h.versions {
			all = append(all, placed{k.seq, record{
				Event: eventVersion, Key: rawText(key), Path: rawText(h.path), Digest: k.digest,
				Mode: uint32(k.mode), Size: j.blobs[k.digest].size, Tag: k.tag, Time: k.time,
			}})
		}
		if len(h.versions) > 0 && h.versions[0].digest != h.last {
			states = append(states, record{Event: eventStands, Key: rawText(key), Path: rawText(h.path), Digest: h.last})
		}
		if h.saw != nil {
			states = append(states, record{Event: eventSaw, Key: rawText(key), Digest: *h.saw})
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Compare(a.seq, b.seq) })
	for _, p := range all {
		out = append(out, p.rec)
	}
	out = append(out, states...)
	for _, c := range j.changes {
		out = append(out, record{
			Event: eventChange, Key: rawText(c.Key), Path: rawText(c.Path), Before: c.Before, Digest: c.After,
			Mode: uint32(c.Mode), Turn: c.Group.Turn, Call: c.Group.Call, Time: c.Time,
		})
	}
	for _, u := range j.undos {
		out = append(out, record{Event: eventUndone, Turn: u.of.Turn, Call: u.of.Call, ByTurn: u.by.Turn, ByCall: u.by.Call})
	}
	return out
}

// rewrite puts a new index in the place of the old one, or leaves that.
func (j *Journal) rewrite(live []record) error {
	var b bytes.Buffer
	for _, r := range live {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	return j.publish(filepath.Join(j.opt.Dir, indexName), b.Bytes())
}
