/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * arena.h - memory that is freed together: one per job, from admission to the end.
 *
 * Owned by one thread at a time. Allocations abort when memory is short; the
 * caller checks sizes that come from input first. In sanitized builds every allocation is a malloc of its own, so that
 * the sanitizer sees overruns.
 */
#pragma once
#include "common/base/macros.h"

struct ing_arena {
	struct ing_arena_chunk *chunks;
	struct ing_arena_taken *taken; /* heap blocks */
	size_t used_bytes;             /* handed out since init or clear */
};

void ing_arena_init(struct ing_arena *ar);
void ing_arena_done(struct ing_arena *ar); /* frees all; zero-initialised or done before is fine */
void *ing_arena_alloc(struct ing_arena *ar, size_t bytes); /* zeroed, aligned to 16 */
char *ing_arena_strndup(struct ing_arena *ar, const char *s, size_t bytes);
char *ing_arena_strdup(struct ing_arena *ar, const char *s); /* NULL stays NULL */
/* A heap block, which is freed with the arena: for what is too large to be copied. */
void *ing_arena_take(struct ing_arena *ar, void *heap);
