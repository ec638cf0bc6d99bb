package eventlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

func TestAppendRefusesWhatWouldNotSurvive(t *testing.T) {
	meta := func(raw string) msg.ToolReturned {
		r := returned(1, 1, "a")
		r.Meta = json.RawMessage(raw)
		return r
	}
	deep := strings.Repeat("[", msg.MaxDepth+1) + strings.Repeat("]", msg.MaxDepth+1)
	for name, c := range map[string]struct {
		in        msg.Payload
		path, why string
	}{
		"bad UTF-8 in a block":     {prompt("a\xffb"), "/content/0/text", "UTF-8"},
		"bad UTF-8 in the id":      {msg.Titled{Title: "\xc0"}, "/title", "UTF-8"},
		"bad UTF-8 in raw input":   {says(1, 1, msg.Text{}, msg.ToolUse{ID: "b", Input: "\xff"}), "/message/content/1/input", "UTF-8"},
		"bad UTF-8 in meta":        {meta("{\"a\":\"\xff\"}"), "/meta/a", "UTF-8"},
		"duplicate key in meta":    {meta(`{"a":[{"b":1,"b":2}]}`), "/meta/a/0/b", "twice"},
		"lone surrogate in meta":   {meta(`{"a":"\ud800"}`), "/meta/a", "surrogate"},
		"negative zero in meta":    {meta(`{"a":-0}`), "/meta/a", "negative zero"},
		"large number in meta":     {meta(`[9007199254740993]`), "/meta/0", "2^53-1"},
		"meta that is no JSON":     {meta(`{"a":`), "/meta/a", "the text ends"},
		"empty meta":               {meta(""), "/meta", "the text ends"},
		"deep meta":                {meta(deep), "/meta/0", "nest too deeply"},
		"NaN":                      {func() msg.Payload { a := says(1, 1); a.Usage = &msg.Usage{CostUSD: math.NaN()}; return a }(), "", "NaN"},
		"large count":              {msg.RequestContext{ContextWindow: math.MaxInt64}, "/contextWindow", "2^53-1"},
		"a type that nobody reads": {stranger{}, "", "unknown event type"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := create(t, dir, Options{})
			add(t, l, inStep(says(1, 1, use("a")))...)
			_, err := l.Append(c.in)
			require.ErrorContains(t, err, c.why)
			assert.ErrorContains(t, err, c.in.EventType())
			var bad *msg.ValueError
			if errors.As(err, &bad) {
				assert.True(t, strings.HasPrefix(bad.Path, c.path), "path is %s, want %s", bad.Path, c.path)
			}
			add(t, l, returned(1, 1, "a"))
			s, err := Read(dir, "s1")
			require.NoError(t, err)
			assert.Len(t, s.Events, 4)
		})
	}
}

// A payload behind a pointer is bound by the same order.
func TestAppendPointer(t *testing.T) {
	l := create(t, t.TempDir(), Options{})
	e, err := l.Append(&msg.TurnStart{Turn: 1})
	require.NoError(t, err)
	assert.Equal(t, "turn/start", e.Type)
	_, err = l.Append(&msg.TurnStart{Turn: 2})
	require.ErrorContains(t, err, "starts inside turn 1")
	e, err = l.Append(new(prompt("x")))
	require.NoError(t, err)
	assert.Equal(t, `"append"`, string(e.SurfaceOp))
	e, err = l.Append(&msg.ModeSet{Mode: "plan"})
	require.NoError(t, err)
	assert.True(t, e.Ignorable)
}

type stranger struct{}

func (stranger) EventType() string { return "who/knows" }

// Meta of the greatest depth passes through append and load.
func TestDeepMeta(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir, Options{})
	r := returned(1, 1, "a")
	r.Meta = json.RawMessage(strings.Repeat("[", msg.MaxDepth) + strings.Repeat("]", msg.MaxDepth))
	require.NoError(t, msg.Admissible(r.Meta))
	add(t, l, inStep(says(1, 1, use("a")), r)...)
	s, err := Read(dir, "s1")
	require.NoError(t, err)
	p, err := msg.Decode(s.Events[3])
	require.NoError(t, err)
	assert.Equal(t, r, p)
}

