/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Column limits: what is part of an index key stays below the 2,704 bytes of a B-tree entry, all
 * its columns together; a key column is never cut, because two keys would become one. The order of
 * rows within a batch and the conflict rule against the table say the same thing, so that the
 * outcome does not depend on where one batch ends and the next begins.
 */
#include "worker/store/table.h"

#include <limits.h>

#include "worker/model/limits.h"
#include "worker/model/rows.h"

#define TEXT(name, max)                                                                            \
	{                                                                                          \
		name, ING_CELL_TEXT, false, ING_OVER_CUT, max, 0                                   \
	}
#define TEXT_OR_NULL(name, max)                                                                    \
	{                                                                                          \
		name, ING_CELL_TEXT, false, ING_OVER_NULL, max, 0                                  \
	}
#define KEY_TEXT(name, max)                                                                        \
	{                                                                                          \
		name, ING_CELL_TEXT, true, ING_OVER_NULL, max, 0                                   \
	}
#define KEY_TEXT_OR_EMPTY(name, max)                                                               \
	{                                                                                          \
		name, ING_CELL_TEXT_OR_EMPTY, true, ING_OVER_NULL, max, 0                          \
	}
#define HEX(name, digits)                                                                          \
	{                                                                                          \
		name, ING_CELL_HEX, false, ING_OVER_NULL, digits, 0                                \
	}
#define KEY_HEX(name, digits)                                                                      \
	{                                                                                          \
		name, ING_CELL_HEX, true, ING_OVER_NULL, digits, 0                                 \
	}
#define OTHER(name, kind)                                                                          \
	{                                                                                          \
		name, kind, false, ING_OVER_NULL, 0, 0                                             \
	}
#define KEY_OTHER(name, kind)                                                                      \
	{                                                                                          \
		name, kind, true, ING_OVER_NULL, 0, 0                                              \
	}
#define WORD(name, chars)                                                                          \
	{                                                                                          \
		name, ING_CELL_WORD, false, ING_OVER_NULL, chars, 0                                \
	}
#define INTEGER(name, max)                                                                         \
	{                                                                                          \
		name, ING_CELL_INT, false, ING_OVER_NULL, 0, max                                   \
	}

#define MAX_SLUG 100
#define MAX_TYPE 40
#define MAX_DOI 2000 /* the Handle System sets no limit; the longest in use have some 200 bytes */
#define UUID_CHARS 36
#define MAX_HOST 256
#define MAX_ERROR 1600
#define RELEASE_CHARS 26 /* identifier of a release in Fatcat's catalogue: base32 */
#define MAX_WORD 200     /* short optional values, some of them indexed */

static const struct ing_column request_columns[] = {
	KEY_TEXT_OR_EMPTY("link_source", ING_MAX_LINK_SOURCE_BYTES),
	KEY_TEXT_OR_EMPTY("link_source_id", ING_MAX_LINK_SOURCE_ID_BYTES),
	KEY_TEXT("ingest_type", MAX_TYPE),
	KEY_TEXT("base_url", ING_MAX_BASE_URL_BYTES),
	TEXT("ingest_request_source", MAX_WORD),
	TEXT("release_stage", MAX_WORD),
	OTHER("request", ING_CELL_JSON),
	TEXT_OR_NULL("request_id", UUID_CHARS),
	TEXT_OR_NULL("document", UUID_CHARS),
	TEXT("host", MAX_HOST),
	TEXT("doi_prefix", MAX_SLUG),
};

static const struct ing_column result_columns[] = {
	KEY_TEXT("ingest_type", MAX_TYPE),
	KEY_TEXT("base_url", ING_MAX_BASE_URL_BYTES),
	OTHER("hit", ING_CELL_BOOL),
	KEY_TEXT("status", MAX_SLUG),
	TEXT_OR_NULL("terminal_url", ING_MAX_TERMINAL_URL_BYTES),
	OTHER("terminal_dt", ING_CELL_DT14),
	INTEGER("terminal_status_code", INT_MAX),
	HEX("terminal_sha1hex", 40),
	TEXT("error_message", MAX_ERROR),
	INTEGER("retry_after", INT_MAX), /* of the status, until the upsert counts attempts */
	TEXT("host", MAX_HOST),
	TEXT_OR_NULL("document", UUID_CHARS),
	OTHER("visits", ING_CELL_JSON),
};

