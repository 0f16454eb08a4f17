/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * prune.h - of a JSON text only the members that a source reads, so that the parser builds no tree of the rest: references,
 * abstracts and full texts are most of many lists.
 *
 * What is left out is skipped by its quotes and brackets, and not checked otherwise. Pure.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"

struct ing_arena;
struct ing_seed_path;
struct ing_seed_source;

/* A member that is read; of a list, each of its items. */
struct ing_seed_member {
	const struct ing_seed_member *next;
	const char *name;
	size_t bytes;
	const struct ing_seed_member *members;
	bool whole; /* with everything in it */
};

/* What the source's paths lead through, in its arena. */
const struct ing_seed_member *ing_seed_members(struct ing_seed_source *source);

/* Writes what is read of an object into *ret, which is cleared first. False: the text is no object, nested too deep, or
 * something is wrong with it; the parser can say what. */
bool ing_seed_prune(
	const struct ing_seed_member *read, const char *json, size_t bytes, struct ing_buf *ret);
