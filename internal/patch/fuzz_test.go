package patch

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsh-acp/internal/text"
)

// FuzzMake holds the laws of a plan for two text operations: bytes outside of
// the places stay, counts agree with the texts, and a refusal leaves no plan.
func FuzzMake(f *testing.F) {
	f.Add("a\nb\nc\n", "a", "x", 1, "c", "z")
	f.Add("a\r\nb\r\nc", "a\nb", "x\ny", 3, "c", "")
	f.Add("  x  \n\ty\n", "x\ny", "q", 2, "\ty", "\n")
	f.Add("\uFEFFaaa", "aa", "b", 1, "aaa", "b")
	f.Add("a\rb\nc\r\n", "a\r", "", 2, "c", "d\r\n")
	f.Fuzz(func(t *testing.T, before, search, replace string, line int, oldText, newText string) {
		doc, err := text.ParseString(before)
		if err != nil || search == "" {
			t.Skip()
		}
		for _, s := range []string{search, replace, oldText, newText} {
			if _, err := text.ParseString(s); err != nil {
				t.Skip()
			}
		}
		for _, mode := range []Mode{Exact, Trim, Indent} {
			req := Request{Operations: []Operation{
				ReplaceText{Path: "f", Search: search, Replace: replace, Expect: 1, Fuzzy: mode},
				ReplaceRange{Path: "f", Start: line, End: line, OldText: oldText, Text: newText},
			}}
			p, errs := Make(req, map[string]*File{"f": {Path: "f", State: Regular, Doc: doc}}, Options{})
			if (p == nil) != (len(errs) > 0) {
				t.Fatalf("plan %v with errors %v", p, errs)
			}
			if p == nil {
				_ = errs.Report(nil)
				continue
			}
			checkCounts(t, doc, p.Files[0])
			// All see the text before, so that their order does not matter.
			slices.Reverse(req.Operations)
			turned, errs := Make(req, map[string]*File{"f": {Path: "f", State: Regular, Doc: doc}}, Options{})
			if errs != nil || turned.Files[0].After.Raw() != p.Files[0].After.Raw() {
				t.Fatalf("%q in another order: %v, %v", before, turned, errs)
			}
			checkAlone(t, doc, req.Operations[1].(ReplaceText))
			checkAlone(t, doc, req.Operations[0].(ReplaceRange))
		}
	})
}

// checkAlone compares what one operation does with a simple way to do it.
func checkAlone(t *testing.T, before text.Doc, o Operation) {
	t.Helper()
	p, errs := Make(Request{Operations: []Operation{o}}, map[string]*File{"f": {Path: "f", State: Regular, Doc: before}}, Options{})
	if errs != nil {
		if errs.Code() != CodeNoChange {
			t.Fatalf("%+v alone: %v", o, errs)
		}
		return
	}
	after := p.Files[0].After
	switch o := o.(type) {
	case ReplaceText:
		if len(p.Files[0].Notes) > 0 {
			return // tolerance, or other line ends
		}
		if want := strings.Replace(before.Text(), o.Search, o.Replace, 1); after.WithBOM(false).Text() != want && !strings.HasPrefix(want, "\uFEFF") {
			t.Fatalf("%q with %+v: %q, want %q", before.Raw(), o, after.Raw(), want)
		}
	case ReplaceRange:
		head := before.Text()[:before.LineStart(o.Start)]
		tail := before.Text()[before.LineStart(o.End+1):]
		got := after.Text()
		if tail == "" && o.Text == "" {
			head = strings.TrimSuffix(strings.TrimSuffix(head, "\n"), "\r") // its break may go
		}
		if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, tail) {
			t.Fatalf("%q with %+v: %q, which changed other lines", before.Raw(), o, got)
		}
	}
}

func checkCounts(t *testing.T, before text.Doc, c FileChange) {
	t.Helper()
	if got, want := c.After.Lines()-before.Lines(), c.Added-c.Removed; got != want {
		t.Fatalf("%q became %q: %d lines more, +%d -%d", before.Raw(), c.After.Raw(), got, c.Added, c.Removed)
	}
	if before.BOM() && !c.After.BOM() {
		t.Fatalf("%q became %q: the mark is gone", before.Raw(), c.After.Raw())
	}
}

