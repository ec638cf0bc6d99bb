package config

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKeyIsNeverPrinted(t *testing.T) {
	k, err := ParseKey(" sk-ant-secret\n")
	require.NoError(t, err)
	assert.Equal(t, "sk-ant-secret", k.Reveal())
	holder := struct {
		K Key
		P *Key
		L []Key
		M map[string]Key
	}{k, &k, []Key{k}, map[string]Key{"k": k}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %v"} {
		for _, v := range []any{k, &k, holder, &holder, fmt.Errorf("wrap: %v", k)} {
			out := fmt.Sprintf(verb, v)
			assert.NotContains(t, out, "secret", verb)
			assert.NotContains(t, out, "736563726574", verb) // the same in hex
		}
	}
	for _, encode := range []func() ([]byte, error){
		func() ([]byte, error) { return json.Marshal(holder) },
		func() ([]byte, error) { return xml.Marshal(withKey{k}) },
		func() ([]byte, error) {
			var b bytes.Buffer
			slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "key", k, "holder", holder)
			slog.New(slog.NewTextHandler(&b, nil)).Info("x", "key", k, "holder", holder)
			return b.Bytes(), nil
		},
	} {
		out, err := encode()
		require.NoError(t, err)
		assert.NotContains(t, string(out), "secret")
		assert.Contains(t, string(out), "redacted")
	}
	assert.Equal(t, "[redacted]", k.String())
	assert.Equal(t, "[redacted]", k.GoString())
	assert.True(t, Key{}.IsZero())
}

type withKey struct{ K Key }

func TestParseKey(t *testing.T) {
	for _, bad := range []string{"", "  \n", "two words-secret", "a\nsecret", "séecret", "secret\x00"} {
		_, err := ParseKey(bad)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "secret")
	}
}

// A fakeRing is a keyring in memory; down makes it fail, like a machine
// without one.
type fakeRing struct {
	keys map[string]string
	down error
}

func (r *fakeRing) get(p string) (string, error) {
	if r.down != nil {
		return "", r.down
	}
	if r.keys[p] == "" {
		return "", ErrNoKey
	}
	return r.keys[p], nil
}

func (r *fakeRing) set(p, secret string) error {
	if r.down == nil {
		r.keys[p] = secret
	}
	return r.down
}

func (r *fakeRing) delete(p string) error {
	if r.down == nil {
		delete(r.keys, p)
	}
	return r.down
}

func key(t *testing.T, s string) Key {
	k, err := ParseKey(s)
	require.NoError(t, err)
	return k
}

func TestStore(t *testing.T) {
	noBus := errors.New(`exec: "dbus-launch": executable file not found in $PATH`)
	for name, r := range map[string]ring{
		"ring":    &fakeRing{keys: map[string]string{}},
		"no ring": &fakeRing{down: noBus},
		"never":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "config", "dsh-acp")
			s := &store{ring: r, file: keyFileIn(dir)}
			_, _, err := s.Get(Anthropic)
			require.ErrorIs(t, err, ErrNoKey)
			require.NoError(t, s.Delete(Anthropic), "nothing to delete")
			for _, p := range []string{Anthropic, OpenAI, Anthropic} {
				where, err := s.Set(p, key(t, "sk-"+p))
				require.NoError(t, err)
				k, found, err := s.Get(p)
				require.NoError(t, err)
				assert.Equal(t, "sk-"+p, k.Reveal())
				assert.Equal(t, where, found)
			}
			_, err = os.Stat(filepath.Join(dir, "keys.json"))
			if name == "ring" {
				assert.ErrorIs(t, err, os.ErrNotExist)
			} else {
				info, err := os.Stat(filepath.Join(dir, "keys.json"))
				require.NoError(t, err)
				if runtime.GOOS != "windows" {
					assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
				}
			}
			require.NoError(t, s.Delete(Anthropic))
			_, _, err = s.Get(Anthropic)
			require.ErrorIs(t, err, ErrNoKey)
			_, _, err = s.Get(OpenAI)
			require.NoError(t, err)
			require.NoError(t, s.Delete(OpenAI))
			left, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// Moving into the keyring takes the key out of the file.
func TestStoreMovesKey(t *testing.T) {
	r := &fakeRing{keys: map[string]string{}, down: errors.New("locked")}
	s := &store{ring: r, file: keyFileIn(t.TempDir())}
	_, err := s.Set(Anthropic, key(t, "old"))
	require.NoError(t, err)
	r.down = nil
	k, where, err := s.Get(Anthropic)
	require.NoError(t, err)
	assert.Equal(t, "old", k.Reveal())
	assert.Equal(t, string(s.file), where)
	where, err = s.Set(Anthropic, key(t, "new"))
	require.NoError(t, err)
	assert.Equal(t, inRing, where)
	_, err = os.Stat(string(s.file))
	assert.ErrorIs(t, err, os.ErrNotExist)
	r.down = errors.New("locked")
	_, _, err = s.Get(Anthropic)
	assert.ErrorIs(t, err, ErrNoKey, "the old key does not come back")
}

func TestKeyFileFaults(t *testing.T) {
	for text, why := range map[string]string{
		`{"anthropic": "sk-secret"`:     "not a JSON object",
		`["sk-secret"]`:                 "not a JSON object",
		`null`:                          "not a JSON object",
		`{"anthropic": 5}`:              "not a JSON object",
		`{"anthropic": "sk-secret \n"}`: "",
		`{"anthropic": "sk secret"}`:    "white space",
	} {
		f := keyFileIn(t.TempDir())
		require.NoError(t, os.WriteFile(string(f), []byte(text), 0o600))
		_, _, err := (&store{file: f}).Get(Anthropic)
		if why == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, why)
		assert.NotContains(t, err.Error(), "secret")
		assert.NotErrorIs(t, err, ErrNoKey)
	}
	if runtime.GOOS == "windows" {
		return // modes say nothing there
	}
	f := keyFileIn(t.TempDir())
	require.NoError(t, os.WriteFile(string(f), []byte(`{"anthropic": "sk-secret"}`), 0o600))
	require.NoError(t, os.Chmod(string(f), 0o644))
	_, _, err := (&store{file: f}).Get(Anthropic)
	require.ErrorContains(t, err, "chmod 600")
	_, err = (&store{}).Set(Anthropic, key(t, "k"))
	require.ErrorContains(t, err, "set HOME")
}

