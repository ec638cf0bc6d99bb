package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"dsh-acp/internal/model"
)

// An Idle watches one request and ends it when nothing at all has arrived for
// a while. Every byte counts as life, a ping's too.
type Idle struct {
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

type silence struct{ limit time.Duration }

func (s silence) Error() string {
	return fmt.Sprintf("the model service sent nothing for %s", s.limit)
}

// WatchIdle starts the watch. The request must run under the context that is
// returned; Stop must be called when it is over. A limit of 0 means
// DefaultIdle, one below 0 no limit.
func WatchIdle(ctx context.Context, limit time.Duration) (context.Context, *Idle) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Idle{limit: limit, cancel: cancel}
	if w.limit == 0 {
		w.limit = DefaultIdle
	}
	if w.limit > 0 {
		w.timer = time.AfterFunc(w.limit, func() { cancel(silence{w.limit}) })
	}
	return ctx, w
}

// Stop ends the watch and the request with it.
func (w *Idle) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
}

// Middleware has the shape that both SDKs want: it passes the request on and
// watches the body of the answer.
func (w *Idle) Middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(req)
	if err == nil && res != nil && res.Body != nil {
		w.alive()
		res.Body = &watched{ReadCloser: res.Body, w: w}
	}
	return res, err
}

func (w *Idle) alive() {
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

type watched struct {
	io.ReadCloser
	w *Idle
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.w.alive()
	}
	return n, err
}

// Silent returns the error of a request that the watch has ended, or nil if
// it ended for another reason.
func Silent(ctx context.Context) *model.Error {
	s, ok := context.Cause(ctx).(silence)
	if !ok {
		return nil
	}
	return &model.Error{Kind: model.KindStream, Text: s.Error() + "; the answer was given up", Err: s}
}
