/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication_html.h - publications and web pages as HTML for people to read (html_page.h), from their
 * JSON (worker/publication/README.md). Any member may be missing or of another kind. Pure.
 */
#pragma once
#include "common/data/json.h"

struct ing_buf;

/* A whole page. Of several it begins with their titles. */
void ing_publication_html(json_t *const publications[], size_t n, struct ing_buf *out);
void ing_webpage_html(json_t *const webpages[], size_t n, struct ing_buf *out);

/* One of them, between ing_html_page_begin() and its end, when there are too many for one buffer.
 * number: from 1, of its anchor. */
void ing_publication_html_add(struct ing_buf *out, const json_t *publication, size_t number);
void ing_webpage_html_add(struct ing_buf *out, const json_t *webpage, size_t number);
