/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * selection_rows.h - the innermost layer of a selection's SELECT, for selection_sql.c alone: from which tables, under which
 * conditions. Pure.
 */
#pragma once
#include "worker/store/requests/selection_sql.h"

/* Classes (enum ing_request_class), over r and d. */
#define ING_SELECTION_IS_QUEUED "coalesce(d.queued > r.updated, d.queued IS NOT NULL)"
#define ING_SELECTION_IS_DUE "NOT r.hit AND r.next_try <= now()"
#define ING_SELECTION_IS_LATER "NOT r.hit AND r.next_try > now()"
#define ING_SELECTION_IS_ENDED "NOT r.hit AND r.next_try IS NULL"
/* Its name; a hit that was queued again is a hit. */
#define ING_SELECTION_CLASS_SQL                                                                    \
	"CASE WHEN r.hit THEN 'hit' WHEN " ING_SELECTION_IS_QUEUED " THEN 'queued'"                \
	" WHEN r.status IS NULL THEN 'never-asked' WHEN " ING_SELECTION_IS_DUE " THEN 'retry-due'" \
	" WHEN " ING_SELECTION_IS_LATER " THEN 'retry-later' ELSE 'ended' END"

struct ing_selection_writer {
	const struct ing_selection *s;
	const struct ing_selection_scope *scope;
	struct ing_buf *out;
	bool topic;           /* ING_ORDER_INTERLEAVED */
	const char *columns;  /* of the innermost SELECT, over q, r and d */
	const char *selected; /* the same by name, over its rows under the alias q */
	bool by_result;       /* columns are about r or d */
	bool unordered;       /* nobody sees the order, unless it decides which */
};

/* " FROM … WHERE …": q is the request, r the result of its document (of several the best: a hit, else the newest), d the document in the
 * queue, l (when priorities differ) the list. r and d are there only when a condition or a column is about them. */
void ing_selection_add_rows(const struct ing_selection_writer *w);
/* Of the lists: which goes first then matters. */
bool ing_selection_priorities_differ(const struct ing_selection_writer *w);
/* What orders requests: the seed, or where they are stored. */
void ing_selection_add_key(const struct ing_selection_writer *w);
