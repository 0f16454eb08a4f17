/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lookup_priv.h - a question, and the statements that answer questions (lookup_rows.c).
 *
 * The loop owns a question until it is pushed to the database thread and again once it has come
 * back; in between the thread reads the keys and fills in the answer, and the loop touches only
 * what is marked so.
 */
#pragma once
#include "common/base/arena.h"
#include "common/base/queue.h"
#include "common/data/pg.h"
#include "worker/store/lookup/lookup.h"

enum ing_lookup_kind {
	ING_LOOKUP_RESULT,
	ING_LOOKUP_CAPTURE,
	ING_LOOKUP_GROBID_ROW,
	ING_LOOKUP_PUBLICATION,
	ING_LOOKUP_WEBPAGE,
};

struct ing_lookup_question {
	struct ing_node node;
	enum ing_lookup_kind kind;
	struct ing_arena ar;         /* keys and answer */
	const char *ingest_type;     /* of RESULT */
	const char *key;             /* base_url, URL of captures, digest */
	struct ing_lookup_kept kept; /* of PUBLICATION and WEBPAGE */
	unsigned rows_found;         /* of them, and what the last one says */
	const char *row_id;
	bool may_be_fetched;
	bool found;
	struct ing_earlier_result result; /* of GROBID_ROW: its age, and that row alone */
	struct ing_row_cdx captures[ING_LOOKUP_CAPTURES];
	size_t capture_count;
	/* loop only */
	struct ing_lookup *lookup;
	struct ing_lookup_question *prev, *next; /* all that have not been answered */
	bool dropped;                            /* taken back, or answered without the database */
	ing_lookup_result_f *on_result;
	ing_lookup_captures_f *on_captures;
	ing_lookup_grobid_f *on_grobid;
	void *ctx;
};

/* Answer the first `count` of the questions, which are of one kind. What an earlier, failed try has found is overwritten. */
enum ing_pg_rc ing_lookup_ask_kept(struct ing_pg *pg, struct ing_lookup_question *const *questions,
	size_t count, struct ing_error *err) ING_MUST_CHECK; /* PUBLICATION, WEBPAGE */
enum ing_pg_rc ing_lookup_ask(struct ing_pg *pg, struct ing_lookup_question *const *questions,
	size_t count, struct ing_error *err) ING_MUST_CHECK;
