/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parses arguments in brackets and parentheses of a selector: attributes, pseudo-classes and their
 * arguments. Any thread.
 */
#include "worker/scrape/jsoup/selector_priv.h"

#include <ctype.h>
#include <string.h>

#include "worker/scrape/jsoup/text.h"

struct slice {
	size_t from, to; /* bytes of the text */
};

static void trim(const struct ing_sel_parser *p, struct slice *a)
{
	while (a->from < a->to && (unsigned char)p->s[a->from] <= ' ')
		a->from++;
	while (a->to > a->from && (unsigned char)p->s[a->to - 1] <= ' ')
		a->to--;
}

static bool begins(const struct ing_sel_parser *p, size_t at, const char *text)
{
	size_t n = strlen(text);
	return p->bytes - at >= n && memcmp(p->s + at, text, n) == 0;
}

/* The end of a quoted stretch that begins at `at`: behind its closing quote, or the text's end. */
static size_t skip_quoted(const struct ing_sel_parser *p, size_t at)
{
	char quote = p->s[at++];
	while (at < p->bytes && p->s[at] != quote)
		at += p->s[at] == '\\' ? 2 : 1;
	return ING_MIN(at + 1, p->bytes);
}

/* What is between the bracket at p->at and its fellow; goes behind that. Quotes, backslashes and
 * \Q...\E protect what is in them. */
static int read_balanced(struct ing_sel_parser *p, char open, char close, struct slice *ret)
{
	size_t begin = p->at, at = begin + 1;
	unsigned depth = 1;
	while (at < p->bytes) {
		char c = p->s[at];
		if (c == '\'' || c == '"') {
			at = skip_quoted(p, at);
			continue;
		}
		if (begins(p, at, "\\Q")) {
			const char *end = memmem(p->s + at, p->bytes - at, "\\E", 2);
			at = end != NULL ? (size_t)(end - p->s) + 2 : p->bytes;
			continue;
		}
		if (c == '\\') {
			at += 2;
			continue;
		}
		if (c == open) {
			depth++;
		} else if (c == close) {
			depth--;
			if (depth == 0) {
				ret->from = begin + 1;
				ret->to = at;
				p->at = at + 1;
				return 0;
			}
		}
		at++;
	}
	return ing_sel_error(p, begin,
		"this %c has no %c (quotes must be paired or escaped, \\' and \\\")", open, close);
}

static int compile_regex(
	struct ing_sel_parser *p, struct slice a, bool in_text, struct ing_sel_simple *x)
{
	struct ing_error err = {0};
	int rc = ing_regex_compile(p->s + a.from, a.to - a.from, 0, &x->regex, &err);
	if (rc < 0) {
		/* The column is the expression's: step over so many characters of it. */
		size_t at = a.from;
		for (int i = 1; i < err.column && at < a.to; i++) {
			at++;
			while (at < a.to && ((unsigned char)p->s[at] & 0xc0) == 0x80)
				at++;
		}
		p->code = err.code;
		return ing_sel_error(p, at, "regular expression: %s", err.msg);
	}
	struct ing_sel_regex *owned = ing_arena_alloc(&p->sel->ar, sizeof(*owned));
	owned->regex = x->regex;
	owned->text = ing_arena_strndup(&p->sel->ar, p->s + a.from, a.to - a.from);
	owned->in_text = in_text;
	owned->next = p->sel->regexes;
	p->sel->regexes = owned;
	x->regex_text = owned->text;
	return 0;
}

/* --- [attributes] --- */

static const struct operator
{
	const char *text;
	uint8_t op;
}
operators[] = {
	{"=", ING_SEL_ATTR_EQUALS},
	{"!=", ING_SEL_ATTR_NOT_EQUALS},
	{"^=", ING_SEL_ATTR_STARTS},
	{"$=", ING_SEL_ATTR_ENDS},
	{"*=", ING_SEL_ATTR_CONTAINS},
	{"~=", ING_SEL_ATTR_MATCHES},
};

/* The first operator within the slice; NULL: there is none. */
static const struct operator*
	find_operator(const struct ing_sel_parser *p, struct slice in, size_t *ret_at)
{
	for (size_t at = in.from; at < in.to; at++) {
		for (size_t i = 0; i < ING_ARRAY_LEN(operators); i++) {
			if (begins(p, at, operators[i].text)) {
				*ret_at = at;
				return &operators[i];
			}
		}
	}
	return NULL;
}

