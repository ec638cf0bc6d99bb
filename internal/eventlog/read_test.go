package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dsh-acp/internal/msg"
)

// sample writes a log of whole turns and gives its folder and bytes.
func sample(t testing.TB, turns int) (dir string, log []byte) {
	dir = t.TempDir()
	l := create(t, dir, Options{})
	for n := range turns {
		add(t, l, turn(n)...)
	}
	require.NoError(t, l.Close())
	log, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	return dir, log
}

// put makes a session s1 of these bytes in a fresh folder.
func put(t testing.TB, log []byte) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s1.jsonl"), log, 0o600))
	return dir
}

// wholeLines counts the lines of b that end.
func wholeLines(b []byte) int { return bytes.Count(b, []byte("\n")) }

// unsynced spares the disk: the log takes the place for one without fsync.
func unsynced(point string) error {
	if point == "sync" {
		return errors.ErrUnsupported
	}
	return nil
}

// Cut anywhere, a log gives all events before the cut, says what it dropped,
// and goes on behind the last whole record.
func TestCutAtEveryByte(t *testing.T) {
	_, log := sample(t, 1)
	header := bytes.IndexByte(log, '\n')
	dir := t.TempDir()
	path := filepath.Join(dir, "s1.jsonl")
	for cut := range len(log) + 1 {
		part := log[:cut]
		require.NoError(t, os.WriteFile(path, part, 0o600))
		s, err := Read(dir, "s1")
		if cut < header {
			var damage *DamageError
			require.ErrorAs(t, err, &damage, "cut at %d", cut)
			require.Equal(t, 1, damage.Line)
			_, _, err = Open(dir, "s1", Options{})
			require.ErrorAs(t, err, &damage)
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(part), string(left), "nothing is changed")
			continue
		}
		require.NoError(t, err, "cut at %d", cut)

		rest := part[bytes.LastIndexByte(part, '\n')+1:]
		events := max(0, wholeLines(part)-1)
		if cut > header && cut < len(log) && log[cut] == '\n' && len(rest) > 0 {
			events, rest = events+1, nil // only the line feed is missing
		}
		if cut == header {
			rest = nil
		}
		require.Len(t, s.Events, events, "cut at %d", cut)
		require.Equal(t, len(rest) > 0, s.Torn != nil, "cut at %d", cut)

		l, opened, err := Open(dir, "s1", Options{Now: ticking(), Fault: unsynced})
		require.NoError(t, err, "cut at %d", cut)
		require.Equal(t, s.Events, opened.Events)
		if len(rest) > 0 {
			kept, err := os.ReadFile(opened.Torn.Copy)
			require.NoError(t, err)
			require.Equal(t, string(rest), string(kept))
			require.Contains(t, opened.Torn.String(), "torn")
			require.Contains(t, opened.Torn.String(), "repaired")
			require.NoError(t, os.Remove(opened.Torn.Copy))
		}
		closers, err := l.Resume()
		require.NoError(t, err, "cut at %d", cut)
		add(t, l, msg.TurnStart{Turn: 9})
		require.NoError(t, l.Close())
		again, err := Read(dir, "s1")
		require.NoError(t, err, "cut at %d", cut)
		require.Nil(t, again.Torn)
		require.Len(t, again.Events, events+len(closers)+1)
		require.Equal(t, s.Events, append([]msg.Event(nil), again.Events[:events]...), "cut at %d", cut)
	}
}

