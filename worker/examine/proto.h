/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * proto.h - the messages between the worker and its examiners.
 *
 * A message is a frame: "IX", its kind, the version, a 32-bit length, and the payload. A document may
 * have taken control of the process that sends a reply, so the decoders check everything: lengths,
 * ranges and alphabets; text is made valid UTF-8; a message with any fault is refused whole. So are
 * digests of a body that was not decoded: those are not for the examiner to say. An examiner sends
 * HELLO once its sandbox is closed, then to each REQUEST one FILE or none, and one REPLY. Pure functions, any thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/error.h"
#include "worker/model/findings.h"

#define ING_PROTO_HEAD_BYTES 8
/* Two URLs of 8 KiB, two header values, an agent, three identifiers, numbers. */
#define ING_MAX_EXAM_REQUEST_BYTES ((size_t)64 << 10)
#define ING_MAX_PROTO_FILE_BYTES ((size_t)1024) /* a FILE */

enum ing_proto_kind {
	ING_PROTO_HELLO = 'h',   /* no payload */
	ING_PROTO_REQUEST = 'q', /* comes with the body's descriptor, unless the body is empty */
	/* What the body is: sent before it is looked into, so that it is known whatever comes of that.
	 * At most once for a request. */
	ING_PROTO_FILE = 'f',
	ING_PROTO_REPLY = 'r',
	/* From the process that reads a PDF to the examiner, in this order; what comes later may be
	 * missing. */
	ING_PROTO_PDF = 'p',
	ING_PROTO_PDF_INFO = 'i',
	ING_PROTO_PDF_THUMBNAIL = 't',
};

struct ing_proto_publication_ask {
	struct ing_publication_ask ask;
	char *pmid, *pmcid, *doi; /* heap; ask points at them */
};

/* A decoded request. It is not to be moved: q points into it. */
struct ing_proto_request {
	struct ing_exam_request q;
	uint64_t body_bytes;
	unsigned timeout_ms; /* the worker kills after this: the PDF's limit must end earlier */
	char *url, *content_type, *content_encoding, *page, *agent; /* heap; q points at them */
	struct ing_proto_publication_ask publication; /* q points at it, if it is wanted */
};

/* Start a frame; returns where, for ing_proto_end(), which fills in the length. */
size_t ing_proto_begin(struct ing_buf *b, enum ing_proto_kind kind);
void ing_proto_end(struct ing_buf *b, size_t at);
/* Check a frame's head. Returns 0 and the payload's length, -ING_FAIL_SYNTAX for another kind or
 * version, or -ING_FAIL_TOO_BIG for a payload over max_bytes. */
int ing_proto_head(const void *head, enum ing_proto_kind kind, size_t max_bytes,
	size_t *ret_bytes) ING_MUST_CHECK;

/* Encoders append one whole frame; with a buffer that is large enough they do not fail. Over-long
 * values are cut or left out as the field allows. */
void ing_proto_put_hello(struct ing_buf *b);
void ing_proto_put_request(struct ing_buf *b, const struct ing_exam_request *q, unsigned timeout_ms,
	uint64_t body_bytes);
void ing_proto_put_file(struct ing_buf *b, const struct ing_file_meta *file);
void ing_proto_put_reply(struct ing_buf *b, const struct ing_findings *f);
void ing_proto_put_pdf_part(struct ing_buf *b, enum ing_pdf_part part, const struct ing_pdf *pdf);
extern const enum ing_proto_kind ing_proto_pdf_kinds[ING_PDF_PARTS_];

/* Decoders take a payload (without the frame's head). Return 0, or -ING_FAIL_INVALID and an empty *ret.
 * The caller frees *ret with ing_proto_request_done(), ing_findings_done() or ing_pdf_done(). */
int ing_proto_get_request(
	const void *payload, size_t bytes, struct ing_proto_request *ret) ING_MUST_CHECK;
int ing_proto_get_file(const void *payload, size_t bytes, struct ing_file_meta *ret) ING_MUST_CHECK;
int ing_proto_get_reply(const void *payload, size_t bytes, struct ing_findings *ret) ING_MUST_CHECK;
/* Puts a part into *pdf, which stays as it is when the part is invalid. */
int ing_proto_get_pdf_part(const void *payload, size_t bytes, enum ing_pdf_part part,
	struct ing_pdf *pdf) ING_MUST_CHECK;

void ing_proto_request_done(struct ing_proto_request *request);
