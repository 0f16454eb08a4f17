/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * found_text.h - the main text of a page, as an examiner found it (findings.h).
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* TEI of one page. */
#define ING_MAX_TEI_BYTES ((size_t)16 << 20)

/* Every value of ing_text_found.status that an examiner sends. "success": there is a TEI. */
#define ING_TEXT_STATUSES "success", "empty-xml", "tei-too-large"

struct ing_text_found {
	char *status;   /* one of ING_TEXT_STATUSES; NULL: not asked, or no page */
	char *tei_xml;  /* TEI P5; at most ING_MAX_TEI_BYTES; NULL: none */
	char *language; /* BCP 47 tag, or NULL */
	uint32_t word_count;
};

void ing_text_found_done(struct ing_text_found *t); /* frees the strings; safe on a zeroed one */
