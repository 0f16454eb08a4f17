/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Wu and Manber's idea with steps of one length. Of m bytes, the length of the shortest needle, every
 * place of a needle covers a whole group of four bytes at one of the places 0, m-3, 2(m-3) … of the
 * text. So only these groups are read and looked up in a table of all groups that the first m bytes of the
 * needles have; only where one is found the needles with that group are compared. A text full of such
 * groups costs each needle's length at every step: it stays linear.
 */
#include "common/base/needles.h"

#include <string.h>

#include "common/base/macros.h"

#define GROUP_BYTES ((size_t)ING_MIN_NEEDLE_BYTES)
#define HASH_BITS 11
#define MAX_GROUPS (ING_MAX_NEEDLES * (ING_MAX_NEEDLE_BYTES - GROUP_BYTES + 1))

struct group {
	uint8_t needle, offset; /* where it stands in the needle */
	uint16_t next;          /* number + 1 of another with the same hash, or 0 */
};

struct table {
	const char *const *needles;
	size_t step;
	uint8_t lengths[ING_MAX_NEEDLES];
	uint16_t first[1 << HASH_BITS]; /* number + 1 of a group, or 0 */
	uint16_t count;
	struct group groups[MAX_GROUPS];
};

static uint32_t hash_at(const char *s)
{
	uint32_t four;
	memcpy(&four, s, sizeof(four));
	return four * UINT32_C(0x9e3779b1) >> (32 - HASH_BITS);
}

static void read_needles(struct table *t, size_t count)
{
	size_t shortest = ING_MAX_NEEDLE_BYTES;
	for (size_t i = 0; i < count; i++) {
		size_t bytes = strlen(t->needles[i]);
		ing_must(bytes >= ING_MIN_NEEDLE_BYTES && bytes <= ING_MAX_NEEDLE_BYTES);
		t->lengths[i] = (uint8_t)bytes;
		shortest = ING_MIN(shortest, bytes);
	}
	t->step = shortest - GROUP_BYTES + 1;
}

static void add_groups(struct table *t, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < t->step; k++) {
			uint16_t *first = &t->first[hash_at(t->needles[i] + k)];
			t->groups[t->count] = (struct group){
				.needle = (uint8_t)i, .offset = (uint8_t)k, .next = *first};
			*first = ++t->count;
		}
	}
}

/* The needles that have the group at `at` and stand there. */
static uint64_t compare_at(
	const struct table *t, uint16_t number, const char *s, size_t bytes, size_t at)
{
	uint64_t found = 0;
	while (number != 0) {
		const struct group *g = &t->groups[number - 1];
		size_t length = t->lengths[g->needle];
		if (at >= g->offset && bytes - (at - g->offset) >= length &&
			memcmp(s + at - g->offset, t->needles[g->needle], length) == 0)
			found |= UINT64_C(1) << g->needle;
		number = g->next;
	}
	return found;
}

/* -------------------------------------------------------------------------------------------- */

uint64_t ing_needles_in(const char *s, size_t bytes, const char *const *needles, size_t count)
{
	struct table t;
	ing_must(count <= ING_MAX_NEEDLES);
	t.needles = needles;
	t.count = 0;
	memset(t.first, 0, sizeof(t.first));
	read_needles(&t, count);
	add_groups(&t, count);
	uint64_t found = 0;
	for (size_t at = 0; bytes >= GROUP_BYTES && at <= bytes - GROUP_BYTES; at += t.step) {
		uint16_t number = t.first[hash_at(s + at)];
		if (number != 0)
			found |= compare_at(&t, number, s, bytes, at);
	}
	return found;
}
