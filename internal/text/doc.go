// Package text holds a file's text as a value: its byte order mark, its lines
// with their own terminators, and edits by byte offset that leave every other
// byte as it was. It refuses what is not UTF-8 text; it never converts.
package text
