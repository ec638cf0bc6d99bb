package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dsh-acp/internal/msg"
)

// encodeTyped gives the JSON text of a typed value, if it can be stored.
// Go's encoder would replace bad UTF-8 without a word, so texts are checked
// before; what it wrote is checked after, with the raw JSON inside.
func encodeTyped(v any) (json.RawMessage, error) {
	if err := checkTyped(reflect.ValueOf(v), ""); err != nil {
		return nil, err
	}
	text, err := msg.Marshal(v)
	if err != nil {
		var bad *json.UnsupportedValueError
		if errors.As(err, &bad) {
			return nil, &msg.ValueError{Code: msg.ValueBad, Why: bad.Str + " is not a JSON number"}
		}
		return nil, err
	}
	return msg.Compact(text, dataDepth)
}

// dataDepth is how deeply the data of an event may nest: with the record
// around it that is the most that Go decodes. Values inside data have
// msg.MaxDepth of their own, which always fits.
const dataDepth = msg.MaxDepth + 9

var rawType = reflect.TypeFor[json.RawMessage]()

// checkTyped looks for texts that are not UTF-8 and for raw JSON that is not
// admissible. Payloads are trees of a fixed shape, so it ends.
func checkTyped(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return &msg.ValueError{Code: msg.ValueBad, Path: path, Why: "text is not valid UTF-8"}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return checkTyped(v.Elem(), path)
		}
	case reflect.Slice, reflect.Array:
		if v.Type() == rawType {
			return checkRaw(v.Bytes(), path)
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil // base64
		}
		for i := range v.Len() {
			if err := checkTyped(v.Index(i), path+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := checkTyped(it.Key(), path); err != nil {
				return err
			}
			if err := checkTyped(it.Value(), path+"/"+fmt.Sprint(it.Key())); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			if err := checkTyped(v.Field(i), path+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkRaw(raw json.RawMessage, path string) error {
	if raw == nil {
		return nil // absent, or null
	}
	err := msg.Admissible(raw)
	var bad *msg.ValueError
	if errors.As(err, &bad) {
		bad.Path = path + bad.Path
	}
	return err
}

// newEvent makes the event of a payload, without seq and time. It gives the
// payload too, as a reader of the log would have it.
func newEvent(p msg.Payload) (msg.Event, msg.Payload, error) {
	data, err := encodeTyped(p)
	if err != nil {
		return msg.Event{}, nil, fmt.Errorf("%s: %w", p.EventType(), err)
	}
	e := msg.Event{Type: p.EventType(), Data: data}
	if !plain(p) {
		if p, err = msg.Decode(e); err != nil {
			return msg.Event{}, nil, fmt.Errorf("%s: %w", e.Type, err)
		}
	}
	e.Ignorable = msg.Ignorable(p)
	if msg.Surface(p) {
		e.SurfaceOp = bytes.Clone(appendOp)
	}
	return e, p, nil
}

// plain reports whether p is a payload as [msg.Decode] gives it; a pointer to
// one is not.
func plain(p msg.Payload) bool {
	switch p.(type) {
	case msg.TurnStart, msg.TurnEnd, msg.StepStart, msg.StepEnd, msg.UserMessage, msg.AssistantMessage,
		msg.ToolCall, msg.ToolReturned, msg.TodoWrite, msg.RequestHeader, msg.RequestContext, msg.EndSeed,
		msg.ModeSet, msg.Granted, msg.Titled, msg.OptionSet:
		return true
	}
	return false
}

// encodeRecord gives an event's line. Members stand in the order of
// [msg.Event], so type, seq and time can be found at a line's start.
func encodeRecord(e msg.Event) []byte {
	line := make([]byte, 0, len(e.Data)+128)
	line = append(line, `{"type":`...)
	line = append(line, mustEncode(e.Type)...)
	line = append(line, `,"seq":`...)
	line = strconv.AppendInt(line, e.Seq, 10)
	line = append(line, `,"time":`...)
	line = strconv.AppendInt(line, e.Time, 10)
	line = append(line, `,"data":`...)
	line = append(line, e.Data...)
	if e.Ignorable {
		line = append(line, `,"ignorable":true`...)
	}
	if len(e.SourceSeqs) > 0 {
		line = append(line, `,"sourceEventSeqs":`...)
		line = append(line, mustEncode(e.SourceSeqs)...)
	}
	if len(e.SurfaceOp) > 0 {
		line = append(line, `,"surfaceOp":`...)
		line = append(line, e.SurfaceOp...)
	}
	return append(line, "}\n"...)
}

func mustEncode(v any) []byte {
	b, err := msg.Marshal(v)
	if err != nil {
		panic("eventlog: " + err.Error()) // strings and integers always encode
	}
	return b
}

// errNoRecord marks lines that have not the form of a record. Such a line
// was torn if it is the last one, and is damage before others.
var errNoRecord = errors.New("not a whole JSON record")

func noRecord(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errNoRecord, fmt.Errorf(format, args...))
}

// decodeRecord reads a line (without its line feed) into an event.
func decodeRecord(line []byte) (msg.Event, error) {
	if !utf8.Valid(line) {
		return msg.Event{}, noRecord("text is not valid UTF-8")
	}
	if e, ok := decodeOwn(line); ok {
		return e, nil
	}
	var rec struct {
		Type      string          `json:"type"`
		Seq       *int64          `json:"seq"`
		Time      *int64          `json:"time"`
		Data      json.RawMessage `json:"data"`
		Ignorable bool            `json:"ignorable"`
		Sources   []int64         `json:"sourceEventSeqs"`
		SurfaceOp json.RawMessage `json:"surfaceOp"`
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		return msg.Event{}, noRecord("%w", err)
	}
	switch {
	case rec.Type == "" || rec.Seq == nil || rec.Time == nil:
		return msg.Event{}, noRecord("type, seq or time is missing")
	case !isObject(rec.Data):
		return msg.Event{}, noRecord("data is not an object")
	}
	return msg.Event{Type: rec.Type, Seq: *rec.Seq, Time: *rec.Time, Data: rec.Data,
		Ignorable: rec.Ignorable, SourceSeqs: rec.Sources, SurfaceOp: rec.SurfaceOp}, nil
}

// decodeOwn reads a line of the form that encodeRecord writes, without the
// rarer members. That saves a second walk over the data: long sessions load in
// half the time. What is between the known head and the known end is the
// data exactly if it is one JSON value; ok is false for all other lines.
func decodeOwn(line []byte) (e msg.Event, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"type":"`))
	if !ok {
		return e, false
	}
	typ, rest, ok := bytes.Cut(rest, []byte(`","seq":`))
	if !ok || len(typ) == 0 || bytes.ContainsFunc(typ, unplain) {
		return e, false
	}
	e.Type = string(typ)
	if e.Seq, rest, ok = cutInt(rest, `,"time":`); !ok {
		return e, false
	}
	if e.Time, rest, ok = cutInt(rest, `,"data":`); !ok {
		return e, false
	}
	if body, is := bytes.CutSuffix(rest, []byte(`,"surfaceOp":"append"}`)); is {
		e.Data, e.SurfaceOp = slices.Clip(body), json.RawMessage(rest[len(rest)-len(`"append"}`):len(rest)-1])
	} else if body, is := bytes.CutSuffix(rest, []byte(`,"ignorable":true}`)); is {
		e.Data, e.Ignorable = slices.Clip(body), true
	} else {
		e.Data = slices.Clip(rest[:max(0, len(rest)-1)])
	}
	// Blanks around the object are not ours: the long way leaves them out.
	own := bytes.HasPrefix(e.Data, []byte("{")) && bytes.HasSuffix(e.Data, []byte("}"))
	return e, own && bytes.HasSuffix(rest, []byte("}")) && json.Valid(e.Data)
}

// unplain reports what a quoted type would need an escape for, or that is
// not ASCII.
func unplain(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }

// cutInt reads an integer that ends with sep.
func cutInt(b []byte, sep string) (n int64, rest []byte, ok bool) {
	num, _, ok := bytes.Cut(b[:min(len(b), 64)], []byte(sep))
	if !ok || len(num) == 0 || num[0] < '0' || len(num) > 1 && num[0] == '0' {
		return 0, nil, false
	}
	n, err := strconv.ParseInt(string(num), 10, 64)
	return n, b[len(num)+len(sep):], err == nil
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}
