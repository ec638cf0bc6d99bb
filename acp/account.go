package acp

import (
	"context"
	"encoding/json"

	acpsdk "github.com/coder/acp-go-sdk"
)

// authenticate looks whether there is a key by now: the key itself is given
// in a terminal, by another process, or in the environment.
func (s *Server) authenticate(r *request) {
	var p acpsdk.AuthenticateRequest
	if err := json.Unmarshal(r.params, &p); err != nil {
		s.fail(r, badParams("authenticate", r.params, err))
		return
	}
	if p.MethodId != loginMethod {
		s.fail(r, invalidParams("methodId: %.80q is none of ours; %q is", p.MethodId, loginMethod))
		return
	}
	s.run(r, "", func(ctx context.Context) (any, func(), error) {
		return empty{}, nil, s.cfg.Account.Check(ctx)
	})
}

func (s *Server) logout(r *request) {
	s.run(r, "", func(ctx context.Context) (any, func(), error) {
		return empty{}, nil, s.cfg.Account.Logout(ctx)
	})
}
