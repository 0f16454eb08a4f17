/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fakes.h - an object store, a store, an emit and an intake that keep what they are given until the test lets
 * them call back. They define the functions that deliver calls, and so take the place of the
 * libraries that have them. One thread.
 */
#pragma once
#include <stdbool.h>
#include "worker/deliver/deliver.h"

#define FAKE_PENDING 64
#define FAKE_STAGE ((void *)&fakes) /* for handles that nobody here looks into */

struct fake_message {
	enum ing_output output;
	char *key, *value; /* heap; as text */
	size_t header_count;
	const struct ing_emit_user *user;
	void *ctx;
};

struct fake_record {
	struct ing_emit_record *record;
	bool dropped; /* its epoch, or everything, was called off */
};

struct fakes {
	struct ing_store_item *items[FAKE_PENDING]; /* callbacks owed, oldest first */
	size_t item_count;
	struct ing_object *objects[FAKE_PENDING]; /* the same, of the object store */
	size_t object_count;
	struct fake_message messages[FAKE_PENDING]; /* the same, of side messages */
	size_t message_count;
	struct fake_record records[FAKE_PENDING]; /* the same, of commits */
	size_t record_count;
	struct ing_token finished[FAKE_PENDING]; /* by a commit */
	size_t finished_count;
	int64_t pruned[FAKE_PENDING]; /* offsets of rows of the outbox */
	size_t pruned_count;
	unsigned fenced; /* tokens that intake was told of */
	bool epoch_over; /* intake knows no source */
	bool objects_blocked, store_blocked, emit_blocked;
	size_t max_value_bytes; /* of every output */
};

extern struct fakes fakes;

void fake_reset(void); /* nothing may be owed */
void fake_stored(void);
/* The oldest item: the partition has another owner. */
void fake_store_fenced(void);
/* The oldest item: its request has this answer. */
void fake_store_answered(enum ing_output output, const char *value);
/* The i-th object. */
void fake_object_ended(size_t i, enum ing_object_end end);
bool fake_is_wanted(size_t i);
/* The i-th side message: acknowledged, or refused. */
void fake_emitted(size_t i, bool ok);
/* The i-th side message is this one. */
void fake_expect(size_t i, enum ing_output output, const char *key, const char *value);
/* The i-th record: committed, refused, or dropped when it was called off and not committed before. */
void fake_commit_ended(size_t i, enum ing_emit_end end);
/* The i-th record has this message; value NULL: none. */
void fake_expect_record(size_t i, enum ing_output output, const char *key, const char *value);