static const struct ing_column file_columns[] = {
	KEY_HEX("sha1hex", 40),
	HEX("sha256hex", 64),
	HEX("md5hex", 32),
	INTEGER("size_bytes", INT64_MAX),
	TEXT("mimetype", MAX_WORD),
	TEXT("contains", MAX_WORD),
};

static const struct ing_column cdx_columns[] = {
	KEY_TEXT("url", ING_MAX_TERMINAL_URL_BYTES),
	KEY_OTHER("datetime", ING_CELL_DT14),
	KEY_HEX("sha1hex", 40),
	HEX("cdx_sha1hex", 40),
	TEXT("mimetype", MAX_WORD),
	TEXT_OR_NULL("warc_path", 4096),
	INTEGER("warc_csize", INT64_MAX),
	INTEGER("warc_offset", INT64_MAX),
	TEXT_OR_NULL("warc_record_id", UUID_CHARS),
	OTHER("warc_date", ING_CELL_TIME),
};

static const struct ing_column pdf_columns[] = {
	KEY_HEX("sha1hex", 40),
	KEY_TEXT("status", MAX_SLUG),
	OTHER("has_page0_thumbnail", ING_CELL_BOOL),
	INTEGER("page_count", INT_MAX),
	INTEGER("word_count", INT_MAX),
	OTHER("page0_height", ING_CELL_REAL),
	OTHER("page0_width", ING_CELL_REAL),
	TEXT("permanent_id", MAX_WORD),
	TEXT("update_id", MAX_WORD),
	OTHER("pdf_created", ING_CELL_TIME),
	TEXT("pdf_version", MAX_WORD),
	OTHER("metadata", ING_CELL_JSON),
};

static const struct ing_column html_columns[] = {
	KEY_HEX("sha1hex", 40),
	KEY_TEXT("status", MAX_SLUG),
	TEXT("scope", MAX_WORD),
	OTHER("has_teixml", ING_CELL_BOOL),
	INTEGER("word_count", INT_MAX),
	OTHER("biblio", ING_CELL_JSON),
	OTHER("resources", ING_CELL_JSON),
};

static const struct ing_column grobid_columns[] = {
	KEY_HEX("sha1hex", 40),
	TEXT("grobid_version", MAX_WORD),
	KEY_OTHER("status_code", ING_CELL_SIGNED),
	TEXT("status", MAX_SLUG),
	WORD("fatcat_release", RELEASE_CHARS),
	OTHER("metadata", ING_CELL_JSON),
};

static const struct ing_column crossref_columns[] = {
	{"doi", ING_CELL_DOI, true, ING_OVER_NULL, MAX_DOI, 0},
	KEY_OTHER("indexed", ING_CELL_TIME),
	KEY_OTHER("record", ING_CELL_JSON),
};

static const struct ing_column refs_columns[] = {
	KEY_TEXT("source", MAX_SLUG),
	KEY_TEXT("source_id", MAX_DOI),
	OTHER("source_ts", ING_CELL_TIME),
	KEY_OTHER("refs_json", ING_CELL_JSON),
};

static size_t count_request(const struct ing_rows *rows)
{
	return rows->request.present;
}

static size_t count_result(const struct ing_rows *rows)
{
	return rows->result.present;
}

static size_t count_file(const struct ing_rows *rows)
{
	return rows->file_meta.present;
}

static size_t count_cdx(const struct ing_rows *rows)
{
	return rows->cdx_count;
}

static size_t count_pdf(const struct ing_rows *rows)
{
	return rows->pdf_meta.present;
}

static size_t count_html(const struct ing_rows *rows)
{
	return rows->html_meta.present;
}

static size_t count_grobid(const struct ing_rows *rows)
{
	return rows->grobid.present;
}

