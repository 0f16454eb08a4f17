/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * part_type.h - the parts of a publication, where they come from (PubFetcher's types and those of
 * further services), and which source is better. Static tables; any thread.
 */
#pragma once
#include <stdbool.h>

enum ing_part_key { /* in this order wherever parts are listed */
	ING_PART_PMID,
	ING_PART_PMCID,
	ING_PART_DOI,
	ING_PART_TITLE,
	ING_PART_KEYWORDS, /* lists: KEYWORDS, MESH, EFO, GO */
	ING_PART_MESH,
	ING_PART_EFO,
	ING_PART_GO,
	ING_PART_ABSTRACT,
	ING_PART_FULLTEXT,
	ING_PARTS_
};

enum ing_part_type {
#define PART_TYPE(id, name, pdf, kind, label) ING_PART_TYPE_##id,
#include "worker/model/part_type.def"
	ING_PART_TYPES_
};

const char *ing_part_name(enum ing_part_key key); /* in JSON: "pmid" … "abstract", "fulltext" */
/* Returns the key of that name, or ING_PARTS_. */
enum ing_part_key ing_part_of_name(const char *name);
bool ing_part_is_list(enum ing_part_key key);

const char *ing_part_type_name(enum ing_part_type t);  /* in JSON: "link_citation" */
const char *ing_part_type_label(enum ing_part_type t); /* for people */
/* Returns the type of that name, or ING_PART_TYPES_. */
enum ing_part_type ing_part_type_of_name(const char *name);
/* Whether a is better than b. */
bool ing_part_type_better(enum ing_part_type a, enum ing_part_type b);
bool ing_part_type_final(enum ing_part_type t);
bool ing_part_type_is_pdf(enum ing_part_type t);
/* The type of a PDF that a page of this type links to. */
enum ing_part_type ing_part_type_pdf(enum ing_part_type t);

/* Whether a part of this size (UTF-16 code units of text, entries of a list) and type is usable by
 * PubFetcher's thresholds: any identifier, a title of 4, 2 keywords or MeSH terms, 1 mined term, an
 * abstract of 200, a full text of 2,000 and of a better type than webpage. */
bool ing_part_size_usable(enum ing_part_key key, enum ing_part_type type, unsigned long size);
