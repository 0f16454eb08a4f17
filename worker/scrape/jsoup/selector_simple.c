/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether one element passes one test: names, attributes, positions, texts. Whatever costs more
 * than a few instructions is charged to the matcher's budget. One thread, the matcher's.
 */
#include "worker/scrape/jsoup/selector_priv.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/utf8.h"
#include "common/markup/link.h"
#include "common/data/unicode.h"
#include "worker/scrape/jsoup/text.h"

/* Times the page's nodes that are read for single elements before the page's text is made once. */
#ifndef MAP_WORK
#	define MAP_WORK 4
#endif

/* --- values --- */

struct value {
	const char *s;
	size_t bytes;
	char *owned;
};

static bool is_ascii(const char *s, size_t bytes)
{
	return ing_utf8_ascii_run(s, bytes) == bytes;
}

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* ASCII s begins with x's value, case aside. */
static bool begins_with(const char *s, const struct ing_sel_simple *x)
{
	for (uint32_t i = 0; i < x->bytes; i++) {
		if (fold(s[i]) != x->value[i])
			return false;
	}
	return true;
}

/* Whether the first two letters of x's value are somewhere among nine bytes, case aside. */
static bool may_begin_in(const char *s, const struct ing_sel_simple *x)
{
	uint64_t here, next;
	memcpy(&here, s, sizeof(here));
	memcpy(&next, s + 1, sizeof(next));
	here = ing_sel_lower_eight(here) ^ ING_SEL_EACH((unsigned char)x->value[0]);
	next = ing_sel_lower_eight(next) ^ ING_SEL_EACH((unsigned char)x->value[1]);
	/* A byte is 0 where both stand. */
	return (((here | next) + ING_SEL_EACH(0x7f)) & ING_SEL_EACH(0x80)) != ING_SEL_EACH(0x80);
}

/* ASCII s contains x's value, case aside. */
static bool contains_ascii(const char *s, size_t bytes, const struct ing_sel_simple *x)
{
	char low = x->value[0];
	size_t i = 0;
	while (i + x->bytes <= bytes) {
		if (x->bytes >= 2 && bytes - i > 8 && !may_begin_in(s + i, x)) {
			i += 8;
			continue;
		}
		for (size_t end = ING_MIN(i + 8, bytes - x->bytes + 1); i < end; i++) {
			if (fold(s[i]) == low && begins_with(s + i, x))
				return true;
		}
	}
	return false;
}

static bool compare(enum ing_sel_op op, const char *s, size_t bytes, const struct ing_sel_simple *x)
{
	switch (op) {
	case ING_SEL_ATTR_EQUALS:
	case ING_SEL_ATTR_NOT_EQUALS:
		return bytes == x->bytes && begins_with(s, x);
	case ING_SEL_ATTR_STARTS:
		return bytes >= x->bytes && begins_with(s, x);
	case ING_SEL_ATTR_ENDS:
		return bytes >= x->bytes && begins_with(s + bytes - x->bytes, x);
	default:
		return contains_ascii(s, bytes, x);
	}
}

/* The attribute's value against x's, case aside. */
static bool compare_value(
	struct ing_matcher *m, const struct ing_sel_simple *x, const struct value *v)
{
	const char *s = v->s;
	size_t bytes = v->bytes;
	if (x->op == ING_SEL_ATTR_EQUALS)
		ing_text_trim(&s, &bytes);
	ing_sel_tick(m, (int32_t)(bytes >> 5));
	if (is_ascii(s, bytes))
		return compare((enum ing_sel_op)x->op, s, bytes, x);
	ing_buf_clear(&m->lower);
	ing_unicode_lower(s, bytes, &m->lower);
	return compare((enum ing_sel_op)x->op, ing_buf_str(&m->lower), m->lower.len, x);
}

