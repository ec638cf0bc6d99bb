package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"dsh-acp/internal/model"
)

const longestText = 600 // bytes of a service's own words in an error

// Answered makes the failure of a request that the service answered with an
// error. words are the service's own, from its error object, or else the body
// as it came.
func Answered(status int, h http.Header, words string) *Failure {
	words = shorten(strings.TrimSpace(words))
	e := &model.Error{Status: status, Text: words}
	if e.Text == "" {
		e.Text = http.StatusText(status)
	}
	switch {
	case tooLong(status, words):
		e.Kind = model.KindContextFull
		e.Text += ". The conversation no longer fits into the model's context window: sum it up (/compact), start a new session, or choose a model with a larger window"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Kind = model.KindAuth
	case status == http.StatusTooManyRequests:
		e.Kind = model.KindRate
	case status == 529 || status == http.StatusServiceUnavailable:
		e.Kind = model.KindOverloaded
	case status >= 500 || status == http.StatusRequestTimeout:
		e.Kind = model.KindServer
	default:
		e.Kind = model.KindInvalid
	}
	if status == http.StatusNotFound {
		e.Text += " (check the base URL and the model's name in the settings)"
	}
	return &Failure{Cause: e, Header: h}
}

// Words takes a service's own words from the body of an error, in the forms
// that services use; they are the body itself where it has another form.
func Words(body []byte) string {
	for _, path := range []string{"error.message", "error", "message", "detail", "0.error.message"} {
		if r := gjson.GetBytes(body, path); r.Type == gjson.String && r.Str != "" {
			return r.Str
		}
	}
	return strings.TrimSpace(string(body))
}

// ErrorBody reads the body of an answer that an SDK has taken for an error.
func ErrorBody(res *http.Response) (http.Header, []byte) {
	if res == nil || res.Body == nil {
		return nil, nil
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	return res.Header, body
}

func tooLong(status int, words string) bool {
	if status == http.StatusRequestEntityTooLarge {
		return true // in bytes: a shorter conversation helps here too
	}
	if status != http.StatusBadRequest {
		return false
	}
	w := strings.ToLower(words)
	for _, sign := range []string{
		"prompt is too long", "context_length_exceeded", "maximum context length", "exceed context limit",
		"exceeds the context", "context window", "context size",
	} {
		if strings.Contains(w, sign) {
			return true
		}
	}
	return false
}

// Unreached makes the failure of a request that got no answer, or whose
// connection broke. It names the host alone: a whole address may hold secrets.
func Unreached(base string, err error) *Failure {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	text := fmt.Sprintf("no answer from %s: %s", host(base), shorten(err.Error()))
	if ne, ok := errors.AsType[*net.OpError](err); ok && ne.Op == "dial" {
		text = fmt.Sprintf("cannot connect to %s: %s", host(base), shorten(ne.Err.Error()))
	}
	return &Failure{Cause: &model.Error{Kind: model.KindNetwork, Text: text, Err: err}}
}

// Broken makes the failure of a stream that ended before its end.
func Broken(why string, err error) *Failure {
	if err != nil {
		why += ": " + shorten(err.Error())
	}
	return &Failure{Cause: &model.Error{Kind: model.KindStream, Text: why, Err: err}}
}

func host(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return "the model service"
	}
	return u.Host
}

func shorten(s string) string {
	if len(s) <= longestText {
		return s
	}
	return strings.ToValidUTF8(s[:longestText], "") + "…"
}

// Redact returns s without the secret, wherever a service repeated it.
func Redact(s, secret string) string {
	if len(secret) < 4 {
		return s
	}
	return strings.ReplaceAll(s, secret, "[redacted]")
}
