package patch

import "dsh-acp/internal/jsonedit"

// Limits bound a call. Zero fields mean the defaults.
type Limits struct {
	Operations int // a call; 200
	Files      int // a call; 64
	FileSize   int // bytes of a file that is edited; 8 MiB
	NewBytes   int // that a call may add, over all files; 32 MiB
	Search     int // bytes of search and oldText; 1 MiB
	Expect     int // 10,000
	Depth      int // of JSON; 512
	Tokens     int // of a pointer; 128
	Candidates int // lines in one error; 20
}

// DefaultLimits are the limits where nothing else is set.
var DefaultLimits = Limits{
	Operations: 200,
	Files:      64,
	FileSize:   8 << 20,
	NewBytes:   32 << 20,
	Search:     1 << 20,
	Expect:     10_000,
	Depth:      jsonedit.DefaultDepth,
	Tokens:     jsonedit.DefaultTokens,
	Candidates: 20,
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	for _, p := range []struct{ to, from *int }{
		{&l.Operations, &d.Operations}, {&l.Files, &d.Files}, {&l.FileSize, &d.FileSize},
		{&l.NewBytes, &d.NewBytes}, {&l.Search, &d.Search}, {&l.Expect, &d.Expect},
		{&l.Depth, &d.Depth}, {&l.Tokens, &d.Tokens}, {&l.Candidates, &d.Candidates},
	} {
		if *p.to == 0 {
			*p.to = *p.from
		}
	}
	return l
}

func (l Limits) json() jsonedit.Limits { return jsonedit.Limits{Depth: l.Depth, Tokens: l.Tokens} }
