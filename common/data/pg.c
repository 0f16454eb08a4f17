/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libpq in its non-blocking mode under a poll(2) of our own: the library's blocking calls know
 * neither a deadline nor a way to be woken. Server-side limits (statement_timeout) are no
 * substitute, for a frozen server does not keep them.
 */
#include "common/data/pg.h"

#include <errno.h>
#include <libpq-fe.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/data/pace.h"
#include "common/data/pg_connect.h"

#define MAX_PREPARED 32 /* statements that one connection has prepared: their names are our own */
#define MAX_PARAMS 32
#define MAX_VALUES 64

struct ing_pg {
	PGconn *conn;
	int stop_fd;
	int timeout_ms;
	unsigned limit_ms; /* as last set by ing_pg_set_limits(); 0: never */
	uint64_t until_ms; /* deadline of the call under way */
	const char *prepared[MAX_PREPARED];
	int prepared_count;
	char *row; /* of a COPY … TO STDOUT, libpq's; or NULL */
};

static void ignore_notice(void *ctx, const PGresult *res)
{
	(void)ctx;
	(void)res;
}

static enum ing_pg_rc lost(struct ing_pg *pg, struct ing_error *err)
{
	char text[300];
	ing_pg_flatten(PQerrorMessage(pg->conn), text, sizeof(text));
	ing_error_set(err, ING_FAIL_UNAVAILABLE, "database: %s",
		text[0] != '\0' ? text : "the connection was lost");
	return ING_PG_LOST;
}

static bool has_class(const char *sqlstate, const char *classes)
{
	for (; *classes != '\0'; classes += 3) {
		if (strncmp(sqlstate, classes, 2) == 0)
			return true;
	}
	return false;
}

/* What an SQLSTATE asks of the caller (PostgreSQL manual, appendix A). */
static enum ing_pg_rc classify(const PGconn *conn, const char *sqlstate)
{
	if (PQstatus(conn) == CONNECTION_BAD || has_class(sqlstate, "08 "))
		return ING_PG_LOST;
	if (strncmp(sqlstate, "57P", 3) == 0 && strchr("123", sqlstate[3]) != NULL)
		return ING_PG_LOST; /* shutting down, crashed, starting up */
	if (has_class(sqlstate, "40 "))
		return ING_PG_CONFLICT;
	if (strcmp(sqlstate, "57014") == 0)
		return ING_PG_SLOW;
	if (strcmp(sqlstate, "55P03") == 0)
		return ING_PG_LOCKED;
	if (has_class(sqlstate, "21 22 23 44 54 P0 "))
		return ING_PG_REFUSED;
	return ING_PG_TROUBLE;
}

static enum ing_pg_rc refuse(struct ing_pg *pg, const PGresult *res, struct ing_error *err)
{
	static const enum ing_fail codes[] = {
		[ING_PG_LOST] = ING_FAIL_UNAVAILABLE,
		[ING_PG_SLOW] = ING_FAIL_TIMEOUT,
		[ING_PG_LOCKED] = ING_FAIL_BUSY,
		[ING_PG_CONFLICT] = ING_FAIL_BUSY,
		[ING_PG_REFUSED] = ING_FAIL_INVALID,
		[ING_PG_TROUBLE] = ING_FAIL_UNAVAILABLE,
	};
	const char *sqlstate = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	if (sqlstate == NULL)
		return lost(pg, err);
	char text[400];
	ing_pg_flatten(PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY), text, sizeof(text));
	enum ing_pg_rc rc = classify(pg->conn, sqlstate);
	ing_error_set(err, codes[rc], "database: %s (SQLSTATE %s)", text, sqlstate);
	return rc;
}

static void start_clock(struct ing_pg *pg)
{
	pg->until_ms = pg->timeout_ms < 0 ? UINT64_MAX : ing_now_ms() + (uint64_t)pg->timeout_ms;
}

