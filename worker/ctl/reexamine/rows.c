/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The next PAGE_ROWS rows by digest bound the keys; of the documents within, those that the conditions want
 * come back, with the rows of cdx that have their bytes.
 */
#include "worker/ctl/reexamine/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/data/pg_thread.h"
#include "worker/database/schema.h"

#define PAGE_ROWS 500
#define FEW_ROWS 10 /* where that many take too long */
#define SESSION                                                                                    \
	"SET default_transaction_read_only = on; SET client_min_messages = 'error';"               \
	" SET statement_timeout = '15s'; SET jit = off"
#define MAX_SQL_BYTES ((size_t)1 << 20)

/* One page on its way to the thread and back. */
struct page {
	struct ing_node node;
	char after[41];
	bool few;   /* rows, as more have taken too long */
	char *upto; /* heap; NULL: there was nothing more */
	struct ing_reexamine_document *documents;
	bool failed;
	struct ing_error err;
};

struct ing_reexamine_rows {
	struct ing_pg_thread *thread;
	char *sql, *few_sql, *types, *mimetype; /* heap */
	char to[41];
	ing_reexamine_page_f *on_page;
	void *ctx;
};

/* --- the statement --- */

/* What conditions may speak of: a row for each hit. The names are documented in ingestctl(1). */
static const char columns_sql[] =
	"SELECT r.terminal_sha1hex AS sha1hex, r.ingest_type, r.base_url, r.terminal_url AS url,"
	" r.terminal_dt AS datetime, r.terminal_status_code AS http_status, r.updated, r.hit, r.status,"
	" lower(substring(r.terminal_url FROM '^[a-z]+://([^/:?#]+)')) AS host,"
	" f.mimetype, f.contains, f.size_bytes,"
	" p.status AS pdf_status, p.has_page0_thumbnail, p.page_count, p.word_count,"
	" p.pdf_version, p.updated AS pdf_updated,"
	" h.status AS html_status, h.scope, h.has_teixml, h.word_count AS html_word_count,"
	" h.updated AS html_updated, h.resources,"
	" g.status AS grobid_status, g.status_code AS grobid_status_code, g.grobid_version,"
	" g.updated AS grobid_updated"
	" FROM k JOIN ingest_file_result r ON r.terminal_sha1hex = k.key"
	" LEFT JOIN file_meta f ON f.sha1hex = r.terminal_sha1hex"
	" LEFT JOIN pdf_meta p ON p.sha1hex = r.terminal_sha1hex"
	" LEFT JOIN html_meta h ON h.sha1hex = r.terminal_sha1hex"
	" LEFT JOIN grobid g ON g.sha1hex = r.terminal_sha1hex"
	" WHERE r.hit AND r.ingest_type = ANY ($3::text[])";

/* The same for pages. */
#define PAGE_COLUMNS                                                                               \
	"SELECT c.sha1hex, r.ingest_type, r.base_url, c.url, c.datetime,"                          \
	" 200 AS http_status, r.updated, r.hit, r.status,"                                         \
	" lower(substring(c.url FROM '^[a-z]+://([^/:?#]+)')) AS host, c.mimetype,"                \
	" r.terminal_url, NULL::jsonb AS resources FROM k JOIN cdx c ON c.sha1hex = k.key"         \
	" JOIN ingest_file_result r ON "
#define PAGE_CONDITIONS                                                                            \
	" AND r.ingest_type = ANY ($3::text[])"                                                    \
	" AND (c.mimetype LIKE '%html%' OR c.mimetype LIKE '%/xml%' OR c.mimetype = 'warc/revisit')"
static const char page_columns_sql[] = PAGE_COLUMNS
	"r.terminal_url = c.url AND r.terminal_dt = c.datetime"
	" AND (NOT r.hit OR r.ingest_type = 'html')" PAGE_CONDITIONS " UNION ALL " PAGE_COLUMNS
	"r.base_url = c.url AND r.hit AND r.ingest_type <> 'html' AND r.terminal_url <> c.url"
	" AND r.terminal_dt >= c.datetime" PAGE_CONDITIONS;

/* $1, $2: bounds of the keys; $3: types; $4: the media type or NULL. A record that refers to another
 * has no bytes: that one may be under another digest in the table, since nobody had looked into it then. */
