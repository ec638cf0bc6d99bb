package hashline

import "dsh-acp/internal/text"

// Versions are the texts of one file that a session showed or wrote. The
// engine does not change them, and asks within a call only.
type Versions interface {
	// Named returns the recorded versions that the tag may mean, those that
	// were recorded last first.
	Named(t Tag) []Version
	// Newest returns the version that was recorded last; false if there is
	// none.
	Newest() (Version, bool)
}

// A Version is one recorded text of a file.
type Version struct {
	ID   ID
	Text text.Doc
	// Shown is the tag under which the text was shown; see [NameFor]. The zero
	// Tag stands for the short one.
	Shown Tag
	// Seen are the lines that were shown under the tag; nil means that nobody
	// took note.
	Seen Ranges
}

func (v Version) shown() Tag {
	if v.Shown == (Tag{}) {
		return v.ID.Short()
	}
	return v.Shown
}

// NameFor returns the tag to show for a text: the one it was shown under
// before, otherwise the short one, or the long one when another version of the
// file has the short one. vs may be nil.
func NameFor(id ID, vs Versions) Tag {
	if vs == nil {
		return id.Short()
	}
	name := id.Short()
	for _, v := range vs.Named(id.Short()) {
		if v.ID == id {
			return v.shown()
		}
		name = id.Long()
	}
	return name
}

// named finds the version that a tag means. The tag under which a version was
// shown goes before one that fits its hash; several that remain are returned
// as clash.
func named(t Tag, vs Versions) (v Version, known, clash bool) {
	if vs == nil {
		return Version{}, false, false
	}
	exact := false
	for _, w := range vs.Named(t) {
		if !t.Names(w.ID) {
			continue
		}
		is := w.shown() == t
		switch {
		case !known || is && !exact:
			v, known, clash, exact = w, true, false, is
		case is == exact && w.ID != v.ID:
			clash = true
		}
	}
	return v, known, clash
}
