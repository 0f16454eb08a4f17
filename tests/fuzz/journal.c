/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A crash journal that another process left. The input says what is written where into an empty
 * one, records with or without a good check; what is read must be valid, and what was read and
 * written must be read as the same.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/macros.h"
#include "worker/journal/journal_file.h"

FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 500, .heap_kb = 64, .heap_byte = 64);

#define NOW_MS INT64_C(1800000000000)

static struct ing_journal_file file;

static void clear(void)
{
	memset(&file, 0, sizeof(file));
	file.head.magic = ING_JOURNAL_MAGIC;
	file.head.fault.state = ING_LIFE_FAULT;
}

static void write_head(const uint8_t *data, size_t size)
{
	uint8_t *to = size % 2 == 0 ? (uint8_t *)&file.head : (uint8_t *)file.topics;
	memcpy(to, data, size);
	if (size % 3 != 0)
		file.head.magic = ING_JOURNAL_MAGIC;
}

/* A piece: what it is, where it goes, how many bytes follow. */
static size_t apply(const uint8_t *data, size_t size)
{
	size_t bytes = ING_MIN((size_t)data[3] % 65, size - 4);
	size_t at = (size_t)(data[1] << 8 | data[2]);
	struct ing_journal_record *r = data[0] % 2 == 0 ? &file.suspects[at % ING_JOURNAL_SUSPECTS]
							: &file.records[at % ING_JOURNAL_RECORDS];
	if (data[0] % 8 == 7) {
		write_head(data + 4, bytes);
		return 4 + bytes;
	}
	memcpy(r, data + 4, bytes);
	if (data[0] % 8 < 4)
		r->check = ing_journal_check(r);
	return 4 + bytes;
}

static void check_past(const struct ing_journal_past *past)
{
	ing_must(past->suspect_count <= ING_JOURNAL_SUSPECTS);
	ing_must(past->state >= ING_LIFE_RUNNING && past->state <= ING_LIFE_FAULT);
	for (size_t i = 0; i < ING_JOURNAL_TOPICS; i++)
		ing_must(memchr(past->topics[i], '\0', ING_JOURNAL_TOPIC_BYTES) != NULL);
	for (size_t i = 0; i < past->suspect_count; i++) {
		const struct ing_journal_record *r = &past->suspects[i];
		ing_must(r->check == ing_journal_check(r) && r->deaths > 0 && r->condemned <= 1);
		ing_must(r->stage < ING_STAGES_ && past->topics[r->topic][0] != '\0');
		ing_must(i == 0 || !ing_journal_same(r, r - 1));
	}
}

static void check_again(struct ing_journal_past *past)
{
	struct ing_journal_past second;
	clear();
	memcpy(file.topics, past->topics, sizeof(file.topics));
	memcpy(file.suspects, past->suspects, past->suspect_count * sizeof(*past->suspects));
	ing_must(ing_journal_read(&file, sizeof(file), NOW_MS, &second));
	ing_must(second.suspect_count == past->suspect_count && second.torn == 0);
	ing_must(second.in_flight == 0);
	ing_journal_past_done(&second);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_journal_past past;
	clear();
	memcpy(file.topics[0], "requests", sizeof("requests"));
	for (size_t at = 0; at + 4 < size;)
		at += apply(data + at, size - at);
	ing_must(!ing_journal_read(&file, size % sizeof(file), NOW_MS, &past));
	if (!ing_journal_read(&file, sizeof(file), NOW_MS, &past))
		return;
	check_past(&past);
	check_again(&past);
	ing_journal_past_done(&past);
}