func TestDamage(t *testing.T) {
	_, log := sample(t, 1)
	lines := strings.SplitAfter(string(log), "\n")
	lines = lines[:len(lines)-1]
	with := func(at int, insert ...string) string {
		out := append([]string{}, lines[:at]...)
		out = append(out, insert...)
		return strings.Join(append(out, lines[at:]...), "")
	}
	without := func(at int) string {
		return strings.Join(append(append([]string{}, lines[:at]...), lines[at+1:]...), "")
	}
	for name, c := range map[string]struct {
		log  string
		line int
		why  string
	}{
		"zero bytes in the middle":  {with(3, strings.Repeat("\x00", 300)+"\n"), 4, "invalid character"},
		"zero bytes before a line":  {strings.Replace(string(log), lines[4], strings.Repeat("\x00", 30)+lines[4], 1), 5, "invalid character"},
		"torn record in the middle": {with(3, lines[3][:20]), 4, "whole JSON record"},
		"two torn ends":             {string(log) + lines[3][:20] + "\n" + lines[3][:20], len(lines) + 1, "whole JSON record"},
		"empty line in the middle":  {with(3, "\n"), 4, "whole JSON record"},
		"bad UTF-8 in the middle":   {strings.Replace(string(log), `"go"`, "\"\xff\"", 1), 4, "UTF-8"},
		"a record gone":             {without(3), 4, "seq is 3 where 2 should be"},
		"a record twice":            {with(4, lines[3]), 5, "seq is 2 where 3 should be"},
		"last record again":         {string(log) + lines[len(lines)-1], len(lines) + 1, "seq is 9 where 10 should be"},
		"no object":                 {with(2, "{\"type\":\"x\",\"seq\":1,\"time\":1,\"data\":[]}\n"), 3, "data is not an object"},
		"unknown type":              {with(1, "{\"type\":\"who/knows\",\"seq\":0,\"time\":1,\"data\":{}}\n"), 2, `unknown event type "who/knows"`},
		"payload of another shape":  {strings.Replace(string(log), `"data":{"turn":0}`, `"data":{"turn":"0"}`, 1), 2, "turn/start"},
		"out of order":              {string(log) + `{"type":"step/end","seq":10,"time":1,"data":{"turn":0,"step":1}}` + "\n", len(lines) + 1, "outside of that step"},
		"surface op on a turn":      {strings.Replace(string(log), `"data":{"turn":0}`, `"data":{"turn":0},"surfaceOp":"append"`, 1), 2, "only messages"},
		"header of another session": {strings.Replace(string(log), `"id":"s1"`, `"id":"s2"`, 1), 1, "belongs to"},
		"header without time":       {strings.Replace(string(log), `"createdAt"`, `"created"`, 1), 1, "createdAt"},
		"header with a fraction":    {strings.Replace(string(log), `"createdAt":1`, `"createdAt":1.`, 1), 1, "header"},
		"negative time":             {strings.Replace(string(log), `"createdAt":1`, `"createdAt":-1`, 1), 1, "createdAt"},
		"no header":                 {strings.Join(lines[1:], ""), 1, "header"},
		"empty file":                {"", 1, "header"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := put(t, []byte(c.log))
			_, err := Read(dir, "s1")
			var damage *DamageError
			require.ErrorAs(t, err, &damage)
			assert.Equal(t, c.line, damage.Line)
			assert.Contains(t, err.Error(), c.why)
			assert.Contains(t, err.Error(), fmt.Sprintf("line %d", c.line))

			_, _, err = Open(dir, "s1", Options{})
			require.ErrorAs(t, err, &damage)
			left, err := os.ReadFile(filepath.Join(dir, "s1.jsonl"))
			require.NoError(t, err)
			assert.Equal(t, c.log, string(left), "nothing is changed")
			_, _, err = Open(dir, "s1", Options{})
			assert.NotErrorIs(t, err, ErrInUse, "the lock was given back")
		})
	}
}

// What comes behind the last whole record is cut whatever it is, as long as
// it is one line.
func TestTornEnds(t *testing.T) {
	_, log := sample(t, 1)
	for name, end := range map[string]string{
		"part of a record":   `{"type":"turn/st`,
		"zero bytes":         strings.Repeat("\x00", 4096),
		"zeros, line feed":   strings.Repeat("\x00", 4096) + "\n",
		"bad UTF-8":          `{"type":"tu` + "\xe2\x80",
		"JSON, but no event": `7`,
		"a line feed":        "\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := put(t, append(bytes.Clone(log), end...))
			s, err := Read(dir, "s1")
			require.NoError(t, err)
			require.NotNil(t, s.Torn)
			assert.Len(t, s.Events, 10)
			assert.Equal(t, &Torn{Path: filepath.Join(dir, "s1.jsonl"), Line: 12, Offset: int64(len(log)), Size: int64(len(end))}, s.Torn)
			for n := 1; n <= 2; n++ { // a second torn end keeps the first copy
				l, s, err := Open(dir, "s1", Options{})
				require.NoError(t, err)
				require.NoError(t, l.Close())
				assert.Equal(t, fmt.Sprintf("%s.torn-%d", l.Path(), n), s.Torn.Copy)
				now, err := os.ReadFile(l.Path())
				require.NoError(t, err)
				assert.Equal(t, string(log), string(now))
				require.NoError(t, os.WriteFile(l.Path(), append(now, end...), 0o600))
			}
		})
	}
}

func TestVersions(t *testing.T) {
	_, log := sample(t, 1)
	for version, word := range map[string]string{"1": "newer", "-1": "older"} {
		dir := put(t, bytes.Replace(log, []byte(`"version":0`), []byte(`"version":`+version), 1))
		_, err := Read(dir, "s1")
		var v *VersionError
		require.ErrorAs(t, err, &v)
		assert.Contains(t, err.Error(), word)
	}
}

