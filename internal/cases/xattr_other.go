//go:build !linux

package cases

import "errors"

// setXattr: cases set attributes with a program that only Linux has.
func setXattr(string) error { return errors.New("not on this system") }
