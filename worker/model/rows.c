/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Copies of rows. No state.
 */
#include "worker/model/rows.h"

#include "common/base/arena.h"

static void own(struct ing_arena *ar, const char **text)
{
	*text = ing_arena_strdup(ar, *text);
}

static void own_request(struct ing_arena *ar, struct ing_row_request *r)
{
	own(ar, &r->link_source);
	own(ar, &r->link_source_id);
	own(ar, &r->ingest_type);
	own(ar, &r->base_url);
	own(ar, &r->ingest_request_source);
	own(ar, &r->release_stage);
	own(ar, &r->request_json);
}

static void own_result(struct ing_arena *ar, struct ing_row_result *r)
{
	own(ar, &r->ingest_type);
	own(ar, &r->base_url);
	own(ar, &r->status);
	own(ar, &r->terminal_url);
	own(ar, &r->terminal_dt);
	own(ar, &r->terminal_sha1hex);
}

static void own_file_meta(struct ing_arena *ar, struct ing_row_file_meta *r)
{
	own(ar, &r->sha1hex);
	own(ar, &r->sha256hex);
	own(ar, &r->md5hex);
	own(ar, &r->mimetype);
}

static void own_pdf_meta(struct ing_arena *ar, struct ing_row_pdf_meta *r)
{
	own(ar, &r->sha1hex);
	own(ar, &r->status);
	own(ar, &r->permanent_id);
	own(ar, &r->pdf_created);
	own(ar, &r->pdf_version);
	own(ar, &r->metadata_json);
}

static void own_cdx(struct ing_arena *ar, struct ing_row_cdx *r)
{
	own(ar, &r->url);
	own(ar, &r->datetime);
	own(ar, &r->sha1hex);
	own(ar, &r->cdx_sha1hex);
	own(ar, &r->mimetype);
	own(ar, &r->warc_path);
	own(ar, &r->record_id);
	own(ar, &r->record_date);
}

/* ------------------------------------------------------------------------------------------ */

bool ing_rows_any(const struct ing_rows *rows)
{
	return rows->request.present || rows->result.present || rows->file_meta.present ||
	       rows->pdf_meta.present || rows->cdx_count > 0;
}

void ing_rows_copy(struct ing_arena *ar, const struct ing_rows *from, struct ing_rows *ret)
{
	*ret = *from;
	own_request(ar, &ret->request);
	own_result(ar, &ret->result);
	own_file_meta(ar, &ret->file_meta);
	own_pdf_meta(ar, &ret->pdf_meta);
	ret->cdx = NULL;
	if (from->cdx_count == 0)
		return;
	struct ing_row_cdx *cdx = ing_arena_alloc(ar, from->cdx_count * sizeof(*cdx));
	for (size_t i = 0; i < from->cdx_count; i++) {
		cdx[i] = from->cdx[i];
		own_cdx(ar, &cdx[i]);
	}
	ret->cdx = cdx;
}
