/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dead.h - the files of `ingestctl dead`: letters as they are read from the dead-letter topic
 * (dead_read.c), printed (dead_print.c), and produced again (dead_replay.c). One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/ctl/topics/topic_reader.h"
#include "worker/model/letter.h"

#define ING_DEAD_VERB "dead"
#define ING_DEAD_TIME_BYTES 32

struct rd_kafka_headers_s;

struct ing_dead_filter { /* which letters; NULL, "" and -1: any */
	const char *reason, *stage, *topic;
	int32_t partition;                                           /* of that topic */
	char since[ING_DEAD_TIME_BYTES], until[ING_DEAD_TIME_BYTES]; /* until is not included */
};

struct ing_dead_letter {   /* borrowed during the call */
	int32_t partition; /* in the dead-letter topic */
	int64_t offset;
	const void *key; /* NULL: none */
	size_t key_bytes;
	const char *value;
	size_t value_bytes;
	struct rd_kafka_headers_s *kafka_headers; /* NULL: none */
	const struct ing_header *headers;
	size_t header_count;
	struct ing_letter about;
	char time[ING_DEAD_TIME_BYTES]; /* the header's, or the message's own; RFC 3339, UTC */
	bool replayed;                  /* there is a note of it */
};

/* RFC 3339 in UTC or the beginning of it (2026-11-21, 2026-11-21T11:00), or so long ago: 90s, 30m,
 * 12h, 7d. False: it is neither. */
bool ing_dead_read_time(const char *text, char ret[ING_DEAD_TIME_BYTES]);
/* Of a value that was cut, or a key that was left out, the whole is not there. */
bool ing_dead_is_whole(const struct ing_dead_letter *l);

/* What a message of the dead-letter topic says: *ret and headers borrow from it. False: it is the note that another
 * was replayed. `replayed` stays false. */
#define ING_DEAD_MAX_HEADERS 256 /* of a message; the rest is not looked at */
struct rd_kafka_message_s;
bool ing_dead_letter_of(const struct rd_kafka_message_s *m,
	struct ing_header headers[ING_DEAD_MAX_HEADERS], struct ing_dead_letter *ret);

/* Return false to end the reading. */
typedef bool ing_dead_each_f(void *ctx, const struct ing_dead_letter *l);
/* Two passes over the topic: the notes, then each letter that the filter lets through (NULL: all).
 * Returns the exit code; what is wrong has been said. */
int ing_dead_read(const struct ing_topic_reader_conf *conf, const struct ing_dead_filter *filter,
	ing_dead_each_f *each, void *ctx);

/* A line on stdout: of a list, as text or JSON. */
void ing_dead_print_line(const struct ing_dead_letter *l, bool json);
/* All of it: headers, an empty line, the value as it is; or an object as in dead-letters.jsonl. */
void ing_dead_print_whole(const struct ing_dead_letter *l, bool json);

struct ing_dead_replay {
	struct ing_topic_reader_conf reader;
	const struct ing_dead_filter *filter;
	const char *to; /* topic; NULL: each letter's own */
	unsigned max_replays;
	bool dry_run, again, json;
};
/* Returns the exit code; what is wrong, and how many, has been said. */
int ing_dead_replay(const struct ing_dead_replay *r);