static int set_key(struct ing_sel_parser *p, struct slice key, struct ing_sel_simple *x)
{
	static const char abs[] = "abs:";
	trim(p, &key);
	if (key.from == key.to)
		return ing_sel_error(p, key.from, "missing attribute name");
	struct ing_sel_simple name = {0};
	ing_sel_set_value(p->sel, &name, p->s + key.from, key.to - key.from, true);
	if (name.bytes > strlen(abs) && memcmp(name.value, abs, strlen(abs)) == 0) {
		x->abs = true;
		name.value += strlen(abs);
		name.bytes -= (uint32_t)strlen(abs);
	}
	x->binding = ing_sel_bind(p->sel, ING_SEL_NAME, name.value, name.bytes);
	return 0;
}

/* [k], [*], [^pre] */
static int parse_bare(struct ing_sel_parser *p, struct slice in, struct ing_sel_simple *x)
{
	trim(p, &in);
	size_t bytes = in.to - in.from;
	if (bytes > 0 && p->s[in.from] == '^') {
		in.from++;
		trim(p, &in);
		x->op = in.from == in.to ? ING_SEL_ATTR_ANY : ING_SEL_ATTR_PREFIX;
		ing_sel_set_value(p->sel, x, p->s + in.from, in.to - in.from, true);
		return 0;
	}
	if (bytes == 1 && p->s[in.from] == '*') {
		x->op = ING_SEL_ATTR_ANY;
		return 0;
	}
	x->op = ING_SEL_ATTR;
	return set_key(p, in, x);
}

/* A value in quotes is taken as it is; others lose white space around them. */
static void set_attr_value(struct ing_sel_parser *p, struct slice value, struct ing_sel_simple *x)
{
	size_t bytes = value.to - value.from;
	char first = bytes >= 2 ? p->s[value.from] : '\0';
	bool quoted = (first == '\'' || first == '"') && p->s[value.to - 1] == first;
	if (quoted) {
		value.from++;
		value.to--;
	}
	if (!quoted || x->op == ING_SEL_ATTR_EQUALS || x->op == ING_SEL_ATTR_NOT_EQUALS)
		trim(p, &value);
	ing_sel_set_value(p->sel, x, p->s + value.from, value.to - value.from, true);
}

int ing_sel_parse_attr(struct ing_sel_parser *p, struct ing_sel_simple *ret)
{
	struct slice in;
	int rc = read_balanced(p, '[', ']', &in);
	if (rc < 0)
		return rc;
	size_t at;
	const struct operator* o = find_operator(p, in, &at);
	if (o == NULL)
		return parse_bare(p, in, ret);
	ret->op = o->op;
	rc = set_key(p, (struct slice){in.from, at}, ret);
	if (rc < 0)
		return rc;
	struct slice value = {at + strlen(o->text), in.to};
	if (o->op == ING_SEL_ATTR_MATCHES)
		return compile_regex(p, value, false, ret);
	set_attr_value(p, value, ret);
	if (ret->bytes == 0 && o->op != ING_SEL_ATTR_EQUALS && o->op != ING_SEL_ATTR_NOT_EQUALS)
		return ing_sel_error(p, value.from, "missing value after %s", o->text);
	return 0;
}

/* --- :pseudo-classes --- */

enum argument {
	ARG_NONE,
	ARG_INDEX,
	ARG_NTH,
	ARG_GROUP,
	ARG_WORDS, /* white space normalised, in lower case */
	ARG_LOWER, /* in lower case */
	ARG_EXACT,
	ARG_REGEX,
};