static const char captures_sql[] =
	"SELECT u.url, u.datetime, u.sha1hex, u.cdx_sha1hex, u.mimetype, u.warc_path, u.warc_csize,"
	" u.warc_offset, (u.url = d.url AND u.datetime = d.datetime) IS TRUE AS own FROM"
	" (SELECT * FROM cdx WHERE cdx.sha1hex = d.sha1hex"
	" UNION SELECT o.* FROM cdx o WHERE t.mimetype = 'warc/revisit' AND o.url = t.url"
	" AND coalesce(o.cdx_sha1hex, o.sha1hex) = coalesce(t.cdx_sha1hex, t.sha1hex)) u"
	" WHERE u.mimetype IS DISTINCT FROM 'warc/revisit' AND u.warc_path IS NOT NULL"
	" ORDER BY own DESC, u.datetime DESC, u.url LIMIT 3";

/* Of the rows in the order of their keys, those of this page. */
static const char *window_sql(const struct ing_reexamine_rows_conf *conf)
{
	return conf->pages ? "SELECT sha1hex AS key FROM cdx WHERE sha1hex > $1 AND sha1hex < $2"
			   : "SELECT terminal_sha1hex AS key FROM ingest_file_result"
			     " WHERE terminal_sha1hex > $1 AND terminal_sha1hex < $2";
}

/* The keys of a page come first, by themselves and with a number that the planner sees: it would else take
 * them for a part of the table, and read the others whole. */
static void build_sql(const struct ing_reexamine_rows_conf *conf, int rows, struct ing_buf *sql)
{
	const char *each = conf->pages ? "v.sha1hex, v.ingest_type" : "v.sha1hex";
	ing_buf_printf(sql,
		"WITH k AS MATERIALIZED (SELECT DISTINCT x.key FROM (%s ORDER BY key LIMIT %d) x)"
		" SELECT w.upto, d.sha1hex, d.ingest_type, d.base_url, d.url, d.http_status, d.resources,"
		" d.host, d.hit, d.status,"
		" t.datetime, t.sha1hex, t.cdx_sha1hex, t.mimetype, t.warc_path, t.warc_csize,"
		" t.warc_offset, c.url, c.datetime, c.sha1hex, c.cdx_sha1hex, c.mimetype, c.warc_path,"
		" c.warc_csize, c.warc_offset"
		" FROM (SELECT max(k.key) AS upto FROM k) w"
		" LEFT JOIN (SELECT DISTINCT ON (%s) v.* FROM (%s) v"
		" WHERE ($4::text IS NULL OR v.mimetype IS NULL OR v.mimetype = $4)",
		window_sql(conf), rows, each, conf->pages ? page_columns_sql : columns_sql);
	/* A comment in a condition ends with its line. */
	for (const char *const *where = conf->where; *where != NULL; where++)
		ing_buf_printf(sql, " AND (%s\n)", *where);
	ing_buf_printf(sql,
		" ORDER BY %s, v.updated DESC, v.base_url) d ON true"
		" LEFT JOIN cdx t ON t.url = d.url AND t.datetime = d.datetime"
		" LEFT JOIN LATERAL (%s) c ON d.sha1hex IS NOT NULL"
		" ORDER BY d.sha1hex, d.ingest_type, c.own DESC, c.datetime DESC, c.url",
		each, captures_sql);
}

/* Heap. */
static char *sql_of(const struct ing_reexamine_rows_conf *conf, int rows)
{
	struct ing_buf sql;
	ing_buf_init(&sql, MAX_SQL_BYTES);
	build_sql(conf, rows, &sql);
	ing_must(!sql.failed); /* arguments of a command are shorter */
	return ing_buf_steal(&sql);
}

/* --- rows --- */

struct row {
	const char *const *at; /* the next value */
	struct ing_arena *ar;
};

static const char *read_text(struct row *r)
{
	return ing_arena_strdup(r->ar, *r->at++);
}

static uint64_t read_bytes(struct row *r)
{
	int64_t n = ing_pg_int64(*r->at++);
	return n > 0 ? (uint64_t)n : 0;
}

static void read_place(struct row *r, struct ing_row_cdx *cdx)
{
	cdx->datetime = read_text(r);
	cdx->sha1hex = read_text(r);
	cdx->cdx_sha1hex = read_text(r);
	cdx->mimetype = read_text(r);
	cdx->warc_path = read_text(r);
	cdx->warc_csize = read_bytes(r);
	cdx->warc_offset = read_bytes(r);
}

