// Package mcpserve offers the tools to hosts that speak the Model Context
// Protocol, over a stream of JSON lines.
//
// It refuses to choose a folder: that is told by its caller or by the client,
// and without either every call is an error that says so. It refuses to ask
// anybody for permission, which is the host's part, for which each tool tells
// what it may do; and to end the stream because of one bad line, or because a
// tool broke. It knows no settings and opens no files: its caller makes the
// tools for the folders that it is told.
package mcpserve
