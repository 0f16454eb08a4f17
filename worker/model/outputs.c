/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * outputs.def as an array.
 */
#include "worker/model/outputs.h"

#include <string.h>

#include "common/base/macros.h"

static const struct ing_output_row rows[ING_OUTPUTS_] = {
#define OUTPUT(NAME, member, fallback, least, key, size_, form_, refused_, shared, file_, noun_,   \
	who, sentence)                                                                             \
	[ING_OUTPUT_##NAME] = {                                                                    \
		.size = ING_OUTPUT_SIZE_##size_,                                                   \
		.form = ING_OUTPUT_FORM_##form_,                                                   \
		.refused = ING_OUTPUT_REFUSED_##refused_,                                          \
		.name = #member,                                                                   \
		.file = (file_),                                                                   \
		.noun = (noun_),                                                                   \
	},
#include "worker/model/outputs.def"
#undef OUTPUT
};

/* ------------------------------------------------------------------------------------------ */

const struct ing_output_row *ing_output_row(enum ing_output output)
{
	ing_must((unsigned)output < ING_OUTPUTS_);
	return &rows[output];
}

bool ing_output_by_name(const char *name, enum ing_output *ret)
{
	for (unsigned i = 0; i < ING_OUTPUTS_; i++) {
		if (strcmp(rows[i].name, name) == 0) {
			*ret = (enum ing_output)i;
			return true;
		}
	}
	return false;
}
