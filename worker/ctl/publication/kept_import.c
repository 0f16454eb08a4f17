/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl publication import, webpage import: PubFetcher's JSON output, or our own lines, into the tables, by
 * the rules by which a worker keeps what it has fetched: a better part that is kept stays.
 *
 * PubFetcher writes one object with one list, of any size; its entries are read one by one.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/publication/kept_entries.h"
#include "worker/ctl/publication/kept_select.h"
#include "worker/ctl/publication/pubfetcher_json.h"
#include "worker/ctl/publication/kept.h"
#include "worker/ctl/usage.h"
#include "worker/model/rows.h"
#include "worker/publication/freshness.h"
#include "worker/publication/kept.h"
#include "worker/store/records.h"
#include "worker/store/store.h"

#define MAX_ENTRY_BYTES ((size_t)64 << 20)
#define BATCH 50u
#define MAX_TRIES 20 /* of a batch that other workers are in the way of */

struct import {
	enum ing_kept_table table;
	const char *verb;
	struct ing_pg *pg;
	struct ing_refetch_rules rules;
	int64_t now_ms;
	bool lines;
	unsigned long entry; /* of the input, from 1 */
	struct ing_rows rows[BATCH];
	unsigned long numbers[BATCH];
	size_t count;
	uint64_t imported, skipped;
	int code;
};

static bool is_webpage(const struct import *im)
{
	return im->table == ING_TABLE_WEBPAGE;
}

static struct ing_row_kept *row_of(const struct import *im, struct ing_rows *rows)
{
	return is_webpage(im) ? &rows->webpage : &rows->publication;
}

static void clear_batch(struct import *im)
{
	for (size_t i = 0; i < im->count; i++) {
		struct ing_row_kept *row = row_of(im, &im->rows[i]);
		free((char *)(uintptr_t)row->record_json);
		free((char *)(uintptr_t)row->url);
	}
	im->count = 0;
}

static void refuse(struct import *im, unsigned long entry, const char *why)
{
	im->skipped++;
	fprintf(stderr, "ingestctl %s: entry %lu: %s\n", im->verb, entry, why);
}

