/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Position maps. The input is read in three ways: as the text itself; as what is in it, with a valid
 * checksum; and as the moves of a tracker, whose map must fit, and say of each message what the
 * tracker says.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/data/base64.h"
#include "common/data/compress.h"
#include "worker/intake/offset_tracker.h"
#include "worker/intake/position_map.h"

/* A tracker of 21,720 messages, and a larger one into which it grows. */
FUZZ_BUDGET(.cpu_us = 10000, .cpu_byte_ns = 2000, .heap_kb = 2048, .heap_byte = 100);

/* What is made of a map has the same map. */
static void check_restored(const struct ing_position_map *m)
{
	struct ing_offset_tracker t;
	struct ing_buf out;
	struct ing_position_map *again = NULL;
	ing_offset_tracker_init(&t, ing_position_map_low_water(m));
	ing_position_map_restore(m, &t);
	ing_must(t.position == ing_position_map_end(m));
	ing_buf_init(&out, ING_POSITION_MAP_MAX_CHARS);
	ing_position_map_encode(&t, &out);
	ing_must(!out.failed && out.len > 0);
	ing_must(ing_position_map_decode(ing_buf_str(&out), out.len, &again, NULL) == 0);
	ing_must(ing_position_map_low_water(again) == ing_position_map_low_water(m));
	ing_must(ing_position_map_end(again) == ing_position_map_end(m));
	ing_must(ing_position_map_count(again) == ing_position_map_count(m));
	for (size_t i = 0; i < t.count; i++) {
		int64_t offset = ing_offset_tracker_at(&t, i)->offset;
		ing_must(ing_position_map_has(again, offset) == ing_position_map_has(m, offset));
	}
	ing_position_map_free(again);
	ing_buf_done(&out);
	ing_offset_tracker_done(&t);
}

static void check_map(const struct ing_position_map *m)
{
	int64_t low = ing_position_map_low_water(m);
	int64_t end = ing_position_map_end(m);
	ing_must(low >= 0 && low <= end);
	ing_must(!ing_position_map_has(m, end) && !ing_position_map_has(m, INT64_MAX));
	if (end == low)
		return;
	ing_must(!ing_position_map_has(m, low) && ing_position_map_has(m, end - 1));
	ing_must(ing_position_map_has(m, low - 1) && ing_position_map_timestamp(m, low) == -1);
	ing_must(ing_position_map_count(m) > 0);
	check_restored(m);
}

static void decode(const char *text, size_t chars)
{
	struct ing_position_map *m = NULL;
	struct ing_error err = {0};
	int rc = ing_position_map_decode(text, chars, &m, &err);
	ing_must((rc == 0) == (m != NULL) && (rc == 0) == (err.msg[0] == '\0'));
	if (m != NULL)
		check_map(m);
	ing_position_map_free(m);
}

static void decode_with_checksum(const uint8_t *data, size_t size)
{
	unsigned char raw[ING_POSITION_MAP_MAX_CHARS];
	char text[ING_BASE64_CHARS(sizeof(raw)) + 1];
	size_t len = ING_MIN(size, sizeof(raw) - 4);
	memcpy(raw, data, len);
	uint32_t crc = ing_crc32(raw, len);
	for (int shift = 24; shift >= 0; shift -= 8)
		raw[len++] = (unsigned char)(crc >> shift);
	ing_base64_encode(raw, len, text);
	decode(text, strlen(text));
}

/* A byte is a move: its two lowest bits say which, the others say which message. */
static void move(struct ing_offset_tracker *t, uint8_t byte)
{
	unsigned number = byte >> 2;
	if ((byte & 3) == 0) {
		int64_t offset =
			t->position + (number > 60 ? (int64_t)1 << number % 4 * 15 : number % 3);
		(void)ing_offset_tracker_begin(
			t, &(struct ing_tracked){offset, (int64_t)number * 1000 - 1, 0});
		return;
	}
	if (t->count == 0)
		return;
	int64_t offset = ing_offset_tracker_at(t, t->count * number / 64 % t->count)->offset;
	if ((byte & 3) == 1)
		(void)ing_offset_tracker_to_commit(t, offset);
	else if ((byte & 3) == 2)
		(void)(ing_offset_tracker_finish(t, offset) ||
			ing_offset_tracker_settle(t, offset));
	else
		(void)ing_offset_tracker_reopen(t, offset);
}

static void check_tracker(const struct ing_offset_tracker *t)
{
	struct ing_buf out;
	ing_buf_init(&out, ING_POSITION_MAP_MAX_CHARS);
	ing_position_map_encode(t, &out);
	ing_must(!out.failed);
	struct ing_position_map *m = NULL;
	ing_must(ing_position_map_decode(ing_buf_str(&out), out.len, &m, NULL) == 0);
	check_map(m);
	ing_must(
		out.len == 0 || ing_position_map_low_water(m) == ing_offset_tracker_committable(t));
	for (size_t i = 0; i < t->count && out.len > 0; i++) {
		const struct ing_tracked *e = ing_offset_tracker_at(t, i);
		ing_must(ing_position_map_has(m, e->offset) ==
			 (ing_offset_tracker_next_finished(t, i) == i));
		int64_t ms = ing_position_map_timestamp(m, e->offset);
		ing_must(ms == -1 || ms == e->timestamp_ms);
	}
	ing_position_map_free(m);
	ing_buf_done(&out);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	decode((const char *)data, size);
	decode_with_checksum(data, size);
	struct ing_offset_tracker t;
	ing_offset_tracker_init(&t, size > 0 ? data[0] : 0);
	for (size_t i = 1; i < size; i++)
		move(&t, data[i]);
	check_tracker(&t);
	ing_offset_tracker_done(&t);
}