/* False when the element has no such attribute. */
static bool get_value(
	struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n, struct value *ret)
{
	uint32_t name = m->bounds[x->binding].name;
	const struct ing_tree_attr *a =
		name != ING_SEL_NONE ? ing_tree_attr_of(m->t, n, name) : NULL;
	*ret = (struct value){.s = ""};
	if (a == NULL)
		return false;
	ret->s = a->value;
	ret->bytes = a->bytes;
	if (!x->abs)
		return true;
	ing_sel_tick(m, 64 + (int32_t)(a->bytes >> 2));
	ret->owned = ing_link_resolve(m->t, a->value, a->bytes);
	ret->s = ret->owned != NULL ? ret->owned : "";
	ret->bytes = strlen(ret->s);
	return ret->owned != NULL;
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The cost of an expression is unknown beforehand: it is measured. */
static bool find_regex(
	struct ing_matcher *m, const struct ing_sel_simple *x, const char *s, size_t bytes)
{
	uint64_t from = now_ns();
	enum ing_regex_end end = ing_regex_find(x->regex, s, bytes);
	uint64_t ticks = (now_ns() - from) / ING_SEL_NS_PER_TICK;
	if (end == ING_REGEX_LIMIT && m->fail == 0) {
		m->fail = ING_FAIL_TOO_BIG;
		m->fail_regex = x->regex_text;
	}
	ing_sel_tick(m, (int32_t)ING_MIN(ticks, (uint64_t)1 << 24) + 1);
	return end == ING_REGEX_YES;
}

static bool passes_attr(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	struct value v;
	bool has = get_value(m, x, n, &v), passes = has;
	if (x->op == ING_SEL_ATTR_MATCHES)
		passes = has && find_regex(m, x, v.s, v.bytes);
	else if (x->op == ING_SEL_ATTR_NOT_EQUALS)
		passes = !compare_value(m, x, &v);
	else if (x->op != ING_SEL_ATTR)
		passes = has && compare_value(m, x, &v);
	free(v.owned);
	return passes;
}

/* [*], [^pre] */
static bool passes_any_attr(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	const struct ing_tree *t = m->t;
	const struct ing_tree_node *face = &t->nodes[ing_tree_attr_owner(t, n)];
	if (x->op == ING_SEL_ATTR_ANY)
		return face->attr_count > 0;
	for (unsigned i = 0; i < face->attr_count; i++) {
		const struct ing_tree_name *name = &t->names[t->attrs[face->el.attrs + i].name];
		if (name->bytes >= x->bytes && memcmp(name->text, x->value, x->bytes) == 0)
			return true;
	}
	return false;
}

/* --- names --- */

static bool passes_space(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	const struct ing_tree_name *name =
		&m->t->names[m->t->nodes[ing_tree_attr_owner(m->t, n)].el.name];
	if (name->bytes < x->bytes)
		return false;
	if (x->op == ING_SEL_TAG_NS)
		return memcmp(name->text, x->value, x->bytes) == 0;
	size_t before = name->bytes - x->bytes;
	return memcmp(name->text + before, x->value, x->bytes) == 0 &&
	       (before == 0 || name->text[before - 1] == ':');
}

static bool passes_index(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	const struct ing_sel_bound *b = &m->bounds[x->binding];
	return b->count > 0 && ing_sel_list_has(b->list, b->count, ing_tree_attr_owner(m->t, n));
}

/* --- places --- */

/* Whether n is below an element: children of the document have no position. */
static bool has_place(const struct ing_matcher *m, ing_node n)
{
	return n != ING_NODE_DOCUMENT && m->t->nodes[n].parent != ING_NODE_DOCUMENT;
}

static bool passes_nth(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	if (!has_place(m, n))
		return false;
	int64_t place = ing_sel_place(m, n, (enum ing_sel_place)x->place);
	int64_t off = place - x->b;
	if (x->a == 0)
		return off == 0;
	return off % x->a == 0 && off / x->a >= 0;
}

static bool passes_only(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	enum ing_sel_place last = (enum ing_sel_place)(x->place + 1);
	return has_place(m, n) && ing_sel_place(m, n, (enum ing_sel_place)x->place) == 1 &&
	       ing_sel_place(m, n, last) == 1;
}

static bool is_blank(const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (!ing_sel_is_space(s[i]))
			return false;
	}
	return true;
}

static bool is_blank_text(const struct ing_tree_node *node)
{
	return (node->kind == ING_NODE_TEXT || node->kind == ING_NODE_CDATA) &&
	       is_blank(node->text.data, node->text.bytes);
}

/* :empty: nothing but blank text, comments and what has no text. */
static bool passes_empty(struct ing_matcher *m, ing_node n)
{
	const struct ing_tree *t = m->t;
	if (t->nodes[n].pseudo)
		return is_blank_text(&t->nodes[n]);
	for (ing_node c = ing_tree_first_child(t, n); c != ING_NODE_NONE;
		c = ing_tree_next_sibling(t, c)) {
		const struct ing_tree_node *node = &t->nodes[c];
		bool nothing = node->kind == ING_NODE_COMMENT || node->kind == ING_NODE_OTHER ||
			       (!node->pseudo && is_blank_text(node));
		if (!nothing)
			return false;
		ing_sel_tick(m, 1);
	}
	return true;
}