static size_t count_crossref(const struct ing_rows *rows)
{
	return rows->crossref_count;
}

static size_t count_refs(const struct ing_rows *rows)
{
	return rows->grobid_refs_count;
}

static void fill_request(const struct ing_rows *rows, size_t i, struct ing_cell *c)
{
	(void)i;
	const struct ing_row_request *r = &rows->request;
	*c++ = (struct ing_cell){.text = r->link_source};
	*c++ = (struct ing_cell){.text = r->link_source_id};
	*c++ = (struct ing_cell){.text = r->ingest_type};
	*c++ = (struct ing_cell){.text = r->base_url};
	*c++ = (struct ing_cell){.text = r->ingest_request_source};
	*c++ = (struct ing_cell){.text = r->release_stage};
	*c++ = (struct ing_cell){.text = r->request_json};
	*c++ = (struct ing_cell){.text = r->request_id};
	*c++ = (struct ing_cell){.text = r->document};
	*c++ = (struct ing_cell){.text = r->host};
	*c = (struct ing_cell){.text = r->doi_prefix};
}

static void fill_result(const struct ing_rows *rows, size_t i, struct ing_cell *c)
{
	(void)i;
	const struct ing_row_result *r = &rows->result;
	*c++ = (struct ing_cell){.text = r->ingest_type};
	*c++ = (struct ing_cell){.text = r->base_url};
	*c++ = (struct ing_cell){.number = r->hit};
	*c++ = (struct ing_cell){.text = r->status};
	*c++ = (struct ing_cell){.text = r->terminal_url};
	*c++ = (struct ing_cell){.text = r->terminal_dt};
	*c++ = (struct ing_cell){.number = r->terminal_status_code ? r->terminal_status_code : -1};
	*c++ = (struct ing_cell){.text = r->terminal_sha1hex};
	*c++ = (struct ing_cell){.text = r->error_message};
	*c++ = (struct ing_cell){.number = r->retry_after_s > 0 ? (int64_t)r->retry_after_s : -1};
	*c++ = (struct ing_cell){.text = r->host};
	*c++ = (struct ing_cell){.text = r->document};
	*c = (struct ing_cell){.text = r->visits};
}

/* Sizes past what bigint holds become negative, which a column takes as NULL. */
static int64_t bigint(uint64_t v)
{
	return v <= INT64_MAX ? (int64_t)v : -1;
}

static void fill_file(const struct ing_rows *rows, size_t i, struct ing_cell *c)
{
	(void)i;
	const struct ing_row_file_meta *r = &rows->file_meta;
	*c++ = (struct ing_cell){.text = r->sha1hex};
	*c++ = (struct ing_cell){.text = r->sha256hex};
	*c++ = (struct ing_cell){.text = r->md5hex};
	*c++ = (struct ing_cell){.number = bigint(r->size_bytes)};
	*c++ = (struct ing_cell){.text = r->mimetype};
	*c = (struct ing_cell){.text = r->contains};
}

static void fill_cdx(const struct ing_rows *rows, size_t i, struct ing_cell *c)
{
	const struct ing_row_cdx *r = &rows->cdx[i];
	*c++ = (struct ing_cell){.text = r->url};
	*c++ = (struct ing_cell){.text = r->datetime};
	*c++ = (struct ing_cell){.text = r->sha1hex};
	*c++ = (struct ing_cell){.text = r->cdx_sha1hex};
	*c++ = (struct ing_cell){.text = r->mimetype};
	*c++ = (struct ing_cell){.text = r->warc_path};
	*c++ = (struct ing_cell){.number = bigint(r->warc_csize)};
	*c++ = (struct ing_cell){.number = bigint(r->warc_offset)};
	*c++ = (struct ing_cell){.text = r->record_id};
	*c = (struct ing_cell){.text = r->record_date};
}

