/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Blank-separated fields; the position decides the meaning.
 */
#include "common/record/cdx.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/base/error.h"

enum { FIELDS = 11 };

/* A field that is itself "-" cannot be told from an absent one; no URL, type or file name of that
 * form exists. */
static void add_text(struct ing_buf *b, const char *text)
{
	if (text == NULL || text[0] == '\0')
		text = "-";
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;
		if (c <= ' ' || c == 0x7f)
			ing_buf_printf(b, "%%%02X", c);
		else
			ing_buf_add_char(b, *p);
	}
	ing_buf_add_char(b, ' ');
}

static void add_number(struct ing_buf *b, int64_t n, int64_t absent)
{
	if (n == absent)
		ing_buf_add(b, "- ", 2);
	else
		ing_buf_printf(b, "%lld ", (long long)n);
}

static bool parse_number(const char *text, int64_t absent, int64_t max, int64_t *ret)
{
	if (strcmp(text, "-") == 0) {
		*ret = absent;
		return true;
	}
	int64_t n = 0;
	if (*text == '\0')
		return false;
	for (const char *p = text; *p != '\0'; p++) {
		if (*p < '0' || *p > '9' || n > (max - (*p - '0')) / 10)
			return false;
		n = n * 10 + (*p - '0');
	}
	*ret = n;
	return true;
}

static const char *parse_text(const char *text)
{
	return strcmp(text, "-") == 0 ? NULL : text;
}

static bool is_datetime(const char *text)
{
	return strlen(text) == ING_DT14_BYTES - 1 &&
	       strspn(text, "0123456789") == ING_DT14_BYTES - 1;
}

/* Cut the line at single blanks into the eleven fields; what follows the eleventh is left. */
static bool split_fields(char *line, size_t bytes, char *ret_field[FIELDS])
{
	char *at = line;
	char *end = line + bytes;
	for (int i = 0; i < FIELDS; i++) {
		ret_field[i] = at;
		char *blank = memchr(at, ' ', (size_t)(end - at));
		if (blank == at || at == end)
			return false;
		if (blank == NULL)
			return i == FIELDS - 1;
		*blank = '\0';
		at = blank + 1;
	}
	return true;
}

/* RFC 9110 section 5.6.2. */
static bool is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_cdx_format(const struct ing_cdx *cdx, struct ing_buf *ret)
{
	struct ing_buf line;
	ing_buf_init(&line, ING_CDX_MAX_BYTES);
	add_text(&line, cdx->surt);
	add_text(&line, cdx->datetime);
	add_text(&line, cdx->url);
	add_text(&line, cdx->mimetype);
	add_number(&line, cdx->status, 0);
	add_text(&line, cdx->sha1b32);
	add_text(&line, cdx->redirect);
	add_text(&line, cdx->meta);
	add_number(&line, cdx->csize, -1);
	add_number(&line, cdx->offset, -1);
	add_text(&line, cdx->filename);
	bool ok = !line.failed;
	if (ok) {
		line.data[line.len - 1] = '\n';
		ok = ing_buf_add(ret, line.data, line.len);
	}
	ing_buf_done(&line);
	return ok;
}

int ing_cdx_parse(char *line, size_t bytes, struct ing_cdx *ret)
{
	if (bytes > ING_CDX_MAX_BYTES)
		return -ING_FAIL_TOO_BIG;
	while (bytes > 0 && (line[bytes - 1] == '\n' || line[bytes - 1] == '\r'))
		bytes--;
	if (bytes >= 5 && memcmp(line, " CDX ", 5) == 0)
		return -ING_FAIL_UNSUPPORTED;
	if (memchr(line, '\0', bytes) != NULL || memchr(line, '\n', bytes) != NULL)
		return -ING_FAIL_SYNTAX;
	char *field[FIELDS];
	if (!split_fields(line, bytes, field))
		return -ING_FAIL_SYNTAX;
	line[bytes] = '\0';
	int64_t status;
	struct ing_cdx cdx = {
		.surt = parse_text(field[0]),
		.datetime = parse_text(field[1]),
		.url = parse_text(field[2]),
		.mimetype = parse_text(field[3]),
		.sha1b32 = parse_text(field[5]),
		.redirect = parse_text(field[6]),
		.meta = parse_text(field[7]),
		.filename = parse_text(field[10]),
	};
	if (cdx.datetime == NULL || !is_datetime(cdx.datetime) || cdx.url == NULL)
		return -ING_FAIL_SYNTAX;
	if (!parse_number(field[4], 0, 999, &status) || (status != 0 && status < 100) ||
		!parse_number(field[8], -1, INT64_MAX, &cdx.csize) ||
		!parse_number(field[9], -1, INT64_MAX, &cdx.offset))
		return -ING_FAIL_SYNTAX;
	cdx.status = (int)status;
	*ret = cdx;
	return 0;
}

void ing_cdx_mimetype(const char *content_type, char ret[ING_CDX_MIMETYPE_BYTES])
{
	const char *from = content_type != NULL ? content_type + strspn(content_type, " \t") : "";
	size_t n = 0;
	int slashes = 0;
	for (; *from != '\0' && strchr("; \t,", *from) == NULL; from++) {
		char c = *from >= 'A' && *from <= 'Z' ? (char)(*from - 'A' + 'a') : *from;
		if (c == '/' && n > 0)
			slashes++;
		else if (!is_token_char(c))
			slashes = 2;
		if (slashes > 1 || n == ING_CDX_MIMETYPE_BYTES - 1)
			break;
		ret[n++] = c;
	}
	bool good = slashes == 1 && (*from == '\0' || strchr("; \t,", *from) != NULL);
	if (!good || ret[n - 1] == '/') {
		memcpy(ret, "unk", sizeof("unk"));
		return;
	}
	ret[n] = '\0';
}
