// Package anthropic streams answers from the Anthropic Messages API, or from
// any service that speaks it. It reads no environment, no profile file and no
// key store: what it sends is what its [Config] says. It never runs a request
// again of which a part was already passed on.
//
// The SDK builds the requests and cuts the stream into events; the events
// themselves are decoded here. The SDK's event type spends several times the
// processor time on each delta, hides pings, and takes a stream that breaks
// off for one that ended.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"dsh-acp/internal/model"
	"dsh-acp/internal/model/transport"
	"dsh-acp/internal/msg"
)

// Defaults of [Config].
const (
	DefaultBaseURL = "https://api.anthropic.com"
	DefaultModel   = "claude-opus-5-5"
	// DefaultMaxTokens is used where the model's own limit is not lower. It is
	// enough for a large file in one call, and low enough that a runaway answer ends.
	DefaultMaxTokens = 32_000
)

// Schemes of [Config].Auth.
const (
	AuthKey    = "x-api-key" // the service's own header
	AuthBearer = "bearer"    // Authorization: Bearer, as gateways want it
)

// Config says where and how to send requests. The zero Config reaches the
// public service without a key, which refuses it.
type Config struct {
	BaseURL   string // "" means DefaultBaseURL; a final /v1 is taken off
	Key       string // "" sends none
	Auth      string // AuthKey or AuthBearer; "" means AuthKey
	Model     string // for requests that name none; "" means DefaultModel
	MaxTokens int64  // for requests that name none; 0 means DefaultMaxTokens
	Limits    transport.Limits
	Retry     transport.Policy
	// Headers are sent with each request.
	Headers map[string]string
	// HTTP is the client that connects; nil means one of the provider's own.
	HTTP *http.Client
}

// A Provider is a [model.Provider] for the Messages API.
type Provider struct {
	cfg    Config
	client sdk.Client
}

var _ model.Provider = (*Provider)(nil)

// New makes a provider. It connects to nothing.
func New(cfg Config) *Provider {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	cfg.BaseURL = strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1")
	if cfg.Model == "" {
		cfg.Model = DefaultModel
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithHTTPClient(cfg.HTTP),
		option.WithBaseURL(cfg.BaseURL + "/"),
		option.WithMaxRetries(0), // the policy's are bounded, the SDK's obey any Retry-After
		option.WithHeader("Accept", "text/event-stream"),
	}
	for k, v := range cfg.Headers {
		opts = append(opts, option.WithHeader(k, v))
	}
	switch {
	case cfg.Key == "":
	case cfg.Auth == AuthBearer:
		opts = append(opts, option.WithHeader("Authorization", "Bearer "+cfg.Key))
	default:
		// The SDK's own key option sends the bearer form.
		opts = append(opts, option.WithHeader("X-Api-Key", cfg.Key))
	}
	return &Provider{cfg: cfg, client: sdk.NewClient(opts...)}
}

// Model returns the model that a request for id goes to, and what is known of it.
func (p *Provider) Model(id string) (string, model.Facts) {
	if id == "" {
		id = p.cfg.Model
	}
	return id, model.Lookup(id)
}

// Stream sends req. See [model.Provider].
func (p *Provider) Stream(ctx context.Context, req model.Request, emit func(msg.Delta)) (model.Reply, error) {
	params := p.params(req)
	var reply model.Reply
	err := p.cfg.Retry.Do(ctx, func() error {
		r := newReader(string(params.Model), emit)
		err := p.attempt(ctx, params, r)
		reply = r.reply(err != nil)
		var f *transport.Failure
		if errors.As(err, &f) {
			f.Shown = r.shown
		}
		return err
	})
	var e *model.Error
	if errors.As(err, &e) {
		e.Text = transport.Redact(e.Text, p.cfg.Key)
	}
	return reply, err
}

func (p *Provider) attempt(ctx context.Context, params sdk.MessageNewParams, r *reader) error {
	call, idle := transport.Watch(ctx, p.cfg.Limits)
	defer idle.Stop()
	var res *http.Response
	err := p.client.Post(call, "v1/messages", params, &res,
		option.WithJSONSet("stream", true), option.WithMiddleware(idle.Middleware))
	if err == nil {
		err = r.read(res)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if given := transport.GivenUp(call); given != nil {
		return given
	}
	var f *transport.Failure
	if errors.As(err, &f) {
		return err
	}
	var api *sdk.Error
	if errors.As(err, &api) {
		h, body := transport.ErrorBody(api.Response)
		return transport.Answered(api.StatusCode, h, transport.Words(body))
	}
	return transport.Unreached(p.cfg.BaseURL, err)
}