/* Wait for the socket and take in what it has. */
static enum ing_pg_rc wait_socket(struct ing_pg *pg, short events, struct ing_error *err)
{
	struct pollfd fds[2] = {
		{.fd = PQsocket(pg->conn), .events = events},
		{.fd = pg->stop_fd, .events = POLLIN},
	};
	for (;;) {
		uint64_t now = ing_now_ms();
		int left = -1;
		if (pg->until_ms != UINT64_MAX)
			left = now >= pg->until_ms ? 0 : (int)ING_MIN(pg->until_ms - now, INT_MAX);
		int n = poll(fds, 2, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || fds[0].fd < 0)
			return lost(pg, err);
		if (n == 0) {
			ing_error_set(err, ING_FAIL_UNAVAILABLE, "database: no answer within %g s",
				pg->timeout_ms / 1000.0);
			return ING_PG_SILENT;
		}
		if (fds[1].revents != 0) {
			ing_error_set(err, ING_FAIL_CANCELLED, "database: stopped");
			return ING_PG_STOPPED;
		}
		break;
	}
	if ((fds[0].revents & ~POLLOUT) != 0 && PQconsumeInput(pg->conn) == 0)
		return lost(pg, err);
	return ING_PG_OK;
}

static enum ing_pg_rc flush(struct ing_pg *pg, struct ing_error *err)
{
	for (;;) {
		int rc = PQflush(pg->conn);
		if (rc == 0)
			return ING_PG_OK;
		if (rc < 0)
			return lost(pg, err);
		enum ing_pg_rc waited = wait_socket(pg, POLLIN | POLLOUT, err);
		if (waited != ING_PG_OK)
			return waited;
	}
}

static enum ing_pg_rc next_result(struct ing_pg *pg, PGresult **ret, struct ing_error *err)
{
	while (PQisBusy(pg->conn)) {
		enum ing_pg_rc rc = wait_socket(pg, POLLIN, err);
		if (rc != ING_PG_OK)
			return rc;
	}
	*ret = PQgetResult(pg->conn);
	return ING_PG_OK;
}

/* Read results to the end (or to the begin of a COPY). The first failure is the answer; *ret_last,
 * if wanted, gets the last result, to be cleared by the caller. */
static enum ing_pg_rc collect(struct ing_pg *pg, PGresult **ret_last, struct ing_error *err)
{
	enum ing_pg_rc answer = ING_PG_OK;
	PGresult *last = NULL;
	for (;;) {
		PGresult *res = NULL;
		enum ing_pg_rc rc = next_result(pg, &res, err);
		if (rc != ING_PG_OK) {
			PQclear(last);
			return rc;
		}
		if (res == NULL)
			break;
		PQclear(last);
		last = res;
		ExecStatusType status = PQresultStatus(res);
		if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT)
			break;
		if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK &&
			status != PGRES_EMPTY_QUERY && answer == ING_PG_OK)
			answer = refuse(pg, res, err);
	}
	if (answer == ING_PG_OK && PQstatus(pg->conn) == CONNECTION_BAD)
		answer = lost(pg, err);
	if (ret_last != NULL && answer == ING_PG_OK)
		*ret_last = last;
	else
		PQclear(last);
	return answer;
}

static enum ing_pg_rc run(
	struct ing_pg *pg, const char *sql, PGresult **ret_last, struct ing_error *err)
{
	start_clock(pg);
	if (PQsendQuery(pg->conn, sql) == 0)
		return lost(pg, err);
	enum ing_pg_rc rc = flush(pg, err);
	return rc != ING_PG_OK ? rc : collect(pg, ret_last, err);
}

static bool is_prepared(const struct ing_pg *pg, const char *name)
{
	for (int i = 0; i < pg->prepared_count; i++) {
		if (strcmp(pg->prepared[i], name) == 0)
			return true;
	}
	return false;
}

