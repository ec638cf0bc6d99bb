package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// maxFile is more than any settings file holds.
const maxFile = 1 << 20

// applyFile reads the settings file: JSON with comments and trailing commas.
// All its faults are reported, not only the first. must says that the file
// was named, so that it has to be there.
func (c *Config) applyFile(must bool) error {
	if c.File == "" {
		return nil
	}
	b, err := readSettings(c.File)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil
	}
	if err != nil {
		return &FileError{Path: c.File, Why: reason(err)}
	}
	c.found = true
	r := fileReader{config: c, text: bytes.TrimPrefix(b, []byte("\uFEFF"))}
	r.read()
	return errors.Join(r.errs...)
}

func readSettings(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("it has %d bytes, more than settings ever need (%d)", info.Size(), maxFile)
	}
	return os.ReadFile(path)
}

// reason drops the path of a path error, which the caller names itself.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Op + ": " + p.Err.Error()
	}
	return err.Error()
}

type fileReader struct {
	config  *Config
	text    []byte // without byte order mark
	session bool   // it is no file but what a client set for a session
	errs    []error
}

// bad notes a fault at a byte offset.
func (r *fileReader) bad(offset int, key, format string, args ...any) {
	if r.session {
		r.errs = append(r.errs, &SessionError{Key: key, Why: fmt.Sprintf(format, args...)})
		return
	}
	line, column := r.place(offset)
	r.errs = append(r.errs, &FileError{Path: r.config.File, Line: line, Column: column, Key: key, Why: fmt.Sprintf(format, args...)})
}

func (r *fileReader) place(offset int) (line, column int) {
	before := r.text[:min(offset, len(r.text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// The parser's errors tell their place in words only.
var parserError = regexp.MustCompile(`line (\d+), column (\d+): (.*)`)

func (r *fileReader) read() {
	if !utf8.Valid(r.text) {
		at := 0
		for at < len(r.text) {
			c, n := utf8.DecodeRune(r.text[at:])
			if c == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		r.bad(at, "", "not UTF-8; save the file in that encoding")
		return
	}
	if len(bytes.TrimSpace(r.text)) == 0 {
		return // an empty file sets nothing
	}
	v, err := hujson.Parse(r.text)
	if err != nil && r.session {
		r.bad(0, "", "not JSON: %v", err)
		return
	}
	if err != nil {
		fe := &FileError{Path: r.config.File, Line: 1, Column: 1, Why: err.Error()}
		if m := parserError.FindStringSubmatch(err.Error()); m != nil {
			fe.Line, _ = strconv.Atoi(m[1])
			fe.Column, _ = strconv.Atoi(m[2])
			fe.Why = "not JSON with comments: " + m[3]
		}
		r.errs = append(r.errs, fe)
		return
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		r.bad(v.StartOffset, "", "found %s, want an object { … } of settings", kindOf(v.Value))
		return
	}
	r.object("", obj)
}

func (r *fileReader) object(prefix string, obj *hujson.Object) {
	var seen []string
	for i := range obj.Members {
		m := &obj.Members[i]
		name := prefix + m.Name.Value.(hujson.Literal).String()
		if slices.Contains(seen, name) {
			r.bad(m.Name.StartOffset, name, "it is set twice in the file; remove one")
			continue
		}
		seen = append(seen, name)
		r.member(name, m)
	}
}

func (r *fileReader) member(name string, m *hujson.ObjectMember) {
	s := find(name)
	switch {
	case name == "$schema":
	case s != nil && r.session && !s.session:
		r.bad(m.Name.StartOffset, name, "it holds for the whole program; for one session these can be set: %s", strings.Join(perSession(), ", "))
	case s != nil:
		if err := s.setJSON(r.config, m.Value.Value); err != nil {
			r.bad(m.Value.StartOffset, name, "%v", err)
			return
		}
		if r.session {
			r.config.origins[name] = Origin{Kind: FromSession}
			return
		}
		line, column := r.place(m.Name.StartOffset)
		r.config.origins[name] = Origin{Kind: FromFile, Name: r.config.File, Line: line, Column: column}
	case isGroup(name):
		obj, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			r.bad(m.Value.StartOffset, name, "found %s, want an object { … } with %s", kindOf(m.Value.Value), strings.Join(members(name), ", "))
			return
		}
		r.object(name+".", obj)
	default:
		r.bad(m.Name.StartOffset, name, "%s", unknown(name))
	}
}

func isGroup(name string) bool { return len(members(name)) > 0 }

// members gives the names of the settings in a group.
func members(group string) []string {
	var out []string
	for _, s := range table {
		if rest, ok := strings.CutPrefix(s.Name, group+"."); ok {
			out = append(out, rest)
		}
	}
	return out
}

// unknown says what to do about a name that is no setting. It never repeats
// a value: it may be a key.
func unknown(name string) string {
	flat := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	if strings.Contains(flat, "apikey") || strings.Contains(flat, "token") && !strings.Contains(flat, "max") {
		return "keys are not kept in the settings file; run dsh-acp login, or set ANTHROPIC_API_KEY (OPENAI_API_KEY) in the environment"
	}
	names := make([]string, len(table))
	for i, s := range table {
		names[i] = s.Name
	}
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("there is no such setting; did you mean %q?", near)
	}
	return "there is no such setting; dsh-acp doctor lists all"
}

// setJSON puts a value of the settings file in its place. null is the default.
func (s *Setting) setJSON(c *Config, v hujson.ValueTrimmed) error {
	if v.Kind() == 'n' {
		return s.set(c, s.Default)
	}
	wrong := func(want string) error { return fmt.Errorf("found %s, want %s", kindOf(v), want) }
	lit, _ := v.(hujson.Literal)
	switch p := s.bind(c).(type) {
	case *string:
		if v.Kind() != '"' {
			return wrong("a text in quotes")
		}
		return s.set(c, lit.String())
	case *bool:
		if v.Kind() != 't' && v.Kind() != 'f' {
			return wrong("true or false")
		}
		*p = lit.Bool()
		return nil
	case *int64:
		if v.Kind() != '0' {
			return wrong("a whole number " + s.bounds())
		}
		return s.set(c, string(lit))
	case *time.Duration:
		if v.Kind() != '"' {
			return wrong(`a time in quotes, such as "90s", "5m" or "1h30m"`)
		}
		return s.set(c, lit.String())
	case *List:
		list, err := texts(v)
		if err != nil {
			return err
		}
		*p = list
		return nil
	case *Toolset:
		if v.Kind() == '"' {
			return setTools(p, []string{lit.String()})
		}
		list, err := texts(v)
		if err != nil {
			return err
		}
		return setTools(p, list)
	default:
		panic(fmt.Sprintf("config: setting %s cannot be read into %T", s.Name, p))
	}
}

// texts reads a list of texts; it is not nil.
func texts(v hujson.ValueTrimmed) ([]string, error) {
	arr, ok := v.(*hujson.Array)
	if !ok {
		return nil, fmt.Errorf(`found %s, want a list of texts, such as ["a", "b"]`, kindOf(v))
	}
	out := make([]string, 0, len(arr.Elements))
	for i, e := range arr.Elements {
		if e.Value.Kind() != '"' {
			return nil, fmt.Errorf("element %d of the list is %s, want a text in quotes", i+1, kindOf(e.Value))
		}
		out = append(out, e.Value.(hujson.Literal).String())
	}
	return out, nil
}

func kindOf(v hujson.ValueTrimmed) string {
	switch v.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	default:
		return "something else"
	}
}
