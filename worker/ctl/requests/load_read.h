/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * requests_load_read.h - the thread that reads a list and cuts it into blocks.
 *
 * Owns its thread; blocks and list are borrowed. Where blocks begin and end follows from the input alone, so that a load that goes on meets the
 * positions of the one that was broken off. Blocks that all streams have are read for their digest only. The
 * digest is that of each block's bytes behind the digest of what came before it; at each position it must be the one that
 * was stored, and nothing is handed on before the furthest position has been met: another input changes nothing.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/ctl/requests/load_blocks.h"

struct ing_load_reader;
struct ing_seed_counts;
struct ing_seed_source;

/* fd and source are borrowed. source NULL: the input is lines of requests; else each line of a block has its record's number before it
 * (ING_LOAD_BAD_MARK). Error: the thread cannot be made. */
int ing_load_reader_new(int fd, const struct ing_seed_source *source,
	const struct ing_load_list *list, struct ing_load_blocks *blocks,
	struct ing_load_reader **ret, struct ing_error *err) ING_MUST_CHECK;
/* Any thread: bytes of the file and lines that were read so far. */
void ing_load_reader_progress(
	const struct ing_load_reader *r, uint64_t *ret_bytes, uint64_t *ret_lines);
/* Any thread: it has failed; *ret says why. */
bool ing_load_reader_failed(struct ing_load_reader *r, struct ing_error *ret);
/* Its blocks are stopped, or it has come to the end. False: it still waits for its input, and can only be left behind by _exit(). */
bool ing_load_reader_join(struct ing_load_reader *r) ING_MUST_CHECK;
/* Joined: what of the source's records there was, borrowed; NULL: there is no source. */
const struct ing_seed_counts *ing_load_reader_counts(const struct ing_load_reader *r);
void ing_load_reader_free(struct ing_load_reader *r); /* joined; NULL is fine */
