// Package arch holds the arrows between the packages of this module: which
// may import which, and which library belongs where. It has tests only.
package arch
