package acp

import (
	"context"
	"strings"
	"unicode/utf8"

	"dsh-acp/internal/msg"
	"dsh-acp/presenter"
)

// giveTitle names the session after its first prompt that has words, and
// reports whether it was that.
func (sess *session) giveTitle(t *turn) bool {
	title := titleOf(t.prompt)
	sess.mu.Lock()
	titled := sess.titled || title == ""
	sess.titled = sess.titled || title != ""
	sess.mu.Unlock()
	if titled {
		return false
	}
	sess.setTitle(t.ctx, title)
	return true
}

func (sess *session) setTitle(ctx context.Context, title string) {
	if err := sess.opened.Work.Record(msg.Titled{Title: title}); err != nil {
		sess.srv.cfg.Log.Error().Err(err).Msg("the title was not stored")
		return
	}
	sess.send(ctx, presenter.SessionInfo{Title: title, UpdatedAt: timestamp(sess.srv.cfg.Now())})
}

// betterTitle has the host find a title while the session goes on. One that
// does not come before the session is closed does not come at all.
func (sess *session) betterTitle(prompt msg.Blocks) {
	find, ctx := sess.opened.Title, sess.aside
	if find == nil {
		return
	}
	sess.srv.work.do("title of "+sess.opened.ID, func() {
		defer func() {
			if v := recover(); v != nil {
				sess.srv.logPanic("title", v)
			}
		}()
		title, err := find(ctx, prompt)
		switch title = cutTitle(title); {
		case ctx.Err() != nil:
		case err != nil:
			sess.srv.cfg.Log.Info().Err(err).Msg("the first prompt stays the title")
		case title != "":
			sess.setTitle(ctx, title)
		}
	})
}

// maxTitle is the length of a title in characters.
const maxTitle = 80

// titleOf is the prompt's first line of text.
func titleOf(prompt msg.Blocks) string { return cutTitle(prompt.PlainText()) }

// cutTitle is a text's first line that is not empty, cut at a word.
func cutTitle(text string) string {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) <= maxTitle {
			return line
		}
		cut := string([]rune(line)[:maxTitle-1])
		if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 {
			cut = cut[:at]
		}
		return cut + "…"
	}
	return ""
}
