package hashline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// many is n lines, a tenth of which are brackets or blank.
func many(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		switch i % 20 {
		case 7:
			lines[i] = "}"
		case 8:
			lines[i] = ""
		default:
			lines[i] = fmt.Sprintf("\tvalue[%d] = compute(%d)", i, i*7)
		}
	}
	return lines
}

func joined(lines []string) string { return strings.Join(lines, "\n") + "\n" }

func BenchmarkTag1MiB(b *testing.B) {
	s := joined(many(40_000))
	d := doc(b, s[:1<<20])
	b.SetBytes(1 << 20)
	for b.Loop() {
		Identify(d)
	}
}

func BenchmarkEdit50000Lines(b *testing.B) {
	s := joined(many(50_000))
	h := recorded(b, s)
	for b.Loop() {
		_, err := Apply(Request{Live: doc(b, s), Versions: h, Tag: h[0].ID.Short().String(), Change: Script{Ops: "replace 25001..25003:\n+x\n+y\ndelete 40000"}})
		require.NoError(b, err)
	}
}

func BenchmarkStaleMerge(b *testing.B) {
	lines := many(50_000)
	h := recorded(b, joined(lines))
	live := make([]string, len(lines))
	copy(live, lines)
	for i := 10; i < len(live); i += 50 { // 1,000 lines
		live[i] += " // drifted"
	}
	s := joined(live)
	for b.Loop() {
		_, err := Apply(Request{Live: doc(b, s), Versions: h, Tag: h[0].ID.Short().String(), Change: Script{Ops: "replace 25001..25003:\n+x\n+y\ndelete 40000"}})
		require.NoError(b, err)
	}
}
