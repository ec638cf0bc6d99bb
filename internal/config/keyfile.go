package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// A keyFile is the path of the file that holds keys where there is no
// keyring: a JSON object from provider to key, readable by its owner alone.
// Its errors never repeat what is in it.
type keyFile string

func keyFileIn(dir string) keyFile {
	if dir == "" {
		return ""
	}
	return keyFile(filepath.Join(dir, "keys.json"))
}

func (f keyFile) load() (map[string]string, error) {
	keys := map[string]string{}
	if f == "" {
		return keys, nil
	}
	info, err := os.Stat(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return keys, nil
	}
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	// Windows has no such bits; there the profile folder is the user's own.
	if perm := info.Mode().Perm(); runtime.GOOS != "windows" && perm&0o077 != 0 {
		return nil, fmt.Errorf("key file %s: others may read it (mode %04o), so it is not used; run chmod 600 on it, and change the key if others could have seen it", f, perm)
	}
	b, err := os.ReadFile(string(f))
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	if json.Unmarshal(b, &keys) != nil || keys == nil {
		return nil, fmt.Errorf("key file %s: it is not a JSON object from provider to key; remove it and run dsh-acp login", f)
	}
	return keys, nil
}

func (f keyFile) get(provider string) (string, error) {
	keys, err := f.load()
	if err != nil {
		return "", err
	}
	if keys[provider] == "" {
		return "", ErrNoKey
	}
	return keys[provider], nil
}

func (f keyFile) set(provider, secret string) error {
	if f == "" {
		return fmt.Errorf("key file: %w", errNoHome)
	}
	keys, err := f.load()
	if err != nil {
		return err
	}
	keys[provider] = secret
	return f.save(keys)
}

func (f keyFile) delete(provider string) error {
	keys, err := f.load()
	if err != nil {
		return err
	}
	if _, ok := keys[provider]; !ok {
		return nil
	}
	delete(keys, provider)
	if len(keys) == 0 {
		return os.Remove(string(f))
	}
	return f.save(keys)
}

// save replaces the file in one step; its mode is 0600 from the first byte.
func (f keyFile) save(keys map[string]string) error {
	b, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		return fmt.Errorf("key file %s: not encodable", f)
	}
	dir := filepath.Dir(string(f))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("key file: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".keys-*")
	if err != nil {
		return fmt.Errorf("key file: %w", err)
	}
	_, err = tmp.Write(append(b, '\n'))
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), string(f))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("key file: %w", err), os.Remove(tmp.Name()))
	}
	return nil
}