/* The values from the document's own columns on. */
static struct ing_reexamine_document *read_document(const char *const *values)
{
	struct ing_reexamine_document *d = ing_alloc(sizeof(*d));
	ing_arena_init(&d->ar);
	struct row r = {values, &d->ar};
	d->sha1hex = read_text(&r);
	const char *type = *r.at++;
	bool known = ing_ingest_type_find(type, &d->type);
	ing_must(known); /* these were asked for */
	d->base_url = read_text(&r);
	d->url = read_text(&r);
	d->http_status = (int)ing_pg_int64(*r.at++);
	d->resources_json = read_text(&r);
	d->host = read_text(&r);
	d->hit = **r.at++ == 't';
	d->status = read_text(&r);
	d->terminal.url = d->url;
	read_place(&r, &d->terminal);
	return d;
}

static void read_capture(struct ing_reexamine_document *d, const char *const *values)
{
	struct row r = {values, &d->ar};
	if (*values == NULL || d->capture_count == ING_REEXAMINE_CAPTURES)
		return;
	struct ing_row_cdx *cdx = &d->captures[d->capture_count++];
	cdx->url = read_text(&r);
	read_place(&r, cdx);
	if (d->url == NULL)
		d->url = cdx->url;
}

#define DOCUMENT_COLUMNS 16 /* behind upto */

static void take_row(void *ctx, const char *const *values, int count)
{
	struct page *p = ctx;
	(void)count;
	if (p->upto == NULL && values[0] != NULL)
		p->upto = ing_strdup(values[0]);
	if (values[1] == NULL)
		return;
	struct ing_reexamine_document *last = p->documents != NULL ? p->documents->prev : NULL;
	if (last == NULL || strcmp(last->sha1hex, values[1]) != 0 ||
		strcmp(ing_ingest_type_name(last->type), values[2]) != 0) {
		last = read_document(values + 1);
		DL_APPEND(p->documents, last);
	}
	read_capture(last, values + 1 + DOCUMENT_COLUMNS);
}

static void free_documents(struct ing_reexamine_document *documents)
{
	struct ing_reexamine_document *d;
	struct ing_reexamine_document *next;
	DL_FOREACH_SAFE (documents, d, next)
		ing_reexamine_document_free(d);
}

static void clear_page(struct page *p)
{
	free_documents(ING_TAKE(p->documents));
	free(ING_TAKE(p->upto));
}

static void free_page(struct page *p)
{
	clear_page(p);
	free(p);
}

/* --- database thread --- */

struct attempt {
	const struct ing_reexamine_rows *rows;
	struct page *page;
};

/* What is wrong with a condition may show at a row only, and waiting does not help: it is to write
 * something (class 25), or may not do what it does (class 42). */
static bool is_of_condition(enum ing_pg_rc rc, const struct ing_error *err)
{
	return rc == ING_PG_TROUBLE && (strstr(err->msg, "(SQLSTATE 25") != NULL ||
					       strstr(err->msg, "(SQLSTATE 42") != NULL);
}

static enum ing_pg_rc ask(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	const struct attempt *a = ctx;
	const struct ing_reexamine_rows *r = a->rows;
	struct page *p = a->page;
	const char *params[] = {p->after, r->to, r->types, r->mimetype};
	clear_page(p);
	enum ing_pg_rc rc = ing_pg_query(pg, p->few ? "few" : "documents",
		p->few ? r->few_sql : r->sql, params, 4, take_row, p, err);
	p->few |= rc == ING_PG_SLOW || rc == ING_PG_SILENT;
	return is_of_condition(rc, err) ? ING_PG_REFUSED : rc;
}

static void work(void *ctx)
{
	const struct ing_reexamine_rows *r = ctx;
	struct ing_node *node = ing_pg_thread_take(r->thread, -1);
	while (node != NULL) {
		struct page *p = ING_CONTAINER(node, struct page, node);
		node = node->next;
		struct attempt a = {r, p};
		enum ing_pg_rc rc = ing_pg_thread_run(r->thread, ask, &a, &p->err);
		p->failed = rc != ING_PG_OK;
		p->err.code = ING_FAIL_USAGE; /* of the conditions */
		if (rc == ING_PG_STOPPED) {
			free_page(p);
			return;
		}
		ing_pg_thread_hand_back(r->thread, &p->node);
	}
}

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	(void)ctx;
	return ing_schema_prepare(pg, SESSION, err);
}

