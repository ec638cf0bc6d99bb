package modelserver

import "sync"

// A Script gives its answers in order, one for each conversation request. It
// is safe for concurrent use.
type Script struct {
	mu      sync.Mutex
	answers []Answer // guarded by mu; what is left
	given   int      // guarded by mu; how often the first answer of the list was given
	used    int      // guarded by mu; answers that are through
}

// NewScript makes a script of answers.
func NewScript(answers ...Answer) *Script { return &Script{answers: answers} }

// EndText is what a [Script] says when it is used up, so that a client that
// asks too often shows it.
const EndText = "The script has no further answer."

// Next is a handler for [Start]. A [Failure] is given Repeat times.
func (s *Script) Next(Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return Message{Blocks: []Block{Text{Text: EndText}}}
	}
	a := s.answers[0]
	s.given++
	if f, ok := a.(Failure); !ok || s.given >= f.Repeat {
		s.drop()
	}
	return a
}

// NewPrompt tells the script that the next prompt begins: what is left of a
// [Failure] that was given at least once is dropped.
func (s *Script) NewPrompt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.given > 0 {
		s.drop()
	}
}

// Used returns the number of answers that were given to their end.
func (s *Script) Used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Left returns the number of answers that were not given yet.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answers)
}

func (s *Script) drop() {
	s.answers, s.given = s.answers[1:], 0
	s.used++
}
