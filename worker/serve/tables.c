/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One connection for both: rows are written as they come, those that came while others were written together. A question is
 * the loop's again as soon as it has waited for ANSWER_MS; what the thread finds out later is thrown away.
 */
#include "worker/serve/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include <uv.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/data/pace.h"
#include "common/data/pg_thread.h"
#include "common/net/url.h"
#include "common/net/url_mask.h"
#include "worker/database/schema.h"
#include "worker/model/ingest_type.h"
#include "worker/model/limits.h"
#include "worker/model/mask.h"
#include "worker/model/request.h"
#include "worker/model/request_facts.h"
#include "worker/model/request_row.h"
#include "worker/model/settings.h"

#define ANSWER_MS 5000
#define MAX_QUESTIONS 1000
#define MAX_ROWS 100000 /* that wait */
#define MAX_ROWS_BYTES ((size_t)64 << 20)
#define ROWS_A_STATEMENT 500
#define MAX_ARRAY_BYTES ((size_t)256 << 20)
#define SAY_EVERY_MS 60000

enum kind { ROW, REQUEST, DOCUMENT };

/* A row to be written, or a question. The thread's between push and hand-back. */
struct item {
	struct ing_node node;
	enum kind kind;
	struct ing_arena ar;
	struct ing_row_request row;
	const char *key;       /* of REQUEST: UUID */
	const char *documents; /* of DOCUMENT: arrays as text */
	const char *types, *urls;
	bool found, too_slow;
	char *json; /* heap */
	/* the loop's alone */
	struct ing_tables_question *question; /* NULL: nobody waits for it any more */
};

struct ing_tables_question {
	struct ing_tables *tables;
	struct item *item;
	ing_tables_answer_f *done;
	void *ctx;
	uint64_t deadline_ms;
	struct ing_tables_question *prev, *next;
};

struct ing_tables {
	struct ing_pg_thread *thread;
	struct ing_pace pace;
	struct ing_tables_question *questions;
	size_t question_count, row_count, row_bytes;
	uint64_t lost_rows;
	struct ing_log_throttle gate;
};

#define RFC3339 "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'"

/* What a result is as far as the tables have it, of r, f and c. */
#define RESULT_JSON                                                                                \
	"jsonb_strip_nulls(jsonb_build_object("                                                    \
	"'request', jsonb_build_object('ingest_type', r.ingest_type, 'base_url', r.base_url),"     \
	"'hit', r.hit, 'status', r.status, 'error_message', r.error_message,"                      \
	"'updated', to_char(r.updated AT TIME ZONE 'UTC', " RFC3339 "),"                           \
	"'attempts', r.attempts, 'next_try', to_char(r.next_try AT TIME ZONE 'UTC', " RFC3339 ")," \
	"'terminal', CASE WHEN r.terminal_url IS NOT NULL THEN jsonb_build_object("                \
	"'terminal_url', r.terminal_url, 'terminal_dt', r.terminal_dt,"                            \
	"'terminal_status_code', r.terminal_status_code,"                                          \
	"'terminal_sha1hex', r.terminal_sha1hex) END,"                                             \
	"'file_meta', CASE WHEN f.sha1hex IS NOT NULL THEN jsonb_build_object("                    \
	"'size_bytes', f.size_bytes, 'md5hex', f.md5hex, 'sha1hex', f.sha1hex,"                    \
	"'sha256hex', f.sha256hex, 'mimetype', f.mimetype) END,"                                   \
	"'cdx', CASE WHEN c.warc_path IS NOT NULL THEN jsonb_build_object('datetime', c.datetime," \
	"'url', c.url, 'sha1hex', c.sha1hex, 'mimetype', c.mimetype, 'warc_path', c.warc_path,"    \
	"'warc_csize', c.warc_csize, 'warc_offset', c.warc_offset) END))"

#define RESULT_JOINS                                                                               \
	" LEFT JOIN file_meta f ON f.sha1hex = r.terminal_sha1hex"                                 \
	" LEFT JOIN cdx c ON c.url = r.terminal_url AND c.datetime = r.terminal_dt"

