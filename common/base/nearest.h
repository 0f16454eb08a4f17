/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nearest.h - a suggestion for a misspelt key, option or verb. Pure; any thread.
 *
 *     struct ing_nearest n = ing_nearest_of(word, strlen(word));
 *     for (each known word) ing_nearest_try(&n, known);
 *     if (n.best != NULL) … did you mean n.best
 */
#pragma once
#include <stddef.h>

#define ING_NEAREST_MAX_BYTES 100 /* what is longer is like nothing */

struct ing_nearest {
	const char *word; /* borrowed; not NUL-terminated */
	size_t bytes;
	const char *best; /* borrowed from the caller of ing_nearest_try(); NULL: none is near */
	size_t limit;     /* edit distance that a better word must be below */
};

struct ing_nearest ing_nearest_of(const char *word, size_t bytes);
/* known stays the caller's, and must outlive n. Of equally near ones the first counts. */
void ing_nearest_try(struct ing_nearest *n, const char *known);
