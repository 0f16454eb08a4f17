/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A selector may match nested elements, whose text is then read again for each, as rules mean it;
 * honest rules do so two or three levels deep. The nodes read for a rule are therefore limited in
 * proportion to the page, and so are the bytes stored.
 */
#include "worker/scrape/publication/extract.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/error.h"
#include "common/base/macros.h"
#include "common/markup/link.h"
#include "worker/scrape/jsoup/text.h"
#include "worker/scrape/publication/clean.h"
#include "worker/model/rule_hits.h"

#define MAX_READS 32 /* times that all nodes of the page may be read for a rule */

struct extracting {
	const struct ing_view *v;
	struct ing_extraction extraction;
	enum ing_extract_style style;
	struct ing_buf buf; /* one value */
	size_t bytes;       /* of all values */
	uint64_t reads;     /* nodes still to be read */
	bool failed;
	struct ing_text_value *items;
	size_t count, room;
};

static bool add_value(struct extracting *p, const char *s, size_t bytes)
{
	p->bytes += bytes;
	if (p->bytes > ING_CLEAN_MAX_TEXT_BYTES)
		return false;
	if (p->count == p->room) {
		size_t room = p->room == 0 ? 8 : p->room * 2;
		struct ing_text_value *items = ing_arena_alloc(p->v->arena, room * sizeof(*items));
		if (p->count > 0)
			memcpy(items, p->items, p->count * sizeof(*items));
		p->items = items;
		p->room = room;
	}
	p->items[p->count++] = (struct ing_text_value){
		.text = ing_arena_strndup(p->v->arena, s, bytes), .bytes = bytes};
	return true;
}

/* Length of "<h1>" or "</h1>" (1 to 6, any case) at s, else 0. */
static size_t heading_tag_at(const char *s, const char *end, bool *ret_closing)
{
	size_t slash = end - s > 1 && s[1] == '/';
	*ret_closing = slash != 0;
	if ((size_t)(end - s) < 4 + slash)
		return 0;
	const char *h = s + 1 + slash;
	return (h[0] | 0x20) == 'h' && h[1] >= '1' && h[1] <= '6' && h[2] == '>' ? 4 + slash : 0;
}

/* Some abstracts have their headings as escaped tags: <h2> becomes a space, </h2> a full stop and a
 * space. In place, as tags are longer. */
static void replace_heading_tags(struct ing_buf *b)
{
	char *from = b->len == 0 ? NULL : memchr(b->data, '<', b->len);
	if (from == NULL)
		return;
	char *to = from;
	const char *end = b->data + b->len;
	while (from < end) {
		bool closing = false;
		size_t n = *from == '<' ? heading_tag_at(from, end, &closing) : 0;
		if (n == 0) {
			*to++ = *from++;
			continue;
		}
		if (closing)
			*to++ = '.';
		*to++ = ' ';
		from += n;
	}
	b->len = (size_t)(to - b->data);
	*to = '\0';
}

static bool add_text(struct extracting *p, ing_node n)
{
	const struct ing_tree *t = p->v->tree;
	uint64_t nodes = t->nodes[n].end - n;
	if (nodes > p->reads)
		return false;
	p->reads -= nodes;
	ing_buf_clear(&p->buf);
	if (p->style == ING_EXTRACT_FORMATTED) {
		ing_text_formatted(t, n, NULL, &p->buf);
	} else if (ing_text_has(t, n)) {
		ing_text(t, n, &p->buf);
		replace_heading_tags(&p->buf);
	}
	if (p->buf.failed)
		return false;
	return p->buf.len == 0 || add_value(p, ing_buf_str(&p->buf), p->buf.len);
}

static bool add_link(struct extracting *p, ing_node n, const char *attr)
{
	size_t bytes = 0;
	const char *s = ing_tree_attr(p->v->tree, n, attr, &bytes);
	if (s == NULL)
		return true;
	ing_text_trim(&s, &bytes);
	if (bytes == 0) /* would be the page itself */
		return true;
	char *url = ing_link_of_attr(p->v->tree, n, attr);
	bool good = url == NULL || add_value(p, url, strlen(url));
	free(url);
	return good;
}

