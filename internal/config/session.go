package config

import (
	"errors"
	"maps"
)

// ForSession is c with what a client set for one session on top: an object
// as in the settings file, of the settings that hold for single sessions. An
// empty text and null set nothing. Lists take the place of those of c and are
// not added to them. If something is bad the error joins a *[SessionError] for
// each fault, and c is given back as it was. src finds the home folder.
func (c Config) ForSession(src Source, object []byte) (Config, error) {
	if len(object) == 0 || string(object) == "null" {
		return c, nil
	}
	out := c
	if out.origins = maps.Clone(c.origins); out.origins == nil {
		out.origins = map[string]Origin{}
	}
	r := fileReader{config: &out, text: object, session: true}
	r.read()
	if err := errors.Join(append(r.errs, out.expand(src)...)...); err != nil {
		return c, err
	}
	return out, nil
}

// perSession names the settings that a client may set for a session.
func perSession() []string {
	var names []string
	for i := range table {
		if table[i].session {
			names = append(names, table[i].Name)
		}
	}
	return names
}
