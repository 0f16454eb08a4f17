/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Encoder: a buffer of a fixed size, which the bound on window and unfinished offsets keeps from
 * overflowing. Decoder: a cursor with a sticky failure; the numbers of the text are compared with what is
 * left of it before anything is allocated. A decoded map is the sorted list of unfinished offsets.
 */
#include "worker/intake/position_map.h"

#include <stdlib.h>
#include <string.h>

#include "common/data/base64.h"
#include "common/data/compress.h"
#include "worker/intake/offset_tracker.h"

#define VERSION 1
#define RAW_BYTES ((size_t)ING_POSITION_MAP_MAX_CHARS / 4 * 3)
#define CRC_BYTES ((size_t)4)
#define VARINT_BYTES ((size_t)10) /* of 64 bits */
/* Version, three numbers, the timestamps with their number, k, CRC-32. */
#define HEAD_BYTES                                                                                 \
	(1 + 3 * VARINT_BYTES + 1 + ING_POSITION_MAP_TIMESTAMPS * 2 * VARINT_BYTES + 1 + CRC_BYTES)
#define CODE_BITS ((RAW_BYTES - HEAD_BYTES) * 8)
#define MAX_K 62

struct ing_position_map {
	int64_t low_water, end;
	int64_t *unfinished; /* rising */
	size_t unfinished_count;
	size_t timestamp_count;
	struct {
		int64_t offset, ms;
	} timestamps[ING_POSITION_MAP_TIMESTAMPS];
};

/* ---- The size of the codes ---- */

/* Bits that the codes take at most: the shifted numbers add up to no more than their shifted sum. */
static uint64_t code_bits(uint64_t window, uint64_t unfinished, unsigned k)
{
	return ((window - unfinished) >> k) + unfinished * (1 + k);
}

static unsigned best_k(uint64_t window, uint64_t unfinished)
{
	unsigned best = 0;
	for (unsigned k = 1; k <= MAX_K; k++)
		if (code_bits(window, unfinished, k) < code_bits(window, unfinished, best))
			best = k;
	return best;
}

/* ---- Encoder ---- */

struct writer {
	unsigned char bytes[RAW_BYTES];
	size_t len;
	unsigned free_bits; /* of the last byte */
};

static void put_byte(struct writer *w, unsigned value)
{
	ing_must(w->len < sizeof(w->bytes));
	w->bytes[w->len++] = (unsigned char)value;
}

static void put_varint(struct writer *w, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(w, 0x80 | (unsigned)(value & 0x7f));
	put_byte(w, (unsigned)value);
}

