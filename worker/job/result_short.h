/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result_short.h - results that say only which request they answer: status result-too-large. Pure.
 */
#pragma once
#include "common/data/json.h"

/* The identity of the request, each value cut until the whole has at most max_bytes, or all of them are
 * empty. request: its JSON. A heap string of *ret_bytes. */
char *ing_result_shortest(const json_t *request, size_t max_bytes, size_t *ret_bytes);
/* The same made from a result (JSON). Returns NULL when it is no result, or max_bytes are too few. */
char *ing_result_shorten(const char *result, size_t bytes, size_t max_bytes, size_t *ret_bytes);
