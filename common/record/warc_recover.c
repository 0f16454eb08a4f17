/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One scan from the front settles the usual case. Behind damage, every place that looks like the
 * front of one of our gzip members is tried. A page can hold millions of such places on purpose, so
 * the trying has a budget; when it is used up the file is kept as it is, because not cutting loses
 * nothing.
 */
#include "common/record/warc_recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/data/compress.h"
#include "common/record/warc.h"
#include "common/record/warc_scan.h"

#define PIECE_BYTES ((size_t)64 << 10)
/* Bytes that may be read again in the search, as a multiple of the file's; and for small files. */
#define BUDGET_FACTOR 8
#define BUDGET_BYTES ((uint64_t)64 << 20)

struct finder {
	int fd;
	uint64_t bytes;
	struct ing_warc_scan *scan;
	char warcinfo_id[ING_WARC_ID_BYTES]; /* of this file; "" while it is not known */
	bool ours;                           /* the scan under way has met a record of this file */
	uint64_t budget;
	struct ing_error *err;
	unsigned char piece[PIECE_BYTES];
};

/* Which warcinfo a record belongs to: the field, or the record's own id if it is one. */
static bool find_warcinfo_id(const char *head, size_t bytes, char ret[ING_WARC_ID_BYTES])
{
	const char *value;
	size_t len;
	if (!ing_warc_field(head, bytes, "WARC-Warcinfo-ID", &value, &len) &&
		!(ing_warc_field(head, bytes, "WARC-Type", &value, &len) && len == 8 &&
			memcmp(value, "warcinfo", 8) == 0 &&
			ing_warc_field(head, bytes, "WARC-Record-ID", &value, &len)))
		return false;
	if (len >= ING_WARC_ID_BYTES)
		return false;
	memcpy(ret, value, len);
	ret[len] = '\0';
	return true;
}

static void record_end_of(
	void *ctx, uint64_t offset, uint64_t csize, const char *head, size_t head_bytes)
{
	struct finder *fi = ctx;
	char id[ING_WARC_ID_BYTES];
	(void)offset;
	(void)csize;
	if (!find_warcinfo_id(head, head_bytes, id))
		return;
	if (fi->warcinfo_id[0] == '\0')
		memcpy(fi->warcinfo_id, id, sizeof(id));
	if (strcmp(fi->warcinfo_id, id) == 0)
		fi->ours = true;
}

static ssize_t read_at(struct finder *fi, uint64_t at)
{
	for (;;) {
		ssize_t n = pread(fi->fd, fi->piece, PIECE_BYTES, (off_t)at);
		if (n >= 0)
			return n;
		if (errno != EINTR)
			return ing_error_sys(
				fi->err, errno, "cannot read at %llu", (unsigned long long)at);
	}
}

/* Scan from `at` to the end or the first damage. */
static int scan_from(struct finder *fi, uint64_t at, struct ing_warc_scan_state *ret)
{
	ing_warc_scan_restart(fi->scan, at);
	fi->ours = false;
	for (;;) {
		ssize_t n = read_at(fi, at);
		if (n < 0)
			return (int)n;
		if (n == 0 || !ing_warc_scan_add(fi->scan, fi->piece, (size_t)n))
			break;
		at += (uint64_t)n;
	}
	*ret = ing_warc_scan_end(fi->scan);
	return 0;
}

/* The next place at or behind `at` that begins like a member of ours. 1 and the place, 0 when there
 * is none, or negative. */
static int find_member(struct finder *fi, uint64_t at, uint64_t *ret)
{
	for (;;) {
		ssize_t n = read_at(fi, at);
		if (n < ING_GZIP_HEAD_BYTES)
			return n < 0 ? (int)n : 0;
		const unsigned char *found =
			memmem(fi->piece, (size_t)n, ing_gzip_head, ING_GZIP_HEAD_BYTES);
		if (found != NULL) {
			*ret = at + (uint64_t)(found - fi->piece);
			return 1;
		}
		at += (uint64_t)n - (ING_GZIP_HEAD_BYTES - 1);
	}
}

static bool spend(struct finder *fi, uint64_t bytes)
{
	bool enough = bytes <= fi->budget;
	fi->budget = enough ? fi->budget - bytes : 0;
	return enough;
}

/* Whole records of this file behind the damage at ret->keep move ret->keep on. */
static int search_behind(struct finder *fi, struct ing_warc_end *ret)
{
	uint64_t at = ret->keep + 1;
	for (;;) {
		int rc = find_member(fi, at, &at);
		if (rc <= 0)
			return rc;
		struct ing_warc_scan_state part;
		rc = scan_from(fi, at, &part);
		if (rc != 0)
			return rc;
		if (part.records > 0 && fi->ours) {
			ret->keep = part.whole;
			ret->records += part.records;
			ret->hole = true;
		}
		/* Records that are not ours are some page's content: behind them, not into them. */
		uint64_t next = ING_MAX(at + 1, part.whole);
		if (!spend(fi, ING_MAX(part.whole - at, (uint64_t)PIECE_BYTES))) {
			ret->keep = ret->bytes;
			ret->hole = true;
			return 0;
		}
		at = next;
	}
}

/* -------------------------------------------------------------------------------------------- */

int ing_warc_find_end(int fd, struct ing_warc_end *ret, struct ing_error *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return ing_error_sys(err, errno, "cannot look at it");
	struct finder *fi = ing_alloc(sizeof(*fi));
	fi->fd = fd;
	fi->bytes = (uint64_t)st.st_size;
	fi->err = err;
	fi->budget = fi->bytes * BUDGET_FACTOR + BUDGET_BYTES;
	fi->scan = ing_warc_scan_new(record_end_of, fi);
	struct ing_warc_scan_state front;
	struct ing_warc_end end = {0};
	int rc = scan_from(fi, 0, &front);
	if (rc == 0) {
		end = (struct ing_warc_end){.keep = front.whole,
			.bytes = fi->bytes,
			.records = front.records,
			.damage_at = front.whole,
			.damage = front.damage};
		if (front.damage != NULL)
			rc = search_behind(fi, &end);
	}
	if (rc == 0)
		*ret = end;
	ing_warc_scan_free(fi->scan);
	free(fi);
	return rc;
}
