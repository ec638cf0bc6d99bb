// Package shell runs commands for a session: each in a process group of its
// own, in the session's folder, without input, and with as much of its output
// kept as a reader has use for. It also says what a command does as far as its
// text tells; see [Analyse].
//
// It refuses to leave processes behind: what a command started ends with it,
// background commands end with the session, and a cancelled command is killed
// with all that it started. It gives a command no terminal, no input and no
// open file of this process, and it takes an exit code for an outcome, not for
// an error. What a command does on purpose to outlive its caller (a daemon
// that leaves its session) is ended on Linux while the command runs, and
// nowhere else.
//
// On Windows commands run in a job object, by the bash of Git for Windows;
// a child that the shell starts in the moment before it is in the job escapes.
package shell
