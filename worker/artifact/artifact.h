/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * artifact.h - the ingest types, and what is known of the document that a request asks for.
 *
 * struct ing_artifact_type is a row of the table of types: it has everything in which they differ.
 * worker/model/ingest_type.def lists the types; each has its row in a file of this folder. struct
 * ing_artifact is what is kept of the examiners' findings while a request is worked on. The result,
 * the rows and the messages of the request are made from it. Nothing outside of this folder depends
 * on a certain type.
 *
 * Pure functions over plain data; any thread. The owner of a struct ing_artifact (the job) frees
 * its contents with ing_artifact_done(). JSON made here is valid UTF-8 with passwords in URLs masked
 * (worker/model/mask.h).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "common/data/json.h"
#include "worker/model/derived.h"
#include "worker/model/findings.h"
#include "worker/model/grobid_facts.h"
#include "worker/model/status.h"
#include "worker/model/ingest_type.h"

struct ing_arena;
struct ing_rows;

/* Zero-initialise. Strings are on the heap. */
struct ing_artifact {
	/* Of the last body examined. The digests of a body without a coding are filled in by the
	 * job, once the archive has taken them. */
	struct ing_file_meta file;
	bool saw_page;              /* an HTML page was examined */
	struct ing_page_link link;  /* that the last page gave; url NULL: none */
	char *platform, *scope;     /* of the last page; or NULL */
	json_t *biblio;             /* of the page that describes the work best; or NULL */
	bool biblio_has_own_title;  /* its title is not merely the page's <title> */
	struct ing_pdf pdf;         /* status NULL: there is no PDF; its text is in derived */
	struct ing_xml_found xml;   /* status NULL: none; the JATS document is in derived */
	struct ing_text_found text; /* of a page; status NULL: none; its TEI is in derived */
	struct ing_derived derived[ING_DERIVED_];
	struct ing_grobid_facts grobid; /* status NULL: GROBID was not asked */
	struct ing_webpage_found webpage;
};

/* Facts about a document that some types have, beside file_meta. Those with nothing for shrink_result and
 * those behind it leave them NULL. */
struct ing_artifact_facts {
	/* Move the facts out of findings that ended with ING_EXAM_OK, if there are any. */
	void (*keep)(struct ing_artifact *a, struct ing_findings *f);
	/* The following are called once a document was found, even when it has no such facts. */
	void (*add_to_result)(const struct ing_artifact *a, json_t *result);
	/* Remove the facts that a result can do without. Returns false when there are none. */
	bool (*shrink_result)(json_t *result);
	/* Strings in the rows are the artifact's, or in the arena. */
	void (*fill_rows)(
		const struct ing_artifact *a, struct ing_arena *ar, struct ing_rows *rows);
	/* The same facts, as far as the rows of an earlier request have them. */
	void (*add_earlier)(const struct ing_rows *rows, json_t *result);
	/* Facts that are too large for the result have messages of their own (model/derived.def); the
	 * key of each is the document's SHA-1 (hex). Called for every kind, also when nothing was derived:
	 * a message may tell of a failure. Returns its value (heap), or NULL when there is none or it
	 * would be larger than max_bytes; in the latter case the facts in the artifact say so. What is
	 * in a->derived stays, for the object store. source: the document's CDX fields, borrowed. */
	char *(*message)(struct ing_artifact *a, enum ing_derived_kind kind, json_t *source,
		size_t max_bytes, size_t *ret_bytes);
};

#define ING_ARTIFACT_NO_LINK ING_LINK_KINDS_

struct ing_artifact_type {
	/* For error_message of a type that this version does not handle: nothing is fetched, and
	 * the other members are empty. NULL: it is handled. */
	const char *not_handled;
	/* It is no document, but put together of many (publication.c): the members about documents, pages
	 * and links are empty. */
	bool is_assembled;
	/* Media types of a document, found by looking at its bytes; NULL-terminated. */
	const char *const *mimetypes;
	const char *accept; /* the Accept field of all requests for pages and document */
	unsigned want;      /* what examiners look for: enum ing_want bits */
	/* A page that is no document leads to it by this link, or not at all
	 * (ING_ARTIFACT_NO_LINK). */
	enum ing_link_kind link;
	bool use_site_rules; /* a page without this link may lead on by a site's rule (its next) */
	/* The end at a page that leads nowhere; not where pages are documents. */
	enum ing_status no_link_status;
	const char *no_link_detail; /* for error_message, or NULL */
	bool has_resources;         /* a document is shown with others, which are visited */
	bool reports_no_link;       /* the result has an empty extract_next_hop */
	/* The end at a document that is a page, by what is on it; NULL: success. */
	enum ing_status (*judge)(const struct ing_page *page);
	const struct ing_artifact_facts *facts; /* NULL: none beside file_meta */
};

/* The rows: ing_artifact_pdf and so on. */
#define INGEST_TYPE(id, name, row) extern const struct ing_artifact_type ing_artifact_##row;
#include "worker/model/ingest_type.def"

const struct ing_artifact_type *ing_artifact_type(enum ing_ingest_type type); /* static */

/* --- findings of one body --- */

/* Whether a body of this media type is a document of the type. */
bool ing_artifact_accepts(const struct ing_artifact_type *type, const char *mimetype);
/* Whether a body of this media type may be an HTML page: HTML, and XML that nothing more is known
 * of. */
bool ing_artifact_is_page(const char *mimetype);
/* The page's best link to a document of the type; the page's own address when it names nothing
 * else. Returns NULL when there is none. URL rules and limits are not asked. Borrowed. */
const struct ing_page_link *ing_artifact_link(
	const struct ing_artifact_type *type, const struct ing_page *page);
/* Keep what the result needs of findings that ended with ING_EXAM_OK. Moves large parts out of *f.
 */
void ing_artifact_keep(
	struct ing_artifact *a, const struct ing_artifact_type *type, struct ing_findings *f);

/* --- results --- */

/* What the pages said: extract_next_hop, html_biblio, platform, scope. */
void ing_artifact_add_pages(
	const struct ing_artifact *a, const struct ing_artifact_type *type, json_t *result);
/* The type's facts about a document that was found. file_meta: findings_json.h. */
void ing_artifact_add_facts(
	const struct ing_artifact *a, const struct ing_artifact_type *type, json_t *result);
/* Remove the next part that a result can do without: facts, then the record's references, its
 * abstract, all of it. Returns false when there is nothing left to remove. */
bool ing_artifact_shrink_result(const struct ing_artifact_type *type, json_t *result);
/* The rows about a document that was found. */
void ing_artifact_fill_rows(const struct ing_artifact *a, const struct ing_artifact_type *type,
	struct ing_arena *ar, struct ing_rows *rows);
/* Whether the document that was found is one for GROBID: a PDF, of a type that has a PDF's facts. */
bool ing_artifact_is_for_grobid(const struct ing_artifact *a, const struct ing_artifact_type *type);
/* Keep what GROBID says of it; takes both. text: its TEI, heap, or NULL. */
void ing_artifact_keep_grobid(
	struct ing_artifact *a, struct ing_grobid_facts *facts, char **text, size_t bytes);
/* Bytes of what was derived, which the pipeline limits. */
size_t ing_artifact_derived_bytes(const struct ing_artifact *a);
/* Free file and facts: there is no document after all. */
void ing_artifact_forget_document(struct ing_artifact *a);
void ing_artifact_done(struct ing_artifact *a);

/* Facts about a PDF: pdf_meta, its row, the pdf-text message (pdf.c). */
extern const struct ing_artifact_facts ing_artifact_pdf_facts;
