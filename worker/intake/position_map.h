/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * position_map.h - the offsets of a partition that are finished beyond its committed position, as the
 * metadata string of that commit (offset.metadata.max.bytes of the brokers is 4,096).
 *
 * The text is base 64 (RFC 4648 section 4) of:
 *
 *     version       a byte, 1
 *     low water     varint: the position that the map belongs to
 *     window        varint: offsets from the low water to the last finished one
 *     unfinished    varint: how many of them are unfinished, at least 1
 *     timestamps    varint: how many follow, at most 16
 *       offset      varint: distance from the one before, the first from the low water
 *       timestamp   zigzag varint: milliseconds, difference from the one before, the first from 0
 *     k             a byte: parameter of the Rice codes
 *     codes         for each unfinished offset, how many finished ones are before it, back to the
 *                   last unfinished one: that number shifted right by k as so many 0 bits and a
 *                   1, then its k lowest bits, highest bit first; zero bits to the end of the
 *                   byte. With k = 0 it is a bitmap, in which 1 is unfinished
 *     CRC-32        of all before it (RFC 1952), big endian
 *
 * A varint is seven bits a byte, lowest first, with the highest bit set in all but the last byte.
 * Offsets that do not exist (compaction, transaction markers) count as finished. The timestamps are
 * of some finished messages: where a log has others at those offsets, the map is of another log.
 *
 * Text from the brokers may be anything: what is read is checked, and costs no more than 200 KiB.
 * Pure; one thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"
#include "common/base/error.h"

struct ing_offset_tracker;
struct ing_position_map;

#define ING_POSITION_MAP_MAX_CHARS 4096
#define ING_POSITION_MAP_TIMESTAMPS 16

/* Does the map fit into ING_POSITION_MAP_MAX_CHARS, however they lie, when so many of so many offsets
 * are unfinished? It still does when some of them finish, or the window shrinks. */
bool ing_position_map_fits(uint64_t window, uint64_t unfinished);
/* How much of that room they need, in percent; may be over 100. */
unsigned ing_position_map_fill_percent(uint64_t window, uint64_t unfinished);

/* Adds the tracker's map to out; nothing when nothing is finished beyond its committable offset. */
void ing_position_map_encode(const struct ing_offset_tracker *t, struct ing_buf *out);

/* chars may be 0: a map with nothing in it, whose low water is 0. Returns -UNSUPPORTED for a text by a
 * later version, -SYNTAX for all else that is not a map. */
int ing_position_map_decode(const char *text, size_t chars, struct ing_position_map **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_position_map_free(struct ing_position_map *m); /* NULL is fine */
int64_t ing_position_map_low_water(const struct ing_position_map *m);
/* Returns the offset behind the last finished one. */
int64_t ing_position_map_end(const struct ing_position_map *m);
/* Is it finished? True for all offsets below the low water, false for all from the end on. */
bool ing_position_map_has(const struct ing_position_map *m, int64_t offset);
/* The inverse of encode: t, empty and at the map's low water, gets an entry for each unfinished offset
 * and for some of the finished ones, so that it has the same map; the others count as gaps. Entries of
 * unfinished offsets have no timestamp until their message is read (ing_offset_tracker_identify()). */
void ing_position_map_restore(const struct ing_position_map *m, struct ing_offset_tracker *t);
/* Returns the timestamp kept for this offset, or -1. */
int64_t ing_position_map_timestamp(const struct ing_position_map *m, int64_t offset);
/* How many offsets the map says are finished beyond the low water. */
uint64_t ing_position_map_count(const struct ing_position_map *m);
