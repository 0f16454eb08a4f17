/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * requests_load_blocks.h - the blocks of a list between its reader, the threads that parse them, and the streams
 * that write them: a ring of at most ING_LOAD_BLOCKS.
 *
 * Owns the blocks and the parsing threads. The reader fills the next block when there is room, the parsing threads
 * deal its requests out to the streams, each stream takes the blocks in their order and gives each back;
 * when all have, its place is free. Each block belongs to one thread until it is parsed, then nobody changes it. Memory is
 * bounded: a further block is begun only below ING_LOAD_BLOCKS_BYTES, and a line is kept up to the length of a request.
 */
#pragma once
#include "common/base/buf.h"
#include "worker/store/requests/load.h"
#include "worker/store/requests/load_rows.h"

/* A block ends with the line that reaches this: part of what a position means, so it stays as it is. */
#define ING_LOAD_BLOCK_BYTES ((size_t)256 << 10)
#define ING_LOAD_BLOCKS 64
#define ING_LOAD_BLOCKS_BYTES ((size_t)96 << 20)

struct ing_load_block {
	int64_t index;
	unsigned char digest[ING_LOAD_DIGEST_BYTES]; /* of the input up to its end */
	struct ing_buf
		text; /* lines with their ends; what is longer than a request can be is cut off */
	int64_t first_line; /* from 1 */
	/* When it is parsed: */
	struct ing_load_share shares[ING_LOAD_MAX_STREAMS];
	struct ing_buf bad_words; /* "LINE: reason" of each bad line, with its end */
	int64_t bad;
	int64_t lines; /* that are not blank */
	/* Of the ring: */
	unsigned users;
	bool parsed;
	size_t bytes;
};

struct ing_load_blocks;

/* Lines of blocks in which each has its number before it: "NUMBER\tREQUEST", or "NUMBER\t!WHY" for what is bad already. */
#define ING_LOAD_BAD_MARK '!'

/* created is borrowed; numbered: lines have their numbers. Blocks in front of a stream's position are not handed to it. Error: threads cannot be made. */
int ing_load_blocks_new(const struct ing_load_list *list, const char *created, bool numbered,
	struct ing_load_blocks **ret, struct ing_error *err) ING_MUST_CHECK;
void ing_load_blocks_free(
	struct ing_load_blocks *b); /* stops and joins its threads; NULL is fine */
/* Any thread: all waiting ends, and nothing is handed out any more. */
void ing_load_blocks_stop(struct ing_load_blocks *b);

/* Reader: an empty block for index, waiting for room. NULL: stopped. */
struct ing_load_block *ing_load_blocks_begin(struct ing_load_blocks *b, int64_t index);
/* Reader: it is filled. */
void ing_load_blocks_put(struct ing_load_blocks *b, struct ing_load_block *block);
/* Reader: streams may take blocks up to this index, not included. */
void ing_load_blocks_open(struct ing_load_blocks *b, int64_t upto);
/* Reader: no block follows. */
void ing_load_blocks_end(struct ing_load_blocks *b);

/* Stream: wait for the block `from`; ret gets it and those behind it that are there, at most max. 0: that was all, or stopped. */
size_t ing_load_blocks_take(
	struct ing_load_blocks *b, int64_t from, size_t max, const struct ing_load_block **ret);
/* Stream: blocks before `upto` are not needed by it any more, from `from` on. */
void ing_load_blocks_give_back(struct ing_load_blocks *b, int64_t from, int64_t upto);
bool ing_load_blocks_stopped(struct ing_load_blocks *b);
