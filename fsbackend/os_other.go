//go:build !unix

package fsbackend

import (
	"io/fs"
	"os"
)

// openFlags: opening never waits here.
const openFlags = 0

// linksOf is 1: the information that comes with a file here has no count.
func linksOf(fs.FileInfo) int { return 1 }

// mayWrite: the read-only mark has been checked; the rename meets the rest.
func mayWrite(*os.Root, string) error { return nil }

// keepOwner: a new file belongs to who makes it and takes the access list of
// its folder, as when an editor saves.
func keepOwner(*os.File, fs.FileInfo, fs.FileInfo) bool { return true }

// syncDir: folders cannot be synced here; the journal of the file system
// orders the rename.
func syncDir(*os.Root) error { return nil }
