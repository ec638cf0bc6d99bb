package presenter

import "strings"

// Paths are handled as text, by the rules of the session's folder: the rules
// of the machine that this runs on do not matter, and where the folder is a
// Windows one (C:\w, \\host\share\w) paths are Windows paths.

// absolute returns p as a client must see it: absolute, and clean in the
// lexical sense. A relative p is taken from cwd; if cwd is not absolute the
// result is not either. An empty p stays empty.
func absolute(cwd, p string) string {
	if p == "" {
		return ""
	}
	if isRooted(cwd) && volume(cwd) == "" {
		// On such a system C:\x is a file's name like any other.
		if strings.HasPrefix(p, "/") {
			return clean(p)
		}
		return clean(cwd + "/" + p)
	}
	vol, drive := volume(p), volume(cwd)
	switch {
	case isAbsolute(p) && (vol != "" || drive == ""):
		return clean(p)
	case isRooted(p): // from the top of the folder's drive
		return clean(drive + p)
	case vol != "" && !sameFold(vol, drive):
		// "D:a" is relative to a current folder of drive D that is not known.
		return clean(vol + `\` + p[len(vol):])
	case vol != "":
		return clean(cwd + `\` + p[len(vol):])
	case drive != "":
		return clean(cwd + `\` + p)
	case cwd == "":
		return clean(p)
	default:
		return clean(cwd + "/" + p)
	}
}

// isAbsolute reports whether p names a place by itself.
func isAbsolute(p string) bool {
	if v := volume(p); v != "" {
		return isRooted(p[len(v):])
	}
	return strings.HasPrefix(p, "/")
}

// relative returns p as seen from cwd, with the separators of p, and false
// unless both are absolute and p lies below cwd.
func relative(cwd, p string) (string, bool) {
	if !isAbsolute(cwd) || !isAbsolute(p) {
		return "", false
	}
	cwd, p = clean(cwd), clean(p)
	windows := volume(cwd) != ""
	if windows != (volume(p) != "") {
		return "", false
	}
	base := strings.TrimRight(cwd, separators(windows))
	if len(p) <= len(base) {
		return "", false
	}
	head, rest := p[:len(base)], p[len(base):]
	if head != base && !(windows && sameFold(head, base)) {
		return "", false
	}
	// Whole names only: /w/..cache is below /w, /words is not.
	if !strings.ContainsRune(separators(windows), rune(rest[0])) || len(rest) == 1 {
		return "", false
	}
	return rest[1:], true
}

// displayTitle shortens paths in a title: each of paths that lies below cwd is
// replaced by its clean relative form, wherever it occurs.
func displayTitle(title, cwd string, paths []string) string {
	// The longest path that matches at a place wins, so that /w/a does not
	// take the head off /w/a/b.
	for i := 0; i < len(title); {
		path, short := "", ""
		for _, p := range paths {
			if len(p) > len(path) && strings.HasPrefix(title[i:], p) {
				if rel, ok := relative(cwd, absolute(cwd, p)); ok {
					path, short = p, rel
				}
			}
		}
		if path == "" {
			i++
			continue
		}
		title = title[:i] + short + title[i+len(path):]
		i += len(short)
	}
	return title
}

// volume returns the drive ("C:") or share ("\\host\share") that a Windows
// path begins with, "" for every other path.
func volume(p string) string {
	if len(p) >= 2 && p[1] == ':' && isLetter(p[0]) {
		return p[:2]
	}
	if !strings.HasPrefix(p, `\\`) {
		return ""
	}
	// \\host\share; a name may not be empty.
	host := strings.IndexAny(p[2:], `\/`)
	if host <= 0 {
		return ""
	}
	share := p[2+host+1:]
	end := strings.IndexAny(share, `\/`)
	if end < 0 {
		end = len(share)
	}
	if end == 0 {
		return ""
	}
	return p[:2+host+1+end]
}

// clean removes empty and "." names and resolves ".." lexically. Links are
// not known here: what a tool opens is for the tool to say.
func clean(p string) string {
	vol := volume(p)
	windows := vol != ""
	rest := p[len(vol):]
	sep, rooted := "/", strings.HasPrefix(rest, "/")
	if windows {
		sep, rooted = `\`, isRooted(rest)
	}
	var names []string
	for _, name := range strings.FieldsFunc(rest, func(r rune) bool {
		return strings.ContainsRune(separators(windows), r)
	}) {
		switch {
		case name == ".":
		case name == ".." && len(names) > 0 && names[len(names)-1] != "..":
			names = names[:len(names)-1]
		case name == ".." && rooted:
		default:
			names = append(names, name)
		}
	}
	out := strings.Join(names, sep)
	if rooted {
		return vol + sep + out
	}
	if out == "" {
		out = "."
	}
	return vol + out
}

func separators(windows bool) string {
	if windows {
		return `\/`
	}
	return "/"
}

func isRooted(rest string) bool {
	return strings.HasPrefix(rest, `\`) || strings.HasPrefix(rest, "/")
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func sameFold(a, b string) bool { return a != "" && strings.EqualFold(a, b) }
