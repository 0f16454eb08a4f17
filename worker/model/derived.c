/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * derived.def as an array.
 */
#include "worker/model/derived.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"

static const struct ing_derived_row rows[ING_DERIVED_] = {
#define DERIVED(NAME, output_, folder_, extension_, content_type_)                                 \
	[ING_DERIVED_##NAME] = {                                                                   \
		.name = #NAME,                                                                     \
		.output = ING_OUTPUT_##output_,                                                    \
		.folder = (folder_),                                                               \
		.extension = (extension_),                                                         \
		.content_type = (content_type_),                                                   \
	},
#include "worker/model/derived.def"
#undef DERIVED
};

/* ------------------------------------------------------------------------------------------ */

const struct ing_derived_row *ing_derived_row(enum ing_derived_kind kind)
{
	ing_must((unsigned)kind < ING_DERIVED_);
	return &rows[kind];
}

void ing_derived_path(
	enum ing_derived_kind kind, const char *sha1hex, char ret_path[ING_DERIVED_PATH_BYTES])
{
	const struct ing_derived_row *row = ing_derived_row(kind);
	ing_must(strlen(sha1hex) == 40);
	int n = snprintf(ret_path, ING_DERIVED_PATH_BYTES, "%s/%.2s/%.2s/%s%s", row->folder,
		sha1hex, sha1hex + 2, sha1hex, row->extension);
	ing_must(n > 0 && n < ING_DERIVED_PATH_BYTES);
}

void ing_derived_set(struct ing_derived *d, char *data, size_t bytes)
{
	free(d->data);
	d->data = data;
	d->bytes = bytes;
}

void ing_derived_done(struct ing_derived *d)
{
	ing_derived_set(d, NULL, 0);
}
