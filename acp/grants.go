package acp

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"dsh-acp/internal/agent"
	"dsh-acp/internal/msg"
)

// granted reports whether the user has allowed a call of this need for the
// session or for its project. A project's permissions that cannot be read are
// none.
func (sess *session) granted(n agent.Need) bool {
	key := scopeOf(n).key
	if key == "" {
		return false
	}
	sess.mu.Lock()
	given := sess.grants[key]
	sess.mu.Unlock()
	if given || sess.opened.Kept == nil {
		return given
	}
	// Another session of the project, in this process or another one, may
	// have kept or taken back since.
	kept, err := sess.opened.Kept.List()
	if err != nil {
		sess.srv.cfg.Log.Warn().Err(err).Msg("permissions of the project: taken as none")
		return false
	}
	return slices.Contains(kept, key) && (key != scopeEdit || sess.inProject(n.Paths))
}

// inProject reports whether paths lie in the folder that the session was
// opened in: other folders of a session are other projects.
func (sess *session) inProject(paths []string) bool {
	for _, p := range paths {
		rel, err := filepath.Rel(sess.cwd, p)
		if err != nil || !filepath.IsLocal(rel) {
			return false
		}
	}
	return len(paths) > 0
}

// grants are those of a session, as its host sees them.
type grants struct{ sess *session }

func (g grants) List() ([]Grant, error) {
	g.sess.mu.Lock()
	scopes := slices.Sorted(maps.Keys(g.sess.grants))
	g.sess.mu.Unlock()
	var out []Grant
	for _, s := range scopes {
		out = append(out, Grant{Scope: s, Words: scopeWords(s)})
	}
	if g.sess.opened.Kept == nil {
		return out, nil
	}
	kept, err := g.sess.opened.Kept.List()
	for _, s := range kept {
		words := scopeWords(s)
		if s == scopeEdit {
			words = "to edit files in the project's folder"
		}
		out = append(out, Grant{Scope: s, Words: words, Project: true})
	}
	return out, err
}

func (g grants) Keep(scope string) error {
	g.sess.mu.Lock()
	given := g.sess.grants[scope]
	g.sess.mu.Unlock()
	switch {
	case !given:
		return fmt.Errorf("there is no permission %q in this session", scope)
	case g.sess.opened.Kept == nil:
		return errors.New("permissions are not kept here beyond a session")
	}
	return g.sess.opened.Kept.Keep(scope)
}

func (g grants) Revoke(was Grant) error {
	if was.Project {
		if g.sess.opened.Kept == nil {
			return errors.New("permissions are not kept here beyond a session")
		}
		return g.sess.opened.Kept.Drop(was.Scope)
	}
	g.sess.mu.Lock()
	defer g.sess.mu.Unlock()
	if !g.sess.grants[was.Scope] {
		return fmt.Errorf("there is no permission %q", was.Scope)
	}
	if err := g.sess.opened.Work.Record(msg.Revoked{Scope: was.Scope}); err != nil {
		return err
	}
	delete(g.sess.grants, was.Scope)
	return nil
}
