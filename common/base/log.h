/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * log.h - one line per event on stderr, as text or as JSON, or one entry of the journal.
 *
 * Any thread. A line is one write(2) of at most ING_LOG_LINE_BYTES: lines of several threads and
 * processes that share a pipe do not mix. What does not fit is cut, and the line says so. Untrusted
 * text may be logged in messages and fields: control characters and bytes that are not UTF-8 are
 * escaped, and a line of JSON is valid JSON whatever is in it. common/ logs at debug only.
 *
 * Under journald text and JSON have the priority <N> in front (sd-daemon(3)).
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

/* PIPE_BUF: a pipe takes so much at once or nothing. With the line feed. */
#define ING_LOG_LINE_BYTES 4096

enum ing_log_level {
	ING_LOG_FATAL = 0,   /* a broken invariant: the process aborts */
	ING_LOG_ERROR = 3,   /* an operator must act */
	ING_LOG_WARNING = 4, /* degraded, recovers by itself */
	ING_LOG_INFO = 6,    /* state changes */
	ING_LOG_DEBUG = 7,
};

enum ing_log_format {
	ING_LOG_FORMAT_TEXT,    /* TIME LEVEL: MESSAGE NAME=VALUE... */
	ING_LOG_FORMAT_JSON,    /* {"time", "level", "message", "instance", NAME...} */
	ING_LOG_FORMAT_JOURNAL, /* struct ing_log_conf's journal() */
};

/* A fact of an event. The name is a word of lower-case letters and _, at most 32, and none of the
 * line's own (time, level, message, instance, truncated). */
struct ing_log_field {
	const char *name;
	enum ing_log_value { ING_LOG_TEXT, ING_LOG_NUMBER, ING_LOG_BOOL } value;
	const char *text; /* of TEXT; NULL: the field is left out */
	int64_t number;   /* of NUMBER and BOOL */
};
#define ING_LOG_FIELD_TEXT(field_name, s)                                                          \
	((struct ing_log_field){.name = (field_name), .value = ING_LOG_TEXT, .text = (s)})
#define ING_LOG_FIELD_NUMBER(field_name, n)                                                        \
	((struct ing_log_field){                                                                   \
		.name = (field_name), .value = ING_LOG_NUMBER, .number = (int64_t)(n)})
#define ING_LOG_FIELD_BOOL(field_name, b)                                                          \
	((struct ing_log_field){.name = (field_name), .value = ING_LOG_BOOL, .number = (b) ? 1 : 0})

/* What is logged. Borrowed. */
struct ing_log_record {
	enum ing_log_level level;
	const char *instance; /* "": none */
	const char *message;  /* any bytes */
	size_t message_bytes;
	bool cut; /* the message was longer */
	const struct ing_log_field *fields;
	size_t field_count;
};

/* Strings are borrowed. */
struct ing_log_conf {
	enum ing_log_level max_level;
	enum ing_log_format format;
	const char *instance; /* of JSON lines and journal entries; NULL: none */
	/* A line that whoever reads stderr has no room for is left out, and counted in the next one,
	 * instead of waiting for the reader. */
	bool never_wait;
	/* For ING_LOG_FORMAT_JOURNAL: send an entry without waiting. Any thread. False: it was not
	 * taken, and goes to stderr as text. NULL: all do. */
	bool (*journal)(const struct ing_log_record *record);
};

/* Both before threads start; the default is text of INFO. Broken invariants are logged from then on. */
void ing_log_init(enum ing_log_level max_level);     /* text */
void ing_log_setup(const struct ing_log_conf *conf); /* copied */
bool ing_log_wants(enum ing_log_level level);
void ing_log(enum ing_log_level level, const char *fmt, ...) ING_PRINTF(2, 3);
/* A message with facts, which it need not name: text has them behind it. */
void ing_log_fields(enum ing_log_level level, const struct ing_log_field *fields, size_t count,
	const char *fmt, ...) ING_PRINTF(4, 5);

/* For lines that repeat. Zero-initialise; one thread. */
struct ing_log_throttle {
	uint64_t next_ms;
	unsigned suppressed;
};
/* As ing_log(), the first time and then at most every `every_ms`. The field "suppressed" of each
 * line is how many were left out since the one before. Returns whether it was logged. */
bool ing_log_throttled(struct ing_log_throttle *gate, uint64_t every_ms, enum ing_log_level level,
	const char *fmt, ...) ING_PRINTF(4, 5);
/* For events of several lines: true the first time and then at most every `every_ms`. The lines
 * tell *ret_suppressed, as ING_LOG_FIELD_SUPPRESSED. */
bool ing_log_throttle_pass(
	struct ing_log_throttle *gate, uint64_t every_ms, unsigned *ret_suppressed);
#define ING_LOG_FIELD_SUPPRESSED(n) ING_LOG_FIELD_NUMBER("suppressed", n)
