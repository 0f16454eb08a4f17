/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conflicts are rare: what an earlier owner left is handed out at the claim (claim.h), so that a
 * row is met here only after the answer to a COMMIT was lost, or when a topic was made anew. So the
 * usual way is one COPY into the table itself, which costs half of what a staging table does.
 */
#include "worker/store/outbox.h"

#include <ctype.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/log.h"
#include "worker/store/store.h"

#define COLUMNS                                                                                    \
	"kafka_group, topic, partition, \"offset\", message_timestamp_ms, message_digest, output," \
	" key, headers, value"
#define COLUMN_COUNT 10
#define KEY "kafka_group, topic, partition, \"offset\""
/* Rows are handed to libpq in pieces of about this size. */
#define CHUNK_BYTES ((size_t)256 << 10)

static bool has_row(const struct ing_store_item *item)
{
	return item->source != NULL && item->message != NULL && item->end == ING_STORE_STORED;
}

/* -- a row in COPY's binary format (PostgreSQL manual, COPY) --------------------------------- */

static void add16(struct ing_buf *out, int16_t v)
{
	uint16_t be = htobe16((uint16_t)v);
	ing_buf_add(out, &be, sizeof(be));
}

static void add32(struct ing_buf *out, int32_t v)
{
	uint32_t be = htobe32((uint32_t)v);
	ing_buf_add(out, &be, sizeof(be));
}

static void add_int32(struct ing_buf *out, int32_t v)
{
	add32(out, sizeof(v));
	add32(out, v);
}

static void add_int64(struct ing_buf *out, int64_t v)
{
	uint64_t be = htobe64((uint64_t)v);
	add32(out, sizeof(v));
	ing_buf_add(out, &be, sizeof(be));
}

static void add_bytes(struct ing_buf *out, const void *data, size_t bytes)
{
	if (data == NULL) {
		add32(out, -1);
		return;
	}
	add32(out, (int32_t)ING_MIN(bytes, (size_t)INT32_MAX));
	ing_buf_add(out, data, bytes);
}

static void add_headers(struct ing_buf *out, const struct ing_output_message *m)
{
	size_t bytes = 0;
	if (m->header_count == 0) {
		add32(out, -1);
		return;
	}
	for (size_t i = 0; i < m->header_count; i++)
		bytes += strlen(m->headers[i].name) + strlen(m->headers[i].value) + 2;
	add32(out, (int32_t)ING_MIN(bytes, (size_t)INT32_MAX));
	for (size_t i = 0; i < m->header_count; i++) {
		ing_buf_add(out, m->headers[i].name, strlen(m->headers[i].name) + 1);
		ing_buf_add(out, m->headers[i].value, strlen(m->headers[i].value) + 1);
	}
}

/* All but the value. */
static void add_row(struct ing_buf *out, const struct ing_store_item *item)
{
	const struct ing_source *s = item->source;
	const struct ing_output_message *m = item->message;
	const char *output = ing_output_row(m->output)->name;
	add_bytes(out, s->group, strlen(s->group));
	add_bytes(out, s->topic, strlen(s->topic));
	add_int32(out, s->partition);
	add_int64(out, s->offset);
	add_int64(out, s->timestamp_ms);
	add_int64(out, (int64_t)s->digest);
	add_bytes(out, output, strlen(output));
	add_bytes(out, m->key, m->key_bytes);
	add_headers(out, m);
}

static enum ing_pg_rc send_rows(struct ing_pg *pg, struct ing_buf *rows, struct ing_error *err)
{
	enum ing_pg_rc rc = ing_pg_copy_add(pg, ing_buf_str(rows), rows->len, err);
	ing_buf_clear(rows);
	return rc;
}

/* A long one goes past the buffer. */
static enum ing_pg_rc send_value(struct ing_pg *pg, const struct ing_output_message *m,
	struct ing_buf *rows, struct ing_error *err)
{
	if (m->value == NULL || m->value_bytes < CHUNK_BYTES) {
		add_bytes(rows, m->value, m->value_bytes);
		return ING_PG_OK;
	}
	add32(rows, (int32_t)ING_MIN(m->value_bytes, (size_t)INT32_MAX));
	enum ing_pg_rc rc = send_rows(pg, rows, err);
	return rc == ING_PG_OK ? ing_pg_copy_add(pg, m->value, m->value_bytes, err) : rc;
}

