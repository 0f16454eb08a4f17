/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * path.h - the values that a path leads to. Pure.
 */
#pragma once
#include "common/data/json.h"
#include "worker/seeds/source_priv.h"

/* A value, which is no list, and not null. True: enough. */
typedef bool ing_seed_leaf_f(void *ctx, const json_t *value);
/* Each value at the end of the path that begins at root; lists are walked through. True: fn has had enough. */
bool ing_seed_walk(
	const struct ing_seed_path *path, const json_t *root, ing_seed_leaf_f *fn, void *ctx);

#define ING_SEED_NUMBER_BYTES 32
/* A string, number, true or false as text, which may be `number` or belong to the value. False: it is none, or has U+0000. */
bool ing_seed_leaf_text(const json_t *value, char number[ING_SEED_NUMBER_BYTES], const char **ret_s,
	size_t *ret_bytes);
