/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One record after the other: read what shares a key with it, merge, write. Rows are few beside the requests
 * that a publication costs, so statements are not grouped further than that.
 */
#include "worker/store/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/base/utf8.h"
#include "worker/model/limits.h"
#include "worker/model/rows.h"
#include "worker/publication/kept.h"
#include "worker/store/cell.h"
#include "worker/store/store.h"

/* First number of the locks; the second is a key's bucket. The server has room for some thousand locks. */
#define LOCK_CLASS "1229866832"
#define BUCKETS 512u
/* All workers must find the same bucket. */
static const uint64_t bucket_key[2] = {0x696e67657374u, 0x7265636f7264u};
#define MAX_RECORD_BYTES ((size_t)64 << 20)
#define MAX_IDS_BYTES 4096

static const char *const ids[] = {"pmid", "pmcid", "doi"};

struct kept_row {
	char id[24];
	char *url; /* or NULL */
	json_t *record;
	enum ing_kept_relation relation;
};

/* One publication on its way. */
struct merge {
	struct ing_pg *pg;
	const struct ing_row_kept *row;
	json_t *record; /* what becomes of it */
	char *url;
	struct kept_row *rows;
	size_t count;
};

/* --- locks --- */

struct locks {
	bool taken[BUCKETS];
};

static void add_lock(struct locks *l, const char *key)
{
	if (key != NULL)
		l->taken[ing_siphash(bucket_key, key, strlen(key)) % BUCKETS] = true;
}

static enum ing_pg_rc take_locks(struct ing_pg *pg, const struct locks *l, struct ing_error *err)
{
	struct ing_buf list;
	ing_buf_init(&list, BUCKETS * 8);
	for (unsigned i = 0; i < BUCKETS; i++)
		if (l->taken[i])
			ing_buf_printf(&list, "%s%u", list.len == 0 ? "{" : ",", i);
	ing_buf_add_char(&list, '}');
	const char *params[] = {ing_buf_str(&list)};
	enum ing_pg_rc rc = list.len <= 1 ? ING_PG_OK
					  : ing_pg_query(pg, "record locks",
						    "SELECT pg_advisory_xact_lock(" LOCK_CLASS
						    ", bucket) FROM unnest($1::int[]) AS bucket",
						    params, 1, NULL, NULL, err);
	ing_buf_done(&list);
	return rc;
}

/* --- values --- */

static json_t *read_record(const char *json)
{
	json_t *record =
		json != NULL ? ing_json_parse(json, strlen(json), &ing_json_own, NULL) : NULL;
	if (json_is_object(record))
		return record;
	json_decref(record);
	return NULL;
}

/* Text for jsonb. False: it is too long. */
static bool add_record(struct ing_buf *out, const json_t *record)
{
	size_t bytes = 0;
	char *json = ing_json_dump(record, &bytes);
	ing_buf_init(out, MAX_RECORD_BYTES);
	ing_json_fit(json, bytes, out);
	free(json);
	return !out->failed;
}

static char *usable_url(const char *url)
{
	bool fits = url != NULL && url[0] != '\0' && strlen(url) <= ING_MAX_BASE_URL_BYTES;
	return fits ? ing_utf8_clean(url, strlen(url), NULL) : NULL;
}

/* --- publications --- */

static void take_row(void *ctx, const char *const *values, int count)
{
	struct merge *m = ctx;
	(void)count;
	m->rows = ing_realloc(m->rows, (m->count + 1) * sizeof(*m->rows));
	struct kept_row *row = &m->rows[m->count++];
	*row = (struct kept_row){.record = read_record(values[1]),
		.url = values[2] != NULL ? ing_strdup(values[2]) : NULL};
	if (row->record == NULL)
		row->record = json_object(); /* nothing of it is worth keeping */
	snprintf(row->id, sizeof(row->id), "%s", values[0]);
}

static enum ing_pg_rc find_rows(struct merge *m, struct ing_error *err)
{
	const char *params[] = {ing_kept_id(m->record, ids[0]), ing_kept_id(m->record, ids[1]),
		ing_kept_id(m->record, ids[2]), m->url};
	return ing_pg_query(m->pg, "records of a publication",
		"SELECT id, record, url FROM publication WHERE pmid = $1 OR pmcid = $2 OR doi = $3"
		" OR url = $4 ORDER BY id FOR UPDATE",
		params, 4, take_row, m, err);
}