func TestUnknownTypes(t *testing.T) {
	dir, log := sample(t, 1)
	raw := `{"type":"plugin/x","seq":10,"time":5,"data":{"k":[1]},"ignorable":true,"surfaceOp":{"op":"new"}}` + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s1.jsonl"), append(log, raw...), 0o600))
	s, err := Read(dir, "s1")
	require.NoError(t, err)
	last := s.Events[10]
	assert.Equal(t, raw, string(encodeRecord(last)), "kept as it was")
	h, err := History(s.Events)
	require.NoError(t, err)
	assert.Len(t, h, 4)
}

func TestNoSuchSession(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(dir, "s1")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, _, err = Open(dir, "s1", Options{})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorIs(t, Delete(dir, "s1"), fs.ErrNotExist)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left, "looking makes no file")
	var bad *IDError
	for _, err := range []error{
		func() error { _, err := Read(dir, "../s1"); return err }(),
		func() error { _, _, err := Open(dir, "../s1", Options{}); return err }(),
		func() error { _, err := Create(dir, Header{ID: "../s1"}, Options{}); return err }(),
		Delete(dir, "../s1"),
	} {
		assert.ErrorAs(t, err, &bad)
	}
}

func TestLongLines(t *testing.T) {
	dir := t.TempDir()
	l := create(t, dir, Options{})
	long := strings.Repeat("0123456789abcdef", 1<<18) // 4 MiB
	add(t, l, msg.TurnStart{}, prompt(long))
	require.NoError(t, l.Close())
	s, err := Read(dir, "s1")
	require.NoError(t, err)
	p, err := msg.Decode(s.Events[1])
	require.NoError(t, err)
	assert.Equal(t, prompt(long), p)
}

// Whatever stands behind a cut, no event before it is lost, or the log is
// refused and left alone.
func FuzzRead(f *testing.F) {
	dir, log := sample(f, 2)
	for _, end := range []string{"", "\n", "\x00\x00\n", `{"type":"turn/end"`, "{}\n{}\n", `"`} {
		f.Add(uint(len(log)), []byte(end))
		f.Add(uint(len(log)/2), []byte(end))
		f.Add(uint(30), []byte(end))
	}
	_, err := Read(dir, "s1")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, cut uint, tail []byte) {
		part := log[:cut%uint(len(log)+1)]
		text := append(bytes.Clone(part), tail...)
		s, at, err := load(bytes.NewReader(text), "log", "s1")
		if err != nil {
			var damage *DamageError
			var version *VersionError
			if !errors.As(err, &damage) && !errors.As(err, &version) {
				t.Fatalf("unclear error %v", err)
			}
			if damage != nil && damage.Line > 1 && damage.Line <= wholeLines(part) {
				t.Fatalf("line %d is whole, but is called damaged: %v", damage.Line, err)
			}
			return
		}
		if want := wholeLines(part) - 1; len(s.Events) < want {
			t.Fatalf("%d events before the cut, %d came back", want, len(s.Events))
		}
		dropped := int64(len(text)) - at.size
		switch {
		case s.Torn == nil && dropped != 0:
			t.Fatalf("%d bytes were dropped without a word", dropped)
		case s.Torn != nil && (s.Torn.Size != dropped || s.Torn.Offset != at.size):
			t.Fatalf("%+v, but the whole records end at %d", s.Torn, at.size)
		}
		if _, err := s.Closed(); err != nil {
			t.Fatal(err)
		}
		if _, err := History(s.Events); err != nil && !slices.ContainsFunc(s.Events, retold) {
			t.Fatal(err)
		}
	})
}

// The short way to read a record gives what the long way gives.
func FuzzRecord(f *testing.F) {
	_, log := sample(f, 1)
	for line := range bytes.Lines(log) {
		f.Add(bytes.TrimSpace(line))
	}
	f.Add([]byte(`{"type":"a","seq":1,"time":2,"data":{"x":"\"}"},"ignorable":true}`))
	f.Add([]byte(`{"type":"a","seq":01,"time":2,"data":{},"surfaceOp":"append"}`))
	f.Add([]byte(`{"type":"a","seq":1,"time":2,"data":{},"seq":3}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		own, ok := decodeOwn(line)
		if !ok || !utf8.Valid(line) {
			return
		}
		var rec msg.Event
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatalf("%q is no record: %v", line, err)
		}
		if !assert.ObjectsAreEqual(rec, own) {
			t.Fatalf("%q: %+v, but %+v", line, rec, own)
		}
		if again := encodeRecord(own); json.Valid(line) && bytes.Count(line, []byte(" ")) == 0 && string(again) != string(line)+"\n" {
			t.Fatalf("%q came back as %q", line, again)
		}
	})
}
