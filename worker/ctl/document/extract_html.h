/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * extract_html.h - `ingestctl extract html`: what the document step finds in a page. One thread.
 */
#pragma once
#include <stddef.h>

#include "common/data/json.h"

struct ing_rules;

struct ing_ctl_page {
	const char *url, *content_type; /* or NULL */
	const char *data;
	size_t bytes;
};

/* In a child, after ing_document_use_rules(): everything of one page, as a new reference, with every
 * member. status: "success", "empty-xml", "tei-too-large", "partial" (only the page's beginning was
 * read), "page-too-large", "not-html". */
json_t *ing_ctl_extract_page(const struct ing_ctl_page *page);
/* Each line of a file ("-": standard input) is {"url": TEXT, "html": TEXT}. Pages are looked into in
 * one child, which is forked again when a page was its last. Returns an exit code. */
int ing_ctl_extract_html_batch(const struct ing_rules *rules, const char *path);
