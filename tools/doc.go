// Package tools holds the tools that a model is offered: what they are
// called, which arguments they take, what they do, and how their calls look.
// One file has one tool: it decodes, asks an engine, commits through
// [dsh-acp/fsbackend], and tells the model what came of it.
//
// The package refuses to guess. Arguments that are malformed, unknown or
// given twice are refused by name; a text that is not found is not searched
// for in a looser way; a file that another program changed is not overwritten.
// It knows no protocol and no turn: whether a call may run is decided elsewhere.
package tools
