/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingest_type.h - the types of documents that a request can ask for, by name (ingest_type.def).
 * What is done for each: worker/artifact. Pure, any thread.
 */
#pragma once
#include <stdbool.h>

enum ing_ingest_type {
#define INGEST_TYPE(id, name, row) ING_INGEST_##id,
#define INGEST_TYPE_LATER(id, name) ING_INGEST_##id,
#include "worker/model/ingest_type.def"
	ING_INGEST_TYPES_
};

/* Returns false when no type has this name or alias. */
bool ing_ingest_type_find(const char *name, enum ing_ingest_type *ret);
/* The alias of this name, static; NULL: it is none. */
const char *ing_ingest_type_alias(const char *name);
const char *ing_ingest_type_name(enum ing_ingest_type type); /* static */
/* All names and aliases, with a space before each. */
extern const char ing_ingest_type_names[];
