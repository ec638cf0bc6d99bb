package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// Ripgrep is [Grep] by the program of that name. Its dialect of expressions
// holds, in which \w, \d, \s and \b know more than ASCII, and its list of
// ignore files; what Tree.Allow denies is searched, but never told. It fails
// with ErrRipgrep if the program does not take the expression, or does not run.
func Ripgrep(ctx context.Context, program string, tree Tree, q Query) (Found, error) {
	cmd := exec.CommandContext(ctx, program, ripgrepArgs(q)...)
	cmd.Dir = tree.Root.Name()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Found{}, fmt.Errorf("%w: %w", ErrRipgrep, err)
	}
	if err := cmd.Start(); err != nil {
		return Found{}, fmt.Errorf("%w: %w", ErrRipgrep, err)
	}
	r := reading{tree: tree, above: levels(tree.Above), q: &q, cut: newScanner(&q), to: newCollector(q.Keep, q.Mode == Lines, newestFirst)}
	readErr := r.all(out)
	_, _ = io.Copy(io.Discard, out) // so that it can end
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Found{}, ctx.Err()
	case readErr != nil:
		return Found{}, fmt.Errorf("%w: %w", ErrRipgrep, readErr)
	case errors.As(err, &exit) && exit.ExitCode() == 2 && !r.some:
		return Found{}, fmt.Errorf("%w: %w", ErrRipgrep, err)
	}
	return r.to.result(), nil // 1 is nothing found, 2 with hits a file that could not be read
}

// ErrRipgrep says that the search has to be made without the program.
var ErrRipgrep = errors.New("ripgrep")

func ripgrepArgs(q Query) []string {
	args := []string{"--json", "--no-config", "--hidden", "--no-messages", "--no-require-git", "--no-ignore-global", "--no-ignore-parent", "-g", "!.git"}
	if q.Mode == Names {
		args = append(args, "--max-count=1")
	}
	if q.Mode == Lines {
		args = append(args, fmt.Sprintf("-B%d", q.Before), fmt.Sprintf("-A%d", q.After))
	}
	if q.Pattern.multiline {
		args = append(args, "--multiline", "--multiline-dotall")
	}
	if !q.Pattern.cr {
		args = append(args, "--crlf")
	}
	return append(args, "-e", q.Pattern.re.String(), "--", ".")
}

// reading takes what the program writes.
type reading struct {
	tree  Tree
	above *level
	q     *Query
	cut   *scanner // for how lines are shown
	to    *collector

	hit  Hit
	last int // line of hit that was taken last
	some bool
}

// A ripgrepMessage is one line of the program's output.
type ripgrepMessage struct {
	Type string `json:"type"`
	Data struct {
		Path   ripgrepText `json:"path"`
		Lines  ripgrepText `json:"lines"`
		Number int         `json:"line_number"`
		Binary *int64      `json:"binary_offset"`
	} `json:"data"`
}

// ripgrepText is a text, or bytes that are none.
type ripgrepText struct {
	Text  *string `json:"text"`
	Bytes []byte  `json:"bytes"`
}

func (t ripgrepText) bytes() []byte {
	if t.Text != nil {
		return []byte(*t.Text)
	}
	return t.Bytes
}

func (r *reading) all(out io.Reader) error {
	d := json.NewDecoder(out)
	for {
		var m ripgrepMessage
		if err := d.Decode(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		switch m.Type {
		case "begin":
			r.hit, r.last = Hit{}, 0
		case "match":
			r.hit.Matches++
			r.lines(m, true)
		case "context":
			r.lines(m, false)
		case "end":
			if m.Data.Binary == nil {
				r.end(strings.TrimPrefix(string(m.Data.Path.bytes()), "./"))
			}
		}
	}
}

// lines takes the lines of a match, or one of context.
func (r *reading) lines(m ripgrepMessage, match bool) {
	if r.q.Mode != Lines {
		return
	}
	number := m.Data.Number
	for line := range bytes.SplitAfterSeq(m.Data.Lines.bytes(), []byte{'\n'}) {
		if len(line) == 0 {
			break
		}
		if len(r.hit.Lines) < r.q.Keep {
			r.hit.Lines = append(r.hit.Lines, Line{
				Number: number, Text: r.cut.text(r.cut.unended(line), match), Match: match,
				Gap: r.last > 0 && number != r.last+1,
			})
		}
		r.hit.Total++
		r.last = number
		number++
	}
}

// end takes a file if it may be told of.
func (r *reading) end(name string) {
	r.some = true
	dirs := strings.Split(name, "/")
	if slices.ContainsFunc(dirs, VersionControl) || !r.q.Files.Match(name, path.Base(name)) {
		return
	}
	for i, d := range dirs {
		part := strings.Join(dirs[:i+1], "/")
		if r.tree.Allow != nil && !r.tree.Allow(part) || r.above.ignores(part, d, i < len(dirs)-1) {
			return
		}
	}
	info, err := r.tree.Root.Lstat(name)
	if err != nil {
		return // it is gone
	}
	r.hit.Path, r.hit.Time = name, info.ModTime()
	r.to.add(r.hit)
}
