/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * page_name.h - the file name of a saved page. Pure.
 */
#pragma once
#include <stdbool.h>

/* Letters, digits and dots of the URL behind its scheme, anything else one hyphen; at most 140 bytes,
 * with .xml or .html. Heap. */
char *ing_page_name(const char *url, bool is_xml);
