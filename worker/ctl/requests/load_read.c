/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bytes are hashed and cut as they come; of a line that is longer than a request can be the rest is only hashed.
 */
#include "worker/ctl/requests/load_read.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/signals.h"
#include "common/data/digest.h"
#include "common/data/unpack.h"
#include "worker/model/limits.h"
#include "worker/seeds/convert.h"

#define PIECE_BYTES ((size_t)256 << 10)
#define JOIN_S 2

struct ing_load_reader {
	struct ing_unpack *input;
	struct ing_seed_converter *converter; /* or NULL */
	int cut_rc;                           /* what cut() returned within it */
	const struct ing_load_list *list;
	struct ing_load_blocks *blocks;
	struct ing_digester *digester;
	pthread_t thread;
	/* The block that is being cut: */
	struct ing_load_block *block; /* NULL: none yet, or it is only hashed */
	bool begun;
	int64_t index, lines; /* of the block; ends of lines so far */
	size_t block_bytes, line_bytes;
	unsigned char digest[ING_LOAD_DIGEST_BYTES]; /* of what is before it */
	/* Positions of an earlier load: */
	int64_t nearest, furthest;
	pthread_mutex_t lock;
	struct ing_error error;
	bool failed;
	_Atomic uint64_t shown_bytes, shown_lines;
};

static int fail(struct ing_load_reader *r, const struct ing_error *err)
{
	pthread_mutex_lock(&r->lock);
	r->error = *err;
	r->failed = true;
	pthread_mutex_unlock(&r->lock);
	return -(int)err->code;
}

static const char *list_name(const struct ing_load_reader *r)
{
	return r->list->name;
}

/* At each place where a stream of the earlier load has stopped. */
static int check_digest(struct ing_load_reader *r)
{
	for (unsigned i = 0; i < r->list->streams; i++) {
		const struct ing_load_position *at = &r->list->at[i];
		struct ing_error err = {0};
		if (at->block != r->index || memcmp(at->digest, r->digest, sizeof(at->digest)) == 0)
			continue;
		ing_error_set(&err, ING_FAIL_INVALID,
			"another input than that of the load of list %s that was broken off: up to line %" PRId64
			" it differs; --anew begins anew with this one",
			list_name(r), r->lines);
		return fail(r, &err);
	}
	return 0;
}

/* --- blocks --- */

/* False: stopped. */
static bool begin_block(struct ing_load_reader *r)
{
	ing_digester_add(r->digester, r->digest, sizeof(r->digest));
	r->begun = true;
	r->block_bytes = r->line_bytes = 0;
	if (r->index < r->nearest)
		return true;
	r->block = ing_load_blocks_begin(r->blocks, r->index);
	if (r->block == NULL)
		return false;
	r->block->first_line = r->lines + 1;
	return true;
}

static int end_block(struct ing_load_reader *r)
{
	struct ing_digests d;
	ing_digester_finish(r->digester, &d);
	memcpy(r->digest, d.sha1, sizeof(r->digest));
	r->begun = false;
	r->index++;
	if (r->block != NULL) {
		memcpy(r->block->digest, r->digest, sizeof(r->digest));
		ing_load_blocks_put(r->blocks, ING_TAKE(r->block));
	}
	int rc = check_digest(r);
	if (rc == 0 && r->index >= r->furthest)
		ing_load_blocks_open(r->blocks, r->index);
	return rc;
}

/* One piece of one line, with its end or without. */
static void keep_bytes(struct ing_load_reader *r, const char *bytes, size_t n, bool line_ends)
{
	ing_digester_add(r->digester, bytes, n);
	r->block_bytes += n;
	if (r->block != NULL) {
		size_t room = ING_MAX_REQUEST_BYTES + 1;
		size_t text = line_ends ? n - 1 : n;
		size_t kept = r->line_bytes < room ? ING_MIN(text, room - r->line_bytes) : 0;
		ing_buf_add(&r->block->text, bytes, kept);
		if (line_ends)
			ing_buf_add_char(&r->block->text, '\n');
		ing_must(!r->block->text.failed);
	}
	r->line_bytes = line_ends ? 0 : r->line_bytes + n;
	r->lines += line_ends;
}

/* 0, or it is over. */
static int cut(struct ing_load_reader *r, const char *bytes, size_t n)
{
	while (n > 0) {
		if (!r->begun && !begin_block(r))
			return -ING_FAIL_CANCELLED;
		const char *end = memchr(bytes, '\n', n);
		size_t piece = end != NULL ? (size_t)(end - bytes) + 1 : n;
		keep_bytes(r, bytes, piece, end != NULL);
		bytes += piece;
		n -= piece;
		if (end == NULL || r->block_bytes < ING_LOAD_BLOCK_BYTES)
			continue;
		int rc = end_block(r);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int end_input(struct ing_load_reader *r)
{
	struct ing_error err = {0};
	if (r->begun) {
		int rc = end_block(r);
		if (rc != 0)
			return rc;
	}
	if (r->index >= r->furthest)
		return 0;
	ing_error_set(&err, ING_FAIL_INVALID,
		"another input than that of the load of list %s that was broken off: it is shorter; --anew begins anew with this one",
		list_name(r));
	return fail(r, &err);
}

/* --- a source's records --- */

static bool cut_numbered(
	struct ing_load_reader *r, int64_t number, const char *mark, const char *text, size_t bytes)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "%" PRId64 "\t%s", number, mark);
	r->cut_rc = cut(r, head, (size_t)n);
	if (r->cut_rc == 0)
		r->cut_rc = cut(r, text, bytes);
	if (r->cut_rc == 0)
		r->cut_rc = cut(r, "\n", 1);
	return r->cut_rc == 0;
}

