/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fakes.h - a store, an emit and an intake that keep what they are given until the test lets
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

struct fakes {
	struct ing_store_item *items[FAKE_PENDING]; /* callbacks owed, oldest first */
	size_t item_count;
	struct fake_message messages[FAKE_PENDING]; /* callbacks owed, oldest first */
	size_t message_count;
	struct ing_token finished[FAKE_PENDING];
	size_t finished_count;
	bool store_blocked, emit_blocked;
	size_t max_value_bytes; /* of every output */
};

extern struct fakes fakes;

void fake_reset(void); /* nothing may be owed */
void fake_stored(void);
bool fake_is_wanted(size_t i);
/* The i-th message: acknowledged, or refused. */
void fake_emitted(size_t i, bool ok);
/* The only message, or the i-th, is this one. */
void fake_expect(size_t i, enum ing_output output, const char *key, const char *value);
