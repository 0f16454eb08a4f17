/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * site_values.h - the sources of named values of an entry of sites.yaml (items of its key `take`),
 * and reading the values from a page.
 *
 * Immutable once loaded; part of struct ing_sites.
 */
#pragma once
#include "worker/scrape/jsoup/regex.h"
#include "worker/rules/url_filter.h"
#include "worker/scrape/rules/template.h"
#include "worker/scrape/view.h"

#define ING_MAX_SITE_VALUES 16 /* of an entry; the shipped ones have up to four */

enum ing_site_source_kind {
	ING_SITE_FROM_URL,     /* regular expression on the page's address */
	ING_SITE_FROM_SCRIPT,  /* regular expression on each script */
	ING_SITE_FROM_ELEMENT, /* attribute or text of what a selector finds */
};

struct ing_site_value {
	const struct ing_site_value *next;
	unsigned slot;
	const char *path; /* into the JSON; NULL: a group, or the whole value */
	unsigned group;   /* of the regular expression; 0: the whole value */
};

struct ing_site_source {
	struct ing_site_source *next;
	enum ing_site_source_kind kind;
	bool optional, unescape, decode;
	struct ing_selector *selector; /* of ELEMENT */
	const char *attr;              /* of ELEMENT; NULL: its text, or a script's data */
	struct ing_regex *regex;       /* of URL and SCRIPT; of ELEMENT (`match`) or NULL */
	struct ing_regex *cut; /* what it matches and everything after it is dropped; NULL */
	bool json;             /* values are paths into JSON */
	const struct ing_site_value *values;
};

/* Read the values of a source into their slots (strings in the view's arena), from the first
 * candidate that has all of them. Returns false when there is none. *failed is set when a limit was
 * met. */
bool ing_site_read_values(const struct ing_site_source *src, const struct ing_view *v,
	const char **slots, bool *failed);
