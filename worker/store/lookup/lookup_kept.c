/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Publications and web pages that are kept. Database thread.
 *
 * First the states of all that are asked for, with one statement and without their records; then, one by
 * one, the records of those that may not be fetched yet: a record may have megabytes of text.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/publication/freshness.h"
#include "worker/store/lookup/lookup_priv.h"

#define MAX_KEYS_BYTES ((size_t)64 << 20)

#define STATE                                                                                      \
	"(extract(epoch FROM clock_timestamp() - p.updated) * 1000)::bigint,"                      \
	" to_char(p.updated AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'),"                \
	" p.fetch_time_ms, p.retry_counter, p.empty, p.final, p.fetch_exception"

/* Each key by its own index. The columns that take_state() reads. */
static const char publications_sql[] =
	"SELECT q.n, p.id, " STATE ", p.usable,"
	" CASE WHEN p.usable THEN 'success' ELSE 'empty-publication' END"
	" FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])"
	" WITH ORDINALITY AS q (pmid, pmcid, doi, url, n)"
	" CROSS JOIN LATERAL (SELECT id FROM publication WHERE pmid = q.pmid"
	" UNION SELECT id FROM publication WHERE pmcid = q.pmcid"
	" UNION SELECT id FROM publication WHERE doi = q.doi"
	" UNION SELECT id FROM publication WHERE url = q.url) AS found"
	" JOIN publication p ON p.id = found.id";

static const char webpages_sql[] = "SELECT q.n, p.start_url, " STATE
				   ", coalesce(r.hit, p.usable), coalesce(r.status, 'success')"
				   " FROM unnest($1::text[]) WITH ORDINALITY AS q (url, n)"
				   " JOIN webpage p ON p.start_url = q.url"
				   " LEFT JOIN ingest_file_result r"
				   " ON r.ingest_type = 'webpage' AND r.base_url = p.start_url";

/* The loop reads a record within a turn: 10 ns a byte. The long text of a longer one is left out, and that is
 * said, as in a message that is too small. */
#define RECORD(text, dropped)                                                                      \
	"CASE WHEN octet_length(record::text) <= 4194304 OR record->'" text "' IS NULL"            \
	" THEN record ELSE record || '{\"" text "\": null, \"" dropped "\": true}'::jsonb END"

static const char publication_record_sql[] =
	"SELECT " RECORD("fulltext", "fulltext_dropped") " FROM publication WHERE id = $1::bigint";
static const char webpage_record_sql[] =
	"SELECT " RECORD("content", "content_dropped") " FROM webpage WHERE start_url = $1";

struct ask {
	struct ing_lookup_question *const *questions;
	size_t count;
};

static bool is_webpage(const struct ing_lookup_question *q)
{
	return q->kind == ING_LOOKUP_WEBPAGE;
}

static bool is_true(const char *s)
{
	return s != NULL && s[0] == 't';
}

/* Two rows for the identifiers of one request: a fetch tells which is right. */
static void take_state(void *ctx, const char *const *values, int count)
{
	const struct ask *ask = ctx;
	(void)count;
	size_t n = ing_pg_unsigned(values[0]);
	ing_must(n >= 1 && n <= ask->count);
	struct ing_lookup_question *q = ask->questions[n - 1];
	const struct ing_freshness_state state = {.fetch_time_ms = ing_pg_int64(values[4]),
		.retry_counter = ing_pg_int64(values[5]),
		.empty = is_true(values[6]),
		.final = is_true(values[7]),
		.exception = is_true(values[8])};
	q->rows_found++;
	q->row_id = ing_arena_strdup(&q->ar, values[1]);
	q->may_be_fetched =
		ing_freshness(&q->kept.rules, &state, q->kept.now_ms) != ING_FRESHNESS_KEPT;
	q->result.age_ms = (uint64_t)ING_MAX(ing_pg_int64(values[2]), 0);
	q->result.updated = ing_arena_strdup(&q->ar, values[3]);
	q->result.rows.result = (struct ing_row_result){.present = true,
		.ingest_type = is_webpage(q) ? "webpage" : "publication",
		.base_url = q->kept.url,
		.hit = is_true(values[9]),
		.status = ing_arena_strdup(&q->ar, values[10])};
}

static void take_record(void *ctx, const char *const *values, int count)
{
	struct ing_lookup_question *q = ctx;
	(void)count;
	struct ing_row_kept *row =
		is_webpage(q) ? &q->result.rows.webpage : &q->result.rows.publication;
	row->present = true;
	row->url = q->kept.url;
	row->record_json = ing_arena_strdup(&q->ar, values[0]);
	q->found = true;
}

static enum ing_pg_rc read_record(
	struct ing_pg *pg, struct ing_lookup_question *q, struct ing_error *err)
{
	const char *params[] = {q->row_id};
	return ing_pg_query(pg, is_webpage(q) ? "web page" : "publication",
		is_webpage(q) ? webpage_record_sql : publication_record_sql, params, 1, take_record,
		q, err);
}

static const char *key_of(const struct ing_lookup_kept *k, size_t i)
{
	const char *const keys[] = {k->pmid, k->pmcid, k->doi, k->url};
	return keys[i] != NULL ? keys[i] : "";
}

/* The i-th keys of all questions as an array. */
static void add_keys(const struct ask *ask, size_t i, struct ing_buf *out)
{
	const char **texts = ing_alloc(ask->count * sizeof(*texts));
	for (size_t k = 0; k < ask->count; k++)
		texts[k] = key_of(&ask->questions[k]->kept, i);
	ing_buf_init(out, MAX_KEYS_BYTES);
	ing_pg_add_array(out, texts, ask->count);
	ing_must(!out->failed);
	free(texts);
}

static enum ing_pg_rc ask_states(struct ing_pg *pg, struct ask *ask, struct ing_error *err)
{
	struct ing_buf keys[4];
	const char *params[4];
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		add_keys(ask, i, &keys[i]);
		params[i] = ing_buf_str(&keys[i]);
	}
	enum ing_pg_rc rc = is_webpage(ask->questions[0])
				    ? ing_pg_query(pg, "web pages", webpages_sql, &params[3], 1,
					      take_state, ask, err)
				    : ing_pg_query(pg, "publications", publications_sql, params, 4,
					      take_state, ask, err);
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++)
		ing_buf_done(&keys[i]);
	return rc;
}

/* ------------------------------------------------------------------------------------------ */

enum ing_pg_rc ing_lookup_ask_kept(struct ing_pg *pg, struct ing_lookup_question *const *questions,
	size_t count, struct ing_error *err)
{
	struct ask ask = {questions, count};
	for (size_t i = 0; i < count; i++) {
		questions[i]->rows_found = 0;
		questions[i]->found = false;
	}
	enum ing_pg_rc rc = ask_states(pg, &ask, err);
	for (size_t i = 0; i < count && rc == ING_PG_OK; i++) {
		struct ing_lookup_question *q = questions[i];
		if (q->rows_found == 1 && !q->may_be_fetched)
			rc = read_record(pg, q, err);
	}
	return rc;
}
