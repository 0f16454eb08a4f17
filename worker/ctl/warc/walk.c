/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file's bytes go through the scanner, which finds records; each record's through the checker of
 * digests; the head of an HTTP response is kept, and no more.
 */
#include "worker/ctl/warc/warc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/net/http.h"
#include "common/record/warc.h"
#include "common/record/warc_check.h"
#include "common/record/warc_scan.h"
#include "worker/ctl/ctl.h"

#define BLOCK_BYTES ((size_t)1 << 20)
/* Of an HTTP head: more than any that the worker takes. */
#define MAX_HEAD_BYTES ((size_t)16 << 20)
#define MAX_HEAD_FIELDS 100000

struct walk {
	const char *path;
	ing_ctl_warc_f *each;
	void *ctx;
	struct ing_warc_check *check;
	struct ing_http_head http;
	bool is_http; /* a response or revisit with an HTTP head */
};

static bool field_begins(const char *head, size_t head_bytes, const char *name, const char *word)
{
	const char *value;
	size_t bytes;
	return ing_warc_field(head, head_bytes, name, &value, &bytes) && bytes >= strlen(word) &&
	       strncasecmp(value, word, strlen(word)) == 0;
}

static void begin_record(void *ctx, uint64_t offset, const char *head, size_t head_bytes)
{
	struct walk *w = ctx;
	(void)offset;
	ing_warc_check_begin(w->check, head, head_bytes);
	ing_http_head_done(&w->http);
	ing_http_head_init(&w->http, MAX_HEAD_BYTES, MAX_HEAD_FIELDS);
	w->is_http = field_begins(head, head_bytes, "Content-Type", "application/http") &&
		     !field_begins(head, head_bytes, "WARC-Type", "request");
}

static void add_block(void *ctx, const void *data, size_t bytes)
{
	struct walk *w = ctx;
	size_t payload = ing_warc_check_add(w->check, data, bytes);
	if (w->is_http && w->http.state != ING_HTTP_DONE)
		(void)ing_http_head_add(&w->http, data, bytes - payload);
}

static void end_record(
	void *ctx, uint64_t offset, uint64_t csize, const char *head, size_t head_bytes)
{
	struct walk *w = ctx;
	char payload[ING_WARC_SHA1B32_BYTES];
	const char *fault = ing_warc_check_end(w->check, payload);
	w->each(w->ctx,
		&(struct ing_ctl_warc_record){
			.path = w->path,
			.offset = offset,
			.csize = csize,
			.head = head,
			.head_bytes = head_bytes,
			.http = w->is_http && w->http.state == ING_HTTP_DONE ? &w->http : NULL,
			.payload_sha1b32 = payload,
			.fault = fault,
		});
}

static bool push(int fd, struct ing_warc_scan *scan)
{
	char *block = ing_alloc(BLOCK_BYTES);
	uint64_t at = 0;
	ssize_t n;
	for (;;) {
		n = pread(fd, block, BLOCK_BYTES, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || !ing_warc_scan_add(scan, block, (size_t)n))
			break;
		at += (uint64_t)n;
	}
	free(block);
	return n >= 0;
}

static bool read_file(const char *path, struct ing_warc_scan *scan)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && push(fd, scan);
	if (!good)
		ing_ctl_fail(ING_CTL_ENVIRONMENT, ING_CTL_WARC, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return good;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_ctl_warc_walk(
	const char *path, ing_ctl_warc_f *each, void *ctx, struct ing_warc_scan_state *ret)
{
	struct walk w = {.path = path, .each = each, .ctx = ctx, .check = ing_warc_check_new()};
	struct ing_warc_scan *scan = ing_warc_scan_new(end_record, &w);
	ing_warc_scan_watch(scan, begin_record, add_block);
	bool good = read_file(path, scan);
	*ret = ing_warc_scan_end(scan);
	ing_warc_scan_free(scan);
	ing_warc_check_free(w.check);
	ing_http_head_done(&w.http);
	return good;
}
