package eventlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"

	"dsh-acp/internal/msg"
)

// Version is the format that this package reads and writes.
const Version = 0

// A Header is the first line of a log: what is known of the session from its
// start. It is not an event and never reaches the model.
type Header struct {
	Version   int    `json:"version"`   // always Version
	ID        string `json:"id"`        // see ValidID
	CreatedAt int64  `json:"createdAt"` // Unix milliseconds, not negative
	// Cwd is the absolute folder that the session was created in; "" if none.
	Cwd string `json:"cwd,omitempty"`
	// ParentSession is the id of the session that this one was forked from.
	ParentSession string `json:"parentSession,omitempty"`
	// SeedLength counts the first events that were inherited; nil if it was
	// never seeded.
	SeedLength *int64 `json:"seedLength,omitempty"`
	// DelegationDepth is 0 at the top, 1 for a session that a session began.
	DelegationDepth int `json:"delegationDepth,omitempty"`
}

// A VersionError says that a log has another format.
type VersionError struct {
	Path    string
	Version int64
}

func (e *VersionError) Error() string {
	age, way := "newer", "use the newer dsh-acp that wrote it"
	if e.Version < Version {
		age, way = "older", "use the older dsh-acp that wrote it"
	}
	return fmt.Sprintf("%s: line 1: format version %d is %s than %d, the one that this program reads; %s",
		e.Path, e.Version, age, Version, way)
}

// check says why h cannot head the log of the session id.
func (h Header) check(id string) error {
	switch {
	case h.ID != id:
		return fmt.Errorf("id is %.80q, but the file belongs to %q", h.ID, id)
	case h.CreatedAt < 0 || h.CreatedAt > msg.MaxInteger:
		return fmt.Errorf("createdAt is %d, not a time in milliseconds", h.CreatedAt)
	case h.SeedLength != nil && *h.SeedLength < 0:
		return fmt.Errorf("seedLength is %d, want 0 or more", *h.SeedLength)
	case h.DelegationDepth < 0:
		return fmt.Errorf("delegationDepth is %d, want 0 or more", h.DelegationDepth)
	}
	return nil
}

// encode gives the header's line, for a new log.
func (h Header) encode() ([]byte, error) {
	if err := ValidID(h.ID); err != nil {
		return nil, err
	}
	if h.Version != Version {
		return nil, fmt.Errorf("session header: version is %d, want %d", h.Version, Version)
	}
	if h.Cwd != "" && !filepath.IsAbs(h.Cwd) {
		return nil, fmt.Errorf("session header: cwd %q is not absolute", h.Cwd)
	}
	if err := h.check(h.ID); err != nil {
		return nil, fmt.Errorf("session header: %w", err)
	}
	line, err := encodeTyped(h)
	if err != nil {
		return nil, fmt.Errorf("session header: %w", err)
	}
	return append(line, '\n'), nil
}

// decodeHeader reads the first line. Members that it does not know are left
// alone: they cannot change what the events mean.
func decodeHeader(path, id string, line []byte) (Header, error) {
	damage := func(why string) error { return &DamageError{Path: path, Line: 1, Why: why} }
	var must struct {
		Version   *int64  `json:"version"`
		ID        *string `json:"id"`
		CreatedAt *int64  `json:"createdAt"`
	}
	if err := json.Unmarshal(bytes.TrimSuffix(line, []byte("\n")), &must); err != nil {
		return Header{}, damage("not a session header: " + err.Error())
	}
	switch {
	case must.Version == nil || must.ID == nil || must.CreatedAt == nil:
		return Header{}, damage("not a session header: version, id or createdAt is missing")
	case *must.Version != Version:
		return Header{}, &VersionError{Path: path, Version: *must.Version}
	}
	var h Header
	if err := json.Unmarshal(line, &h); err != nil {
		return Header{}, damage("not a session header: " + err.Error())
	}
	if err := h.check(id); err != nil {
		return Header{}, damage("header: " + err.Error())
	}
	return h, nil
}
