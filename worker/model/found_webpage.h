/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * found_webpage.h - a page that is no article's, or a PDF, read by the rules of webpages.yaml, as an
 * examiner found it (findings.h).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define ING_MAX_WEBPAGE_BYTES ((size_t)8 << 20) /* of the content */

struct ing_webpage_found { /* strings are heap, valid UTF-8; NULL: not found */
	bool read;         /* it was asked for and could be read */
	char *rule;        /* pattern of the rule; NULL: none */
	char *title, *content, *license, *language;
};

void ing_webpage_found_done(struct ing_webpage_found *w); /* safe on a zeroed one */
