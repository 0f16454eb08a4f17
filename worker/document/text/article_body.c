/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scripts are parsed one after the other, those alone that have the word; descriptions are looked for
 * in lists, @graph and mainEntity.
 */
#include "worker/document/text/article_body.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "common/data/json_lenient.h"
#include "common/markup/strip_markup.h"

#define MAX_SCRIPTS 64
#define MAX_SCRIPT_BYTES ((size_t)2 << 20)
#define MAX_TOTAL_BYTES ((size_t)4 << 20)
#define MAX_DEPTH 64
#define MAX_VALUES 100000 /* of all scripts */
#define MAX_OBJECTS 1024  /* looked at in a script */
#define MAX_TYPES 16
#define MAX_TAG_BYTES 2000 /* a longer one is text */

struct search {
	struct ing_buf best; /* as it stands in the JSON */
	bool rival;          /* another text of about its length */
	size_t bytes_left, values_left;
};

/* --- finding it --- */

/* The type without its parameters is JSON-LD's. */
static bool is_jsonld(const char *type)
{
	static const char want[] = "application/ld+json";
	if (type == NULL)
		return false;
	while (*type != '\0' && (unsigned char)*type <= ' ')
		type++;
	if (strncasecmp(type, want, sizeof(want) - 1) != 0)
		return false;
	char behind = type[sizeof(want) - 1];
	return (unsigned char)behind <= ' ' || behind == ';';
}

static bool ends_with(const char *s, const char *end)
{
	size_t bytes = strlen(s), n = strlen(end);
	return bytes >= n && strcmp(s + bytes - n, end) == 0;
}

/* The types under Article end in its name, but for a few. */
static bool is_article_type(const json_t *type)
{
	const char *s = json_string_value(type);
	return s != NULL &&
	       (ends_with(s, "Article") || ends_with(s, "BlogPosting") || ends_with(s, "Report"));
}

static bool is_article(const json_t *object)
{
	const json_t *type = json_object_get(object, "@type");
	if (!json_is_array(type))
		return is_article_type(type);
	for (size_t i = 0; i < json_array_size(type) && i < MAX_TYPES; i++) {
		if (is_article_type(json_array_get(type, i)))
			return true;
	}
	return false;
}

static void consider(struct search *s, const json_t *body)
{
	const char *text = json_string_value(body);
	size_t bytes = json_string_length(body);
	if (text == NULL || bytes == 0 || bytes > ING_MAX_ARTICLE_BODY_BYTES)
		return;
	if (bytes == s->best.len && memcmp(text, s->best.data, bytes) == 0)
		return;
	if (bytes <= s->best.len) {
		s->rival |= bytes * 2 > s->best.len;
		return;
	}
	s->rival = s->best.len * 2 > bytes;
	ing_buf_clear(&s->best);
	ing_buf_add(&s->best, text, bytes);
}

struct queue {
	const json_t *values[MAX_OBJECTS]; /* borrowed */
	size_t count;
};

static void enqueue(struct queue *q, const json_t *value)
{
	if ((json_is_object(value) || json_is_array(value)) && q->count < MAX_OBJECTS)
		q->values[q->count++] = value;
}

static void look_in(struct search *s, const json_t *root)
{
	struct queue q = {.count = 0};
	enqueue(&q, root);
	for (size_t i = 0; i < q.count; i++) {
		const json_t *value = q.values[i];
		for (size_t k = 0; k < json_array_size(value) && q.count < MAX_OBJECTS; k++)
			enqueue(&q, json_array_get(value, k));
		enqueue(&q, json_object_get(value, "@graph"));
		enqueue(&q, json_object_get(value, "mainEntity"));
		if (is_article(value))
			consider(s, json_object_get(value, "articleBody"));
	}
}

