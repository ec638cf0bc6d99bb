package scripted

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"dsh-acp/internal/model"
	"dsh-acp/internal/model/transport"
	"dsh-acp/internal/msg"
)

// ModelName is what the provider calls its model.
const ModelName = "scripted"

// Options say how a script is played. The zero Options are the usual way.
type Options struct {
	// Piece is the number of bytes of a delta, never within a character; 0
	// means 24, below 0 whole blocks.
	Piece int
	// Replace gives texts that stand in the script for others, such as
	// "${WORKSPACE}". Inside of tool input they are replaced after parsing as
	// JSON text, so values must not need escapes there.
	Replace map[string]string
	// Usage is counted for each answer; zero counts 1200 in and 40 out.
	Usage msg.Usage
	// Loop starts again when the script is used up; otherwise a further
	// request fails.
	Loop bool
}

// A Provider plays one script, also to several sessions at once: each request
// takes the next answer.
type Provider struct {
	opts    Options
	answers [][]step

	mu   sync.Mutex
	next int // guarded by mu: index of the next answer
	left int // guarded by mu: failures that are left of an _http_error; -1: not begun
	sent []model.Request
	msgs int // guarded by mu: number of messages begun
}

var _ model.Provider = (*Provider)(nil)

// New reads a script. The error names what is wrong and where.
func New(script []byte, opts Options) (*Provider, error) {
	answers, err := parse(script)
	if err != nil {
		return nil, err
	}
	switch {
	case opts.Piece == 0:
		opts.Piece = 24
	case opts.Piece < 0:
		opts.Piece = 1 << 30
	}
	if opts.Usage == (msg.Usage{}) {
		opts.Usage = msg.Usage{Input: 1200, Output: 40}
	}
	return &Provider{opts: opts, answers: answers, left: -1}, nil
}

// Requests returns the requests so far, in order.
func (p *Provider) Requests() []model.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]model.Request(nil), p.sent...)
}

// Stream plays the next answer. See [model.Provider].
func (p *Provider) Stream(ctx context.Context, req model.Request, emit func(msg.Delta)) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	steps, id, err := p.take(req)
	if err != nil {
		return model.Reply{}, err
	}
	r := model.Reply{Message: msg.Assistant{ID: id, Role: "assistant", Model: ModelName}}
	emit(msg.MessageStart{MessageID: id, Model: ModelName})
	emit(msg.UsageDelta{Usage: msg.Usage{Input: p.opts.Usage.Input, CachedRead: p.opts.Usage.CachedRead, CachedWrite: p.opts.Usage.CachedWrite}})
	for _, s := range steps {
		if s.stop != "" {
			r.Message.StopReason = s.stop
		}
		if s.block != nil {
			b := p.play(id, s, emit)
			r.Message.Content = append(r.Message.Content, b)
		}
		switch s.end {
		case "hang":
			<-ctx.Done()
			return r, ctx.Err()
		case "break":
			return r, transport.Broken("the model's answer broke off before its end", nil).Cause
		}
		if err := ctx.Err(); err != nil {
			return r, err
		}
	}
	r.Usage = p.opts.Usage
	emit(msg.UsageDelta{Usage: r.Usage})
	if r.Message.StopReason == "" {
		r.Message.StopReason = msg.StopEndTurn
		if len(r.Message.Content.ToolUses()) > 0 {
			r.Message.StopReason = msg.StopToolUse
		}
	}
	return r, nil
}

// take returns the next answer and the id of its message, or the failure that
// the script wants.
func (p *Provider) take(req model.Request) ([]step, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, req)
	if p.next >= len(p.answers) && p.opts.Loop && len(p.answers) > 0 {
		p.next = 0
	}
	if p.next >= len(p.answers) {
		return nil, "", &model.Error{Kind: model.KindInvalid,
			Text: fmt.Sprintf("the script has %d answers, and this is request %d", len(p.answers), len(p.sent))}
	}
	steps := p.answers[p.next]
	if len(steps) > 0 && steps[0].status != 0 {
		if p.left < 0 {
			p.left = steps[0].repeat
		}
		if p.left > 0 {
			p.left--
			if p.left == 0 && len(steps) == 1 {
				p.next, p.left = p.next+1, -1
			}
			return nil, "", transport.Answered(steps[0].status, nil, steps[0].words).Cause
		}
		steps = steps[1:]
	}
	p.next, p.left = p.next+1, -1
	p.msgs++
	return steps, fmt.Sprintf("msg_script%02d", p.msgs), nil
}

// play sends one block in pieces and returns it as it is committed.
func (p *Provider) play(id string, s step, emit func(msg.Delta)) msg.Block {
	switch b := s.block.(type) {
	case msg.Text:
		b.Text = p.fill(b.Text)
		for _, piece := range pieces(b.Text, p.opts.Piece) {
			emit(msg.TextDelta{MessageID: id, Text: piece})
		}
		return b
	case msg.Thinking:
		b.Text = p.fill(b.Text)
		for _, piece := range pieces(b.Text, p.opts.Piece) {
			emit(msg.ThoughtDelta{MessageID: id, Text: piece})
		}
		return b
	case msg.ToolUse:
		emit(msg.ToolStart{CallID: b.ID, Name: b.Name})
		b.Input = p.fill(b.Input)
		if s.cut >= 0 {
			n := min(s.cut, len(b.Input))
			for n > 0 && n < len(b.Input) && !utf8.RuneStart(b.Input[n]) {
				n--
			}
			b.Input, b.Cut = b.Input[:n], true
		}
		for _, piece := range pieces(b.Input, p.opts.Piece) {
			emit(msg.ToolInput{CallID: b.ID, Fragment: piece})
		}
		if !b.Cut {
			emit(msg.ToolReady{Use: b})
		}
		return b
	default:
		return b
	}
}

func (p *Provider) fill(s string) string {
	for from, to := range p.opts.Replace {
		s = strings.ReplaceAll(s, from, to)
	}
	return s
}

// pieces cuts s after every n bytes, or a little later where a character goes on.
func pieces(s string, n int) []string {
	var out []string
	for len(s) > n {
		end := n
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}
