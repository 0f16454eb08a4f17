/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Questions as arrays of keys, and rows of the tables as answers. Database thread.
 *
 * Of each question the statement reads by primary keys alone. The keys come as arrays, so that one
 * prepared statement does for any number of questions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/store/lookup/lookup_priv.h"

#define MAX_KEYS_BYTES ((size_t)64 << 20) /* of all questions of a statement, quoted */

#define RFC3339 "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'"

/* The columns that take_result() reads, in its order. */
static const char result_sql[] =
	"SELECT q.n, (extract(epoch FROM clock_timestamp() - r.updated) * 1000)::bigint,"
	" to_char(r.updated AT TIME ZONE 'UTC', " RFC3339 "),"
	" r.hit, r.status, r.terminal_url, r.terminal_dt, r.terminal_status_code,"
	" r.terminal_sha1hex,"
	" f.sha1hex, f.sha256hex, f.md5hex, f.size_bytes, f.mimetype, f.contains,"
	" c.sha1hex, c.cdx_sha1hex, c.mimetype, c.warc_path, c.warc_csize, c.warc_offset,"
	" p.sha1hex, p.status, p.has_page0_thumbnail, p.page_count, p.word_count,"
	" p.page0_height, p.page0_width, p.permanent_id, p.update_id,"
	" to_char(p.pdf_created AT TIME ZONE 'UTC', " RFC3339 "), p.pdf_version, p.metadata,"
	" h.sha1hex, h.status, h.scope, h.has_teixml, h.word_count, h.biblio, h.resources,"
	" g.sha1hex, g.grobid_version, g.status_code, g.status, g.fatcat_release, g.metadata"
	" FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS q (ingest_type, base_url, n)"
	" JOIN ingest_file_result r"
	" ON r.ingest_type = q.ingest_type AND r.base_url = q.base_url"
	" LEFT JOIN file_meta f ON f.sha1hex = r.terminal_sha1hex"
	" LEFT JOIN cdx c ON c.url = r.terminal_url AND c.datetime = r.terminal_dt"
	" LEFT JOIN pdf_meta p ON p.sha1hex = r.terminal_sha1hex"
	" LEFT JOIN html_meta h ON h.sha1hex = r.terminal_sha1hex"
	" LEFT JOIN grobid g ON g.sha1hex = r.terminal_sha1hex";

/* The columns that take_grobid() reads. */
static const char grobid_sql[] =
	"SELECT q.n, (extract(epoch FROM clock_timestamp() - g.updated) * 1000)::bigint,"
	" g.sha1hex, g.grobid_version, g.status_code, g.status, g.fatcat_release, g.metadata"
	" FROM unnest($1::text[]) WITH ORDINALITY AS q (sha1hex, n)"
	" JOIN grobid g ON g.sha1hex = q.sha1hex";

/* The columns that take_capture() reads. Newest first, out of the primary key's index. */
static const char captures_sql[] =
	"SELECT q.n, c.url, c.datetime, c.sha1hex, c.cdx_sha1hex, c.mimetype, c.warc_path,"
	" c.warc_csize, c.warc_offset, c.warc_record_id,"
	" to_char(c.warc_date AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
	" FROM unnest($1::text[]) WITH ORDINALITY AS q (url, n)"
	" CROSS JOIN LATERAL (SELECT * FROM cdx WHERE cdx.url = q.url"
	" AND mimetype IS DISTINCT FROM 'warc/revisit' AND warc_path IS NOT NULL"
	" AND warc_record_id IS NOT NULL AND warc_date IS NOT NULL"
	" ORDER BY datetime DESC LIMIT $2::int) c";

struct row {
	const char *const *at; /* the next value */
	struct ing_arena *ar;
};

static const char *read_text(struct row *r)
{
	return ing_arena_strdup(r->ar, *r->at++);
}

static bool read_bool(struct row *r)
{
	const char *s = *r->at++;
	return s != NULL && s[0] == 't';
}

static int64_t read_number(struct row *r)
{
	return ing_pg_int64(*r->at++);
}

/* NULL: -1. */
static long read_count(struct row *r)
{
	const char *s = *r->at++;
	return s != NULL ? (long)ing_pg_unsigned(s) : -1;
}

