/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The algorithms of CSS Syntax Level 3, section 4.3, over bytes: all characters outside ASCII are name
 * characters, so they need not be decoded. Pure.
 */
#include "worker/document/resources/css_token.h"

#include <string.h>
#include <strings.h>

#include "common/base/utf8.h"

#define REPLACEMENT 0xfffdu

/* The character n places ahead; 0 behind the end, and for NUL. */
static unsigned char peek(const struct ing_css_tokens *t, size_t n)
{
	return (size_t)(t->end - t->at) > n ? (unsigned char)t->at[n] : 0;
}

static bool is_end(const struct ing_css_tokens *t)
{
	return t->at == t->end;
}

static bool is_newline(unsigned char c)
{
	return c == '\n' || c == '\r' || c == '\f';
}

static bool is_space(unsigned char c)
{
	return is_newline(c) || c == ' ' || c == '\t';
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(unsigned char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool starts_name(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static bool is_name(unsigned char c)
{
	return starts_name(c) || is_digit(c) || c == '-';
}

static bool is_unprintable(unsigned char c)
{
	return (c >= 1 && c <= 8) || c == 0x0b || (c >= 0x0e && c <= 0x1f) || c == 0x7f;
}

/* A backslash that is no escape ends a line. */
static bool is_escape(const struct ing_css_tokens *t, size_t n)
{
	return peek(t, n) == '\\' && !is_newline(peek(t, n + 1));
}

static bool is_word_start(const struct ing_css_tokens *t, size_t n)
{
	unsigned char c = peek(t, n);
	if (c == '-')
		return starts_name(peek(t, n + 1)) || peek(t, n + 1) == '-' || is_escape(t, n + 1);
	return starts_name(c) || is_escape(t, n);
}

static bool is_number_start(const struct ing_css_tokens *t)
{
	size_t n = peek(t, 0) == '+' || peek(t, 0) == '-';
	return is_digit(peek(t, n)) || (peek(t, n) == '.' && is_digit(peek(t, n + 1)));
}

/* --- what a value is made of --- */

/* What is no character is U+FFFD. */
static void add_character(struct ing_css_tokens *t, uint32_t c)
{
	char bytes[ING_UTF8_BYTES];
	size_t n = ing_utf8_encode(c, bytes);
	ing_buf_add(&t->value, bytes, n);
}

/* The stream has U+FFFD for NUL. */
static void add_next(struct ing_css_tokens *t)
{
	if (*t->at == '\0')
		add_character(t, REPLACEMENT);
	else
		ing_buf_add_char(&t->value, *t->at);
	t->at++;
}

static uint32_t hex_value(unsigned char c)
{
	if (is_digit(c))
		return c - (uint32_t)'0';
	return (c | 0x20u) - (uint32_t)'a' + 10;
}

static void skip_one_space(struct ing_css_tokens *t)
{
	if (peek(t, 0) == '\r' && peek(t, 1) == '\n')
		t->at++;
	if (is_space(peek(t, 0)))
		t->at++;
}

/* At the backslash of an escape. */
static void read_escape(struct ing_css_tokens *t)
{
	uint32_t c = 0;
	t->at++;
	if (is_end(t)) {
		add_character(t, REPLACEMENT);
		return;
	}
	if (!is_hex(peek(t, 0))) {
		add_next(t);
		return;
	}
	for (int i = 0; i < 6 && is_hex(peek(t, 0)); i++)
		c = c * 16 + hex_value((unsigned char)*t->at++);
	skip_one_space(t);
	add_character(t, c == 0 ? REPLACEMENT : c);
}

static void read_name(struct ing_css_tokens *t)
{
	for (;;) {
		if (is_name(peek(t, 0)))
			add_next(t);
		else if (is_escape(t, 0))
			read_escape(t);
		else
			return;
	}
}

/* --- tokens --- */

static enum ing_css_token read_comment(struct ing_css_tokens *t)
{
	t->at += 2;
	for (; !is_end(t); t->at++) {
		if (peek(t, 0) == '*' && peek(t, 1) == '/') {
			t->at += 2;
			break;
		}
	}
	return ING_CT_SPACE;
}

static void skip_space(struct ing_css_tokens *t)
{
	while (is_space(peek(t, 0)))
		t->at++;
}

static enum ing_css_token read_string(struct ing_css_tokens *t)
{
	char quote = *t->at++;
	while (!is_end(t)) {
		unsigned char c = peek(t, 0);
		if (c == (unsigned char)quote) {
			t->at++;
			return ING_CT_STRING;
		}
		if (is_newline(c))
			return ING_CT_BAD;
		if (c != '\\') {
			add_next(t);
		} else if (is_newline(peek(t, 1))) {
			t->at++;
			skip_one_space(t);
		} else if (t->at + 1 == t->end) {
			t->at++; /* nothing follows: it is dropped */
		} else {
			read_escape(t);
		}
	}
	return ING_CT_STRING;
}

static enum ing_css_token skip_bad_url(struct ing_css_tokens *t)
{
	while (!is_end(t)) {
		char c = *t->at++;
		if (c == ')')
			break;
		if (c == '\\' && !is_end(t))
			t->at++;
	}
	return ING_CT_BAD;
}

/* Behind "url(" and white space. */
static enum ing_css_token read_url(struct ing_css_tokens *t)
{
	while (!is_end(t)) {
		unsigned char c = peek(t, 0);
		if (is_space(c)) {
			skip_space(t);
			if (!is_end(t) && peek(t, 0) != ')')
				return skip_bad_url(t);
		} else if (c == ')') {
			t->at++;
			return ING_CT_URL;
		} else if (c == '"' || c == '\'' || c == '(' || is_unprintable(c)) {
			return skip_bad_url(t);
		} else if (c != '\\') {
			add_next(t);
		} else if (is_escape(t, 0)) {
			read_escape(t);
		} else {
			return skip_bad_url(t);
		}
	}
	return ING_CT_URL;
}

static enum ing_css_token read_word(struct ing_css_tokens *t)
{
	read_name(t);
	if (peek(t, 0) != '(')
		return ING_CT_WORD;
	t->at++;
	if (!ing_css_value_is(t, "url"))
		return ING_CT_FUNCTION;
	const char *open = t->at;
	skip_space(t);
	if (peek(t, 0) == '"' || peek(t, 0) == '\'') {
		t->at = open;
		return ING_CT_FUNCTION;
	}
	ing_buf_clear(&t->value);
	return read_url(t);
}

static enum ing_css_token read_number(struct ing_css_tokens *t)
{
	t->at++;
	while (is_digit(peek(t, 0)) || (peek(t, 0) == '.' && is_digit(peek(t, 1))))
		t->at++;
	if (is_word_start(t, 0))
		read_name(t); /* an exponent or a unit */
	return ING_CT_OTHER;
}

static bool skip_html_mark(struct ing_css_tokens *t)
{
	static const char *const marks[] = {"<!--", "-->"};
	for (size_t i = 0; i < ING_ARRAY_LEN(marks); i++) {
		size_t bytes = strlen(marks[i]);
		if ((size_t)(t->end - t->at) >= bytes && memcmp(t->at, marks[i], bytes) == 0) {
			t->at += bytes;
			return true;
		}
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_css_tokens_init(
	struct ing_css_tokens *t, const char *css, size_t bytes, size_t max_value_bytes)
{
	*t = (struct ing_css_tokens){.at = css, .end = css + bytes};
	ing_buf_init(&t->value, max_value_bytes);
}

void ing_css_tokens_done(struct ing_css_tokens *t)
{
	ing_buf_done(&t->value);
}

enum ing_css_token ing_css_next(struct ing_css_tokens *t)
{
	ing_buf_clear(&t->value);
	if (is_end(t))
		return ING_CT_END;
	unsigned char c = peek(t, 0);
	if (c == '/' && peek(t, 1) == '*')
		return read_comment(t);
	if (is_space(c)) {
		skip_space(t);
		return ING_CT_SPACE;
	}
	if (c == '"' || c == '\'')
		return read_string(t);
	if ((c == '<' || c == '-') && skip_html_mark(t))
		return ING_CT_SPACE;
	if (is_number_start(t))
		return read_number(t);
	if (is_word_start(t, 0))
		return read_word(t);
	t->at++;
	if (c == '@' && is_word_start(t, 0)) {
		read_name(t);
		return ING_CT_AT;
	}
	if (c == '#' && (is_name(peek(t, 0)) || is_escape(t, 0))) {
		read_name(t);
		return ING_CT_OTHER;
	}
	t->sign = (char)c;
	return ING_CT_SIGN;
}

bool ing_css_value_is(const struct ing_css_tokens *t, const char *lower)
{
	size_t bytes = strlen(lower);
	return t->value.len == bytes && strncasecmp(ing_buf_str(&t->value), lower, bytes) == 0;
}