// A ring that hangs is given up on, once.
func TestSilentRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := &hangingRing{release: make(chan struct{})}
		s := &store{ring: &patientRing{ring: hang, limit: ringTimeout}, file: keyFileIn(t.TempDir())}
		start := time.Now()
		where, err := s.Set(Anthropic, key(t, "k"))
		require.NoError(t, err)
		assert.Equal(t, string(s.file), where)
		k, _, err := s.Get(Anthropic)
		require.NoError(t, err)
		assert.Equal(t, "k", k.Reveal())
		require.NoError(t, s.Delete(Anthropic))
		assert.Equal(t, ringTimeout, time.Since(start), "only the first call waits")
		close(hang.release)
		synctest.Wait()
		assert.Equal(t, 1, hang.calls)
	})
}

type hangingRing struct {
	mu      sync.Mutex
	calls   int // guarded by mu
	release chan struct{}
}

func (h *hangingRing) wait() error {
	h.mu.Lock()
	h.calls++
	h.mu.Unlock()
	<-h.release
	return errors.New("too late")
}

func (h *hangingRing) get(string) (string, error) { return "", h.wait() }
func (h *hangingRing) set(string, string) error   { return h.wait() }
func (h *hangingRing) delete(string) error        { return h.wait() }

func TestKeysSetting(t *testing.T) {
	c, err := Load(env(t, map[string]string{"DSH_KEYRING": "never"}))
	require.NoError(t, err)
	keys := c.Keys()
	where, err := keys.Set(OpenAI, key(t, "k"))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(c.Dir, "keys.json"), where)
}

func TestCredential(t *testing.T) {
	for _, c := range []struct {
		name           string
		vars           map[string]string
		stored         string
		secret, scheme string
		where, err     string
	}{
		{name: "variable", vars: map[string]string{"ANTHROPIC_API_KEY": "e"}, stored: "s", secret: "e", scheme: AuthAPIKey, where: "environment ANTHROPIC_API_KEY"},
		{name: "token", vars: map[string]string{"ANTHROPIC_AUTH_TOKEN": "e"}, secret: "e", scheme: AuthBearer, where: "environment ANTHROPIC_AUTH_TOKEN"},
		{name: "scheme is set", vars: map[string]string{"ANTHROPIC_API_KEY": "e", "DSH_AUTH_SCHEME": "bearer"}, secret: "e", scheme: AuthBearer, where: "environment ANTHROPIC_API_KEY"},
		{name: "stored", stored: "s", secret: "s", scheme: AuthAPIKey, where: inRing},
		{name: "named variable", vars: map[string]string{"DSH_API_KEY_ENV": "MINE", "MINE": "m", "ANTHROPIC_API_KEY": "e"}, secret: "m", scheme: AuthAPIKey, where: "environment MINE"},
		{name: "named variable is empty", vars: map[string]string{"DSH_API_KEY_ENV": "MINE", "ANTHROPIC_API_KEY": "e"}, secret: "e", scheme: AuthAPIKey, where: "environment ANTHROPIC_API_KEY"},
		{name: "openai", vars: map[string]string{"DSH_PROVIDER": "openai", "OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "e"}, secret: "o", scheme: AuthBearer, where: "environment OPENAI_API_KEY"},
		{name: "none", err: "no key for anthropic: run dsh-acp login, or set ANTHROPIC_API_KEY"},
		{name: "none for openai", vars: map[string]string{"DSH_PROVIDER": "openai"}, err: "set OPENAI_API_KEY"},
		{name: "none needed", vars: map[string]string{"DSH_NO_KEY": "1"}, stored: "s", scheme: AuthAPIKey},
		{name: "none needed, but given", vars: map[string]string{"DSH_NO_KEY": "1", "ANTHROPIC_API_KEY": "e"}, secret: "e", scheme: AuthAPIKey, where: "environment ANTHROPIC_API_KEY"},
		{name: "scripted", vars: map[string]string{"DSH_PROVIDER": "scripted", "DSH_SCRIPT_FILE": "/s", "ANTHROPIC_API_KEY": "e"}},
		{name: "bad variable", vars: map[string]string{"ANTHROPIC_API_KEY": "sk secret"}, stored: "s", err: "environment ANTHROPIC_API_KEY: the key holds white space"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := env(t, c.vars)
			cfg, err := Load(src)
			require.NoError(t, err)
			s := &store{ring: &fakeRing{keys: map[string]string{Anthropic: c.stored}}, file: keyFileIn(t.TempDir())}
			got, err := cfg.Credential(src, s)
			if c.err != "" {
				var missing *MissingKeyError
				require.ErrorAs(t, err, &missing)
				assert.ErrorContains(t, err, c.err)
				assert.NotContains(t, err.Error(), "secret")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.secret, got.Key.Reveal())
			assert.Equal(t, c.scheme, got.Scheme)
			assert.Equal(t, c.where, got.Where)
		})
	}
}
