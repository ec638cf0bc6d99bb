package fsbackend

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Versions are files of one folder, named by their digest. They are hundreds at
// most, and a folder for each first digits would cost more than the file. One
// that is there is whole: it was written under another name.

const (
	blobsName  = "versions"
	tempSuffix = ".new"
)

func (j *Journal) blobPath(d Version) string {
	return filepath.Join(j.opt.Dir, blobsName, d.String())
}

// putBlob stores bytes that are not there yet; it needs mu.
func (j *Journal) putBlob(d Version, data []byte) error {
	if j.closed {
		return errClosed
	}
	if j.blobs[d] != nil {
		return nil
	}
	if s := j.staged[d]; s != nil && s.ready {
		return s.err
	}
	return j.store(d, data)
}

// store writes the file of a version.
func (j *Journal) store(d Version, data []byte) error {
	name := j.blobPath(d)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return j.publish(name, data)
}

// publish writes a file of the journal so that it is whole or not there.
func (j *Journal) publish(name string, data []byte) error {
	f, err := os.CreateTemp(j.opt.Dir, "*"+tempSuffix)
	if err != nil {
		return err
	}
	err = j.opt.Faults.Hit(AtTempWrite, name)
	if err == nil {
		_, err = f.Write(data)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// errDamaged is a version whose bytes are not what they were.
var errDamaged = errors.New("its bytes are damaged")

// bytesOf reads a version and holds it to its digest. What is lost is
// forgotten.
func (j *Journal) bytesOf(key Key, d Version) ([]byte, error) {
	data, err := os.ReadFile(j.blobPath(d))
	if err == nil && VersionOf(data) == d {
		return data, nil
	}
	if err == nil {
		err = errDamaged
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.note(fmt.Sprintf("the version %.8s of %s is lost: %v", d, j.pathOf(key), bare(err)))
	for other, h := range j.files {
		if h.find(d) >= 0 {
			err = errors.Join(err, j.append(record{Event: eventDrop, Key: rawText(other), Digest: d}))
		}
	}
	return nil, errors.Join(err, j.removeUnused(d))
}

// pathOf needs mu.
func (j *Journal) pathOf(key Key) string {
	if h := j.files[key]; h != nil {
		return h.path
	}
	return string(key)
}

// removeUnused removes bytes that no version is made of; it needs mu.
func (j *Journal) removeUnused(d Version) error {
	if j.blobs[d] != nil || j.staged[d] != nil {
		return nil
	}
	if err := os.Remove(j.blobPath(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// shrink drops the oldest versions until the bound holds; it needs mu. The
// newest of all stays.
func (j *Journal) shrink() error {
	for j.bytes > j.opt.MaxBytes {
		var oldest Key
		at := ^uint64(0)
		for key, h := range j.files {
			if n := len(h.versions); n > 0 && h.versions[n-1].seq < at {
				oldest, at = key, h.versions[n-1].seq
			}
		}
		if at >= j.seq {
			return nil
		}
		h := j.files[oldest]
		d := h.versions[len(h.versions)-1].digest
		if err := j.append(record{Event: eventDrop, Key: rawText(oldest), Digest: d}); err != nil {
			return err
		}
		if err := j.removeUnused(d); err != nil {
			return err
		}
	}
	return nil
}

// dropMissing forgets versions whose bytes are not there.
func (j *Journal) dropMissing() {
	lost := 0
	for d, b := range j.blobs {
		if fi, err := os.Stat(j.blobPath(d)); err == nil && fi.Size() == b.size {
			continue
		}
		lost++
		for key := range j.files {
			j.forget(key, d)
		}
	}
	if lost > 0 {
		j.note(fmt.Sprintf("the bytes of %s are lost", plural(lost, "earlier version")))
	}
}

// sweep removes bytes that the index does not name, such as those of a
// process that was killed before it could name them.
func (j *Journal) sweep(noIndex bool) {
	names, _ := filepath.Glob(filepath.Join(escape(j.opt.Dir), blobsName, "*"))
	gone := 0
	for _, name := range names {
		var d Version
		if d.UnmarshalText([]byte(filepath.Base(name))) == nil && j.blobs[d] == nil && os.Remove(name) == nil {
			gone++
		}
	}
	if noIndex && gone > 0 {
		j.note(fmt.Sprintf("the journal's index is gone; %s without it could not be told apart and went too", plural(gone, "earlier version")))
	}
	temps, _ := filepath.Glob(filepath.Join(escape(j.opt.Dir), "*"+tempSuffix))
	for _, name := range temps {
		os.Remove(name)
	}
}

// escape makes a folder's name a pattern of itself.
func escape(dir string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(dir)
}
