/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of resources.
 */
#include "worker/publication/resource.h"

#include <string.h>

#include "common/base/macros.h"

static const struct {
	const char *name;
	enum ing_publication_reader reader;
	enum ing_part_type type;
} resources[] = {
#define RESOURCE(id, name, reader, type) {name, ING_READ_##reader, ING_PART_TYPE_##type},
#include "worker/model/publication_resource.def"
};

const char *ing_publication_resource_name(enum ing_publication_resource r)
{
	return resources[r].name;
}

enum ing_publication_resource ing_publication_resource_of_name(const char *name)
{
	size_t i = 0;
	while (i < ING_ARRAY_LEN(resources) && strcmp(resources[i].name, name) != 0)
		i++;
	return (enum ing_publication_resource)i;
}

enum ing_publication_reader ing_publication_resource_reader(enum ing_publication_resource r)
{
	return resources[r].reader;
}

enum ing_part_type ing_publication_resource_type(enum ing_publication_resource r)
{
	return resources[r].type;
}
