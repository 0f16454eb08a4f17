/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * findings_json.h - examiners' findings as JSON, with the names that results, rows, messages and
 * ingestctl have in common (schemas/). Strings are valid UTF-8 with passwords in URLs masked
 * (worker/model/mask.h). All functions return a new reference. Pure; any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/data/json.h"
#include "worker/model/derived.h"
#include "worker/model/findings.h"

json_t *ing_findings_text(const char *s); /* null for NULL */
/* The media types of a list that is divided by commas, as an array. */
json_t *ing_contains_json(const char *list);
/* size_bytes, md5hex, sha1hex, sha256hex, mimetype; contains, where it is known. */
json_t *ing_file_meta_json(const struct ing_file_meta *file);
/* url, technique, release_stage where it is known; {} when there is no link. */
json_t *ing_page_link_json(const struct ing_page_link *link);
/* status, error_msg where there is one, has_page0_thumbnail; if it was read (or with_details)
 * meta_xml, pdf_info, word_count and pdf_extra as well. */
json_t *ing_pdf_json(const struct ing_pdf *pdf, bool with_details);
/* status, error_msg where there is one. */
json_t *ing_xml_json(const struct ing_xml_found *xml);
/* The Info dictionary, not masked; {} when there is none, or it is larger or deeper than what our
 * reader of PDFs sends. */
json_t *ing_pdf_info_json(const struct ing_pdf *pdf);

/* The value of a message: the members of `head` (taken), and as its last one the text, which is most of it
 * and is written without a copy in between. The text is valid UTF-8, as all of an examiner's. Heap; NULL
 * when it would be larger than max_bytes. */
char *ing_findings_message(json_t *head, const char *member, const struct ing_derived *text,
	size_t max_bytes, size_t *ret_bytes);
