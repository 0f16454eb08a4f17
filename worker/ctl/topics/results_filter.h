/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * results_filter.h - which results are wanted, decided by as little of a message as can be: its key, then its bytes,
 * then its JSON. Texts are borrowed. Pure, one thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"
#include "common/net/url.h"

#define ING_RESULTS_WORDS 64
#define ING_RESULTS_ID_CHARS 40 /* SHA-1 in hex: the key of a result */

struct ing_results_filter { /* any of each; none: all */
	const char *statuses[ING_RESULTS_WORDS];
	size_t status_count;
	char hosts[ING_RESULTS_WORDS][ING_URL_HOST_BYTES]; /* ing_fact_host() */
	size_t host_count;
	char ids[ING_RESULTS_WORDS][ING_RESULTS_ID_CHARS + 1]; /* in lower case */
	size_t id_count;
};

/* Error: -USAGE: there is no such status, or it is no ID or host; or too many. */
int ing_results_want_status(
	struct ing_results_filter *f, const char *slug, struct ing_error *err) ING_MUST_CHECK;
int ing_results_want_id(
	struct ing_results_filter *f, const char *id, struct ing_error *err) ING_MUST_CHECK;
int ing_results_want_host(
	struct ing_results_filter *f, const char *host, struct ing_error *err) ING_MUST_CHECK;

/* A result without a key, or that is no JSON object, is not wanted by what looks at these. */
bool ing_results_wants(const struct ing_results_filter *f, const void *key, size_t key_bytes,
	const char *value, size_t value_bytes);
