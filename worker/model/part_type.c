/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tables of part_type.h.
 */
#include "worker/model/part_type.h"

#include <string.h>

#include "common/base/macros.h"

enum kind { FINAL, PAGE, SERVICE, GIVEN, PDF };

static const struct {
	const char *name, *label;
	enum ing_part_type pdf;
	enum kind kind;
} types[] = {
#define PART_TYPE(id, name, pdf, kind, label) {name, label, ING_PART_TYPE_##pdf, kind},
#include "worker/model/part_type.def"
};

static const struct {
	const char *name;
	unsigned long usable_size;
	bool is_list;
} parts[ING_PARTS_] = {
	[ING_PART_PMID] = {"pmid", 1, false},
	[ING_PART_PMCID] = {"pmcid", 1, false},
	[ING_PART_DOI] = {"doi", 1, false},
	[ING_PART_TITLE] = {"title", 4, false},
	[ING_PART_KEYWORDS] = {"keywords", 2, true},
	[ING_PART_MESH] = {"mesh", 2, true},
	[ING_PART_EFO] = {"efo", 1, true},
	[ING_PART_GO] = {"go", 1, true},
	[ING_PART_ABSTRACT] = {"abstract", 200, false},
	[ING_PART_FULLTEXT] = {"fulltext", 2000, false},
};

const char *ing_part_name(enum ing_part_key key)
{
	return parts[key].name;
}

enum ing_part_key ing_part_of_name(const char *name)
{
	unsigned i = 0;
	while (i < ING_PARTS_ && strcmp(parts[i].name, name) != 0)
		i++;
	return (enum ing_part_key)i;
}

bool ing_part_is_list(enum ing_part_key key)
{
	return parts[key].is_list;
}

const char *ing_part_type_name(enum ing_part_type t)
{
	return types[t].name;
}

const char *ing_part_type_label(enum ing_part_type t)
{
	return types[t].label;
}

enum ing_part_type ing_part_type_of_name(const char *name)
{
	unsigned i = 0;
	while (i < ING_PART_TYPES_ && strcmp(types[i].name, name) != 0)
		i++;
	return (enum ing_part_type)i;
}

bool ing_part_type_final(enum ing_part_type t)
{
	return types[t].kind == FINAL;
}

bool ing_part_type_better(enum ing_part_type a, enum ing_part_type b)
{
	return a < b && !(ing_part_type_final(a) && ing_part_type_final(b));
}

bool ing_part_type_is_pdf(enum ing_part_type t)
{
	return types[t].kind == PDF;
}

enum ing_part_type ing_part_type_pdf(enum ing_part_type t)
{
	return types[t].pdf;
}

bool ing_part_size_usable(enum ing_part_key key, enum ing_part_type type, unsigned long size)
{
	return size >= parts[key].usable_size &&
	       (key != ING_PART_FULLTEXT || ing_part_type_better(type, ING_PART_TYPE_WEBPAGE));
}
