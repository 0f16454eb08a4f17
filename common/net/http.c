/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines are parsed in `raw`, as soon as their LF is there. Nothing is searched
 * twice: line_start is behind the last line that was judged. A field's value waits in `value` until
 * a line comes that does not continue it.
 *
 * What frames the body (Transfer-Encoding, Content-Length) is read as libcurl reads it, by name
 * directly before the colon and without folds, since libcurl undoes the framing; where the two
 * could differ the head is BAD.
 */
#include "common/net/http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RENAME_PREFIX "X-Archive-Orig-"

enum field {
	FIELD_NONE, /* none yet, or one that we do not look into */
	FIELD_LOCATION,
	FIELD_CONTENT_TYPE,
	FIELD_CONTENT_ENCODING,
	FIELD_CONTENT_LENGTH,
	FIELD_TRANSFER_ENCODING,
	FIELD_SET_COOKIE,
	FIELD_RETRY_AFTER,
	FIELD_DATE,
};

static const struct {
	const char *name;
	enum field field;
} known_fields[] = {
	{"Location", FIELD_LOCATION},
	{"Content-Type", FIELD_CONTENT_TYPE},
	{"Content-Encoding", FIELD_CONTENT_ENCODING},
	{"Content-Length", FIELD_CONTENT_LENGTH},
	{"Transfer-Encoding", FIELD_TRANSFER_ENCODING},
	{"Set-Cookie", FIELD_SET_COOKIE},
	{"Retry-After", FIELD_RETRY_AFTER},
	{"Date", FIELD_DATE},
};

static bool give_up(struct ing_http_head *h, enum ing_http_state state, const char *why)
{
	h->state = state;
	h->why = why;
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static enum field find_field(const char *name, size_t bytes)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(known_fields); i++)
		if (strlen(known_fields[i].name) == bytes &&
			strncasecmp(known_fields[i].name, name, bytes) == 0)
			return known_fields[i].field;
	return FIELD_NONE;
}

static void join_value(char **to, const char *value)
{
	if (*to == NULL) {
		*to = ing_strdup(value);
		return;
	}
	size_t have = strlen(*to);
	size_t more = strlen(value);
	*to = ing_realloc(*to, have + more + 3);
	memcpy(*to + have, ", ", 2);
	memcpy(*to + have + 2, value, more + 1);
}

/* One Content-Length field, which may itself be a list of equal numbers (RFC 9110 8.6). What is no
 * number is as good as absent; one that does not fit says that there is a length, and not which. */
static void read_length(struct ing_http_head *h, const char *value)
{
	const char *p = value;
	while (*p != '\0') {
		int64_t number = 0;
		const char *start = p;
		for (; is_digit(*p); p++) {
			int digit = *p - '0';
			if (number > (INT64_MAX - digit) / 10) {
				h->bad_length = "a Content-Length of more than 63 bits";
				return;
			}
			number = number * 10 + digit;
		}
		if (p == start)
			return;
		if (h->content_length >= 0 && h->content_length != number)
			h->bad_length = "Content-Length fields that contradict each other";
		h->content_length = number;
		while (*p == ' ' || *p == '\t' || *p == ',')
			p++;
	}
}

/* The field that was being read is complete: no further line continued it. */
static void end_field(struct ing_http_head *h)
{
	const char *value = ing_buf_str(&h->value);
	switch ((enum field)h->field) {
	case FIELD_NONE:
		break;
	case FIELD_LOCATION:
		if (h->location == NULL)
			h->location = ing_strdup(value);
		break;
	case FIELD_CONTENT_TYPE:
		if (value[0] != '\0') {
			free(h->content_type);
			h->content_type = ing_strdup(value);
		}
		break;
	case FIELD_CONTENT_ENCODING:
		join_value(&h->content_encoding, value);
		break;
	case FIELD_CONTENT_LENGTH:
		read_length(h, value);
		break;
	case FIELD_TRANSFER_ENCODING:
		join_value(&h->transfer_encoding, value);
		break;
	case FIELD_SET_COOKIE:
		h->set_cookie = true;
		break;
	case FIELD_RETRY_AFTER:
		if (h->retry_after == NULL)
			h->retry_after = ing_strdup(value);
		break;
	case FIELD_DATE:
		if (h->date == NULL)
			h->date = ing_strdup(value);
		break;
	}
	h->field = FIELD_NONE;
	ing_buf_clear(&h->value);
}

