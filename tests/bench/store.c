/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How many rows of ingest_request, file_meta, cdx, ingest_file_result and result_outbox PostgreSQL takes in a
 * second: through worker/store as a worker would, or bare.
 *
 *	bench-store DSN store|kept|uncounted|listed|bare|direct ITEMS BATCH
 *
 * Migrates the database, which should be empty, and prints one JSON object. An item is a row of
 * each of the five tables. `store`: items are put while fewer than four batches are outstanding, and
 * each answer is pruned once it is written. `kept`: without pruning. `uncounted`: as `store`, without the triggers that
 * count. `listed`: as `store`, but a list has brought the requests before. `bare`: the same rows, encoded
 * beforehand, as COPY into a staging table and INSERT … ON CONFLICT out of it, table by table, in
 * transactions of BATCH items on one connection. `direct`: the same, but those of result_outbox are
 * copied into the table itself.
 */
#include <endian.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/database/schema.h"
#include "worker/model/rows.h"
#include "worker/store/store.h"

#define PARTITIONS 12
#define GROUP "ingest"
#define TOPIC "ingest-file-requests-daily"
#define VALUE_BYTES 1600 /* of a result, as they are with a hit */
#define ROWS_PER_ITEM 5
/* What most rows have. */
#define VISITS                                                                                     \
	"{\"came\":\"2026-11-21T11:00:00.123Z\",\"took_ms\":4567,\"instance\":\"worker1@1\","      \
	"\"lane\":\"bulk\",\"partition\":7,\"offset\":123456,\"urls\":[{\"wait_ms\":1500,"         \
	"\"robots_ms\":400,\"host_ms\":1000,\"before\":3,\"ms\":120,\"http\":200}]}"
#define DT "20261121110000"
#define MAX_BUF ((size_t)1 << 30)

struct bench;

struct item {
	struct ing_store_item item; /* first */
	struct bench *bench;
	struct ing_rows rows;
	struct ing_row_cdx cdx;
	struct ing_source source;
	struct ing_output_message message;
	char url[96], sha1[41], sha256[65], md5[33], key[48], host[64], id[37];
};

struct bench {
	struct item *items;
	size_t count, put, done, window;
	unsigned batch;
	bool prunes, direct;
	char *value;
	struct ing_store *store;
	uv_loop_t loop;
	struct ing_claim claims[PARTITIONS];
	unsigned claimed;
};

