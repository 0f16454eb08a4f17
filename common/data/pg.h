/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pg.h - one PostgreSQL connection for statements, COPY and nothing else; the only user of libpq.
 *
 * A connection belongs to one thread at a time. Calls block, but never for long: each has a
 * deadline of its own on this side of the wire, so that a server that has died, hangs or sits
 * behind a dead link is noticed in seconds, and each ends at once when the stop descriptor becomes
 * readable. The return code says what a failure means for the caller; its message is the server's
 * primary message, not its detail and context, which quote whole rows.
 */
#pragma once
#include "common/base/error.h"

struct ing_buf;
struct ing_pg;

enum ing_pg_rc {
	ING_PG_OK = 0,
	ING_PG_LOST,   /* the connection is gone; what was under way may have happened: close, open,
			  repeat */
	ING_PG_SILENT, /* the same, since our deadline passed without an answer: dead, frozen, or
			  just slow, so ask for less */
	ING_PG_SLOW,   /* cancelled at the server's statement_timeout: roll back, ask for less */
	ING_PG_LOCKED, /* cancelled at the server's lock_timeout: roll back, wait, repeat */
	ING_PG_CONFLICT, /* deadlock or serialization failure: roll back and repeat */
	ING_PG_REFUSED,  /* data that violates a type, a constraint or a limit: repeating is
			    pointless */
	ING_PG_TROUBLE,  /* anything else that the server says: disk, memory, permission, missing
			    table */
	ING_PG_STOPPED,  /* the stop descriptor became readable */
};

/* Connect. dsn: libpq's connection string or URI. stop_fd: readable = give up (-1: none).
 * timeout_ms: deadline of every later call (-1: none; TCP keepalives still notice a dead host).
 * Of several hosts in a dsn (or in PGHOST) that says nothing of target_session_attrs, the first is
 * taken that can be written to, so that a standby in front is passed over; each address of each
 * host may take the DSN's connect_timeout, 5 s unless it has one. Looking up a host's name is not
 * ended by stop_fd. Error: -CONFIG (dsn is malformed), -UNAVAILABLE, -CANCELLED (stop_fd). */
int ing_pg_open(const char *dsn, int stop_fd, int timeout_ms, struct ing_pg **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Limits of later statements: the server's for work and for locks, and ours for an answer. Asks the
 * server only when they have changed. */
struct ing_pace;
enum ing_pg_rc ing_pg_set_limits(
	struct ing_pg *pg, const struct ing_pace *pace, struct ing_error *err) ING_MUST_CHECK;
void ing_pg_close(
	struct ing_pg *pg); /* NULL is fine; an open transaction is rolled back by the server */

/* Run statements; rows are thrown away. */
enum ing_pg_rc ing_pg_exec(
	struct ing_pg *pg, const char *sql, struct ing_error *err) ING_MUST_CHECK;
/* Run one statement and read the first column of its first row as an integer; no row or NULL: 0. */
enum ing_pg_rc ing_pg_number(
	struct ing_pg *pg, const char *sql, int64_t *ret, struct ing_error *err) ING_MUST_CHECK;
/* Run one statement with at most 32 text parameters (NULL: SQL NULL) and hand over each row of its
 * result, at most 32 values as text, NULL for SQL NULL, borrowed during the call. each may be NULL.
 * sql is prepared by the server on first use under `name` (a static string, one for each sql), so
 * that it is parsed once per connection; name NULL: not prepared. */
typedef void ing_pg_row_f(void *ctx, const char *const *values, int count);
enum ing_pg_rc ing_pg_query(struct ing_pg *pg, const char *name, const char *sql,
	const char *const *params, int param_count, ing_pg_row_f *each, void *ctx,
	struct ing_error *err) ING_MUST_CHECK;
/* Values of integer columns as numbers; NULL: 0. The second is clamped to 0 … INT32_MAX. */
int64_t ing_pg_int64(const char *text);
unsigned ing_pg_unsigned(const char *text);
/* Append a PostgreSQL array literal of texts ({"a","b"}) to out, quoted so that any text
 * survives. */
void ing_pg_add_array(struct ing_buf *out, const char *const *texts, size_t count);
/* Append text as a literal of SQL, for statements that take no parameters: whatever it holds, and however the server reads
 * reverse solidi, it is that text. */
void ing_pg_add_literal(struct ing_buf *out, const char *text);
/* COMMIT, and make sure that it was one: a server answers that of a failed transaction with
 * ROLLBACK. */
enum ing_pg_rc ing_pg_commit(struct ing_pg *pg, struct ing_error *err) ING_MUST_CHECK;

/* COPY … FROM STDIN: begin, add any number of times, end. A refusal by the server shows at the
 * end. */
enum ing_pg_rc ing_pg_copy_begin(
	struct ing_pg *pg, const char *sql, struct ing_error *err) ING_MUST_CHECK;
enum ing_pg_rc ing_pg_copy_add(
	struct ing_pg *pg, const char *data, size_t bytes, struct ing_error *err) ING_MUST_CHECK;
enum ing_pg_rc ing_pg_copy_end(struct ing_pg *pg, struct ing_error *err) ING_MUST_CHECK;

/* COPY … TO STDOUT: begin, then rows until *ret_row is NULL, which says that the server has sent all. A row is a line of
 * COPY's text format with its end, the caller's to change until the next call. The first may take as long as
 * the statement does. */
enum ing_pg_rc ing_pg_copy_out_begin(
	struct ing_pg *pg, const char *sql, struct ing_error *err) ING_MUST_CHECK;
enum ing_pg_rc ing_pg_copy_out_next(
	struct ing_pg *pg, char **ret_row, size_t *ret_bytes, struct ing_error *err) ING_MUST_CHECK;
/* Cut a row (its bytes without the end) into at most `room` columns and undo their escapes in place; values[i] is NULL
 * for SQL NULL. Returns the number of columns, which is more than `room` when there are more. */
size_t ing_pg_copy_columns(char *row, size_t bytes, char **values, size_t room);
