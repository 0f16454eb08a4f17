/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names of ingest types, from their table.
 */
#include "worker/model/ingest_type.h"

#include <string.h>

#include "common/base/macros.h"

static const struct {
	const char *name;
	enum ing_ingest_type type;
	bool is_alias;
} names[] = {
#define INGEST_TYPE(id, name, row) {name, ING_INGEST_##id, false},
#define INGEST_TYPE_LATER(id, name) {name, ING_INGEST_##id, false},
#define INGEST_TYPE_ALIAS(id, name) {name, ING_INGEST_##id, true},
#include "worker/model/ingest_type.def"
};

/* ---------------------------------------------------------------------------------------------- */

const char ing_ingest_type_names[] =
#define INGEST_TYPE(id, name, row) " " name
#define INGEST_TYPE_LATER(id, name) " " name
#define INGEST_TYPE_ALIAS(id, name) " " name
#include "worker/model/ingest_type.def"
	;

bool ing_ingest_type_find(const char *name, enum ing_ingest_type *ret)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		if (strcmp(names[i].name, name) == 0) {
			*ret = names[i].type;
			return true;
		}
	}
	return false;
}

const char *ing_ingest_type_alias(const char *name)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if (names[i].is_alias && strcmp(names[i].name, name) == 0)
			return names[i].name;
	return NULL;
}

const char *ing_ingest_type_name(enum ing_ingest_type type)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if (names[i].type == type && !names[i].is_alias)
			return names[i].name;
	ing_must(false);
	return NULL;
}
