/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * found_helper.h - what a reader finds in a body, as lines that a test compares.
 *
 *	status: words              "success" alone is left out
 *	PART TYPE text             or for a list: a; b* (major); c =3 <uri>
 *	link TYPE url
 *	author name, orcid, email, phone, uri *    (*: a corresponding one)
 *	journal, date, licence, publisher, openalex, cited, and flags by their names
 */
#pragma once
#include "worker/document/publication/readers.h"

/* Returns the lines of what comes of it at the other end of the protocol, until the next call. */
const char *found_lines(const struct ing_publication_found *p);
/* Read a body (of this media type, or as XML for NULL) and return the lines. */
const char *read_lines(const struct ing_publication_ask *ask, const char *body, size_t bytes,
	const char *mimetype);

struct reading_case {
	const char *name, *body, *want;
	struct ing_publication_ask ask; /* beside reader and type */
};
/* Each case by this reader as this type; fails the test with the first that differs. */
void check_readings(enum ing_publication_reader reader, enum ing_part_type type,
	const char *mimetype, const struct reading_case *cases, size_t count);
/* Fail, naming the case, unless the lines are `want`. */
void assert_found(const char *name, const struct ing_publication_found *p, const char *want);
