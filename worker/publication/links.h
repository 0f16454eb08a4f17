/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * links.h - links found on the way, best type first.
 *
 * Two links are one if host, port, path and query are the same. One that was tried does not come
 * again. Ownership: everything is copied. Thread: any one.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/model/part_type.h"

#define ING_MAX_ASSEMBLY_LINKS 256u /* more are dropped, worst first */

struct ing_assembly_link {
	char *url;
	char *from; /* the page that has it; NULL */
	enum ing_part_type type;
};

struct ing_assembly_links {
	struct ing_assembly_link *items;
	uint32_t count;
	char **tried; /* without scheme and fragment */
	uint32_t tried_count;
};

void ing_links_init(struct ing_assembly_links *links);
void ing_links_done(struct ing_assembly_links *links);
/* Adds an http(s) URL, behind those of equal types; in place of the same link of a worse type. */
void ing_links_add(struct ing_assembly_links *links, const char *url, enum ing_part_type type,
	const char *from);
/* Remembers that a URL was asked for, and drops it from the list. */
void ing_links_tried(struct ing_assembly_links *links, const char *url);
