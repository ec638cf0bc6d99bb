package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/model"
)

func header(kv ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(kv); i += 2 {
		h.Set(kv[i], kv[i+1])
	}
	return h
}

func TestWaits(t *testing.T) {
	tests := []struct {
		name     string
		policy   Policy
		header   http.Header
		attempts int
		least    time.Duration
		most     time.Duration
	}{
		{"the defaults", Policy{}, nil, 5, 7500 * time.Millisecond * 3 / 4, 7500 * time.Millisecond},
		{"none", Policy{Retries: -1}, nil, 1, 0, 0},
		{"the longest wait", Policy{Retries: 8}, nil, 9, 39 * time.Second * 3 / 4, 40 * time.Second},
		{"Retry-After in seconds", Policy{Retries: 1}, header("Retry-After", "3"), 2, 3 * time.Second, 3 * time.Second},
		{"Retry-After with a fraction", Policy{Retries: 1}, header("Retry-After", "0.5"), 2, 500 * time.Millisecond, 500 * time.Millisecond},
		{"retry-after-ms", Policy{Retries: 1}, header("Retry-After-Ms", "250", "Retry-After", "9"), 2, 250 * time.Millisecond, 250 * time.Millisecond},
		{"a date", Policy{Retries: 1}, header("Retry-After", "Sat, 01 Jan 2000 00:00:10 GMT"), 2, 10 * time.Second, 10 * time.Second},
		{"a date gone by", Policy{Retries: 1}, header("Retry-After", "Sat, 01 Jan 1999 00:00:10 GMT"), 2, 0, 0},
		{"capped", Policy{Retries: 1}, header("Retry-After", "86400"), 2, DefaultRetryAfterCap, DefaultRetryAfterCap},
		{"more than fits", Policy{Retries: 1, RetryAfterCap: time.Second}, header("Retry-After", "1e300"), 2, time.Second, time.Second},
		{"nonsense", Policy{Retries: 1}, header("Retry-After", "soon"), 2, 375 * time.Millisecond, 500 * time.Millisecond},
		{"below zero", Policy{Retries: 1}, header("Retry-After", "-3"), 2, 375 * time.Millisecond, 500 * time.Millisecond},
		{"forbidden", Policy{}, header("X-Should-Retry", "false"), 1, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // whose clock starts at the year 2000
				n, began := 0, time.Now()
				err := tt.policy.Do(t.Context(), func() error {
					n++
					return Answered(529, tt.header, "busy")
				})
				assert.Equal(t, tt.attempts, n)
				assert.GreaterOrEqual(t, time.Since(began), tt.least)
				assert.LessOrEqual(t, time.Since(began), tt.most)
				var e *model.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, "API Error: 529 busy", err.Error())
			})
		})
	}
}

func TestNotTriedAgain(t *testing.T) {
	shown := Answered(529, nil, "x")
	shown.Shown = true
	for name, err := range map[string]error{
		"shown":         shown,
		"400":           Answered(400, nil, "x"),
		"401":           Answered(401, nil, "x"),
		"final":         &model.Error{Kind: model.KindServer, Text: "x"},
		"another error": errors.New("x"),
	} {
		n := 0
		got := Policy{Backoff: time.Hour}.Do(t.Context(), func() error { n++; return err })
		assert.Error(t, got, name)
		assert.Equal(t, 1, n, name)
	}
	n := 0
	require.NoError(t, Policy{Backoff: time.Nanosecond}.Do(t.Context(), func() error {
		if n++; n == 1 {
			return Answered(400, header("X-Should-Retry", "true"), "x")
		}
		return nil
	}))
	assert.Equal(t, 2, n)
}

func TestCancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		err := Policy{}.Do(ctx, func() error { return Answered(529, header("Retry-After", "20"), "x") })
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestKinds(t *testing.T) {
	tests := []struct {
		status int
		words  string
		kind   string
		text   string
	}{
		{400, "bad", model.KindInvalid, "400 bad"},
		{400, "prompt is too long: 3 tokens > 2 maximum", model.KindContextFull, "start a new session"},
		{400, "This model's maximum context length is 8192 tokens", model.KindContextFull, "start a new session"},
		{400, "the request exceeds the available context size", model.KindContextFull, "start a new session"},
		{401, "", model.KindAuth, "401 Unauthorized"},
		{403, "no", model.KindAuth, "403 no"},
		{404, "model: x", model.KindInvalid, "check the base URL"},
		{429, "slow down", model.KindRate, "429 slow down"},
		{500, "oops", model.KindServer, "500 oops"},
		{503, "", model.KindOverloaded, "503"},
		{529, "busy", model.KindOverloaded, "529 busy"},
		{500, strings.Repeat("ä", 5000), model.KindServer, "…"},
	}
	for _, tt := range tests {
		e := Answered(tt.status, nil, tt.words)
		assert.Equal(t, tt.kind, e.Cause.Kind, "%d %s", tt.status, tt.words)
		assert.Contains(t, e.Error(), tt.text)
		assert.Less(t, len(e.Error()), 800)
		assert.NotContains(t, e.Error(), "\uFFFD")
	}
}

// drip gives a byte each time the clock passes every.
type drip struct {
	ctx   context.Context
	every time.Duration
	n     int
}

func (d *drip) Read(p []byte) (int, error) {
	if d.n == 0 {
		return 0, io.EOF
	}
	d.n--
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(d.every):
		p[0] = 'x'
		return 1, nil
	}
}

func (d *drip) Close() error { return nil }

func TestIdle(t *testing.T) {
	tests := []struct {
		name   string
		limit  time.Duration
		total  time.Duration
		every  time.Duration
		silent bool
	}{
		{"bytes keep it alive", time.Second, 0, 900 * time.Millisecond, false},
		{"silence ends it", time.Second, 0, 1100 * time.Millisecond, true},
		{"the default is five minutes", 0, 0, 6 * time.Minute, true},
		{"no limit", -1, 0, 24 * time.Hour, false},
		{"too long in all", time.Second, 2 * time.Second, 900 * time.Millisecond, true},
		{"just not too long", time.Second, 5 * time.Second, 900 * time.Millisecond, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, idle := Watch(t.Context(), Limits{Idle: tt.limit, Total: tt.total})
				defer idle.Stop()
				res, err := idle.Middleware(nil, func(*http.Request) (*http.Response, error) {
					return &http.Response{Body: &drip{ctx, tt.every, 5}}, nil
				})
				require.NoError(t, err)
				_, err = io.ReadAll(res.Body)
				if !tt.silent {
					require.NoError(t, err)
					assert.Nil(t, GivenUp(ctx))
					return
				}
				require.Error(t, err)
				require.NotNil(t, GivenUp(ctx))
				assert.Equal(t, model.KindStream, GivenUp(ctx).Kind)
			})
		})
	}
}

func TestIdleCountsTheWaitForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, idle := Watch(t.Context(), Limits{Idle: time.Second})
		defer idle.Stop()
		_, err := idle.Middleware(nil, func(*http.Request) (*http.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		require.Error(t, err)
		assert.NotNil(t, GivenUp(ctx))
	})
}

func TestStopIsNotSilence(t *testing.T) {
	ctx, idle := Watch(t.Context(), Limits{Idle: time.Hour})
	idle.Stop()
	assert.Error(t, ctx.Err())
	assert.Nil(t, GivenUp(ctx))
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"error","error":{"type":"x","message":"said"}}`: "said",
		`{"error":"said"}`:               "said",
		`{"message":"said"}`:             "said",
		`{"detail":"said"}`:              "said",
		`[{"error":{"message":"said"}}]`: "said",
		`{"other":1}`:                    `{"other":1}`,
		"plain\n":                        "plain",
		"":                               "",
	} {
		assert.Equal(t, want, Words([]byte(in)), in)
	}
}

func TestRetriesAsCounted(t *testing.T) {
	assert.Equal(t, -1, Times(0))
	assert.Equal(t, 3, Times(3))
}

func TestRedact(t *testing.T) {
	assert.Equal(t, "key [redacted] is bad", Redact("key sk-12345 is bad", "sk-12345"))
	assert.Equal(t, "as it was", Redact("as it was", ""))
}
