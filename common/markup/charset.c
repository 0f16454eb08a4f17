/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only file that includes lexbor's encoding module, but for the search for <meta> in html.c.
 */
#include "common/markup/charset.h"

#include <string.h>
#include <lexbor/encoding/encoding.h>
#include <lexbor/html/encoding.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"

#define PIECE_BYTES ((size_t)16 << 10)

static const lxb_encoding_data_t *raw(const struct ing_charset *c)
{
	return (const void *)c;
}

static const struct ing_charset *wrap(const lxb_encoding_data_t *e)
{
	return (const void *)e;
}

/* Encodings in which bytes below 0x80 are always ASCII; markup in them often is nothing else. */
static bool is_ascii_superset(lxb_encoding_t e)
{
	return e != LXB_ENCODING_UTF_16LE && e != LXB_ENCODING_UTF_16BE &&
	       e != LXB_ENCODING_ISO_2022_JP;
}

/* Bytes at the front that are ASCII, found eight at a time, so it may be up to seven fewer. */
static size_t ascii_run(const lxb_char_t *data, size_t bytes)
{
	size_t i = 0;
	for (; bytes - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
		uint64_t eight;
		memcpy(&eight, data + i, sizeof(eight));
		if ((eight & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	return i;
}

/* Well-formed UTF-8 (of which ASCII is a part); with `ascii`, nothing but ASCII. */
static bool is_utf8(const lxb_char_t *data, size_t bytes, bool ascii)
{
	for (size_t i = ascii_run(data, bytes); i < bytes; i += ascii_run(data + i, bytes - i)) {
		size_t n = ing_utf8_sequence((const char *)data + i, bytes - i);
		if (n == 0 || (n > 1 && ascii))
			return false;
		i += n;
	}
	return true;
}

static bool sink_points(
	ing_charset_sink_f *sink, void *ctx, const lxb_codepoint_t *points, size_t n)
{
	char utf8[PIECE_BYTES];
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		used += ing_utf8_encode(points[i], utf8 + used);
		if (used > sizeof(utf8) - ING_UTF8_BYTES || i + 1 == n) {
			if (!sink(ctx, utf8, used))
				return false;
			used = 0;
		}
	}
	return true;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_charset *ing_charset_utf8(void)
{
	return wrap(lxb_encoding_data(LXB_ENCODING_UTF_8));
}

const struct ing_charset *ing_charset_of_bom(const void *data, size_t bytes)
{
	lxb_encoding_t bom = lxb_encoding_bom_sniff(data, bytes);
	return bom != LXB_ENCODING_DEFAULT ? wrap(lxb_encoding_data(bom)) : NULL;
}

const struct ing_charset *ing_charset_of_content_type(const char *content_type)
{
	if (content_type == NULL)
		return NULL;
	const lxb_char_t *field = (const lxb_char_t *)content_type;
	const lxb_char_t *end = NULL;
	const lxb_char_t *name =
		lxb_html_encoding_content(field, field + strlen(content_type), &end);
	return name != NULL ? ing_charset_of_label((const char *)name, (size_t)(end - name)) : NULL;
}

const struct ing_charset *ing_charset_of_label(const char *label, size_t bytes)
{
	return wrap(lxb_encoding_data_by_pre_name((const lxb_char_t *)label, bytes));
}

const char *ing_charset_name(const struct ing_charset *c)
{
	return (const char *)raw(c)->name;
}

bool ing_charset_is_replacement(const struct ing_charset *c)
{
	return raw(c)->encoding == LXB_ENCODING_REPLACEMENT;
}

void ing_charset_skip_bom(const struct ing_charset *c, const void **data, size_t *bytes)
{
	const lxb_char_t *at = *data;
	if (raw(c)->encoding == LXB_ENCODING_UTF_8)
		lxb_encoding_utf_8_skip_bom(&at, bytes);
	else if (raw(c)->encoding == LXB_ENCODING_UTF_16BE)
		lxb_encoding_utf_16be_skip_bom(&at, bytes);
	else if (raw(c)->encoding == LXB_ENCODING_UTF_16LE)
		lxb_encoding_utf_16le_skip_bom(&at, bytes);
	*data = at;
}

bool ing_charset_is_plain(const struct ing_charset *c, const void *data, size_t bytes)
{
	bool utf8 = raw(c)->encoding == LXB_ENCODING_UTF_8;
	return (utf8 || is_ascii_superset(raw(c)->encoding)) && is_utf8(data, bytes, !utf8);
}

bool ing_charset_decode(const struct ing_charset *c, const void *data, size_t bytes,
	ing_charset_sink_f *sink, void *ctx)
{
	static const lxb_codepoint_t replacement = LXB_ENCODING_REPLACEMENT_CODEPOINT;
	lxb_codepoint_t points[4096];
	lxb_encoding_decode_t decode = {0};
	lxb_encoding_decode_init(&decode, raw(c), points, ING_ARRAY_LEN(points));
	lxb_encoding_decode_replace_set(&decode, &replacement, 1);
	const lxb_char_t *at = data;
	const lxb_char_t *end = at + bytes;
	lxb_status_t status = LXB_STATUS_SMALL_BUFFER;
	while (status == LXB_STATUS_SMALL_BUFFER) {
		status = raw(c)->decode(&decode, &at, end);
		if (!sink_points(sink, ctx, points, lxb_encoding_decode_buf_used(&decode)))
			return false;
		lxb_encoding_decode_buf_used_set(&decode, 0);
	}
	lxb_encoding_decode_finish(&decode); /* U+FFFD for a character that was cut */
	return sink_points(sink, ctx, points, lxb_encoding_decode_buf_used(&decode));
}
