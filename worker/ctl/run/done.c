/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Digests in a sorted array, and a bit for each that says whether it has been taken. Those of equal
 * digests are taken from the first on, so that the next one is found by halving even when a request
 * stands in the input a million times.
 */
#include "worker/ctl/run/done.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/base64.h"
#include "common/data/digest.h"
#include "common/data/json.h"
#include "worker/ctl/ctl.h"
#include "worker/model/request.h"
#include "worker/model/limits.h"

#define DIGEST_BYTES ING_RUN_IDENTITY_BYTES
#define MAX_LINE_BYTES ((size_t)64 << 20) /* twice of what is written as one */

struct digest {
	unsigned char bytes[DIGEST_BYTES];
};

struct set {
	struct digest *list;
	unsigned char *taken; /* bits */
	size_t count, cap;
};

struct ing_run_done {
	struct set results, bad;
	size_t strange;
	ing_run_result_f *each; /* while the folder is read */
	void *ctx;
};

/* --- a set --- */

static void add(struct set *s, const struct digest *d)
{
	if (s->count == s->cap) {
		s->cap = s->cap > 0 ? s->cap * 2 : 1024;
		s->list = ing_realloc(s->list, s->cap * sizeof(*s->list));
	}
	s->list[s->count++] = *d;
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, DIGEST_BYTES);
}

static void seal(struct set *s)
{
	if (s->count > 1)
		qsort(s->list, s->count, sizeof(*s->list), compare);
	s->taken = ing_alloc(s->count / 8 + 1);
}

static bool is_taken(const struct set *s, size_t i)
{
	return (s->taken[i / 8] >> (i % 8) & 1) != 0;
}

/* Of equal ones the first that has not been taken: all before it are smaller, or taken. */
static bool take(struct set *s, const struct digest *d)
{
	size_t low = 0;
	size_t high = s->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(&s->list[middle], d);
		if (order < 0 || (order == 0 && is_taken(s, middle)))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->count || compare(&s->list[low], d) != 0)
		return false;
	s->taken[low / 8] = (unsigned char)(s->taken[low / 8] | 1u << (low % 8));
	return true;
}

/* --- what is known of a line --- */

static void digest_of(const void *data, size_t bytes, struct digest *ret)
{
	struct ing_digests all;
	ing_digest(ING_DIGEST_SHA1, data, bytes, &all);
	memcpy(ret->bytes, all.sha1, DIGEST_BYTES);
}

/* Of a request as results have it: "file" is "pdf", and a base_url that was made of an identifier
 * is there. Values are cut as those of a result that was too large are. */
static void identify(const json_t *request, struct digest *ret)
{
	static const char *const fields[] = {
		"ingest_type", "base_url", "link_source", "link_source_id"};
	struct ing_buf id;
	ing_buf_init(&id, ING_ARRAY_LEN(fields) * (ING_MAX_TERMINAL_URL_BYTES + 1));
	for (size_t i = 0; i < ING_ARRAY_LEN(fields); i++) {
		const char *s = ing_json_get_text(request, fields[i]);
		if (s != NULL)
			ing_buf_add(&id, s, ing_utf8_cut(s, strlen(s), ING_MAX_TERMINAL_URL_BYTES));
		ing_buf_add_char(&id, '\t');
	}
	ing_must(!id.failed);
	digest_of(ing_buf_str(&id), id.len, ret);
	ing_buf_done(&id);
}

static bool read_result(struct ing_run_done *d, const json_t *line)
{
	const json_t *request = json_object_get(line, "request");
	struct digest digest;
	if (!json_is_object(request) || !json_is_string(json_object_get(line, "status")))
		return false;
	identify(request, &digest);
	add(&d->results, &digest);
	if (d->each != NULL)
		d->each(d->ctx, line);
	return true;
}

/* {"value": TEXT} or {"value_base64": …}, as they were written by emit. */
static bool read_dead_letter(struct ing_run_done *d, const json_t *line)
{
	const json_t *text = json_object_get(line, "value");
	const json_t *coded = json_object_get(line, "value_base64");
	struct digest digest;
	if (json_is_string(text)) {
		digest_of(json_string_value(text), json_string_length(text), &digest);
	} else if (json_is_string(coded)) {
		size_t chars = json_string_length(coded), bytes;
		char *value = ing_alloc(chars + 1);
		bool good = ing_base64_decode(json_string_value(coded), chars, value, &bytes);
		if (good)
			digest_of(value, bytes, &digest);
		free(value);
		if (!good)
			return false;
	} else {
		return false;
	}
	add(&d->bad, &digest);
	return true;
}

/* Each line of a file; how many of them `take_line` did not know is added to *strange. */
static int read_lines(struct ing_run_done *d, const char *dir, const char *name,
	bool (*take_line)(struct ing_run_done *d, const json_t *line), size_t *strange,
	struct ing_error *err)
{
	char path[4096];
	struct ing_buf line;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "re");
	if (f == NULL)
		return errno == ENOENT ? 0 : ing_error_sys(err, errno, "%s", path);
	ing_buf_init(&line, MAX_LINE_BYTES);
	while (ing_ctl_read_line(f, &line)) {
		json_t *json = NULL;
		if (!line.failed)
			json = ing_json_parse(ing_buf_str(&line), line.len, &ing_json_own, NULL);
		*strange += !take_line(d, json);
		json_decref(json);
	}
	int rc = ferror(f) ? ing_error_sys(err, errno, "%s", path) : 0;
	ing_buf_done(&line);
	fclose(f);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

void ing_run_identify(const json_t *request, unsigned char ret[ING_RUN_IDENTITY_BYTES])
{
	struct digest digest;
	identify(request, &digest);
	memcpy(ret, digest.bytes, DIGEST_BYTES);
}

int ing_run_done_load(const char *dir, ing_run_result_f *each, void *ctx, struct ing_run_done **ret,
	struct ing_error *err)
{
	struct ing_run_done *d = ing_alloc(sizeof(*d));
	size_t not_letters = 0;
	d->each = each;
	d->ctx = ctx;
	int rc = read_lines(d, dir, "results.jsonl", read_result, &d->strange, err);
	if (rc == 0)
		rc = read_lines(d, dir, "dead-letters.jsonl", read_dead_letter, &not_letters, err);
	if (rc != 0) {
		ing_run_done_free(d);
		return rc;
	}
	seal(&d->results);
	seal(&d->bad);
	*ret = d;
	return 0;
}

void ing_run_done_free(struct ing_run_done *d)
{
	if (d == NULL)
		return;
	free(d->results.list);
	free(d->results.taken);
	free(d->bad.list);
	free(d->bad.taken);
	free(d);
}

size_t ing_run_done_results(const struct ing_run_done *d)
{
	return d->results.count;
}

size_t ing_run_done_strange(const struct ing_run_done *d)
{
	return d->strange;
}

enum ing_run_was ing_run_done_take(
	struct ing_run_done *d, const char *line, size_t bytes, struct ing_error *err)
{
	struct digest digest;
	struct ing_request *request = NULL;
	if (ing_request_parse(line, bytes, &request, err) != 0) {
		digest_of(line, bytes, &digest);
		return take(&d->bad, &digest) ? ING_RUN_WAS_BAD : ING_RUN_NEW;
	}
	identify(request->json, &digest);
	ing_request_free(request);
	return take(&d->results, &digest) ? ING_RUN_HAS_RESULT : ING_RUN_NEW;
}