static bool add_attr(struct extracting *p, ing_node n)
{
	size_t bytes = 0;
	const char *s = ing_tree_attr(p->v->tree, n, p->extraction.attr, &bytes);
	if (s == NULL)
		return true;
	ing_buf_clear(&p->buf);
	ing_text_normalise(s, bytes, true, &p->buf);
	s = ing_buf_str(&p->buf);
	bytes = p->buf.len;
	ing_text_trim(&s, &bytes);
	return bytes == 0 || (!p->buf.failed && add_value(p, s, bytes));
}

/* Returns false when a limit is met; an element without a value is skipped. */
static bool add_node(struct extracting *p, ing_node n)
{
	const char *attr = p->extraction.attr;
	n = attr != NULL || p->style >= ING_EXTRACT_LINK ? ing_tree_attr_owner(p->v->tree, n) : n;
	if (p->style == ING_EXTRACT_LINK || (p->style == ING_EXTRACT_ADDRESS && attr == NULL))
		return add_link(p, n, attr != NULL ? attr : "href");
	return attr != NULL ? add_attr(p, n) : add_text(p, n);
}

/* `steps` up from n; NONE when there is no element so far up. */
static ing_node step_up(const struct ing_tree *t, ing_node n, unsigned steps)
{
	for (; steps > 0 && n != ING_NODE_NONE; steps--)
		n = t->nodes[n].parent;
	return n == ING_NODE_DOCUMENT ? ING_NODE_NONE : n;
}

/* Parents of matches, each once and in document order: marked as bits, read in order. */
static void add_parents(struct extracting *p, struct ing_matches found, bool first)
{
	const struct ing_tree *t = p->v->tree;
	size_t words = t->count / 64 + 1;
	uint64_t *marks = ing_arena_alloc(p->v->arena, words * sizeof(*marks));
	for (size_t i = 0; i < found.count; i++) {
		ing_node n = step_up(t, found.nodes[i], p->extraction.parents);
		if (n != ING_NODE_NONE)
			marks[n / 64] |= (uint64_t)1 << n % 64;
	}
	for (size_t i = 0; i < words; i++) {
		for (uint64_t bits = marks[i]; bits != 0 && !p->failed; bits &= bits - 1) {
			ing_node n = (ing_node)(i * 64 + (size_t)__builtin_ctzll(bits));
			p->failed = !add_node(p, n);
			if (first)
				return;
		}
	}
}

static void add_matches(struct extracting *p, bool first)
{
	struct ing_error err = {0};
	struct ing_matches found = {0};
	ing_node one = ING_NODE_NONE;
	if (first) {
		p->failed = ing_select_first(p->v->matcher, p->extraction.selector,
				    ING_NODE_DOCUMENT, &one, &err) < 0;
		found = (struct ing_matches){.nodes = &one, .count = one != ING_NODE_NONE};
	} else {
		p->failed = ing_select(p->v->matcher, p->extraction.selector, ING_NODE_DOCUMENT,
				    &found, &err) < 0;
	}
	if (p->failed)
		return;
	if (p->extraction.parents > 0) {
		add_parents(p, found, first);
		return;
	}
	for (size_t i = 0; i < found.count && !p->failed; i++)
		p->failed = !add_node(p, found.nodes[i]);
}

/* Names of attributes are in lower case in the tree. NULL stays NULL. */
static const char *lower_name(struct ing_arena *ar, const char *name)
{
	char *lower = ing_arena_strdup(ar, name);
	for (char *c = lower; c != NULL && *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c | 0x20);
	return lower;
}

/* By one selector alone. Returns false when a limit is met. */
static bool extract(const struct ing_view *v, const struct ing_extraction *extraction,
	enum ing_extract_style style, bool first, struct ing_extracted *ret)
{
	struct extracting p = {.v = v, .extraction = *extraction, .style = style};
	p.extraction.attr = lower_name(v->arena, extraction->attr);
	p.reads = (uint64_t)v->tree->count * MAX_READS;
	ing_buf_init(&p.buf, ING_CLEAN_MAX_TEXT_BYTES);
	add_matches(&p, first);
	ing_buf_done(&p.buf);
	ret->items = p.items;
	ret->count = p.failed ? 0 : p.count;
	return !p.failed;
}

