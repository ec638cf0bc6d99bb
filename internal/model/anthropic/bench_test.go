package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dsh-acp/internal/model"
	"dsh-acp/internal/msg"
)

// BenchmarkTextDeltas reads 20,000 text deltas from a service on loopback.
// The time per operation includes the service's own.
func BenchmarkTextDeltas(b *testing.B) {
	var all strings.Builder
	event := func(e string) {
		var head struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal([]byte(e), &head)
		all.WriteString("event: " + head.Type + "\ndata: " + e + "\n\n")
	}
	event(start)
	event(begin(0, textBlock))
	for range 20_000 {
		event(text(0, "some words of an answer, "))
	}
	event(end(0))
	event(stopText)
	event(stop)
	body := all.String()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, body)
	}))
	defer s.Close()
	p := New(Config{BaseURL: s.URL})
	req := model.Request{Messages: []model.Message{user("hi")}}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		if _, err := p.Stream(b.Context(), req, func(d msg.Delta) {
			if _, ok := d.(msg.TextDelta); ok {
				n++
			}
		}); err != nil || n != 20_000 {
			b.Fatal(n, err)
		}
	}
}
