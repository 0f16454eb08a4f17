/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One pass, which gives up at whatever is out of the ordinary. tests/fuzz/request_plain.c holds it to what the parser makes.
 */
#include "worker/model/request_plain.h"

#include <string.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "worker/model/ingest_type.h"
#include "worker/model/limits.h"
#include "worker/model/request_facts.h"
#include "worker/model/request_row.h"

#define MAX_MEMBERS 24 /* of an object: each is compared with those before it */
#define MAX_DEPTH 6
#define MAX_DIGITS 15

struct slice {
	const char *at;
	size_t bytes;
};

struct names {
	struct slice names[MAX_MEMBERS];
	size_t count;
};

enum column {
	COLUMN_TYPE,
	COLUMN_BASE_URL,
	COLUMN_LINK_SOURCE,
	COLUMN_LINK_SOURCE_ID,
	COLUMN_SOURCE,
	COLUMN_STAGE,
	COLUMN_CREATED,
	COLUMNS_,
};

static const char *const column_names[COLUMNS_] = {"ingest_type", "base_url", "link_source",
	"link_source_id", "ingest_request_source", "release_stage", "created"};

/* What is done with them is the parser's to know. */
static const char *const others[] = {
	"expect_mimetypes", "expect_hash", "force_recrawl", "skip_existing_max_age_ms", "fatcat"};

struct scan {
	const char *at, *end;
	struct ing_buf out;             /* the members that have no column */
	struct slice columns[COLUMNS_]; /* NULL: absent */
	struct slice doi;               /* of ext_ids */
};

static bool is(const struct slice *s, const char *word)
{
	return s->bytes == strlen(word) && memcmp(s->at, word, s->bytes) == 0;
}

static void skip_space(struct scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r'))
		s->at++;
}