/* numbered: each row has its item's index behind its columns. */
static enum ing_pg_rc copy_rows(struct ing_pg *pg, const char *sql,
	struct ing_store_item *const *items, size_t count, bool numbered, struct ing_buf *rows,
	struct ing_error *err)
{
	static const char signature[11] = "PGCOPY\n\377\r\n";
	enum ing_pg_rc rc = ing_pg_copy_begin(pg, sql, err);
	ing_buf_clear(rows);
	ing_buf_add(rows, signature, sizeof(signature));
	add32(rows, 0); /* flags */
	add32(rows, 0); /* no extension */
	for (size_t i = 0; i < count && rc == ING_PG_OK; i++) {
		if (!has_row(items[i]))
			continue;
		add16(rows, COLUMN_COUNT + (numbered ? 1 : 0));
		add_row(rows, items[i]);
		rc = send_value(pg, items[i]->message, rows, err);
		if (numbered)
			add_int32(rows, (int32_t)i);
		if (rc == ING_PG_OK && rows->len >= CHUNK_BYTES)
			rc = send_rows(pg, rows, err);
	}
	if (rc != ING_PG_OK)
		return rc;
	add16(rows, -1);
	rc = send_rows(pg, rows, err);
	return rc == ING_PG_OK ? ing_pg_copy_end(pg, err) : rc;
}

/* -- a row as text --------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* A bytea in its hex form, as heap bytes with a zero behind them. NULL is NULL. */
static char *decode_bytes(const char *text, size_t *ret_bytes)
{
	*ret_bytes = 0;
	if (text == NULL || text[0] != '\\' || text[1] != 'x')
		return NULL;
	size_t n = strlen(text + 2) / 2;
	char *out = ing_alloc(n + 1);
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(hex_digit(text[2 + 2 * i]) << 4 | hex_digit(text[3 + 2 * i]));
	out[n] = '\0';
	*ret_bytes = n;
	return out;
}

/* What is no pair of terminated texts is left out. */
static void decode_headers(const char *data, size_t bytes, struct ing_output_message *m)
{
	size_t ends = 0;
	for (size_t i = 0; i < bytes; i++)
		ends += data[i] == '\0';
	if (ends < 2)
		return;
	m->header_count = ends / 2;
	struct ing_header *headers = ing_alloc(m->header_count * sizeof(*headers));
	for (size_t i = 0; i < m->header_count; i++) {
		headers[i].name = ing_strdup(data);
		data += strlen(data) + 1;
		headers[i].value = ing_strdup(data);
		data += strlen(data) + 1;
	}
	m->headers = headers;
}

/* -- what is there already ------------------------------------------------------------------- */

struct found {
	struct ing_store_item *const *items;
	size_t count, answered;
};

static void add_found(void *ctx, const char *const *values, int count)
{
	struct found *found = ctx;
	ing_must(count == ING_OUTBOX_COLUMN_COUNT + 1);
	size_t i = (size_t)ing_pg_unsigned(values[ING_OUTBOX_COLUMN_COUNT]);
	ing_must(i < found->count);
	struct ing_answer *answer = ing_outbox_answer(values);
	if (answer == NULL)
		return;
	found->items[i]->answer = answer;
	found->items[i]->end = ING_STORE_ANSWERED;
	found->answered++;
}

/* The rows of the staging table's keys that are the same message's become answers; those of another
 * message, and those that this program cannot publish, are deleted. */