static double read_real(struct row *r)
{
	const char *s = *r->at++;
	return s != NULL ? strtod(s, NULL) : 0;
}

static uint64_t read_bytes(struct row *r)
{
	int64_t n = read_number(r);
	return n > 0 ? (uint64_t)n : 0;
}

static void read_cdx(struct row *r, struct ing_rows *rows)
{
	struct ing_row_cdx *cdx = ing_arena_alloc(r->ar, sizeof(*cdx));
	cdx->url = rows->result.terminal_url;
	cdx->datetime = rows->result.terminal_dt;
	cdx->sha1hex = read_text(r);
	cdx->cdx_sha1hex = read_text(r);
	cdx->mimetype = read_text(r);
	cdx->warc_path = read_text(r);
	cdx->warc_csize = read_bytes(r);
	cdx->warc_offset = read_bytes(r);
	rows->cdx = cdx;
	rows->cdx_count = cdx->sha1hex != NULL ? 1 : 0;
}

static void read_file_meta(struct row *r, struct ing_row_file_meta *file)
{
	file->sha1hex = read_text(r);
	file->present = file->sha1hex != NULL;
	file->sha256hex = read_text(r);
	file->md5hex = read_text(r);
	file->size_bytes = read_bytes(r);
	file->mimetype = read_text(r);
	file->contains = read_text(r);
}

static void read_pdf_meta(struct row *r, struct ing_row_pdf_meta *pdf)
{
	pdf->sha1hex = read_text(r);
	pdf->present = pdf->sha1hex != NULL;
	pdf->status = read_text(r);
	pdf->has_page0_thumbnail = read_bool(r);
	pdf->page_count = (int)read_count(r);
	pdf->word_count = read_count(r);
	pdf->page0_height = read_real(r);
	pdf->page0_width = read_real(r);
	pdf->permanent_id = read_text(r);
	pdf->update_id = read_text(r);
	pdf->pdf_created = read_text(r);
	pdf->pdf_version = read_text(r);
	pdf->metadata_json = read_text(r);
}

static void read_html_meta(struct row *r, struct ing_row_html_meta *html)
{
	html->sha1hex = read_text(r);
	html->present = html->sha1hex != NULL;
	html->status = read_text(r);
	html->scope = read_text(r);
	html->has_teixml = read_bool(r);
	html->word_count = read_count(r);
	html->biblio_json = read_text(r);
	html->resources_json = read_text(r);
}

static void read_grobid(struct row *r, struct ing_row_grobid *grobid)
{
	grobid->sha1hex = read_text(r);
	grobid->present = grobid->sha1hex != NULL;
	grobid->grobid_version = read_text(r);
	grobid->status_code = (int)read_number(r);
	grobid->status = read_text(r);
	grobid->fatcat_release = read_text(r);
	grobid->metadata_json = read_text(r);
}

static void take_result(struct ing_lookup_question *q, const char *const *values)
{
	struct row r = {values, &q->ar};
	struct ing_rows *rows = &q->result.rows;
	q->found = true;
	q->result.age_ms = read_bytes(&r);
	q->result.updated = read_text(&r);
	rows->result = (struct ing_row_result){
		.present = true, .ingest_type = q->ingest_type, .base_url = q->key};
	rows->result.hit = read_bool(&r);
	rows->result.status = read_text(&r);
	rows->result.terminal_url = read_text(&r);
	rows->result.terminal_dt = read_text(&r);
	rows->result.terminal_status_code = (int)read_number(&r);
	rows->result.terminal_sha1hex = read_text(&r);
	read_file_meta(&r, &rows->file_meta);
	read_cdx(&r, rows);
	read_pdf_meta(&r, &rows->pdf_meta);
	read_html_meta(&r, &rows->html_meta);
	read_grobid(&r, &rows->grobid);
}

static void take_grobid(struct ing_lookup_question *q, const char *const *values)
{
	struct row r = {values, &q->ar};
	q->found = true;
	q->result.age_ms = read_bytes(&r);
	read_grobid(&r, &q->result.rows.grobid);
}

