/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * normal.h - texts of lists in their normal form: identifiers as our tables have them. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/buf.h"

enum ing_seed_normal {
#define NORMAL(id, name, function) ING_SEED_AS_##id,
#include "worker/seeds/normal.def"
#undef NORMAL
	ING_SEED_NORMALS_
};

/* NULL-terminated, in the order of the enum. */
extern const char *const ing_seed_normal_names[];

/* Appends the normal form to *ret, which is empty. False: the text has none; *ret is in any state. */
bool ing_seed_normalise(enum ing_seed_normal as, const char *s, size_t bytes, struct ing_buf *ret);
