/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * deliver.h - writes what is left of a finished request in the order in which it becomes durable:
 * objects, side messages, rows with the outbox, then the message that answers it, committed with its
 * position.
 *
 * A struct ing_delivery holds all of it. Its maker (a job, a robots fetch) fills it and gives it
 * away with ing_deliver_put(). From then on struct ing_deliver owns it, nobody changes it, and it
 * refers to nothing outside itself. It is freed once: when its message is committed, or, if it was
 * cancelled, when objects, store and emit have called back.
 *
 * Kinds: the result of a request; a request that is parked for later; a dead letter, which has no
 * rows; an answer that an earlier process has stored and not committed, which is committed only; a
 * capture, which has an index row alone (robots.txt) and no message; a document that was looked into again
 * without a request, which has rows, objects and side messages.
 *
 * States, counted by ing_deliver_stats():
 *   putting     the object store has the objects
 *   emitting    emit has the side messages
 *   storing     the store has the rows, and the message for the outbox
 *   committing  emit has the message; one that is refused is committed a second time, replaced
 *   cancelled   its partition was revoked, another instance has it, or the worker stops: what emit
 *               has not given to the broker yet is not sent, and nothing is committed
 *
 * The message is another one than was put when the store finds the request answered (an earlier
 * process had stored it): then that answer is committed and our rows are not written.
 *
 * Thread: loop only. Callbacks come from callbacks of store and emit, never from inside a call.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/arena.h"
#include "common/record/cdx.h"
#include "worker/model/lane.h"
#include "worker/model/metrics.h"
#include "worker/model/outputs.h"
#include "worker/model/rows.h"
#include "worker/model/source.h"
#include "worker/model/status.h"
#include "worker/model/token.h"
#include "worker/document/objects/objects.h"
#include "worker/emit/emit.h"
#include "worker/store/store.h"

struct ing_deliver;
struct ing_intake;

enum ing_delivery_kind {
	ING_DELIVERY_RESULT,
	ING_DELIVERY_PARKED,
	ING_DELIVERY_DEAD_LETTER,
	ING_DELIVERY_ANSWERED,
	ING_DELIVERY_CAPTURE,
	ING_DELIVERY_DOCUMENT,
};

struct ing_delivery_cdx_line {
	struct ing_delivery_cdx_line *next;
	struct ing_cdx cdx;
};

struct ing_delivery_rule {
	struct ing_delivery_rule *next;
	const char *name;
};

struct ing_delivery_side_message {
	struct ing_delivery_side_message *next;
	struct ing_delivery *delivery;
	struct ing_output_message m; /* its value goes to emit */
};

struct ing_delivery_object {
	struct ing_delivery_object *next;
	struct ing_delivery *delivery;
	struct ing_derived content;
	struct ing_object put;
};

/* What is counted and told of a result beside its status. */
struct ing_result_facts {
	const char *ingest_type,
		*host; /* host: ing_fact_host() of base_url; NULL: not a result of a job */
	bool hit;
	uint64_t document_bytes; /* 0: it has none */
	const char *key;         /* of the result, by which operators ask for it; NULL as host */
	const char *url;         /* base_url without passwords; NULL as host */
	const char *last_url;    /* of the last answer, the same; NULL: none came */
	const char *message;     /* error_message; NULL: none */
	enum ing_lane lane;
	uint64_t took_ms; /* since it was taken in; set when it is delivered */
};

/* The maker sets the members down to ctx; the functions below set the others. */
struct ing_delivery {
	enum ing_delivery_kind kind;
	struct ing_arena ar;    /* what the members point to, but for values of messages */
	struct ing_token token; /* not of a capture or document */
	/* Of a result, a parked request and an answer: */
	enum ing_lane lane;
	uint64_t accepted_ms;   /* ing_now_ms() clock: when the request was taken in */
	enum ing_status status; /* of a result: counted once it is delivered */
	struct ing_result_facts facts;
	const char *name; /* for the log, without passwords */
	/* Called when it is delivered, before it is freed; not for a cancelled one, which a capture
	 * or document never is. Or NULL. */
	void (*done)(void *ctx, const struct ing_delivery *delivery);
	void *ctx;

	struct ing_delivery_rule *rules; /* scraping rules whose links were followed; for done() */
	struct ing_delivery_cdx_line *cdx_lines;
	struct ing_rows rows;
	struct ing_delivery_object *objects;
	struct ing_delivery_side_message *side_messages; /* in the order in which they are put */
	struct ing_output_message message; /* answers the request; not of a capture or document */

	/* deliver's own. */
	unsigned magic;
	uint8_t state;
	bool answered;  /* message is of an earlier process */
	bool in_outbox; /* to be pruned once it is committed */
	bool replaced;  /* message takes the place of one that was refused */
	struct ing_deliver *deliver;
	struct ing_delivery *prev, *next; /* of the same partition */
	struct ing_source source;         /* when it has something to store, or is in the outbox */
	struct ing_store_item item;
	struct ing_emit_record record;
	unsigned owed;     /* callbacks of objects, store and emit */
	size_t side_bytes; /* of objects and side messages */
};

