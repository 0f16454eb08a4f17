/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * WARC files: the first byte says how the rest is cut. Records are numbered and in order, and the same whatever the cut.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/record/warc_list.h"

FUZZ_BUDGET(.cpu_us = 4000, .cpu_byte_ns = 100000, .heap_kb = 700, .heap_byte = 30);

struct seen {
	uint64_t records, damages, last;
};

static void note_record(void *ctx, const struct ing_warc_item *item)
{
	struct seen *s = ctx;
	ing_must(item->number == ++s->records);
	ing_must(item->number == 1 || item->offset > s->last);
	ing_must(item->type.text != NULL && memchr(item->mime, '\0', sizeof(item->mime)) != NULL);
	ing_must(item->status == 0 || (item->status >= 100 && item->status <= 999));
	s->last = item->offset;
}

static void note_damage(void *ctx, uint64_t number, uint64_t offset, const char *what)
{
	struct seen *s = ctx;
	ing_must(number == s->records + 1 && what[0] != '\0');
	ing_must(s->records == 0 || offset > s->last);
	s->damages++;
}

static struct seen list(const uint8_t *data, size_t size, size_t step)
{
	static const struct ing_warc_list_user user = {note_record, note_damage};
	struct seen s = {0};
	struct ing_warc_list *l = ing_warc_list_new(&user, &s);
	for (size_t at = 0; at < size; at += step)
		ing_warc_list_add(l, data + at, ING_MIN(step, size - at));
	ing_warc_list_end(l);
	ing_warc_list_free(l);
	return s;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size < 2)
		return;
	struct seen whole = list(data + 1, size - 1, size);
	struct seen pieces = list(data + 1, size - 1, ING_MAX(data[0] % 61 + 1u, size / 64));
	ing_must(memcmp(&whole, &pieces, sizeof(whole)) == 0);
}
