package hashline

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// slowSure counts shortest paths: a pair is sure if all of them use it.
func slowSure(a, b []int32) []int32 {
	n, m := len(a), len(b)
	// head[i][j] and rest[i][j]: distance and number of shortest paths from the
	// start to (i,j), and from there to the end.
	type cell struct{ dist, paths int }
	grid := func() [][]cell {
		g := make([][]cell, n+1)
		for i := range g {
			g[i] = make([]cell, m+1)
		}
		return g
	}
	join := func(to *cell, from cell, cost int) {
		d := from.dist + cost
		if to.paths == 0 || d < to.dist {
			*to = cell{d, from.paths}
		} else if d == to.dist {
			to.paths += from.paths
		}
	}
	head, rest := grid(), grid()
	for i := 0; i <= n; i++ {
		for j := 0; j <= m; j++ {
			if i == 0 && j == 0 {
				head[0][0] = cell{0, 1}
				continue
			}
			if i > 0 {
				join(&head[i][j], head[i-1][j], 1)
			}
			if j > 0 {
				join(&head[i][j], head[i][j-1], 1)
			}
			if i > 0 && j > 0 && a[i-1] == b[j-1] {
				join(&head[i][j], head[i-1][j-1], 0)
			}
		}
	}
	for i := n; i >= 0; i-- {
		for j := m; j >= 0; j-- {
			if i == n && j == m {
				rest[n][m] = cell{0, 1}
				continue
			}
			if i < n {
				join(&rest[i][j], rest[i+1][j], 1)
			}
			if j < m {
				join(&rest[i][j], rest[i][j+1], 1)
			}
			if i < n && j < m && a[i] == b[j] {
				join(&rest[i][j], rest[i+1][j+1], 0)
			}
		}
	}
	out := make([]int32, n)
	for i := range n {
		out[i] = -1
		for j := range m {
			if a[i] == b[j] && head[i][j].dist+rest[i+1][j+1].dist == head[n][m].dist &&
				head[i][j].paths*rest[i+1][j+1].paths == head[n][m].paths {
				out[i] = int32(j)
			}
		}
	}
	return out
}

func TestSureAgreesWithCountingPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	kept := 0
	for range 20_000 {
		letters := 1 + r.IntN(6)
		line := func() int32 { return int32(r.IntN(letters)) }
		a := make([]int32, r.IntN(12))
		for i := range a {
			a[i] = line()
		}
		var b []int32
		for _, x := range a {
			switch r.IntN(6) {
			case 0:
			case 1:
				b = append(b, line(), x)
			case 2:
				b = append(b, line())
			default:
				b = append(b, x)
			}
		}
		got, ok := sure(a, b)
		require.True(t, ok)
		require.Equal(t, slowSure(a, b), got.to, "%v %v", a, b)
		for _, to := range got.to {
			if to >= 0 {
				kept++
			}
		}
	}
	require.Greater(t, kept, 10_000)
}

func FuzzSure(f *testing.F) {
	f.Add([]byte("abcd"), []byte("acd"))
	f.Add([]byte("qxyxyr"), []byte("qyxyxr"))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		if len(x) > 14 || len(y) > 14 {
			return
		}
		number := func(s []byte) []int32 {
			out := make([]int32, len(s))
			for i, c := range s {
				out[i] = int32(c % 5)
			}
			return out
		}
		a, b := number(x), number(y)
		got, ok := sure(a, b)
		require.True(t, ok)
		require.Equal(t, slowSure(a, b), got.to)
	})
}

func TestSureGivesUp(t *testing.T) {
	a, b := make([]int32, maxDistance), make([]int32, maxDistance)
	for i := range b {
		b[i] = 1
	}
	_, ok := sure(a, b)
	require.False(t, ok)
	_, ok = sure(a[:maxDistance/2], b[:maxDistance/2])
	require.True(t, ok)
}

func TestOccurs(t *testing.T) {
	number := func(s string) []int32 {
		var out []int32
		for _, c := range s {
			out = append(out, c)
		}
		return out
	}
	for _, c := range []struct {
		ids, part string
		want      int
	}{{"abcabd", "ab", 2}, {"abcabd", "abd", 1}, {"aaa", "aa", 2}, {"aab", "aa", 1}, {"ab", "c", 0}, {"ab", "", 0}, {"ab", "abc", 0}, {"ababac", "abac", 1}} {
		require.Equal(t, c.want, occurs(number(c.ids), number(c.part)), c)
	}
}
