// Package cases runs the bank of reported faults: small files that say what a
// tool is called with and what it must leave behind. Cases about tools run in
// this process, against the tools themselves on a real folder; cases about
// the protocol and the session log drive the built program over its standard
// input, with a scripted model behind it.
//
// The package knows the form of a case and never a case: nothing in it
// depends on an id, and a member that it does not know fails the case rather
// than being passed over.
package cases
