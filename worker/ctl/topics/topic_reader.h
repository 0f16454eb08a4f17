/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topic_reader.h - the committed messages of a topic: all that are in it now, or also those to come.
 *
 * Reads all partitions side by side and joins no group, so that it disturbs nobody. Messages come in the order of
 * their timestamps, each partition's in its own order. A partition that has nothing is waited for, but not for long: see
 * ING_TOPIC_SILENT_MS. One thread.
 */
#pragma once
#include "common/base/error.h"

/* A message is held back until it is so old, by our clock, as long as a partition whose end has been read may bring an
 * older one: its transaction is not committed, or its batch under way. */
#define ING_TOPIC_SILENT_MS 500
/* The same for a partition that has more, or may have, but does not deliver it: its broker is away. */
#define ING_TOPIC_AWAY_MS 5000

struct ing_conf;
struct ing_topic_reader;
struct rd_kafka_message_s;

struct ing_topic_reader_conf {
	const char *verb, *brokers, *topic; /* borrowed */
	const struct ing_conf *conf;        /* for its properties; not kept */
	bool follow;         /* what arrives later, too, and a topic that is yet to come */
	bool from_beginning; /* with follow: what is there, too; else it is always read */
	int64_t since_ms; /* messages with this timestamp or a later one, and what is behind them; 0: all. With follow it wins over the end */
	/* Begin behind the committed positions of this group; NULL: at the beginning. */
	const char *group;
	uint64_t
		wait_ms; /* for brokers and topic; 0: as long as is usual, or for ever with follow */
};

/* Error: -CONFIG, -UNAVAILABLE, -NOT_FOUND (there is no such topic). */
int ing_topic_reader_new(const struct ing_topic_reader_conf *conf, struct ing_topic_reader **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_topic_reader_free(struct ing_topic_reader *r); /* NULL is fine */

enum ing_topic_read {
	ING_TOPIC_MESSAGE, /* *ret, which the caller destroys (rd_kafka_message_destroy()) */
	ING_TOPIC_WAITING, /* none within the time */
	ING_TOPIC_END,     /* all that was in it at the start has been read */
	ING_TOPIC_FAILED,  /* it does not pass; it has been said on stderr */
};
enum ing_topic_read ing_topic_reader_next(
	struct ing_topic_reader *r, int timeout_ms, struct rd_kafka_message_s **ret);