/* The character that comes next, white space aside; it is passed. */
static bool take(struct scan *s, char c)
{
	skip_space(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

static bool take_string(struct scan *s, struct slice *ret)
{
	if (!take(s, '"'))
		return false;
	ret->at = s->at;
	for (; s->at < s->end && *s->at != '"'; s->at++)
		if (*s->at < 0x20 || *s->at > 0x7e || *s->at == '\\' || *s->at == '@')
			return false;
	ret->bytes = (size_t)(s->at - ret->at);
	return s->at++ < s->end;
}

/* A member's name, which may not repeat one, and the colon. */
static bool take_name(struct scan *s, struct names *names)
{
	if (names->count == MAX_MEMBERS)
		return false;
	struct slice *name = &names->names[names->count++];
	if (!take_string(s, name) || !take(s, ':'))
		return false;
	for (const struct slice *n = names->names; n < name; n++)
		if (n->bytes == name->bytes && memcmp(n->at, name->at, n->bytes) == 0)
			return false;
	return true;
}

static void add_quoted(struct scan *s, const struct slice *text)
{
	ing_buf_add_char(&s->out, '"');
	ing_buf_add(&s->out, text->at, text->bytes);
	ing_buf_add_char(&s->out, '"');
}

static void add_name(struct scan *s, const struct slice *name)
{
	add_quoted(s, name);
	ing_buf_add_char(&s->out, ':');
}

/* --- values, which are appended as they are but for white space --- */

static bool copy_value(struct scan *s, int depth, struct slice *doi);

static bool copy_word(struct scan *s)
{
	static const char *const words[] = {"true", "false", "null"};
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(s->end - s->at) < n || memcmp(s->at, words[i], n) != 0)
			continue;
		ing_buf_add(&s->out, words[i], n);
		s->at += n;
		return true;
	}
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* An integer as JSON writes it, but for -0. */
static bool copy_number(struct scan *s)
{
	const char *start = s->at;
	const char *digits = start + (*start == '-');
	const char *at = digits;
	while (at < s->end && is_digit(*at))
		at++;
	size_t n = (size_t)(at - digits);
	if (n == 0 || n > MAX_DIGITS || (*digits == '0' && (n > 1 || digits > start)))
		return false;
	if (at < s->end && (*at == '.' || *at == 'e' || *at == 'E'))
		return false;
	ing_buf_add(&s->out, start, (size_t)(at - start));
	s->at = at;
	return true;
}

static bool copy_list(struct scan *s, int depth)
{
	ing_buf_add_char(&s->out, '[');
	if (take(s, ']'))
		return ing_buf_add_char(&s->out, ']');
	for (;;) {
		if (!copy_value(s, depth + 1, NULL))
			return false;
		if (take(s, ']'))
			return ing_buf_add_char(&s->out, ']');
		if (!take(s, ','))
			return false;
		ing_buf_add_char(&s->out, ',');
	}
}

/* doi: gets the member "doi", if it is a string; or NULL. */
static bool copy_object(struct scan *s, int depth, struct slice *doi)
{
	struct names names = {.count = 0};
	ing_buf_add_char(&s->out, '{');
	if (take(s, '}'))
		return ing_buf_add_char(&s->out, '}');
	for (;;) {
		if (!take_name(s, &names))
			return false;
		add_name(s, &names.names[names.count - 1]);
		skip_space(s);
		const char *value = s->at;
		if (!copy_value(s, depth + 1, NULL))
			return false;
		if (doi != NULL && *value == '"' && is(&names.names[names.count - 1], "doi"))
			*doi = (struct slice){value + 1, (size_t)(s->at - value) - 2};
		if (take(s, '}'))
			return ing_buf_add_char(&s->out, '}');
		if (!take(s, ','))
			return false;
		ing_buf_add_char(&s->out, ',');
	}
}

static bool copy_value(struct scan *s, int depth, struct slice *doi)
{
	struct slice text;
	skip_space(s);
	if (s->at == s->end || depth > MAX_DEPTH)
		return false;
	switch (*s->at) {
	case '"':
		if (!take_string(s, &text))
			return false;
		add_quoted(s, &text);
		return true;
	case '{':
		s->at++;
		return copy_object(s, depth, doi);
	case '[':
		s->at++;
		return copy_list(s, depth);
	default:
		return is_digit(*s->at) || *s->at == '-' ? copy_number(s) : copy_word(s);
	}
}

/* --- the request --- */

static bool take_member(struct scan *s, const struct slice *name)
{
	for (size_t i = 0; i < COLUMNS_; i++)
		if (is(name, column_names[i]))
			return take_string(s, &s->columns[i]);
	for (size_t i = 0; i < ING_ARRAY_LEN(others); i++)
		if (is(name, others[i]))
			return false;
	size_t start = s->out.len;
	if (start > 1)
		ing_buf_add_char(&s->out, ',');
	add_name(s, name);
	size_t value = s->out.len;
	if (!copy_value(s, 1, is(name, "ext_ids") ? &s->doi : NULL))
		return false;
	if (s->out.len - value == 4 && memcmp(s->out.data + value, "null", 4) == 0)
		s->out.len = start;
	return true;
}

static bool take_members(struct scan *s)
{
	struct names names = {.count = 0};
	ing_buf_add_char(&s->out, '{');
	if (!take(s, '{'))
		return false;
	do {
		if (!take_name(s, &names) || !take_member(s, &names.names[names.count - 1]))
			return false;
	} while (take(s, ','));
	bool whole = take(s, '}');
	skip_space(s);
	return whole && s->at == s->end && ing_buf_add_char(&s->out, '}');
}

static bool is_plain_type(const struct slice *name, struct ing_arena *ar, const char **ret)
{
	enum ing_ingest_type type;
	if (name->at == NULL)
		return false;
	const char *text = ing_arena_strndup(ar, name->at, name->bytes);
	if (!ing_ingest_type_find(text, &type) || type == ING_INGEST_PUBLICATION ||
		ing_ingest_type_alias(text) != NULL)
		return false;
	*ret = ing_ingest_type_name(type);
	return true;
}

static const char *text_of(const struct slice *s, struct ing_arena *ar)
{
	return s->at != NULL ? ing_arena_strndup(ar, s->at, s->bytes) : NULL;
}

static bool fill_row(const struct scan *s, struct ing_arena *ar, struct ing_row_request *ret)
{
	struct ing_request_facts facts;
	*ret = (struct ing_row_request){0};
	if (!is_plain_type(&s->columns[COLUMN_TYPE], ar, &ret->ingest_type) ||
		s->columns[COLUMN_BASE_URL].bytes == 0)
		return false;
	ret->base_url = text_of(&s->columns[COLUMN_BASE_URL], ar);
	ret->link_source = text_of(&s->columns[COLUMN_LINK_SOURCE], ar);
	ret->link_source_id = text_of(&s->columns[COLUMN_LINK_SOURCE_ID], ar);
	ret->ingest_request_source = text_of(&s->columns[COLUMN_SOURCE], ar);
	ret->release_stage = text_of(&s->columns[COLUMN_STAGE], ar);
	ret->request_json = ing_arena_strndup(ar, s->out.data, s->out.len);
	ing_request_facts_of(ret->ingest_type, ret->base_url, ret->link_source, ret->link_source_id,
		text_of(&s->doi, ar), &facts);
	ing_request_row_facts(&facts, ar, ret);
	return true;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_request_plain_row(const char *line, size_t bytes, struct ing_arena *ar,
	struct ing_row_request *ret, const char **ret_created)
{
	struct scan s = {.at = line, .end = line + bytes};
	if (bytes > ING_MAX_REQUEST_BYTES)
		return false;
	ing_buf_init(&s.out, 2 * ING_MAX_REQUEST_BYTES);
	bool plain = take_members(&s) && fill_row(&s, ar, ret);
	*ret_created = plain ? text_of(&s.columns[COLUMN_CREATED], ar) : NULL;
	ing_buf_done(&s.out);
	return plain;
}