static void take_capture(struct ing_lookup_question *q, const char *const *values)
{
	struct row r = {values, &q->ar};
	ing_must(q->capture_count < ING_LOOKUP_CAPTURES);
	struct ing_row_cdx *cdx = &q->captures[q->capture_count++];
	cdx->url = read_text(&r);
	cdx->datetime = read_text(&r);
	cdx->sha1hex = read_text(&r);
	cdx->cdx_sha1hex = read_text(&r);
	cdx->mimetype = read_text(&r);
	cdx->warc_path = read_text(&r);
	cdx->warc_csize = read_bytes(&r);
	cdx->warc_offset = read_bytes(&r);
	cdx->record_id = read_text(&r);
	cdx->record_date = read_text(&r);
	q->found = true;
}

struct ask {
	struct ing_lookup_question *const *questions;
	size_t count;
};

static void take_row(void *ctx, const char *const *values, int count)
{
	const struct ask *ask = ctx;
	(void)count;
	size_t n = ing_pg_unsigned(values[0]);
	ing_must(n >= 1 && n <= ask->count);
	struct ing_lookup_question *q = ask->questions[n - 1];
	if (q->kind == ING_LOOKUP_RESULT)
		take_result(q, values + 1);
	else if (q->kind == ING_LOOKUP_GROBID_ROW)
		take_grobid(q, values + 1);
	else
		take_capture(q, values + 1);
}

static void add_keys(const struct ask *ask, bool types, struct ing_buf *out)
{
	const char **texts = ing_alloc(ask->count * sizeof(*texts));
	for (size_t i = 0; i < ask->count; i++)
		texts[i] = types ? ask->questions[i]->ingest_type : ask->questions[i]->key;
	ing_pg_add_array(out, texts, ask->count);
	free(texts);
}

static enum ing_pg_rc ask_results(struct ing_pg *pg, struct ask *ask, struct ing_error *err)
{
	struct ing_buf types;
	struct ing_buf urls;
	ing_buf_init(&types, MAX_KEYS_BYTES);
	ing_buf_init(&urls, MAX_KEYS_BYTES);
	add_keys(ask, true, &types);
	add_keys(ask, false, &urls);
	ing_must(!types.failed && !urls.failed);
	const char *params[] = {ing_buf_str(&types), ing_buf_str(&urls)};
	enum ing_pg_rc rc = ing_pg_query(pg, "results", result_sql, params, 2, take_row, ask, err);
	ing_buf_done(&types);
	ing_buf_done(&urls);
	return rc;
}

static enum ing_pg_rc ask_captures(struct ing_pg *pg, struct ask *ask, struct ing_error *err)
{
	struct ing_buf urls;
	char most[16];
	ing_buf_init(&urls, MAX_KEYS_BYTES);
	add_keys(ask, false, &urls);
	ing_must(!urls.failed);
	snprintf(most, sizeof(most), "%d", ING_LOOKUP_CAPTURES);
	const char *params[] = {ing_buf_str(&urls), most};
	enum ing_pg_rc rc =
		ing_pg_query(pg, "captures", captures_sql, params, 2, take_row, ask, err);
	ing_buf_done(&urls);
	return rc;
}

static enum ing_pg_rc ask_grobid(struct ing_pg *pg, struct ask *ask, struct ing_error *err)
{
	struct ing_buf digests;
	ing_buf_init(&digests, MAX_KEYS_BYTES);
	add_keys(ask, false, &digests);
	ing_must(!digests.failed);
	const char *params[] = {ing_buf_str(&digests)};
	enum ing_pg_rc rc = ing_pg_query(pg, "grobid", grobid_sql, params, 1, take_row, ask, err);
	ing_buf_done(&digests);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

enum ing_pg_rc ing_lookup_ask(struct ing_pg *pg, struct ing_lookup_question *const *questions,
	size_t count, struct ing_error *err)
{
	struct ask ask = {questions, count};
	if (questions[0]->kind == ING_LOOKUP_RESULT)
		return ask_results(pg, &ask, err);
	if (questions[0]->kind == ING_LOOKUP_GROBID_ROW)
		return ask_grobid(pg, &ask, err);
	if (questions[0]->kind == ING_LOOKUP_PUBLICATION ||
		questions[0]->kind == ING_LOOKUP_WEBPAGE)
		return ing_lookup_ask_kept(pg, questions, count, err);
	return ask_captures(pg, &ask, err);
}
