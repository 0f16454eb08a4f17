/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * page_text.h - the main text of the page that a scraper holds: as plain text, as TEI, counted.
 *
 * Owns the selection and the texts, which are kept until the next page. The page is not parsed
 * again. One thread.
 */
#pragma once
#include "common/base/buf.h"
#include "worker/model/found_text.h"
#include "worker/scrape/scrape.h"

struct ing_page_text;

struct ing_page_text *ing_page_text_new(void);
void ing_page_text_free(struct ing_page_text *p); /* NULL is fine */

/* Read the page that ing_scrape() has just read; found->scope is guessed anew, from the main text.
 * *ret was zeroed; the caller frees it. Its status: "success", "empty-xml" (there is no main text),
 * "tei-too-large" (over ING_MAX_TEI_BYTES: words and text, but no TEI). */
void ing_page_text_read(struct ing_page_text *p, struct ing_scraper *s, struct ing_scraped *found,
	struct ing_text_found *ret);
const char *ing_page_text_plain(const struct ing_page_text *p); /* of the last page; borrowed */
