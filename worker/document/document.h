/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * document.h - what the bytes of a fetched body are and say.
 *
 * Pure: bytes and a question in, findings out; no network, and no files but those that libmagic
 * and poppler keep their tables in. Runs inside examiners and, in a forked child,
 * inside ingestctl. One thread: libmagic's handle and the scraper are kept between calls.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"

struct ing_findings;
struct ing_pdf;
struct ing_exam_request;
struct ing_rules;

/* The body without its content codings: borrowed from what was given, or a heap copy. */
struct ing_document_body {
	const uint8_t *data;
	size_t bytes;
	bool owned; /* that is, decoded */
};

/* Everything but the inside of a PDF: content decoding (RFC 9110, section 8.4), digests of what was
 * decoded, size, type, and what an HTML page says when q->want has ING_WANT_LINKS. *ret was
 * initialised; its strings are then the caller's. When the coding is broken or the body too large,
 * ret->exam says so, ret->file stays empty and *ret_body has no bytes. *ret_body may point into
 * data; release it with ing_document_body_done() before data goes. */
void ing_document_examine(const struct ing_exam_request *q, const void *data, size_t bytes,
	struct ing_document_body *ret_body, struct ing_findings *ret);
void ing_document_body_done(
	struct ing_document_body *b); /* zero-initialised or done before is fine */

/* The same of a robots.txt, for q->want with ING_WANT_ROBOTS, to which ing_document_examine()
 * leaves it: the content codings off, the file cut behind its last whole line where the body or
 * q->max_body_bytes ends before it does, the rules for q->agent. ret->file is about the file
 * without its codings, as far as it was read. */
void ing_document_robots(
	const struct ing_exam_request *q, const void *data, size_t bytes, struct ing_findings *ret);

/* Facts and text of a PDF, into an empty *ret (release with ing_pdf_done()). Always sets a
 * status. A hostile document may crash, hang or fill the memory: call it in a process of its
 * own, with limits. */
void ing_document_pdf(const void *data, size_t bytes, struct ing_pdf *ret);

/* The scraping rules to read pages by, given before anything else here is called: borrowed, or
 * loaded from a descriptor (worker/rules/rule_files.h); -CONFIG with all that is wrong with
 * them, or -INVALID. Without: no rules. */
void ing_document_use_rules(const struct ing_rules *rules);
int ing_document_load_rules(int fd, struct ing_error *err) ING_MUST_CHECK;

/* Load what every document needs, once, before forking and before a sandbox closes: libmagic's
 * database, poppler's tables, the HTML parser, character set converters. Without it the first
 * document pays, and a sandbox that is closed by then has no converters. */
void ing_document_warm(void);
