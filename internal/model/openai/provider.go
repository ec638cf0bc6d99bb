// Package openai streams answers from a chat completions endpoint: OpenAI's,
// or one of the many services and local servers that speak the same. It reads
// no environment and no key store. It asks for nothing that only one server
// has, and it never runs a request again of which a part was already passed on.
//
// The SDK builds the requests and cuts the stream into events; chunks are
// decoded here, since servers add fields of their own (reasoning_content) and
// end streams in ways of their own.
package openai

import (
	"context"
	"errors"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"dsh-acp/internal/model"
	"dsh-acp/internal/model/transport"
	"dsh-acp/internal/msg"
)

// Defaults of [Config].
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	DefaultModel   = "gpt-5"
)

// Config says where and how to send requests.
type Config struct {
	BaseURL   string // with its version, such as http://127.0.0.1:11434/v1; "" means DefaultBaseURL
	Key       string // sent as Authorization: Bearer; "" sends none, as local servers want it
	KeyHeader string // the header for the key alone, such as api-key; "" means the bearer form
	Model     string // for requests that name none; "" means DefaultModel
	MaxTokens int64  // for requests that name none; 0 leaves it to the server
	Limits    transport.Limits
	Retry     transport.Policy
	// Headers are sent with each request.
	Headers map[string]string
	// HTTP is the client that connects; nil means one of the provider's own.
	HTTP *http.Client
}

// A Provider is a [model.Provider] for chat completions.
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
	cfg.BaseURL = strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/chat/completions")
	if cfg.Model == "" {
		cfg.Model = DefaultModel
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	opts := []option.RequestOption{
		option.WithHTTPClient(cfg.HTTP),
		option.WithBaseURL(cfg.BaseURL + "/"),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
	}
	for k, v := range cfg.Headers {
		opts = append(opts, option.WithHeader(k, v))
	}
	switch {
	case cfg.Key == "":
	case cfg.KeyHeader != "":
		opts = append(opts, option.WithHeader(cfg.KeyHeader, cfg.Key))
	default:
		opts = append(opts, option.WithHeader("Authorization", "Bearer "+cfg.Key))
	}
	// Not NewClient, which reads keys and headers from the environment.
	return &Provider{cfg: cfg, client: sdk.Client{Options: opts}}
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
		reply = r.reply()
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

func (p *Provider) attempt(ctx context.Context, params sdk.ChatCompletionNewParams, r *reader) error {
	call, idle := transport.Watch(ctx, p.cfg.Limits)
	defer idle.Stop()
	var res *http.Response
	err := p.client.Post(call, "chat/completions", params, &res,
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
	if res != nil && res.StatusCode >= 400 {
		// The SDK could not read the error's body as one of OpenAI's.
		h, body := transport.ErrorBody(res)
		return transport.Answered(res.StatusCode, h, transport.Words(body))
	}
	return transport.Unreached(p.cfg.BaseURL, err)
}
