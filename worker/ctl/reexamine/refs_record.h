/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * refs_record.h - a Crossref record, and which strings of its references are for GROBID to parse.
 *
 * A reference that has a DOI, or enough of what identifies an article, is not parsed; nor is one
 * without a string. One thread: the table of entities is kept between calls.
 */
#pragma once
#include <stddef.h>

#include "common/base/error.h"
#include "common/data/json.h"

/* References of a record that are parsed; further ones are left out. */
#define ING_REFS_MOST ((size_t)2000)

struct ing_refs_citation {
	char *text;      /* heap; cleaned */
	const char *key; /* of the reference, borrowed from the record; or NULL */
};

struct ing_refs_record {
	json_t *record;      /* a reference: the work, without what the API has around it */
	char *doi;           /* heap, in lower case */
	const char *indexed; /* RFC 3339, borrowed */
	struct ing_refs_citation *citations; /* heap */
	size_t count;
	size_t left_out; /* over ING_REFS_MOST */
};

/* A line of JSON: a work, or an answer of Crossref's API about one. Returns 0 and *ret, to be
 * released with ing_refs_record_done(), or -SYNTAX or -INVALID. */
int ing_refs_record_read(const char *line, size_t bytes, struct ing_refs_record *ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_refs_record_done(struct ing_refs_record *r); /* zeroed is fine */

/* GROBID's list of parsed references (worker/document/tei_header.h) as refs_json: each gets the key
 * of its citation as "id". Returns false, and leaves the list as it is, when it does not have one
 * for each citation. */
bool ing_refs_record_name(const struct ing_refs_record *r, json_t *list);

/* A citation without Crossref's faults: one that is there twice, with two blanks in between, once;
 * character references and entities of HTML resolved; trimmed. Heap. */
char *ing_refs_clean(const char *text);