static const struct pseudo {
	const char *name;
	uint8_t argument, op, detail; /* enum ing_sel_text or ing_sel_place */
	int8_t b;                     /* place of :first-child and its kin */
} pseudos[] = {
	{"eq", ARG_INDEX, ING_SEL_EQ, 0, 0},
	{"lt", ARG_INDEX, ING_SEL_LT, 0, 0},
	{"gt", ARG_INDEX, ING_SEL_GT, 0, 0},
	{"has", ARG_GROUP, ING_SEL_HAS, 0, 0},
	{"is", ARG_GROUP, ING_SEL_IS, 0, 0},
	{"not", ARG_GROUP, ING_SEL_NOT, 0, 0},
	{"contains", ARG_WORDS, ING_SEL_CONTAINS, ING_SEL_TEXT, 0},
	{"containsown", ARG_WORDS, ING_SEL_CONTAINS, ING_SEL_OWN, 0},
	{"containswholetext", ARG_EXACT, ING_SEL_CONTAINS, ING_SEL_WHOLE, 0},
	{"containswholeowntext", ARG_EXACT, ING_SEL_CONTAINS, ING_SEL_WHOLE_OWN, 0},
	{"containsdata", ARG_LOWER, ING_SEL_CONTAINS, ING_SEL_DATA, 0},
	{"matches", ARG_REGEX, ING_SEL_MATCHES, ING_SEL_TEXT, 0},
	{"matchesown", ARG_REGEX, ING_SEL_MATCHES, ING_SEL_OWN, 0},
	{"matcheswholetext", ARG_REGEX, ING_SEL_MATCHES, ING_SEL_WHOLE, 0},
	{"matcheswholeowntext", ARG_REGEX, ING_SEL_MATCHES, ING_SEL_WHOLE_OWN, 0},
	{"first-child", ARG_NONE, ING_SEL_NTH, ING_SEL_CHILD, 1},
	{"last-child", ARG_NONE, ING_SEL_NTH, ING_SEL_LAST_CHILD, 1},
	{"only-child", ARG_NONE, ING_SEL_ONLY, ING_SEL_CHILD, 0},
	{"first-of-type", ARG_NONE, ING_SEL_NTH, ING_SEL_OF_TYPE, 1},
	{"last-of-type", ARG_NONE, ING_SEL_NTH, ING_SEL_LAST_OF_TYPE, 1},
	{"only-of-type", ARG_NONE, ING_SEL_ONLY, ING_SEL_OF_TYPE, 0},
	{"nth-child", ARG_NTH, ING_SEL_NTH, ING_SEL_CHILD, 0},
	{"nth-last-child", ARG_NTH, ING_SEL_NTH, ING_SEL_LAST_CHILD, 0},
	{"nth-of-type", ARG_NTH, ING_SEL_NTH, ING_SEL_OF_TYPE, 0},
	{"nth-last-of-type", ARG_NTH, ING_SEL_NTH, ING_SEL_LAST_OF_TYPE, 0},
	{"empty", ARG_NONE, ING_SEL_EMPTY, 0, 0},
	{"blank", ARG_NONE, ING_SEL_BLANK, 0, 0},
	{"root", ARG_NONE, ING_SEL_ROOT, 0, 0},
	{"matchtext", ARG_NONE, ING_SEL_MATCH_TEXT, 0, 0},
};

/* Digits up to a billion; false when there are none or too many. */
static bool read_number(const struct ing_sel_parser *p, struct slice *a, int32_t *ret)
{
	size_t from = a->from;
	int32_t n = 0;
	while (a->from < a->to && isdigit((unsigned char)p->s[a->from]) && a->from - from < 9)
		n = n * 10 + (p->s[a->from++] - '0');
	*ret = n;
	return a->from > from && (a->from == a->to || !isdigit((unsigned char)p->s[a->from]));
}

static int parse_index(struct ing_sel_parser *p, struct slice a, struct ing_sel_simple *x)
{
	trim(p, &a);
	size_t at = a.from;
	if (!read_number(p, &a, &x->b) || a.from != a.to)
		return ing_sel_error(p, at, "expected a number, counted from 0");
	return 0;
}

static int32_t read_sign(const struct ing_sel_parser *p, struct slice *a)
{
	char c = a->from < a->to ? p->s[a->from] : '\0';
	a->from += c == '+' || c == '-';
	return c == '-' ? -1 : 1;
}

static bool is_word(const struct ing_sel_parser *p, struct slice a, const char *word)
{
	return a.to - a.from == strlen(word) && strncasecmp(p->s + a.from, word, strlen(word)) == 0;
}

/* "an+b" with spaces around the sign, "b". */
static bool read_nth(const struct ing_sel_parser *p, struct slice a, struct ing_sel_simple *x)
{
	int32_t sign = read_sign(p, &a), n = 1;
	bool has_number = a.from < a.to && isdigit((unsigned char)p->s[a.from]);
	if (has_number && !read_number(p, &a, &n))
		return false;
	if (a.from == a.to) {
		x->b = sign * n;
		return has_number;
	}
	if (tolower((unsigned char)p->s[a.from]) != 'n')
		return false;
	a.from++;
	x->a = sign * n;
	trim(p, &a);
	if (a.from == a.to)
		return true;
	if (p->s[a.from] != '+' && p->s[a.from] != '-')
		return false;
	sign = read_sign(p, &a);
	trim(p, &a);
	if (!read_number(p, &a, &n))
		return false;
	x->b = sign * n;
	return a.from == a.to;
}