/* In the order of the rows: what the first has added to the record counts for the next. */
static void merge_rows(struct merge *m)
{
	json_t *merged;
	enum ing_keep how = m->row->how;
	for (size_t i = 0; i < m->count; i++) {
		struct kept_row *r = &m->rows[i];
		r->relation = ing_kept_relation(r->record, m->record);
		switch (r->relation) {
		case ING_KEPT_SAME:
			merged = ing_publication_merged(r->record, m->record, how, &m->row->rules);
			json_decref(m->record);
			m->record = merged;
			how = ING_KEEP_IMPORTED; /* the fetch has been counted */
			if (m->url == NULL)
				m->url = ING_TAKE(r->url);
			break;
		case ING_KEPT_STALE:
			break;
		case ING_KEPT_OTHER_LOSES:
			ing_kept_take_ids(r->record, m->record);
			if (r->url != NULL && m->url != NULL && strcmp(r->url, m->url) == 0)
				free(ING_TAKE(r->url));
			break;
		case ING_KEPT_OTHER_STAYS:
			ing_kept_take_ids(m->record, r->record);
			if (r->url != NULL && m->url != NULL && strcmp(r->url, m->url) == 0)
				free(ING_TAKE(m->url));
			break;
		}
	}
}

static bool is_replaced(const struct kept_row *r)
{
	return r->relation == ING_KEPT_SAME || r->relation == ING_KEPT_STALE;
}

/* Has lost all that it could be found by. */
static bool is_nothing(const struct kept_row *r)
{
	return r->relation == ING_KEPT_OTHER_LOSES && r->url == NULL && !ing_kept_has_id(r->record);
}

/* The first row that is replaced takes the record. */
static const char *primary_id(const struct merge *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (is_replaced(&m->rows[i]))
			return m->rows[i].id;
	return NULL;
}

static void list_rows(const struct merge *m, bool deleted_only, struct ing_buf *out)
{
	const char *primary = primary_id(m);
	ing_buf_init(out, MAX_IDS_BYTES);
	for (size_t i = 0; i < m->count; i++) {
		const struct kept_row *r = &m->rows[i];
		bool is_deleted = is_nothing(r) || (is_replaced(r) && r->id != primary);
		if (!deleted_only || is_deleted)
			ing_buf_printf(out, "%s%s", out->len == 0 ? "{" : ",", r->id);
	}
	ing_buf_add_str(out, out->len == 0 ? "{}" : "}");
}

static void take_count(void *ctx, const char *const *values, int count)
{
	(void)count;
	*(int64_t *)ctx = ing_pg_int64(values[0]);
}

/* Another row has come by one of the keys since the rows were found. */
static enum ing_pg_rc check_rows(const struct merge *m, struct ing_error *err)
{
	struct ing_buf rows;
	int64_t others = 0;
	list_rows(m, false, &rows);
	const char *params[] = {ing_kept_id(m->record, ids[0]), ing_kept_id(m->record, ids[1]),
		ing_kept_id(m->record, ids[2]), m->url, ing_buf_str(&rows)};
	enum ing_pg_rc rc = ing_pg_query(m->pg, "other records of a publication",
		"SELECT count(*) FROM publication WHERE (pmid = $1 OR pmcid = $2 OR doi = $3"
		" OR url = $4) AND id <> ALL ($5::bigint[])",
		params, 5, take_count, &others, err);
	ing_buf_done(&rows);
	return rc == ING_PG_OK && others > 0 ? ING_PG_CONFLICT : rc;
}

static enum ing_pg_rc delete_rows(const struct merge *m, struct ing_error *err)
{
	struct ing_buf rows;
	list_rows(m, true, &rows);
	const char *params[] = {ing_buf_str(&rows)};
	enum ing_pg_rc rc =
		strcmp(params[0], "{}") == 0
			? ING_PG_OK
			: ing_pg_query(m->pg, "merged records",
				  "DELETE FROM publication WHERE id = ANY ($1::bigint[])", params,
				  1, NULL, NULL, err);
	ing_buf_done(&rows);
	return rc;
}

/* id NULL: a new row. */
static enum ing_pg_rc write_row(struct ing_pg *pg, const char *id, const json_t *record,
	const char *url, struct ing_error *err)
{
	struct ing_buf json;
	enum ing_pg_rc rc = ING_PG_REFUSED;
	if (!add_record(&json, record)) {
		ing_error_set(err, ING_FAIL_TOO_BIG, "a record is too large");
	} else if (id != NULL) {
		const char *params[] = {id, ing_buf_str(&json), url};
		rc = ing_pg_query(pg, "changed record",
			"UPDATE publication SET updated = now(), record = $2::jsonb, url = $3"
			" WHERE id = $1::bigint",
			params, 3, NULL, NULL, err);
	} else {
		const char *params[] = {ing_buf_str(&json), url};
		rc = ing_pg_query(pg, "new record",
			"INSERT INTO publication (record, url) VALUES ($1::jsonb, $2)", params, 2,
			NULL, NULL, err);
	}
	ing_buf_done(&json);
	return rc;
}

static enum ing_pg_rc write_rows(struct merge *m, struct ing_error *err)
{
	enum ing_pg_rc rc = delete_rows(m, err);
	for (size_t i = 0; i < m->count && rc == ING_PG_OK; i++) {
		const struct kept_row *r = &m->rows[i];
		if (r->relation == ING_KEPT_OTHER_LOSES && !is_nothing(r))
			rc = write_row(m->pg, r->id, r->record, r->url, err);
	}
	if (rc == ING_PG_OK && (m->url != NULL || ing_kept_has_id(m->record)))
		rc = write_row(m->pg, primary_id(m), m->record, m->url, err);
	return rc;
}

