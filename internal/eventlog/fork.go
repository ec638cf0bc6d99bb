package eventlog

import (
	"errors"
	"fmt"

	"dsh-acp/internal/msg"
)

// Fork begins a session with the events that the session id holds now, and
// marks where they end. The other one is not changed, and may be open. Of h
// only ID, CreatedAt and Cwd count, as for [Create]. A turn that runs in the
// other one is open in the new one until [Log.Resume]. It fails like [Read],
// and like Create.
func Fork(dir, id string, h Header, opts Options) (*Log, Session, error) {
	from, err := Read(dir, id)
	if err != nil {
		return nil, Session{}, err
	}
	inherited := int64(len(from.Events))
	l, err := Create(dir, Header{
		ID: h.ID, CreatedAt: h.CreatedAt, Cwd: h.Cwd,
		ParentSession: id, SeedLength: &inherited, DelegationDepth: from.Header.DelegationDepth,
	}, opts)
	if err != nil {
		return nil, Session{}, err
	}
	s, err := l.seed(from)
	if err == nil {
		err = l.Sync()
	}
	if err != nil {
		// No half of a past must be found later.
		return nil, Session{}, errors.Join(fmt.Errorf("session %s: fork of %s: %w", l.header.ID, id, err), l.Close(), Delete(dir, l.header.ID))
	}
	return l, s, nil
}

// seed records inherited events as they are, with their times.
func (l *Log) seed(from Session) (Session, error) {
	if err := l.enter(); err != nil {
		return Session{}, err
	}
	defer l.mu.Unlock()
	var all []byte
	for _, e := range from.Events {
		if _, err := l.order.follow(e); err != nil {
			return Session{}, err
		}
		all = append(all, encodeRecord(e)...)
	}
	if err := l.write(all); err != nil {
		return Session{}, err
	}
	e, p, err := newEvent(msg.EndSeed{})
	if err != nil {
		return Session{}, err
	}
	e.Time = l.opts.Now().UnixMilli()
	if e, err = l.commit(e, p); err != nil {
		return Session{}, err
	}
	return Session{Header: l.header, Events: append(from.Events, e), Payloads: append(from.Payloads, p)}, nil
}