static bool take_request(void *ctx, int64_t number, const char *json, size_t bytes)
{
	return cut_numbered(ctx, number, "", json, bytes);
}

static void take_bad(void *ctx, int64_t number, const char *why)
{
	static const char mark[] = {ING_LOAD_BAD_MARK, '\0'};
	struct ing_load_reader *r = ctx;
	if (r->cut_rc == 0)
		(void)cut_numbered(r, number, mark, why, strcspn(why, "\n"));
}

/* 0, or it is over, which has been said where it is a failure. */
static int take_piece(struct ing_load_reader *r, const char *piece, size_t n)
{
	struct ing_error err = {0};
	if (r->converter == NULL)
		return cut(r, piece, n);
	int rc = n > 0 ? ing_seed_converter_feed(r->converter, piece, n, &err)
		       : ing_seed_converter_end(r->converter, &err);
	if (r->cut_rc != 0)
		return r->cut_rc;
	return rc != 0 ? fail(r, &err) : 0;
}

static int read_all(struct ing_load_reader *r)
{
	char *piece ING_CLEANUP(ing_freep) = ing_alloc(PIECE_BYTES);
	for (;;) {
		struct ing_error err = {0};
		ssize_t n = ing_unpack_read(r->input, piece, PIECE_BYTES, &err);
		if (n < 0)
			return fail(r, &err);
		int rc = take_piece(r, piece, (size_t)n);
		if (rc != 0)
			return rc;
		if (n == 0)
			return end_input(r);
		atomic_store(&r->shown_bytes, ing_unpack_packed_bytes(r->input));
		atomic_store(&r->shown_lines, (uint64_t)r->lines);
	}
}

static void *read_input(void *arg)
{
	struct ing_load_reader *r = arg;
	if (check_digest(r) == 0 && read_all(r) == 0)
		ing_load_blocks_end(r->blocks);
	else
		ing_load_blocks_stop(r->blocks);
	return NULL;
}

static int find_range(struct ing_load_reader *r, struct ing_error *err)
{
	r->nearest = r->furthest = r->list->at[0].block;
	for (unsigned i = 1; i < r->list->streams; i++) {
		r->nearest = ING_MIN(r->nearest, r->list->at[i].block);
		r->furthest = ING_MAX(r->furthest, r->list->at[i].block);
	}
	if (r->furthest - r->nearest <= ING_LOAD_BLOCKS)
		return 0;
	return ing_error_set(err, ING_FAIL_INVALID,
		"list %s: a load was broken off by another version; --anew begins it anew",
		list_name(r));
}

/* -------------------------------------------------------------------------------------------- */

int ing_load_reader_new(int fd, const struct ing_seed_source *source,
	const struct ing_load_list *list, struct ing_load_blocks *blocks,
	struct ing_load_reader **ret, struct ing_error *err)
{
	struct ing_load_reader *r = ing_alloc(sizeof(*r));
	const struct ing_seed_sink sink = {take_request, take_bad, r};
	r->list = list;
	r->blocks = blocks;
	r->input = ing_unpack_new(fd);
	r->digester = ing_digester_new(ING_DIGEST_SHA1);
	if (source != NULL && ing_seed_source_reads_gzip(source))
		ing_unpack_keep_gzip(r->input);
	if (source != NULL)
		r->converter = ing_seed_converter_new(source, &sink);
	pthread_mutex_init(&r->lock, NULL);
	int rc = find_range(r, err);
	if (rc == 0) {
		int failed = ing_thread_create(&r->thread, read_input, r);
		if (failed != 0)
			rc = ing_error_sys(err, failed, "threads");
	}
	if (rc == 0)
		*ret = r;
	else
		ing_load_reader_free(r);
	return rc;
}

void ing_load_reader_progress(
	const struct ing_load_reader *r, uint64_t *ret_bytes, uint64_t *ret_lines)
{
	*ret_bytes = atomic_load(&r->shown_bytes);
	*ret_lines = atomic_load(&r->shown_lines);
}

bool ing_load_reader_failed(struct ing_load_reader *r, struct ing_error *ret)
{
	pthread_mutex_lock(&r->lock);
	bool failed = r->failed;
	if (failed)
		*ret = r->error;
	pthread_mutex_unlock(&r->lock);
	return failed;
}

bool ing_load_reader_join(struct ing_load_reader *r)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_S;
	return pthread_timedjoin_np(r->thread, NULL, &until) == 0;
}

const struct ing_seed_counts *ing_load_reader_counts(const struct ing_load_reader *r)
{
	return r->converter != NULL ? ing_seed_converter_counts(r->converter) : NULL;
}

void ing_load_reader_free(struct ing_load_reader *r)
{
	if (r == NULL)
		return;
	ing_seed_converter_free(r->converter);
	ing_unpack_free(r->input);
	ing_digester_free(r->digester);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
