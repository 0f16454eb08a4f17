/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resources.h - what a page, or a style sheet, refers to and a reader needs to see it: scripts, style
 * sheets, images, sound, film, fonts, frames.
 *
 * URLs come in document order, each once, resolved against the page's <base> or the sheet's own URL.
 * The cost is linear in the bytes of the page, with a ceiling to
 * the number of URLs. Pure functions; one thread at a time.
 */
#pragma once
#include <stddef.h>
#include "common/markup/tree.h"
#include "worker/model/found_resources.h"

struct ing_filters;

/* Of a page, whose URL is the tree's. filters: what is left out; NULL: nothing. *ret is empty; release it with ing_resources_found_done(). */
void ing_resources_of_page(
	struct ing_tree *t, const struct ing_filters *filters, struct ing_resources_found *ret);
/* The same of the body of a style sheet. url: its own. page: that uses it; NULL: unknown. */
void ing_resources_of_style(const void *data, size_t bytes, const char *url, const char *page,
	const struct ing_filters *filters, struct ing_resources_found *ret);
