package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"dsh-acp/internal/msg"
)

// Append commits one event: its data is checked and copied, it gets its seq
// and time, its record is written with one write, and then the observers are
// notified. After an error nothing was recorded. It fails with a
// [*msg.ValueError] for data that would not survive, with an error that says
// what is out of order, with the error of the disk, and with [ErrBroken],
// [ErrClosed] and [ErrReentrant].
func (l *Log) Append(p msg.Payload) (msg.Event, error) {
	e, p, err := newEvent(p)
	if err != nil {
		return msg.Event{}, fmt.Errorf("session %s: %w", l.header.ID, err)
	}
	if err := l.enter(); err != nil {
		return msg.Event{}, fmt.Errorf("session %s: %s: %w", l.header.ID, e.Type, err)
	}
	defer l.mu.Unlock()
	e.Time = l.opts.Now().UnixMilli()
	return l.commit(e, p)
}

// AppendRaw is Append for an event that came from elsewhere, such as one of a
// type or with a surface operation that this version only passes on. Type,
// Data, Ignorable, SourceSeqs and SurfaceOp are taken over, seq and time are
// given anew. A message without SurfaceOp gets "append". An unknown type must
// be ignorable, else this log could not be loaded again.
func (l *Log) AppendRaw(e msg.Event) (msg.Event, error) {
	e, p, err := admit(e)
	if err != nil {
		return msg.Event{}, fmt.Errorf("session %s: %s: %w", l.header.ID, e.Type, err)
	}
	if err := l.enter(); err != nil {
		return msg.Event{}, fmt.Errorf("session %s: %s: %w", l.header.ID, e.Type, err)
	}
	defer l.mu.Unlock()
	e.Time = l.opts.Now().UnixMilli()
	return l.commit(e, p)
}

// admit checks the JSON of a raw event and copies it; it gives the payload too.
func admit(e msg.Event) (msg.Event, msg.Payload, error) {
	if err := checkRawPart(&e.Data, "data"); err != nil {
		return e, nil, err
	}
	if !isObject(e.Data) {
		return e, nil, errors.New("data is not an object")
	}
	if err := checkTypeName(e.Type); err != nil {
		return e, nil, err
	}
	p, err := decodeKnown(e)
	if err != nil {
		return e, nil, err
	}
	e.SourceSeqs = append([]int64(nil), e.SourceSeqs...)
	if len(e.SurfaceOp) == 0 {
		if p != nil && msg.Surface(p) {
			e.SurfaceOp = bytes.Clone(appendOp)
		}
		return e, p, nil
	}
	return e, p, checkRawPart(&e.SurfaceOp, "surfaceOp")
}

func checkTypeName(name string) error {
	if name == "" {
		return errors.New("an event needs a type")
	}
	return msg.Admissible(name)
}

func checkRawPart(raw *json.RawMessage, name string) error {
	text, err := msg.Compact(*raw, dataDepth)
	var bad *msg.ValueError
	if errors.As(err, &bad) {
		bad.Path = "/" + name + bad.Path
	}
	*raw = text
	return err
}

// commit records e, whose time is set and whose payload is p (nil if its type
// is not known). The caller holds the mutex.
func (l *Log) commit(e msg.Event, p msg.Payload) (msg.Event, error) {
	e.Seq = l.order.next
	fail := func(err error) (msg.Event, error) {
		return msg.Event{}, fmt.Errorf("session %s: event %d (%s): %w", l.header.ID, e.Seq, e.Type, err)
	}
	if l.broken != nil {
		return fail(l.broken)
	}
	if err := checkSurface(e, p); err != nil {
		return fail(err)
	}
	if err := l.order.check(p, retold(e)); err != nil {
		return fail(err)
	}
	if err := l.write(encodeRecord(e)); err != nil {
		return fail(err)
	}
	l.order.take(e, p)
	l.notify(e)
	return e, nil
}

// Resume records what closes a turn that a crash left open, at the time of
// the last real event, and returns these events; none if no turn is open.
// Call it before the first turn after [Open]. After an error the events that
// are returned were recorded, and Resume can be called again.
func (l *Log) Resume() ([]msg.Event, error) {
	if err := l.enter(); err != nil {
		return nil, fmt.Errorf("session %s: resume: %w", l.header.ID, err)
	}
	defer l.mu.Unlock()
	at := l.order.last
	var out []msg.Event
	for _, p := range l.order.closers() {
		e, p, err := newEvent(p)
		if err != nil {
			return out, err
		}
		e.Time = at
		if e, err = l.commit(e, p); err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, nil
}
