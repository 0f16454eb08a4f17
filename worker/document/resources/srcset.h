/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * srcset.h - the URLs of a srcset attribute, by the HTML Standard ("parsing a srcset attribute"). Widths
 * and densities are skipped: every candidate is somebody's image. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_srcset {
	const char *at, *end;
};

void ing_srcset_init(struct ing_srcset *s, const char *value, size_t bytes);
/* The next candidate's URL, in place; false when there is none. Linear over all calls. */
bool ing_srcset_next(struct ing_srcset *s, const char **ret, size_t *ret_bytes);
