/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ways_out.h - a store, an emit and an intake that keep what they are given until the test lets
 * them call back. They define the functions that deliver calls, and so take the place of the
 * libraries that have them. One thread.
 */
#pragma once
#include <stdbool.h>
#include "worker/deliver/deliver.h"

#define OUT_PENDING 64
#define OUT_STAGE ((void *)&out) /* for handles that nobody here looks into */

struct out_message {
	enum ing_output output;
	char *key, *value; /* heap; as text */
	size_t header_count;
	const struct ing_emit_user *user;
	void *ctx;
};

struct out {
	struct ing_store_item *items[OUT_PENDING]; /* callbacks owed, oldest first */
	size_t item_count;
	struct out_message messages[OUT_PENDING]; /* callbacks owed, oldest first */
	size_t message_count;
	struct ing_token finished[OUT_PENDING];
	size_t finished_count;
	bool store_blocked, emit_blocked;
	size_t max_value_bytes; /* of every output */
};

extern struct out out;

void out_reset(void); /* nothing may be owed */
void out_stored(void);
bool out_is_wanted(size_t i);
/* The i-th message: acknowledged, or refused. */
void out_emitted(size_t i, bool ok);
/* The only message, or the i-th, is this one. */
void out_expect(size_t i, enum ing_output output, const char *key, const char *value);
