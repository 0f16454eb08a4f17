/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * deliver.h - the way out: what is left of a finished request is stored, then sent, and then its
 * position is finished.
 *
 * A struct ing_delivery holds all of that: lines for the capture index, rows, messages, the token.
 * Whoever made it fills it and gives it away with ing_deliver_put(); from then on it has one owner,
 * struct ing_deliver, is not changed, and refers to nothing outside itself. It is freed once, when
 * it is over: its rows are committed, its messages acknowledged, its position finished; or when it
 * was cancelled and neither store nor emit has it any more.
 *
 * There are three kinds: a request's result; a dead letter, which has no rows; a capture, which has
 * no message and no position (the index row of a robots.txt).
 *
 * States, by which ing_deliver_stats counts them:
 *   storing    the store has the rows
 *   emitting   emit has the messages, all at once; the result may be sent a second time, shorter
 *   cancelled  its epoch is over, or the worker stops: nothing more is sent or finished, and what
 *              emit has not yet given to the broker is left out. It waits for the callbacks it is
 *              owed.
 *
 * A message that the broker refuses for good is treated as worker/model/outputs.def has it, and
 * never keeps the position from being finished.
 *
 * Thread: loop only. Callbacks come from those of store and emit, never from inside a call.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/arena.h"
#include "common/record/cdx.h"
#include "worker/model/lane.h"
#include "worker/model/status.h"
#include "worker/model/metrics.h"
#include "worker/model/outputs.h"
#include "worker/model/rows.h"
#include "worker/model/token.h"
#include "worker/store/store.h"

struct ing_deliver;
struct ing_emit;
struct ing_intake;

enum ing_delivery_kind { ING_DELIVERY_RESULT, ING_DELIVERY_DEAD_LETTER, ING_DELIVERY_CAPTURE };

struct ing_delivery_line {
	struct ing_delivery_line *next;
	struct ing_cdx cdx;
};

struct ing_delivery_rule {
	struct ing_delivery_rule *next;
	const char *name;
};

struct ing_delivery_message {
	struct ing_delivery_message *next;
	struct ing_delivery *delivery;
	struct ing_output_message m; /* its value goes to emit */
};

/* The maker sets the first members, and the lists by the functions below. */
struct ing_delivery {
	enum ing_delivery_kind kind;
	struct ing_arena ar;    /* what the members point to, but for values of messages */
	struct ing_token token; /* not of a capture */
	/* Of a result: */
	enum ing_lane lane;
	uint64_t born_ms;       /* ing_now_ms() clock: when the request was taken in */
	enum ing_status status; /* counted once it is delivered */
	const char *name;       /* for the log, without passwords */
	/* Called once it is delivered, right before it is freed; not when it was cancelled. NULL:
	 * nobody is told. A capture is never cancelled. */
	void (*done)(void *ctx, const struct ing_delivery *delivery);
	void *ctx;

	struct ing_delivery_rule *rules; /* scraping rules whose links led here; for done() */
	struct ing_delivery_line *lines;
	struct ing_rows rows;
	struct ing_delivery_message *messages; /* in the order in which they are put */
	char *shortest; /* heap: takes the place of a result that is refused; or NULL */
	size_t shortest_bytes;

	/* deliver's own. */
	unsigned magic;
	uint8_t state;
	struct ing_deliver *deliver;
	struct ing_delivery *prev, *next; /* of the same partition, oldest request first */
	struct ing_store_item item;
	unsigned owed; /* callbacks of store and emit */
	size_t side_bytes;
};

/* A delivery without rows and messages. */
struct ing_delivery *ing_delivery_new(enum ing_delivery_kind kind);
/* NULL is fine; of one that was not put. */
void ing_delivery_free(struct ing_delivery *delivery);
/* These copy what they are given, but for values (heap), which they take. */
void ing_delivery_set_rows(struct ing_delivery *delivery, const struct ing_rows *rows);
void ing_delivery_add_line(struct ing_delivery *delivery, const struct ing_cdx *line);
void ing_delivery_add_rule(struct ing_delivery *delivery, const char *name);
void ing_delivery_add_message(struct ing_delivery *delivery, const struct ing_output_message *m);
void ing_delivery_set_shortest(struct ing_delivery *delivery, char *value, size_t value_bytes);

struct ing_deliver_stages {
	struct ing_intake *intake;
	struct ing_store *store; /* NULL: rows are dropped */
	struct ing_emit *emit;
	/* Called with every line of the capture index, when its delivery is put. NULL: nobody wants
	 * them. */
	void (*on_cdx)(void *ctx, const struct ing_cdx *line);
	void *ctx;
	const char *output; /* what emit writes to, for words about it; NULL: "broker" */
};

/* max_message_bytes: kafka.max_message_bytes. */
struct ing_deliver *ing_deliver_new(size_t max_message_bytes);
/* Copied; before the first delivery. */
void ing_deliver_wire(struct ing_deliver *d, const struct ing_deliver_stages *stages);
void ing_deliver_free(struct ing_deliver *d); /* NULL is fine; ing_deliver_idle() */

/* Takes *delivery. False: nothing of it is waited for (a capture without a store), it is over and
 * freed, and done() does not come. */
bool ing_deliver_put(struct ing_deliver *d, struct ing_delivery **delivery);

/* There is a store for rows; somebody wants lines of the capture index. Else there is no need to
 * make any. */
bool ing_deliver_wants_rows(const struct ing_deliver *d);
bool ing_deliver_wants_lines(const struct ing_deliver *d);
/* Most bytes of a value for this output. */
size_t ing_deliver_max_value_bytes(const struct ing_deliver *d, enum ing_output output);

/* This epoch of the partition is over: the next owner does its requests again. */
void ing_deliver_revoke(struct ing_deliver *d, int32_t partition_slot, uint32_t epoch);
/* The worker cannot wait any longer: as if all epochs were over. */
void ing_deliver_cancel(struct ing_deliver *d);
bool ing_deliver_idle(const struct ing_deliver *d);

/* What is under way, cancelled ones included. */
struct ing_deliver_load {
	unsigned results, lanes[ING_LANES_]; /* all; of each lane */
	unsigned cancelled;                  /* of all results */
	unsigned dead_letters, captures;
	size_t side_bytes; /* of messages beside results and dead letters */
	uint64_t cancelled_so_far;
};
const struct ing_deliver_load *ing_deliver_load(const struct ing_deliver *d);
/* What keeps deliveries from leaving ("database", "broker"), or NULL. */
const char *ing_deliver_blocked_by(const struct ing_deliver *d);
/* When the oldest request whose result is under way was taken in; UINT64_MAX: there is none. */
uint64_t ing_deliver_oldest_ms(const struct ing_deliver *d);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_deliver_stats(const struct ing_deliver *d, struct ing_deliver_stats *ret);
