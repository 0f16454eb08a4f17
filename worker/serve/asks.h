/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * asks.h - the requests that this process has put onto the topic, by the key of their result, and who waits for them.
 *
 * Owns: what is known of a request, from before its message is produced until newer ones need the room, and the answers
 * that were read of late. A wait belongs to whoever waits, and is in here between begin or join and its end or leave.
 * Loop thread only.
 *
 * A request is here before its message is handed to librdkafka, so that no result can come too early. The same message asked for
 * again while the first has no result is not produced again: both wait for the one. Any result with the key that comes
 * later ends all waiting, whoever's message it answers.
 *
 * Bounded: requests beyond max_requests are forgotten, the oldest first, but for those that somebody waits for or whose
 * message is on its way; answers beyond max_bytes likewise, and while answers that are being sent take as much again, new ones are not
 * kept.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/request.h"

struct ing_ask;
struct ing_asks;
struct ing_blob;

#define ING_ASK_KEY_BYTES 40 /* SHA-1 in hex, as the result's Kafka key has it */

enum ing_ask_state {
	ING_ASKS_UNKNOWN,
	ING_ASKS_SENDING, /* not acknowledged yet */
	ING_ASKS_QUEUED,
	ING_ASKS_DONE,
};

enum ing_wait_end {
	ING_WAIT_SENDING, /* for the acknowledgement */
	ING_WAIT_RESULT,
	ING_WAIT_DONE,
	ING_WAIT_FAILED, /* it was not acknowledged */
};

struct ing_wait {
	struct ing_ask *ask;
	struct ing_wait *prev, *next;
	uint64_t message; /* which of the request's messages */
	enum ing_wait_end at;
	void (*moved)(struct ing_wait *w); /* `at` has changed; begins, joins and leaves nothing */
	void *ctx;
};

struct ing_asks *ing_asks_new(size_t max_requests, size_t max_bytes);
void ing_asks_free(struct ing_asks *a); /* nobody waits; NULL is fine */

/* Begins to wait, for the acknowledgement and then the result. True: the message is to be produced, with
 * ing_wait_delivery() as its opaque. */
bool ing_asks_begin(struct ing_asks *a, const char *key, const char *message, size_t message_bytes,
	uint64_t now_ms, struct ing_wait *w);
/* Waits for the result of what is on its way: false when it is not. */
bool ing_asks_join(struct ing_asks *a, const char *key, struct ing_wait *w);
void ing_asks_leave(struct ing_asks *a, struct ing_wait *w); /* also when it has ended */

/* To be handed back by ing_asks_delivered(), once. */
struct ing_ask_delivery;
struct ing_ask_delivery *ing_wait_delivery(const struct ing_wait *w);
void ing_asks_delivered(struct ing_asks *a, struct ing_ask_delivery *d, bool ok);

/* A message of the results topic. value is looked at only when the key is that of a request that is known here. */
void ing_asks_result(struct ing_asks *a, const char *key, size_t key_bytes, const char *value,
	size_t value_bytes);

enum ing_ask_state ing_asks_state(const struct ing_asks *a, const char *key);
/* {"id","state":"done","location","from":"topic","result"}: borrowed; NULL when it is not kept. */
struct ing_blob *ing_asks_answer(const struct ing_asks *a, const char *key);

struct ing_asks_stats {
	size_t requests, waiting; /* known; of those without a result */
	size_t kept_bytes;        /* of answers, also of those that are being sent */
	uint64_t results, not_kept;
};
void ing_asks_stats(const struct ing_asks *a, struct ing_asks_stats *ret);
