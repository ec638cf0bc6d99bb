//go:build !linux && !darwin

package fsbackend

import (
	"errors"
	"os"
)

// renameNew: there is no such call here, a hard link does it.
func renameNew(*os.Root, string, string) error { return errors.ErrUnsupported }
