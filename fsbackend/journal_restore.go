package fsbackend

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A Restoration is a file that is put back to an earlier version, or, from
// PlanRestore, that would be.
type Restoration struct {
	Path    string
	Version VersionInfo // what the file holds then
	Data    []byte      // its bytes
	// Replaced is what it held before, nil if it was missing; its name given
	// to Restore takes the rollback back.
	Replaced     *VersionInfo
	ReplacedData []byte
	Warning      string  // what the caller should know; empty if nothing
	Receipt      Receipt // of the write; zero from PlanRestore
}

// Versions lists what is kept of a file, newest first; Current marks what is
// on disk. It is empty, not an error, for a file that nothing is kept of.
func (jd *Journaled) Versions(ctx context.Context, path string) ([]VersionInfo, error) {
	if err := jd.MayRead(ctx, path); err != nil {
		return nil, err
	}
	info, err := jd.b.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	list, _ := jd.j.versions(info.Key)
	if !info.Exists || len(list) == 0 {
		return list, nil
	}
	f, err := ReadForChange(ctx, jd.b, path)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Current = list[i].Digest == f.Version
	}
	return list, nil
}

// Restore puts a file back to an earlier version, with its mode. which names
// it by its tag or by at least eight digits of its digest; if it is empty the
// version before the present one is meant, and calling again goes further
// back. What the file holds is kept first, so that a rollback can be taken
// back. A missing file is made again. It takes the turn on the file, so the
// caller must not hold one.
//
// It fails with CodeNoHistory, CodeUnknownVersion, CodeIsCurrent and
// CodeIsOldest; with CodeChangedOutside if which is empty and the file holds
// what this session neither saw nor wrote; with CodeTooLarge if what it holds
// is too large to be kept; and with the errors of Read and Write. Then nothing
// was written.
func (jd *Journaled) Restore(ctx context.Context, path, which string) (Restoration, error) {
	unlock, err := Lock(ctx, jd, path)
	if err != nil {
		return Restoration{}, err
	}
	defer unlock()
	p, err := jd.plan(ctx, path, which)
	if err != nil {
		return Restoration{}, err
	}
	return jd.restore(ctx, p, which != "")
}

// PlanRestore is Restore without the writing.
func (jd *Journaled) PlanRestore(ctx context.Context, path, which string) (Restoration, error) {
	p, err := jd.plan(ctx, path, which)
	return p.Restoration, err
}

// planned is a rollback before it is written.
type planned struct {
	Restoration
	key     Key
	mode    fs.FileMode // of the present file
	pre     Precondition
	present Version // zero: missing
}

const opRestore = "rollback"

func (jd *Journaled) plan(ctx context.Context, path, which string) (planned, error) {
	p := planned{Restoration: Restoration{Path: path}}
	if err := jd.MayWrite(ctx, path); err != nil {
		return p, err
	}
	info, err := jd.b.Stat(ctx, path)
	if err != nil {
		return p, err
	}
	p.key, p.pre = info.Key, Absent{}
	list, last := jd.j.versions(info.Key)
	if len(list) == 0 {
		return p, fail(opRestore, path, CodeNoHistory, "nothing is kept of this file in this session", "only files that were read or written here can be put back")
	}
	if info.Exists {
		f, err := ReadForChange(ctx, jd.b, path)
		if err != nil {
			return p, err
		}
		p.pre, p.present, p.mode, p.ReplacedData = Unchanged{Version: f.Version}, f.Version, f.Mode, f.Data
		p.Replaced = &VersionInfo{Digest: f.Version, Tag: jd.j.opt.Tag(f.Data), Size: int64(len(f.Data)), Mode: f.Mode, Time: jd.j.opt.Now()}
	}
	if p.Version, err = choose(path, which, list, p.Replaced); err != nil {
		return p, err
	}
	switch {
	case p.Replaced == nil:
		p.Warning = "the file was missing; it is made again"
	case p.present != last:
		p.Warning = "the file had been changed outside of this session; what it held is kept as " + p.Replaced.Name()
	}
	if p.Data, err = jd.j.bytesOf(p.key, p.Version.Digest); err != nil {
		return p, fail(opRestore, path, CodeUnknownVersion, fmt.Sprintf("the version %s is lost: %v", p.Version.Name(), bare(err)), "choose another: "+listVersions(list))
	}
	return p, nil
}

