/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kept_entries.h - the entries of a list in a large JSON object, one by one. Blocks on the file; one thread.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include "common/base/error.h"

/* One entry as text; json NULL: it has more than max_bytes. Returns false to end it. */
typedef bool ing_kept_entry_f(void *ctx, const char *json, size_t bytes);

/* Call back for each object in the lists that the file's object has under one of the names (NULL-terminated).
 * Only its structure is looked at: whether an entry is JSON is the callback's to find out. Returns 0, also when
 * the callback has ended it; -ING_FAIL_SYNTAX: it is no object, has none of the lists, or ends in the middle;
 * -ING_FAIL_SYSTEM: it cannot be read. */
int ing_kept_entries(FILE *f, const char *const *names, size_t max_bytes, ing_kept_entry_f *each,
	void *ctx, struct ing_error *err) ING_MUST_CHECK;
