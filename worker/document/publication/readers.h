/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * readers.h - what a body says of a publication: an answer of a service, a publisher's page, a PDF.
 *
 * Bytes of strangers and an ask in, a list of offers out (worker/model/found_publication.h). Runs in
 * examiners, and in a child of ingestctl; pure but for the scraper and the tree of XML that are kept
 * from body to body. One thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "worker/model/found_publication.h"
#include "worker/model/found_webpage.h"

struct ing_pdf;
struct ing_scrape_input;
struct ing_scraped;

/* A body, borrowed. */
struct ing_publication_body {
	const char *url;          /* its own, for relative links; NULL: unknown */
	const char *content_type; /* of the header; or NULL */
	const char *mimetype;     /* what its bytes look like (common/data/sniff.h) */
	const void *data;         /* without content codings */
	size_t bytes;
	/* HTML: what was scraped of it, with walls, and record and parts or the web page as they are
	 * wanted; NULL: it is no HTML, or was too large for that. */
	const struct ing_scraped *page;
	const struct ing_pdf *pdf; /* a PDF, as it was read; NULL: it is none, or was not */
};

/* Read a body by ask->reader. *ret is initialised (ing_findings_init()) and gets a status; the caller
 * frees it with ing_publication_found_done(). */
void ing_publication_read(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret);
/* Whether a reader takes pages: its body is to be scraped first. */
bool ing_publication_reads_pages(enum ing_publication_reader reader);
/* Have it scraped as such a reader needs it. */
void ing_publication_scrape_for(const struct ing_publication_ask *ask, struct ing_scrape_input *in);

/* A page or a PDF by the rules of webpages.yaml. *ret is zeroed; the caller frees it with
 * ing_webpage_found_done(). */
void ing_webpage_read(const struct ing_publication_body *body, struct ing_webpage_found *ret);
