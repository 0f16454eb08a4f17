/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Formats of web archives, a capture a row: indexes (CDX, CDXJ) and WARC files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/data/line_splitter.h"
#include "common/record/cdx_line.h"
#include "common/record/warc_list.h"
#include "worker/rules/rule_reader.h"
#include "worker/seeds/formats.h"
#include "worker/seeds/source_priv.h"

#define MAX_LINE_BYTES ((size_t)256 << 10) /* a URL or two, and a key */

static const void *no_settings(const struct ing_seed_loader *l, const struct ing_yaml_node *map)
{
	if (map != NULL)
		ing_rule_read_error(l->rd, map, "this format needs no reader");
	return NULL;
}

/* --- CDX --- */

struct cdx {
	struct ing_seed_converter *to;
	struct ing_line_splitter splitter;
	struct ing_cdx_reader *reader;
};

static void take_line(struct cdx *r, const struct ing_line *line)
{
	struct ing_cdx_cell fields[ING_CDX_COLUMNS_];
	struct ing_seed_cell cells[ING_CDX_COLUMNS_];
	const char *why = "longer than the limit";
	enum ing_cdx_line kind = ING_CDX_BAD;
	if (line->bytes <= MAX_LINE_BYTES)
		kind = ing_cdx_read_line(r->reader, line->text, line->bytes, fields, &why);
	if (kind == ING_CDX_BAD)
		ing_seed_bad(r->to, line->number, "%s", why);
	if (kind != ING_CDX_CAPTURE)
		return;
	for (int i = 0; i < ING_CDX_COLUMNS_; i++)
		cells[i] = (struct ing_seed_cell){fields[i].text, fields[i].bytes};
	ing_seed_give_row(r->to, line->number, cells, ING_CDX_COLUMNS_);
}

static void take_lines(struct cdx *r)
{
	struct ing_line line;
	while (ing_line_splitter_next(&r->splitter, &line))
		if (!ing_seed_is_stopped(r->to))
			take_line(r, &line);
}

static int feed_cdx(void *reader, const char *bytes, size_t count, struct ing_error *err)
{
	struct cdx *r = reader;
	(void)err;
	ing_line_splitter_feed(&r->splitter, bytes, count);
	take_lines(r);
	return 0;
}

static int end_cdx(void *reader, struct ing_error *err)
{
	struct cdx *r = reader;
	(void)err;
	ing_line_splitter_end(&r->splitter);
	take_lines(r);
	return 0;
}

static void close_cdx(void *reader)
{
	struct cdx *r = reader;
	ing_line_splitter_done(&r->splitter);
	ing_cdx_reader_free(r->reader);
	free(r);
}

static void *open_cdx(const void *settings, struct ing_seed_converter *to)
{
	struct ing_seed_cell names[ING_CDX_COLUMNS_];
	struct cdx *r = ing_alloc(sizeof(*r));
	(void)settings;
	r->to = to;
	r->reader = ing_cdx_reader_new();
	ing_line_splitter_init(&r->splitter, MAX_LINE_BYTES);
	for (int i = 0; i < ING_CDX_COLUMNS_; i++)
		names[i] = (struct ing_seed_cell){ing_cdx_names[i], strlen(ing_cdx_names[i])};
	ing_seed_name_columns(to, names, ING_CDX_COLUMNS_);
	return r;
}

/* --- WARC --- */

enum column { TYPE, URL, DATE, STATUS, MIME, DIGEST, COLUMNS_ };

struct warc {
	struct ing_seed_converter *to;
	struct ing_warc_list *list;
};

static void take_record(void *ctx, const struct ing_warc_item *item)
{
	struct warc *r = ctx;
	char status[16];
	int n = item->status > 0 ? snprintf(status, sizeof(status), "%d", item->status) : 0;
	const struct ing_seed_cell cells[COLUMNS_] = {
		[TYPE] = {item->type.text, item->type.bytes},
		[URL] = {item->url.text, item->url.bytes},
		[DATE] = {item->date.text, item->date.bytes},
		[STATUS] = {n > 0 ? status : NULL, (size_t)n},
		[MIME] = {item->mime, strlen(item->mime)},
		[DIGEST] = {item->payload_digest.text, item->payload_digest.bytes},
	};
	if (!ing_seed_is_stopped(r->to))
		ing_seed_give_row(r->to, (int64_t)item->number, cells, COLUMNS_);
}

static void take_damage(void *ctx, uint64_t number, uint64_t offset, const char *what)
{
	struct warc *r = ctx;
	ing_seed_bad(r->to, (int64_t)number, "offset %llu: %s", (unsigned long long)offset, what);
}

static int feed_warc(void *reader, const char *bytes, size_t count, struct ing_error *err)
{
	struct warc *r = reader;
	(void)err;
	ing_warc_list_add(r->list, bytes, count);
	return 0;
}

static int end_warc(void *reader, struct ing_error *err)
{
	struct warc *r = reader;
	(void)err;
	ing_warc_list_end(r->list);
	return 0;
}

static void close_warc(void *reader)
{
	struct warc *r = reader;
	ing_warc_list_free(r->list);
	free(r);
}

static void *open_warc(const void *settings, struct ing_seed_converter *to)
{
	static const struct ing_warc_list_user user = {take_record, take_damage};
	static const struct ing_seed_cell names[COLUMNS_] = {[TYPE] = {"type", 4},
		[URL] = {"url", 3},
		[DATE] = {"date", 4},
		[STATUS] = {"status", 6},
		[MIME] = {"mime", 4},
		[DIGEST] = {"digest", 6}};
	struct warc *r = ing_alloc(sizeof(*r));
	(void)settings;
	r->to = to;
	r->list = ing_warc_list_new(&user, r);
	ing_seed_name_columns(to, names, COLUMNS_);
	return r;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_seed_format ing_seed_format_cdx = {
	.name = "cdx",
	.settings = no_settings,
	.open = open_cdx,
	.feed = feed_cdx,
	.end = end_cdx,
	.close = close_cdx,
};

const struct ing_seed_format ing_seed_format_warc = {
	.name = "warc",
	.reads_gzip = true,
	.settings = no_settings,
	.open = open_warc,
	.feed = feed_warc,
	.end = end_warc,
	.close = close_warc,
};
