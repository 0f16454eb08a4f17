/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file that `ingestctl publication import` is given: its entries, and the record of each.
 */
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <string.h>

#include "common/data/json.h"
#include "worker/ctl/publication/kept_entries.h"
#include "worker/ctl/publication/pubfetcher_json.h"
#include "worker/publication/kept.h"

#define MAX_ENTRY 4096
#define NOW INT64_C(1800000000000)

FUZZ_BUDGET(.cpu_us = 3000, .cpu_byte_ns = 6000, .heap_kb = 1500, .heap_byte = 2000);

/* What was made of an entry is settled: once more changes nothing. */
static void try_publication(const json_t *o)
{
	json_t *record = ing_publication_of_pubfetcher(o, NOW);
	json_t *again = ing_publication_settled(record);
	json_t *there = ing_pubfetcher_publication(record);
	ing_must(json_equal(record, again));
	ing_must(ing_json_get_number(record, "fetchTime") >= 0);
	json_decref(record);
	json_decref(again);
	json_decref(there);
}

static bool try_entry(void *ctx, const char *json, size_t bytes)
{
	static const struct ing_json_limits limits = {.depth = 64};
	(void)ctx;
	ing_must(json == NULL || (bytes <= MAX_ENTRY && json[0] == '{' && json[bytes - 1] == '}'));
	json_t *o = json != NULL ? ing_json_parse(json, bytes, &limits, NULL) : NULL;
	if (json_is_object(o)) {
		json_t *page = ing_webpage_of_pubfetcher(o, NOW);
		try_publication(o);
		json_decref(page);
	}
	json_decref(o);
	return true;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"publications", "webpages", "docs", NULL};
	struct ing_error err = {0};
	if (size == 0)
		return;
	FILE *f = fmemopen((void *)(uintptr_t)data, size, "r");
	ing_must(f != NULL);
	int rc = ing_kept_entries(f, names, MAX_ENTRY, try_entry, NULL, &err);
	ing_must((rc == 0) == (err.msg[0] == '\0'));
	fclose(f);
}
