/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Brackets are counted outside of strings. The object's own members are at depth 1, the entries of their lists
 * at depth 2.
 */
#include "worker/ctl/publication/kept_entries.h"

#include <string.h>

#include "common/base/buf.h"

#define MAX_NAME_BYTES 64

struct reader {
	const char *const *names;
	ing_kept_entry_f *each;
	void *ctx;
	size_t depth;
	bool in_string, escaped;
	bool is_list;  /* at depth 2 or below: of one of the names */
	bool found;    /* such a list */
	bool ended;    /* by the callback */
	bool is_wrong; /* no object */
	char name[MAX_NAME_BYTES];
	size_t name_bytes; /* of the last string at depth 1; beyond the room: too long */
	struct ing_buf entry;
	bool in_entry;
	bool in_other; /* at depth 2, or below, in an entry that is no object */
};

static bool is_wanted(const struct reader *r)
{
	for (size_t i = 0; r->names[i] != NULL; i++)
		if (strlen(r->names[i]) == r->name_bytes &&
			memcmp(r->names[i], r->name, r->name_bytes) == 0)
			return true;
	return false;
}

/* What is no object counts as an entry, too: an empty list. */
static void end_other(struct reader *r)
{
	if (!r->in_other)
		return;
	r->in_other = false;
	r->ended = !r->each(r->ctx, "[]", 2);
}

/* c: outside of entries, directly in a list that is wanted. */
static void take_between(struct reader *r, char c)
{
	if (c == ',' || c == ']')
		end_other(r);
	else if (c != '{' && strchr(" \t\r\n", c) == NULL)
		r->in_other = true;
}

static void open_bracket(struct reader *r, char c)
{
	if (r->depth == 0 && c != '{')
		r->is_wrong = true;
	if (r->depth == 1) {
		r->is_list = c == '[' && is_wanted(r);
		r->found |= r->is_list;
	}
	if (r->depth == 2 && r->is_list && c == '{') {
		r->in_entry = true;
		ing_buf_clear(&r->entry);
		r->entry.failed = false;
	}
	r->depth++;
}

static void close_bracket(struct reader *r)
{
	if (r->depth == 0) {
		r->is_wrong = true;
		return;
	}
	r->depth--;
	if (r->depth == 1)
		r->is_list = false;
	if (r->depth != 2 || !r->in_entry)
		return;
	ing_buf_add_char(&r->entry, '}');
	r->in_entry = false;
	r->ended = !r->each(r->ctx, r->entry.failed ? NULL : ing_buf_str(&r->entry), r->entry.len);
}

static void take_string_char(struct reader *r, char c)
{
	if (r->escaped)
		r->escaped = false;
	else if (c == '\\')
		r->escaped = true;
	else if (c == '"')
		r->in_string = false;
	if (r->in_string && r->depth == 1) {
		if (r->name_bytes < MAX_NAME_BYTES)
			r->name[r->name_bytes] = c;
		r->name_bytes += r->name_bytes <= MAX_NAME_BYTES;
	}
}

static void take_char(struct reader *r, char c)
{
	if (r->depth == 2 && r->is_list && !r->in_string)
		take_between(r, c);
	if (r->in_string) {
		take_string_char(r, c);
	} else if (c == '"') {
		r->in_string = true;
		r->name_bytes = r->depth == 1 ? 0 : r->name_bytes;
		r->is_wrong |= r->depth == 0;
	} else if (c == '{' || c == '[') {
		open_bracket(r, c);
	} else if (c == '}' || c == ']') {
		close_bracket(r);
	} else if (r->depth == 0 && strchr(" \t\r\n", c) == NULL) {
		r->is_wrong = true;
	}
	if (r->in_entry)
		ing_buf_add_char(&r->entry, c);
}

/* The bytes of the byte order mark that editors put in front of UTF-8. */
static size_t mark_bytes(const char *data, size_t bytes)
{
	return bytes >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_kept_entries(FILE *f, const char *const *names, size_t max_bytes, ing_kept_entry_f *each,
	void *ctx, struct ing_error *err)
{
	struct reader r = {.names = names, .each = each, .ctx = ctx};
	char chunk[65536];
	size_t n;
	ing_buf_init(&r.entry, max_bytes);
	bool is_first = true;
	while (!r.is_wrong && !r.ended && (n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		for (size_t i = is_first ? mark_bytes(chunk, n) : 0;
			i < n && !r.is_wrong && !r.ended; i++, is_first = false)
			take_char(&r, chunk[i]);
	ing_buf_done(&r.entry);
	if (ferror(f))
		return ing_error_set(err, ING_FAIL_SYSTEM, "it cannot be read");
	if (r.ended)
		return 0;
	if (r.is_wrong || r.depth > 0 || r.in_string)
		return ing_error_set(err, ING_FAIL_SYNTAX,
			r.is_wrong ? "it is no JSON object" : "it ends in the middle");
	if (!r.found)
		return ing_error_set(
			err, ING_FAIL_SYNTAX, "it has no list of the name \"%s\"", names[0]);
	return 0;
}
