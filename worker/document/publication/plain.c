/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * References are decoded before tags are looked for, as tags are often escaped; blocks are divided where a tag of
 * one begins or ends, and each is stripped by itself.
 */
#include "worker/document/publication/plain.h"

#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/markup/strip_markup.h"

#define MAX_TAG_BYTES 200 /* longer "tags" are text */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_at(const char *at, const char *end, const char *word)
{
	size_t n = strlen(word);
	return (size_t)(end - at) >= n && memcmp(at, word, n) == 0;
}

/* Whether what comes behind a tag's name at `at` is the rest of a tag, by the rules of strip_markup.c. */
static bool is_tag_rest(const char *at, const char *end)
{
	bool empty = true, has_value = false;
	for (const char *stop = at + ING_MIN((size_t)(end - at), (size_t)MAX_TAG_BYTES); at < stop;
		at++) {
		if (*at == '>' || is_at(at, end, "&gt;"))
			return empty || has_value;
		if (*at == '<')
			return false;
		empty = empty && strchr(" \t\r\n/", *at) != NULL;
		has_value = has_value || *at == '=';
	}
	return false;
}

static const char *skip_name(const char *at, const char *end)
{
	while (at < end && (is_alnum(*at) || *at == '-'))
		at++;
	return at;
}

/* Whether a tag that divides blocks begins before `at`, with a '<' or "&lt;". */
static bool is_divider(const char *at, const char *end)
{
	static const char *const names[] = {"h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "div",
		"sec", "section", "title", "li", "list-item", "ul", "ol"};
	at += at < end && *at == '/';
	const char *name = at;
	at = skip_name(name, end);
	if (at < end && *at == ':') { /* jats:p */
		name = at + 1;
		at = skip_name(name, end);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if (strlen(names[i]) == (size_t)(at - name) &&
			strncasecmp(name, names[i], (size_t)(at - name)) == 0)
			return is_tag_rest(at, end);
	return false;
}

/* Where the block that begins at s ends, before a tag or an empty line. */
static const char *block_end(const char *s, const char *end)
{
	for (const char *at = s + (s < end); at < end; at++) {
		if (*at == '<' && is_divider(at + 1, end))
			return at;
		if (is_at(at, end, "&lt;") && is_divider(at + 4, end))
			return at;
		if (*at == '\n' && end - at > 1 && at[1] == '\n')
			return at;
	}
	return end;
}

static bool says_abstract_only(const char *s)
{
	static const char *const words[] = {"abstract", "abstract:", "abstract."};
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++)
		if (strcasecmp(s, words[i]) == 0)
			return true;
	return false;
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_publication_plain(struct ing_arena *ar, const char *s, size_t bytes)
{
	if (s == NULL || bytes == 0)
		return NULL;
	char *to = ing_arena_alloc(ar, bytes + 1);
	size_t n = ing_strip_markup_into(s, bytes, to);
	to[n] = '\0';
	return n > 0 ? to : NULL;
}

const char *ing_publication_plain_blocks(struct ing_arena *ar, const char *s, size_t bytes)
{
	struct ing_buf out, block;
	if (s == NULL || bytes == 0)
		return NULL;
	ing_buf_init(&out, 3 * bytes + 16); /* each block has two more bytes */
	ing_buf_init(&block, bytes + 1);
	bool first = true;
	for (const char *end = s + bytes; s < end;) {
		const char *next = block_end(s, end);
		ing_buf_clear(&block);
		ing_strip_markup(s, (size_t)(next - s), &block);
		s = next;
		if (block.len == 0)
			continue;
		bool skip = first && says_abstract_only(ing_buf_str(&block));
		first = false;
		if (skip)
			continue;
		if (out.len > 0)
			ing_buf_add_str(&out, "\n\n");
		ing_buf_add(&out, block.data, block.len);
	}
	const char *copy = out.len > 0 ? ing_arena_strndup(ar, ing_buf_str(&out), out.len) : NULL;
	ing_buf_done(&out);
	ing_buf_done(&block);
	return copy;
}