static enum ing_pg_rc prepare(
	struct ing_pg *pg, const char *name, const char *sql, struct ing_error *err)
{
	ing_must(pg->prepared_count < MAX_PREPARED);
	if (PQsendPrepare(pg->conn, name, sql, 0, NULL) == 0)
		return lost(pg, err);
	enum ing_pg_rc rc = flush(pg, err);
	if (rc == ING_PG_OK)
		rc = collect(pg, NULL, err);
	if (rc == ING_PG_OK)
		pg->prepared[pg->prepared_count++] = name;
	return rc;
}

static void hand_over(const PGresult *res, ing_pg_row_f *each, void *ctx)
{
	const char *values[MAX_VALUES];
	int count = PQnfields(res);
	ing_must(count <= MAX_VALUES);
	for (int row = 0; row < PQntuples(res); row++) {
		for (int i = 0; i < count; i++)
			values[i] = PQgetisnull(res, row, i) ? NULL : PQgetvalue(res, row, i);
		each(ctx, values, count);
	}
}

/* ------------------------------------------------------------------------------------------ */

int ing_pg_open(
	const char *dsn, int stop_fd, int timeout_ms, struct ing_pg **ret, struct ing_error *err)
{
	PGconn *conn = NULL;
	int rc = ing_pg_connect(dsn, stop_fd, &conn, err);
	if (rc != 0)
		return rc;
	struct ing_pg *pg = ing_alloc(sizeof(*pg));
	*pg = (struct ing_pg){.conn = conn, .stop_fd = stop_fd, .timeout_ms = timeout_ms};
	if (PQsetnonblocking(conn, 1) != 0) {
		lost(pg, err);
		ing_pg_close(pg);
		return -ING_FAIL_UNAVAILABLE;
	}
	PQsetNoticeReceiver(conn, ignore_notice, NULL);
	*ret = pg;
	return 0;
}

enum ing_pg_rc ing_pg_set_limits(
	struct ing_pg *pg, const struct ing_pace *pace, struct ing_error *err)
{
	char sql[128];
	if (pg->limit_ms == pace->limit_ms)
		return ING_PG_OK;
	snprintf(sql, sizeof(sql), "SET statement_timeout = %u; SET lock_timeout = %u",
		pace->limit_ms, ing_pace_lock_ms(pace));
	pg->timeout_ms = (int)ing_pace_answer_ms(pace);
	enum ing_pg_rc rc = ing_pg_exec(pg, sql, err);
	if (rc == ING_PG_OK)
		pg->limit_ms = pace->limit_ms;
	return rc;
}

void ing_pg_close(struct ing_pg *pg)
{
	if (pg == NULL)
		return;
	PQfreemem(pg->row);
	PQfinish(pg->conn);
	free(pg);
}

enum ing_pg_rc ing_pg_exec(struct ing_pg *pg, const char *sql, struct ing_error *err)
{
	return run(pg, sql, NULL, err);
}

enum ing_pg_rc ing_pg_number(
	struct ing_pg *pg, const char *sql, int64_t *ret, struct ing_error *err)
{
	PGresult *res = NULL;
	enum ing_pg_rc rc = run(pg, sql, &res, err);
	if (rc != ING_PG_OK)
		return rc;
	*ret = 0;
	if (PQntuples(res) > 0 && PQnfields(res) > 0)
		*ret = strtoll(PQgetvalue(res, 0, 0), NULL, 10);
	PQclear(res);
	return ING_PG_OK;
}

enum ing_pg_rc ing_pg_query(struct ing_pg *pg, const char *name, const char *sql,
	const char *const *params, int param_count, ing_pg_row_f *each, void *ctx,
	struct ing_error *err)
{
	ing_must(param_count >= 0 && param_count <= MAX_PARAMS);
	start_clock(pg);
	if (name != NULL && !is_prepared(pg, name)) {
		enum ing_pg_rc rc = prepare(pg, name, sql, err);
		if (rc != ING_PG_OK)
			return rc;
	}
	int sent = name != NULL
			   ? PQsendQueryPrepared(pg->conn, name, param_count, params, NULL, NULL, 0)
			   : PQsendQueryParams(
				     pg->conn, sql, param_count, NULL, params, NULL, NULL, 0);
	if (sent == 0)
		return lost(pg, err);
	PGresult *res = NULL;
	enum ing_pg_rc rc = flush(pg, err);
	if (rc == ING_PG_OK)
		rc = collect(pg, &res, err);
	if (rc != ING_PG_OK)
		return rc;
	if (each != NULL)
		hand_over(res, each, ctx);
	PQclear(res);
	return ING_PG_OK;
}

