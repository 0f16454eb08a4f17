/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A machine of a few places: between the values, in one, and in the rest of an object whose list has been
 * read. In a value it knows how many brackets are open and whether it is in a string, no more. A
 * value that lies in one chunk is handed out where it lies.
 */
#include "common/data/json_values.h"

#include <string.h>

enum place {
	AT_TOP,
	IN_LIST,   /* at the top */
	IN_MEMBER, /* the list of an object at the top */
	IN_REST,   /* of that object, behind the list */
	IN_VALUE,
	AT_END, /* nothing more is read */
};

enum kind { OTHER, SPACE, QUOTE, OPEN, CLOSE, COMMA, COLON };

static const unsigned char kinds[256] = {
	[' '] = SPACE,
	['\t'] = SPACE,
	['\r'] = SPACE,
	['\n'] = SPACE,
	['\x1e'] = SPACE, /* before each value of a sequence (RFC 7464) */
	['"'] = QUOTE,
	['{'] = OPEN,
	['['] = OPEN,
	['}'] = CLOSE,
	[']'] = CLOSE,
	[','] = COMMA,
	[':'] = COLON,
};

static enum kind kind_of(char c)
{
	return (enum kind)kinds[(unsigned char)c];
}

/* --- members of an object at the top --- */

/* A string has begun or goes on, at depth 1 where a key may stand. */
static void compare_key(struct ing_json_values *v, char c)
{
	size_t bytes = strlen(v->member);
	v->key_matches = v->key_matches && v->key_bytes < bytes && v->member[v->key_bytes] == c;
	v->key_bytes++;
}

static bool is_key(const struct ing_json_values *v)
{
	return v->member != NULL && v->before == AT_TOP && v->depth == 1 && v->key_next;
}

/* The member's name has been read whole, and what comes now is its value. */
static bool opens_member(const struct ing_json_values *v, char c)
{
	return c == '[' && v->member != NULL && v->before == AT_TOP && v->depth == 1 &&
	       v->key_matches && v->key_bytes == strlen(v->member);
}

/* --- values --- */

static void begin_value(struct ing_json_values *v, enum kind kind)
{
	v->before = v->place;
	v->place = IN_VALUE;
	v->start = v->at;
	v->number++;
	v->value_line = v->line;
	v->depth = 0;
	v->in_string = v->escaped = v->too_long = false;
	v->key_next = v->key_matches = false;
	v->scalar = kind != OPEN && kind != QUOTE;
	ing_buf_clear(&v->held);
}

/* The value's part in the chunk, up to v->at, is kept. */
static void hold(struct ing_json_values *v)
{
	size_t bytes = (size_t)(v->at - v->start);
	size_t room = v->held.max - v->held.len;
	v->too_long = v->too_long || bytes > room;
	ing_must(ing_buf_add(&v->held, v->start, ING_MIN(bytes, room)));
	v->start = NULL;
}

/* It is whole, and ends before v->at. */
static bool give(struct ing_json_values *v, struct ing_json_value *ret)
{
	v->place = v->before;
	size_t bytes = (size_t)(v->at - v->start);
	*ret = (struct ing_json_value){
		.text = v->start, .bytes = bytes, .number = v->number, .line = v->value_line};
	if (v->held.len > 0 || v->too_long || bytes > v->held.max) {
		hold(v);
		ret->text = ing_buf_str(&v->held);
		ret->bytes = v->held.len;
	}
	v->start = NULL;
	if (v->too_long)
		ret->fault = "longer than the limit";
	return true;
}

/* Reads on in a string. Returns false when the chunk ended before it. */
static bool read_string(struct ing_json_values *v)
{
	bool key = is_key(v);
	for (; v->at < v->end; v->at++) {
		while (!key && !v->escaped && v->at < v->end && *v->at != '"' && *v->at != '\\')
			v->at++;
		if (v->at == v->end)
			return false;
		char c = *v->at;
		if (v->escaped) {
			v->escaped = false;
		} else if (c == '\\') {
			v->escaped = true;
		} else if (c == '"') {
			v->at++;
			v->in_string = false;
			return true;
		}
		if (key)
			compare_key(v, c);
	}
	return false;
}

/* One byte that is in no string. Returns whether the value ends before v->at. */
static bool read_mark(struct ing_json_values *v)
{
	char c = *v->at;
	enum kind kind = kind_of(c);
	if (v->scalar) {
		if (kind == OTHER || kind == QUOTE || kind == COLON) {
			v->at++;
			return false;
		}
		return true;
	}
	v->at++;
	v->line += c == '\n';
	switch (kind) {
	case QUOTE:
		v->in_string = true;
		if (is_key(v)) {
			v->key_matches = true;
			v->key_bytes = 0;
		}
		return false;
	case OPEN:
		if (opens_member(v, c)) {
			v->place = IN_MEMBER;
			v->start = NULL;
			v->number--;
			return false;
		}
		v->depth++;
		v->key_next = v->depth == 1 && c == '{';
		v->key_matches = false;
		return false;
	case CLOSE:
		v->depth--;
		return v->depth == 0;
	case COMMA:
		v->key_next = v->depth == 1;
		v->key_matches = false;
		return false;
	case COLON:
		v->key_next = false;
		return false;
	default:
		return false;
	}
}

