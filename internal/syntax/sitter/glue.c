#include "glue.h"

#ifdef _WIN32
#include <windows.h>
static int64_t now(void) {
	LARGE_INTEGER ticks, second;
	QueryPerformanceCounter(&ticks);
	QueryPerformanceFrequency(&second);
	return (int64_t)((double)ticks.QuadPart / (double)second.QuadPart * 1e9);
}
#else
#include <time.h>
static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
#endif

typedef struct {
	const char *text;
	uint32_t size;
	int64_t deadline;
} job;

static const char *read_text(void *payload, uint32_t byte, TSPoint at, uint32_t *size) {
	(void)at;
	job *j = payload;
	if (byte >= j->size) {
		*size = 0;
		return "";
	}
	*size = j->size - byte;
	return j->text + byte;
}

static bool is_late(TSParseState *state) {
	job *j = state->payload;
	return now() > j->deadline;
}

TSTree *dsh_parse(TSParser *parser, const TSTree *old, const char *text, uint32_t size, int64_t limit,
		uint32_t *count, bool *clean) {
	job j = {text, size, now() + limit};
	TSInput input = {&j, read_text, 0, 0};
	TSParseOptions options = {&j, is_late};
	TSTree *tree = ts_parser_parse_with_options(parser, old, input, options);
	if (!tree) {
		// A parser that was stopped goes on where it was, with the text of then.
		ts_parser_reset(parser);
		return 0;
	}
	TSNode root = ts_tree_root_node(tree);
	*count = ts_node_descendant_count(root);
	*clean = !ts_node_has_error(root);
	return tree;
}

static void put(dsh_node *out, const TSTreeCursor *cursor, uint32_t parent) {
	TSNode node = ts_tree_cursor_current_node(cursor);
	out->start = ts_node_start_byte(node);
	out->end = ts_node_end_byte(node);
	out->parent = parent;
	out->last = 0;
	out->kind = ts_node_symbol(node);
	out->field = ts_tree_cursor_current_field_id(cursor);
	out->flags = (uint8_t)(ts_node_is_named(node) | ts_node_is_extra(node) << 1 |
		ts_node_is_error(node) << 2 | ts_node_is_missing(node) << 3 | ts_node_has_error(node) << 4);
}

uint32_t dsh_flatten(const TSTree *tree, dsh_node *out, uint32_t count) {
	TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
	uint32_t n = 0, at = 0, parent = 0;
	for (;;) {
		if (n == count) break;
		at = n++;
		put(&out[at], &cursor, parent);
		if (ts_tree_cursor_goto_first_child(&cursor)) {
			parent = at;
			continue;
		}
		out[at].last = n;
		while (at != 0 && !ts_tree_cursor_goto_next_sibling(&cursor)) {
			ts_tree_cursor_goto_parent(&cursor);
			at = parent;
			parent = out[at].parent;
			out[at].last = n;
		}
		if (at == 0) break;
	}
	// Where the room ended early, the open nodes end there too.
	for (uint32_t i = n; i-- > 0;) {
		if (out[i].last == 0) out[i].last = n;
	}
	ts_tree_cursor_delete(&cursor);
	return n;
}