enum ing_pg_rc ing_pg_commit(struct ing_pg *pg, struct ing_error *err)
{
	PGresult *res = NULL;
	enum ing_pg_rc rc = run(pg, "COMMIT", &res, err);
	if (rc != ING_PG_OK)
		return rc;
	if (strcmp(PQcmdStatus(res), "COMMIT") != 0) {
		ing_error_set(err, ING_FAIL_UNAVAILABLE, "database: COMMIT was answered with %s",
			PQcmdStatus(res));
		rc = ING_PG_TROUBLE;
	}
	PQclear(res);
	return rc;
}

static enum ing_pg_rc begin_copy(
	struct ing_pg *pg, const char *sql, ExecStatusType way, struct ing_error *err)
{
	PGresult *res = NULL;
	enum ing_pg_rc rc = run(pg, sql, &res, err);
	if (rc != ING_PG_OK)
		return rc;
	ing_must(PQresultStatus(res) == way);
	PQclear(res);
	return ING_PG_OK;
}

enum ing_pg_rc ing_pg_copy_begin(struct ing_pg *pg, const char *sql, struct ing_error *err)
{
	return begin_copy(pg, sql, PGRES_COPY_IN, err);
}

enum ing_pg_rc ing_pg_copy_add(
	struct ing_pg *pg, const char *data, size_t bytes, struct ing_error *err)
{
	start_clock(pg);
	while (bytes > 0) {
		int n = (int)ING_MIN(bytes, (size_t)1 << 20);
		int rc = PQputCopyData(pg->conn, data, n);
		if (rc < 0)
			return lost(pg, err);
		enum ing_pg_rc flushed = flush(pg, err);
		if (flushed != ING_PG_OK)
			return flushed;
		if (rc == 0)
			continue; /* not taken: its buffer was full */
		data += n;
		bytes -= (size_t)n;
	}
	return ING_PG_OK;
}

enum ing_pg_rc ing_pg_copy_end(struct ing_pg *pg, struct ing_error *err)
{
	start_clock(pg);
	int rc;
	do {
		rc = PQputCopyEnd(pg->conn, NULL);
		if (rc < 0)
			return lost(pg, err);
		enum ing_pg_rc flushed = flush(pg, err);
		if (flushed != ING_PG_OK)
			return flushed;
	} while (rc == 0);
	return collect(pg, NULL, err);
}

enum ing_pg_rc ing_pg_copy_out_begin(struct ing_pg *pg, const char *sql, struct ing_error *err)
{
	return begin_copy(pg, sql, PGRES_COPY_OUT, err);
}

enum ing_pg_rc ing_pg_copy_out_next(
	struct ing_pg *pg, char **ret_row, size_t *ret_bytes, struct ing_error *err)
{
	int n;
	PQfreemem(pg->row);
	pg->row = NULL;
	for (;;) {
		n = PQgetCopyData(pg->conn, &pg->row, 1);
		if (n != 0)
			break;
		start_clock(pg);
		enum ing_pg_rc rc = wait_socket(pg, POLLIN, err);
		if (rc != ING_PG_OK)
			return rc;
	}
	if (n < -1)
		return lost(pg, err);
	*ret_row = pg->row;
	*ret_bytes = n > 0 ? (size_t)n : 0;
	if (n > 0)
		return ING_PG_OK;
	start_clock(pg);
	return collect(pg, NULL, err);
}
