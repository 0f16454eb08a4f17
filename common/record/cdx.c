/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Eleven fields, separated by blanks; the position decides the meaning.
 */
#include "common/record/cdx.h"

#include <string.h>

#include "common/base/buf.h"

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
