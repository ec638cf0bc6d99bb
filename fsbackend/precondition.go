package fsbackend

import "fmt"

// admit checks all of a write's demands that need no look at the content. It
// is one for every backend, and so are its words.
func admit(w Write, r resolved) error {
	const op = "write"
	if r.info == nil {
		switch _, guarded := w.Pre.(Unchanged); {
		case r.file != "":
			return fail(op, w.Path, CodeNotDirectory, r.file+" is a file, so nothing can be written below it", "use another path")
		case guarded:
			return goneStale(op, w.Path)
		case w.NoParents && len(r.missing) > 0:
			return fail(op, w.Path, CodeNotFound, "its folder "+r.missing[len(r.missing)-1]+" does not exist; nothing was written",
				"make the folder first, or ask for missing folders to be made")
		}
		return nil
	}
	if err := regular(op, w.Path, r.info); err != nil {
		return err
	}
	if _, ok := w.Pre.(Absent); ok {
		return notObserved(w.Path)
	}
	// For everybody, the superuser too: who took the w away meant it. A rename
	// would not even notice.
	if perm := r.info.Mode().Perm(); perm&0o222 == 0 {
		return fail(op, w.Path, CodePermission, fmt.Sprintf("the file is marked read-only (mode %04o); nothing was written", perm),
			"leave it, or ask the user to make it writable")
	}
	return nil
}

// notObserved is the error of a file where none was expected.
func notObserved(path string) error {
	return fail("write", path, CodeNotObserved, "there is a file already that was not seen before; nothing was written", "read it first, then write again")
}

// changed is the error of a file with another content than demanded.
func changed(op, path string, now Version) error {
	return fail(op, path, CodeStaleVersion,
		fmt.Sprintf("the file has changed since it was read (its SHA-256 now begins with %x); nothing was written", now[:4]),
		"read it again and redo the change on its new text")
}

// goneStale is the error of a file that is gone although it was demanded.
func goneStale(op, path string) error {
	return fail(op, path, CodeStaleVersion, "the file is gone, it was there when it was read; nothing was written", "look again and decide anew")
}

// partedNote tells that a file with n names is one with n-1 from now on.
func partedNote(n int) string {
	verb := "keep"
	if n == 2 {
		verb = "keeps"
	}
	return fmt.Sprintf("%s of this file (hard links) %s the old text", plural(n-1, "other name"), verb)
}

// plural is "1 other name" or "2 other names".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
