package agent

import (
	"context"
	"errors"

	"dsh-acp/internal/msg"
)

// ErrGivenUp says that a call went on after its turn had been cancelled and
// did not wait any longer.
var ErrGivenUp = errors.New("the turn did not wait for the call any longer")

// A stage is that of one running call.
type stage struct {
	turn  *turn
	batch *batch
	call  string
}

// do has the turn's goroutine do something while it waits for the call, and
// reports whether it did. Log, sink and approver belong to that goroutine.
func (s *stage) do(f func()) bool {
	a := act{do: f, done: make(chan struct{})}
	select {
	case s.batch.acts <- a:
		<-a.done
		return true
	case <-s.batch.left:
		return false
	}
}

func (s *stage) Delta(d msg.Delta) {
	s.do(func() { s.turn.s.cfg.Sink.Delta(d) })
}

func (s *stage) Record(p msg.Payload) error {
	err := ErrGivenUp
	s.do(func() { err = s.turn.add(p) })
	return err
}

// Approve asks as the turn itself would.
func (s *stage) Approve(ctx context.Context, use msg.ToolUse, n Need) (v Verdict, err error) {
	err = ErrGivenUp
	s.do(func() { v, err = s.turn.s.cfg.Approver.Approve(ctx, use, n) })
	return v, err
}