static enum ing_pg_rc write_rows(
	struct import *im, size_t from, size_t count, uint64_t *ret_skipped, struct ing_error *err)
{
	struct ing_store_item items[BATCH];
	struct ing_store_item *pointers[BATCH];
	for (size_t i = 0; i < count; i++) {
		items[i] = (struct ing_store_item){.rows = &im->rows[from + i]};
		pointers[i] = &items[i];
	}
	*ret_skipped = 0;
	enum ing_pg_rc rc = ing_pg_exec(im->pg, "BEGIN", err);
	if (rc == ING_PG_OK)
		rc = ing_records_write(im->pg, pointers, count, ret_skipped, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_commit(im->pg, err);
	if (rc != ING_PG_OK && ing_pg_exec(im->pg, "ROLLBACK", NULL) != ING_PG_OK)
		rc = ING_PG_LOST;
	return rc;
}

/* Of a batch with an entry that PostgreSQL refuses the halves. Depth: log2(BATCH). */
static bool write_batch(struct import *im, size_t from, size_t count)
{
	struct ing_error err = {0};
	uint64_t skipped = 0;
	enum ing_pg_rc rc = ING_PG_CONFLICT;
	for (int i = 0; i < MAX_TRIES && (rc == ING_PG_CONFLICT || rc == ING_PG_LOCKED); i++) {
		ing_error_clear(&err);
		rc = write_rows(im, from, count, &skipped, &err);
	}
	if (rc == ING_PG_OK && skipped > 0 && count == 1) {
		refuse(im, im->numbers[from], "it has no identifier");
		return true;
	}
	if (rc == ING_PG_OK && skipped == 0) {
		im->imported += count;
		return true;
	}
	if (rc == ING_PG_REFUSED && count == 1) {
		refuse(im, im->numbers[from], err.msg);
		return true;
	}
	if (rc == ING_PG_OK || rc == ING_PG_REFUSED)
		return write_batch(im, from, count / 2) &&
		       write_batch(im, from + count / 2, count - count / 2);
	im->code = ing_ctl_fail(ING_CTL_ENVIRONMENT, im->verb, "%s", err.msg);
	return false;
}

static bool flush_batch(struct import *im)
{
	bool good = im->count == 0 || write_batch(im, 0, im->count);
	clear_batch(im);
	return good;
}

/* Takes the record. */
static bool add_record(struct import *im, json_t *record)
{
	const char *url = is_webpage(im) ? ing_json_get_text(record, "startUrl") : NULL;
	struct ing_rows *rows = &im->rows[im->count];
	*rows = (struct ing_rows){0};
	*row_of(im, rows) = (struct ing_row_kept){.present = true,
		.url = url != NULL ? ing_strdup(url) : NULL,
		.record_json = ing_json_dump(record, NULL),
		.how = ING_KEEP_IMPORTED,
		.rules = im->rules};
	im->numbers[im->count++] = im->entry;
	json_decref(record);
	return im->count < BATCH || flush_batch(im);
}

/* PubFetcher's --plain leaves nothing of a part but its content. */
static bool is_plain(const struct import *im, const json_t *o)
{
	static const char *const parts[] = {"pmid", "pmcid", "doi", "title"};
	for (size_t i = 0; i < ING_ARRAY_LEN(parts) && !is_webpage(im); i++)
		if (json_is_string(json_object_get(o, parts[i])))
			return true;
	return false;
}

static bool take_entry(void *ctx, const char *json, size_t bytes)
{
	struct import *im = ctx;
	struct ing_error err = {0};
	im->entry++;
	json_t *o = json != NULL ? ing_ctl_json_line(json, bytes, &err) : NULL;
	if (!json_is_object(o) || is_plain(im, o)) {
		refuse(im, im->entry,
			json == NULL ? "it is too long"
			: o == NULL  ? err.msg
			: !json_is_object(o)
				? "it is no object"
				: "its parts have no type and URL: write it without --plain");
		json_decref(o);
		return true;
	}
	json_t *record =
		im->lines ? is_webpage(im) ? ing_webpage_settled(o) : ing_publication_settled(o)
		: is_webpage(im) ? ing_webpage_of_pubfetcher(o, im->now_ms)
				 : ing_publication_of_pubfetcher(o, im->now_ms);
	json_decref(o);
	return add_record(im, record);
}

static bool take_line(void *ctx, const struct ing_buf *line, unsigned long number)
{
	struct import *im = ctx;
	uint64_t before = im->skipped;
	im->entry = number - 1;
	bool going = take_entry(im, line->failed ? NULL : ing_buf_str(line), line->len);
	return going && im->skipped == before;
}

static void import_lines(struct import *im, const char *path)
{
	int code = ing_ctl_batch(im->verb, path, MAX_ENTRY_BYTES, take_line, im);
	if (im->code == ING_CTL_OK)
		im->code = code;
}

static void import_output(struct import *im, const char *path)
{
	static const char *const publications[] = {"publications", NULL};
	static const char *const webpages[] = {"webpages", "docs", NULL};
	struct ing_error err = {0};
	FILE *f = ing_ctl_open_input(im->verb, path);
	if (f == NULL) {
		im->code = ING_CTL_ENVIRONMENT;
		return;
	}
	int rc = ing_kept_entries(
		f, is_webpage(im) ? webpages : publications, MAX_ENTRY_BYTES, take_entry, im, &err);
	ing_ctl_close_input(f);
	if (rc != 0 && im->code == ING_CTL_OK)
		im->code = ing_ctl_fail(ing_ctl_exit_of(&err), im->verb, "%s: %s", path, err.msg);
}

static int import_file(struct import *im, const char *path)
{
	if (im->lines)
		import_lines(im, path);
	else
		import_output(im, path);
	if (im->code == ING_CTL_OK || im->code == ING_CTL_NEGATIVE)
		flush_batch(im);
	clear_batch(im);
	json_t *o = json_object();
	ing_json_set_count(o, "imported", im->imported);
	ing_json_set_count(o, "skipped", im->skipped);
	ing_ctl_json_print(o);
	if (!ing_ctl_flush_stdout(im->verb))
		return ING_CTL_ENVIRONMENT;
	return im->code == ING_CTL_OK && im->skipped > 0 ? ING_CTL_NEGATIVE : im->code;
}

static int import_into(struct import *im, const struct ing_ctl *ctl, const char *path)
{
	struct ing_conf *conf = NULL;
	struct timespec now = ing_wall_now();
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	im->rules = ing_refetch_rules(&conf->publication);
	im->now_ms = (int64_t)now.tv_sec * 1000;
	ing_conf_free(conf);
	code = ing_kept_open(ctl, im->verb, &im->pg);
	if (code == ING_CTL_OK)
		code = import_file(im, path);
	ing_pg_close(im->pg);
	return code;
}

static const struct ing_option options[] = {
	{"lines", NULL, "FILE has JSON objects of our own, one a line (export --lines)",
		.code = 'l'},
	{0},
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_publication_import_usage = {
	.name = "publication import",
	.synopsis = "[--lines] FILE|-",
	.summary = "put PubFetcher's JSON output into the database",
	.text = "Puts the publications of PubFetcher's JSON output into the database. A better part that is "
		"kept stays; times and counters are the newer ones. The same file may be given again. Prints "
		"{\"imported\": N, \"skipped\": N}.",
	.options = options,
	.exits = {"all were imported", "some were not", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
	.operands = ING_WORDS_FILE,
};

const struct ing_usage ing_ctl_webpage_import_usage = {
	.name = "webpage import",
	.synopsis = "[--lines] FILE|-",
	.summary = "put PubFetcher's JSON output into the database",
	.text = "Puts the webpages and docs of PubFetcher's JSON output into the database. A better part that is "
		"kept stays; times and counters are the newer ones. The same file may be given again. Prints "
		"{\"imported\": N, \"skipped\": N}.",
	.options = options,
	.exits = {"all were imported", "some were not", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
	.operands = ING_WORDS_FILE,
};

int ing_ctl_kept_import(enum ing_kept_table table, int argc, char **argv, const struct ing_ctl *ctl)
{
	const struct ing_usage *usage = table == ING_TABLE_WEBPAGE
						? &ing_ctl_webpage_import_usage
						: &ing_ctl_publication_import_usage;
	struct import *im = ing_alloc(sizeof(*im));
	*im = (struct import){.table = table, .verb = usage->name};
	int c;
	int code = -1;
	while (code < 0 && (c = ing_usage_next(usage, argc, argv)) != -1) {
		if (c == 'l')
			im->lines = true;
		else
			code = ing_usage_code(c);
	}
	if (code < 0 && optind != argc - 1)
		code = ing_ctl_fail(ING_CTL_USAGE, im->verb, "give one FILE, or -");
	if (code < 0)
		code = import_into(im, ctl, argv[optind]);
	free(im);
	return code;
}