/* Of a request that was asked for again its older result tells nothing: but which of two is older is not told by rows
 * whose times come from the same clock a second apart, so what there is is shown. */
static const char request_sql[] =
	"SELECT jsonb_strip_nulls(jsonb_build_object("
	"'state', CASE WHEN r.status IS NULL THEN 'queued' ELSE 'done' END,"
	"'request', jsonb_strip_nulls(jsonb_build_object('ingest_type', q.ingest_type,"
	"'base_url', q.base_url, 'link_source', nullif(q.link_source, ''),"
	"'link_source_id', nullif(q.link_source_id, ''),"
	"'ingest_request_source', q.ingest_request_source,"
	"'created', to_char(q.created AT TIME ZONE 'UTC', " RFC3339 "))),"
	"'result', CASE WHEN r.status IS NOT NULL THEN " RESULT_JSON " END))"
	" FROM ingest_request q LEFT JOIN ingest_file_result r"
	" ON r.ingest_type = q.ingest_type AND r.base_url = q.base_url" RESULT_JOINS
	" WHERE q.request_id = $1::uuid ORDER BY q.created LIMIT 1";

static const char document_sql[] =
	"SELECT jsonb_agg(" RESULT_JSON " ORDER BY r.hit DESC, r.updated DESC) FROM ("
	"SELECT * FROM ingest_file_result WHERE document = ANY ($1::uuid[])"
	" UNION SELECT * FROM ingest_file_result WHERE ingest_type = ANY ($2::text[])"
	" AND base_url = ANY ($3::text[]) LIMIT 100) r" RESULT_JOINS;

/* The first stays, and what is asked for again is no new request. In the order of the key, so that processes do not
 * deadlock. */
static const char insert_sql[] =
	"INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url,"
	" ingest_request_source, release_stage, request, request_id, document, host, doi_prefix)"
	" SELECT * FROM (SELECT DISTINCT ON (a, b, c, d) a, b, c, d, nullif(e, ''), nullif(f, ''),"
	" g::jsonb, h::uuid, i::uuid, nullif(j, ''), nullif(k, '')"
	" FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],"
	" $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])"
	" AS x (a, b, c, d, e, f, g, h, i, j, k) ORDER BY a, b, c, d) AS y ON CONFLICT DO NOTHING";

/* --- in the thread --- */

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	(void)ctx;
	return ing_schema_prepare(pg, NULL, err);
}

static void take_json(void *ctx, const char *const *values, int count)
{
	struct item *it = ctx;
	if (count < 1 || values[0] == NULL || it->json != NULL)
		return;
	it->found = true;
	it->json = ing_strdup(values[0]);
}

struct asking {
	struct item *item;
	const struct ing_pace *pace;
};

static enum ing_pg_rc ask(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	struct asking *q = ctx;
	struct item *it = q->item;
	const char *params[] = {it->documents, it->types, it->urls};
	free(ING_TAKE(it->json));
	it->found = false;
	enum ing_pg_rc rc = ing_pg_set_limits(pg, q->pace, err);
	if (rc == ING_PG_OK && it->kind == REQUEST)
		rc = ing_pg_query(
			pg, "serve_request", request_sql, &it->key, 1, take_json, it, err);
	else if (rc == ING_PG_OK)
		rc = ing_pg_query(
			pg, "serve_document", document_sql, params, 3, take_json, it, err);
	it->too_slow = rc == ING_PG_SLOW || rc == ING_PG_LOCKED;
	return it->too_slow ? ING_PG_REFUSED : rc;
}

struct rows {
	const struct ing_pace *pace;
	struct item *items[ROWS_A_STATEMENT];
	size_t count;
};

enum { COLUMNS = 11 };

