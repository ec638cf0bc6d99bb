package config

import "strings"

// nearest gives the candidate that text was most likely meant to be, or "".
func nearest(text string, candidates []string) string {
	best, least := "", 1+len(text)/3
	low := strings.ToLower(text)
	for _, c := range candidates {
		// The last part alone is close too: maxLines for read.maxLines.
		last := c[strings.LastIndexByte(c, '.')+1:]
		d := min(distance(low, strings.ToLower(c)), 1+distance(low, strings.ToLower(last)))
		if d <= least {
			best, least = c, d-1
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that lead from a to b.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now := rows[(i-1)%3], rows[i%3], rows[(i+1)%3]
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
