package shell

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

var readCases = []struct {
	command string
	reads   string // joined with blanks; "!" if it is no command that only reads
}{
	{"ls", ""},
	{"wc -l poem.txt", "poem.txt"},
	{"cat a.txt b/c.txt", "a.txt b/c.txt"},
	{`grep -n "a b" x.go | head -n 3`, "a b x.go 3"},
	{"grep -rn needle . 2>/dev/null; echo done", "needle ."},
	{"grep -f/etc/passwd x", "/etc/passwd x"},
	{"cat --file=/etc/x", "/etc/x"},
	{"cat < in.txt", "in.txt"},
	{"cd sub && ls x", "sub sub/x"},
	{"cd /etc && cat passwd", "/etc /etc/passwd"},
	{"echo started; sleep 30; echo ended", ""},
	{"echo 'a > b; $(rm x)'", ""},
	{`echo "a \" b" 2>&1`, ""},
	{"find . -name '*.go'", ". *.go"},
	{"git status --short", ""},
	{"git --no-pager log -3 --oneline -- a.go", "a.go"},
	{"git branch -a", ""},
	{"go version", ""},
	{"python3 --version", ""},
	{"date +%s", ""},
	{"sort a | uniq -c", "a"},
	{"ls *.go", "*.go"},
	{"a=1 ls", "!"},
	{"", "!"},
	{"ls > out", "!"},
	{"ls >> out", "!"},
	{"ls &> out", "!"},
	{"ls >& out", "!"},
	{"> out", "!"},
	{"rm x", "!"},
	{"ls; rm x", "!"},
	{"ls && rm x", "!"},
	{"ls | xargs rm", "!"},
	{"ls\nrm x", "!"},
	{"ls &", "!"},
	{"ls & rm x", "!"},
	{"ls $(rm x)", "!"},
	{"ls `rm x`", "!"},
	{`ls "$(rm x)"`, "!"},
	{"cat $HOME/x", "!"},
	{"cat ~/x", "!"},
	{"cat --file=~/x", "!"},
	{"cat {a,b}", "!"},
	{"cat .*/secret", "!"},
	{"cat <(rm x)", "!"},
	{"cat <<EOF\nx\nEOF", "!"},
	{"(rm x)", "!"},
	{"{ rm x; }", "!"},
	{"if true; then rm x; fi", "!"},
	{"! ls", "!"},
	{"time ls", "!"},
	{"'ls' # rm", "!"},
	{"l\\s", ""},
	{"'rm' x", "!"},
	{"r''m x", "!"},
	{"ls 'unclosed", "!"},
	{"ls |", ""},
	{"ls > ", "!"},
	{"ls |& rm", "!"},
	{"env", "!"},
	{"exit 3", "!"},
	{"find . -delete", "!"},
	{"find . -exec rm {} +", "!"},
	{"find *", "!"},
	{"sort -o x x", "!"},
	{"sort -uo x x", "!"},
	{"sort --outp=x x", "!"},
	{"sort *", "!"},
	{"uniq a b", "!"},
	{"rg --pre rm x", "!"},
	{"date -s 10:00", "!"},
	{"date 01010000", "!"},
	{"git checkout x", "!"},
	{"git branch x", "!"},
	{"git branch -D x", "!"},
	{"git tag v1", "!"},
	{"git -c core.pager=rm log", "!"},
	{"git diff --ext-diff", "!"},
	{"git diff --output=x", "!"},
	{"git log --outpu x", "!"},
	{"git grep -Orm x", "!"},
	{"python3 -c 'x'", "!"},
	{"/bin/ls", "!"},
	{"l* x", "!"},
	{"cd sub && cat ../x", "!"},
	{"cd -", "!"},
	{"ls\r\n", "!"},
}

func TestOnlyReading(t *testing.T) {
	for _, c := range readCases {
		a := Analyse(c.command)
		assert.Equal(t, c.reads != "!", a.ReadOnly, "%q: reads only", c.command)
		if a.ReadOnly {
			assert.Equal(t, c.reads, strings.Join(a.Reads, " "), "%q: reads", c.command)
			assert.Empty(t, a.Writes, "%q: writes", c.command)
		}
	}
}

func TestRulesAndWrites(t *testing.T) {
	for _, c := range []struct {
		command, rule string
		exact         bool
		writes        string
	}{
		{"go test ./...", "go test", false, ""},
		{"npm run build -- --watch", "npm run build", false, ""},
		{"git commit -m 'a b'", "git commit", false, ""},
		{"go test ./... > log", "go test ./... > log", true, "log"},
		{"go test ./... && rm -rf x", "", true, "x"},
		{"cd sub && go test", "cd sub && go test", true, ""},
		{"cd sub && make > log", "cd sub && make > log", true, "sub/log"},
		{"go", "go", true, ""},
		{"go -C x test", "go -C x test", true, ""},
		{"./run.sh", "./run.sh", true, ""},
		{"touch made.txt", "", true, "made.txt"},
		{"chmod +x run.sh", "", true, "run.sh"},
		{"printf 'made\\n' > made.txt && cat made.txt", "printf 'made\\n' > made.txt && cat made.txt", true, "made.txt"},
		{"for i in 1 2; do echo $i; done", "", false, ""},
		{"npm $(x)", "", false, ""},
		{"echo out; echo err >&2; exit 3", "echo out; echo err >&2; exit 3", true, ""},
	} {
		a := Analyse(c.command)
		assert.Equal(t, c.rule, a.Rule, "%q: rule", c.command)
		assert.Equal(t, c.exact, a.Exact, "%q: exact", c.command)
		assert.Equal(t, c.writes, strings.Join(a.Writes, " "), "%q: writes", c.command)
	}
}

// A command that only reads has none of what could make it do more.
func FuzzAnalyse(f *testing.F) {
	for _, c := range readCases {
		f.Add(c.command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		a := Analyse(command)
		if !a.ReadOnly {
			return
		}
		list, ok := parse(command)
		if !ok {
			t.Fatalf("%q is said to read only, but was not understood", command)
		}
		for _, c := range list {
			name := ""
			if len(c.words) > 0 {
				name = c.words[0].text
			}
			_, reads := readers[name]
			if !reads && name != "git" && name != "cd" && len(c.words) != 2 {
				t.Fatalf("%q runs %q", command, name)
			}
		}
	})
}
