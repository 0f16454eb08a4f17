/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A window as long as the shortest of the texts moves over the long one. A table says, by the last
 * two bytes in the window, how far it may move before any of the texts can end there; at 0, those
 * texts are compared whose first bytes end so. Where case does not count, bit 0x20 of each byte is
 * set for the table: other bytes fall together, too, which only costs a comparison.
 */
#include "worker/scrape/jsoup/literals.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"

#define LEAST_BITS 8
#define MOST_BITS 12
#define SLOTS_PER_PAIR 4

struct entry {
	struct ing_literal literal;
	uint16_t last; /* slot of the window's last two bytes */
};

struct ing_literals {
	size_t count, window;
	uint16_t mask; /* bits set in each pair before it is looked up */
	bool fold;
	unsigned bits;
	struct entry *entries;
	uint8_t skips[];
};

static unsigned slot_of(const struct ing_literals *l, const char *pair)
{
	uint16_t v;
	memcpy(&v, pair, sizeof(v));
	return ((uint32_t)(v | l->mask) * UINT32_C(0x9e3779b1)) >> (32 - l->bits);
}

static unsigned bits_for(size_t pairs)
{
	unsigned bits = LEAST_BITS;
	while (bits < MOST_BITS && (size_t)1 << bits < pairs * SLOTS_PER_PAIR)
		bits++;
	return bits;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool equals(const struct ing_literals *l, const struct ing_literal *x, const char *s)
{
	if (!l->fold)
		return memcmp(s, x->text, x->bytes) == 0;
	size_t i = 0;
	while (i < x->bytes && lower(s[i]) == x->text[i])
		i++;
	return i == x->bytes;
}

/* Whether a text stands where the window is. */
static bool stands_at(
	const struct ing_literals *l, unsigned slot, const char *window, size_t bytes_left)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct entry *e = &l->entries[i];
		if (e->last == slot && e->literal.bytes <= bytes_left &&
			equals(l, &e->literal, window))
			return true;
	}
	return false;
}

static void add_pairs(struct ing_literals *l, const struct ing_literal *x)
{
	for (size_t i = 0; i + 2 <= l->window; i++) {
		uint8_t *skip = &l->skips[slot_of(l, x->text + i)];
		*skip = (uint8_t)ING_MIN((size_t)*skip, l->window - 2 - i);
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_literals *ing_literals_new(const struct ing_literal *items, size_t count, bool fold)
{
	size_t window = ING_LITERAL_BYTES;
	ing_must(count > 0 && count <= ING_LITERALS_MAX);
	for (size_t i = 0; i < count; i++)
		window = ING_MIN(window, (size_t)items[i].bytes);
	ing_must(window >= ING_LITERAL_LEAST);
	unsigned bits = bits_for(count * (window - 1));
	struct ing_literals *l = ing_alloc(sizeof(*l) + ((size_t)1 << bits));
	l->count = count;
	l->window = window;
	l->mask = fold ? 0x2020 : 0;
	l->fold = fold;
	l->bits = bits;
	l->entries = ing_alloc(count * sizeof(*l->entries));
	memset(l->skips, (int)(window - 1), (size_t)1 << bits);
	for (size_t i = 0; i < count; i++) {
		l->entries[i].literal = items[i];
		l->entries[i].last = (uint16_t)slot_of(l, items[i].text + window - 2);
		add_pairs(l, &items[i]);
	}
	return l;
}

void ing_literals_free(struct ing_literals *l)
{
	if (l == NULL)
		return;
	free(l->entries);
	free(l);
}

bool ing_literals_in(const struct ing_literals *l, const char *text, size_t bytes)
{
	size_t at = 0;
	while (bytes - at >= l->window) {
		unsigned slot = slot_of(l, text + at + l->window - 2);
		size_t skip = l->skips[slot];
		if (skip == 0) {
			if (stands_at(l, slot, text + at, bytes - at))
				return true;
			skip = 1;
		}
		at += skip;
		if (at > bytes)
			return false;
	}
	return false;
}
