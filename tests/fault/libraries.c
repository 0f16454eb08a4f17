/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The calls of libpq and librdkafka at which something becomes durable, for rules that kill the
 * program or make it wait there. Declared here, without the libraries' headers: a program that uses
 * neither can be run with this library as well.
 *
 * An error in place of the call is possible where the library returns one without allocating it.
 */
#include "tests/fault/fault.h"
#include <stddef.h>

#define UNKNOWN (-199) /* RD_KAFKA_RESP_ERR__BAD_MSG */

EXPORT int PQsendQuery(void *conn, const char *sql);
EXPORT int PQsendQueryParams(void *conn, const char *sql, int count, const void *types,
	const void *values, const int *lengths, const int *formats, int result_format);
EXPORT int PQsendQueryPrepared(void *conn, const char *name, int count, const void *values,
	const int *lengths, const int *formats, int result_format);
EXPORT int PQputCopyEnd(void *conn, const char *error);
EXPORT int rd_kafka_commit_queue(
	void *rk, const void *offsets, void *queue, void *done, void *opaque);
EXPORT void *rd_kafka_produceva(void *rk, const void *parts, size_t count);
EXPORT void *rd_kafka_begin_transaction(void *rk);
EXPORT void *rd_kafka_send_offsets_to_transaction(
	void *rk, const void *offsets, const void *group, int timeout_ms);
EXPORT void *rd_kafka_commit_transaction(void *rk, int timeout_ms);
EXPORT void *rd_kafka_abort_transaction(void *rk, int timeout_ms);

STAND_IN_FOR(int, PQsendQuery, -1, sql, (void *conn, const char *sql), (conn, sql), 0)
STAND_IN_FOR(int, PQsendQueryParams, -1, sql,
	(void *conn, const char *sql, int count, const void *types, const void *values,
		const int *lengths, const int *formats, int result_format),
	(conn, sql, count, types, values, lengths, formats, result_format), 0)
STAND_IN_FOR(int, PQsendQueryPrepared, -1, name,
	(void *conn, const char *name, int count, const void *values, const int *lengths,
		const int *formats, int result_format),
	(conn, name, count, values, lengths, formats, result_format), 0)
STAND_IN_FOR(int, PQputCopyEnd, -1, NULL, (void *conn, const char *error), (conn, error), -1)
STAND_IN_FOR(int, rd_kafka_commit_queue, -1, NULL,
	(void *rk, const void *offsets, void *queue, void *done, void *opaque),
	(rk, offsets, queue, done, opaque), UNKNOWN)

/* These return an object of the library's, or NULL: only KILL, KILL_AFTER and DELAY make sense. */
#define STAND_IN_RK(name, parameters, arguments)                                                   \
	STAND_IN_FOR(void *, name, -1, NULL, parameters, arguments, NULL)

STAND_IN_RK(rd_kafka_produceva, (void *rk, const void *parts, size_t count), (rk, parts, count))
STAND_IN_RK(rd_kafka_begin_transaction, (void *rk), (rk))
STAND_IN_RK(rd_kafka_send_offsets_to_transaction,
	(void *rk, const void *offsets, const void *group, int timeout_ms),
	(rk, offsets, group, timeout_ms))
STAND_IN_RK(rd_kafka_commit_transaction, (void *rk, int timeout_ms), (rk, timeout_ms))
STAND_IN_RK(rd_kafka_abort_transaction, (void *rk, int timeout_ms), (rk, timeout_ms))