/* Add the line's text to the value, trimmed, CRs turned to spaces. A value longer than the head
 * cannot be. */
static void add_value(struct ing_http_head *h, const char *text, size_t bytes)
{
	while (bytes > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r')) {
		text++;
		bytes--;
	}
	while (bytes > 0 && strchr(" \t\r\n", text[bytes - 1]) != NULL)
		bytes--;
	if (bytes == 0)
		return;
	if (h->value.len > 0)
		ing_buf_add_char(&h->value, ' ');
	size_t from = h->value.len;
	ing_buf_add(&h->value, text, bytes);
	for (size_t i = from; i < h->value.len; i++)
		if (h->value.data[i] == '\r')
			h->value.data[i] = ' ';
}

/* "HTTP/1.x nnn", with or without a reason behind it (RFC 9112 4). */
static bool read_status_line(struct ing_http_head *h, const char *line, size_t bytes)
{
	size_t at = 8;
	if (bytes < 13 || memcmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') ||
		line[8] != ' ')
		return give_up(
			h, ING_HTTP_BAD, "the answer does not begin with an HTTP/1 status line");
	while (at < bytes && line[at] == ' ')
		at++;
	if (at + 3 >= bytes || !is_digit(line[at]) || !is_digit(line[at + 1]) ||
		!is_digit(line[at + 2]) || strchr(" \r\n", line[at + 3]) == NULL || line[at] == '0')
		return give_up(h, ING_HTTP_BAD,
			"the answer's status code is not a number from 100 to 999");
	h->status = (line[at] - '0') * 100 + (line[at + 1] - '0') * 10 + (line[at + 2] - '0');
	h->state = ING_HTTP_OPEN;
	return true;
}

static bool rename_transfer_encoding(struct ing_http_head *h)
{
	const size_t more = sizeof(RENAME_PREFIX) - 1;
	size_t tail = h->raw.len - h->line_start;
	if (ing_buf_reserve(&h->raw, more) == NULL)
		return give_up(h, ING_HTTP_TOO_LARGE, "the answer's head is over its limit");
	ing_buf_commit(&h->raw, more);
	char *at = h->raw.data + h->line_start;
	memmove(at + more, at, tail);
	memcpy(at, RENAME_PREFIX, more);
	h->line_start += more;
	return true;
}

static bool read_fold(struct ing_http_head *h, const char *line, size_t bytes)
{
	if (h->field == FIELD_TRANSFER_ENCODING || h->field == FIELD_CONTENT_LENGTH)
		return give_up(h, ING_HTTP_BAD, "the field that frames the body is folded");
	if (h->field != FIELD_NONE)
		add_value(h, line, bytes);
	return true;
}

static bool read_field(struct ing_http_head *h, size_t bytes)
{
	const char *line = h->raw.data + h->line_start;
	const char *colon = memchr(line, ':', bytes);
	end_field(h);
	if (++h->seen_fields > h->max_fields)
		return give_up(h, ING_HTTP_TOO_LARGE, "the answer's head has too many fields");
	if (colon == NULL)
		return true; /* kept, but it says nothing */
	h->field = find_field(line, (size_t)(colon - line));
	if (h->field == FIELD_NONE)
		return true;
	add_value(h, colon + 1, bytes - (size_t)(colon - line) - 1);
	return h->field != FIELD_TRANSFER_ENCODING || rename_transfer_encoding(h);
}

static void clear_fields(struct ing_http_head *h)
{
	ing_freep(&h->location);
	ing_freep(&h->content_type);
	ing_freep(&h->content_encoding);
	ing_freep(&h->transfer_encoding);
	ing_freep(&h->retry_after);
	ing_freep(&h->date);
	h->content_length = -1;
	h->bad_length = NULL;
	h->set_cookie = false;
}

