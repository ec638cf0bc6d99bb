package guard

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
)

// A Style is how a system writes and compares paths. The zero Style is that of
// Unix: slashes, and case counts. It is a parameter and not taken from the
// machine, so that every system's rules can be tried on every other.
type Style struct {
	Windows bool // drives, shares, both slashes
	Fold    bool // names that differ in case alone are one file
}

// A place is an absolute path in two forms.
type place struct {
	path string // clean, for people and for the file system
	// key is for comparing: the volume, then "/" and a name for each part, no
	// slash at the end, case taken out if the style folds. Hence "is or lies
	// below" is a comparison of whole parts.
	key string
}

// within reports whether a key is root or lies below it.
func within(root, key string) bool {
	return strings.HasPrefix(key, root) && (len(key) == len(root) || key[len(root)] == '/')
}

// find returns the entry of a set of keys that is the key or lies above it.
func find(set map[string]string, key string) (entry string, ok bool) {
	if len(set) == 0 {
		return "", false
	}
	for {
		if entry, ok = set[key]; ok {
			return entry, true
		}
		i := strings.LastIndexByte(key, '/')
		if i < 0 {
			return "", false
		}
		key = key[:i]
	}
}

// The reasons for which a path names no place.
var (
	errEmpty    = errors.New("the path is empty")
	errZero     = errors.New("the path holds a zero byte")
	errRelative = errors.New("the path is relative, and there is no root to take it from")
	errDevice   = errors.New("it names a device, not a file of a folder")
	errDrive    = errors.New("it is relative to the current folder of a drive; write a backslash after the colon")
	errShare    = errors.New(`a network path needs a server and a share, as in \\server\share\file`)
	errVerbatim = errors.New(`after \\?\ every part is taken as it stands, so there can be no ".", ".." or slash`)
	errStream   = errors.New("a colon in a name opens another stream of the file; name the file alone")
	errDots     = errors.New("a name of dots and blanks alone is none")
)

// place makes a path absolute, by the base if it is relative, and clean. No
// disk is touched: ".." takes away the part before it, whatever that is.
func (s Style) place(base, p string) (place, error) {
	switch {
	case strings.TrimSpace(p) == "":
		return place{}, errEmpty
	case strings.ContainsRune(p, 0):
		return place{}, errZero
	}
	if s.Windows {
		return s.windows(base, p)
	}
	if !strings.HasPrefix(p, "/") {
		if base == "" {
			return place{}, errRelative
		}
		p = base + "/" + p
	}
	p = path.Clean(p)
	return place{path: p, key: s.fold(strings.TrimSuffix(p, "/"))}, nil
}