static void fail(const char *what)
{
	fprintf(stderr, "bench-store: %s\n", what);
	exit(1);
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static void fill_hex(char *out, size_t digits, uint64_t seed)
{
	for (size_t i = 0; i < digits; i++)
		out[i] = "0123456789abcdef"[mix(seed * 8 + i / 16) >> (i % 16 * 4) & 15];
	out[digits] = '\0';
}

static void fill_item(struct bench *b, size_t i)
{
	struct item *it = &b->items[i];
	*it = (struct item){.bench = b};
	snprintf(it->url, sizeof(it->url),
		"https://journal-%" PRIu64 ".university-press.example/articles/%zu/download.pdf",
		mix(i) % 5000, i);
	snprintf(it->host, sizeof(it->host), "journal-%" PRIu64 ".university-press.example",
		mix(i) % 5000);
	snprintf(it->key, sizeof(it->key), "doi:10.5555/%zu", i);
	snprintf(it->id, sizeof(it->id), "%08x-0000-4000-8000-%012x", (unsigned)(mix(i) >> 32),
		(unsigned)i);
	fill_hex(it->sha1, 40, 3 * i);
	fill_hex(it->sha256, 64, 3 * i + 1);
	fill_hex(it->md5, 32, 3 * i + 2);
	it->cdx = (struct ing_row_cdx){.url = it->url,
		.datetime = DT,
		.sha1hex = it->sha1,
		.mimetype = "application/pdf",
		.warc_path = "ingest-20261121110000-00001-worker1.warc.gz",
		.warc_csize = 200000 + i,
		.warc_offset = i * 200000};
	it->rows = (struct ing_rows){
		.result = {.present = true,
			.ingest_type = "pdf",
			.base_url = it->url,
			.status = "success",
			.hit = true,
			.terminal_url = it->url,
			.terminal_dt = DT,
			.terminal_sha1hex = it->sha1,
			.terminal_status_code = 200,
			.host = it->host,
			.document = it->id,
			.visits = VISITS},
		.request = {.present = true,
			.link_source = "doi",
			.link_source_id = it->key + 4,
			.ingest_type = "pdf",
			.base_url = it->url,
			.ingest_request_source = "unpaywall",
			.release_stage = "published",
			.request_json = "{\"ext_ids\": {\"doi\": \"10.5555/a\"}}",
			.request_id = it->id,
			.document = it->id,
			.host = it->host,
			.doi_prefix = "10.5555"},
		.file_meta = {.present = true,
			.sha1hex = it->sha1,
			.sha256hex = it->sha256,
			.md5hex = it->md5,
			.mimetype = "application/pdf",
			.size_bytes = 200000 + i},
		.cdx = &it->cdx,
		.cdx_count = 1,
	};
	it->message = (struct ing_output_message){.output = ING_OUTPUT_RESULTS,
		.key = it->key,
		.key_bytes = strlen(it->key),
		.value = b->value,
		.value_bytes = VALUE_BYTES};
	it->source = (struct ing_source){.group = GROUP,
		.topic = TOPIC,
		.partition = (int32_t)(i % PARTITIONS),
		.offset = (int64_t)(i / PARTITIONS),
		.timestamp_ms = 1700000000000 + (int64_t)i,
		.digest = mix(i)};
	it->item = (struct ing_store_item){
		.rows = &it->rows, .source = &it->source, .message = &it->message};
}

/* --- through the store --- */

static void put_some(struct bench *b);

static void on_done(struct ing_store_item *item)
{
	struct item *it = (struct item *)(void *)item;
	if (item->end != ING_STORE_STORED)
		fail("an item was not stored");
	it->bench->done++;
	if (it->bench->prunes)
		ing_store_prune(it->bench->store, &it->source);
	put_some(it->bench);
}

static void put_some(struct bench *b)
{
	while (b->put < b->count && b->put - b->done < b->window)
		ing_store_put(b->store, &b->items[b->put++].item);
}

static void on_claimed(struct ing_claim *c)
{
	struct bench *b = (struct bench *)(void *)((char *)(c - c->partition) -
						   offsetof(struct bench, claims));
	b->claimed++;
}

static void tick(uv_timer_t *t)
{
	(void)t;
}

static uint64_t run_store(struct bench *b, const char *dsn)
{
	struct ing_error err = {0};
	const struct ing_postgres_settings conf = {
		.dsn = dsn, .batch_rows = b->batch, .batch_ms = 200, .statement_ms = 5000};
	uv_timer_t timer;
	uv_loop_init(&b->loop);
	uv_timer_init(&b->loop, &timer);
	uv_timer_start(&timer, tick, 100, 100);
	if (ing_store_new(&b->loop, &conf, &b->store, &err) != 0)
		fail(err.msg);
	const struct ing_claim_ops ops = ing_store_claim_ops(b->store);
	for (int32_t i = 0; i < PARTITIONS; i++) {
		b->claims[i] = (struct ing_claim){.group = GROUP,
			.topic = TOPIC,
			.instance = "bench",
			.partition = i,
			.done = on_claimed};
		ops.claim(ops.ctx, &b->claims[i]);
	}
	while (b->claimed < PARTITIONS)
		uv_run(&b->loop, UV_RUN_ONCE);
	for (size_t i = 0; i < b->count; i++) {
		b->items[i].source.fence = b->claims[i % PARTITIONS].fence;
		b->items[i].item.done = on_done;
	}
	uint64_t start = ing_now_ms();
	put_some(b);
	while (b->done < b->count)
		uv_run(&b->loop, UV_RUN_ONCE);
	uint64_t ms = ing_now_ms() - start;
	ing_store_free(b->store);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&b->loop, UV_RUN_DEFAULT);
	uv_loop_close(&b->loop);
	return ms;
}

