/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bump allocation in chunks that grow from 1 to 8 KiB with what is in use: one that has little, as
 * each of the many robots.txt fetches that wait for another try, takes little; a typical job
 * (request, a handful of hops, their URLs) fits into four. A larger piece has a chunk of its size.
 */
#include "common/base/arena.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_CHUNK_BYTES ((size_t)1024)
#define MOST_CHUNK_BYTES ((size_t)8192)
#define ALIGN_BYTES ((size_t)16)

struct ing_arena_chunk {
	struct ing_arena_chunk *next;
	size_t used;
	size_t size;
	char data[] __attribute__((aligned(16)));
};

struct ing_arena_taken {
	struct ing_arena_taken *next;
	void *heap;
};

static struct ing_arena_chunk *add_chunk(struct ing_arena *ar, size_t size)
{
	struct ing_arena_chunk *c = ing_alloc(sizeof(*c) + size);
	c->size = size;
	c->next = ar->chunks;
	ar->chunks = c;
	return c;
}

#ifndef ING_SANITIZED
static size_t next_chunk_bytes(const struct ing_arena *ar, size_t need)
{
	size_t bytes = ING_MIN(ING_MAX(ar->used_bytes, LEAST_CHUNK_BYTES), MOST_CHUNK_BYTES);
	return ING_MAX(bytes, need);
}
#endif

/* -------------------------------------------------------------------------------------------- */

void ing_arena_init(struct ing_arena *ar)
{
	*ar = (struct ing_arena){0};
}

void ing_arena_done(struct ing_arena *ar)
{
	for (const struct ing_arena_taken *t = ar->taken; t != NULL; t = t->next)
		free(t->heap);
	struct ing_arena_chunk *c = ar->chunks;
	while (c != NULL) {
		struct ing_arena_chunk *next = c->next;
		free(c);
		c = next;
	}
	*ar = (struct ing_arena){0};
}

void *ing_arena_alloc(struct ing_arena *ar, size_t bytes)
{
	ing_must(bytes < SIZE_MAX / 2);
	size_t need = (bytes + ALIGN_BYTES - 1) & ~(ALIGN_BYTES - 1);
#ifdef ING_SANITIZED
	struct ing_arena_chunk *c = add_chunk(ar, bytes);
#else
	struct ing_arena_chunk *c = ar->chunks;
	if (c == NULL || c->size - c->used < need)
		c = add_chunk(ar, next_chunk_bytes(ar, need));
#endif
	ar->used_bytes += need;
	void *p = c->data + c->used;
	c->used += need;
	return p;
}

char *ing_arena_strndup(struct ing_arena *ar, const char *s, size_t bytes)
{
	char *copy = ing_arena_alloc(ar, bytes + 1);
	memcpy(copy, s, bytes);
	return copy;
}

char *ing_arena_strdup(struct ing_arena *ar, const char *s)
{
	return s == NULL ? NULL : ing_arena_strndup(ar, s, strlen(s));
}

void *ing_arena_take(struct ing_arena *ar, void *heap)
{
	struct ing_arena_taken *t = ing_arena_alloc(ar, sizeof(*t));
	*t = (struct ing_arena_taken){.next = ar->taken, .heap = heap};
	ar->taken = t;
	return heap;
}
