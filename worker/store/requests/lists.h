/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lists.h - the lists of requests that a database has (request_list), with their sizes from its counts. No state;
 * any thread; calls block.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "common/base/error.h"

/* Texts are borrowed during the call; NULL: none. Times are RFC 3339, UTC. */
struct ing_request_list {
	const char *name, *source, *created, *loaded;
	int64_t priority;
	int64_t requests, answered, hits; /* of the list, brought by it or by others before */
	bool loading;                     /* a load was broken off, or is running */
};

typedef void ing_request_list_f(void *ctx, const struct ing_request_list *list);

/* Hand over each list, by name. Error: as ing_schema_open(). */
int ing_request_lists_read(
	const char *dsn, ing_request_list_f *each, void *ctx, struct ing_error *err) ING_MUST_CHECK;