static bool read_value(struct ing_json_values *v, struct ing_json_value *ret)
{
	while (v->at < v->end && v->place == IN_VALUE) {
		while (!v->in_string && !v->scalar && v->at < v->end && kind_of(*v->at) == OTHER)
			v->at++;
		if (v->at == v->end)
			break;
		if (v->in_string) {
			bool whole = read_string(v);
			if (whole && v->depth == 0)
				return give(v, ret);
		} else if (read_mark(v)) {
			return give(v, ret);
		}
	}
	return false;
}

/* --- between values --- */

static bool give_fault(struct ing_json_values *v, const char *fault, struct ing_json_value *ret)
{
	bool begun = v->place == IN_VALUE;
	*ret = (struct ing_json_value){.text = "",
		.number = begun ? v->number : v->number + 1,
		.line = begun ? v->value_line : v->line,
		.fault = fault};
	v->place = AT_END;
	v->over = true;
	return true;
}

static void skip_rest(struct ing_json_values *v)
{
	while (v->at < v->end && v->place == IN_REST) {
		if (v->in_string) {
			read_string(v);
			continue;
		}
		char c = *v->at++;
		enum kind kind = kind_of(c);
		v->line += c == '\n';
		v->in_string = kind == QUOTE;
		if (kind == OPEN)
			v->depth++;
		if (kind == CLOSE && --v->depth == 0)
			v->place = AT_TOP;
	}
}

/* A bracket between values. */
static bool read_bracket(struct ing_json_values *v, char c, struct ing_json_value *ret)
{
	v->at++;
	if (c != ']' || v->place == AT_TOP)
		return give_fault(v, "a bracket that closes nothing", ret);
	v->place = v->place == IN_LIST ? AT_TOP : IN_REST;
	v->depth = 1;
	return false;
}

/* A byte order mark, which stands at the front of all. */
static bool is_mark(const struct ing_json_values *v, char c)
{
	return v->number == 0 && v->place == AT_TOP && (c == '\xef' || c == '\xbb' || c == '\xbf');
}

static bool read_between(struct ing_json_values *v, struct ing_json_value *ret)
{
	while (v->at < v->end && v->place < IN_REST) {
		char c = *v->at;
		enum kind kind = kind_of(c);
		if (kind == SPACE || (kind == COMMA && v->place != AT_TOP) || is_mark(v, c)) {
			v->line += c == '\n';
			v->at++;
		} else if (kind == CLOSE) {
			if (read_bracket(v, c, ret))
				return true;
		} else if (c == '[' && v->place == AT_TOP) {
			v->at++;
			v->place = IN_LIST;
		} else {
			begin_value(v, kind);
			/* A scalar is at least its first byte, whatever that is. */
			if (v->scalar)
				v->at++;
			if (kind == QUOTE) {
				v->at++;
				v->in_string = true;
			}
			return false;
		}
	}
	return false;
}

static bool finish(struct ing_json_values *v, struct ing_json_value *ret)
{
	v->over = true;
	if (v->place == IN_VALUE && v->scalar && v->before == AT_TOP) {
		v->start = v->at = v->end = ing_buf_str(&v->held);
		return give(v, ret);
	}
	if (v->place == IN_VALUE)
		return give_fault(v, "the last value ends early", ret);
	if (v->place == IN_LIST || v->place == IN_MEMBER)
		return give_fault(v, "the list ends early", ret);
	if (v->place == IN_REST)
		return give_fault(v, "the object around the list ends early", ret);
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_json_values_init(struct ing_json_values *v, const char *member, size_t max_bytes)
{
	*v = (struct ing_json_values){.member = member, .line = 1};
	ing_buf_init(&v->held, max_bytes);
}

void ing_json_values_done(struct ing_json_values *v)
{
	ing_buf_done(&v->held);
}

void ing_json_values_feed(struct ing_json_values *v, const char *chunk, size_t bytes)
{
	ing_must(v->at == v->end && !v->ended);
	v->at = chunk;
	v->end = chunk + bytes;
	if (v->place == IN_VALUE)
		v->start = chunk;
}

void ing_json_values_end(struct ing_json_values *v)
{
	v->ended = true;
}

bool ing_json_values_next(struct ing_json_values *v, struct ing_json_value *ret)
{
	while (v->at < v->end && v->place != AT_END) {
		bool given = false;
		if (v->place == IN_VALUE)
			given = read_value(v, ret);
		else if (v->place == IN_REST)
			skip_rest(v);
		else
			given = read_between(v, ret);
		if (given)
			return true;
	}
	v->at = v->end;
	if (v->place == IN_VALUE && v->start != NULL)
		hold(v);
	return v->ended && !v->over && finish(v, ret);
}

bool ing_json_values_is(const char *front, size_t bytes, const char *member)
{
	const char *end = front + bytes;
	if (bytes >= 3 && memcmp(front, "\xef\xbb\xbf", 3) == 0)
		front += 3;
	while (front < end && kind_of(*front) == SPACE)
		front++;
	if (front == end || *front != '{')
		return front < end && *front == '[';
	const char *next = front + 1;
	while (next < end && (*next == ' ' || *next == '\t' || *next == '\r'))
		next++;
	if (next == end || *next == '\n')
		return true;
	struct ing_json_values v;
	struct ing_json_value value;
	ing_json_values_init(&v, member, 0);
	ing_json_values_feed(&v, front, (size_t)(end - front));
	(void)ing_json_values_next(&v, &value);
	enum place place = v.place == IN_VALUE ? v.before : v.place;
	bool found = place == IN_MEMBER || place == IN_REST;
	ing_json_values_done(&v);
	return found;
}