// Meta belongs to the tool: the log gives back whatever it was given.
func TestMetaOfAnyTool(t *testing.T) {
	type reading struct {
		Station string    `json:"station"`
		Degrees []float64 `json:"degrees"`
		Frost   *bool     `json:"frost"`
	}
	want := reading{Station: "Zugspitze ❄", Degrees: []float64{-11.25, 0, 3}}
	raw, err := json.Marshal(want)
	require.NoError(t, err)
	dir := t.TempDir()
	l := create(t, dir, Options{})
	weather := msg.ToolUse{ID: "w1", Name: "weather", Input: `{"at":"47.42,10.98"}`}
	r := returned(1, 1, "w1")
	r.Meta = raw
	add(t, l, inStep(says(1, 1, weather), r)...)
	raw[2] = 'X' // what the caller keeps is not what is stored
	s, err := Read(dir, "s1")
	require.NoError(t, err)
	p, err := msg.Decode(s.Events[3])
	require.NoError(t, err)
	var got reading
	require.NoError(t, json.Unmarshal(p.(msg.ToolReturned).Result().Meta, &got))
	assert.Equal(t, want, got)
}

// failing fails the named points, each so many times.
type failing map[string]int

func (f failing) fault(point string) error {
	if f[point] == 0 {
		return nil
	}
	f[point]--
	return fmt.Errorf("%s: %w", point, syscall.ENOSPC)
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	f := failing{}
	l := create(t, dir, Options{Fault: f.fault})
	add(t, l, msg.TurnStart{Turn: 1})
	before, err := os.ReadFile(l.Path())
	require.NoError(t, err)

	f["append"] = 2
	for range 2 {
		_, err = l.Append(prompt("lost"))
		require.ErrorIs(t, err, syscall.ENOSPC)
		assert.ErrorContains(t, err, "nothing was recorded")
		after, err := os.ReadFile(l.Path())
		require.NoError(t, err)
		assert.Equal(t, string(before), string(after))
	}
	e, err := l.Append(prompt("kept"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, e.Seq)
	require.NoError(t, l.Close())
	s, err := Read(dir, "s1")
	require.NoError(t, err)
	assert.Len(t, s.Events, 2)
}

func TestTornByFullDisk(t *testing.T) {
	dir := t.TempDir()
	f := failing{}
	l := create(t, dir, Options{Fault: f.fault})
	add(t, l, msg.TurnStart{Turn: 1})
	f["append"], f["truncate"] = 1, 1
	_, err := l.Append(prompt("torn"))
	require.ErrorIs(t, err, ErrBroken)
	_, err = l.Append(prompt("refused"))
	require.ErrorIs(t, err, ErrBroken, "the next record would run into the half one")
	assert.ErrorIs(t, l.Sync(), ErrBroken)
	l.Close()
	l, s, err := Open(dir, "s1", Options{})
	require.NoError(t, err)
	require.NotNil(t, s.Torn)
	assert.Len(t, s.Events, 1)
	add(t, l, prompt("again"))
	require.NoError(t, l.Close())
}

func TestSyncFails(t *testing.T) {
	f := failing{}
	l := create(t, t.TempDir(), Options{Fault: f.fault})
	require.NoError(t, l.Sync())
	f["sync"] = 1
	require.NoError(t, l.Sync(), "nothing to sync")
	add(t, l, msg.TurnStart{Turn: 1})
	require.ErrorIs(t, l.Sync(), ErrBroken)
	_, err := l.Append(prompt("x"))
	require.ErrorIs(t, err, ErrBroken)
}

func TestCreateOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	_, err := Create(dir, Header{ID: "s1"}, Options{Fault: failing{"append": 1}.fault})
	require.ErrorIs(t, err, syscall.ENOSPC)
	_, err = Read(dir, "s1")
	require.ErrorIs(t, err, os.ErrNotExist)
	create(t, dir, Options{})
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	l, err := Create(dir, Header{}, Options{Now: ticking()})
	require.NoError(t, err)
	require.NoError(t, ValidID(l.Header().ID))
	assert.Positive(t, l.Header().CreatedAt)
	require.NoError(t, l.Close())
	_, err = Create(dir, l.Header(), Options{})
	assert.ErrorIs(t, err, os.ErrExist)
	for _, h := range []Header{{Version: 1}, {Cwd: "rel/ative"}, {CreatedAt: -1}, {DelegationDepth: -1}, {SeedLength: new(int64(-1))}, {Cwd: "/\xff"}} {
		_, err := Create(dir, h, Options{})
		assert.ErrorContains(t, err, "session header", "%+v", h)
	}
	all, err := List(dir)
	require.NoError(t, err)
	assert.Len(t, all, 1)
}

