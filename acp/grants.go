package acp

import (
	"fmt"
	"maps"
	"slices"

	"dsh-acp/internal/msg"
)

// grants are those of a session, as its host sees them.
type grants struct{ sess *session }

func (g grants) List() []string {
	g.sess.mu.Lock()
	defer g.sess.mu.Unlock()
	return slices.Sorted(maps.Keys(g.sess.grants))
}

func (g grants) Revoke(scope string) error {
	g.sess.mu.Lock()
	defer g.sess.mu.Unlock()
	if !g.sess.grants[scope] {
		return fmt.Errorf("there is no permission %q", scope)
	}
	if err := g.sess.opened.Work.Record(msg.Revoked{Scope: scope}); err != nil {
		return err
	}
	delete(g.sess.grants, scope)
	return nil
}
