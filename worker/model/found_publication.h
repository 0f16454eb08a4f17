/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * found_publication.h - what one resource says of a publication (an answer of a service, a
 * publisher's page, a PDF), as an examiner found it (findings.h); and how it is asked to.
 *
 * Strings are heap, valid UTF-8, or NULL. Offers are in the order in which they are to be made: each
 * has its own type, because a page's <meta> elements have worse types than its rules. Whether an
 * offer replaces what is known is the assembly's to say (worker/publication).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/part_type.h"

/* How a body is read; a row of worker/document/publication/readers.c each. */
enum ing_publication_reader {
	ING_READ_PAGE,      /* HTML: its site's rules, then <meta> elements; a PDF: its Info
			     * dictionary, text, XMP; JATS XML: its parts */
	ING_READ_EUROPEPMC, /* search results of Europe PMC (core, XML) */
	ING_READ_EFO,       /* annotations of Europe PMC (XML): experimental methods */
	ING_READ_GO,        /* the same: Gene Ontology */
	ING_READ_JATS,      /* full text XML of Europe PMC or PMC */
	ING_READ_PUBMED_XML,
	ING_READ_PUBMED_HTML,
	ING_READ_PMC_HTML,
	ING_READ_UNPAYWALL,
	ING_READ_CROSSREF,
	ING_READ_DATACITE,
	ING_READ_OPENALEX,
	ING_READ_ARXIV, /* Atom */
	ING_READ_BIORXIV,
	ING_READ_DOAJ,
	ING_PUBLICATION_READERS_
};

/* With an examination that wants ING_WANT_PUBLICATION. Strings are borrowed; NULL: unknown. */
struct ing_publication_ask {
	enum ing_publication_reader reader;
	enum ing_part_type type; /* of the resource: no offer gets a better one */
	/* What is known, to choose among several records and to refuse those that contradict it. */
	const char *pmid, *pmcid, *doi;
	unsigned
		parts; /* wanted: bits 1 << enum ing_part_key; 0: all. Identifiers are found anyway */
};

struct ing_publication_term { /* of a list */
	char *term;
	char *uri;      /* of a mined term; unique id of a MeSH term; NULL */
	uint32_t count; /* of a mined term: how often it is in the text; else 0 */
	bool major;     /* MeSH: a major topic */
};

struct ing_publication_offer {
	uint8_t part; /* enum ing_part_key */
	uint8_t type; /* enum ing_part_type */
	char *text;   /* NULL: a list */
	struct ing_publication_term *terms;
	uint32_t term_count;
};

struct ing_publication_link {
	char *url;    /* absolute http(s) */
	uint8_t type; /* enum ing_part_type, of a page or of a PDF */
};

struct ing_publication_author {
	char *name, *orcid, *email, *phone, *uri; /* orcid as https://orcid.org/… */
	bool corresponding;
};

/* Every value of ing_publication_found.status. "no-record": the service has none of this identifier;
 * "wrong-record": what it has contradicts the known identifiers; "bad-answer": not of the form that is
 * read, error_msg says where; "too-large": cut, what came before is there. */
#define ING_PUBLICATION_STATUSES "success", "no-record", "wrong-record", "bad-answer", "too-large"

enum ing_publication_flag { /* said to be so; bits */
	ING_PUBLICATION_OA = 1,
	ING_PUBLICATION_NOT_OA = 2,
	ING_PUBLICATION_PREPRINT = 4,
	ING_PUBLICATION_HAS_XML = 8,    /* Europe PMC has the full text as XML */
	ING_PUBLICATION_HAS_MINED = 16, /* Europe PMC has mined terms */
	ING_PUBLICATION_HAS_PDF = 32,   /* Europe PMC has a PDF */
	ING_PUBLICATION_IN_EPMC = 64,
	ING_PUBLICATION_MANUSCRIPT = 128, /* it is an author's manuscript */
};

/* Of one answer; more is dropped (and the status is too-large). */
#define ING_MAX_PUBLICATION_OFFERS 64u
#define ING_MAX_PUBLICATION_TERMS 2000u /* of a list */
#define ING_MAX_PUBLICATION_LINKS 200u
#define ING_MAX_PUBLICATION_AUTHORS 6000u                /* the largest collaborations have 5,200 */
#define ING_MAX_PUBLICATION_TEXT_BYTES ((size_t)8 << 20) /* of a part */

struct ing_publication_found {
	char *status;    /* one of ING_PUBLICATION_STATUSES; NULL: not asked */
	char *error_msg; /* at most 500 bytes */
	struct ing_publication_offer *offers;
	uint32_t offer_count;
	struct ing_publication_link *links;
	uint32_t link_count;
	struct ing_publication_author *authors; /* in the order of the record */
	uint32_t author_count;
	char *journal_title, *pub_date; /* YYYY-MM-DD */
	char *licence;                  /* a URL, or words */
	char *publisher, *openalex_id;  /* W123 */
	unsigned flags;                 /* enum ing_publication_flag bits */
	int64_t citations;              /* how often it is cited; -1: not said */
};

void ing_publication_found_done(struct ing_publication_found *p); /* safe on a zeroed one */

/* A copy of p in *ret. Returns about how many bytes it has. */
size_t ing_publication_found_copy(
	const struct ing_publication_found *p, struct ing_publication_found *ret);

/* Building one: copies are made; nothing is added beyond the ceilings, and the status says so. s need not be
 * terminated; what is longer than a part may be is cut. Text that is empty is no offer. */
void ing_publication_offer_text(struct ing_publication_found *p, enum ing_part_key part,
	enum ing_part_type type, const char *s, size_t bytes);
/* Takes the terms and their array. */
void ing_publication_offer_list(struct ing_publication_found *p, enum ing_part_key part,
	enum ing_part_type type, struct ing_publication_term *terms, uint32_t count);
/* Drop offers of parts that are not wanted (bits 1 << enum ing_part_key; 0: all are); identifiers stay. */
void ing_publication_keep_parts(struct ing_publication_found *p, unsigned parts);
void ing_publication_add_link(
	struct ing_publication_found *p, const char *url, enum ing_part_type type);
/* Takes the author's strings. */
void ing_publication_add_author(
	struct ing_publication_found *p, struct ing_publication_author author);
