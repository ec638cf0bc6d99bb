package msg

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The values that may be stored: those that every JSON reader gives back as
// they were written. Text that is not UTF-8, numbers that lose digits, keys
// that occur twice and nesting without end are refused, with the place.

// MaxDepth is how deeply arrays and objects may nest in a stored value. Go's
// decoder stops at 10,000 levels; ten are left for the record around the value.
const MaxDepth = 10_000 - 10

// MaxInteger is the largest integer that a reader with floating-point numbers
// still tells from its neighbours; -MaxInteger is the smallest.
const MaxInteger = 1<<53 - 1

// Codes of [ValueError].
const (
	ValueBad     = "JSON_VALUE_INVALID"
	ValueTooDeep = "JSON_TOO_DEEP"
)

// A ValueError says which part of a value cannot be stored, and why.
type ValueError struct {
	Code string // ValueBad or ValueTooDeep
	// Path leads to the offending value as a JSON pointer; "" is the whole.
	Path string
	Why  string
}

func (e *ValueError) Error() string {
	if e.Path == "" {
		return "JSON value: " + e.Why
	}
	return "JSON value at " + e.Path + ": " + e.Why
}

// Encode gives the JSON text of v on one line, if v can be stored. It takes
// nil, bool, string, all integer and float kinds, [json.Number],
// [json.RawMessage], []any and map[string]any of these; keys come out sorted.
// Anything else is refused: typed code marshals first. The text shares
// nothing with v. Errors are *[ValueError].
func Encode(v any) (json.RawMessage, error) {
	var e encoder
	if err := e.value(v); err != nil {
		return nil, err
	}
	return e.out, nil
}

// Compact is [Encode] for JSON text that may nest depth levels deep, such as a
// record with a value inside.
func Compact(text []byte, depth int) (json.RawMessage, error) {
	out, err := compact(nil, text, depth)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Admissible reports as an error why v cannot be stored; nil means it can.
// See [Encode] for what it takes.
func Admissible(v any) error {
	_, err := Encode(v)
	return err
}

// An encoder walks a Go value. Its depth is bounded by MaxDepth, which also
// ends the walk through a slice or map that holds itself.
type encoder struct {
	out  []byte
	path []string // pointer steps to the current value
	// onPath are the slices and maps that are being written, for a clear
	// word on cycles before the depth limit finds them.
	onPath map[container]bool
}

// A container identifies a slice or map: two slices are the same only if
// they start in one place and have one length.
type container struct {
	ptr uintptr
	len int
}

func (e *encoder) fail(format string, args ...any) error {
	return &ValueError{Code: ValueBad, Path: pointer(e.path), Why: fmt.Sprintf(format, args...)}
}

func (e *encoder) value(v any) error {
	switch v := v.(type) {
	case nil:
		e.out = append(e.out, "null"...)
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case string:
		if !utf8.ValidString(v) {
			return e.fail("text is not valid UTF-8")
		}
		e.out = appendQuoted(e.out, v)
	case json.Number:
		return e.raw([]byte(v))
	case json.RawMessage:
		return e.raw(v)
	case float64:
		return e.float(v, 64)
	case float32:
		return e.float(float64(v), 32)
	case []any:
		return e.array(v)
	case map[string]any:
		return e.object(v)
	default:
		return e.number(reflect.ValueOf(v))
	}
	return nil
}

// number writes integers of any kind, named types too, and refuses the rest.
func (e *encoder) number(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := v.Int(); n > MaxInteger || n < -MaxInteger {
			return e.fail("integer %d is beyond ±(2^53-1), readers would round it", n)
		}
		e.out = strconv.AppendInt(e.out, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if n := v.Uint(); n > MaxInteger {
			return e.fail("integer %d is beyond 2^53-1, readers would round it", n)
		}
		e.out = strconv.AppendUint(e.out, v.Uint(), 10)
	default:
		return e.fail("Go type %s has no plain JSON form; marshal it first", v.Type())
	}
	return nil
}

func (e *encoder) float(f float64, bits int) error {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return e.fail("%v is not a JSON number", f)
	case f == 0 && math.Signbit(f):
		return e.fail("negative zero, readers would drop its sign")
	}
	format := byte('g')
	if f == math.Trunc(f) && math.Abs(f) <= MaxInteger {
		format = 'f'
	}
	e.out = strconv.AppendFloat(e.out, f, format, -1, bits)
	return nil
}

func (e *encoder) raw(text []byte) error {
	out, err := compact(e.out, text, MaxDepth-len(e.path))
	if err == nil {
		e.out = out
		return nil
	}
	if len(e.path) > 0 {
		err.Path = pointer(e.path) + err.Path
	}
	return err
}

func (e *encoder) enter(v reflect.Value) (leave func(), err error) {
	if len(e.path) >= MaxDepth {
		return nil, &ValueError{Code: ValueTooDeep, Path: pointer(e.path), Why: tooDeep}
	}
	c := container{v.Pointer(), v.Len()}
	if c.len == 0 {
		return func() {}, nil // empty values share one address
	}
	if e.onPath[c] {
		return nil, e.fail("the value contains itself")
	}
	if e.onPath == nil {
		e.onPath = map[container]bool{}
	}
	e.onPath[c] = true
	return func() { delete(e.onPath, c) }, nil
}

func (e *encoder) array(a []any) error {
	leave, err := e.enter(reflect.ValueOf(a))
	if err != nil {
		return err
	}
	defer leave()
	e.out = append(e.out, '[')
	for i, v := range a {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.path = append(e.path, strconv.Itoa(i))
		if err := e.value(v); err != nil {
			return err
		}
		e.path = e.path[:len(e.path)-1]
	}
	e.out = append(e.out, ']')
	return nil
}

func (e *encoder) object(m map[string]any) error {
	leave, err := e.enter(reflect.ValueOf(m))
	if err != nil {
		return err
	}
	defer leave()
	e.out = append(e.out, '{')
	for i, k := range sortedKeys(m) {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.path = append(e.path, k)
		if !utf8.ValidString(k) {
			return e.fail("the key is not valid UTF-8")
		}
		e.out = append(appendQuoted(e.out, k), ':')
		if err := e.value(m[k]); err != nil {
			return err
		}
		e.path = e.path[:len(e.path)-1]
	}
	e.out = append(e.out, '}')
	return nil
}

const tooDeep = "arrays and objects nest too deeply; flatten the value"

// pointer joins steps to a JSON pointer. Of a very long way only the ends
// are shown, since errors are read.
func pointer(steps []string) string {
	const most = 16
	var b strings.Builder
	esc := strings.NewReplacer("~", "~0", "/", "~1")
	for i, s := range steps {
		if len(steps) > most && i == most/2 {
			fmt.Fprintf(&b, "/…%d more…", len(steps)-most)
		}
		if len(steps) > most && i >= most/2 && i < len(steps)-most/2 {
			continue
		}
		b.WriteByte('/')
		b.WriteString(esc.Replace(strings.ToValidUTF8(s, "\uFFFD")))
	}
	return b.String()
}
