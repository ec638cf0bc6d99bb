package msg

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal without HTML escaping and without a final newline,
// so that what is stored and sent reads as it was written.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
