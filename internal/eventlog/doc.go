// Package eventlog keeps a session as an append-only file of JSON lines.
//
// # Format
//
// A session is the file <id>.jsonl in the state folder. Its first line is the
// [Header], each further line one [msg.Event], in UTF-8, ended by a line feed.
// Event n has seq n. There is no limit to the length of a line.
//
// # Life
//
//   - [Create] makes the file with its header; [Open] continues it. Both hold a
//     lock (<id>.lock) until [Log.Close], so that one process writes at a time.
//   - [Log.Append] checks the data, writes the record with one write, and
//     returns. A record is in the file before anyone is shown it. [Log.Sync]
//     makes it survive a power cut.
//   - [Read] gives header and events without lock and without repair.
//
// # Ends and damage
//
// A log ends in one of three ways, which are kept apart:
//
//   - clean: the last record is whole (only its line feed may be missing);
//   - torn: the last record is not, since the process or the machine died while
//     writing it. Read leaves it out and tells; Open keeps a copy beside the
//     log (<id>.jsonl.torn-<n>), then cuts it off, so that the next record
//     cannot run into it;
//   - damaged: some other line is unreadable or breaks the order of events.
//     Then nothing is loaded and nothing is changed; [DamageError] names the line.
//
// A turn that a crash left open is closed with made-up results ([Closers]):
// in memory for a reader, in the file by [Log.Resume].
//
// The package refuses to rewrite or drop a whole record, to repair what it
// was not asked to open, to store values that do not survive JSON, and to
// know what any tool means.
package eventlog
