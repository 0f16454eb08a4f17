/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A status stands in a result in quotes: where these bytes are not, nothing is parsed. Parsing costs a hundred times as
 * much as looking for them.
 */
#include "worker/ctl/topics/results_filter.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/base/nearest.h"
#include "common/data/json.h"
#include "worker/model/request_facts.h"
#include "worker/model/status.h"

#define MAX_SLUG_BYTES 64

static int too_many(struct ing_error *err, const char *option)
{
	return ing_error_set(
		err, ING_FAIL_USAGE, "--%s: no more than %d times", option, ING_RESULTS_WORDS);
}

static bool has_id(const struct ing_results_filter *f, const void *key, size_t key_bytes)
{
	for (size_t i = 0; i < f->id_count; i++) {
		if (key_bytes == ING_RESULTS_ID_CHARS && memcmp(f->ids[i], key, key_bytes) == 0)
			return true;
	}
	return false;
}

static bool may_have_status(const struct ing_results_filter *f, const char *value, size_t bytes)
{
	for (size_t i = 0; i < f->status_count; i++) {
		char quoted[MAX_SLUG_BYTES + 3];
		int n = snprintf(quoted, sizeof(quoted), "\"%s\"", f->statuses[i]);
		if (memmem(value, bytes, quoted, (size_t)n) != NULL)
			return true;
	}
	return false;
}

static bool has_status(const struct ing_results_filter *f, const json_t *result)
{
	const char *status = ing_json_get_text(result, "status");
	for (size_t i = 0; i < f->status_count && status != NULL; i++) {
		if (strcmp(f->statuses[i], status) == 0)
			return true;
	}
	return f->status_count == 0;
}

static bool is_host_of(const struct ing_results_filter *f, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	ing_fact_host(url, host);
	for (size_t i = 0; i < f->host_count; i++) {
		if (strcmp(f->hosts[i], host) == 0)
			return true;
	}
	return false;
}

/* Where it began, or ended. */
static bool has_host(const struct ing_results_filter *f, const json_t *result)
{
	const char *const urls[] = {
		ing_json_get_text(json_object_get(result, "request"), "base_url"),
		ing_json_get_text(json_object_get(result, "terminal"), "terminal_url")};
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++) {
		if (urls[i] != NULL && is_host_of(f, urls[i]))
			return true;
	}
	return f->host_count == 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_results_want_status(struct ing_results_filter *f, const char *slug, struct ing_error *err)
{
	struct ing_nearest n = ing_nearest_of(slug, strlen(slug));
	if (ing_status_from_slug(slug) < 0) {
		for (int i = 0; i < ING_STATUS_COUNT_; i++)
			ing_nearest_try(&n, ing_status_slug((enum ing_status)i));
		return n.best != NULL ? ing_error_set(err, ING_FAIL_USAGE,
						"--status %s: did you mean '%s'?", slug, n.best)
				      : ing_error_set(err, ING_FAIL_USAGE,
						"--status %s: there is no such status", slug);
	}
	if (f->status_count == ING_RESULTS_WORDS)
		return too_many(err, "status");
	f->statuses[f->status_count++] = slug;
	return 0;
}

int ing_results_want_id(struct ing_results_filter *f, const char *id, struct ing_error *err)
{
	size_t bytes = strspn(id, "0123456789abcdefABCDEF");
	if (bytes != ING_RESULTS_ID_CHARS || id[bytes] != '\0')
		return ing_error_set(err, ING_FAIL_USAGE,
			"--id %s: not the ID of a request (40 hexadecimal digits)", id);
	if (f->id_count == ING_RESULTS_WORDS)
		return too_many(err, "id");
	char *to = f->ids[f->id_count++];
	for (size_t i = 0; i < bytes; i++)
		to[i] = (char)tolower((unsigned char)id[i]);
	to[bytes] = '\0';
	return 0;
}

int ing_results_want_host(struct ing_results_filter *f, const char *host, struct ing_error *err)
{
	char url[ING_URL_HOST_BYTES + 16];
	if (f->host_count == ING_RESULTS_WORDS)
		return too_many(err, "host");
	int n = snprintf(url, sizeof(url), "http://%s/", host);
	ing_fact_host(n < (int)sizeof(url) ? url : "", f->hosts[f->host_count]);
	if (f->hosts[f->host_count][0] == '\0')
		return ing_error_set(err, ING_FAIL_USAGE, "--host %s: not a host", host);
	f->host_count++;
	return 0;
}

bool ing_results_wants(const struct ing_results_filter *f, const void *key, size_t key_bytes,
	const char *value, size_t value_bytes)
{
	if (f->id_count > 0 && !has_id(f, key, key_bytes))
		return false;
	if (f->status_count == 0 && f->host_count == 0)
		return true;
	if (value == NULL || (f->status_count > 0 && !may_have_status(f, value, value_bytes)))
		return false;
	json_t *result = ing_json_parse(value, value_bytes, &ing_json_own, NULL);
	bool wanted = json_is_object(result) && has_status(f, result) && has_host(f, result);
	json_decref(result);
	return wanted;
}