// choose finds the version that is wanted.
func choose(path, which string, list []VersionInfo, present *VersionInfo) (VersionInfo, error) {
	if strings.TrimSpace(which) == "" {
		return previous(path, list, present)
	}
	found := named(list, which)
	if present != nil && len(found) > 1 {
		// Versions that differ in blanks at line ends have one tag. Who names
		// it wants the one that is not there.
		found = slices.DeleteFunc(found, func(v VersionInfo) bool { return v.Digest == present.Digest })
	}
	switch {
	case len(found) == 0:
		return VersionInfo{}, fail(opRestore, path, CodeUnknownVersion, fmt.Sprintf("no version %q is kept of this file", which), "choose one of these: "+listVersions(list))
	case len(found) > 1:
		return VersionInfo{}, fail(opRestore, path, CodeUnknownVersion, fmt.Sprintf("%d versions are called %q", len(found), which), "name one by its digest: "+listDigests(found))
	case present != nil && found[0].Digest == present.Digest:
		return VersionInfo{}, fail(opRestore, path, CodeIsCurrent, fmt.Sprintf("the file is version %s already; nothing was written", found[0].Name()), "choose another: "+listVersions(list))
	}
	return found[0], nil
}

// previous is the version before the present one.
func previous(path string, list []VersionInfo, present *VersionInfo) (VersionInfo, error) {
	if present == nil {
		return list[0], nil
	}
	i := slices.IndexFunc(list, func(v VersionInfo) bool { return v.Digest == present.Digest })
	switch {
	case i < 0:
		return VersionInfo{}, fail(opRestore, path, CodeChangedOutside,
			fmt.Sprintf("the file was changed outside of this session, so it is not known what comes before; its %d bytes (version %s) would be replaced; nothing was written",
				present.Size, present.Name()),
			"name the version to put back: "+listVersions(list))
	case i == len(list)-1:
		return VersionInfo{}, fail(opRestore, path, CodeIsOldest, "the file is the oldest version that is kept; nothing was written", "versions that are kept: "+listVersions(list))
	}
	return list[i+1], nil
}

// listVersions names versions, newest first.
func listVersions(list []VersionInfo) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.Name()
	}
	return strings.Join(names, ", ")
}

func listDigests(list []VersionInfo) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.Digest.String()[:2*minDigits]
	}
	return strings.Join(names, ", ")
}

// restore writes what was planned; front moves the version to the front.
func (jd *Journaled) restore(ctx context.Context, p planned, front bool) (Restoration, error) {
	if p.Replaced != nil && !jd.j.has(p.key, p.present) {
		err := jd.j.keep(p.key, p.Path, p.ReplacedData, p.present, p.mode, true)
		if err != nil {
			return Restoration{}, fail(opRestore, p.Path, CodeTooLarge, "what the file holds cannot be kept, so the rollback could not be taken back: "+bare(err).Error()+"; nothing was written",
				"copy the file first, then remove it")
		}
	}
	w := Write{Path: p.Path, Data: p.Data, Pre: p.pre, Mode: p.Version.Mode & modeBits, Undo: true}
	rec, err := jd.b.Write(ctx, w)
	if rec.Version == (Version{}) {
		return Restoration{}, err
	}
	p.Receipt = rec
	if rec.After != nil {
		// An editor made something else of it: that is what the file is now.
		p.Data, front = rec.After, true
		p.Version.Digest, p.Version.Tag, p.Version.Size = rec.Version, jd.j.opt.Tag(rec.After), int64(len(rec.After))
	}
	note := jd.j.changed(groupOf(ctx), rec.Key, p.Path, p.present, rec.Version, p.mode)
	if front {
		if e := jd.j.keep(rec.Key, p.Path, p.Data, rec.Version, p.Version.Mode, true); note == nil {
			note = e
		}
	} else if e := jd.j.stand(rec.Key, p.Path, rec.Version); note == nil {
		note = e
	}
	if note != nil {
		p.Receipt.Notes = append(p.Receipt.Notes, "the file is put back, but that could not be recorded: "+bare(note).Error())
	}
	return p.Restoration, err
}
