/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The formats of lists.
 */
#include "worker/seeds/formats.h"

#include <string.h>

static const struct ing_seed_format *const formats[] = {
	&ing_seed_format_jsonl,
	&ing_seed_format_json,
	&ing_seed_format_xml,
	&ing_seed_format_cdx,
	&ing_seed_format_warc,
	&ing_seed_format_lines,
	&ing_seed_format_csv,
	&ing_seed_format_tsv,
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_seed_format *ing_seed_format_find(const char *name)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(formats); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

const char *const *ing_seed_format_names(void)
{
	static const char *names[ING_ARRAY_LEN(formats) + 1];
	for (size_t i = 0; i < ING_ARRAY_LEN(formats); i++)
		names[i] = formats[i]->name;
	return names;
}
