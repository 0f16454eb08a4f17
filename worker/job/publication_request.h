/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication_request.h - what a request for a publication asks of its assembly. Pure; any thread.
 */
#pragma once
#include "common/base/error.h"
#include "worker/model/request.h"
#include "worker/publication/assembly.h"

struct ing_arena;

/* Identifiers come from ext_ids, and from base_url if that is one or the address of one; else it is the page
 * to begin with. Strings of *ret are the request's or the arena's. Returns 0, or -ING_FAIL_INVALID with
 * words. */
int ing_publication_request(const struct ing_request *r, struct ing_arena *ar,
	struct ing_assembly_request *ret, struct ing_error *err) ING_MUST_CHECK;

/* Whether a URL is of one of the services for programs that are configured, and no page. */
bool ing_publication_is_service(const struct ing_publication_settings *settings, const char *url);
