/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * document.h - the examination of a fetched body.
 *
 * Bytes and a request in, findings out; no network, and no files but the tables of libmagic and
 * poppler. Runs in examiners and in a forked child of ingestctl. One thread: libmagic's handle and the scraper are kept between calls.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"
#include "worker/model/findings.h"

struct ing_rules;

/* The body without its content codings: borrowed from what was given, or a heap copy. */
struct ing_document_body {
	const uint8_t *data;
	size_t bytes;
	bool owned; /* that is, decoded */
};

/* Examine everything but the contents of a PDF: content codings (RFC 9110, section 8.4), digests of
 * what was decoded, size, type, and an HTML page when q->want has ING_WANT_LINKS or _WALLS. *ret was
 * initialised; the caller frees it with ing_findings_done(). When the coding is broken or the body too large,
 * ret->exam says so, ret->file stays empty and *ret_body has no bytes. *ret_body may point into
 * data; release it with ing_document_body_done() before data is freed. */
void ing_document_examine(const struct ing_exam_request *q, const void *data, size_t bytes,
	struct ing_document_body *ret_body, struct ing_findings *ret);
/* The same in two steps: what the body is, and what it says. Returns false when there is nothing to
 * be said of it: *ret is all there is, then. */
bool ing_document_identify(const struct ing_exam_request *q, const void *data, size_t bytes,
	struct ing_document_body *ret_body, struct ing_findings *ret);
void ing_document_read(const struct ing_exam_request *q, const struct ing_document_body *body,
	struct ing_findings *ret);
/* The same for a PDF, after it has been read into ret->pdf: what it says of a publication, or as a web
 * page, where q->want asks for that. */
void ing_document_read_pdf(const struct ing_exam_request *q, const struct ing_document_body *body,
	struct ing_findings *ret);
void ing_document_body_done(
	struct ing_document_body *b); /* zero-initialised or done before is fine */

/* Examine a body as the page that it is said to be, whatever its bytes look like: ret->page, and what
 * else q->want asks of a page. No coding, no digests. */
void ing_document_read_page(
	const struct ing_exam_request *q, const void *data, size_t bytes, struct ing_findings *ret);
/* Returns the main text of the last page that was examined with ING_WANT_TEXT, which is no part of
 * the findings. Borrowed until the next call. */
const char *ing_document_plain_text(void);

/* The same for a robots.txt; ing_document_examine() calls it when q->want has ING_WANT_ROBOTS. The
 * file is decoded, cut after its last whole line where the body or q->max_body_bytes ends before
 * it, and parsed for q->agent. ret->file describes the decoded file, as far as it was read. */
void ing_document_robots(
	const struct ing_exam_request *q, const void *data, size_t bytes, struct ing_findings *ret);

/* Called when a part of *pdf is filled in. */
typedef void ing_document_part_f(void *ctx, enum ing_pdf_part part, const struct ing_pdf *pdf);
/* Facts, text and thumbnail of a PDF, into an empty *ret (release with ing_pdf_done()). Always sets a
 * status. on_part, which may be NULL, is called once for each part, in their order. A hostile document
 * may crash, hang or fill the memory at any of them: call it in a process of its own, with limits. */
void ing_document_pdf(const void *data, size_t bytes, ing_document_part_f *on_part, void *ctx,
	struct ing_pdf *ret);

/* Set the scraping rules before anything else here is called: borrowed, or loaded from a descriptor
 * (worker/rules/rule_files.h). Returns 0, -ING_FAIL_CONFIG with all errors in them, or
 * -ING_FAIL_INVALID. Without a call there are no rules. */
void ing_document_use_rules(const struct ing_rules *rules);
int ing_document_load_rules(int fd, struct ing_error *err) ING_MUST_CHECK;

/* Load what every document needs, once, before forking and before a sandbox closes: libmagic's
 * database, poppler's tables, the HTML parser, the character set converters that PDFs need. Otherwise
 * the first document takes longer, and a closed sandbox has no converters. */
void ing_document_warm(void);
/* All other converters, in each examiner before its sandbox closes, and not before it is forked: their 55
 * libraries are 275 mappings, which every fork for a PDF would copy. Takes 2 ms. */
void ing_document_warm_examiner(void);