/* --- bare --- */

static const struct {
	const char *table, *columns, *conflict;
	bool binary;
} bare_tables[ROWS_PER_ITEM] = {
	{"result_outbox",
		"kafka_group, topic, partition, \"offset\", message_timestamp_ms, message_digest,"
		" output, key, headers, value",
		"(kafka_group, topic, partition, \"offset\") DO NOTHING", true},
	{"ingest_file_result",
		"ingest_type, base_url, hit, status, terminal_url, terminal_dt,"
		" terminal_status_code, terminal_sha1hex, host, document",
		"(ingest_type, base_url) DO UPDATE SET updated = now(), hit = excluded.hit,"
		" status = excluded.status, terminal_url = excluded.terminal_url,"
		" terminal_dt = excluded.terminal_dt,"
		" terminal_status_code = excluded.terminal_status_code,"
		" terminal_sha1hex = excluded.terminal_sha1hex, host = excluded.host,"
		" document = excluded.document",
		false},
	{"file_meta", "sha1hex, sha256hex, md5hex, size_bytes, mimetype", "(sha1hex) DO NOTHING",
		false},
	{"cdx", "url, datetime, sha1hex, cdx_sha1hex, mimetype, warc_path, warc_csize, warc_offset",
		"(url, datetime) DO NOTHING", false},
	{"ingest_request",
		"link_source, link_source_id, ingest_type, base_url, ingest_request_source,"
		" release_stage, request, request_id, document, host, doi_prefix",
		"(link_source, link_source_id, ingest_type, base_url) DO NOTHING", false},
};

static void add_field(struct ing_buf *out, const void *data, size_t bytes)
{
	uint32_t be = htobe32((uint32_t)bytes);
	ing_buf_add(out, &be, sizeof(be));
	ing_buf_add(out, data, bytes);
}

static void encode_answer(struct ing_buf *out, const struct item *it)
{
	const struct ing_source *s = &it->source;
	uint16_t fields = htobe16(10);
	uint32_t partition = htobe32((uint32_t)s->partition);
	uint64_t numbers[] = {htobe64((uint64_t)s->offset), htobe64((uint64_t)s->timestamp_ms),
		htobe64(s->digest)};
	uint32_t null = UINT32_MAX;
	ing_buf_add(out, &fields, sizeof(fields));
	add_field(out, s->group, strlen(s->group));
	add_field(out, s->topic, strlen(s->topic));
	add_field(out, &partition, sizeof(partition));
	for (size_t i = 0; i < 3; i++)
		add_field(out, &numbers[i], sizeof(numbers[i]));
	add_field(out, "results", 7);
	add_field(out, it->key, strlen(it->key));
	ing_buf_add(out, &null, sizeof(null));
	add_field(out, it->message.value, VALUE_BYTES);
}

static void encode_row(struct ing_buf *out, size_t table, const struct item *it)
{
	switch (table) {
	case 0:
		encode_answer(out, it);
		break;
	case 1:
		ing_buf_printf(out, "pdf\t%s\tt\tsuccess\t%s\t" DT "\t200\t%s\t%s\t%s\n", it->url,
			it->url, it->sha1, it->host, it->id);
		break;
	case 2:
		ing_buf_printf(out, "%s\t%s\t%s\t%" PRIu64 "\tapplication/pdf\n", it->sha1,
			it->sha256, it->md5, it->rows.file_meta.size_bytes);
		break;
	case 4:
		ing_buf_printf(out,
			"doi\t%s\tpdf\t%s\tunpaywall\tpublished\t%s\t%s\t%s\t%s\t10.5555\n",
			it->key + 4, it->url, it->rows.request.request_json, it->id, it->id,
			it->host);
		break;
	default:
		ing_buf_printf(out,
			"%s\t" DT "\t%s\t\\N\tapplication/pdf\t%s\t%" PRIu64 "\t%" PRIu64 "\n",
			it->url, it->sha1, it->cdx.warc_path, it->cdx.warc_csize,
			it->cdx.warc_offset);
		break;
	}
}

