// Package conformance measures an ACP agent against recordings of another
// one. A scenario says what a client and a scripted model do; its trace says
// what the recorded agent sent. [Run] plays the scenarios against an agent
// and tells, call by call, where it differs; [Record] makes such traces.
//
// The runner knows no agent: what an agent needs to be started and fed is an
// [Adapter]. Differences that are accepted stand in one table, [Rules], each
// with its reason. The package never contacts a real model service, and it
// changes no file outside of the folders that it makes and the ones it is
// told to write.
package conformance
