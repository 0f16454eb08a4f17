/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * log_line.h - a record of the log as a line of text or JSON, or as an entry in the journal's
 * protocol. Pure functions; any thread.
 */
#pragma once
#include <time.h>
#include "common/base/log.h"

#define ING_LOG_ENTRY_BYTES (2 * ING_LOG_LINE_BYTES) /* of the journal */

/* Each writes at most `room` bytes, no NUL behind, and returns how many. What is too long is cut:
 * text ends with ING_LOG_CUT then, JSON has "truncated":true, an entry INGEST_TRUNCATED=1. */
#define ING_LOG_CUT " [truncated]"

/* With a line feed. priority: <N> in front in place of the time. room: 256 at least. */
size_t ing_log_text_line(
	const struct ing_log_record *r, struct timespec now, bool priority, char *to, size_t room);
/* With a line feed. priority: <N> in front. room: 256 at least. */
size_t ing_log_json_line(
	const struct ing_log_record *r, struct timespec now, bool priority, char *to, size_t room);
/* Fields of systemd.journal-fields(7): MESSAGE, PRIORITY, SYSLOG_IDENTIFIER; and INGEST_NAME for
 * the instance and each field. A line each, in the form without lengths, which their values fit as
 * control characters are escaped. room: 1024 at least. */
size_t ing_log_journal_entry(
	const struct ing_log_record *r, const char *identifier, char *to, size_t room);
