package acp

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"dsh-acp/internal/msg"
)

// Limits of the outbox.
const (
	// roomBytes is how much may wait for a slow client before a turn waits too.
	roomBytes = 8 << 20
	// mergeFrom is the number of waiting messages from which on text is
	// merged. A client that keeps up gets the model's own pieces, one by one;
	// one that lags gets the same text in fewer messages.
	mergeFrom = 256
)

// An outbox is the one way out to the client: whole lines, in the order in
// which they were put in, one write each, by one goroutine. It never blocks
// those who must not wait (the read loop), and makes turns wait when the
// client does not read.
type outbox struct {
	w io.Writer

	mu      sync.Mutex
	cond    *sync.Cond // any change below
	queue   []frame    // guarded by mu
	bytes   int        // of queue; guarded by mu
	writing bool       // guarded by mu
	closed  bool       // guarded by mu
	err     error      // of the first failed write; guarded by mu
	broken  func(error)
	done    chan struct{} // closed when the writer has ended
}

// A frame is one message: a finished line, or text that may still grow.
type frame struct {
	line []byte
	text *textChunk
}

// A textChunk is a text message that has not been written yet.
type textChunk struct {
	session string
	kind    string // the sessionUpdate
	message string // the messageId, "" for none
	text    []byte
}

func (f frame) size() int {
	if f.text != nil {
		return len(f.text.text) + 200
	}
	return len(f.line)
}

// newOutbox starts the writer. broken is called once, from its goroutine,
// when a write fails; what is put in after that is dropped.
func newOutbox(w io.Writer, broken func(error)) *outbox {
	o := &outbox{w: w, broken: broken, done: make(chan struct{})}
	o.cond = sync.NewCond(&o.mu)
	go o.run()
	return o
}

// put adds a finished line, which must end in a line break, without waiting.
func (o *outbox) put(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(frame{line: line})
}

// putWait adds a line when there is room. It stops waiting for room when ctx
// ends: the last messages of a cancelled turn must get out.
func (o *outbox) putWait(ctx context.Context, line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waitForRoom(ctx)
	o.add(frame{line: line})
}

// putText is putWait for a piece of text. It joins the piece to the last
// waiting message if that is text of the same kind and message and the client
// lags; it never holds one back.
func (o *outbox) putText(ctx context.Context, c textChunk) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.queue); n >= mergeFrom {
		if last := o.queue[n-1].text; last != nil && last.session == c.session && last.kind == c.kind && last.message == c.message {
			last.text = append(last.text, c.text...)
			o.bytes += len(c.text)
			o.waitForRoom(ctx)
			return
		}
	}
	o.waitForRoom(ctx)
	o.add(frame{text: &c})
}

// waitForRoom is called with mu held.
func (o *outbox) waitForRoom(ctx context.Context) {
	if o.bytes < roomBytes || ctx.Err() != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.cond.Broadcast()
	})
	defer stop()
	for o.bytes >= roomBytes && ctx.Err() == nil && o.err == nil && !o.closed {
		o.cond.Wait()
	}
}

// add is called with mu held.
func (o *outbox) add(f frame) {
	if o.closed || o.err != nil {
		return
	}
	o.queue = append(o.queue, f)
	o.bytes += f.size()
	o.cond.Broadcast()
}

func (o *outbox) run() {
	defer close(o.done)
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for len(o.queue) == 0 && !o.closed {
			o.cond.Wait()
		}
		if len(o.queue) == 0 {
			return
		}
		f := o.queue[0]
		o.queue[0] = frame{}
		o.queue = o.queue[1:]
		o.writing = true
		o.mu.Unlock()
		line := f.line
		if f.text != nil {
			line = f.text.line()
		}
		_, err := o.w.Write(line)
		o.mu.Lock()
		o.writing = false
		o.bytes -= f.size()
		if err != nil && o.err == nil {
			o.err = err
			o.queue, o.bytes = nil, 0
			o.mu.Unlock()
			o.broken(err)
			o.mu.Lock()
		}
		o.cond.Broadcast()
	}
}

// flush waits until all that was put in is written, or ctx ends.
func (o *outbox) flush(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.cond.Broadcast()
	})
	defer stop()
	for (len(o.queue) > 0 || o.writing) && o.err == nil && ctx.Err() == nil {
		o.cond.Wait()
	}
}

// failure returns the error of the first failed write, or nil.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// close ends the writer after what is queued. It does not wait.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.cond.Broadcast()
}

// line draws the chunk as a whole session/update.
func (c *textChunk) line() []byte {
	text, err := msg.Marshal(string(c.text))
	if err != nil {
		panic("acp: a string that has no JSON: " + err.Error())
	}
	line := make([]byte, 0, len(text)+256)
	line = append(line, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":`...)
	line = appendString(line, c.session)
	line = append(line, `,"update":{"sessionUpdate":`...)
	line = appendString(line, c.kind)
	line = append(line, `,"content":{"type":"text","text":`...)
	line = append(line, text...)
	line = append(line, '}')
	if c.message != "" {
		line = append(line, `,"messageId":`...)
		line = appendString(line, c.message)
	}
	return append(line, "}}}\n"...)
}

func appendString(b []byte, s string) []byte {
	q, err := msg.Marshal(s)
	if err != nil {
		panic("acp: a string that has no JSON: " + err.Error())
	}
	return append(b, q...)
}

// notification draws a notification as a line. params must be compact JSON.
func notification(method string, params json.RawMessage) []byte {
	line := make([]byte, 0, len(params)+len(method)+48)
	line = append(line, `{"jsonrpc":"2.0","method":`...)
	line = appendString(line, method)
	line = append(line, `,"params":`...)
	line = append(line, params...)
	return append(line, "}\n"...)
}
