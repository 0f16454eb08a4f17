/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * request_plain.h - the row of a request straight from its line, without a tree of JSON: for lists of millions, nearly all of whose lines
 * are plain. Pure, any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "worker/model/rows.h"

struct ing_arena;

/* Fill *ret as ing_request_parse() and ing_request_row() would, with texts in the arena; *ret_created: the member `created`, or NULL. False:
 * the line is not plain, and those have to be asked; it may be a good one. Plain is a request in printable ASCII without escapes and '@',
 * of a type by its own name other than publication, with a base_url and only strings where the columns are, with integers for
 * numbers, and without members that say how it is to be done. */
bool ing_request_plain_row(const char *line, size_t bytes, struct ing_arena *ar,
	struct ing_row_request *ret, const char **ret_created);