struct ing_delivery *ing_delivery_new(enum ing_delivery_kind kind); /* empty */
/* For one that was not put. NULL is fine. */
void ing_delivery_free(struct ing_delivery *delivery);
/* These copy what they are given; values of messages (heap) they take. */
void ing_delivery_set_rows(struct ing_delivery *delivery, const struct ing_rows *rows);
void ing_delivery_add_cdx_line(struct ing_delivery *delivery, const struct ing_cdx *line);
void ing_delivery_add_rule(struct ing_delivery *delivery, const char *name);
/* The message that answers the request (a result, a parked request, a dead letter; the last one counts),
 * or one beside it. */
void ing_delivery_add_message(struct ing_delivery *delivery, const struct ing_output_message *m);

/* An object beside the result, of the document with this SHA-1. Takes its content. */
void ing_delivery_add_object(struct ing_delivery *delivery, enum ing_derived_kind kind,
	const char *sha1hex, struct ing_derived *content);

/* Once it is delivered, in done(): it was a result, and not one that an earlier process had made. */
bool ing_delivery_is_new_result(const struct ing_delivery *delivery);

struct ing_deliver_stages {
	struct ing_intake *intake;
	struct ing_store *store; /* NULL: rows are dropped */
	struct ing_emit *emit;
	struct ing_objects *objects; /* NULL: there is no object store */
	/* Called from ing_deliver_put() for each line of the capture index; or NULL. */
	void (*on_cdx)(void *ctx, const struct ing_cdx *line);
	/* The broker has refused a result: a shorter one of at most max_bytes (heap), with status
	 * result-too-large. Returns NULL when there is none. Or NULL. */
	char *(*shorten)(const char *result, size_t bytes, size_t max_bytes, size_t *ret_bytes);
	/* The broker has refused a parked request (there is no such topic any more): make the
	 * result that it gets instead, status host-backoff. Value (heap) and key (in ar) of *ret are
	 * to be set. NULL: parked requests are never refused. */
	void (*answer_parked)(void *ctx, struct ing_arena *ar,
		const struct ing_output_message *parked, size_t max_value_bytes,
		struct ing_output_message *ret);
	void *ctx;
	const char *output; /* what emit writes to, for messages; NULL: "broker" */
	/* Messages are lines of a file: rows are kept without what answers them, and without a fence. */
	bool without_outbox;
};

/* max_message_bytes: kafka.max_message_bytes. */
struct ing_deliver *ing_deliver_new(size_t max_message_bytes);
/* Copied; before the first delivery. */
void ing_deliver_wire(struct ing_deliver *d, const struct ing_deliver_stages *stages);
void ing_deliver_free(struct ing_deliver *d); /* NULL is fine; ing_deliver_idle() */

/* Takes *delivery. Returns false when there is nothing to wait for (a capture without a store, a document
 * without anything, or a token whose epoch is over): it is freed, and done() is not called. */
bool ing_deliver_put(struct ing_deliver *d, struct ing_delivery **delivery);

/* Whether objects, rows, or lines of the capture index, are wanted at all. */
bool ing_deliver_wants_objects(const struct ing_deliver *d);
bool ing_deliver_wants_rows(const struct ing_deliver *d);
bool ing_deliver_wants_cdx_lines(const struct ing_deliver *d);
/* Most bytes that the value of a message may have. */
size_t ing_deliver_max_value_bytes(const struct ing_deliver *d, enum ing_output output);

/* The tiers in which requests can be parked: bits 1 << tier. */
unsigned ing_deliver_tiers(const struct ing_deliver *d);

/* Cancel the deliveries of this epoch of the partition; its next owner does the requests again. */
void ing_deliver_revoke(struct ing_deliver *d, int32_t partition_index, uint32_t epoch);
/* Cancel all deliveries but captures and documents. */
void ing_deliver_cancel(struct ing_deliver *d);
bool ing_deliver_idle(const struct ing_deliver *d);

/* What is under way, cancelled ones included. */
struct ing_deliver_load {
	unsigned results; /* and answers */
	unsigned parked;
	unsigned lanes[ING_LANES_]; /* both, of each lane */
	unsigned cancelled;         /* of both */
	unsigned dead_letters, captures, documents;
	size_t side_bytes;        /* of objects and side messages */
	uint64_t cancelled_total; /* of both, since the start */
};
const struct ing_deliver_load *ing_deliver_load(const struct ing_deliver *d);
/* What deliveries wait for ("object store", "database", "broker"), or NULL. */
const char *ing_deliver_blocked_by(const struct ing_deliver *d);
/* accepted_ms of the oldest of the results under way; UINT64_MAX without any. Looks at each of them. */
uint64_t ing_deliver_oldest_ms(const struct ing_deliver *d);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_deliver_stats(const struct ing_deliver *d, struct ing_deliver_stats *ret);