static void put_zigzag(struct writer *w, int64_t value)
{
	put_varint(w, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_bit(struct writer *w, bool bit)
{
	if (w->free_bits == 0) {
		put_byte(w, 0);
		w->free_bits = 8;
	}
	w->free_bits--;
	w->bytes[w->len - 1] |= (unsigned char)((bit ? 1U : 0U) << w->free_bits);
}

static void put_code(struct writer *w, uint64_t value, unsigned k)
{
	for (uint64_t i = 0; i < value >> k; i++)
		put_bit(w, false);
	put_bit(w, true);
	for (unsigned i = k; i > 0; i--)
		put_bit(w, (value >> (i - 1) & 1) != 0);
}

/* The first, the last, and evenly spread ones between them. Entries without a timestamp are passed
 * over. */
static size_t choose_timestamps(const struct ing_offset_tracker *t, size_t first, size_t last,
	const struct ing_tracked *ret[static ING_POSITION_MAP_TIMESTAMPS])
{
	size_t n = 0;
	size_t next = first; /* the lowest entry that may still be chosen */
	for (size_t i = 0; i < ING_POSITION_MAP_TIMESTAMPS; i++) {
		size_t want = first + (last - first) * i / (ING_POSITION_MAP_TIMESTAMPS - 1);
		size_t found = ing_offset_tracker_next_finished(t, ING_MAX(want, next));
		if (found > last)
			break;
		next = found + 1;
		if (ing_offset_tracker_at(t, found)->timestamp_ms >= 0)
			ret[n++] = ing_offset_tracker_at(t, found);
	}
	return n;
}

static void put_timestamps(
	struct writer *w, const struct ing_offset_tracker *t, int64_t low_water, size_t last)
{
	const struct ing_tracked *chosen[ING_POSITION_MAP_TIMESTAMPS];
	size_t first =
		ing_offset_tracker_next_finished(t, ing_offset_tracker_next_unfinished(t, 0));
	size_t n = choose_timestamps(t, first, last, chosen);
	put_varint(w, n);
	int64_t offset = low_water;
	int64_t ms = 0;
	for (size_t i = 0; i < n; i++) {
		put_varint(w, (uint64_t)(chosen[i]->offset - offset));
		put_zigzag(w, chosen[i]->timestamp_ms - ms);
		offset = chosen[i]->offset;
		ms = chosen[i]->timestamp_ms;
	}
}

static uint64_t count_unfinished(const struct ing_offset_tracker *t, size_t last)
{
	uint64_t n = 0;
	for (size_t i = ing_offset_tracker_next_unfinished(t, 0); i < last;
		i = ing_offset_tracker_next_unfinished(t, i + 1))
		n++;
	return n;
}

static void put_codes(struct writer *w, const struct ing_offset_tracker *t, int64_t low_water,
	size_t last, unsigned k)
{
	put_byte(w, k);
	int64_t next = low_water;
	for (size_t i = ing_offset_tracker_next_unfinished(t, 0); i < last;
		i = ing_offset_tracker_next_unfinished(t, i + 1)) {
		int64_t offset = ing_offset_tracker_at(t, i)->offset;
		put_code(w, (uint64_t)(offset - next), k);
		next = offset + 1;
	}
}

static void put_crc(struct writer *w)
{
	uint32_t crc = ing_crc32(w->bytes, w->len);
	for (int shift = 24; shift >= 0; shift -= 8)
		put_byte(w, crc >> shift & 0xff);
}

/* ---- Decoder ---- */

struct reader {
	const unsigned char *bytes;
	size_t len, at;
	unsigned bits_left; /* of the byte before `at` */
	bool failed;
};

static unsigned get_byte(struct reader *r)
{
	if (r->failed || r->at == r->len) {
		r->failed = true;
		return 0;
	}
	return r->bytes[r->at++];
}

static uint64_t get_varint(struct reader *r)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned byte = get_byte(r);
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	r->failed = true;
	return 0;
}

/* At most `max`, else the text is none of ours. */
static uint64_t get_number(struct reader *r, uint64_t max)
{
	uint64_t value = get_varint(r);
	if (value > max)
		r->failed = true;
	return r->failed ? 0 : value;
}

static uint64_t get_zigzag(struct reader *r)
{
	uint64_t value = get_varint(r);
	return (value >> 1) ^ ((value & 1) != 0 ? UINT64_MAX : 0);
}

static bool get_bit(struct reader *r)
{
	if (r->bits_left == 0) {
		get_byte(r);
		r->bits_left = 8;
	}
	if (r->failed)
		return true; /* ends a run of zeros */
	r->bits_left--;
	return (r->bytes[r->at - 1] >> r->bits_left & 1) != 0;
}

static uint64_t get_code(struct reader *r, unsigned k, uint64_t max)
{
	uint64_t high = 0;
	while (!get_bit(r))
		high++;
	if (high > max >> k)
		r->failed = true;
	uint64_t low = 0;
	for (unsigned i = 0; i < k; i++)
		low = low << 1 | (get_bit(r) ? 1 : 0);
	if (r->failed || (high << k | low) > max)
		r->failed = true;
	return r->failed ? 0 : high << k | low;
}

/* All in the window and rising. Whether the offsets are finished is checked when the codes are
 * read. */
static void read_timestamps(struct reader *r, struct ing_position_map *m)
{
	size_t n = get_number(r, ING_POSITION_MAP_TIMESTAMPS);
	int64_t offset = m->low_water;
	uint64_t ms = 0;
	for (size_t i = 0; i < n && !r->failed; i++) {
		uint64_t distance = get_number(r, (uint64_t)(m->end - 1 - offset));
		ms += get_zigzag(r); /* wraps */
		if (distance == 0 || ms > INT64_MAX)
			r->failed = true;
		offset += (int64_t)distance;
		m->timestamps[i].offset = offset;
		m->timestamps[i].ms = r->failed ? 0 : (int64_t)ms;
	}
	m->timestamp_count = n;
}

static void read_codes(struct reader *r, struct ing_position_map *m, uint64_t unfinished)
{
	unsigned k = get_byte(r);
	if (k > MAX_K || unfinished > (r->len - r->at) * 8)
		r->failed = true;
	if (r->failed)
		return;
	m->unfinished = ing_alloc(unfinished * sizeof(*m->unfinished));
	int64_t next = m->low_water;
	for (uint64_t i = 0; i < unfinished && !r->failed; i++) {
		/* Behind it there is the last finished one. */
		if (next > m->end - 2) {
			r->failed = true;
			break;
		}
		next += (int64_t)get_code(r, k, (uint64_t)(m->end - 2 - next));
		m->unfinished[m->unfinished_count++] = next++;
	}
}

static bool is_unfinished(const struct ing_position_map *m, int64_t offset)
{
	size_t low = 0;
	size_t high = m->unfinished_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->unfinished[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->unfinished_count && m->unfinished[low] == offset;
}

static bool is_consistent(const struct ing_position_map *m)
{
	if (m->unfinished_count == 0 || m->unfinished[0] != m->low_water)
		return false;
	/* What we encode does: the newest message is either finished, or beyond the last finished
	 * one. The tracker that is made of the map relies on it. */
	if (!ing_position_map_fits((uint64_t)(m->end - m->low_water), m->unfinished_count + 1))
		return false;
	for (size_t i = 0; i < m->timestamp_count; i++)
		if (is_unfinished(m, m->timestamps[i].offset))
			return false;
	return true;
}

static bool read_map(struct reader *r, struct ing_position_map *m)
{
	m->low_water = (int64_t)get_number(r, INT64_MAX);
	m->end = m->low_water + (int64_t)get_number(r, (uint64_t)(INT64_MAX - m->low_water));
	uint64_t unfinished = get_number(r, CODE_BITS);
	if (m->end - m->low_water < 2)
		r->failed = true;
	read_timestamps(r, m);
	read_codes(r, m, unfinished);
	return !r->failed && r->at == r->len && is_consistent(m);
}

static bool has_crc(const unsigned char *bytes, size_t len)
{
	if (len < CRC_BYTES)
		return false;
	uint32_t crc = 0;
	for (size_t i = len - CRC_BYTES; i < len; i++)
		crc = crc << 8 | bytes[i];
	return crc == ing_crc32(bytes, len - CRC_BYTES);
}

static int decode_raw(
	const unsigned char *bytes, size_t len, struct ing_position_map *m, struct ing_error *err)
{
	if (len > 0 && bytes[0] > VERSION)
		return ing_error_set(err, ING_FAIL_UNSUPPORTED,
			"position map: version %u, and this program knows up to %d", bytes[0],
			VERSION);
	if (!has_crc(bytes, len))
		return ing_error_set(err, ING_FAIL_SYNTAX, "position map: checksum mismatch");
	struct reader r = {.bytes = bytes, .len = len - CRC_BYTES};
	if (get_byte(&r) != VERSION || !read_map(&r, m))
		return ing_error_set(err, ING_FAIL_SYNTAX, "position map: malformed");
	return 0;
}

/* ---- Restoring ---- */

static void restore_finished(struct ing_offset_tracker *t, int64_t offset, int64_t timestamp_ms)
{
	const struct ing_tracked finished = {offset, timestamp_ms, 0};
	ing_must(ing_offset_tracker_begin(t, &finished) && ing_offset_tracker_finish(t, offset));
}

/* -------------------------------------------------------------------------------------------- */

bool ing_position_map_fits(uint64_t window, uint64_t unfinished)
{
	if (window <= CODE_BITS)
		return true;
	return unfinished <= CODE_BITS &&
	       code_bits(window, unfinished, best_k(window, unfinished)) <= CODE_BITS;
}

unsigned ing_position_map_fill_percent(uint64_t window, uint64_t unfinished)
{
	uint64_t bits = CODE_BITS * 2;
	if (unfinished <= CODE_BITS)
		bits = code_bits(window, unfinished, best_k(window, unfinished));
	return (unsigned)(ING_MIN(bits, CODE_BITS * 2) * 100 / CODE_BITS);
}

void ing_position_map_encode(const struct ing_offset_tracker *t, struct ing_buf *out)
{
	int64_t low_water = ing_offset_tracker_committable(t);
	size_t first = ing_offset_tracker_next_unfinished(t, 0);
	size_t last = ing_offset_tracker_last_finished(t);
	if (first == t->count || last == t->count || last < first)
		return;
	uint64_t window = (uint64_t)(ing_offset_tracker_at(t, last)->offset - low_water) + 1;
	uint64_t unfinished = count_unfinished(t, last);
	struct writer w = {.len = 0};
	put_byte(&w, VERSION);
	put_varint(&w, (uint64_t)low_water);
	put_varint(&w, window);
	put_varint(&w, unfinished);
	put_timestamps(&w, t, low_water, last);
	put_codes(&w, t, low_water, last, best_k(window, unfinished));
	put_crc(&w);
	char text[ING_POSITION_MAP_MAX_CHARS + 1];
	ing_base64_encode(w.bytes, w.len, text);
	ing_buf_add_str(out, text);
}

int ing_position_map_decode(
	const char *text, size_t chars, struct ing_position_map **ret, struct ing_error *err)
{
	unsigned char raw[ING_POSITION_MAP_MAX_CHARS]; /* the decoder asks for a byte for each */
	size_t len = 0;
	if (chars > ING_POSITION_MAP_MAX_CHARS || !ing_base64_decode(text, chars, raw, &len))
		return ing_error_set(err, ING_FAIL_SYNTAX, "position map: not base 64");
	struct ing_position_map *m = ing_alloc(sizeof(*m));
	int rc = chars == 0 ? 0 : decode_raw(raw, len, m, err);
	if (rc != 0)
		ing_position_map_free(ING_TAKE(m));
	else
		*ret = m;
	return rc;
}

void ing_position_map_free(struct ing_position_map *m)
{
	if (m != NULL)
		free(m->unfinished);
	free(m);
}

int64_t ing_position_map_low_water(const struct ing_position_map *m)
{
	return m->low_water;
}

int64_t ing_position_map_end(const struct ing_position_map *m)
{
	return m->end;
}

bool ing_position_map_has(const struct ing_position_map *m, int64_t offset)
{
	return offset < m->end && !is_unfinished(m, offset);
}

void ing_position_map_restore(const struct ing_position_map *m, struct ing_offset_tracker *t)
{
	size_t next = 0; /* of m->timestamps */
	for (size_t i = 0; i < m->unfinished_count; i++) {
		for (; next < m->timestamp_count && m->timestamps[next].offset < m->unfinished[i];
			next++)
			restore_finished(t, m->timestamps[next].offset, m->timestamps[next].ms);
		const struct ing_tracked unread = {m->unfinished[i], -1, 0};
		ing_must(ing_offset_tracker_begin(t, &unread)); /* it fits: is_consistent() */
	}
	for (; next < m->timestamp_count; next++)
		restore_finished(t, m->timestamps[next].offset, m->timestamps[next].ms);
	if (t->position < m->end)
		restore_finished(t, m->end - 1, -1);
}

int64_t ing_position_map_timestamp(const struct ing_position_map *m, int64_t offset)
{
	for (size_t i = 0; i < m->timestamp_count; i++)
		if (m->timestamps[i].offset == offset)
			return m->timestamps[i].ms;
	return -1;
}

uint64_t ing_position_map_count(const struct ing_position_map *m)
{
	return (uint64_t)(m->end - m->low_water) - m->unfinished_count;
}
