// Package search finds files by name and lines by content below one folder:
// walking in parallel, ignore rules, name filters, and matching with Go's
// regular expressions behind a search for the literals that they need.
//
// It never leaves the folder that it is given: it walks by names in open
// folders and follows no link, so that what another program swaps in meanwhile
// is not followed either. It refuses to decide what may be looked at (the
// caller's Allow does), to run another program (ripgrep is not faster here, has
// another syntax, and knows nothing of Allow), to read a repository's settings beyond its ignore
// files (a user's global ones would make results differ between machines), to
// guess the encoding of a file (one with a NUL byte is binary and passed over),
// and to keep more than it was asked for: what is left out is counted.
package search
