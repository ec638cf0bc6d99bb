// What of tree-sitter's C interface (api.h of go-tree-sitter v0.25.0) is used
// here, and two functions on top of it. The header of another module cannot be
// included, since its folder has no fixed place; TestInterface holds that these
// declarations fit the library that is linked.
#ifndef DSH_SITTER_GLUE_H
#define DSH_SITTER_GLUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;

typedef struct {
	uint32_t row, column;
} TSPoint;

typedef struct {
	uint32_t context[4];
	const void *id;
	const TSTree *tree;
} TSNode;

typedef struct {
	const void *tree;
	const void *id;
	uint32_t context[3];
} TSTreeCursor;

typedef struct {
	void *payload;
	const char *(*read)(void *payload, uint32_t byte, TSPoint at, uint32_t *size);
	int encoding; // 0 is UTF-8
	uint32_t (*decode)(const uint8_t *text, uint32_t size, int32_t *code);
} TSInput;

typedef struct {
	void *payload;
	uint32_t current_byte_offset;
	bool has_error;
} TSParseState;

typedef struct {
	void *payload;
	bool (*progress_callback)(TSParseState *state);
} TSParseOptions;

typedef struct {
	uint32_t start_byte, old_end_byte, new_end_byte;
	TSPoint start_point, old_end_point, new_end_point;
} TSInputEdit;

void ts_set_allocator(void *(*malloc)(size_t), void *(*calloc)(size_t, size_t),
	void *(*realloc)(void *, size_t), void (*free)(void *));
TSParser *ts_parser_new(void);
void ts_parser_delete(TSParser *self);
bool ts_parser_set_language(TSParser *self, const TSLanguage *language);
void ts_parser_reset(TSParser *self);
TSTree *ts_parser_parse_with_options(TSParser *self, const TSTree *old, TSInput input, TSParseOptions options);
void ts_tree_delete(TSTree *self);
void ts_tree_edit(TSTree *self, const TSInputEdit *edit);
TSNode ts_tree_root_node(const TSTree *self);
uint32_t ts_node_descendant_count(TSNode self);
uint16_t ts_node_symbol(TSNode self);
uint32_t ts_node_start_byte(TSNode self);
uint32_t ts_node_end_byte(TSNode self);
bool ts_node_is_named(TSNode self);
bool ts_node_is_extra(TSNode self);
bool ts_node_is_error(TSNode self);
bool ts_node_is_missing(TSNode self);
bool ts_node_has_error(TSNode self);
TSTreeCursor ts_tree_cursor_new(TSNode node);
void ts_tree_cursor_delete(TSTreeCursor *self);
TSNode ts_tree_cursor_current_node(const TSTreeCursor *self);
uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *self);
bool ts_tree_cursor_goto_parent(TSTreeCursor *self);
bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *self);
bool ts_tree_cursor_goto_first_child(TSTreeCursor *self);
uint32_t ts_language_symbol_count(const TSLanguage *self);
const char *ts_language_symbol_name(const TSLanguage *self, uint16_t symbol);
int ts_language_symbol_type(const TSLanguage *self, uint16_t symbol);
uint32_t ts_language_field_count(const TSLanguage *self);
const char *ts_language_field_name_for_id(const TSLanguage *self, uint16_t field);
uint32_t ts_language_abi_version(const TSLanguage *self);

// A dsh_node is laid out as a syntax.Node.
typedef struct {
	uint32_t start, end, parent, last;
	uint16_t kind, field;
	uint8_t flags;
} dsh_node;

// dsh_parse returns the tree of text, or NULL if it took longer than limit
// nanoseconds. old is NULL, or the tree of a former text that the edits were
// made in. *count becomes the number of the tree's nodes, *clean whether all of
// it parses.
TSTree *dsh_parse(TSParser *parser, const TSTree *old, const char *text, uint32_t size, int64_t limit,
	uint32_t *count, bool *clean);

// dsh_flatten writes the tree's nodes to out, which has room for count, and
// returns how many it wrote; never more than count.
uint32_t dsh_flatten(const TSTree *tree, dsh_node *out, uint32_t count);

#endif