static void fill_pdf(const struct ing_rows *rows, size_t i, struct ing_cell *c)
{
	(void)i;
	const struct ing_row_pdf_meta *r = &rows->pdf_meta;
	*c++ = (struct ing_cell){.text = r->sha1hex};
	*c++ = (struct ing_cell){.text = r->status};
	*c++ = (struct ing_cell){.number = r->has_page0_thumbnail};
	*c++ = (struct ing_cell){.number = r->page_count};
	*c++ = (struct ing_cell){.number = r->word_count};
	*c++ = (struct ing_cell){.real = r->page0_height};
	*c++ = (struct ing_cell){.real = r->page0_width};
	*c++ = (struct ing_cell){.text = r->permanent_id};
	*c++ = (struct ing_cell){.text = r->update_id};
	*c++ = (struct ing_cell){.text = r->pdf_created};
	*c++ = (struct ing_cell){.text = r->pdf_version};
	*c = (struct ing_cell){.text = r->metadata_json};
}

static void fill_html(const struct ing_rows *rows, size_t i, struct ing_cell *c)
{
	(void)i;
	const struct ing_row_html_meta *r = &rows->html_meta;
	*c++ = (struct ing_cell){.text = r->sha1hex};
	*c++ = (struct ing_cell){.text = r->status};
	*c++ = (struct ing_cell){.text = r->scope};
	*c++ = (struct ing_cell){.number = r->has_teixml};
	*c++ = (struct ing_cell){.number = r->word_count};
	*c++ = (struct ing_cell){.text = r->biblio_json};
	*c = (struct ing_cell){.text = r->resources_json};
}

static void fill_grobid(const struct ing_rows *rows, size_t i, struct ing_cell *c)
{
	(void)i;
	const struct ing_row_grobid *r = &rows->grobid;
	*c++ = (struct ing_cell){.text = r->sha1hex};
	*c++ = (struct ing_cell){.text = r->grobid_version};
	*c++ = (struct ing_cell){.number = r->status_code};
	*c++ = (struct ing_cell){.text = r->status};
	*c++ = (struct ing_cell){.text = r->fatcat_release};
	*c = (struct ing_cell){.text = r->metadata_json};
}

static void fill_crossref(const struct ing_rows *rows, size_t i, struct ing_cell *c)
{
	const struct ing_row_crossref *r = &rows->crossref[i];
	*c++ = (struct ing_cell){.text = r->doi};
	*c++ = (struct ing_cell){.text = r->indexed};
	*c = (struct ing_cell){.text = r->record_json};
}

static void fill_refs(const struct ing_rows *rows, size_t i, struct ing_cell *c)
{
	const struct ing_row_grobid_refs *r = &rows->grobid_refs[i];
	*c++ = (struct ing_cell){.text = r->source};
	*c++ = (struct ing_cell){.text = r->source_id};
	*c++ = (struct ing_cell){.text = r->source_ts};
	*c = (struct ing_cell){.text = r->refs_json};
}

/* Results of one start that come in one batch count as if they had come one by one: each but failures after a hit. The wait
 * doubles with each, at most to 180 days, and ends with the last attempt. What the status says is in retry_after of the staging
 * table. `given` has been doubled once for each but the first, so that it goes on from there. */
#define MAX_ATTEMPTS "current_setting('ingest.max_attempts')::integer"
#define WAIT(attempts, given, doublings)                                                           \
	"CASE WHEN " attempts " < " MAX_ATTEMPTS " AND " given " IS NOT NULL"                      \
	" THEN least(15552000, " given "::bigint << least(" doublings ", 30))::integer END"
#define EARLIER "coalesce(t.attempts, 1)"
#define MORE                                                                                       \
	"CASE WHEN t.hit AND excluded.attempts > 1 THEN"                                           \
	" (SELECT count(*) FROM stage_ingest_file_result s WHERE s.hit"                            \
	" AND s.ingest_type = excluded.ingest_type AND s.base_url = excluded.base_url)"            \
	" ELSE excluded.attempts END"
#define NEXT_WAIT WAIT(EARLIER " + excluded.attempts", "excluded.retry_after", EARLIER)
#define RESULT_WITHOUT_WAIT                                                                        \
	"ingest_type, base_url, hit, status, terminal_url, terminal_dt, terminal_status_code,"     \
	" terminal_sha1hex, error_message, host, document, visits, seq, attempts, first_seen"

