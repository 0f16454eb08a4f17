/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Seed lists: up to a NUL stands the source's file, behind it the list. What a source makes of any bytes are requests that the worker
 * takes, the same however the bytes are cut.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/report.h"
#include "worker/model/request.h"
#include "worker/seeds/convert.h"

FUZZ_BUDGET(.cpu_us = 4000, .cpu_byte_ns = 60000, .heap_kb = 4000, .heap_byte = 1500);

struct summary {
	uint64_t hash;
	uint64_t requests, bad;
};

static bool take_request(void *ctx, int64_t number, const char *json, size_t bytes)
{
	struct summary *sum = ctx;
	struct ing_request *request = NULL;
	const uint64_t key[2] = {sum->hash, (uint64_t)number};
	ing_must(ing_request_parse(json, bytes, &request, NULL) == 0);
	ing_request_free(request);
	sum->hash = ing_siphash(key, json, bytes);
	sum->requests++;
	return true;
}

static void take_bad(void *ctx, int64_t number, const char *why)
{
	struct summary *sum = ctx;
	const uint64_t key[2] = {sum->hash, (uint64_t)number};
	sum->hash = ing_siphash(key, why, strlen(why));
	sum->bad++;
}

static struct summary convert(
	const struct ing_seed_source *source, const char *list, size_t bytes, size_t step)
{
	struct summary sum = {0};
	const struct ing_seed_sink sink = {take_request, take_bad, &sum};
	struct ing_seed_converter *c = ing_seed_converter_new(source, &sink);
	int rc = 0;
	for (size_t at = 0; at < bytes && rc == 0; at += step)
		rc = ing_seed_converter_feed(c, list + at, ING_MIN(step, bytes - at), NULL);
	if (rc == 0)
		rc = ing_seed_converter_end(c, NULL);
	const struct ing_seed_counts *counts = ing_seed_converter_counts(c);
	ing_must(counts->requests == sum.requests && counts->bad == sum.bad);
	ing_seed_converter_free(c);
	return sum;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *nul = memchr(text, '\0', size);
	if (size > (size_t)1 << 18)
		return;
	size_t bytes = nul != NULL ? (size_t)(nul - text) : size;
	struct ing_seed_source *source = NULL;
	struct ing_report report = {0};
	struct ing_error err = {0};
	int rc = ing_seed_source_parse("fuzz.yaml", text, bytes, NULL, &source, &report, &err);
	ing_must((rc == 0) == (source != NULL) && (rc == -ING_FAIL_CONFIG) == (report.errors > 0));
	if (rc == 0 && nul != NULL) {
		struct summary whole = convert(source, nul + 1, size - bytes - 1, size);
		struct summary cut = convert(source, nul + 1, size - bytes - 1, 7);
		ing_must(whole.hash == cut.hash && whole.requests == cut.requests &&
			 whole.bad == cut.bad);
	}
	ing_seed_source_free(source);
	ing_report_done(&report);
}
