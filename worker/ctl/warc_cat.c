/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl warc cat: one record, written as it is read, whatever its size; its digests are known
 * when it has been written.
 */
#include <stdio.h>

#include "common/record/warc_check.h"
#include "common/record/warc_scan.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/warc.h"

struct cat {
	bool raw;
	bool ended; /* the record; others follow in what is read */
	const char *fault;
	struct ing_warc_check *check;
};

static void begin_record(void *ctx, uint64_t offset, const char *head, size_t head_bytes)
{
	struct cat *c = ctx;
	(void)offset;
	if (c->ended)
		return;
	ing_warc_check_begin(c->check, head, head_bytes);
	if (c->raw)
		fwrite(head, 1, head_bytes, stdout);
}

static void write_block(void *ctx, const void *data, size_t bytes)
{
	struct cat *c = ctx;
	if (c->ended)
		return;
	size_t payload = ing_warc_check_add(c->check, data, bytes);
	size_t wanted = c->raw ? bytes : payload;
	fwrite((const char *)data + bytes - wanted, 1, wanted, stdout);
}

static void end_record(
	void *ctx, uint64_t offset, uint64_t csize, const char *head, size_t head_bytes)
{
	struct cat *c = ctx;
	(void)offset, (void)csize, (void)head, (void)head_bytes;
	if (c->ended)
		return;
	c->ended = true;
	c->fault = ing_warc_check_end(c->check, NULL);
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_warc_cat(const char *path, uint64_t offset, bool raw)
{
	struct cat c = {.raw = raw, .check = ing_warc_check_new()};
	struct ing_warc_scan *scan = ing_warc_scan_new(end_record, &c);
	ing_warc_scan_watch(scan, begin_record, write_block);
	bool good = ing_ctl_warc_read(path, offset, scan, &c.ended);
	struct ing_warc_scan_state state = ing_warc_scan_end(scan);
	ing_warc_scan_free(scan);
	ing_warc_check_free(c.check);
	if (!good)
		return ING_CTL_ENVIRONMENT;
	if (!c.ended)
		c.fault = state.damage != NULL ? state.damage : "the file ends there";
	if (c.fault != NULL)
		return ing_ctl_fail(ING_CTL_NEGATIVE, ING_CTL_WARC, "%s: offset %llu: %s", path,
			(unsigned long long)offset, c.fault);
	return ING_CTL_OK;
}
