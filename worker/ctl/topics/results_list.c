/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two look-ups by index for each result, hundreds in a statement.
 */
#include "worker/ctl/topics/results_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/database/schema.h"
#include "worker/model/request_facts.h"

#define ID_CHARS (2 * (size_t)ING_FACT_ID_BYTES)

struct ing_results_list {
	char *dsn;
	struct ing_pg *pg;
	char list_id[24];
};

struct answer {
	bool *is_in;
	size_t count;
};

static void take_id(void *ctx, const char *const *values, int count)
{
	struct ing_results_list *l = ctx;
	(void)count;
	snprintf(l->list_id, sizeof(l->list_id), "%s", values[0]);
}

static void take_member(void *ctx, const char *const *values, int count)
{
	struct answer *a = ctx;
	int64_t n = ing_pg_int64(values[0]);
	(void)count;
	if (n >= 1 && (size_t)n <= a->count)
		a->is_in[n - 1] = true;
}

/* "" for what is no key of a result. */
static void add_id(struct ing_buf *array, const struct ing_results_key *key)
{
	bool is_id = key->bytes != NULL && key->size >= ID_CHARS;
	for (size_t i = 0; i < ID_CHARS && is_id; i++)
		is_id = strchr("0123456789abcdef", ((const char *)key->bytes)[i]) != NULL &&
			((const char *)key->bytes)[i] != '\0';
	ing_buf_add_str(array, array->len > 1 ? "," : "");
	if (is_id)
		ing_buf_add(array, key->bytes, ID_CHARS);
	else
		ing_buf_add_str(array, "NULL");
}

static enum ing_pg_rc ask(
	struct ing_results_list *l, const char *keys, struct answer *answer, struct ing_error *err)
{
	const char *const params[] = {keys, l->list_id};
	return ing_pg_query(l->pg, "members",
		"SELECT k.n FROM unnest($1::uuid[]) WITH ORDINALITY AS k (id, n)"
		" WHERE EXISTS (SELECT FROM ingest_request q WHERE q.request_id = k.id"
		"  AND q.list_id = $2::integer)"
		" OR EXISTS (SELECT FROM request_list_member m WHERE m.request_id = k.id"
		"  AND m.list_id = $2::integer)",
		params, 2, take_member, answer, err);
}

static int connect(struct ing_results_list *l, struct ing_error *err)
{
	ing_pg_close(ING_TAKE(l->pg));
	return ing_schema_open(l->dsn, &l->pg, err);
}

/* -------------------------------------------------------------------------------------------- */

int ing_results_list_open(
	const char *dsn, const char *name, struct ing_results_list **ret, struct ing_error *err)
{
	struct ing_results_list *l = ing_alloc(sizeof(*l));
	l->dsn = ing_strdup(dsn);
	int rc = connect(l, err);
	if (rc == 0 && ing_pg_query(l->pg, NULL, "SELECT list_id FROM request_list WHERE name = $1",
			       &name, 1, take_id, l, err) != ING_PG_OK)
		rc = -ING_FAIL_UNAVAILABLE;
	if (rc == 0 && l->list_id[0] == '\0')
		rc = ing_error_set(err, ING_FAIL_NOT_FOUND, "there is no such list");
	if (rc != 0)
		ing_results_list_free(l);
	else
		*ret = l;
	return rc;
}

void ing_results_list_free(struct ing_results_list *l)
{
	if (l == NULL)
		return;
	ing_pg_close(l->pg);
	free(l->dsn);
	free(l);
}

int ing_results_list_ask(struct ing_results_list *l, const struct ing_results_key *keys,
	size_t count, bool *ret_is_in, struct ing_error *err)
{
	struct answer answer = {.is_in = ret_is_in, .count = count};
	struct ing_buf array;
	ing_must(count <= ING_RESULTS_LIST_BATCH);
	memset(ret_is_in, 0, count * sizeof(*ret_is_in));
	ing_buf_init(&array, ING_RESULTS_LIST_BATCH * (ID_CHARS + 1) + 8);
	ing_buf_add_char(&array, '{');
	for (size_t i = 0; i < count; i++)
		add_id(&array, &keys[i]);
	ing_buf_add_char(&array, '}');
	ing_must(!array.failed);
	enum ing_pg_rc rc = ask(l, ing_buf_str(&array), &answer, err);
	if ((rc == ING_PG_LOST || rc == ING_PG_SILENT) && connect(l, err) == 0)
		rc = ask(l, ing_buf_str(&array), &answer, err);
	ing_buf_done(&array);
	return rc == ING_PG_OK ? 0 : -ING_FAIL_UNAVAILABLE;
}
