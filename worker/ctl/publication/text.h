/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication_text.h - publications and web pages as plain text, in the form of PubFetcher's text output,
 * from their JSON (worker/publication/README.md). Any member may be missing. Control characters, which
 * terminals obey, are shown as '?'; line ends of a text stay. Pure.
 */
#pragma once
#include <stddef.h>
#include "common/data/json.h"

struct ing_buf;

#define ING_PUBLICATION_TEXT_DIVIDER                                                               \
	"\n--------------------------------------------------------------------------------\n\n"

/* Several have the divider between them. */
void ing_publication_text(json_t *const publications[], size_t n, struct ing_buf *out);
void ing_webpage_text(json_t *const webpages[], size_t n, struct ing_buf *out);
