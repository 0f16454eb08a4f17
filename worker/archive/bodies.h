/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bodies.h - the bodies of the next items, read once and digested together.
 *
 * Owns: a buffer of ING_ARCHIVE_BODIES_BYTES, which is reused. Items are borrowed from one load to the
 * next, or until they are dropped. The archive thread's.
 */
#pragma once
#include "common/record/warc_file.h"

struct ing_archive_item;
struct ing_node;

/* Digests are fastest for sixteen streams or twice as many, and while they are in the CPU's cache. A
 * larger body is read and digested by itself, piece by piece. */
#define ING_ARCHIVE_BODIES 32
#define ING_ARCHIVE_BODIES_BYTES ((size_t)8 << 20)

struct ing_archive_body {
	const struct ing_archive_item *item;
	bool ready; /* the rest is set; else it is too large or cannot be read */
	void *data; /* NULL: of no byte */
	size_t bytes;
	struct ing_warc_digests
		digests; /* of the answer, that is its head and body, and of the body */
};

struct ing_archive_bodies;

struct ing_archive_bodies *ing_archive_bodies_new(void);
void ing_archive_bodies_free(struct ing_archive_bodies *b); /* NULL is fine */
/* Forgets those before. Takes as many from the front of the list as fit, at least the first; `blocks`:
 * the digest of the whole answer is wanted, too. */
void ing_archive_bodies_load(struct ing_archive_bodies *b, struct ing_node *first, bool blocks);
/* Returns NULL when it is not among those loaded. */
const struct ing_archive_body *ing_archive_bodies_find(
	const struct ing_archive_bodies *b, const struct ing_archive_item *item);
/* The item is about to leave the archive: its memory may be another one's next. */
void ing_archive_bodies_drop(struct ing_archive_bodies *b, const struct ing_archive_item *item);
