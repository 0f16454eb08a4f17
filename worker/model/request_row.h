/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * request_row.h - the row of ingest_request that a request has, whoever stores it: the worker with its result, `requests load`
 * before it is asked. Pure, any thread.
 */
#pragma once
#include "worker/model/rows.h"

struct ing_arena;
struct ing_request;
struct ing_request_facts;

/* Texts are the request's or the arena's; those that may be URLs are masked. link_source and link_source_id are NULL when absent;
 * present is true when neither is, nor empty. Members without a column of their own are in request_json, and so is what of the identity the columns do
 * not say: "base_url": null when it was derived from ext_ids, ingest_type when it was an alias. With these the
 * row makes the same request again. `created` of the request is left out: it is the row's own column. */
void ing_request_row(
	const struct ing_request *r, struct ing_arena *ar, struct ing_row_request *ret);
/* What of a row follows from its facts, and `present`; the other texts are there. */
void ing_request_row_facts(
	const struct ing_request_facts *facts, struct ing_arena *ar, struct ing_row_request *row);
