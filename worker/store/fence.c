/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * FOR SHARE: a claim changes the row, and thus waits for the batch; batches do not wait for one
 * another. (FOR KEY SHARE would let the claim pass, since it does not change the key.) The rows are
 * locked after they are sorted, and read again when a claim was waited for.
 */
#include "worker/store/fence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/store/store.h"

#define MAX_ARRAY_BYTES ((size_t)16 << 20)

static bool is_of(const struct ing_fence *f, const struct ing_source *s)
{
	return f->partition == s->partition &&
	       (f->topic == s->topic || strcmp(f->topic, s->topic) == 0) &&
	       (f->group == s->group || strcmp(f->group, s->group) == 0);
}

/* There are few partitions, and neighbours in a batch often share one. */
static struct ing_fence *find(struct ing_fences *f, const struct ing_source *s)
{
	if (f->last < f->count && is_of(&f->all[f->last], s))
		return &f->all[f->last];
	for (size_t i = 0; i < f->count; i++) {
		if (is_of(&f->all[i], s)) {
			f->last = i;
			return &f->all[i];
		}
	}
	return NULL;
}

static void add(struct ing_fences *f, const struct ing_source *s)
{
	if (find(f, s) != NULL)
		return;
	if (f->count == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 16;
		f->all = ing_realloc(f->all, f->cap * sizeof(*f->all));
	}
	f->last = f->count;
	f->all[f->count++] =
		(struct ing_fence){.group = s->group, .topic = s->topic, .partition = s->partition};
}

static void add_row(void *ctx, const char *const *values, int count)
{
	struct ing_fences *f = ctx;
	ing_must(count == 2);
	int64_t i = ing_pg_int64(values[0]);
	ing_must(i >= 1 && (size_t)i <= f->count);
	f->all[i - 1].stored = ing_pg_int64(values[1]);
}

static enum ing_pg_rc lock_rows(struct ing_fences *f, struct ing_pg *pg, struct ing_error *err)
{
	static const char sql[] =
		"SELECT k.i, o.fence FROM partition_owner o JOIN"
		" unnest($1::text[], $2::text[], $3::integer[]) WITH ORDINALITY AS k (g, t, p, i)"
		" ON o.kafka_group = k.g AND o.topic = k.t AND o.partition = k.p"
		" ORDER BY o.kafka_group, o.topic, o.partition FOR SHARE OF o";
	struct ing_buf arrays[3];
	const char **texts = ing_alloc(2 * f->count * sizeof(*texts));
	for (size_t i = 0; i < ING_ARRAY_LEN(arrays); i++)
		ing_buf_init(&arrays[i], MAX_ARRAY_BYTES);
	for (size_t i = 0; i < f->count; i++) {
		texts[i] = f->all[i].group;
		texts[f->count + i] = f->all[i].topic;
		ing_buf_printf(&arrays[2], "%c%d", i == 0 ? '{' : ',', (int)f->all[i].partition);
	}
	ing_buf_add_char(&arrays[2], '}');
	ing_pg_add_array(&arrays[0], texts, f->count);
	ing_pg_add_array(&arrays[1], texts + f->count, f->count);
	const char *params[] = {
		ing_buf_str(&arrays[0]), ing_buf_str(&arrays[1]), ing_buf_str(&arrays[2])};
	enum ing_pg_rc rc = ing_pg_query(pg, "fences", sql, params, 3, add_row, f, err);
	for (size_t i = 0; i < ING_ARRAY_LEN(arrays); i++)
		ing_buf_done(&arrays[i]);
	free(texts);
	return rc;
}

/* ------------------------------------------------------------------------------------------ */

void ing_fences_done(struct ing_fences *f)
{
	free(f->all);
	*f = (struct ing_fences){0};
}

enum ing_pg_rc ing_fences_check(struct ing_fences *f, struct ing_pg *pg,
	struct ing_store_item *const *items, size_t count, struct ing_error *err)
{
	f->count = 0;
	for (size_t i = 0; i < count; i++) {
		if (items[i]->source != NULL)
			add(f, items[i]->source);
	}
	if (f->count == 0)
		return ING_PG_OK;
	enum ing_pg_rc rc = lock_rows(f, pg, err);
	if (rc != ING_PG_OK)
		return rc;
	for (size_t i = 0; i < count; i++) {
		const struct ing_source *s = items[i]->source;
		if (s != NULL && (s->fence < 1 || find(f, s)->stored != s->fence))
			items[i]->end = ING_STORE_FENCED;
	}
	return ING_PG_OK;
}
