/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The text of a selector to groups, chains and steps: a recursive descent over the text itself, so
 * that every error has its place. Everything made lives in the selector's arena. Any thread.
 */
#include "worker/scrape/jsoup/selector_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/unicode.h"
#include "worker/scrape/jsoup/text.h"

static bool is_combinator(char c)
{
	return c == '>' || c == '+' || c == '~';
}

static char peek(const struct ing_sel_parser *p)
{
	return p->at < p->bytes ? p->s[p->at] : '\0';
}

static bool at_end(const struct ing_sel_parser *p, char close)
{
	return p->at == p->bytes || (close != 0 && p->s[p->at] == close);
}

/* Letters and digits; everything beyond ASCII counts as a letter. */
static bool is_word(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* "x" for what stands at p->at, for messages. */
static const char *shown(const struct ing_sel_parser *p, char to[16])
{
	if (p->at == p->bytes)
		return "end";
	size_t n = ing_utf8_sequence(p->s + p->at, p->bytes - p->at);
	if ((unsigned char)p->s[p->at] < ' ' || n == 0)
		return "a control character";
	snprintf(to, 16, "\"%.*s\"", (int)n, p->s + p->at);
	return to;
}

static int unexpected(struct ing_sel_parser *p, const char *wanted)
{
	char what[16];
	return ing_sel_error(p, p->at, "unexpected %s, expected %s", shown(p, what), wanted);
}

/* --- names --- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void add_point(struct ing_buf *to, uint32_t c)
{
	char utf8[ING_UTF8_BYTES];
	ing_buf_add(to, utf8, ing_utf8_encode(c == 0 ? 0xfffd : c, utf8));
}

/* CSS Syntax 4.3.7; p->at is on the backslash. */
static int read_escape(struct ing_sel_parser *p, struct ing_buf *to)
{
	if (p->at + 1 == p->bytes)
		return ing_sel_error(p, p->at, "trailing backslash");
	p->at++;
	uint32_t c = 0;
	size_t digits = 0;
	while (digits < 6 && p->at < p->bytes && hex_digit(p->s[p->at]) >= 0) {
		c = c << 4 | (uint32_t)hex_digit(p->s[p->at++]);
		digits++;
	}
	if (digits > 0) {
		add_point(to, c);
		if (p->at < p->bytes && ing_sel_is_space(p->s[p->at]))
			p->at++;
		return 0;
	}
	/* What follows of a longer character is no ASCII and so part of the name anyway. */
	ing_buf_add_char(to, p->s[p->at++]);
	return 0;
}

/* An id, a class. */
static int read_identifier(struct ing_sel_parser *p, const char *what, struct ing_buf *to)
{
	ing_buf_clear(to);
	for (;;) {
		char c = peek(p);
		if (c == '\\') {
			int rc = read_escape(p, to);
			if (rc < 0)
				return rc;
		} else if (is_word(c) || c == '-' || c == '_') {
			ing_buf_add_char(to, c);
			p->at++;
		} else {
			return to->len > 0 ? 0 : unexpected(p, what);
		}
	}
}

/* A type, namespaces included: "a|b" is the name "a:b". *ret_any when it began with "*|". */
static int read_type(struct ing_sel_parser *p, struct ing_buf *to, bool *ret_any)
{
	ing_buf_clear(to);
	*ret_any = peek(p) == '*';
	if (*ret_any)
		p->at += 2;
	for (;;) {
		char c = peek(p);
		if (c == '\\') {
			int rc = read_escape(p, to);
			if (rc < 0)
				return rc;
		} else if (is_word(c) || c == '-' || c == '_' || c == '|') {
			ing_buf_add_char(to, c == '|' ? ':' : c);
			p->at++;
		} else {
			return 0;
		}
	}
}

static int parse_type(struct ing_sel_parser *p, struct ing_sel_simple *x, struct ing_buf *name)
{
	bool any = false;
	size_t from = p->at;
	int rc = read_type(p, name, &any);
	if (rc < 0)
		return rc;
	bool space = name->len > 1 && name->data[name->len - 1] == ':' && peek(p) == '*';
	if (space || (any && name->len == 0 && peek(p) == '*')) {
		p->at++;
		x->op = space ? ING_SEL_TAG_NS : ING_SEL_ALL;
		ing_sel_set_value(p->sel, x, ing_buf_str(name), name->len, true);
		return 0;
	}
	if (name->len == 0)
		return ing_sel_error(p, from, "missing element name after *|");
	x->op = any ? ING_SEL_TAG_ANY_NS : ING_SEL_TAG;
	ing_sel_set_value(p->sel, x, ing_buf_str(name), name->len, true);
	if (!any)
		x->binding = ing_sel_bind(p->sel, ING_SEL_NAME, x->value, x->bytes);
	return 0;
}

static int parse_id(struct ing_sel_parser *p, struct ing_sel_simple *x, struct ing_buf *name)
{
	p->at++;
	int rc = read_identifier(p, "an id", name);
	if (rc < 0)
		return rc;
	x->op = ING_SEL_ID;
	ing_sel_set_value(p->sel, x, ing_buf_str(name), name->len, false);
	x->binding = ing_sel_bind(p->sel, ING_SEL_ID_VALUE, x->value, x->bytes);
	return 0;
}

static int parse_class(struct ing_sel_parser *p, struct ing_sel_simple *x, struct ing_buf *name)
{
	p->at++;
	int rc = read_identifier(p, "a class", name);
	if (rc < 0)
		return rc;
	x->op = ING_SEL_CLASS;
	ing_sel_set_value(p->sel, x, ing_buf_str(name), name->len, true);
	x->binding = ing_sel_bind(p->sel, ING_SEL_CLASS_VALUE, x->value, x->bytes);
	return 0;
}

/* --- steps, chains, groups --- */

/* One test at p->at. *ret_found is false when none begins there. */
static int parse_simple(
	struct ing_sel_parser *p, struct ing_sel_simple *x, struct ing_buf *name, bool *ret_found)
{
	char c = peek(p);
	*ret_found = true;
	if (c == '#')
		return parse_id(p, x, name);
	if (c == '.')
		return parse_class(p, x, name);
	if (c == '[')
		return ing_sel_parse_attr(p, x);
	if (c == ':')
		return ing_sel_parse_pseudo(p, x);
	if (is_word(c) || c == '\\' || (c == '*' && p->at + 1 < p->bytes && p->s[p->at + 1] == '|'))
		return parse_type(p, x, name);
	*ret_found = c == '*';
	if (c == '*') {
		x->op = ING_SEL_ALL;
		p->at++;
	}
	return 0;
}

static int parse_step(struct ing_sel_parser *p, struct ing_sel_step *step)
{
	struct ing_sel_simple *first = NULL, **last = &first;
	struct ing_buf name;
	int rc = 0;
	bool found = true;
	ing_buf_init(&name, ING_SEL_MAX_BYTES);
	while (rc == 0 && found && p->at < p->bytes) {
		struct ing_sel_simple x = {.binding = ING_SEL_NONE};
		rc = parse_simple(p, &x, &name, &found);
		if (rc == 0 && found) {
			*last = ing_arena_alloc(&p->sel->ar, sizeof(x));
			**last = x;
			last = &(*last)->next;
			step->count++;
		}
	}
	ing_buf_done(&name);
	if (rc == 0 && step->count == 0)
		rc = unexpected(p, "a selector");
	if (rc < 0)
		return rc;
	step->written = ing_arena_alloc(&p->sel->ar, step->count * sizeof(struct ing_sel_simple *));
	for (uint32_t i = 0; i < step->count; i++, first = first->next)
		step->written[i] = first;
	return 0;
}

/* The combinator at p->at, or 0 when the chain ends here. */
static int parse_combinator(struct ing_sel_parser *p, char close, char *ret)
{
	size_t from = p->at;
	ing_sel_skip_space(p);
	*ret = 0;
	if (at_end(p, close) || peek(p) == ',')
		return 0;
	if (!is_combinator(peek(p))) {
		*ret = ' ';
		return p->at > from ? 0 : unexpected(p, "the next part or the end");
	}
	*ret = peek(p);
	p->at++;
	ing_sel_skip_space(p);
	if (is_combinator(peek(p)))
		return ing_sel_error(p, p->at, "two combinators in a row");
	if (at_end(p, close) || peek(p) == ',')
		return ing_sel_error(p, p->at, "missing selector after the combinator %c", *ret);
	return 0;
}

static int parse_chain(struct ing_sel_parser *p, char close, struct ing_sel_chain *c)
{
	struct ing_sel_step steps[ING_SEL_MAX_STEPS] = {0};
	ing_sel_skip_space(p);
	char combinator = 0;
	if (is_combinator(peek(p))) {
		int rc = parse_combinator(p, close, &combinator);
		if (rc < 0)
			return rc;
	}
	do {
		if (c->count == ING_SEL_MAX_STEPS)
			return ing_sel_error(p, p->at, "more than %d parts joined by combinators",
				ING_SEL_MAX_STEPS);
		struct ing_sel_step *step = &steps[c->count++];
		step->combinator = combinator;
		int rc = parse_step(p, step);
		if (rc == 0)
			rc = parse_combinator(p, close, &combinator);
		if (rc < 0)
			return rc;
	} while (combinator != 0);
	c->steps = ing_arena_alloc(&p->sel->ar, c->count * sizeof(steps[0]));
	memcpy(c->steps, steps, c->count * sizeof(steps[0]));
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_sel_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

void ing_sel_skip_space(struct ing_sel_parser *p)
{
	while (p->at < p->bytes && ing_sel_is_space(p->s[p->at]))
		p->at++;
}

int ing_sel_error(struct ing_sel_parser *p, size_t at, const char *fmt, ...)
{
	va_list args;
	char msg[400];
	va_start(args, fmt);
	vsnprintf(msg, sizeof(msg), fmt, args);
	va_end(args);
	size_t column = p->skipped + 1;
	for (size_t i = 0; i < at && i < p->bytes; i++)
		column += ((unsigned char)p->s[i] & 0xc0) != 0x80;
	enum ing_fail code = p->code != ING_FAIL_NONE ? p->code : ING_FAIL_SYNTAX;
	return ing_error_at(p->err, code, 0, (int)column, "%s", msg);
}

uint32_t ing_sel_bind(
	struct ing_selector *sel, enum ing_sel_kind kind, const char *text, size_t bytes)
{
	struct ing_sel_binding *b = ing_arena_alloc(&sel->ar, sizeof(*b));
	b->kind = kind;
	b->text = text;
	b->bytes = (uint32_t)bytes;
	*sel->last_binding = b;
	sel->last_binding = &b->next;
	return sel->bindings++;
}

void ing_sel_set_value(
	struct ing_selector *sel, struct ing_sel_simple *x, const char *s, size_t bytes, bool lower)
{
	struct ing_buf b;
	ing_buf_init(&b, 4 * ING_SEL_MAX_BYTES); /* case may lengthen it */
	if (lower)
		ing_unicode_lower(s, bytes, &b);
	else
		ing_buf_add(&b, s, bytes);
	x->value = ing_arena_strndup(&sel->ar, ing_buf_str(&b), b.len);
	x->bytes = (uint32_t)b.len;
	ing_buf_done(&b);
}

int ing_sel_parse_group(struct ing_sel_parser *p, char close, struct ing_sel_group **ret)
{
	struct ing_sel_group *g = ing_arena_alloc(&p->sel->ar, sizeof(*g));
	struct ing_sel_chain **last = &g->first;
	if (p->depth == ING_SEL_MAX_DEPTH)
		return ing_sel_error(p, p->at, "nested deeper than %d", ING_SEL_MAX_DEPTH);
	p->depth++;
	for (;;) {
		struct ing_sel_chain *c = ing_arena_alloc(&p->sel->ar, sizeof(*c));
		int rc = parse_chain(p, close, c);
		if (rc < 0)
			return rc;
		*last = c;
		last = &c->next;
		g->count++;
		if (peek(p) != ',')
			break;
		p->at++;
	}
	p->depth--;
	if (close != 0 && p->at == p->bytes)
		return ing_sel_error(p, p->at, "unexpected end, expected %c", close);
	*ret = g;
	return 0;
}
