package text

import (
	"iter"
	"slices"
	"strings"
)

// FindAll returns the offsets of all matches of needle, in order, also of
// matches that overlap: "aa" is found twice in "aaa". An empty needle has
// none. The time is linear in the length of both.
func FindAll(haystack, needle string) []int {
	return slices.Collect(Matches(haystack, needle))
}

// Matches yields what [FindAll] returns, one by one.
func Matches(haystack, needle string) iter.Seq[int] {
	return func(yield func(int) bool) {
		if needle == "" {
			return
		}
		at := strings.Index(haystack, needle)
		if at < 0 || !yield(at) {
			return
		}
		// Two matches are at least a period apart. The one that is exactly a
		// period on shares all but its tail with the match before, so that
		// only the tail is compared; without this, a long run of one letter
		// would cost the square.
		p := period(needle)
		tail := needle[len(needle)-p:]
		for {
			if strings.HasPrefix(haystack[at+len(needle):], tail) {
				at += p
			} else {
				i := strings.Index(haystack[at+p:], needle)
				if i < 0 {
					return
				}
				at += p + i
			}
			if !yield(at) {
				return
			}
		}
	}
}

// FindApart returns the offsets of matches from left to right that do not
// overlap: those that a replacement of all matches replaces.
func FindApart(haystack, needle string) []int {
	if needle == "" {
		return nil
	}
	var found []int
	for at := 0; ; {
		i := strings.Index(haystack[at:], needle)
		if i < 0 {
			return found
		}
		found = append(found, at+i)
		at += i + len(needle)
	}
}

// period returns the least p > 0 such that s, shifted by p, agrees with itself.
func period(s string) int {
	border := make([]int32, len(s)+1) // border[i]: of s[:i], the longest
	border[0] = -1
	k := int32(-1)
	for i := range len(s) {
		for k >= 0 && s[k] != s[i] {
			k = border[k]
		}
		k++
		border[i+1] = k
	}
	return len(s) - int(border[len(s)])
}
