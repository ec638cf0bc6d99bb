package msg

import (
	"strconv"
	"strings"
)

// LoneSurrogate returns the first \u escape in JSON text that is half of a
// surrogate pair, or "". encoding/json reads such a half as U+FFFD without a
// word, which is another text than the one that was sent.
func LoneSurrogate(raw string) string {
	for i := strings.IndexByte(raw, '\\'); i >= 0 && i+1 < len(raw); {
		width := 2
		if r, ok := unicodeEscape(raw[i:]); ok {
			width = 6
			if r >= 0xD800 && r <= 0xDFFF {
				low, ok := unicodeEscape(raw[i+6:])
				if r >= 0xDC00 || !ok || low < 0xDC00 || low > 0xDFFF {
					return raw[i : i+6]
				}
				width = 12
			}
		}
		next := strings.IndexByte(raw[i+width:], '\\')
		if next < 0 {
			break
		}
		i += width + next
	}
	return ""
}

func unicodeEscape(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(n), err == nil
}
