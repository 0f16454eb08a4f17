/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Headers are short, so they are scanned line by line for each question; no table of fields is
 * built.
 */
#include "common/record/warc.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/error.h"

struct line {
	const char *name;
	size_t name_bytes;
	const char *value;
	size_t value_bytes;
};

static void add_field(struct ing_buf *b, const char *name, const char *prefix, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return;
	ing_buf_add_str(b, name);
	ing_buf_add(b, ": ", 2);
	ing_buf_add_str(b, prefix);
	for (const char *p = value; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;
		if (c < ' ' || c == 0x7f)
			ing_buf_printf(b, "%%%02X", c);
		else
			ing_buf_add_char(b, *p);
	}
	ing_buf_add(b, "\r\n", 2);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* RFC 9110 tokens name fields here too (section 4 of the format). */
static bool is_name(const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		char c = s[i];
		if (c <= ' ' || c >= 0x7f || strchr("()<>@,;:\\\"/[]?={}", c) != NULL)
			return false;
	}
	return bytes > 0;
}

/* Take the next line off *at. 1: a field; 0: the blank line or the end; -1: neither. Continuation
 * lines (folding) are deprecated by the format and are no field of ours: they are refused. */
static int next_line(const char **at, const char *end, struct line *ret)
{
	const char *from = *at;
	const char *lf = memchr(from, '\n', (size_t)(end - from));
	if (lf == NULL)
		return from == end ? 0 : -1;
	*at = lf + 1;
	if (lf == from || lf[-1] != '\r')
		return -1;
	const char *stop = lf - 1;
	if (stop == from)
		return 0;
	const char *colon = memchr(from, ':', (size_t)(stop - from));
	if (colon == NULL || !is_name(from, (size_t)(colon - from)))
		return -1;
	const char *value = colon + 1;
	while (value < stop && is_blank(*value))
		value++;
	while (stop > value && is_blank(stop[-1]))
		stop--;
	*ret = (struct line){from, (size_t)(colon - from), value, (size_t)(stop - value)};
	return 1;
}

static bool is_called(const struct line *l, const char *name)
{
	return l->name_bytes == strlen(name) && strncasecmp(l->name, name, l->name_bytes) == 0;
}

static bool parse_length(const struct line *l, uint64_t *ret)
{
	uint64_t n = 0;
	for (size_t i = 0; i < l->value_bytes; i++) {
		unsigned digit = (unsigned)(l->value[i] - '0');
		if (l->value[i] < '0' || digit > 9 || n > ((uint64_t)INT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*ret = n;
	return l->value_bytes > 0;
}

/* Behind the version line, or NULL when it is none that we know. */
static const char *skip_version(const char *head, size_t bytes)
{
	static const char *const known[] = {"WARC/1.1\r\n", "WARC/1.0\r\n"};
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++) {
		size_t len = strlen(known[i]);
		if (bytes >= len && memcmp(head, known[i], len) == 0)
			return head + len;
	}
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

void ing_warc_make_id(char ret_id[ING_WARC_ID_BYTES])
{
	unsigned char r[16];
	ing_must(getrandom(r, sizeof(r), 0) == (ssize_t)sizeof(r));
	r[6] = (unsigned char)((r[6] & 0x0f) | 0x40); /* RFC 4122 section 4.4: version 4… */
	r[8] = (unsigned char)((r[8] & 0x3f) | 0x80); /* …of the usual variant */
	int n = snprintf(ret_id, ING_WARC_ID_BYTES,
		"<urn:uuid:%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x>",
		r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12],
		r[13], r[14], r[15]);
	ing_must(n == ING_WARC_ID_BYTES - 1);
}

bool ing_warc_head_format(const struct ing_warc_head *head, struct ing_buf *ret)
{
	size_t before = ret->len;
	char date[ING_ISO8601_BYTES];
	ing_format_iso8601(head->date, 6, date);
	ing_buf_add_str(ret, "WARC/1.1\r\n");
	add_field(ret, "WARC-Type", "", head->type);
	add_field(ret, "WARC-Record-ID", "", head->id);
	add_field(ret, "WARC-Date", "", date);
	add_field(ret, "WARC-Filename", "", head->filename);
	add_field(ret, "WARC-Target-URI", "", head->target_uri);
	add_field(ret, "WARC-IP-Address", "", head->ip);
	add_field(ret, "WARC-Concurrent-To", "", head->concurrent_to);
	add_field(ret, "WARC-Warcinfo-ID", "", head->warcinfo_id);
	add_field(ret, "WARC-Profile", "", head->profile);
	add_field(ret, "WARC-Refers-To", "", head->refers_to);
	add_field(ret, "WARC-Refers-To-Target-URI", "", head->refers_to_target_uri);
	add_field(ret, "WARC-Refers-To-Date", "", head->refers_to_date);
	add_field(ret, "WARC-Truncated", "", head->truncated);
	add_field(ret, "WARC-Block-Digest", "sha1:", head->block_sha1b32);
	add_field(ret, "WARC-Payload-Digest", "sha1:", head->payload_sha1b32);
	add_field(ret, "Content-Type", "", head->content_type);
	ing_buf_printf(
		ret, "Content-Length: %llu\r\n\r\n", (unsigned long long)head->content_bytes);
	return !ret->failed && ret->len - before <= ING_WARC_MAX_HEAD_BYTES;
}

void ing_warc_fields_add(struct ing_buf *b, const char *name, const char *value)
{
	add_field(b, name, "", value);
}

bool ing_warc_field(
	const char *head, size_t bytes, const char *name, const char **ret_value, size_t *ret_bytes)
{
	const char *at = skip_version(head, bytes);
	struct line l;
	while (at != NULL && next_line(&at, head + bytes, &l) == 1) {
		if (!is_called(&l, name))
			continue;
		*ret_value = l.value;
		*ret_bytes = l.value_bytes;
		return true;
	}
	return false;
}

int ing_warc_head_check(const char *head, size_t bytes, uint64_t *ret_content_bytes)
{
	static const char *const mandatory[] = {
		"WARC-Record-ID", "WARC-Type", "WARC-Date", "Content-Length"};
	unsigned seen[ING_ARRAY_LEN(mandatory)] = {0};
	uint64_t content_bytes = 0;
	const char *end = head + bytes;
	const char *at = skip_version(head, bytes);
	if (at == NULL)
		return -ING_FAIL_SYNTAX;
	struct line l;
	int rc;
	while ((rc = next_line(&at, end, &l)) == 1) {
		for (size_t i = 0; i < ING_ARRAY_LEN(mandatory); i++) {
			if (is_called(&l, mandatory[i]))
				seen[i]++;
		}
		if (is_called(&l, "Content-Length") && !parse_length(&l, &content_bytes))
			return -ING_FAIL_SYNTAX;
	}
	if (rc < 0 || at != end)
		return -ING_FAIL_SYNTAX;
	for (size_t i = 0; i < ING_ARRAY_LEN(mandatory); i++) {
		if (seen[i] != 1)
			return -ING_FAIL_SYNTAX;
	}
	*ret_content_bytes = content_bytes;
	return 0;
}
