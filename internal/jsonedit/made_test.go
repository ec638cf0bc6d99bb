package jsonedit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A maker writes random documents with comments, blanks and commas in all the
// places where they may stand, and remembers the pointers into them.
type maker struct {
	*rand.Rand
	pointers []string
}

func (m *maker) pick(words ...string) string { return words[m.IntN(len(words))] }

// space is what may stand between two tokens.
func (m *maker) space() string {
	var b strings.Builder
	for range m.IntN(3) {
		b.WriteString(m.pick(" ", "  ", "\t", "\n", "\n  ", "\r\n\t", "/* c */", "/*\n*/", "// l\n", "// \"x\", }\r\n"))
	}
	return b.String()
}

func (m *maker) scalar() string {
	return m.pick("1", "-0.50", "1e9", "true", "null", `"s"`, `"// no"`, `"\"/*"`, `""`)
}

func (m *maker) value(at string, depth int) string {
	m.pointers = append(m.pointers, at)
	kind := m.IntN(3)
	if depth == 0 || kind == 0 {
		return m.scalar()
	}
	bracket := []string{"{}", "[]"}[kind-1]
	var b strings.Builder
	b.WriteByte(bracket[0])
	n := m.IntN(4)
	for i := range n {
		b.WriteString(m.space())
		step := fmt.Sprint(i)
		if kind == 1 {
			step = m.pick("a", "b", "c") + step
			b.WriteString(`"` + step + `"` + m.space() + ":" + m.space())
		}
		b.WriteString(m.value(at+"/"+step, depth-1) + m.space())
		if i < n-1 || m.IntN(4) == 0 {
			b.WriteByte(',')
		}
	}
	b.WriteString(m.space())
	b.WriteByte(bracket[1])
	m.pointers = append(m.pointers, at+"/-", at+"/new")
	return b.String()
}

// TestLawsOnMadeDocuments: the laws of the fuzz test, on documents that it
// would not find soon.
func TestLawsOnMadeDocuments(t *testing.T) {
	m := &maker{Rand: rand.New(rand.NewPCG(1, 2))}
	changed := 0
	for range 4000 {
		m.pointers = nil
		in := m.space() + m.value("", 3) + m.space()
		at := m.pick(m.pointers...)
		if m.IntN(3) == 0 {
			at = fmt.Sprintf("+%d %s", m.IntN(3), at)
		}
		value := (&maker{Rand: m.Rand}).plain(2)
		if laws(t, in, at, value) {
			changed++
		}
	}
	assert.Greater(t, changed, 2000)
}

// plain is a value without comments, as calls have it.
func (m *maker) plain(depth int) string {
	kind := m.IntN(3)
	if depth == 0 || kind == 0 {
		return m.scalar()
	}
	var parts []string
	for i := range m.IntN(4) {
		v := m.plain(depth - 1)
		if kind == 1 {
			v = fmt.Sprintf("%q:%s", m.pick("a", "b", "c", "new")+fmt.Sprint(i), v)
		}
		parts = append(parts, v)
	}
	s := strings.Join(parts, ",")
	if kind == 1 {
		return "{" + s + "}"
	}
	return "[" + s + "]"
}
