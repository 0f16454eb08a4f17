/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plain text work; see link_names.h.
 */
#include "worker/scrape/rules/link_names.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "worker/scrape/rules/link_words.h"

#define MAX_NODES 200         /* of an element, that are looked at for text */
#define MAX_FOLDED_BYTES 2000 /* of ING_LINK_MAX_WORDS_BYTES, folded */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_span ing_link_path(const char *url)
{
	const char *host = strstr(url, "://");
	const char *s = host != NULL ? host + 3 + strcspn(host + 3, "/?#") : url;
	return (struct ing_span){s, strcspn(s, "?#")};
}

struct ing_span ing_link_file(const char *url)
{
	struct ing_span p = ing_link_path(url);
	while (p.bytes > 0 && p.s[p.bytes - 1] == '/')
		p.bytes--;
	size_t from = p.bytes;
	while (from > 0 && p.s[from - 1] != '/')
		from--;
	return (struct ing_span){p.s + from, p.bytes - from};
}

struct ing_span ing_link_query(const char *url)
{
	struct ing_span p = ing_link_path(url);
	const char *s = p.s + p.bytes;
	return (struct ing_span){s, strcspn(s, "#")};
}

struct ing_span ing_link_stem(struct ing_span file)
{
	for (size_t i = file.bytes; i > 1 && file.bytes - i < 6; i--)
		if (file.s[i - 1] == '.')
			return (struct ing_span){file.s, i - 1};
	return file;
}

bool ing_link_ends_with(struct ing_span s, const char *lower)
{
	size_t bytes = strlen(lower);
	return s.bytes >= bytes && strncasecmp(s.s + s.bytes - bytes, lower, bytes) == 0;
}

const char *ing_link_fold(const struct ing_view *v, const char *s, size_t bytes)
{
	struct ing_buf out;
	ing_buf_init(&out, MAX_FOLDED_BYTES);
	ing_link_words_fold(s, ING_MIN(bytes, (size_t)ING_LINK_MAX_WORDS_BYTES), &out);
	const char *folded = ing_arena_strdup(v->arena, ing_buf_str(&out));
	ing_buf_done(&out);
	return folded;
}

const char *ing_link_fold_node(const struct ing_view *v, ing_node n)
{
	const struct ing_tree *t = v->tree;
	ing_node end = ING_MIN(t->nodes[n].end, n + MAX_NODES);
	struct ing_buf text;
	ing_buf_init(&text, ING_LINK_MAX_WORDS_BYTES + 1);
	for (ing_node at = n + 1; at < end && text.len < ING_LINK_MAX_WORDS_BYTES; at++) {
		const struct ing_tree_node *node = &t->nodes[at];
		if (node->kind != ING_NODE_TEXT && node->kind != ING_NODE_CDATA)
			continue;
		size_t room = ING_LINK_MAX_WORDS_BYTES - text.len;
		ing_buf_add(&text, node->text.data,
			ing_utf8_cut(node->text.data, node->text.bytes, room));
		ing_buf_add_char(&text, ' ');
	}
	const char *folded = ing_link_fold(v, ing_buf_str(&text), text.len);
	ing_buf_done(&text);
	return folded;
}

const char *ing_link_squeeze(const struct ing_view *v, const char *s, size_t bytes)
{
	char *out = ing_arena_alloc(v->arena, bytes + 1);
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)s[i];
		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'))
			out[n++] = (char)c;
		else if (c >= 'A' && c <= 'Z')
			out[n++] = (char)(c + 0x20);
	}
	return out;
}

const char *ing_link_without_spaces(const struct ing_view *v, const char *folded)
{
	char *out = ing_arena_alloc(v->arena, strlen(folded) + 1);
	size_t n = 0;
	for (const char *s = folded; *s != '\0'; s++)
		if (*s != ' ')
			out[n++] = *s;
	return out;
}

const char *ing_link_unescape(const struct ing_view *v, struct ing_span span)
{
	const char *s = span.s;
	size_t bytes = span.bytes;
	char *out = ing_arena_alloc(v->arena, bytes + 1);
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++) {
		bool escape = s[i] == '%' && i + 2 < bytes && hex_value(s[i + 1]) >= 0 &&
			      hex_value(s[i + 2]) >= 0;
		char c = escape ? (char)(hex_value(s[i + 1]) * 16 + hex_value(s[i + 2])) : s[i];
		i += escape ? 2 : 0;
		out[n++] = c != '\0' ? c : ' ';
	}
	return out;
}
