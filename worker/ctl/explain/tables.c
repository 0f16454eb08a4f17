/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the database knows. Rows become JSON on the server, so that a column that is added is seen in --json.
 * Times are UTC.
 */
#include "worker/ctl/explain/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/conf/conf.h"
#include "worker/database/schema.h"

#define MAX_PARAMS 4
#define MAX_URLS 100

static const char request_sql[] =
	"SELECT to_jsonb(r) || jsonb_build_object('list', l.name, 'list_source', l.source,"
	" 'also_in', (SELECT jsonb_agg(o.name ORDER BY o.name) FROM request_list_member m"
	"  JOIN request_list o ON o.list_id = m.list_id WHERE m.request_id = r.request_id))"
	" FROM ingest_request r LEFT JOIN request_list l ON l.list_id = r.list_id"
	" WHERE r.request_id = $1::uuid LIMIT 1";

/* $1: the document. A plan whose batches are all sent has none of it. */
static const char queued_sql[] =
	"SELECT jsonb_build_object('plan', p.name, 'topic', p.topic, 'queued', q.queued, 'unsent',"
	" EXISTS (SELECT FROM enqueue_batch b WHERE b.plan_id = q.plan_id AND q.document = ANY (b.documents)))"
	" FROM document_queued q JOIN enqueue_plan p ON p.plan_id = q.plan_id"
	" WHERE q.document = $1::uuid";

static const char result_sql[] =
	"SELECT to_jsonb(r) FROM ingest_file_result r WHERE r.ingest_type = $1 AND r.base_url = $2";

/* $1: URLs; of about the time of the result. */
static const char captures_sql[] =
	"SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.datetime, c.url), '[]') FROM"
	" (SELECT * FROM cdx WHERE url = ANY ($1::text[]) AND datetime BETWEEN $2 AND $3"
	"  ORDER BY datetime, url LIMIT 100) AS c";

static const char document_sql[] =
	"SELECT to_jsonb(f) || jsonb_build_object("
	" 'pdf', (SELECT jsonb_build_object('status', status, 'page_count', page_count, 'word_count',"
	"  word_count, 'has_page0_thumbnail', has_page0_thumbnail) FROM pdf_meta WHERE sha1hex = $1),"
	" 'html', (SELECT jsonb_build_object('status', status, 'scope', scope, 'word_count', word_count,"
	"  'has_teixml', has_teixml) FROM html_meta WHERE sha1hex = $1),"
	" 'grobid', (SELECT jsonb_build_object('status_code', status_code, 'status', status, 'version',"
	"  grobid_version) FROM grobid WHERE sha1hex = $1))"
	" FROM file_meta f WHERE f.sha1hex = $1";

/* There is no index on the key: the table holds what is between two commits. */
static const char outbox_sql[] =
	"SELECT jsonb_build_object('output', output, 'topic', topic, 'partition', partition, 'offset',"
	" \"offset\", 'created', created) FROM result_outbox WHERE key = convert_to($1, 'UTF8') LIMIT 1";

struct asking {
	struct ing_explain *e;
	struct ing_pg *pg;
	bool lost; /* said already */
};

static void take_json(void *ctx, const char *const *values, int count)
{
	json_t **ret = ctx;
	if (count == 1 && values[0] != NULL && *ret == NULL)
		*ret = ing_json_parse(values[0], strlen(values[0]), &ing_json_own, NULL);
}

/* A new reference, or NULL when there is no row. */
static json_t *ask(struct asking *a, const char *sql, const char *const *params, int count)
{
	struct ing_error err = {0};
	json_t *found = NULL;
	if (a->lost)
		return NULL;
	if (ing_pg_query(a->pg, NULL, sql, params, count, take_json, &found, &err) != ING_PG_OK) {
		a->lost = true;
		ing_explain_miss(a->e, "database", err.msg);
	}
	return found;
}

/* Takes found. */
static void keep(struct ing_explain *e, const char *name, json_t *found)
{
	e->found |= found != NULL;
	ing_json_set(e->life, name, found);
}

static void ask_request(struct asking *a)
{
	char id[33];
	snprintf(id, sizeof(id), "%.32s", a->e->id);
	keep(a->e, "request", ask(a, request_sql, (const char *const[]){id}, 1));
	const char *document = ing_json_get_text(ing_explain_get(a->e, "request"), "document");
	json_t *queued = NULL;
	if (document != NULL)
		queued = ask(a, queued_sql, &document, 1);
	keep(a->e, "queued", queued);
}

