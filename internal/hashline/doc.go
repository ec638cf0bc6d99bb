// Package hashline is an edit language of line numbers under a content tag,
// and the engine that carries its edits out on text values.
//
// A reader is shown numbered lines below a header, "¶path#TAG". It answers
// with ops such as "replace 3..4:" whose numbers always mean the text of that
// tag. When the file is another text by now, the engine pairs the lines of
// both and moves the edit, or refuses.
//
// The package refuses to guess. It reads and writes no files, keeps no
// history (the caller gives it as [Versions]), never bends a number into
// range, never unescapes or re-indents what is to be written, and never moves
// an edit when its lines could be paired in more than one way. A refused call
// has no partial result.
package hashline
