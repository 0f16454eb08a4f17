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
	own(ar, &r->request_id);
	own(ar, &r->document);
	own(ar, &r->host);
	own(ar, &r->doi_prefix);
}

static void own_result(struct ing_arena *ar, struct ing_row_result *r)
{
	own(ar, &r->ingest_type);
	own(ar, &r->base_url);
	own(ar, &r->status);
	own(ar, &r->terminal_url);
	own(ar, &r->terminal_dt);
	own(ar, &r->terminal_sha1hex);
	own(ar, &r->error_message);
	own(ar, &r->host);
	own(ar, &r->document);
	own(ar, &r->visits);
}

static void own_file_meta(struct ing_arena *ar, struct ing_row_file_meta *r)
{
	own(ar, &r->sha1hex);
	own(ar, &r->sha256hex);
	own(ar, &r->md5hex);
	own(ar, &r->mimetype);
	own(ar, &r->contains);
}

static void own_pdf_meta(struct ing_arena *ar, struct ing_row_pdf_meta *r)
{
	own(ar, &r->sha1hex);
	own(ar, &r->status);
	own(ar, &r->permanent_id);
	own(ar, &r->update_id);
	own(ar, &r->pdf_created);
	own(ar, &r->pdf_version);
	own(ar, &r->metadata_json);
}

static void own_html_meta(struct ing_arena *ar, struct ing_row_html_meta *r)
{
	own(ar, &r->sha1hex);
	own(ar, &r->status);
	own(ar, &r->scope);
	own(ar, &r->biblio_json);
	own(ar, &r->resources_json);
}

static void own_grobid(struct ing_arena *ar, struct ing_row_grobid *r)
{
	own(ar, &r->sha1hex);
	own(ar, &r->grobid_version);
	own(ar, &r->status);
	own(ar, &r->fatcat_release);
	own(ar, &r->metadata_json);
}

static void own_kept(struct ing_arena *ar, struct ing_row_kept *r)
{
	own(ar, &r->url);
	own(ar, &r->record_json);
}

static void own_crossref(struct ing_arena *ar, struct ing_row_crossref *r)
{
	own(ar, &r->doi);
	own(ar, &r->indexed);
	own(ar, &r->record_json);
}

static void own_grobid_refs(struct ing_arena *ar, struct ing_row_grobid_refs *r)
{
	own(ar, &r->source);
	own(ar, &r->source_id);
	own(ar, &r->source_ts);
	own(ar, &r->refs_json);
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

/* The array of rows of this name, copied as a whole, then string by string. */
#define OWN_ARRAY(name)                                                                            \
	do {                                                                                       \
		struct ing_row_##name *rows_ =                                                     \
			ing_arena_alloc(ar, (from->name##_count + 1) * sizeof(*rows_));            \
		for (size_t i_ = 0; i_ < from->name##_count; i_++) {                               \
			rows_[i_] = from->name[i_];                                                \
			own_##name(ar, &rows_[i_]);                                                \
		}                                                                                  \
		ret->name = from->name##_count > 0 ? rows_ : NULL;                                 \
	} while (0)

/* ------------------------------------------------------------------------------------------ */

bool ing_rows_any(const struct ing_rows *rows)
{
	return rows->answers != NULL || rows->request.present || rows->result.present ||
	       rows->file_meta.present || rows->pdf_meta.present || rows->html_meta.present ||
	       rows->grobid.present || rows->publication.present || rows->webpage.present ||
	       rows->cdx_count > 0 || rows->crossref_count > 0 || rows->grobid_refs_count > 0;
}

void ing_rows_copy(struct ing_arena *ar, const struct ing_rows *from, struct ing_rows *ret)
{
	*ret = *from;
	own(ar, &ret->answers);
	own_request(ar, &ret->request);
	own_result(ar, &ret->result);
	own_file_meta(ar, &ret->file_meta);
	own_pdf_meta(ar, &ret->pdf_meta);
	own_html_meta(ar, &ret->html_meta);
	own_grobid(ar, &ret->grobid);
	own_kept(ar, &ret->publication);
	own_kept(ar, &ret->webpage);
	OWN_ARRAY(cdx);
	OWN_ARRAY(crossref);
	OWN_ARRAY(grobid_refs);
}