static void ask_result(struct asking *a)
{
	const json_t *request = ing_explain_get(a->e, "request");
	const char *key[] = {
		ing_json_get_text(request, "ingest_type"), ing_json_get_text(request, "base_url")};
	json_t *result = NULL;
	if (key[0] != NULL && key[1] != NULL)
		result = ask(a, result_sql, key, 2);
	keep(a->e, "result", result);
}

/* --- captures --- */

static void add_url(const char **urls, size_t *count, const char *url)
{
	if (url == NULL || *count == MAX_URLS)
		return;
	for (size_t i = 0; i < *count; i++)
		if (strcmp(urls[i], url) == 0)
			return;
	urls[(*count)++] = url;
}

/* "2026-11-23T07:30:00.123Z" and the like as datetime of cdx: its digits. */
static void digits_of(const char *time, char ret[15])
{
	size_t n = 0;
	for (; *time != '\0' && n < 14; time++)
		if (*time >= '0' && *time <= '9')
			ret[n++] = *time;
	ret[n] = '\0';
}

static void ask_captures(struct asking *a)
{
	const json_t *result = ing_explain_get(a->e, "result");
	const json_t *visits = json_object_get(result, "visits");
	const char *urls[MAX_URLS];
	const char *dt = ing_json_get_text(result, "terminal_dt");
	const char *came = ing_json_get_text(visits, "came");
	const char *updated = ing_json_get_text(result, "updated");
	char from[15] = "", until[15] = "";
	struct ing_buf list;
	const json_t *entry;
	size_t count = 0, i;
	if (dt != NULL)
		snprintf(from, sizeof(from), "%.14s", dt);
	if (came != NULL)
		digits_of(came, from);
	if (updated != NULL)
		digits_of(updated, until);
	add_url(urls, &count, ing_json_get_text(result, "terminal_url"));
	add_url(urls, &count, ing_json_get_text(result, "base_url"));
	json_array_foreach (json_object_get(visits, "urls"), i, entry)
		add_url(urls, &count, ing_json_get_text(entry, "url"));
	json_t *found = NULL;
	if (count > 0 && from[0] != '\0') {
		ing_buf_init(&list, (size_t)1 << 20);
		ing_pg_add_array(&list, urls, count);
		found = ask(
			a, captures_sql, (const char *const[]){ing_buf_str(&list), from, until}, 3);
		ing_buf_done(&list);
	}
	ing_json_set(a->e->life, "captures", found != NULL ? found : json_array());
}

static void ask_document(struct asking *a)
{
	const char *sha1 = ing_json_get_text(ing_explain_get(a->e, "result"), "terminal_sha1hex");
	ing_json_set(a->e->life, "document", sha1 != NULL ? ask(a, document_sql, &sha1, 1) : NULL);
}

static bool open_database(struct asking *a, struct ing_error *err)
{
	const char *dsn = a->e->conf->postgres.dsn;
	if (dsn[0] == '\0') {
		(void)ing_error_set(err, ING_FAIL_CONFIG, "postgres.dsn is empty");
		return false;
	}
	if (ing_schema_open(dsn, &a->pg, err) != 0)
		return false;
	if (ing_pg_exec(a->pg, "SET timezone = 'UTC'", err) == ING_PG_OK)
		return true;
	ing_pg_close(ING_TAKE(a->pg));
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_explain_tables(struct ing_explain *e, enum ing_explain_round round)
{
	struct asking a = {.e = e};
	struct ing_error err = {0};
	const char *id = e->id;
	if (round == ING_EXPLAIN_AFTER_TOPICS &&
		(ing_explain_get(e, "request") == NULL || e->without_database ||
			ing_explain_get(e, "result") != NULL))
		return;
	if (!open_database(&a, &err)) {
		e->without_database = true;
		ing_explain_miss(e, "database", err.msg);
		return;
	}
	e->answered = true;
	if (round == ING_EXPLAIN_FIRST) {
		ask_request(&a);
		keep(e, "outbox", ask(&a, outbox_sql, &id, 1));
	}
	ask_result(&a);
	ask_captures(&a);
	ask_document(&a);
	ing_pg_close(a.pg);
}
