package acp

import (
	"encoding/json"
	"errors"
)

// badParams is the answer to parameters that could not be decoded. It speaks
// of the JSON that was found, not of this program's types.
func badParams(method string, raw json.RawMessage, err error) *rpcError {
	if len(raw) == 0 {
		return invalidParams("%s: params is missing", method)
	}
	var typed *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &typed):
		return invalidParams("%s: %v", method, err)
	case typed.Field == "":
		return invalidParams("%s: params: want an object, found %s", method, typed.Value)
	}
	return invalidParams("%s: %s: found %s, which does not fit there", method, typed.Field, typed.Value)
}
