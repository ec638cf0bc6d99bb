package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"dsh-acp/internal/msg"
)

// The surface is the list of messages that the model sees. A message event
// joins its end with the operation "append", or with none. With {"op":"replace","start":S,
// "end":E} it takes the place of the messages whose seq lies in S…E, both
// included: so a summary can shadow what it sums up, and the log keeps both.

var appendOp = json.RawMessage(`"append"`)

// An Entry is a message of the surface.
type Entry struct {
	Seq int64 // of the event that brought it
	// Payload is a msg.UserMessage, msg.AssistantMessage or msg.ToolReturned.
	Payload msg.Payload
}

// History gives the messages that the model sees after events, in order.
// Events of unknown type are passed over if they are ignorable. It fails on a
// surface operation that it does not know, since then it would tell the model
// something else than was meant.
func History(events []msg.Event) ([]Entry, error) {
	payloads, err := Payloads(events)
	if err != nil {
		return nil, err
	}
	return Surface(events, payloads)
}

// Payloads decodes events, one for one, as [Session.Payloads] holds them. It
// fails on an event of unknown type that is not ignorable.
func Payloads(events []msg.Event) ([]msg.Payload, error) {
	out := make([]msg.Payload, len(events))
	for i, e := range events {
		var err error
		if out[i], err = decodeKnown(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Surface is [History] of events that were decoded already.
func Surface(events []msg.Event, payloads []msg.Payload) ([]Entry, error) {
	var out []Entry
	for i, e := range events {
		p := payloads[i]
		if p == nil || !msg.Surface(p) {
			continue
		}
		var err error
		if out, err = apply(out, e, p); err != nil {
			return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Type, err)
		}
	}
	return out, nil
}

func apply(surface []Entry, e msg.Event, p msg.Payload) ([]Entry, error) {
	entry := Entry{Seq: e.Seq, Payload: p}
	if !retold(e) {
		return append(surface, entry), nil
	}
	start, end, err := replaced(e)
	if err != nil {
		return nil, err
	}
	shadowed := func(x Entry) bool { return x.Seq >= start && x.Seq <= end }
	at := slices.IndexFunc(surface, shadowed)
	if at < 0 {
		return nil, fmt.Errorf("surfaceOp replaces the messages %d to %d, of which none is left", start, end)
	}
	surface[at] = entry
	rest := slices.DeleteFunc(surface[at+1:], shadowed)
	return surface[:at+1+len(rest)], nil
}

// Retold reports whether e is a message that stands for older ones.
func Retold(e msg.Event) bool { return retold(e) }

// Replace commits a message that takes the place of all messages whose events
// lie in from…to, both included. There must be one at least, or the log cannot
// be loaded again. It fails as [Log.Append] does.
func (l *Log) Replace(p msg.Payload, from, to int64) (msg.Event, error) {
	e, p, err := newEvent(p)
	if err != nil {
		return msg.Event{}, fmt.Errorf("session %s: %w", l.header.ID, err)
	}
	if !msg.Surface(p) {
		return msg.Event{}, fmt.Errorf("session %s: %s: only messages take the place of others", l.header.ID, e.Type)
	}
	e.SurfaceOp = fmt.Appendf(nil, `{"op":"replace","start":%d,"end":%d}`, from, to)
	if err := l.enter(); err != nil {
		return msg.Event{}, fmt.Errorf("session %s: %s: %w", l.header.ID, e.Type, err)
	}
	defer l.mu.Unlock()
	e.Seq, e.Time = l.order.next, l.opts.Now().UnixMilli()
	if _, _, err := replaced(e); err != nil {
		return msg.Event{}, fmt.Errorf("session %s: %w", l.header.ID, err)
	}
	return l.commit(e, p)
}

// retold reports whether e is a message that does not simply join the end.
func retold(e msg.Event) bool {
	return len(e.SurfaceOp) > 0 && !bytes.Equal(bytes.TrimSpace(e.SurfaceOp), appendOp)
}

func replaced(e msg.Event) (start, end int64, err error) {
	var op struct {
		Op    string `json:"op"`
		Start *int64 `json:"start"`
		End   *int64 `json:"end"`
	}
	if err := json.Unmarshal(e.SurfaceOp, &op); err != nil || op.Op != "replace" {
		return 0, 0, fmt.Errorf("unknown surfaceOp %.80s", e.SurfaceOp)
	}
	if op.Start == nil || op.End == nil || *op.Start < 0 || *op.End < *op.Start || *op.End >= e.Seq {
		return 0, 0, fmt.Errorf("surfaceOp %.80s: start and end must be numbers of earlier events, in order", e.SurfaceOp)
	}
	return *op.Start, *op.End, nil
}

// checkSurface holds what the envelope may say about the surface. p is nil
// for a type that is not known.
func checkSurface(e msg.Event, p msg.Payload) error {
	if p != nil && msg.Surface(p) {
		for _, s := range e.SourceSeqs {
			if s < 0 || s >= e.Seq {
				return fmt.Errorf("sourceEventSeqs names %d, which is no earlier event", s)
			}
		}
		return nil
	}
	if p != nil && (len(e.SurfaceOp) > 0 || len(e.SourceSeqs) > 0) {
		return errors.New("only messages have surfaceOp and sourceEventSeqs")
	}
	return nil
}

// decodeKnown decodes e; nil without error means that there is nothing to
// take from it: it carries no state, or is unknown and ignorable.
func decodeKnown(e msg.Event) (msg.Payload, error) {
	p, err := msg.Decode(e)
	var unknown *msg.UnknownTypeError
	if errors.As(err, &unknown) && e.Ignorable {
		return nil, nil
	}
	return p, err
}
