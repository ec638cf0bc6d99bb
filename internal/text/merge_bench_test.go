package text

import (
	"fmt"
	"strings"
	"testing"
)

// A stale view, from which 50,000 lines have drifted in 1,000 places.
func BenchmarkMerge(b *testing.B) {
	var base, ours strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&base, "line %d of it\n", i)
		if i%50 == 3 {
			fmt.Fprintf(&ours, "drift %d\n", i)
		}
		fmt.Fprintf(&ours, "line %d of it\n", i)
	}
	theirs := strings.Replace(base.String(), "line 30000 of", "LINE of", 1)
	for _, c := range []struct{ name, ours, theirs string }{
		{"drifted in ours", ours.String(), theirs},
		{"drifted in theirs", theirs, ours.String()},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Merge(known(base.String()), known(c.ours), known(c.theirs)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