static bool passes_root(struct ing_matcher *m, ing_node n)
{
	if (m->root != ING_NODE_DOCUMENT)
		return n == m->root;
	return n == m->top;
}

/* --- texts --- */

static int32_t ticks_of(uint64_t work)
{
	return (int32_t)ING_MIN(work, (uint64_t)1 << 24);
}

/* Texts of nested elements have been read again and again: make the page's text once. */
static void make_map(struct ing_matcher *m)
{
	size_t bytes = m->t->count * sizeof(uint32_t);
	m->text_from = ing_alloc(bytes);
	m->text_to = ing_alloc(bytes);
	if (!ing_text_map(m->t, &m->page_text, m->text_from, m->text_to))
		ing_sel_drop_map(m);
	ing_sel_tick(m, ticks_of(m->t->count + m->page_text.len / 16));
}

/* text() of n, borrowed. */
static struct value get_plain_text(struct ing_matcher *m, ing_node n)
{
	struct value v = {0};
	if (m->text_from == NULL && !m->in_order &&
		m->text_work > MAP_WORK * (uint64_t)m->t->count) {
		m->text_work = 0;
		make_map(m);
	}
	if (m->text_from != NULL) {
		v.s = ing_buf_str(&m->page_text) + m->text_from[n];
		v.bytes = m->text_to[n] - m->text_from[n];
		ing_text_trim(&v.s, &v.bytes);
		ing_sel_tick(m, ticks_of(v.bytes / 64));
		return v;
	}
	ing_text(m->t, n, &m->text);
	/* A node costs some 10 ns, and 16 bytes about as much. */
	uint64_t work = (m->t->nodes[n].end - n) + m->text.len / 16;
	m->text_work += work;
	ing_sel_tick(m, ticks_of(work));
	v.s = ing_buf_str(&m->text);
	v.bytes = m->text.len;
	return v;
}

/* Borrowed until the next call. */
static struct value get_text(struct ing_matcher *m, enum ing_sel_text which, ing_node n)
{
	struct ing_buf *to = &m->text;
	ing_buf_clear(to);
	switch (which) {
	case ING_SEL_TEXT:
		return get_plain_text(m, n);
	case ING_SEL_OWN:
		ing_text_own(m->t, n, to);
		break;
	case ING_SEL_WHOLE:
		ing_text_whole(m->t, n, to);
		break;
	case ING_SEL_WHOLE_OWN:
		ing_text_whole_own(m->t, n, to);
		break;
	case ING_SEL_DATA:
		ing_text_data(m->t, n, to);
		break;
	}
	ing_sel_tick(m, ticks_of((m->t->nodes[n].end - n) + to->len / 16));
	return (struct value){.s = ing_buf_str(to), .bytes = to->len};
}

static bool has_words(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	struct value v = get_text(m, (enum ing_sel_text)x->text, n);
	const char *s = v.s;
	size_t bytes = v.bytes;
	bool exact = x->text == ING_SEL_WHOLE || x->text == ING_SEL_WHOLE_OWN;
	if (exact)
		return memmem(s, bytes, x->value, x->bytes) != NULL;
	if (x->bytes == 0)
		return true;
	if (is_ascii(s, bytes))
		return contains_ascii(s, bytes, x);
	ing_buf_clear(&m->lower);
	ing_unicode_lower(s, bytes, &m->lower);
	return memmem(ing_buf_str(&m->lower), m->lower.len, x->value, x->bytes) != NULL;
}

/* Some text node in n has the words by itself, as they are: so has n's text. */
static bool has_words_in_one(struct ing_matcher *m, const struct ing_sel_simple *x,
	struct ing_sel_hint *hint, ing_node n)
{
	const struct ing_tree_node *nodes = m->t->nodes;
	ing_node end = nodes[n].end;
	if (x->value[0] == ' ' || x->value[x->bytes - 1] == ' ')
		return false; /* which trimming may take */
	if (n < hint->from || n > hint->to) {
		hint->from = n;
		hint->to = n;
		hint->hit = false;
	}
	for (; !hint->hit && hint->to < end; hint->to++) {
		const struct ing_tree_node *node = &nodes[hint->to];
		ing_sel_tick(m, 1);
		if (node->kind != ING_NODE_TEXT && node->kind != ING_NODE_CDATA)
			continue;
		ing_sel_tick(m, (int32_t)(node->text.bytes >> 5));
		hint->hit = contains_ascii(node->text.data, node->text.bytes, x);
		if (hint->hit)
			break;
	}
	return hint->hit && hint->to < end;
}

