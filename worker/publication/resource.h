/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resource.h - the resources of which a publication is put together: names, and the URLs at which they
 * are asked. Pure; any thread.
 */
#pragma once
#include "worker/model/found_publication.h"
#include "worker/model/settings.h"

enum ing_publication_resource {
#define RESOURCE(id, name, reader, type) ING_PUBLICATION_RESOURCE_##id,
#include "worker/model/publication_resource.def"
	ING_PUBLICATION_RESOURCES_
};

const char *ing_publication_resource_name(enum ing_publication_resource r);
/* Returns the resource of that name, or ING_PUBLICATION_RESOURCES_. */
enum ing_publication_resource ing_publication_resource_of_name(const char *name);
enum ing_publication_reader ing_publication_resource_reader(enum ing_publication_resource r);
/* The type of what it gives. */
enum ing_part_type ing_publication_resource_type(enum ing_publication_resource r);