// FuzzSplice compares places with a slow way to make them.
func FuzzSplice(f *testing.F) {
	f.Add("abcdef", 1, 2, 2, 2, 5, 5)
	f.Add("abcdef", 0, 6, 3, 3, 6, 6)
	f.Fuzz(func(t *testing.T, s string, a, b, c, d, e, g int) {
		spans := []span{{0, a, b, "<1>", false}, {1, c, d, "<2>", false}, {2, e, g, "<3>", false}}
		for i, x := range spans {
			if x.start < 0 || x.end < x.start || x.end > len(s) {
				t.Skip()
			}
			for _, y := range spans[:i] {
				if clash(x, y) != clash(y, x) {
					t.Fatalf("%v and %v clash one way only", x, y)
				}
				if clash(x, y) {
					t.Skip()
				}
			}
		}
		sortSpans(spans)
		want := s
		for i := len(spans) - 1; i >= 0; i-- {
			x := spans[i]
			want = want[:x.start] + x.text + want[x.end:]
		}
		if got := splice(s, spans); got != want {
			t.Fatalf("%q with %v: %q, want %q", s, spans, got, want)
		}
	})
}

// FuzzDecode looks for panics, and for plans of what was refused.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"operations":[{"op":"replace_text","path":"a","search":"s","replace":"r","expect":2,"fuzzy":"trim"}]}`))
	f.Add([]byte(`{"operations":[{"op":"set_json","path":"a","pointer":"/x","value":{"y":[1,null]}}],"dryRun":true}`))
	f.Add([]byte(`{"operations":[{"op":"insert_json","path":"a","pointer":"","index":0,"value":"\ud83d\ude00"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		req, errs := Decode(raw, Limits{})
		if errs != nil {
			_ = errs.Report(nil)
			return
		}
		files := map[string]*File{}
		for _, o := range req.Operations {
			if o != nil {
				files[o.Target()] = &File{Path: o.Target(), State: Regular, Doc: mustParse(t, "{\"s\": [\"s\"]}\n")}
			}
		}
		if p, errs := Make(req, files, Options{}); errs == nil {
			if len(req.faults) > 0 {
				t.Fatalf("planned although %v", req.faults)
			}
			_ = p.Report().Text()
		}
	})
}

func TestLineCountsByPlacesAgree(t *testing.T) {
	// Far more places than are compared as a whole.
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d old\nkeep\n", i)
	}
	for _, c := range []struct {
		replace        string
		added, removed int
	}{
		{"new", 5000, 5000}, {"new\nmore", 10_000, 5000}, {"old\nmore", 5000, 0}, {"old", 0, 0},
	} {
		req := Request{Operations: []Operation{
			ReplaceText{Path: "f", Search: "old", Replace: c.replace, Expect: 5000},
			AppendText{Path: "f", Text: "end\n"},
		}}
		p, errs := Make(req, world{"f": b.String()}.files(t, req), Options{})
		if errs != nil {
			t.Fatal(errs)
		}
		if f := p.Files[0]; f.Added != c.added+1 || f.Removed != c.removed {
			t.Errorf("%q: +%d -%d, want +%d -%d", c.replace, f.Added, f.Removed, c.added+1, c.removed)
		}
	}
}

// BenchmarkPlanMany plans 200 operations over 64 files of 1,000 lines.
func BenchmarkPlanMany(b *testing.B) {
	w := world{}
	for i := range 64 {
		var s strings.Builder
		for l := range 1000 {
			fmt.Fprintf(&s, "\tline %d of file %d has some text in it\n", l, i)
		}
		w[fmt.Sprintf("f%d", i)] = s.String()
	}
	var ops []string
	for i := range 200 {
		f, l := i%64, 100+i/64*200
		ops = append(ops, fmt.Sprintf(`{"op":"replace_text","path":"f%d","search":"line %d of","replace":"row %d of\n\tand"}`, f, l, l))
	}
	raw := []byte(`{"operations":[` + strings.Join(ops, ",") + `]}`)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		req, _ := Decode(raw, Limits{})
		files := w.files(b, req) // parsed anew: a document keeps its index
		b.StartTimer()
		req, _ = Decode(raw, Limits{})
		if _, errs := Make(req, files, Options{}); errs != nil {
			b.Fatal(errs)
		}
	}
}

// BenchmarkTenThousandMatches replaces 10,000 matches in one file.
func BenchmarkTenThousandMatches(b *testing.B) {
	var s strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&s, "line %d has a needle in it\nand %d has none\n", i, i)
	}
	req := Request{Operations: []Operation{ReplaceText{Path: "f", Search: "needle", Replace: "pin", Expect: 10_000}}}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		files := world{"f": s.String()}.files(b, req)
		b.StartTimer()
		if _, errs := Make(req, files, Options{}); errs != nil {
			b.Fatal(errs)
		}
	}
}
