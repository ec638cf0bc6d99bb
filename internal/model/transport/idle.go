package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"dsh-acp/internal/model"
)

// Limits bound one request.
type Limits struct {
	Idle  time.Duration // of silence; 0 means DefaultIdle, below 0 no limit
	Total time.Duration // from start to end; 0 or below no limit
}

// An Idle watches one request and ends it when nothing at all has arrived for
// a while, or when it lasts too long. Every byte counts as life, a ping's too.
type Idle struct {
	limit  time.Duration
	timer  *time.Timer // nil: no limit of silence
	total  *time.Timer // nil: no limit in all
	cancel context.CancelCauseFunc
}

// given is the cause of a request that the watch has ended.
type given string

func (g given) Error() string { return string(g) }

// Watch starts the watch. The request must run under the context that is
// returned; Stop must be called when it is over.
func Watch(ctx context.Context, l Limits) (context.Context, *Idle) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Idle{limit: l.Idle, cancel: cancel}
	if w.limit == 0 {
		w.limit = DefaultIdle
	}
	if w.limit > 0 {
		cause := given(fmt.Sprintf("the model service sent nothing for %s", w.limit))
		w.timer = time.AfterFunc(w.limit, func() { cancel(cause) })
	}
	if l.Total > 0 {
		cause := given(fmt.Sprintf("the request took more than %s", l.Total))
		w.total = time.AfterFunc(l.Total, func() { cancel(cause) })
	}
	return ctx, w
}

// Stop ends the watch and the request with it.
func (w *Idle) Stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.total != nil {
		w.total.Stop()
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

// GivenUp returns the error of a request that the watch has ended, or nil if
// it ended for another reason.
func GivenUp(ctx context.Context) *model.Error {
	g, ok := context.Cause(ctx).(given)
	if !ok {
		return nil
	}
	return &model.Error{Kind: model.KindStream, Text: g.Error() + "; the answer was given up", Err: g}
}
