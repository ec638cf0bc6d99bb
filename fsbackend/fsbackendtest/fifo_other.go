//go:build !unix

package fsbackendtest

import (
	"errors"
	"fmt"
)

func mkfifo(string) error { return fmt.Errorf("named pipe: %w", errors.ErrUnsupported) }
