package acpschema

import (
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// explain says where a value fails and why. Of the alternatives of a union
// those that fail at the word that tells them apart are left out, as they
// were not meant; of what remains the deepest failure is told.
func explain(err error) string {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return err.Error()
	}
	leaf := deepest(v)
	where := strings.Join(leaf.InstanceLocation, "/")
	if where == "" {
		where = "(root)"
	}
	return where + ": " + leaf.ErrorKind.LocalizedString(message.NewPrinter(language.English))
}

func deepest(v *jsonschema.ValidationError) *jsonschema.ValidationError {
	causes := v.Causes
	switch v.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		meant := slices.DeleteFunc(slices.Clone(causes), func(c *jsonschema.ValidationError) bool {
			return wrongWord(c, len(v.InstanceLocation))
		})
		if len(meant) == 0 {
			return v // no alternative is to blame more than another
		}
		causes = meant
	}
	if len(causes) == 0 {
		return v
	}
	best := deepest(causes[0])
	for _, c := range causes[1:] {
		if d := deepest(c); len(d.InstanceLocation) > len(best.InstanceLocation) {
			best = d
		}
	}
	return best
}

// wrongWord reports whether v fails at a constant in, or one below, the value
// at the given depth, by which unions tell their alternatives apart. Unions
// further down fail for reasons of their own.
func wrongWord(v *jsonschema.ValidationError, depth int) bool {
	switch v.ErrorKind.(type) {
	case *kind.Const:
		return len(v.InstanceLocation) <= depth+1
	case *kind.OneOf, *kind.AnyOf:
		return false
	}
	return slices.ContainsFunc(v.Causes, func(c *jsonschema.ValidationError) bool { return wrongWord(c, depth) })
}