static void end_head(struct ing_http_head *h)
{
	end_field(h);
	if (h->status >= 200 || h->status == 101) {
		h->state = ING_HTTP_DONE;
		return;
	}
	clear_fields(h); /* interim: the next head replaces it */
	h->status = 0;
	h->state = ING_HTTP_EMPTY;
}

/* A whole line is at line_start, `bytes` long with its LF. */
static bool read_line(struct ing_http_head *h, size_t bytes)
{
	const char *line = h->raw.data + h->line_start;
	if (h->state == ING_HTTP_EMPTY)
		return read_status_line(h, line, bytes);
	if (bytes == 1 || (bytes == 2 && line[0] == '\r')) {
		end_head(h);
		return true;
	}
	if (line[0] == ' ' || line[0] == '\t')
		return read_fold(h, line, bytes);
	return read_field(h, bytes);
}

/* -------------------------------------------------------------------------------------------- */

void ing_http_head_init(struct ing_http_head *h, size_t max_bytes, unsigned max_fields)
{
	*h = (struct ing_http_head){
		.content_length = -1, .max_bytes = max_bytes, .max_fields = max_fields};
	ing_buf_init(&h->raw, max_bytes + (max_fields + 1) * sizeof(RENAME_PREFIX));
	ing_buf_init(&h->value, max_bytes);
}

void ing_http_head_done(struct ing_http_head *h)
{
	clear_fields(h);
	ing_buf_done(&h->raw);
	ing_buf_done(&h->value);
}

size_t ing_http_head_memory(const struct ing_http_head *h)
{
	const char *const values[] = {h->location, h->content_type, h->content_encoding,
		h->transfer_encoding, h->retry_after};
	size_t bytes = h->raw.cap + h->value.cap;
	for (size_t i = 0; i < ING_ARRAY_LEN(values); i++)
		bytes += values[i] != NULL ? strlen(values[i]) + 1 : 0;
	return bytes;
}

bool ing_http_head_add(struct ing_http_head *h, const void *data, size_t bytes)
{
	if (h->state == ING_HTTP_BAD || h->state == ING_HTTP_TOO_LARGE)
		return false;
	const char *at = data;
	while (bytes > 0 && h->state != ING_HTTP_DONE) {
		if (h->state == ING_HTTP_EMPTY && h->raw.len > 0 && h->line_start == h->raw.len) {
			ing_buf_clear(&h->raw); /* behind an interim head */
			h->line_start = 0;
		}
		const char *lf = memchr(at, '\n', bytes);
		size_t take = lf != NULL ? (size_t)(lf - at) + 1 : bytes;
		if (take > h->max_bytes - h->seen_bytes)
			return give_up(
				h, ING_HTTP_TOO_LARGE, "the answer's head is over its limit");
		if (memchr(at, '\0', take) != NULL)
			return give_up(h, ING_HTTP_BAD, "the answer's head has a NUL byte in it");
		h->seen_bytes += take;
		if (!ing_buf_add(&h->raw, at, take))
			return give_up(
				h, ING_HTTP_TOO_LARGE, "the answer's head is over its limit");
		if (lf != NULL) {
			if (!read_line(h, h->raw.len - h->line_start))
				return false;
			h->line_start = h->raw.len;
		}
		at += take;
		bytes -= take;
	}
	return true;
}

bool ing_http_head_add_trailer(struct ing_http_head *h, const void *data, size_t bytes)
{
	const char *at = data;
	const char *end = at + bytes;
	if (bytes > h->max_bytes - h->seen_bytes)
		return false;
	h->seen_bytes += bytes;
	while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		at++;
		h->seen_fields++;
	}
	/* One more for the line that ends them. */
	return h->seen_fields <= h->max_fields + 1;
}

bool ing_http_coding_is_plain(const char *transfer_encoding)
{
	const char *p = transfer_encoding;
	for (;;) {
		p += strspn(p, " \t,");
		size_t len = strcspn(p, " \t,");
		if (len == 0)
			return true;
		if (!(len == 7 && strncasecmp(p, "chunked", 7) == 0) &&
			!(len == 8 && strncasecmp(p, "identity", 8) == 0))
			return false;
		p += len;
	}
}
