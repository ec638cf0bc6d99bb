package shell

import "slices"

// answering are programs that exit with 1 to say that what they looked for is
// not there, or not so.
var answering = []string{"grep", "egrep", "fgrep", "rg", "diff", "cmp", "test", "["}

// Answers reports whether the exit code 1 of a command is an answer and no
// failure. The last program of a list or pipeline decides, since it gives the
// code. It is false for what is more than a list of simple commands.
func Answers(command string) bool {
	list, ok := parse(command)
	if !ok || len(list) == 0 {
		return false
	}
	last := list[len(list)-1]
	if len(last.words) == 0 || last.words[0].glob && last.words[0].text != "[" {
		return false
	}
	if name := last.words[0].text; name != "git" {
		return slices.Contains(answering, name)
	}
	return len(last.words) > 1 && last.words[1].text == "grep"
}