static const ing_node *select_nodes(
	const struct ing_view *v, const struct ing_extraction *extraction, size_t *ret_count)
{
	struct ing_error err = {0};
	struct ing_matches found = {0};
	if (extraction->attr != NULL ||
		ing_select(v->matcher, extraction->selector, ING_NODE_DOCUMENT, &found, &err) < 0)
		return NULL;
	ing_node *nodes = ing_arena_alloc(v->arena, (found.count + 1) * sizeof(*nodes));
	for (size_t i = 0; i < found.count; i++) {
		ing_node n = step_up(v->tree, found.nodes[i], extraction->parents);
		bool is_new = *ret_count == 0 || nodes[*ret_count - 1] != n;
		if (n != ING_NODE_NONE && !v->tree->nodes[n].pseudo && is_new)
			nodes[(*ret_count)++] = n;
	}
	return nodes;
}

/* Returns whether there is another alternative, which *e becomes. */
static bool try_next(struct ing_extraction *e)
{
	const struct ing_journal_rule *r = e->otherwise;
	if (r == NULL)
		return false;
	e->selector = r->selector;
	e->attr = r->attr;
	e->parents = r->parents;
	e->otherwise = r->otherwise;
	return true;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_extraction ing_extraction_of_journal(
	const struct ing_journal_site *site, enum ing_journal_key key)
{
	const struct ing_journal_rule *r = &site->keys[key];
	return (struct ing_extraction){.selector = r->selector,
		.attr = r->attr,
		.parents = r->parents,
		.rule = r->rule,
		.otherwise = r->otherwise};
}

struct ing_extraction ing_extraction_of_webpage(const struct ing_webpage_value *value)
{
	return (struct ing_extraction){.selector = value->selector,
		.attr = value->attr,
		.parents = value->parents,
		.rule = value->rule};
}

struct ing_extracted ing_extract(const struct ing_view *v, struct ing_extraction extraction,
	enum ing_extract_style style, bool first)
{
	struct ing_extracted found = {0};
	if (extraction.selector == NULL)
		return found;
	bool good = extract(v, &extraction, style, first, &found);
	while (good && found.count == 0 && try_next(&extraction)) {
		found.alternative++;
		good = extract(v, &extraction, style, first, &found);
	}
	ing_rule_hits_add(v->rule_hits, extraction.rule,
		ING_RULE_APPLIED | (good ? 0u : (unsigned)ING_RULE_FAILED) |
			(found.count > 0 ? ING_RULE_MATCHED : 0));
	return found;
}

const ing_node *ing_extract_nodes(
	const struct ing_view *v, struct ing_extraction extraction, size_t *ret_count)
{
	*ret_count = 0;
	if (extraction.selector == NULL)
		return NULL;
	const ing_node *nodes = select_nodes(v, &extraction, ret_count);
	while (*ret_count == 0 && try_next(&extraction))
		nodes = select_nodes(v, &extraction, ret_count);
	return nodes;
}

struct ing_text_value ing_extracted_join(
	const struct ing_view *v, struct ing_extracted extracted, const char *between)
{
	if (extracted.count == 0)
		return (struct ing_text_value){.text = ""};
	if (extracted.count == 1)
		return extracted.items[0];
	struct ing_buf b;
	ing_buf_init(&b, ING_CLEAN_MAX_TEXT_BYTES);
	for (size_t i = 0; i < extracted.count && !b.failed; i++) {
		if (i > 0)
			ing_buf_add_str(&b, between);
		ing_buf_add(&b, extracted.items[i].text, extracted.items[i].bytes);
	}
	struct ing_text_value joined = {
		.text = ing_arena_strndup(v->arena, ing_buf_str(&b), b.len), .bytes = b.len};
	ing_buf_done(&b);
	return joined;
}

struct ing_text_value ing_extract_title(const struct ing_view *v)
{
	struct ing_buf b;
	if (v->title == NULL)
		return (struct ing_text_value){.text = ""};
	ing_buf_init(&b, ING_CLEAN_MAX_TEXT_BYTES);
	ing_text_normalise(v->title, strlen(v->title), true, &b);
	const char *s = ing_buf_str(&b);
	size_t bytes = b.len;
	ing_text_trim(&s, &bytes);
	struct ing_text_value title = {
		.text = ing_arena_strndup(v->arena, s, bytes), .bytes = bytes};
	ing_buf_done(&b);
	return title;
}