static const char result_tries[] =
	"(SELECT *, now() + make_interval(secs => retry_after) AS next_try"
	" FROM (SELECT " RESULT_WITHOUT_WAIT ", " WAIT("attempts", "retry_after",
		"attempts - 1") " AS retry_after FROM (SELECT *, now() AS first_seen, (count(*) FILTER (WHERE hit OR NOT had_hit)"
				" OVER (PARTITION BY ingest_type, base_url))::integer AS attempts"
				" FROM (SELECT *, bool_or(hit) OVER (PARTITION BY ingest_type, base_url ORDER BY seq) AS had_hit"
				" FROM stage_ingest_file_result) AS a) AS b) AS c) AS d";

/* 200 is the code of a document that GROBID could read, and of an answer that could not be read itself. */
#define GROBID_GOOD(row)                                                                           \
	"(" row "status_code = 200 AND coalesce(" row "status, 'success') = 'success')"

#define COLUMNS(c) c, ING_ARRAY_LEN(c)

const struct ing_table ing_tables[ING_TABLES] = {
	{"ingest_file_result", COLUMNS(result_columns), "ingest_type, base_url",
		"hit DESC, seq DESC",
		"UPDATE SET updated = now(), hit = excluded.hit, status = excluded.status,"
		" terminal_url = excluded.terminal_url, terminal_dt = excluded.terminal_dt,"
		" terminal_status_code = excluded.terminal_status_code,"
		" terminal_sha1hex = excluded.terminal_sha1hex,"
		" error_message = excluded.error_message, host = excluded.host,"
		" document = excluded.document, visits = excluded.visits, attempts = " EARLIER
		" + " MORE ","
		" first_seen = coalesce(t.first_seen, t.updated), retry_after = " NEXT_WAIT ","
		" next_try = now() + make_interval(secs => " NEXT_WAIT ")"
		" WHERE excluded.hit OR NOT t.hit",
		count_result, fill_result, "attempts, first_seen, next_try", result_tries},
	{"ingest_request", COLUMNS(request_columns),
		"link_source, link_source_id, ingest_type, base_url", "seq", "NOTHING",
		count_request, fill_request, NULL, NULL},
	{"file_meta", COLUMNS(file_columns), "sha1hex", "contains IS NULL, seq",
		"UPDATE SET contains = excluded.contains"
		" WHERE t.contains IS NULL AND excluded.contains IS NOT NULL",
		count_file, fill_file, NULL, NULL},
	{"cdx", COLUMNS(cdx_columns), "url, datetime", "seq", "NOTHING", count_cdx, fill_cdx, NULL,
		NULL},
	{"pdf_meta", COLUMNS(pdf_columns), "sha1hex", "(status = 'success') DESC, seq DESC",
		"UPDATE SET updated = now(), status = excluded.status,"
		" has_page0_thumbnail = excluded.has_page0_thumbnail,"
		" page_count = excluded.page_count, word_count = excluded.word_count,"
		" page0_height = excluded.page0_height, page0_width = excluded.page0_width,"
		" permanent_id = excluded.permanent_id, update_id = excluded.update_id,"
		" pdf_created = excluded.pdf_created,"
		" pdf_version = excluded.pdf_version, metadata = excluded.metadata"
		" WHERE excluded.status = 'success' OR t.status <> 'success'",
		count_pdf, fill_pdf, NULL, NULL},
	{"html_meta", COLUMNS(html_columns), "sha1hex", "(status = 'success') DESC, seq DESC",
		"UPDATE SET updated = now(), status = excluded.status, scope = excluded.scope,"
		" has_teixml = excluded.has_teixml, word_count = excluded.word_count,"
		" biblio = excluded.biblio, resources = excluded.resources"
		" WHERE excluded.status = 'success' OR t.status <> 'success'",
		count_html, fill_html, NULL, NULL},
	{"grobid", COLUMNS(grobid_columns), "sha1hex", GROBID_GOOD("") " DESC, seq DESC",
		"UPDATE SET updated = now(), grobid_version = excluded.grobid_version,"
		" status_code = excluded.status_code, status = excluded.status,"
		" fatcat_release = excluded.fatcat_release, metadata = excluded.metadata"
		" WHERE " GROBID_GOOD("excluded.") " OR NOT " GROBID_GOOD("t."),
		count_grobid, fill_grobid, NULL, NULL},
	{"crossref", COLUMNS(crossref_columns), "doi", "indexed DESC, seq DESC",
		"UPDATE SET indexed = excluded.indexed, record = excluded.record"
		" WHERE excluded.indexed >= t.indexed",
		count_crossref, fill_crossref, NULL, NULL},
	{"grobid_refs", COLUMNS(refs_columns), "source, source_id",
		"source_ts DESC NULLS LAST, seq DESC",
		"UPDATE SET updated = now(), source_ts = excluded.source_ts,"
		" refs_json = excluded.refs_json"
		" WHERE t.source_ts IS NULL OR excluded.source_ts >= t.source_ts",
		count_refs, fill_refs, NULL, NULL},
};

