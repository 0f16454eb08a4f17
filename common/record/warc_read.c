/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The scanner finds the record in what is read, the checker judges its digests. What the scanner has
 * found behind the record, in the same piece of the file, is not looked at.
 */
#include "common/record/warc_read.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/record/warc_check.h"
#include "common/record/warc_scan.h"

#define PIECE_BYTES ((size_t)256 << 10)

struct reading {
	const struct ing_warc_read_user *user;
	void *ctx;
	struct ing_warc_check *check;
	bool ended;
	uint64_t csize;
	const char *fault;
};

static void begin_record(void *ctx, uint64_t offset, const char *head, size_t head_bytes)
{
	struct reading *r = ctx;
	(void)offset;
	if (r->ended)
		return;
	ing_warc_check_begin(r->check, head, head_bytes);
	if (r->user->head != NULL)
		r->user->head(r->ctx, head, head_bytes);
}

static void add_block(void *ctx, const void *data, size_t bytes)
{
	struct reading *r = ctx;
	if (r->ended)
		return;
	size_t payload = ing_warc_check_add(r->check, data, bytes);
	r->user->block(r->ctx, data, bytes, payload);
}

static void end_record(
	void *ctx, uint64_t offset, uint64_t csize, const char *head, size_t head_bytes)
{
	struct reading *r = ctx;
	(void)offset, (void)head, (void)head_bytes;
	if (r->ended)
		return;
	r->ended = true;
	r->csize = csize;
	r->fault = ing_warc_check_end(r->check, NULL);
}

/* Until the record has ended, or what may be read of it. */
static int push_pieces(int fd, uint64_t offset, uint64_t csize, struct reading *r,
	struct ing_warc_scan *scan, struct ing_error *err)
{
	char *piece = ing_alloc(PIECE_BYTES);
	uint64_t left = csize > 0 ? csize : UINT64_MAX;
	int rc = 0;
	while (left > 0 && !r->ended) {
		ssize_t n = pread(
			fd, piece, (size_t)ING_MIN((uint64_t)PIECE_BYTES, left), (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = ing_error_sys(err, errno, "offset %llu", (unsigned long long)offset);
		if (n <= 0 || !ing_warc_scan_add(scan, piece, (size_t)n))
			break;
		offset += (uint64_t)n;
		left -= (uint64_t)n;
	}
	free(piece);
	return rc;
}

/* ------------------------------------------------------------------------------------------ */

int ing_warc_read(int fd, uint64_t offset, uint64_t csize, const struct ing_warc_read_user *user,
	void *ctx, struct ing_error *err)
{
	struct reading r = {.user = user, .ctx = ctx, .check = ing_warc_check_new()};
	struct ing_warc_scan *scan = ing_warc_scan_new(end_record, &r);
	ing_warc_scan_watch(scan, begin_record, add_block);
	ing_warc_scan_restart(scan, offset);
	int rc = push_pieces(fd, offset, csize, &r, scan, err);
	struct ing_warc_scan_state state = ing_warc_scan_end(scan);
	ing_warc_scan_free(scan);
	ing_warc_check_free(r.check);
	if (rc != 0)
		return rc;
	if (!r.ended)
		r.fault = state.damage != NULL ? state.damage : "the file ends there";
	else if (r.fault == NULL && csize > 0 && r.csize != csize)
		r.fault = "another record begins there: it has another length";
	if (r.fault == NULL)
		return 0;
	return ing_error_set(
		err, ING_FAIL_INVALID, "offset %llu: %s", (unsigned long long)offset, r.fault);
}
