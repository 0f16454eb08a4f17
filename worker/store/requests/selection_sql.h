/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * selection_sql.h - a selection as a SELECT. Values are quoted as literals, for COPY takes no parameters. Pure.
 *
 * Three layers, of which only those that are needed stand in the text: the rows for which the conditions hold; ranks
 * within groups, for limits of one host; places, by which hosts are interleaved.
 */
#pragma once
#include "worker/store/requests/selection.h"

/* What the database says of a selection before it is read, in the same snapshot. */
struct ing_selection_scope {
	const int *list_ids;   /* of s->lists, NULL when there are none */
	const int *priorities; /* of the same lists */
	size_t list_count;
	bool has_members; /* of the lists: requests that others had brought before */
	bool unfilled_requests, unfilled_results; /* rows from before there were documents */
	uint64_t host_cap;                        /* of per_host and share; 0: none */
	uint64_t limit;                           /* of limit and share; 0: none */
	bool nothing; /* no request can be selected: a share that nobody can keep */
};

/* Columns of a row, in this order. */
enum ing_selection_column {
	ING_SELECTED_TYPE,
	ING_SELECTED_BASE_URL,
	ING_SELECTED_LINK_SOURCE,
	ING_SELECTED_LINK_SOURCE_ID,
	ING_SELECTED_SOURCE,
	ING_SELECTED_STAGE,
	ING_SELECTED_CREATED,
	ING_SELECTED_REQUEST,
	ING_SELECTED_REQUEST_ID,
	ING_SELECTED_DOCUMENT,
	ING_SELECTED_HOST,
	ING_SELECTED_DOI_PREFIX,
	ING_SELECTED_COLUMNS_
};

/* Append the statement. */
void ing_selection_sql(const struct ing_selection *s, enum ing_selection_order order,
	const struct ing_selection_scope *scope, struct ing_buf *out);
/* How many groups have how many requests: rows of (requests, groups), for ing_share_cap(). */
void ing_selection_groups_sql(const struct ing_selection *s, enum ing_selection_order order,
	const struct ing_selection_scope *scope, struct ing_buf *out);
/* How many requests: rows of (value, requests), the most first. by: host, status, … (ing_selection_list_counted()), or NULL: one row with
 * an empty value, or none. False: there is no such by. */
bool ing_selection_count_sql(const struct ing_selection *s, const struct ing_selection_scope *scope,
	const char *by, struct ing_buf *out);
