/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * topic_reader.h - the committed messages of a topic: all that are in it now, or also those to come.
 *
 * Reads all partitions side by side and joins no group, so that it disturbs nobody. The order is
 * each partition's own. One thread.
 */
#pragma once
#include "common/base/error.h"

struct ing_conf;
struct ing_topic_reader;
struct rd_kafka_message_s;

struct ing_topic_reader_conf {
	const char *verb, *brokers, *topic; /* borrowed */
	const struct ing_conf *conf;        /* for its properties; not kept */
	bool follow;         /* what arrives later, too, and a topic that is yet to come */
	bool from_beginning; /* with follow: what is there, too; else it is always read */
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
