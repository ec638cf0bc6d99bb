package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// A conversation is summed up by the model itself, and the summary takes the
// place of all messages so far: of whole ones, so that no result is ever
// without its call. The log keeps them, and the user sees them as before.

// ErrNothingToCompact says that there is no conversation to sum up.
var ErrNothingToCompact = errors.New("there is nothing to sum up yet")

var errNoReplacer = errors.New("the log of this conversation takes no summary")

// A reason is why the conversation is summed up.
type reason int

const (
	wished reason = iota // by the user
	tight                // the next request is likely not to fit
	full                 // it did not fit
)

// nearlyFull is the share of the window, in percent, above which the next
// request waits for a summary: what is left must hold an answer.
const nearlyFull = 90

const askSummary = `The conversation above is about to be replaced by a summary, and from then on you will see nothing of it but that. Write the summary now, for yourself, without calling a tool. Keep:
- what the user wants, in their words where these matter, with every rule or wish that still holds;
- what was done: files read, made or changed, with their paths, and what was found out about them;
- commands that matter and how they ended;
- decisions with their reasons, and what was tried and did not work;
- what was under way last, and the exact next step.
Write names, paths, numbers and error texts as they are. Leave out what no longer matters.`

const summaryHead = "The conversation so far no longer fits, so this summary, which you wrote yourself, stands for it. " +
	"Files may have changed since: read a file again before you rely on its text.\n\n"

// canCompact reports whether there is more than the turn's own prompt.
func (t *turn) canCompact() bool {
	_, ok := t.s.cfg.Log.(Replacer)
	return ok && !t.compacted && (t.before > 0 || t.step > 1) && t.s.cfg.Params().Compact
}

// makeRoom sums the conversation up when the next request is likely not to fit.
func (t *turn) makeRoom(ctx context.Context) error {
	window := t.s.cfg.Params().Window
	if window <= 0 || t.s.level*100 < window*nearlyFull || len(t.s.history) == 0 || !t.canCompact() {
		return nil
	}
	err := t.compact(ctx, tight)
	if _, broken := errors.AsType[*LogError](err); broken || ctx.Err() != nil {
		return err
	}
	return nil // the request may fit all the same; if not, its own error tells
}

// askOrCompact asks the model; if the service says that the conversation is
// too long, it asks once more with a summary in its place.
func (t *turn) askOrCompact(ctx context.Context) (msg.Assistant, error) {
	before := len(t.s.history)
	answer, err := t.ask(ctx)
	if !isFull(err) || len(t.s.history) != before || !t.canCompact() {
		return answer, err
	}
	if again := t.compact(ctx, full); again != nil {
		if _, broken := errors.AsType[*LogError](again); broken || ctx.Err() != nil {
			return answer, again
		}
		return answer, err
	}
	return t.ask(ctx)
}

func isFull(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Kind == model.KindContextFull
}

// compact sums all messages up. If the turn's own prompt is one of them, it
// stays, word for word, behind the summary.
func (t *turn) compact(ctx context.Context, why reason) error {
	s := t.s
	log, ok := s.cfg.Log.(Replacer)
	switch {
	case !ok:
		return errNoReplacer
	case len(s.history) == 0:
		return ErrNothingToCompact
	}
	t.compacted = why != wished
	id := s.names.fresh("", s.cfg.NewID())
	s.cfg.Sink.Delta(msg.Compacting{ID: id})
	summary, usage, err := t.summarize(ctx, why == full)
	if err != nil {
		s.cfg.Sink.Delta(msg.Compacting{ID: id, Failed: validWords(err.Error()), Cancelled: ctx.Err() != nil})
		return err
	}
	content := msg.Blocks{msg.Text{Text: summaryHead + summary}}
	if t.step > 0 && !t.command {
		content = append(content, msg.Text{Text: "The work goes on with the user's last message, which follows."})
		content = append(content, t.prompt...)
	}
	m := msg.UserMessage{ID: s.cfg.NewID(), Role: "user", Source: msg.Source{Kind: "agent"}, Content: validText(content)}
	e, err := log.Replace(m, 0, s.last)
	if err != nil {
		return &LogError{Err: err}
	}
	count := len(s.history)
	s.last, s.history = e.Seq, tell(nil, m)
	t.before = 1
	s.cfg.Sink.Event(e)
	done := msg.Compacted{ID: id, Summary: validWords(summary), Messages: count, Auto: why != wished}
	if usage != (msg.Usage{}) {
		done.Usage = &usage
	}
	return t.add(done)
}

// summarize asks the model for a summary. tooLong says that the service has
// refused the conversation as it is already.
func (t *turn) summarize(ctx context.Context, tooLong bool) (string, msg.Usage, error) {
	s := t.s
	params := s.cfg.Params()
	if err := t.sync(); err != nil {
		return "", msg.Usage{}, err
	}
	tries := []func([]model.Message) []model.Message{
		func(h []model.Message) []model.Message { return h },
		func(h []model.Message) []model.Message { return clipped(h, 2000) },
		func(h []model.Message) []model.Message { return clipped(lastHalf(h), 500) },
	}
	if tooLong {
		tries = tries[1:]
	}
	var used msg.Usage
	for i, shorter := range tries {
		reply, err := s.cfg.Provider.Stream(ctx, model.Request{
			Model: params.Model, System: params.System, MaxTokens: params.MaxTokens, Tools: s.cfg.Tools.Specs(),
			Messages: append(shorter(s.history), model.Message{Role: "user", Content: msg.Blocks{msg.Text{Text: askSummary}}}),
		}, func(msg.Delta) {})
		used = used.Add(reply.Usage)
		switch {
		case isFull(err) && i+1 < len(tries):
			continue
		case err != nil:
			return "", used, err
		}
		text := strings.TrimSpace(reply.Message.Content.PlainText())
		if text == "" || reply.Message.StopReason == msg.StopRefusal {
			return "", used, &model.Error{Kind: model.KindInvalid, Text: "the model gave no summary of the conversation; it stays as it is"}
		}
		return text, used, nil
	}
	panic("agent: no way to ask for a summary")
}

// clipped shortens results to that many bytes each and leaves pictures out.
func clipped(history []model.Message, most int) []model.Message {
	out := make([]model.Message, len(history))
	for i, m := range history {
		out[i] = m
		if m.Role == "user" {
			out[i].Content = words(m.Content, 4*most)
		}
		out[i].Results = nil
		for _, r := range m.Results {
			r.Content = words(r.Content, most)
			out[i].Results = append(out[i].Results, r)
		}
	}
	return out
}

// words is what blocks say, cut in the middle.
func words(bs msg.Blocks, most int) msg.Blocks {
	var parts []string
	for _, b := range bs {
		if _, picture := b.(msg.Image); picture {
			parts = append(parts, "(a picture)")
		} else if s := model.Mention(b); s != "" {
			parts = append(parts, s)
		}
	}
	text := strings.Join(parts, "\n\n")
	if cut := len(text) - most; cut > 0 {
		text = validWords(text[:most/2]) + fmt.Sprintf("\n(%d bytes left out)\n", cut) + validWords(text[len(text)-most/2:])
	}
	return msg.Blocks{msg.Text{Text: text}}
}

// lastHalf begins with a user's message in the later half, if there is one.
func lastHalf(history []model.Message) []model.Message {
	for i := len(history) / 2; i < len(history); i++ {
		if history[i].Role == "user" {
			return history[i:]
		}
	}
	return history
}

func validWords(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
