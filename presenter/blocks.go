package presenter

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"dsh-acp/internal/msg"
)

// blocks draws diffs, and notes below them what is not shown.
func (cv canvas) blocks(diffs []FileDiff, hunksLeftOut int) []ToolContent {
	out := make([]ToolContent, 0, len(diffs)+1)
	bytesLeftOut := 0
	for _, f := range diffs {
		if f.Path == "" {
			continue // a client has nowhere to draw it
		}
		item := DiffItem{Path: absolute(cv.cwd, f.Path)}
		var cut int
		item.NewText, cut = cutLines(f.NewText, cv.textMax)
		bytesLeftOut += cut
		if f.OldText != nil {
			old, cut := cutLines(*f.OldText, cv.textMax)
			item.OldText = &old
			bytesLeftOut += cut
		}
		out = append(out, item)
	}
	if bytesLeftOut > 0 {
		out = append(out, textItem(fmt.Sprintf("The text is too long to show here; %d bytes are left out.", bytesLeftOut)))
	}
	if hunksLeftOut > 0 {
		out = append(out, hunksNote(hunksLeftOut))
	}
	return out
}

// statsOf counts the lines of diffs that are hunks. For texts from a call's
// arguments nobody has counted, and then it returns nil.
func statsOf(diffs []FileDiff) []DiffStat {
	var out []DiffStat
	for _, f := range diffs {
		if f.Path == "" {
			continue // not drawn
		}
		if f.OldStart == 0 && f.NewStart == 0 {
			return nil
		}
		out = append(out, DiffStat{Added: f.Added, Removed: f.Removed, Coarse: f.Coarse})
	}
	return out
}

func hunksNote(n int) ToolContent {
	if n == 1 {
		return textItem("1 more hunk of this change is not shown.")
	}
	return textItem(fmt.Sprintf("%d more hunks of this change are not shown.", n))
}

// foldArgs shows texts from a call's arguments the way that hunks are shown:
// lines end in LF, and a byte order mark is the file's, not the line's.
func foldArgs(diffs []FileDiff) []FileDiff {
	out := make([]FileDiff, len(diffs))
	for i, f := range diffs {
		f.NewText = foldText(f.NewText)
		if f.OldText != nil {
			old := foldText(*f.OldText)
			f.OldText = &old
		}
		out[i] = f
	}
	return out
}

func foldText(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, "\uFEFF"), "\r\n", "\n")
}

// cutLines cuts s to whole lines of at most limit bytes together, and returns
// how many bytes it left out. A single longer line is cut within.
func cutLines(s string, limit int) (kept string, leftOut int) {
	if len(s) <= limit {
		return s, 0
	}
	end := strings.LastIndexByte(s[:limit], '\n') + 1
	if end == 0 {
		for end = limit; end > 0 && !utf8.RuneStart(s[end]); end-- {
		}
	}
	return s[:end], len(s) - end
}

// leaveIfEmpty turns empty content into none, which keeps what the client shows.
func leaveIfEmpty(content []ToolContent) []ToolContent {
	if len(content) == 0 {
		return nil
	}
	return content
}

// withNumbers writes each line behind its number and a tab.
func withNumbers(first int, lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, "%d\t%s\n", max(first, 1)+i, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// fenced puts a code fence with the info string around each text; nil is no fence.
func fenced(bs []ContentBlock, info *string) []ContentBlock {
	if info == nil {
		return bs
	}
	out := make([]ContentBlock, len(bs))
	for i, b := range bs {
		if t, ok := b.Block.(msg.Text); ok {
			b = ContentBlock{Block: msg.Text{Text: fence(t.Text, *info)}}
		}
		out[i] = b
	}
	return out
}

// fence puts s into a code fence that nothing in s can close: only backticks
// at the start of a line can.
func fence(s, info string) string {
	longest := 0
	for line := range strings.Lines(s) {
		line = strings.TrimLeft(line, " ")
		longest = max(longest, len(line)-len(strings.TrimLeft(line, "`")))
	}
	marks := strings.Repeat("`", max(3, longest+1))
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return marks + info + "\n" + s + marks
}
