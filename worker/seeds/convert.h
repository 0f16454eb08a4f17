/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * convert.h - turns a seed list into request lines: bytes of the list in, requests out through a callback.
 *
 *	c = ing_seed_converter_new(source, &sink);
 *	rc = ing_seed_converter_read(c, fd, &err);
 *
 * or, where the bytes are already there,
 *
 *	while (rc == 0 && (n = next(block)) > 0)
 *		rc = ing_seed_converter_feed(c, block, n, &err);
 *	if (rc == 0)
 *		rc = ing_seed_converter_end(c, &err);
 *
 * The same bytes give the same lines in the same order, however they are cut into blocks. Who wants to pull lines
 * collects what a block has given, and then feeds the next. Memory is bounded: by a record, and a block's requests are
 * not kept. One thread at a time; the source is only borrowed.
 */
#pragma once
#include <stdint.h>
#include "worker/seeds/source.h"

struct ing_seed_sink {
	/* A request that ing_request_parse() accepts, in compact JSON without a newline; borrowed. number: of the record
	 * that it is from, as in `bad`. False: no more. */
	bool (*request)(void *ctx, int64_t number, const char *json, size_t bytes);
	/* A record that cannot be read, which is skipped. number: the line at which it begins, of formats without lines the
	 * record, from 1. why: UTF-8, may hold parts of the list. */
	void (*bad)(void *ctx, int64_t number, const char *why);
	void *ctx;
};

struct ing_seed_left_out {
	const char *reason; /* a slug of the source, or of convert.c */
	uint64_t count;     /* of records, or of requests that would have been */
};

struct ing_seed_counts {
	uint64_t records; /* without the bad ones */
	uint64_t requests;
	uint64_t bad;
	const struct ing_seed_left_out *left_out; /* each with its count, 0 too */
	size_t reasons;
};

struct ing_seed_converter;

struct ing_seed_converter *ing_seed_converter_new(
	const struct ing_seed_source *source, const struct ing_seed_sink *sink);
void ing_seed_converter_free(struct ing_seed_converter *c); /* NULL is fine */

/* Returns 0; -CANCELLED when the sink wants no more; another failure, with *err, when the rest of the list cannot be
 * read whatever it holds. After a failure it only fails. */
int ing_seed_converter_feed(struct ing_seed_converter *c, const char *bytes, size_t count,
	struct ing_error *err) ING_MUST_CHECK;
/* The list ends here. */
int ing_seed_converter_end(struct ing_seed_converter *c, struct ing_error *err) ING_MUST_CHECK;
/* All of a file, pipe or terminal, which may be compressed (common/data/unpack.h): feeds it, and ends. Blocks while it reads. */
int ing_seed_converter_read(
	struct ing_seed_converter *c, int fd, struct ing_error *err) ING_MUST_CHECK;
/* Borrowed, as long as the converter. */
const struct ing_seed_counts *ing_seed_converter_counts(const struct ing_seed_converter *c);
