/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One shape, from two sources: an answer of this request, and a row of an earlier one.
 */
#include "worker/job/result_capture.h"

#include <string.h>

#include "common/data/base32.h"
#include "common/net/surt.h"
#include "worker/model/limits.h"
#include "worker/visit/capture.h"
#include "worker/visit/originals.h"

static json_t *begin_cdx(const char *url, const char *datetime, const char *mimetype)
{
	struct ing_buf surt;
	ing_buf_init(&surt, 4 * ING_MAX_URL_BYTES);
	if (!ing_surt(url, &surt))
		ing_buf_clear(&surt);
	json_t *o = json_object();
	ing_json_set_text(o, "surt", ing_buf_str(&surt));
	ing_json_set_text(o, "datetime", datetime);
	ing_json_set_text(o, "url", url);
	ing_json_set_text(o, "mimetype", mimetype);
	ing_buf_done(&surt);
	return o;
}

static void add_place(json_t *o, uint64_t csize, uint64_t offset, const char *file)
{
	ing_json_set_count(o, "warc_csize", csize);
	ing_json_set_count(o, "warc_offset", offset);
	ing_json_set_text(o, "warc_path", file);
}

/* Of a digest in hex. False when it is none. */
static bool to_base32(const char *hex, char ret[33])
{
	uint8_t raw[20];
	if (!ing_hex_decode(hex, raw, sizeof(raw)))
		return false;
	ing_base32_encode(raw, sizeof(raw), ret);
	return true;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_wayback_json(const char *url, const char *datetime)
{
	json_t *o = json_object();
	if (datetime == NULL) {
		ing_json_set(o, "datetime", NULL);
		ing_json_set(o, "archive_url", NULL);
		return o;
	}
	struct ing_buf archived;
	ing_buf_init(&archived, 2 * ING_MAX_URL_BYTES);
	ing_buf_printf(&archived, "https://web.archive.org/web/%s/%s", datetime, url);
	ing_json_set_text(o, "datetime", datetime);
	ing_json_set_text(o, "archive_url", ing_buf_str(&archived));
	ing_buf_done(&archived);
	return o;
}

json_t *ing_capture_cdx_json(const struct ing_capture *c)
{
	char hex[ING_SHA1_HEX_BYTES];
	json_t *o = begin_cdx(c->url, c->datetime, ing_capture_mimetype(c));
	ing_json_set_number(o, "status_code", c->http_status);
	if (ing_capture_sha1b32(c) != NULL) {
		ing_json_set_text(o, "sha1b32", ing_capture_sha1b32(c));
		ing_json_set_text(o, "sha1hex", ing_capture_sha1hex(c, hex) ? hex : NULL);
	}
	if (c->archive.warc_name[0] != '\0')
		add_place(o, c->archive.csize, c->archive.offset, c->archive.warc_name);
	return o;
}

json_t *ing_capture_revisit_cdx_json(const struct ing_capture *c)
{
	const struct ing_original *original = c->original;
	char hex[ING_SHA1_HEX_BYTES];
	struct ing_row_cdx row = original->row;
	ing_hex_encode(original->record.payload_sha1, sizeof(original->record.payload_sha1), hex);
	row.sha1hex = hex;
	row.cdx_sha1hex = NULL;
	return ing_row_cdx_json(&row, c->http_status);
}

json_t *ing_row_cdx_json(const struct ing_row_cdx *row, int http_status)
{
	const char *hex = row->cdx_sha1hex != NULL ? row->cdx_sha1hex : row->sha1hex;
	char b32[33];
	json_t *o = begin_cdx(row->url, row->datetime, row->mimetype);
	ing_json_set(o, "status_code", http_status > 0 ? json_integer(http_status) : NULL);
	if (to_base32(hex, b32)) {
		ing_json_set_text(o, "sha1b32", b32);
		ing_json_set_text(o, "sha1hex", hex);
	}
	if (row->warc_path != NULL)
		add_place(o, row->warc_csize, row->warc_offset, row->warc_path);
	return o;
}