static void merge_done(struct merge *m)
{
	for (size_t i = 0; i < m->count; i++) {
		json_decref(m->rows[i].record);
		free(m->rows[i].url);
	}
	free(m->rows);
	free(m->url);
	json_decref(m->record);
}

static enum ing_pg_rc write_publication(struct ing_pg *pg, const struct ing_row_kept *row,
	uint64_t *ret_skipped, struct ing_error *err)
{
	json_t *fresh = read_record(row->record_json);
	struct merge m = {.pg = pg, .row = row, .url = usable_url(row->url)};
	enum ing_pg_rc rc = ING_PG_OK;
	m.record = ing_publication_settled(fresh);
	bool has_key = fresh != NULL && (m.url != NULL || ing_kept_has_id(m.record));
	json_decref(fresh);
	if (!has_key) {
		(*ret_skipped)++;
	} else {
		ing_kept_first(m.record, row->how);
		rc = find_rows(&m, err);
		if (rc == ING_PG_OK) {
			merge_rows(&m);
			rc = check_rows(&m, err);
		}
		if (rc == ING_PG_OK)
			rc = write_rows(&m, err);
	}
	merge_done(&m);
	return rc;
}

/* --- web pages --- */

static void take_webpage(void *ctx, const char *const *values, int count)
{
	(void)count;
	*(json_t **)ctx = read_record(values[0]);
}

static enum ing_pg_rc put_webpage(struct ing_pg *pg, const char *url,
	const struct ing_row_kept *row, json_t *fresh, struct ing_error *err)
{
	const char *key[] = {url};
	json_t *kept = NULL;
	json_t *record = ing_webpage_settled(fresh);
	enum ing_pg_rc rc = ing_pg_query(pg, "record of a web page",
		"SELECT record FROM webpage WHERE start_url = $1 FOR UPDATE", key, 1, take_webpage,
		&kept, err);
	ing_kept_first(record, row->how);
	if (kept != NULL) {
		json_t *merged = ing_webpage_merged(kept, record, row->how, &row->rules);
		json_decref(record);
		record = merged;
	}
	struct ing_buf json = {0};
	if (rc == ING_PG_OK && !add_record(&json, record)) {
		ing_error_set(err, ING_FAIL_TOO_BIG, "a record is too large");
		rc = ING_PG_REFUSED;
	} else if (rc == ING_PG_OK) {
		const char *params[] = {url, ing_buf_str(&json)};
		rc = ing_pg_query(pg, "changed web page",
			"INSERT INTO webpage (start_url, record) VALUES ($1, $2::jsonb)"
			" ON CONFLICT (start_url) DO UPDATE SET updated = now(), record = excluded.record",
			params, 2, NULL, NULL, err);
	}
	ing_buf_done(&json);
	json_decref(kept);
	json_decref(record);
	return rc;
}

static enum ing_pg_rc write_webpage(struct ing_pg *pg, const struct ing_row_kept *row,
	uint64_t *ret_skipped, struct ing_error *err)
{
	json_t *fresh = read_record(row->record_json);
	char *url = usable_url(row->url);
	enum ing_pg_rc rc = ING_PG_OK;
	if (fresh == NULL || url == NULL)
		(*ret_skipped)++;
	else
		rc = put_webpage(pg, url, row, fresh, err);
	json_decref(fresh);
	free(url);
	return rc;
}

static void add_locks(struct locks *l, const struct ing_rows *rows)
{
	if (rows->publication.present) {
		json_t *record = read_record(rows->publication.record_json);
		for (size_t i = 0; i < ING_ARRAY_LEN(ids); i++)
			add_lock(l, ing_kept_id(record, ids[i]));
		add_lock(l, rows->publication.url);
		json_decref(record);
	}
	if (rows->webpage.present)
		add_lock(l, rows->webpage.url);
}

/* -------------------------------------------------------------------------------------------- */

enum ing_pg_rc ing_records_write(struct ing_pg *pg, struct ing_store_item *const *items,
	size_t count, uint64_t *ret_skipped, struct ing_error *err)
{
	struct locks locks = {0};
	for (size_t i = 0; i < count; i++)
		if (items[i]->end == ING_STORE_STORED)
			add_locks(&locks, items[i]->rows);
	enum ing_pg_rc rc = take_locks(pg, &locks, err);
	for (size_t i = 0; i < count && rc == ING_PG_OK; i++) {
		const struct ing_rows *rows = items[i]->rows;
		if (items[i]->end != ING_STORE_STORED)
			continue;
		if (rows->publication.present)
			rc = write_publication(pg, &rows->publication, ret_skipped, err);
		if (rows->webpage.present && rc == ING_PG_OK)
			rc = write_webpage(pg, &rows->webpage, ret_skipped, err);
	}
	return rc;
}