// windows is place for Windows.
func (s Style) windows(base, p string) (place, error) {
	v, err := splitVolume(p)
	if err != nil {
		return place{}, err
	}
	parts := split(v.rest)
	switch {
	case v.verbatim:
		if strings.Contains(v.rest, "/") || containsDots(parts) {
			return place{}, errVerbatim
		}
	case v.name == "":
		if base == "" {
			return place{}, errRelative
		}
		b, err := splitVolume(base)
		if err != nil {
			return place{}, err
		}
		v.name = b.name
		if !v.rooted {
			parts = append(split(b.rest), parts...)
		}
	}
	shown, keys := []string{v.name}, []string{strings.ReplaceAll(v.name, `\`, "/")}
	for _, name := range parts {
		switch name {
		case ".":
			continue
		case "..":
			n := max(1, len(shown)-1)
			shown, keys = shown[:n], keys[:n]
			continue
		}
		if err := checkName(name); err != nil {
			return place{}, fmt.Errorf("%q: %w", name, err)
		}
		shown = append(shown, name)
		keys = append(keys, plain(name))
	}
	out := place{path: strings.Join(shown, `\`), key: strings.Join(keys, "/")}
	if len(shown) == 1 {
		out.path += `\`
	}
	// The name of a volume folds whatever the style says.
	n := len(keys[0])
	out.key = Style{Fold: true}.fold(out.key[:n]) + s.fold(out.key[n:])
	return out, nil
}

// A volume is the head of a path of Windows.
type volume struct {
	name     string // `C:` or `\\server\share`; "" if the path has none
	rest     string
	rooted   bool // the rest begins at the top of its volume
	verbatim bool // the rest is taken as it stands
}

func splitVolume(p string) (volume, error) {
	b := strings.ReplaceAll(p, "/", `\`)
	switch {
	case strings.HasPrefix(b, `\\.\`), strings.HasPrefix(b, `\??\`):
		return volume{}, errDevice
	case strings.HasPrefix(b, `\\?\`):
		rest := p[4:]
		if len(rest) >= 4 && strings.EqualFold(b[4:8], `UNC\`) {
			v, err := splitShare(rest[4:])
			v.verbatim = true
			return v, err
		}
		if v, ok := splitDrive(rest); ok && v.rooted {
			v.verbatim = true
			return v, nil
		}
		return volume{}, errDevice
	case strings.HasPrefix(b, `\\`):
		return splitShare(p[2:])
	case strings.HasPrefix(b, `\`):
		return volume{rest: p[1:], rooted: true}, nil
	}
	v, ok := splitDrive(p)
	if ok && !v.rooted {
		return volume{}, errDrive
	}
	if ok {
		return v, nil
	}
	return volume{rest: p}, nil
}

// splitDrive takes a drive's letter off, in one spelling.
func splitDrive(p string) (volume, bool) {
	if len(p) < 2 || p[1] != ':' || !isLetter(p[0]) {
		return volume{}, false
	}
	v := volume{name: strings.ToUpper(p[:2]), rest: p[2:]}
	if v.rest != "" && isSlash(v.rest[0]) {
		v.rest, v.rooted = v.rest[1:], true
	}
	return v, true
}

// splitShare takes a server and a share off.
func splitShare(p string) (volume, error) {
	server, rest, _ := cutSlash(p)
	share, rest, _ := cutSlash(rest)
	for _, name := range []string{server, share} {
		if name == "" || name == "." || name == ".." || name == "?" || strings.Contains(name, ":") {
			return volume{}, errShare
		}
	}
	return volume{name: `\\` + server + `\` + share, rest: rest, rooted: true}, nil
}

func cutSlash(p string) (before, after string, found bool) {
	if i := strings.IndexAny(p, `\/`); i >= 0 {
		return p[:i], p[i+1:], true
	}
	return p, "", false
}

func isSlash(c byte) bool  { return c == '\\' || c == '/' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// split cuts at both slashes, and drops empty parts.
func split(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '\\' || r == '/' })
}

func containsDots(parts []string) bool {
	for _, p := range parts {
		if p == "." || p == ".." {
			return true
		}
	}
	return false
}

// plain takes off what Windows does not see at the end of a name: "secret. "
// opens the file "secret".
func plain(name string) string { return strings.TrimRight(name, ". ") }

// devices are names that mean a device in every folder, whatever extension
// they have.
var devices = map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true, "CONIN$": true, "CONOUT$": true}

// checkName refuses names of Windows that lead past a comparison of names.
func checkName(name string) error {
	if strings.Contains(name, ":") {
		return errStream
	}
	bare := plain(name)
	if bare == "" {
		return errDots
	}
	stem, _, _ := strings.Cut(strings.ToUpper(bare), ".")
	stem = strings.TrimRight(stem, " ")
	port, isPort := strings.CutPrefix(stem, "COM")
	if !isPort {
		port, isPort = strings.CutPrefix(stem, "LPT")
	}
	if devices[stem] || isPort && len([]rune(port)) == 1 && strings.ContainsAny(port, "123456789¹²³") {
		return errDevice
	}
	return nil
}

// fold takes the case out of a text, if the style says so: each letter becomes
// the least of those that are the same without case. Names that differ in
// their Unicode form alone stay different here; for files that exist the file
// system has the last word.
func (s Style) fold(p string) string {
	if !s.Fold {
		return p
	}
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, p)
}
