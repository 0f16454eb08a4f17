/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Locked in the order of the key, as planners mark them.
 */
#include "worker/store/queued.h"

#include <stdlib.h>

#include "common/base/buf.h"
#include "worker/model/rows.h"
#include "worker/store/store.h"

#define MAX_ARRAY_BYTES ((size_t)16 << 20)

static size_t collect(struct ing_store_item *const *items, size_t count, const char **ret)
{
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		if (items[i]->end == ING_STORE_STORED && items[i]->rows->answers != NULL)
			ret[n++] = items[i]->rows->answers;
	}
	return n;
}

static enum ing_pg_rc forget(
	struct ing_pg *pg, const char *const *documents, size_t count, struct ing_error *err)
{
	static const char sql[] =
		"WITH free AS MATERIALIZED (SELECT document FROM document_queued"
		" WHERE document = ANY ($1::uuid[]) ORDER BY document FOR UPDATE SKIP LOCKED)"
		" DELETE FROM document_queued q USING free f WHERE q.document = f.document";
	struct ing_buf array;
	ing_buf_init(&array, MAX_ARRAY_BYTES);
	ing_pg_add_array(&array, documents, count);
	const char *params[] = {ing_buf_str(&array)};
	enum ing_pg_rc rc = ing_pg_query(pg, "not_queued", sql, params, 1, NULL, NULL, err);
	ing_buf_done(&array);
	return rc;
}

/* ------------------------------------------------------------------------------------------ */

enum ing_pg_rc ing_queued_forget(
	struct ing_pg *pg, struct ing_store_item *const *items, size_t count, struct ing_error *err)
{
	const char **documents = ing_alloc((count + 1) * sizeof(*documents));
	size_t n = collect(items, count, documents);
	enum ing_pg_rc rc = n > 0 ? forget(pg, documents, n, err) : ING_PG_OK;
	free(documents);
	return rc;
}
