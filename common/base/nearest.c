/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Differences are counted as a letter put in, left out or changed, or two neighbours that changed
 * places (optimal string alignment), in three rows of the table.
 */
#include "common/base/nearest.h"

#include <stdint.h>
#include <string.h>

#include "common/base/macros.h"

static size_t count_differences(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	size_t rows[3][ING_NEAREST_MAX_BYTES + 1];
	size_t *before = rows[0];
	size_t *last = rows[1];
	size_t *row = rows[2];
	if (a_bytes > ING_NEAREST_MAX_BYTES || b_bytes > ING_NEAREST_MAX_BYTES)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_bytes; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_bytes; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_bytes; j++) {
			size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = ING_MIN(change, ING_MIN(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = ING_MIN(row[j], before[j - 2] + 1);
		}
		size_t *free_row = before;
		before = last;
		last = row;
		row = free_row;
	}
	return last[b_bytes];
}

/* -------------------------------------------------------------------------------------------- */

struct ing_nearest ing_nearest_of(const char *word, size_t bytes)
{
	/* With more differences than that it is no slip of the fingers. */
	return (struct ing_nearest){.word = word, .bytes = bytes, .limit = bytes / 3 + 2};
}

void ing_nearest_try(struct ing_nearest *n, const char *known)
{
	size_t differences = count_differences(n->word, n->bytes, known, strlen(known));
	if (differences < n->limit) {
		n->limit = differences;
		n->best = known;
	}
}
