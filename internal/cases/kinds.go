package cases

import (
	"fmt"
	"slices"
	"strings"
)

// kinds has the codes that stand for each kind of failure of a case.
var kinds = map[string][]string{
	"no_match":          {"FS_EDIT_NOT_FOUND", "EDIT_NO_MATCH"},
	"match_count":       {"MATCH_COUNT", "FS_AMBIGUOUS_EDIT", "EDIT_AMBIGUOUS"},
	"empty_search":      {"INVALID_ARGS", "FS_EDIT_NOT_FOUND", "NO_CHANGE"},
	"no_change":         {"INVALID_ARGS", "FS_EDIT_NOT_FOUND", "NO_CHANGE"},
	"old_text_mismatch": {"OLD_TEXT_MISMATCH"},
	"bad_range":         {"RANGE_INVALID", "INDEX_RANGE", "EMPTY_ARRAY", "EDIT_LINE_RANGE", "EDIT_RANGE_ORDER", "EDIT_BLOCK_UNRESOLVED"},
	"bad_pointer":       {"POINTER_INVALID", "POINTER_NOT_FOUND", "JSON_TYPE"},
	"bad_pattern":       {"AST_PATTERN", "AST_UNBOUND"},
	"bad_args":          {"INVALID_ARGS", "INVALID_ARGUMENTS", "EDIT_ARGS", "EDIT_PARSE", "EDIT_NO_TAG", "EDIT_EMPTY", "AST_UNSUPPORTED", "ROLLBACK_UNKNOWN"},
	"bad_unicode":       {"INVALID_UNICODE"},
	"overlap":           {"OVERLAP", "EDIT_OVERLAP"},
	"path_conflict":     {"PATH_CONFLICT"},
	"stale":             {"STALE_VERSION", "FS_STALE_VERSION", "FS_STALE_HASH", "FS_BLIND_OVERWRITE", "FS_NOT_OBSERVED", "EDIT_STALE", "ROLLBACK_EXTERNAL"},
	"conflict":          {"EDIT_STALE"},
	"missing":           {"NOT_FOUND", "FS_NOT_FOUND", "PARENT_MISSING"},
	"exists":            {"ALREADY_EXISTS"},
	"not_a_file":        {"NOT_REGULAR_FILE", "FS_NOT_REGULAR_FILE", "FS_NOT_DIRECTORY", "PARENT_NOT_DIRECTORY"},
	"not_text":          {"UNSUPPORTED_ENCODING", "FS_NOT_TEXT"},
	"parse_error":       {"JSON_PARSE", "JSON_RESULT_INVALID", "AST_FILE"},
	"ambiguous":         {"JSON_DUPLICATE_KEY"},
	"denied":            {"PATH_DENIED", "FS_DENIED", "FS_SANDBOX_DENIED", "FS_PERMISSION_DENIED"},
	"guard_ambiguous":   {"FS_GUARD_AMBIGUOUS"},
	"io":                {"WRITE_FAILED", "MKDIR_FAILED", "FS_IO_ERROR"},
}

// checkError compares a failure with what is expected of it.
func checkError(want ErrorExpect, got outcome) error {
	if !got.isError {
		return fmt.Errorf("must fail (%s), but succeeded: %s", want.Kind, brief(got.text))
	}
	codes, known := kinds[want.Kind]
	switch {
	case !known && want.Kind != "":
		return fmt.Errorf("the kind of error %q is not known to this runner", want.Kind)
	case known && !got.codeless && !slices.Contains(codes, got.code):
		return fmt.Errorf("must fail with kind %s (one of %s), failed with %s: %s", want.Kind, strings.Join(codes, ", "), got.code, brief(got.text))
	}
	for _, s := range want.MustSay {
		if !saysFolded(got.text, s) {
			return fmt.Errorf("the message must say %q: %s", s, got.text)
		}
	}
	if want.Details != nil {
		return checkDetails(want.Details, got)
	}
	return nil
}

func saysFolded(text, s string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(s))
}
