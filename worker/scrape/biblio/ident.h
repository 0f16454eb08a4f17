/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ident.h - identifiers of publications: validation, and extraction from text.
 *
 * Forms: PMID [1-9][0-9]*, PMCID PMC[1-9][0-9]*, DOI 10.REGISTRANT/SUFFIX (ISO 26324) with an
 * optional resolver or "doi:" prefix. Pure; any thread. Results are appended to an empty buffer,
 * which stays empty when false is returned.
 */
#pragma once
#include "common/base/buf.h"

/* The DOI without its prefix; upper: with ASCII letters in upper case (PubFetcher's normal form).
 * */
bool ing_ident_doi(const char *s, size_t bytes, bool upper, struct ing_buf *ret);
bool ing_ident_pmid(const char *s, size_t bytes, struct ing_buf *ret);
bool ing_ident_pmcid(const char *s, size_t bytes, struct ing_buf *ret);
/* The same from an element's text: the whole text if valid, else what follows "doi:", "PMID:" … */
bool ing_ident_doi_in(const char *s, size_t bytes, struct ing_buf *ret);
bool ing_ident_pmid_in(const char *s, size_t bytes, struct ing_buf *ret);
bool ing_ident_pmcid_in(const char *s, size_t bytes, struct ing_buf *ret);
/* ISSN and ISBN with a valid check digit, written NNNN-NNNC / 13 digits; ORCID iD
 * (0000-0000-0000-000X, ISO 7064 check digit), from text or URL. */
bool ing_ident_issn(const char *s, size_t bytes, struct ing_buf *ret);
bool ing_ident_isbn13(const char *s, size_t bytes, struct ing_buf *ret);
bool ing_ident_orcid(const char *s, size_t bytes, struct ing_buf *ret);