static struct ing_buf encode_batch(const struct bench *b, size_t table, size_t first)
{
	static const char head[19] = "PGCOPY\n\377\r\n";
	struct ing_buf out;
	ing_buf_init(&out, MAX_BUF);
	if (bare_tables[table].binary)
		ing_buf_add(&out, head, sizeof(head));
	for (size_t i = first; i < first + b->batch && i < b->count; i++)
		encode_row(&out, table, &b->items[i]);
	if (bare_tables[table].binary)
		ing_buf_add(&out, "\377\377", 2);
	return out;
}

static void expect(PGconn *conn, PGresult *res, ExecStatusType want)
{
	if (PQresultStatus(res) != want)
		fail(PQerrorMessage(conn));
	PQclear(res);
}

static void write_table(PGconn *conn, size_t t, bool staged, const struct ing_buf *rows)
{
	char sql[2048];
	snprintf(sql, sizeof(sql), "COPY %s%s (%s) FROM STDIN%s", staged ? "s_" : "",
		bare_tables[t].table, bare_tables[t].columns,
		bare_tables[t].binary ? " (FORMAT binary)" : "");
	expect(conn, PQexec(conn, sql), PGRES_COPY_IN);
	if (PQputCopyData(conn, rows->data, (int)rows->len) != 1 || PQputCopyEnd(conn, NULL) != 1)
		fail(PQerrorMessage(conn));
	expect(conn, PQgetResult(conn), PGRES_COMMAND_OK);
	PQclear(PQgetResult(conn));
	if (!staged)
		return;
	snprintf(sql, sizeof(sql), "INSERT INTO %s (%s) SELECT %s FROM s_%s ON CONFLICT %s",
		bare_tables[t].table, bare_tables[t].columns, bare_tables[t].columns,
		bare_tables[t].table, bare_tables[t].conflict);
	expect(conn, PQexec(conn, sql), PGRES_COMMAND_OK);
}

static uint64_t run_bare(struct bench *b, const char *dsn)
{
	PGconn *conn = PQconnectdb(dsn);
	if (PQstatus(conn) != CONNECTION_OK)
		fail(PQerrorMessage(conn));
	size_t batches = (b->count + b->batch - 1) / b->batch;
	struct ing_buf *rows = ing_alloc(batches * ROWS_PER_ITEM * sizeof(*rows));
	for (size_t t = 0; t < ROWS_PER_ITEM; t++) {
		char sql[1024];
		snprintf(sql, sizeof(sql),
			"CREATE TEMP TABLE s_%s ON COMMIT DELETE ROWS AS SELECT %s FROM %s WITH NO DATA",
			bare_tables[t].table, bare_tables[t].columns, bare_tables[t].table);
		PQclear(PQexec(conn, sql));
		for (size_t i = 0; i < batches; i++)
			rows[i * ROWS_PER_ITEM + t] = encode_batch(b, t, i * b->batch);
	}
	uint64_t start = ing_now_ms();
	for (size_t i = 0; i < batches; i++) {
		expect(conn, PQexec(conn, "BEGIN"), PGRES_COMMAND_OK);
		for (size_t t = 0; t < ROWS_PER_ITEM; t++)
			write_table(conn, t, t > 0 || !b->direct, &rows[i * ROWS_PER_ITEM + t]);
		expect(conn, PQexec(conn, "COMMIT"), PGRES_COMMAND_OK);
	}
	uint64_t ms = ing_now_ms() - start;
	for (size_t i = 0; i < batches * ROWS_PER_ITEM; i++)
		ing_buf_done(&rows[i]);
	free(rows);
	PQfinish(conn);
	return ms;
}