/* Uses what is known from texts of nested elements. Not while :matchText changes texts, and not for
 * words beyond ASCII, whose lower case may depend on what follows. */
static bool passes_contains(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	struct ing_sel_hint *hint = &m->hints[x->hint];
	if (x->text != ING_SEL_TEXT || m->in_order || x->bytes == 0 ||
		!is_ascii(x->value, x->bytes))
		return has_words(m, x, n);
	if (hint->lacks != ING_NODE_NONE && ing_tree_contains(m->t, hint->lacks, n))
		return false;
	if (hint->has != ING_NODE_NONE && ing_tree_contains(m->t, n, hint->has))
		return true;
	if (has_words_in_one(m, x, hint, n))
		return true;
	bool has = has_words(m, x, n);
	if (has)
		hint->has = n;
	else
		hint->lacks = n;
	return has;
}

static bool passes_matches(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	struct value v = get_text(m, (enum ing_sel_text)x->text, n);
	return find_regex(m, x, v.s, v.bytes);
}

static bool passes_blank(struct ing_matcher *m, ing_node n)
{
	struct value v = get_text(m, ING_SEL_WHOLE_OWN, n);
	return is_blank(v.s, v.bytes);
}

/* True for a pseudo element; otherwise makes the element's own text nodes pseudo elements, which
 * the search then finds. */
static bool passes_match_text(struct ing_matcher *m, ing_node n)
{
	struct ing_tree *t = m->t;
	if (t->nodes[n].pseudo)
		return true;
	bool raised = false;
	for (ing_node c = ing_tree_first_child(t, n); c != ING_NODE_NONE;
		c = ing_tree_next_sibling(t, c)) {
		bool text = t->nodes[c].kind == ING_NODE_TEXT || t->nodes[c].kind == ING_NODE_CDATA;
		if (text && !t->nodes[c].pseudo) {
			t->nodes[c].pseudo = 1;
			t->has_pseudo = true;
			raised = true;
		}
		ing_sel_tick(m, 1);
	}
	if (raised) {
		ing_sel_forget_places(m, n);
		ing_sel_drop_map(m);
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_sel_passes(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	switch ((enum ing_sel_op)x->op) {
	case ING_SEL_ALL:
		return true;
	case ING_SEL_TAG:
		return m->t->nodes[ing_tree_attr_owner(m->t, n)].el.name ==
		       m->bounds[x->binding].name;
	case ING_SEL_TAG_ANY_NS:
	case ING_SEL_TAG_NS:
		return passes_space(m, x, n);
	case ING_SEL_ID:
	case ING_SEL_CLASS:
		return passes_index(m, x, n);
	case ING_SEL_ATTR_ANY:
	case ING_SEL_ATTR_PREFIX:
		return passes_any_attr(m, x, n);
	case ING_SEL_ATTR:
	case ING_SEL_ATTR_EQUALS:
	case ING_SEL_ATTR_NOT_EQUALS:
	case ING_SEL_ATTR_STARTS:
	case ING_SEL_ATTR_ENDS:
	case ING_SEL_ATTR_CONTAINS:
	case ING_SEL_ATTR_MATCHES:
		return passes_attr(m, x, n);
	case ING_SEL_EQ:
		return ing_sel_place(m, n, ING_SEL_CHILD) - 1 == (uint32_t)x->b;
	case ING_SEL_LT:
		return n != m->root && ing_sel_place(m, n, ING_SEL_CHILD) - 1 < (uint32_t)x->b;
	case ING_SEL_GT:
		return ing_sel_place(m, n, ING_SEL_CHILD) - 1 > (uint32_t)x->b;
	case ING_SEL_NTH:
		return passes_nth(m, x, n);
	case ING_SEL_ONLY:
		return passes_only(m, x, n);
	case ING_SEL_EMPTY:
		return passes_empty(m, n);
	case ING_SEL_BLANK:
		return passes_blank(m, n);
	case ING_SEL_ROOT:
		return passes_root(m, n);
	case ING_SEL_CONTAINS:
		return passes_contains(m, x, n);
	case ING_SEL_MATCHES:
		return passes_matches(m, x, n);
	case ING_SEL_MATCH_TEXT:
		return passes_match_text(m, n);
	case ING_SEL_HAS:
	case ING_SEL_IS:
	case ING_SEL_NOT:
		return ing_sel_passes_group(m, x, n);
	}
	return false;
}
