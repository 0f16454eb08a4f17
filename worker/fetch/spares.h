/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * spares.h - memfds of bodies that are gone, to be written again.
 *
 * Writing into pages that a memfd has already costs half of allocating them, and closing one frees
 * page by page. Only what no other process has had a descriptor of may be kept: whoever has one
 * reads the next body, too. A kept memfd is longer than its next body, perhaps. Loop thread.
 */
#pragma once
#include <stddef.h>

/* Bodies that are in memory at the same time in a busy worker are about as many as its transfers. */
#define ING_SPARES_MAX 64

struct ing_spares {
	int fds[ING_SPARES_MAX];
	size_t sizes[ING_SPARES_MAX];
	unsigned count;
	size_t bytes, max_bytes; /* of all */
};

void ing_spares_init(struct ing_spares *s, size_t max_bytes);
/* Closes all; what is given later is closed at once. */
void ing_spares_done(struct ing_spares *s);
/* Returns a memfd, a new one if there is none, or -1 with errno. */
int ing_spares_take(struct ing_spares *s);
/* Takes the descriptor. */
void ing_spares_give(struct ing_spares *s, int fd);