/* --- */

static int64_t count_rows(const char *dsn)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	int64_t n = 0;
	if (ing_schema_open(dsn, &pg, &err) != 0 ||
		ing_pg_number(pg,
			"SELECT (SELECT count(*) FROM ingest_file_result) + (SELECT count(*) FROM"
			" file_meta) + (SELECT count(*) FROM cdx) + (SELECT count(*) FROM"
			" ingest_request)",
			&n, &err) != ING_PG_OK)
		fail(err.msg);
	ing_pg_close(pg);
	return n;
}

static void prepare(const char *dsn, const char *sql)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	if (ing_schema_open(dsn, &pg, &err) != 0 || ing_pg_exec(pg, sql, &err) != ING_PG_OK)
		fail(err.msg);
	ing_pg_close(pg);
}

/* The requests, as a list would have brought them. */
static void store_requests(struct bench *b, const char *dsn)
{
	PGconn *conn = PQconnectdb(dsn);
	if (PQstatus(conn) != CONNECTION_OK)
		fail(PQerrorMessage(conn));
	for (size_t i = 0; i < b->count; i += b->batch) {
		struct ing_buf rows = encode_batch(b, 4, i);
		write_table(conn, 4, false, &rows);
		ing_buf_done(&rows);
	}
	expect(conn, PQexec(conn, "SELECT fold_counts()"), PGRES_TUPLES_OK);
	PQfinish(conn);
}

int main(int argc, char **argv)
{
	struct ing_error err = {0};
	struct rusage usage;
	int from;
	int to;
	if (argc != 5)
		fail("usage: bench-store DSN store|kept|uncounted|listed|bare|direct ITEMS BATCH");
	struct bench b = {
		.count = strtoul(argv[3], NULL, 10), .batch = (unsigned)strtoul(argv[4], NULL, 10)};
	if (b.count == 0 || b.batch == 0)
		fail("ITEMS and BATCH are numbers");
	b.window = 4 * (size_t)b.batch;
	b.prunes = strcmp(argv[2], "kept") != 0;
	b.direct = strcmp(argv[2], "direct") == 0;
	bool bare = b.direct || strcmp(argv[2], "bare") == 0;
	b.value = ing_alloc(VALUE_BYTES + 1);
	memset(b.value, 'x', VALUE_BYTES);
	b.items = ing_alloc(b.count * sizeof(*b.items));
	for (size_t i = 0; i < b.count; i++)
		fill_item(&b, i);
	if (ing_schema_migrate(argv[1], &from, &to, &err) != 0)
		fail(err.msg);
	if (strcmp(argv[2], "uncounted") == 0)
		prepare(argv[1], "ALTER TABLE ingest_request DISABLE TRIGGER USER;"
				 "ALTER TABLE ingest_file_result DISABLE TRIGGER USER;"
				 "ALTER TABLE file_meta DISABLE TRIGGER USER");
	if (strcmp(argv[2], "listed") == 0)
		store_requests(&b, argv[1]);
	uint64_t ms = bare ? run_bare(&b, argv[1]) : run_store(&b, argv[1]);
	if (count_rows(argv[1]) != (int64_t)b.count * (ROWS_PER_ITEM - 1))
		fail("rows are missing");
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"rows\": %zu, \"ms\": %" PRIu64 ", \"rows_per_second\": %" PRIu64
	       ", \"peak_kib\": %ld}\n",
		b.count * ROWS_PER_ITEM, ms, b.count * ROWS_PER_ITEM * 1000 / ING_MAX(ms, 1u),
		usage.ru_maxrss);
	free(b.items);
	free(b.value);
	return 0;
}
