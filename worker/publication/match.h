/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * match.h - whether a document is the work that was asked for: its identifiers, title, authors and
 * number of pages against what the request and the landing page say of the work.
 *
 * A judgement that is told, not one that decides: nothing is dropped because of it. Pure; any thread.
 * Text is untrusted UTF-8, of which the beginning is read: the cost is limited.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/data/json.h"

/* NULL and 0: unknown. */
struct ing_match_work {
	const char *doi, *arxiv, *pmcid, *title;
	const json_t *authors; /* a list of names */
	int page_count;
};

struct ing_match_document {
	const char *doi, *title; /* that it says itself it has */
	const char *text;
	size_t text_bytes;
	bool is_markup; /* text is XML */
	int page_count;
};

/* What speaks for and against. The score is between 0 and 1: a half says nothing. */
struct ing_match;
struct ing_match *ing_match_new(void);
void ing_match_free(struct ing_match *m); /* NULL is fine */
void ing_match_document(struct ing_match *m, const struct ing_match_work *work,
	const struct ing_match_document *document);
/* A record (html_biblio) of the page that led to the document: is it of the work? */
void ing_match_page(struct ing_match *m, const struct ing_match_work *work, const json_t *record);
/* {"score","reasons"}, or NULL when nothing could be compared. New reference. */
json_t *ing_match_json(const struct ing_match *m);