static int parse_nth(struct ing_sel_parser *p, struct slice a, struct ing_sel_simple *x)
{
	trim(p, &a);
	bool odd = is_word(p, a, "odd");
	if (odd || is_word(p, a, "even")) {
		x->a = 2;
		x->b = odd ? 1 : 0;
		return 0;
	}
	if (!read_nth(p, a, x))
		return ing_sel_error(p, a.from, "expected odd, even or a formula such as 2n+1");
	return 0;
}

/* Text less its backslashes; one that is quoted itself stays. */
static void unescape(const struct ing_sel_parser *p, struct slice a, struct ing_buf *to)
{
	for (size_t i = a.from; i < a.to; i++) {
		if (p->s[i] == '\\' && i + 1 < a.to)
			i++;
		else if (p->s[i] == '\\')
			break;
		ing_buf_add_char(to, p->s[i]);
	}
}

static void parse_words(
	struct ing_sel_parser *p, struct slice a, enum argument kind, struct ing_sel_simple *x)
{
	struct ing_buf plain, words;
	ing_buf_init(&plain, ING_SEL_MAX_BYTES);
	ing_buf_init(&words, ING_SEL_MAX_BYTES);
	unescape(p, a, &plain);
	if (kind == ARG_WORDS)
		ing_text_normalise(ing_buf_str(&plain), plain.len, false, &words);
	else
		ing_buf_add(&words, ing_buf_str(&plain), plain.len);
	ing_sel_set_value(p->sel, x, ing_buf_str(&words), words.len, kind != ARG_EXACT);
	ing_buf_done(&plain);
	ing_buf_done(&words);
}

static int parse_argument(
	struct ing_sel_parser *p, const struct pseudo *kind, struct ing_sel_simple *x)
{
	struct slice a;
	int rc = read_balanced(p, '(', ')', &a);
	if (rc < 0)
		return rc;
	if (a.from == a.to)
		return ing_sel_error(p, a.from, "missing argument of :%s", kind->name);
	switch ((enum argument)kind->argument) {
	case ARG_INDEX:
		return parse_index(p, a, x);
	case ARG_NTH:
		return parse_nth(p, a, x);
	case ARG_REGEX:
		return compile_regex(p, a, true, x);
	default:
		parse_words(p, a, (enum argument)kind->argument, x);
		return 0;
	}
}

static int parse_group(struct ing_sel_parser *p, struct ing_sel_simple *x)
{
	p->at++;
	int rc = ing_sel_parse_group(p, ')', &x->group);
	if (rc == 0)
		p->at++;
	return rc;
}

/* NULL, and *ret_rc the error, when there is none of that name. */
static const struct pseudo *find_pseudo(struct ing_sel_parser *p, int *ret_rc)
{
	size_t from = p->at;
	while (p->at < p->bytes && (isalpha((unsigned char)p->s[p->at]) || p->s[p->at] == '-'))
		p->at++;
	struct slice name = {from, p->at};
	for (size_t i = 0; i < ING_ARRAY_LEN(pseudos); i++) {
		if (is_word(p, name, pseudos[i].name))
			return &pseudos[i];
	}
	if (begins(p, from, ":")) {
		p->code = ING_FAIL_UNSUPPORTED;
		*ret_rc = ing_sel_error(p, from - 1,
			"tests of nodes other than elements (::text, ::comment) are not supported: "
			":matchText makes elements of text, :containsData looks into comments");
		return NULL;
	}
	*ret_rc = ing_sel_error(p, from - 1, "there is no pseudo-class :%.*s",
		(int)ING_MIN(p->at - from, (size_t)60), p->s + from);
	return NULL;
}

int ing_sel_parse_pseudo(struct ing_sel_parser *p, struct ing_sel_simple *ret)
{
	size_t from = p->at;
	int rc = 0;
	p->at++;
	const struct pseudo *kind = find_pseudo(p, &rc);
	if (kind == NULL)
		return rc;
	ret->op = kind->op;
	ret->text = kind->detail;
	ret->place = kind->detail;
	ret->b = kind->b;
	if (kind->op == ING_SEL_MATCH_TEXT)
		p->sel->has_match_text = true;
	if (kind->argument == ARG_NONE)
		return 0;
	if (p->at == p->bytes || p->s[p->at] != '(')
		return ing_sel_error(p, from, ":%s needs an argument in parentheses", kind->name);
	return kind->argument == ARG_GROUP ? parse_group(p, ret) : parse_argument(p, kind, ret);
}
