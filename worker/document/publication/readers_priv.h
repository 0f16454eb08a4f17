/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * readers_priv.h - the readers of the table, and what they share; for the files of this room only.
 *
 * A reader says what it finds and returns; who calls it says "success" where it set no status.
 */
#pragma once
#include "common/base/error.h"
#include "worker/document/publication/readers.h"

typedef void ing_publication_reader_f(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret);

ing_publication_reader_f ing_publication_read_europepmc;
ing_publication_reader_f ing_publication_read_efo;
ing_publication_reader_f ing_publication_read_go;
ing_publication_reader_f ing_publication_read_jats;
ing_publication_reader_f ing_publication_read_pubmed_xml;
ing_publication_reader_f ing_publication_read_page;
ing_publication_reader_f ing_publication_read_pubmed_html;
ing_publication_reader_f ing_publication_read_pmc_html;
ing_publication_reader_f ing_publication_read_unpaywall;
ing_publication_reader_f ing_publication_read_crossref;
ing_publication_reader_f ing_publication_read_datacite;
ing_publication_reader_f ing_publication_read_openalex;
ing_publication_reader_f ing_publication_read_arxiv;
ing_publication_reader_f ing_publication_read_biorxiv;
ing_publication_reader_f ing_publication_read_doaj;

/* Set the status, one of ING_PUBLICATION_STATUSES, and its words (printf, cut at 500 bytes; what of
 * them is not UTF-8 is replaced). */
void ing_publication_fail(struct ing_publication_found *ret, const char *status, const char *fmt,
	...) ING_PRINTF(3, 4);
