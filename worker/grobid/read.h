/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * read.h - GROBID's facts about one document: from the row of an earlier request where there is a good
 * one, else from GROBID, whose answer an examiner reads.
 *
 * A reading is owned by this module from ing_grobid_read() to its done(), or to ing_grobid_read_cancel().
 * Thread: loop. The client was made with a pool of examiners (struct ing_grobid_conf).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ing_grobid;
struct ing_grobid_facts;
struct ing_grobid_reading;

struct ing_grobid_document {
	const char *sha1hex; /* of the document; copied */
	const char *url;     /* whose turn it is among the examiners; copied */
	int body_fd;         /* borrowed until the end; its offset is neither used nor moved */
	uint64_t body_bytes;
	/* The body is not the document itself yet: an examiner is to decode it. Its fields (borrowed until
	 * ing_grobid_read() returns, or NULL), and limits as of its first examination. */
	bool coded;
	const char *content_type, *content_encoding;
	uint64_t max_body_bytes;
	unsigned max_ratio;
	bool again; /* also when there is a good row */
};

/* Never from inside ing_grobid_read(). facts and *text (heap, UTF-8, `bytes` long and a NUL; NULL when
 * there is none) may be taken with ING_TAKE() or zeroed; what is left of them is freed. */
typedef void ing_grobid_read_f(
	void *ctx, struct ing_grobid_facts *facts, char **text, size_t bytes);
struct ing_grobid_reading *ing_grobid_read(struct ing_grobid *g,
	const struct ing_grobid_document *document, ing_grobid_read_f *done, void *ctx);
void ing_grobid_read_cancel(struct ing_grobid_reading *reading); /* NULL is fine */
