/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * results_list.h - which results answer a request of a list: looked up in the database by the first bytes of their
 * keys, which are the requests' request_id.
 *
 * Owns: a connection. Calls block. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

struct ing_results_list;

#define ING_RESULTS_LIST_BATCH 500

/* Error: as ing_schema_open(); -ING_FAIL_NOT_FOUND: there is no such list. */
int ing_results_list_open(const char *dsn, const char *name, struct ing_results_list **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_results_list_free(struct ing_results_list *l); /* NULL is fine */

struct ing_results_key {
	const void *bytes; /* NULL: none */
	size_t size;
};
/* Up to ING_RESULTS_LIST_BATCH keys. A connection that was lost is made once more. */
int ing_results_list_ask(struct ing_results_list *l, const struct ing_results_key *keys,
	size_t count, bool *ret_is_in, struct ing_error *err) ING_MUST_CHECK;
