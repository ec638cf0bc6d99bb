package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scriptOf is a measurement that gives the listed attempts, one after another.
func scriptOf(attempts ...[]figure) (m measurement, made *int) {
	made = new(int)
	return measurement{"m", func(context.Context, *lab) ([]figure, error) {
		*made++
		return attempts[min(*made, len(attempts))-1], nil
	}}, made
}

func TestVerdict(t *testing.T) {
	slow := []figure{{what: "t", unit: "ms", must: 10, got: 11}}
	fast := []figure{{what: "t", unit: "ms", must: 10, got: 10}}
	disk := []figure{{what: "t", unit: "ms", must: 10, got: 11, busy: true}}
	large := []figure{{what: "size", must: 10, got: 11, exact: true}}
	small := []figure{{what: "size", must: 10, got: 9, exact: true}}
	for _, c := range []struct {
		name     string
		attempts [][]figure
		slowdown float64
		code     int
		made     int
		says     string
	}{
		{"in time", [][]figure{fast}, 1, 0, 1, fine},
		{"a time that was over once", [][]figure{slow, slow, fast}, 1, 0, 3, fine},
		{"a time that is over always", [][]figure{slow}, 1, 1, attempts, over},
		{"a time that is over on a busy machine", [][]figure{slow}, 2, 0, attempts, unknown},
		{"a time that is over on a busy disk", [][]figure{disk}, 1, 0, attempts, unknown},
		{"a size that is over", [][]figure{large, small}, 1, 1, 1, over},
		{"a size that is over on a busy machine", [][]figure{large}, 2, 1, 1, over},
		{"a size that is over once, beside a time", [][]figure{{slow[0], small[0]}, {fast[0], large[0]}}, 1, 1, 2, over},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, made := scriptOf(c.attempts...)
			var out, diag bytes.Buffer
			assert.Equal(t, c.code, measure(t.Context(), []measurement{m}, bench{slowdown: func() float64 { return c.slowdown }}, &out, &diag), out.String())
			assert.Equal(t, c.made, *made)
			assert.Empty(t, diag.String())
			assert.Regexp(t, `\s`+c.says+`\s`, out.String())
		})
	}
}

func TestNotMeasured(t *testing.T) {
	m := measurement{"m", func(context.Context, *lab) ([]figure, error) { return nil, errors.New("no such thing") }}
	var out, diag bytes.Buffer
	assert.Equal(t, 2, measure(t.Context(), []measurement{m}, bench{slowdown: slowdown}, &out, &diag))
	assert.Equal(t, "bench: m: no such thing\n", diag.String())
	assert.Contains(t, out.String(), "1 measurements failed")

	diag.Reset()
	missing := filepath.Join(t.TempDir(), "missing")
	assert.Equal(t, 2, run(t.Context(), []string{"-only", "^start$", missing}, &out, &diag))
	assert.Contains(t, diag.String(), "bench: start: ")
	assert.Equal(t, 2, run(t.Context(), nil, &out, &diag))
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range measurements {
		assert.False(t, seen[m.name], m.name)
		seen[m.name] = true
	}
}

func TestAmount(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0, "", "0"}, {20, "ms", "20 ms"}, {0.05, "ms", "0.050 ms"}, {1.254, "ms", "1.25 ms"}, {14.16, "ms", "14.2 ms"}, {337.4, "MiB", "337 MiB"},
	} {
		assert.Equal(t, c.want, amount(c.v, c.unit))
	}
}

func TestFsyncTimes(t *testing.T) {
	log := `{"level":"debug","of":"file","ms":1.5,"time":"2026-01-02T03:04:05.000100Z","message":"fsync"}
{"level":"warn","time":"2026-01-02T03:04:05.000200Z","message":"something else"}
{"level":"debug","of":"session log","ms":0.25,"time":"2026-01-02T03:04:05.000300Z","message":"fsync"}
`
	all, err := parseSyncs([]byte(log))
	require.NoError(t, err)
	at := func(µs int) time.Time { return time.Date(2026, 1, 2, 3, 4, 5, µs*1000, time.UTC) }
	assert.Equal(t, []syncing{{at(100), 1500 * time.Microsecond}, {at(300), 250 * time.Microsecond}}, all)
	assert.Equal(t, 1750*time.Microsecond, within(all, at(50), at(300)))
	assert.Equal(t, 250*time.Microsecond, within(all, at(100), at(400)), "one that had ended before")
	_, err = parseSyncs([]byte("{}\n"))
	assert.ErrorContains(t, err, "no fsync", "a log that tells nothing would count as a disk that takes no time")
	_, err = parseSyncs([]byte("{\n"))
	assert.Error(t, err)
}

func TestSystemAccounts(t *testing.T) {
	d, err := cpuFrom("42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 150 25 0 0 20 0 7 0 100 1 2")
	require.NoError(t, err)
	assert.Equal(t, 1750*time.Millisecond, d)
	_, err = cpuFrom("42 (x) S 1")
	assert.Error(t, err)
	assert.Equal(t, "22052 kB", field("Name:\tx\nVmHWM:\t   23000 kB\nVmRSS:\t   22052 kB\n", "VmRSS"))
	assert.Empty(t, field("Name:\tx\n", "VmRSS"))
}

func TestBenchmarkOutput(t *testing.T) {
	out := `goos: linux
BenchmarkX-2           	     100	     12345 ns/op	         1.250 ratio	      48 B/op
BenchmarkX/a-b-2       	     100	 23456.5 ns/op
BenchmarkOne           	     100	     7.000 ns/op
PASS
`
	for _, c := range []struct {
		name, metric string
		want         float64
	}{
		{"BenchmarkX", "ns/op", 12345}, {"BenchmarkX", "ratio", 1.25}, {"BenchmarkX/a-b", "ns/op", 23456.5}, {"BenchmarkOne", "ns/op", 7},
	} {
		got, err := result(out, c.name, c.metric)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, got, c.name)
	}
	_, err := result(out, "BenchmarkX", "MB/s")
	assert.Error(t, err)
	_, err = result("PASS\n", "BenchmarkX", "ns/op")
	assert.Error(t, err, "a benchmark that is gone")
}

func TestWatcher(t *testing.T) {
	w := newWatcher()
	begin := time.Unix(100, 0)
	for i, raw := range []string{
		`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"a","status":"pending"}}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text"}}}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"a","content":[{"x":1}]}}}`,
		`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}}}`,
	} {
		w.take(line{begin.Add(time.Duration(i) * time.Second), []byte(raw)})
	}
	require.Len(t, w.calls, 1)
	s := w.calls["a"]
	assert.Equal(t, 3*time.Second, s.end.Sub(s.begin))
	assert.Equal(t, len(`[{"x":1}]`), s.hunks)
	assert.Greater(t, s.bytes, 300)
}

func TestBytesAbout(t *testing.T) {
	log := []byte(`{"callId":"a"}` + "\n" + `{"callId":"ab"}` + "\n" + `{"text":"{\"id\":\"a\"}"}` + "\n")
	assert.Equal(t, len(`{"callId":"a"}`)+1+len(`{"text":"{\"id\":\"a\"}"}`)+1, bytesAbout(log, "a"))
}

func TestMedian(t *testing.T) {
	assert.Equal(t, 2, median([]int{3, 1, 2}))
	assert.Equal(t, 1, median([]int{1}))
}
