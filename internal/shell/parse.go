package shell

import "strings"

// A word is one word of a command, without its quotes.
type word struct {
	text string
	glob bool // it holds a pattern that the shell expands
}

// A redirect sends output to a file, or takes input from one.
type redirect struct {
	op     string // ">", ">>", ">|", "<", "&>", "&>>", ">&" or "<&"
	target word
}

// A simple command is a program with its arguments.
type simple struct {
	words     []word
	redirects []redirect
}

// parse splits a command line into its simple commands. It knows words,
// quotes, redirections and the operators ; && || | and nothing else: what
// expands a variable, runs a command inside another, opens a block or gives
// input in place is not taken apart, and ok is false. It reads as bash does,
// or not at all.
func parse(line string) (list []simple, ok bool) {
	p := parser{in: line}
	for p.at < len(p.in) {
		if !p.step() {
			return nil, false
		}
	}
	if !p.endWord() || p.pending != "" {
		return nil, false
	}
	p.endCommand()
	return p.out, true
}

type parser struct {
	in  string
	at  int
	out []simple

	cur     simple
	text    []byte // of the open word
	open    bool   // there is one, possibly empty
	quoted  bool   // a part of it was quoted
	glob    bool
	pending string // a redirection that waits for its target
}

// reserved are words that open a construct where a command begins.
const reserved = " if then else elif fi for while until do done case esac select function time coproc [[ ! { } "

// step takes the next character or operator. false: it is beyond this parser.
func (p *parser) step() bool {
	c := p.in[p.at]
	switch c {
	case ' ', '\t':
		p.at++
		return p.endWord()
	case '\n', ';', '|', '&':
		return p.operator()
	case '<', '>':
		return p.redirection()
	case '\'':
		end := strings.IndexByte(p.in[p.at+1:], '\'')
		if end < 0 {
			return false
		}
		p.add(p.in[p.at+1 : p.at+1+end])
		p.quoted = true
		p.at += end + 2
		return true
	case '"':
		return p.double()
	case '\\':
		if p.at+1 == len(p.in) {
			return false
		}
		if p.in[p.at+1] != '\n' {
			p.add(p.in[p.at+1 : p.at+2])
			p.quoted = true
		}
		p.at += 2
		return true
	case '*', '?', '[':
		p.glob = true
	case '#', '~':
		// A comment, or a home folder; inside of a word they are what they are,
		// but for ~ behind = and :.
		if !p.open || c == '~' && strings.HasSuffix(string(p.text), "=") || c == '~' && strings.HasSuffix(string(p.text), ":") {
			return false
		}
	case '$', '`', '(', ')', '{', '}', '\r', 0:
		return false
	}
	p.add(p.in[p.at : p.at+1])
	p.at++
	return true
}

func (p *parser) add(s string) {
	p.text = append(p.text, s...)
	p.open = true
}

// double takes a text in double quotes.
func (p *parser) double() bool {
	p.open, p.quoted = true, true
	for p.at++; p.at < len(p.in); p.at++ {
		switch c := p.in[p.at]; c {
		case '"':
			p.at++
			return true
		case '$', '`':
			return false
		case '\\':
			if p.at+1 == len(p.in) {
				return false
			}
			next := p.in[p.at+1]
			if strings.IndexByte("$`\"\\\n", next) < 0 {
				p.add(`\`)
			}
			p.at++
			if next != '\n' {
				p.add(string(next))
			}
		default:
			p.add(p.in[p.at : p.at+1])
		}
	}
	return false
}

func (p *parser) operator() bool {
	if !p.endWord() || p.pending != "" {
		return false
	}
	rest := p.in[p.at:]
	switch {
	case strings.HasPrefix(rest, "&>"):
		return p.redirection()
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		p.at += 2
	case rest[0] == '&', strings.HasPrefix(rest, "|&"), strings.HasPrefix(rest, ";;"), strings.HasPrefix(rest, ";&"):
		return false // the background, and what belongs to larger constructs
	default:
		p.at++
	}
	p.endCommand()
	return true
}

// operators of redirection, longest first.
var redirections = []string{"&>>", "<<<", "&>", ">>", ">|", ">&", "<&", "<<", "<>", "<(", ">(", "<", ">"}

func (p *parser) redirection() bool {
	if p.open && !p.quoted && isNumber(string(p.text)) {
		p.text, p.open = nil, false // the descriptor
	}
	if !p.endWord() || p.pending != "" {
		return false
	}
	for _, op := range redirections {
		if !strings.HasPrefix(p.in[p.at:], op) {
			continue
		}
		switch op {
		case "<<<", "<<", "<>", "<(", ">(":
			return false
		}
		p.pending = op
		p.at += len(op)
		return true
	}
	return false
}

// endWord closes the open word, if there is one.
func (p *parser) endWord() bool {
	if !p.open {
		return true
	}
	w := word{text: string(p.text), glob: p.glob}
	bare := !p.quoted
	p.text, p.open, p.quoted, p.glob = nil, false, false, false
	switch {
	case p.pending != "":
		if w.glob {
			return false
		}
		p.cur.redirects = append(p.cur.redirects, redirect{p.pending, w})
		p.pending = ""
	case len(p.cur.words) == 0 && bare && strings.Contains(reserved, " "+w.text+" "):
		return false
	default:
		p.cur.words = append(p.cur.words, w)
	}
	return true
}

func (p *parser) endCommand() {
	if len(p.cur.words) > 0 || len(p.cur.redirects) > 0 {
		p.out = append(p.out, p.cur)
	}
	p.cur = simple{}
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