static void add_columns(const struct ing_table *t, struct ing_buf *out)
{
	for (size_t i = 0; i < t->column_count; i++) {
		if (i > 0)
			ing_buf_add_str(out, ", ");
		ing_buf_add_str(out, t->columns[i].name);
	}
}

static void add_computed(const struct ing_table *t, struct ing_buf *out)
{
	if (t->computed != NULL)
		ing_buf_printf(out, ", %s", t->computed);
}

/* Take back what a row that cannot be stored has written. */
static bool drop_row(struct ing_buf *out, size_t start)
{
	out->len = start;
	if (out->data != NULL)
		out->data[start] = '\0';
	out->failed = false;
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_table_session_sql(const struct ing_table *t, struct ing_buf *out)
{
	/* Types and collations are the table's own; its constraints are not, they are the upsert's
	 * to check. */
	ing_buf_printf(out, "CREATE TEMP TABLE stage_%s ON COMMIT DELETE ROWS AS SELECT ", t->name);
	add_columns(t, out);
	ing_buf_printf(out,
		", 0 AS seq FROM %s WITH NO DATA; PREPARE put_%s AS INSERT INTO %s AS t (", t->name,
		t->name, t->name);
	add_columns(t, out);
	add_computed(t, out);
	/* Rows arrive in the order of the key, so that workers who share keys queue up and do not
	 * deadlock. */
	ing_buf_printf(out, ") SELECT DISTINCT ON (%s) ", t->key);
	add_columns(t, out);
	add_computed(t, out);
	ing_buf_add_str(out, " FROM ");
	if (t->source != NULL)
		ing_buf_add_str(out, t->source);
	else
		ing_buf_printf(out, "stage_%s", t->name);
	ing_buf_printf(out, " ORDER BY %s, %s ON CONFLICT (%s) DO %s", t->key, t->prefer, t->key,
		t->action);
}

void ing_table_copy_sql(const struct ing_table *t, struct ing_buf *out)
{
	ing_buf_printf(out, "COPY stage_%s (", t->name);
	add_columns(t, out);
	ing_buf_add_str(out, ", seq) FROM STDIN");
}

void ing_table_upsert_sql(const struct ing_table *t, struct ing_buf *out)
{
	ing_buf_printf(out, "EXECUTE put_%s", t->name);
}

bool ing_table_row(const struct ing_table *t, const struct ing_rows *rows, size_t i, unsigned seq,
	struct ing_buf *out)
{
	struct ing_cell cells[ING_MAX_COLUMNS] = {0};
	size_t start = out->len;
	t->fill(rows, i, cells);
	for (size_t k = 0; k < t->column_count; k++) {
		if (!ing_cell_write(&t->columns[k], &cells[k], out) || !ing_buf_add_char(out, '\t'))
			return drop_row(out, start);
	}
	return ing_buf_printf(out, "%u\n", seq) || drop_row(out, start);
}
