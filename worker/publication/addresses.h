/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * addresses.h - the URLs at which resources are asked. Pure; any thread.
 */
#pragma once
#include "worker/model/part_type.h"
#include "worker/model/settings.h"
#include "worker/publication/resource.h"

struct ing_buf;

/* Some resources are asked in more ways than one. */
struct ing_resource_call {
	enum ing_publication_resource resource;
	enum ing_part_key key; /* the identifier it is asked by; ING_PARTS_: by a URL */
	unsigned variant;      /* bioRxiv: 0, medRxiv: 1 */
};

/* Appends the URL; id in normal form. False, and *out in any state: the resource is not configured, or
 * has nothing of this identifier. */
bool ing_resource_url(const struct ing_publication_settings *settings,
	const struct ing_resource_call *call, const char *id, struct ing_buf *out);
/* The Accept field, or NULL. */
const char *ing_resource_accept(enum ing_publication_resource resource);
/* How many bytes of a URL may be shown: up to a key for the service. */
size_t ing_resource_shown_bytes(const char *url);
