// Package transport is what the model providers share between the SDKs and
// the network: when a request is tried again, when a silent stream is given
// up, and how a failure reads. It knows no service's messages, and it tries
// nothing again of which a part was already shown.
package transport

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"dsh-acp/internal/model"
)

// Defaults of [Policy] and of the idle timeout.
const (
	DefaultRetries       = 4
	DefaultBackoff       = 500 * time.Millisecond
	DefaultRetryAfterCap = 30 * time.Second
	DefaultIdle          = 5 * time.Minute
	longestBackoff       = 8 * time.Second
)

// A Policy says how often and when a failed request is tried again.
type Policy struct {
	Retries       int           // 0 means DefaultRetries, below 0 none
	Backoff       time.Duration // wait before the first retry, doubled for each further one; 0 means DefaultBackoff
	RetryAfterCap time.Duration // most that a service's Retry-After is obeyed; 0 means DefaultRetryAfterCap
}

// Times turns a count of which 0 means none into Policy.Retries.
func Times(n int64) int {
	if n <= 0 {
		return -1
	}
	return int(n)
}

// A Failure is what an attempt reports when it may be worth another one.
type Failure struct {
	Cause  *model.Error
	Header http.Header // of the answer; may be nil
	// Shown says that a part of the answer was already passed on, so that
	// another attempt would show it twice.
	Shown bool
}

func (f *Failure) Error() string { return f.Cause.Error() }

func (f *Failure) Unwrap() error { return f.Cause }

// Do calls attempt until it succeeds, fails for good, or the retries are used
// up. The error is a *[model.Error], or ctx's when ctx has ended.
func (p Policy) Do(ctx context.Context, attempt func() error) error {
	if p.Retries == 0 {
		p.Retries = DefaultRetries
	}
	for n := 0; ; n++ {
		err := attempt()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var f *Failure
		if !errors.As(err, &f) {
			return err
		}
		if n >= p.Retries || f.Shown || !worthRetry(f) {
			return f.Cause
		}
		t := time.NewTimer(p.wait(n, f.Header))
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
	}
}

func worthRetry(f *Failure) bool {
	switch f.Header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch f.Cause.Kind {
	case model.KindRate, model.KindOverloaded, model.KindServer, model.KindNetwork, model.KindStream:
		return true
	}
	return false
}

func (p Policy) wait(n int, h http.Header) time.Duration {
	if d, ok := retryAfter(h); ok {
		limit := p.RetryAfterCap
		if limit == 0 {
			limit = DefaultRetryAfterCap
		}
		return min(d, limit)
	}
	d := p.Backoff
	if d == 0 {
		d = DefaultBackoff
	}
	for range n {
		d = min(2*d, longestBackoff)
	}
	// Up to a quarter less, so that many clients do not come back together.
	return d - time.Duration(rand.Int64N(int64(d)/4+1))
}

func retryAfter(h http.Header) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return seconds(ms / 1000), true
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		return seconds(s), true
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t)), true
	}
	return 0, false
}

// seconds bounds s before it is turned into a Duration, which would overflow.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, 24*3600) * float64(time.Second))
}