static void trouble(void *ctx, const struct ing_error *err)
{
	(void)ctx;
	if (err == NULL)
		ing_log(ING_LOG_WARNING, "database: reading again");
	else
		ing_log(ING_LOG_WARNING, "%s; retrying", err->msg);
}

/* --- loop --- */

static void finished(void *ctx, struct ing_node *node)
{
	struct ing_reexamine_rows *r = ctx;
	while (node != NULL) {
		struct page *p = ING_CONTAINER(node, struct page, node);
		node = node->next;
		r->on_page(r->ctx, p->upto, ING_TAKE(p->documents), p->failed ? &p->err : NULL);
		free_page(p);
	}
}

static void drop(void *ctx, struct ing_node *node)
{
	(void)ctx;
	free_page(ING_CONTAINER(node, struct page, node));
}

static char *array_of_types(const struct ing_reexamine_rows_conf *conf)
{
	const char *names[ING_INGEST_TYPES_];
	struct ing_buf array;
	for (size_t i = 0; i < conf->type_count; i++)
		names[i] = ing_ingest_type_name(conf->types[i]);
	ing_buf_init(&array, 4096);
	ing_pg_add_array(&array, names, conf->type_count);
	return ing_buf_steal(&array);
}

/* With keys that no row has, the server says all that is wrong with the conditions but what depends on
 * rows. */
static int try_conditions(struct ing_reexamine_rows *r, struct ing_error *err)
{
	struct page page = {.after = "x"};
	struct ing_pg *pg = ing_pg_thread_connection(r->thread);
	const struct attempt a = {r, &page};
	enum ing_pg_rc rc = ask(pg, (void *)(uintptr_t)&a, err);
	clear_page(&page);
	if (rc == ING_PG_OK)
		return 0;
	if (rc == ING_PG_REFUSED || rc == ING_PG_TROUBLE)
		err->code = ING_FAIL_USAGE;
	return -(int)err->code;
}

/* -------------------------------------------------------------------------------------------- */

void ing_reexamine_document_free(struct ing_reexamine_document *d)
{
	if (d == NULL)
		return;
	ing_arena_done(&d->ar);
	free(d);
}

int ing_reexamine_rows_new(struct uv_loop_s *loop, const struct ing_reexamine_rows_conf *conf,
	ing_reexamine_page_f *on_page, void *ctx, struct ing_reexamine_rows **ret,
	struct ing_error *err)
{
	struct ing_reexamine_rows *r = ing_alloc(sizeof(*r));
	r->sql = sql_of(conf, PAGE_ROWS);
	r->few_sql = sql_of(conf, FEW_ROWS);
	r->types = array_of_types(conf);
	r->mimetype = conf->mimetype != NULL ? ing_strdup(conf->mimetype) : NULL;
	snprintf(r->to, sizeof(r->to), "%s", conf->to);
	r->on_page = on_page;
	r->ctx = ctx;
	const struct ing_pg_thread_conf thread = {.name = "ing-rows",
		.dsn = conf->postgres.dsn,
		.ctx = r,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished,
		.drop = drop};
	int rc = ing_pg_thread_new(&thread, &r->thread, err);
	if (rc == 0)
		rc = try_conditions(r, err);
	if (rc != 0) {
		ing_reexamine_rows_free(r);
		return rc;
	}
	ing_pg_thread_start(r->thread, loop);
	*ret = r;
	return 0;
}

void ing_reexamine_rows_free(struct ing_reexamine_rows *r)
{
	if (r == NULL)
		return;
	ing_pg_thread_free(r->thread);
	free(r->sql);
	free(r->few_sql);
	free(r->types);
	free(r->mimetype);
	free(r);
}

void ing_reexamine_rows_ask(struct ing_reexamine_rows *r, const char *after)
{
	struct page *p = ing_alloc(sizeof(*p));
	snprintf(p->after, sizeof(p->after), "%s", after);
	ing_pg_thread_push(r->thread, &p->node);
}

bool ing_reexamine_rows_blocked(const struct ing_reexamine_rows *r)
{
	return ing_pg_thread_blocked(r->thread);
}
