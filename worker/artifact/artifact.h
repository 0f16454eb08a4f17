/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * artifact.h - what a request is after: a document of one type, and what is known of it.
 *
 * struct ing_artifact_type says everything in which the types differ; worker/model/ingest_type.def
 * lists them, and each has a file here. struct ing_artifact is what is kept of examiners' findings
 * on the way of one request, for its result, its rows and its messages. The rest of the worker asks
 * these functions and knows no type by name.
 *
 * Pure functions over plain data; any thread. A struct ing_artifact belongs to its request, which
 * frees what is in it with ing_artifact_done(). JSON that is returned or added is clean UTF-8
 * without the passwords of URLs (worker/model/mask.h).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "common/data/json.h"
#include "worker/model/outputs.h"
#include "worker/model/findings.h"
#include "worker/model/status.h"
#include "worker/model/ingest_type.h"

struct ing_arena;
struct ing_rows;

struct ing_artifact {              /* zero-initialise */
	struct ing_file_meta file; /* of the last body examined; the job fills in the digests of
				      one that is as sent */
	bool saw_page;             /* an HTML page was looked into */
	struct ing_page_link link; /* where the last page leads; url NULL: nowhere */
	char *platform, *scope;    /* of the last page; or NULL */
	json_t *biblio;            /* of the pages on the way (html_biblio.h); or NULL */
	bool biblio_has_own_title; /* not merely the page's <title> */
	struct ing_pdf pdf;        /* of the document; status NULL: none */
};

/* What a type tells of a document beside its file_meta. */
struct ing_artifact_facts {
	/* Take what is to be kept out of findings that ended with ING_EXAM_OK. */
	void (*keep)(struct ing_artifact *a, struct ing_findings *f);
	/* The other functions are called for a document that was reached, whether or not there was
	 * something to keep. */
	void (*add_to_result)(const struct ing_artifact *a, json_t *result);
	/* Leave out of a result what it can do without. Returns false when nothing is left. */
	bool (*shrink_result)(json_t *result);
	/* Strings are the artifact's, or in the arena. */
	void (*fill_rows)(
		const struct ing_artifact *a, struct ing_arena *ar, struct ing_rows *rows);
	/* The message beside the result, for this output, with the document's SHA-1 as its key. */
	enum ing_output output;
	/* Returns it, heap, of at most max_bytes; NULL when there is none. When it does not fit,
	 * the facts say so afterwards. Takes what only the message has out of the artifact. source:
	 * the document's CDX fields, borrowed. */
	char *(*message)(
		struct ing_artifact *a, json_t *source, size_t max_bytes, size_t *ret_bytes);
};

#define ING_ARTIFACT_NO_LINK ING_LINK_KINDS_

struct ing_artifact_type {
	/* For error_message of a type that this version does not handle: nothing is asked for, and
	 * all that follows is empty. NULL otherwise. */
	const char *not_handled;
	/* Of a document, by its bytes; NULL-terminated. An HTML page of another type than these
	 * leads to the document, if it has the link. */
	const char *const *mimetypes;
	const char *accept;      /* the Accept field of the requests on the way (RFC 9110 12.5.1) */
	unsigned want;           /* of a body; enum ing_want bits */
	enum ing_link_kind link; /* of a page, that is followed; or ING_ARTIFACT_NO_LINK */
	bool site_rules;         /* where it is missing, a site's rule (struct ing_page.next) is */
	enum ing_status no_link; /* when a page has none */
	const char *no_link_detail;             /* for error_message; or NULL */
	bool tells_no_link;                     /* extract_next_hop is {} then */
	const struct ing_artifact_facts *facts; /* NULL: nothing beside file_meta */
};

/* The rows: struct ing_artifact_type ing_artifact_pdf and so on, each in a file of its own. */
#define INGEST_TYPE(id, name, row) extern const struct ing_artifact_type ing_artifact_##row;
#include "worker/model/ingest_type.def"

const struct ing_artifact_type *ing_artifact_type(enum ing_ingest_type type); /* static */

/* --- findings of one body --- */

/* Whether a body of this mimetype is a document of the type. */
bool ing_artifact_accepts(const struct ing_artifact_type *type, const char *mimetype);
/* Whether it may be an HTML page, which leads on: HTML, or XML of no special kind. */
bool ing_artifact_is_page(const char *mimetype);
/* Where a page leads: its best link, the page's own address only when there is nothing else.
 * Returns NULL when it leads nowhere. Whether the link may be followed is another question. */
const struct ing_page_link *ing_artifact_link(
	const struct ing_artifact_type *type, const struct ing_page *page);
/* Keep what results need of findings that ended with ING_EXAM_OK; takes the large parts of *f. */
void ing_artifact_keep(
	struct ing_artifact *a, const struct ing_artifact_type *type, struct ing_findings *f);

/* --- the end of the way --- */

/* What the pages on the way said: extract_next_hop, html_biblio, platform, scope. */
void ing_artifact_add_pages(
	const struct ing_artifact *a, const struct ing_artifact_type *type, json_t *result);
/* Of a document that was reached: the type's facts, beside its file_meta (findings_json.h). */
void ing_artifact_add_facts(
	const struct ing_artifact *a, const struct ing_artifact_type *type, json_t *result);
/* Leave the next thing out of a result that it can do without: facts, then references, abstract,
 * the whole record. Returns false when nothing is left to leave out. */
bool ing_artifact_shrink_result(const struct ing_artifact_type *type, json_t *result);
/* The rows of a document that was reached. */
void ing_artifact_fill_rows(const struct ing_artifact *a, const struct ing_artifact_type *type,
	struct ing_arena *ar, struct ing_rows *rows);
/* Bytes of what is kept that count against the pipeline's memory: text for a message. */
size_t ing_artifact_text_bytes(const struct ing_artifact *a);
/* There was no document after all: forget its file and its facts. */
void ing_artifact_forget_document(struct ing_artifact *a);
void ing_artifact_done(struct ing_artifact *a); /* frees what is in it, and zeroes it */

/* Facts of a body that is a PDF: pdf_meta, its row, the pdf-text message (pdf.c). */
extern const struct ing_artifact_facts ing_artifact_pdf_facts;
