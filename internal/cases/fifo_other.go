//go:build !unix

package cases

import "errors"

func makeFIFO(string) error { return errors.New("this system has no named pipes in folders") }
