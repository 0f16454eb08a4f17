/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * request_facts.h - what the tables say of a request beside its text: which request and which document it
 * is, and where it starts. All follow from the request alone. Pure, any thread.
 */
#pragma once
#include "common/net/url.h"

struct ing_request;

#define ING_FACT_ID_BYTES 16
/* "10." and the registrant's code. */
#define ING_DOI_PREFIX_BYTES 64

struct ing_request_facts {
	/* The first bytes of the SHA-1 of the request's identity: of struct ing_request's key. */
	unsigned char request_id[ING_FACT_ID_BYTES];
	unsigned char document[ING_FACT_ID_BYTES]; /* ing_document_id() */
	char host[ING_URL_HOST_BYTES];             /* ing_fact_host() of base_url */
	char doi_prefix
		[ING_DOI_PREFIX_BYTES]; /* of ext_ids.doi, else of a DOI resolver's URL; "": none */
};

void ing_request_facts(const struct ing_request *r, struct ing_request_facts *ret);
/* The same of a row from before, as if it were received today; link_source, link_source_id and doi may be NULL. */
void ing_request_facts_of(const char *ingest_type, const char *base_url, const char *link_source,
	const char *link_source_id, const char *doi, struct ing_request_facts *ret);

/* Requests that have this in common ask for one document: the first bytes of the SHA-1 of the type, TAB, and the cleaned URL
 * without its scheme, user information and a leading "www." of its host. The case of path and query stays: it matters. */
void ing_document_id(
	const char *ingest_type, const char *base_url, unsigned char ret[ING_FACT_ID_BYTES]);
/* A URL's host in lower case and punycode, without a leading "www."; "" when it has none. */
void ing_fact_host(const char *url, char ret[ING_URL_HOST_BYTES]);
/* "10.1234" of a DOI in any common writing ("doi:", a resolver's URL), or "". */
void ing_doi_prefix(const char *doi, char ret[ING_DOI_PREFIX_BYTES]);
/* A UUID's usual text of an identifier, as the tables have it. */
#define ING_FACT_ID_TEXT_BYTES 37
void ing_fact_id_text(const unsigned char id[ING_FACT_ID_BYTES], char ret[ING_FACT_ID_TEXT_BYTES]);
/* Hosts whose URLs begin with a DOI ("doi.org", "dx.doi.org"): such a request is spread by doi_prefix, not by host. */
bool ing_is_doi_resolver(const char *host);