static void read_text(struct search *s, const char *text, size_t bytes)
{
	static const char word[] = "articleBody";
	if (bytes > s->bytes_left || memmem(text, bytes, word, sizeof(word) - 1) == NULL)
		return;
	s->bytes_left -= bytes;
	json_t *root =
		ing_json_parse_lenient(text, bytes, MAX_SCRIPT_BYTES, MAX_DEPTH, &s->values_left);
	look_in(s, root);
	json_decref(root);
}

static void read_scripts(struct search *s, const struct ing_tree *t)
{
	ing_node n = ING_NODE_DOCUMENT;
	for (unsigned seen = 0; seen < MAX_SCRIPTS; seen++) {
		do
			n = ing_tree_next_named(t, n, ING_NODE_DOCUMENT, "script");
		while (n != ING_NODE_NONE && !is_jsonld(ing_tree_attr(t, n, "type", NULL)));
		if (n == ING_NODE_NONE)
			return;
		for (ing_node i = n + 1; i < t->nodes[n].end; i++) {
			if (t->nodes[i].kind != ING_NODE_ELEMENT)
				read_text(s, t->nodes[i].text.data, t->nodes[i].text.bytes);
		}
	}
}

/* --- making lines of it --- */

/* Bytes of the tag at s (a '<'), 0 if there is none. */
static size_t tag_at(const char *s, size_t left)
{
	size_t name = left > 1 && s[1] == '/' ? 2 : 1;
	if (left <= name || ((s[name] | 0x20) < 'a' || (s[name] | 0x20) > 'z'))
		return 0;
	for (size_t i = name; i < left && i < MAX_TAG_BYTES && s[i] != '<'; i++) {
		if (s[i] == '>')
			return i + 1;
	}
	return 0;
}

static bool is_block_tag(const char *s)
{
	static const char *const names[] = {"p", "br", "div", "li", "ul", "ol", "h1", "h2", "h3",
		"h4", "h5", "h6", "blockquote", "tr", "table", "section", "figure", "figcaption",
		"pre", "hr", "dd", "dt"};
	s += s[1] == '/' ? 2 : 1;
	size_t bytes = strcspn(s, " \t\r\n/>");
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == bytes && strncasecmp(s, names[i], bytes) == 0)
			return true;
	}
	return false;
}

/* Tags become line breaks or nothing. */
static void drop_tags(const struct ing_buf *in, struct ing_buf *out)
{
	const char *s = in->data;
	for (size_t i = 0; i < in->len;) {
		size_t tag = s[i] == '<' ? tag_at(s + i, in->len - i) : 0;
		if (tag > 0 && is_block_tag(s + i))
			ing_buf_add_char(out, '\n');
		else if (tag == 0)
			ing_buf_add_char(out, s[i] == '\r' ? '\n' : s[i]);
		i += tag > 0 ? tag : 1;
	}
}

static void add_lines(const struct ing_buf *plain, struct ing_buf *out)
{
	const char *s = plain->data, *end = s + plain->len;
	while (s < end) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));
		size_t bytes = (size_t)((stop != NULL ? stop : end) - s);
		size_t before = out->len;
		ing_strip_markup(s, bytes, out);
		if (out->len > before)
			ing_buf_add_char(out, '\n');
		s += bytes + 1;
	}
}

/* -------------------------------------------------------------------------------------------- */

bool ing_article_body_read(const struct ing_tree *t, struct ing_buf *out)
{
	struct search s = {.bytes_left = MAX_TOTAL_BYTES, .values_left = MAX_VALUES};
	struct ing_buf plain;
	size_t before = out->len;
	ing_buf_init(&s.best, ING_MAX_ARTICLE_BODY_BYTES + 1);
	ing_buf_init(&plain, ING_MAX_ARTICLE_BODY_BYTES + 1);
	read_scripts(&s, t);
	if (s.best.len > 0 && !s.rival) {
		drop_tags(&s.best, &plain);
		add_lines(&plain, out);
	}
	ing_buf_done(&plain);
	ing_buf_done(&s.best);
	return !out->failed && out->len > before;
}