func TestObservers(t *testing.T) {
	var reports []error
	dir := t.TempDir()
	l := create(t, dir, Options{Report: func(err error) { reports = append(reports, err) }})
	var seen []string
	var inner []error
	stop, err := l.Observe(func(e msg.Event) {
		stored, err := Read(dir, "s1")
		require.NoError(t, err)
		assert.Equal(t, e, stored.Events[len(stored.Events)-1], "committed before it is told")
		seen = append(seen, e.Type)
		_, err = l.Append(msg.ModeSet{Mode: "plan"})
		_, rawErr := l.AppendRaw(e)
		_, obsErr := l.Observe(func(msg.Event) {})
		_, resErr := l.Resume()
		inner = append(inner, err, rawErr, obsErr, resErr, l.Sync(), l.Close())
		e.Data[0] = 'X'
	})
	require.NoError(t, err)
	_, err = l.Observe(func(msg.Event) { panic("boom") })
	require.NoError(t, err)
	third := 0
	_, err = l.Observe(func(e msg.Event) {
		third++
		assert.Equal(t, byte('{'), e.Data[0], "nobody sees what another one did to it")
	})
	require.NoError(t, err)

	add(t, l, msg.TurnStart{Turn: 1}, prompt("x"))
	for _, err := range inner {
		assert.ErrorIs(t, err, ErrReentrant)
	}
	require.Len(t, reports, 2)
	assert.ErrorContains(t, reports[1], "event 1 (user/message): observer: panic: boom")
	stop()
	add(t, l, msg.ModeSet{Mode: "plan"})
	assert.Equal(t, []string{"turn/start", "user/message"}, seen)
	assert.Equal(t, 3, third)
}

// Appends from elsewhere wait while observers run, and are no re-entry.
func TestConcurrentAppends(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir, Options{})
	var order []int64 // the log lets one observer run at a time
	_, err := l.Observe(func(e msg.Event) { order = append(order, e.Seq) })
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				_, err := l.Append(msg.ModeSet{Mode: "plan"})
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	s, err := Read(dir, "s1")
	require.NoError(t, err)
	require.Len(t, s.Events, 200)
	for i, seq := range order {
		require.EqualValues(t, i, seq)
	}
}

func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir, Options{})
	_, _, err := Open(dir, "s1", Options{})
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorIs(t, Delete(dir, "s1"), ErrInUse)
	_, err = Read(dir, "s1")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err = l.Append(msg.EndSeed{})
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, l.Sync(), ErrClosed)
	l, _, err = Open(dir, "s1", Options{})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, Delete(dir, "s1"))
}

func TestAppendRaw(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir, Options{})
	add(t, l, inStep(prompt("one"), says(1, 1, msg.Text{Text: "two"}))...)
	data, err := msg.Marshal(prompt("sum"))
	require.NoError(t, err)
	in := msg.Event{Type: "user/message", Data: data, Seq: 77, Time: 1, SourceSeqs: []int64{2, 3},
		SurfaceOp: json.RawMessage(`{"op": "replace", "start": 2, "end": 3}`)}
	out, err := l.AppendRaw(in)
	require.NoError(t, err)
	assert.EqualValues(t, 4, out.Seq)
	assert.NotEqualValues(t, 1, out.Time)
	assert.Equal(t, `{"op":"replace","start":2,"end":3}`, string(out.SurfaceOp))
	plain, err := l.AppendRaw(msg.Event{Type: "user/message", Data: data})
	require.NoError(t, err)
	assert.Equal(t, `"append"`, string(plain.SurfaceOp))
	other, err := l.AppendRaw(msg.Event{Type: "plugin/x", Data: json.RawMessage(`{ "a" : 1 }`), Ignorable: true})
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, string(other.Data))

	for why, e := range map[string]msg.Event{
		"unknown event type": {Type: "plugin/x", Data: json.RawMessage(`{}`)},
		"not an object":      {Type: "plugin/x", Data: json.RawMessage(`[]`), Ignorable: true},
		"needs a type":       {Data: json.RawMessage(`{}`)},
		"at /data/a":         {Type: "plugin/x", Data: json.RawMessage(`{"a":-0}`), Ignorable: true},
		"at /data: the text": {Type: "plugin/x", Ignorable: true},
		"at /surfaceOp":      {Type: "user/message", Data: data, SurfaceOp: json.RawMessage(`{"op":`)},
		"no earlier event":   {Type: "user/message", Data: data, SourceSeqs: []int64{99}},
		"only messages":      {Type: "turn/start", Data: json.RawMessage(`{"turn":1}`), SurfaceOp: appendOp},
		"starts inside turn": {Type: "turn/start", Data: json.RawMessage(`{"turn":2}`)},
		"cannot unmarshal":   {Type: "turn/start", Data: json.RawMessage(`{"turn":"2"}`)},
	} {
		_, err := l.AppendRaw(e)
		assert.ErrorContains(t, err, why)
	}
	s, err := Read(dir, "s1")
	require.NoError(t, err)
	assert.Equal(t, []msg.Event{out, plain, other}, s.Events[4:])
	h, err := History(s.Events)
	require.NoError(t, err)
	require.Len(t, h, 2)
	assert.Equal(t, prompt("sum"), h[0].Payload)
}
