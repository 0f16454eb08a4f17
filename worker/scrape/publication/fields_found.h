/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fields_found.h - the fields of a publication as an examiner's finding (found_publication.h): the one
 * way from what a page, a document in JATS or any other reader has put into its fields to the
 * assembly.
 *
 * Copies everything; the fields stay the caller's. Pure; any thread.
 */
#pragma once
#include "worker/model/found_publication.h"
#include "worker/scrape/publication/meta_schemes.h"

/* Add offers, links, authors and fields to *ret, which was zeroed or has earlier ones. parts: bits
 * 1 << enum ing_part_key of those wanted, 0: all; identifiers are added anyway. Authors among
 * fields->authors are corresponding ones. */
void ing_publication_fields_add(const struct ing_publication_fields *fields, unsigned parts,
	struct ing_publication_found *ret);
/* Whether a part is wanted by such bits. */
bool ing_publication_wants(unsigned parts, enum ing_part_key key);