static void row_texts(const struct ing_row_request *r, const char *ret[COLUMNS])
{
	const char *texts[COLUMNS] = {r->link_source, r->link_source_id, r->ingest_type,
		r->base_url, r->ingest_request_source, r->release_stage, r->request_json,
		r->request_id, r->document, r->host, r->doi_prefix};
	for (int c = 0; c < COLUMNS; c++)
		ret[c] = texts[c] != NULL ? texts[c] : "";
}

static enum ing_pg_rc insert(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	struct rows *rows = ctx;
	struct ing_buf arrays[COLUMNS];
	const char *params[COLUMNS];
	const char *texts[ROWS_A_STATEMENT][COLUMNS];
	const char *column[ROWS_A_STATEMENT];
	for (size_t i = 0; i < rows->count; i++)
		row_texts(&rows->items[i]->row, texts[i]);
	for (int c = 0; c < COLUMNS; c++) {
		for (size_t i = 0; i < rows->count; i++)
			column[i] = texts[i][c];
		ing_buf_init(&arrays[c], MAX_ARRAY_BYTES);
		ing_pg_add_array(&arrays[c], column, rows->count);
		params[c] = ing_buf_str(&arrays[c]);
	}
	enum ing_pg_rc rc = ing_pg_set_limits(pg, rows->pace, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_query(pg, "serve_insert", insert_sql, params, COLUMNS, NULL, NULL, err);
	for (int c = 0; c < COLUMNS; c++)
		ing_buf_done(&arrays[c]);
	return rc;
}

static void write_rows(struct ing_tables *t, struct rows *rows)
{
	struct ing_error err = {0};
	if (rows->count == 0)
		return;
	if (ing_pg_thread_run(t->thread, insert, rows, &err) == ING_PG_REFUSED) {
		if (rows->count > 1) {
			for (size_t i = 0; i < rows->count; i++) {
				struct rows one = {&t->pace, {rows->items[i]}, 1};
				write_rows(t, &one);
			}
			return;
		}
		ing_log(ING_LOG_WARNING, "database: the row of a request is refused: %s", err.msg);
	}
}

static void answer(struct ing_tables *t, struct item *it)
{
	struct ing_error err = {0};
	struct asking q = {it, &t->pace};
	if (ing_pg_thread_run(t->thread, ask, &q, &err) == ING_PG_REFUSED)
		ing_log(ING_LOG_WARNING, "database: a question is not answered: %s", err.msg);
}

static void work(void *ctx)
{
	struct ing_tables *t = ctx;
	struct ing_node *node = ing_pg_thread_take(t->thread, -1);
	while (node != NULL && !ing_pg_thread_stopping(t->thread)) {
		struct rows rows = {.pace = &t->pace};
		struct ing_node *end = node;
		while (end != NULL && rows.count < ROWS_A_STATEMENT) {
			struct item *it = ING_CONTAINER(end, struct item, node);
			if (it->kind != ROW)
				break;
			rows.items[rows.count++] = it;
			end = end->next;
		}
		write_rows(t, &rows);
		if (rows.count == 0) {
			answer(t, ING_CONTAINER(node, struct item, node));
			end = node->next;
		}
		while (node != end) {
			struct ing_node *next = node->next;
			ing_pg_thread_hand_back(t->thread, node);
			node = next;
		}
	}
	while (node != NULL) { /* stopping: dropped by the loop */
		struct ing_node *next = node->next;
		ing_pg_thread_hand_back(t->thread, node);
		node = next;
	}
}

static void trouble(void *ctx, const struct ing_error *err)
{
	(void)ctx;
	if (err != NULL)
		ing_log(ING_LOG_WARNING, "database: serving goes on without it: %s", err->msg);
	else
		ing_log(ING_LOG_INFO, "database: it answers again");
}

/* --- on the loop --- */

static void free_item(struct item *it)
{
	ing_arena_done(&it->ar);
	free(it->json);
	free(it);
}

static void end_question(struct ing_tables_question *q, enum ing_tables_end end, const char *json)
{
	struct ing_tables *t = q->tables;
	ing_tables_answer_f *done = q->done;
	void *ctx = q->ctx;
	DL_DELETE(t->questions, q);
	if (q->item != NULL)
		q->item->question = NULL;
	free(q);
	done(ctx, end, json);
}

static void finish(struct ing_tables *t, struct item *it)
{
	if (it->kind == ROW) {
		t->row_count--;
		t->row_bytes -= it->ar.used_bytes;
	} else {
		t->question_count--;
		enum ing_tables_end end = it->found      ? ING_TABLES_FOUND
					  : it->too_slow ? ING_TABLES_AWAY
							 : ING_TABLES_NONE;
		if (it->question != NULL)
			end_question(it->question, end, it->json);
	}
	free_item(it);
}

static void finished(void *ctx, struct ing_node *items)
{
	while (items != NULL) {
		struct ing_node *next = items->next;
		finish(ctx, ING_CONTAINER(items, struct item, node));
		items = next;
	}
}

static void drop(void *ctx, struct ing_node *node)
{
	(void)ctx;
	struct item *it = ING_CONTAINER(node, struct item, node);
	if (it->question != NULL)
		it->question->item = NULL;
	free_item(it);
}

static struct item *new_item(enum kind kind)
{
	struct item *it = ing_alloc(sizeof(*it));
	it->kind = kind;
	ing_arena_init(&it->ar);
	return it;
}

static struct ing_tables_question *push_question(
	struct ing_tables *t, struct item *it, ing_tables_answer_f *done, void *ctx)
{
	struct ing_tables_question *q = ing_alloc(sizeof(*q));
	*q = (struct ing_tables_question){.tables = t,
		.done = done,
		.ctx = ctx,
		.item = it,
		.deadline_ms = ing_now_ms() + ANSWER_MS};
	DL_APPEND(t->questions, q);
	it->question = q;
	if (ing_pg_thread_blocked(t->thread) || t->question_count >= MAX_QUESTIONS) {
		q->deadline_ms = 0; /* at the next tick */
		q->item = NULL;
		free_item(it);
		return q;
	}
	t->question_count++;
	ing_pg_thread_push(t->thread, &it->node);
	return q;
}

static const char *array_of(struct ing_arena *ar, const char *const *texts, size_t count)
{
	struct ing_buf b;
	ing_buf_init(&b, 16 * ING_URL_MAX_BYTES);
	ing_pg_add_array(&b, texts, count);
	const char *copy = ing_arena_strdup(ar, ing_buf_str(&b));
	ing_buf_done(&b);
	return copy;
}

static void lose_row(struct ing_tables *t)
{
	t->lost_rows++;
	ing_log_throttled(&t->gate, SAY_EVERY_MS, ING_LOG_WARNING,
		"database: away for so long that rows of requests are not kept any more: %" PRIu64
		" so far",
		t->lost_rows);
}

/* ------------------------------------------------------------------------------------------ */

int ing_tables_new(struct uv_loop_s *loop, const struct ing_postgres_settings *conf,
	struct ing_tables **ret, struct ing_error *err)
{
	struct ing_tables *t = ing_alloc(sizeof(*t));
	const struct ing_pg_thread_conf thread = {.name = "tables",
		.dsn = conf->dsn,
		.ctx = t,
		.connects_later = true,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished,
		.drop = drop};
	ing_pace_init(&t->pace, ROWS_A_STATEMENT, conf->statement_ms);
	int rc = ing_pg_thread_new(&thread, &t->thread, err);
	if (rc != 0) {
		free(t);
		return rc;
	}
	ing_pg_thread_start(t->thread, loop);
	*ret = t;
	return 0;
}

void ing_tables_free(struct ing_tables *t, int wait_ms)
{
	if (t == NULL)
		return;
	uint64_t end = ing_now_ms() + (uint64_t)wait_ms;
	while (t->row_count > 0 && !ing_pg_thread_blocked(t->thread) && ing_now_ms() < end)
		finished(t, ing_pg_thread_wait(t->thread, 50));
	if (t->row_count > 0)
		ing_log(ING_LOG_WARNING, "database: rows of %zu requests were not written",
			t->row_count);
	ing_pg_thread_free(t->thread);
	while (t->questions != NULL)
		ing_tables_cancel(t->questions);
	free(t);
}

void ing_tables_add(struct ing_tables *t, const struct ing_request *r)
{
	struct ing_buf masked;
	if (t == NULL)
		return;
	/* What is stored without its user information would be another request. */
	ing_buf_init(&masked, 4 * ING_MAX_REQUEST_BYTES);
	bool secret = ing_url_mask(r->base_url, strlen(r->base_url), &masked);
	ing_buf_done(&masked);
	if (secret || strlen(r->base_url) > ING_MAX_BASE_URL_BYTES)
		return;
	if (t->row_count >= MAX_ROWS || t->row_bytes >= MAX_ROWS_BYTES) {
		lose_row(t);
		return;
	}
	struct item *it = new_item(ROW);
	struct ing_row_request row;
	ing_request_row(r, &it->ar, &row);
	const char **texts[] = {&row.link_source, &row.link_source_id, &row.ingest_type,
		&row.base_url, &row.ingest_request_source, &row.release_stage};
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		*texts[i] = ing_arena_strdup(&it->ar, *texts[i]);
	it->row = row;
	t->row_count++;
	t->row_bytes += it->ar.used_bytes;
	ing_pg_thread_push(t->thread, &it->node);
}

bool ing_tables_away(const struct ing_tables *t)
{
	return ing_pg_thread_blocked(t->thread);
}

struct ing_tables_question *ing_tables_ask_request(
	struct ing_tables *t, const char *key, ing_tables_answer_f *done, void *ctx)
{
	struct item *it = new_item(REQUEST);
	it->key = ing_arena_strndup(&it->ar, key, 2 * ING_FACT_ID_BYTES);
	return push_question(t, it, done, ctx);
}

struct ing_tables_question *ing_tables_ask_document(struct ing_tables *t, const char *ingest_type,
	const char *url, ing_tables_answer_f *done, void *ctx)
{
	struct item *it = new_item(DOCUMENT);
	char documents[ING_INGEST_TYPES_][ING_FACT_ID_TEXT_BYTES];
	const char *texts[ING_INGEST_TYPES_];
	const char *types[ING_INGEST_TYPES_];
	size_t count = 0;
	for (int i = 0; i < ING_INGEST_TYPES_; i++) {
		const char *type = ing_ingest_type_name((enum ing_ingest_type)i);
		unsigned char id[ING_FACT_ID_BYTES];
		if (ingest_type != NULL && strcmp(type, ingest_type) != 0)
			continue;
		ing_document_id(type, url, id);
		ing_fact_id_text(id, documents[count]);
		texts[count] = documents[count];
		types[count++] = type;
	}
	/* As base_url is stored. */
	char *clean = ing_url_clean(url, strlen(url));
	const char *urls[] = {ing_mask_url(&it->ar, url), ing_mask_url(&it->ar, clean)};
	it->documents = array_of(&it->ar, texts, count);
	it->types = array_of(&it->ar, types, count);
	it->urls = array_of(&it->ar, urls, ING_ARRAY_LEN(urls));
	free(clean);
	return push_question(t, it, done, ctx);
}

void ing_tables_cancel(struct ing_tables_question *q)
{
	if (q == NULL)
		return;
	if (q->item != NULL)
		q->item->question = NULL;
	DL_DELETE(q->tables->questions, q);
	free(q);
}

void ing_tables_tick(struct ing_tables *t)
{
	if (t == NULL)
		return;
	uint64_t now = ing_now_ms();
	struct ing_tables_question *q;
	struct ing_tables_question *next;
	DL_FOREACH_SAFE (t->questions, q, next)
		if (now >= q->deadline_ms)
			end_question(q, ING_TABLES_AWAY, NULL);
}
