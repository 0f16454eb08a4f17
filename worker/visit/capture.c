/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Captures in the forms that their readers take. No state.
 */
#include "worker/visit/capture.h"

#include <string.h>

#include "common/data/base32.h"
#include "common/net/surt.h"
#include "worker/visit/originals.h"

#define SHA1_BYTES 20

const char *ing_capture_sha1b32(const struct ing_capture *c)
{
	return c->archive.payload_sha1b32[0] != '\0' ? c->archive.payload_sha1b32 : NULL;
}

bool ing_capture_sha1hex(const struct ing_capture *c, char ret_hex[ING_SHA1_HEX_BYTES])
{
	uint8_t raw[SHA1_BYTES];
	size_t bytes;
	const char *b32 = ing_capture_sha1b32(c);
	if (b32 == NULL || ing_base32_decode(b32, strlen(b32), raw, sizeof(raw), &bytes) != 0 ||
		bytes != sizeof(raw))
		return false;
	ing_hex_encode(raw, sizeof(raw), ret_hex);
	return true;
}

const char *ing_capture_mimetype(const struct ing_capture *c)
{
	return c->original != NULL ? ING_REVISIT_MIMETYPE : c->mimetype;
}

bool ing_capture_line(const struct ing_capture *c, struct ing_buf *surt, struct ing_cdx *ret)
{
	if (c->archive.warc_name[0] == '\0')
		return false;
	ing_buf_clear(surt);
	if (!ing_surt(c->url, surt))
		return false;
	*ret = (struct ing_cdx){
		.surt = ing_buf_str(surt),
		.datetime = c->datetime,
		.url = c->url,
		.mimetype = ing_capture_mimetype(c),
		.status = c->http_status,
		.sha1b32 = ing_capture_sha1b32(c),
		.csize = (int64_t)c->archive.csize,
		.offset = (int64_t)c->archive.offset,
		.filename = c->archive.warc_name,
	};
	return true;
}

bool ing_capture_row(
	const struct ing_capture *c, char hex[ING_SHA1_HEX_BYTES], struct ing_row_cdx *ret)
{
	if (c->archive.warc_name[0] == '\0' || (c->http_status != 200 && c->http_status != 226) ||
		!ing_capture_sha1hex(c, hex))
		return false;
	bool decoded = (c->coded || c->archive.gzip) && c->body_sha1hex != NULL &&
		       strcmp(c->body_sha1hex, hex) != 0;
	*ret = (struct ing_row_cdx){
		.url = c->url,
		.datetime = c->datetime,
		.sha1hex = decoded ? c->body_sha1hex : hex,
		.cdx_sha1hex = decoded ? hex : NULL,
		.mimetype = ing_capture_mimetype(c),
		.warc_path = c->archive.warc_name,
		.warc_csize = c->archive.csize,
		.warc_offset = c->archive.offset,
		.record_id = c->archive.record_id,
		.record_date = c->record_date,
	};
	return true;
}

bool ing_capture_original_row(
	const struct ing_capture *c, const struct ing_row_cdx *row, struct ing_row_cdx *ret)
{
	if (c->original == NULL || c->original->indexed)
		return false;
	*ret = c->original->row;
	/* The same bytes in the same coding have the same digests, decoded or not. */
	ret->sha1hex = row->sha1hex;
	ret->cdx_sha1hex = row->cdx_sha1hex;
	return true;
}

void ing_capture_add_rows(const struct ing_capture *c, char hex[ING_SHA1_HEX_BYTES],
	struct ing_row_cdx *rows, size_t *count)
{
	struct ing_row_cdx row;
	if (!ing_capture_row(c, hex, &row))
		return;
	if (ing_capture_original_row(c, &row, &rows[*count]))
		(*count)++;
	rows[(*count)++] = row;
}