static enum ing_pg_rc sort_out(struct ing_pg *pg, struct found *found, struct ing_error *err)
{
#define SAME                                                                                       \
	"(o.message_timestamp_ms = s.message_timestamp_ms AND"                                     \
	" o.message_digest = s.message_digest AND o.output = ANY ($1::text[]))"
	static const char find[] = "SELECT " ING_OUTBOX_COLUMNS ", s.seq FROM stage_outbox s"
				   " JOIN result_outbox o USING (" KEY ") WHERE " SAME;
	static const char drop[] =
		"DELETE FROM result_outbox o USING stage_outbox s WHERE"
		" o.kafka_group = s.kafka_group AND o.topic = s.topic AND"
		" o.partition = s.partition AND o.\"offset\" = s.\"offset\" AND NOT " SAME;
	const char *names[ING_OUTPUTS_];
	struct ing_buf known;
	for (unsigned i = 0; i < ING_OUTPUTS_; i++)
		names[i] = ing_output_row((enum ing_output)i)->name;
	ing_buf_init(&known, 4096);
	ing_pg_add_array(&known, names, ING_OUTPUTS_);
	const char *params[] = {ing_buf_str(&known)};
	enum ing_pg_rc rc = ing_pg_query(pg, "outbox_find", find, params, 1, add_found, found, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_query(pg, "outbox_drop", drop, params, 1, NULL, NULL, err);
	ing_buf_done(&known);
	return rc;
}

/* Two items of one message in a batch: who is first is settled by halving. */
static enum ing_pg_rc refuse_twins(struct ing_pg *pg, struct ing_error *err)
{
	int64_t twins = 0;
	enum ing_pg_rc rc = ing_pg_number(
		pg, "SELECT count(*) - count(DISTINCT (" KEY ")) FROM stage_outbox", &twins, err);
	if (rc != ING_PG_OK || twins == 0)
		return rc;
	ing_error_set(err, ING_FAIL_INVALID, "result_outbox: two answers to one message");
	return ING_PG_REFUSED;
}

/* Fewer than expected: a transaction of ours that was thought lost has committed meanwhile. */
static enum ing_pg_rc insert_rest(struct ing_pg *pg, size_t expected, struct ing_error *err)
{
	int64_t inserted = 0;
	enum ing_pg_rc rc = ing_pg_number(pg,
		"WITH added AS (INSERT INTO result_outbox (" COLUMNS ") SELECT " COLUMNS
		" FROM stage_outbox ORDER BY " KEY " ON CONFLICT (" KEY
		") DO NOTHING RETURNING 1) SELECT count(*) FROM added",
		&inserted, err);
	if (rc != ING_PG_OK || inserted == (int64_t)expected)
		return rc;
	ing_error_set(err, ING_FAIL_BUSY, "result_outbox: a row has appeared meanwhile");
	return ING_PG_CONFLICT;
}

static enum ing_pg_rc write_carefully(struct ing_pg *pg, struct ing_store_item *const *items,
	size_t count, size_t rows_count, struct ing_buf *rows, struct ing_error *err)
{
	struct found found = {.items = items, .count = count};
	enum ing_pg_rc rc =
		copy_rows(pg, "COPY stage_outbox (" COLUMNS ", seq) FROM STDIN (FORMAT binary)",
			items, count, true, rows, err);
	if (rc == ING_PG_OK)
		rc = refuse_twins(pg, err);
	if (rc == ING_PG_OK)
		rc = sort_out(pg, &found, err);
	return rc == ING_PG_OK ? insert_rest(pg, rows_count - found.answered, err) : rc;
}

/* ------------------------------------------------------------------------------------------ */

enum ing_pg_rc ing_outbox_prepare(struct ing_pg *pg, struct ing_error *err)
{
	return ing_pg_exec(pg,
		"CREATE TEMP TABLE stage_outbox ON COMMIT DELETE ROWS AS SELECT " COLUMNS
		", 0 AS seq FROM result_outbox WITH NO DATA",
		err);
}

enum ing_pg_rc ing_outbox_write(struct ing_pg *pg, struct ing_store_item *const *items,
	size_t count, bool careful, struct ing_buf *rows, struct ing_error *err)
{
	size_t rows_count = 0;
	for (size_t i = 0; i < count; i++)
		rows_count += has_row(items[i]);
	if (rows_count == 0)
		return ING_PG_OK;
	if (careful)
		return write_carefully(pg, items, count, rows_count, rows, err);
	return copy_rows(pg, "COPY result_outbox (" COLUMNS ") FROM STDIN (FORMAT binary)", items,
		count, false, rows, err);
}

struct ing_answer *ing_outbox_answer(const char *const *values)
{
	enum ing_output output;
	if (values[3] == NULL || !ing_output_by_name(values[3], &output))
		return NULL;
	struct ing_answer *a = ing_alloc(sizeof(*a));
	*a = (struct ing_answer){.offset = ing_pg_int64(values[0]),
		.timestamp_ms = ing_pg_int64(values[1]),
		.digest = (uint64_t)ing_pg_int64(values[2]),
		.message.output = output};
	size_t bytes;
	a->message.key = decode_bytes(values[4], &a->message.key_bytes);
	char *headers = decode_bytes(values[5], &bytes);
	if (headers != NULL)
		decode_headers(headers, bytes, &a->message);
	free(headers);
	a->message.value = decode_bytes(values[6], &a->message.value_bytes);
	return a;
}
