/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop adds to `waiting` and to the partitions' low waters, under the lock; the thread moves
 * that to lists of its own before each statement, and forgets them when they are committed.
 */
#include "worker/store/upkeep.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/model/positions.h"

#define PRUNE_MS 500
#define LOW_WATER_MS 1000
#define MAX_ARRAY_BYTES ((size_t)64 << 20)

struct part { /* a partition; lives as long as the upkeep */
	char *group, *topic;
	int32_t partition;
	int64_t fence; /* 0: not claimed by us */
	int64_t low_water, mark_offset, mark_timestamp_ms;
	bool changed; /* since it was last taken */
};

struct prune {
	const struct part *part;
	int64_t offset, timestamp_ms;
	uint64_t digest;
};

struct prunes {
	struct prune *all;
	size_t count, cap;
};

struct low_waters {
	struct part *all; /* copies; their texts are the parts' own */
	size_t count, cap;
};

struct ing_upkeep {
	void (*wake)(void *ctx);
	void *wake_ctx;
	pthread_mutex_t lock;
	struct part **parts; /* of this and the next two: members under the lock */
	size_t part_count, part_cap, part_last;
	struct prunes waiting;
	size_t changed;           /* parts that are */
	uint64_t waiting_from_ms; /* the oldest prune */

	/* database thread */
	struct prunes taken;
	size_t under_way; /* the first of the taken ones */
	struct low_waters low_taken;
	bool lows_under_way;
	uint64_t lows_at_ms; /* when they were last written */
	struct ing_buf arrays[7];
};

/* -- loop ------------------------------------------------------------------------------------ */

static bool is_of(const struct part *p, const char *group, const char *topic, int32_t partition)
{
	return p->partition == partition && strcmp(p->topic, topic) == 0 &&
	       (group == NULL || strcmp(p->group, group) == 0);
}

/* group NULL: any that is claimed. NULL: none. */
static struct part *find_part(
	struct ing_upkeep *u, const char *group, const char *topic, int32_t partition)
{
	if (u->part_last < u->part_count && is_of(u->parts[u->part_last], group, topic, partition))
		return u->parts[u->part_last];
	for (size_t i = 0; i < u->part_count; i++) {
		if (is_of(u->parts[i], group, topic, partition)) {
			u->part_last = i;
			return u->parts[i];
		}
	}
	return NULL;
}

static struct part *need_part(
	struct ing_upkeep *u, const char *group, const char *topic, int32_t partition)
{
	struct part *p = find_part(u, group, topic, partition);
	if (p != NULL)
		return p;
	if (u->part_count == u->part_cap) {
		u->part_cap = u->part_cap ? u->part_cap * 2 : 16;
		u->parts = ing_realloc(u->parts, u->part_cap * sizeof(struct part *));
	}
	p = ing_alloc(sizeof(*p));
	*p = (struct part){
		.group = ing_strdup(group), .topic = ing_strdup(topic), .partition = partition};
	u->parts[u->part_count++] = p;
	return p;
}

static void add_prune(struct prunes *list, const struct prune *p)
{
	if (list->count == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 256;
		list->all = ing_realloc(list->all, list->cap * sizeof(*list->all));
	}
	list->all[list->count++] = *p;
}

static bool is_idle(const struct ing_upkeep *u)
{
	return u->waiting.count == 0 && u->changed == 0;
}

static void set_low_water(struct ing_upkeep *u, const struct ing_position *position)
{
	struct part *p = find_part(u, NULL, position->topic, position->partition);
	if (p == NULL || p->fence == 0 || p->fence != position->fence)
		return;
	p->low_water = position->offset;
	p->mark_offset = position->mark_offset;
	p->mark_timestamp_ms = position->mark_timestamp_ms;
	u->changed += !p->changed;
	p->changed = true;
}

/* -- database thread ------------------------------------------------------------------------- */

static void take_prunes(struct ing_upkeep *u)
{
	for (size_t i = 0; i < u->waiting.count; i++)
		add_prune(&u->taken, &u->waiting.all[i]);
	u->waiting.count = 0;
}

/* The newest low water of a partition replaces one that was taken and not written. */
static void take_low_water(struct low_waters *list, const struct part *p)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->all[i].topic == p->topic && list->all[i].partition == p->partition) {
			list->all[i] = *p;
			return;
		}
	}
	if (list->count == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 16;
		list->all = ing_realloc(list->all, list->cap * sizeof(*list->all));
	}
	list->all[list->count++] = *p;
}

static void take(struct ing_upkeep *u)
{
	bool lows = ing_now_ms() - u->lows_at_ms >= LOW_WATER_MS;
	pthread_mutex_lock(&u->lock);
	take_prunes(u);
	for (size_t i = 0; lows && u->changed > 0 && i < u->part_count; i++) {
		if (!u->parts[i]->changed)
			continue;
		take_low_water(&u->low_taken, u->parts[i]);
		u->parts[i]->changed = false;
		u->changed--;
	}
	pthread_mutex_unlock(&u->lock);
}

static void add_number(struct ing_buf *out, int64_t v)
{
	ing_buf_printf(out, "%c%lld", out->len == 0 ? '{' : ',', (long long)v);
}

static const char *end_array(struct ing_buf *out)
{
	ing_buf_add_char(out, '}');
	return ing_buf_str(out);
}

static void clear_arrays(struct ing_upkeep *u)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(u->arrays); i++)
		ing_buf_clear(&u->arrays[i]);
}

/* Arrays 0 and 1: group and topic of each. */
static void add_names(struct ing_upkeep *u, const char **texts, size_t count)
{
	ing_pg_add_array(&u->arrays[0], texts, count);
	ing_pg_add_array(&u->arrays[1], texts + count, count);
	free(texts);
}

static enum ing_pg_rc prune(
	struct ing_upkeep *u, struct ing_pg *pg, size_t max_rows, struct ing_error *err)
{
	static const char sql[] =
		"DELETE FROM result_outbox o USING unnest($1::text[], $2::text[], $3::integer[],"
		" $4::bigint[], $5::bigint[], $6::bigint[]) AS k (g, t, p, o, s, d)"
		" WHERE o.kafka_group = k.g AND o.topic = k.t AND o.partition = k.p AND"
		" o.\"offset\" = k.o AND o.message_timestamp_ms = k.s AND o.message_digest = k.d";
	size_t n = ING_MIN(u->taken.count, max_rows);
	if (n == 0)
		return ING_PG_OK;
	const char **texts = ing_alloc(2 * n * sizeof(*texts));
	clear_arrays(u);
	for (size_t i = 0; i < n; i++) {
		const struct prune *p = &u->taken.all[i];
		texts[i] = p->part->group;
		texts[n + i] = p->part->topic;
		add_number(&u->arrays[2], p->part->partition);
		add_number(&u->arrays[3], p->offset);
		add_number(&u->arrays[4], p->timestamp_ms);
		add_number(&u->arrays[5], (int64_t)p->digest);
	}
	add_names(u, texts, n);
	u->under_way = n;
	const char *params[6] = {ing_buf_str(&u->arrays[0]), ing_buf_str(&u->arrays[1])};
	for (size_t i = 2; i < ING_ARRAY_LEN(params); i++)
		params[i] = end_array(&u->arrays[i]);
	return ing_pg_query(pg, "outbox_prune", sql, params, 6, NULL, NULL, err);
}

static enum ing_pg_rc write_low_waters(
	struct ing_upkeep *u, struct ing_pg *pg, struct ing_error *err)
{
	static const char sql[] =
		"UPDATE partition_owner o SET low_water = k.l, mark_offset = k.m,"
		" mark_timestamp_ms = k.s, updated = now()"
		" FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::bigint[],"
		" $6::bigint[], $7::bigint[]) AS k (g, t, p, f, l, m, s) WHERE o.kafka_group = k.g"
		" AND o.topic = k.t AND o.partition = k.p AND o.fence = k.f";
	size_t n = u->low_taken.count;
	const char **texts = ing_alloc(2 * n * sizeof(*texts));
	clear_arrays(u);
	for (size_t i = 0; i < n; i++) {
		const struct part *p = &u->low_taken.all[i];
		texts[i] = p->group;
		texts[n + i] = p->topic;
		add_number(&u->arrays[2], p->partition);
		add_number(&u->arrays[3], p->fence);
		add_number(&u->arrays[4], p->low_water);
		add_number(&u->arrays[5], p->mark_offset);
		add_number(&u->arrays[6], p->mark_timestamp_ms);
	}
	add_names(u, texts, n);
	const char *params[7] = {ing_buf_str(&u->arrays[0]), ing_buf_str(&u->arrays[1])};
	for (size_t i = 2; i < ING_ARRAY_LEN(params); i++)
		params[i] = end_array(&u->arrays[i]);
	return ing_pg_query(pg, "low_waters", sql, params, 7, NULL, NULL, err);
}

/* ------------------------------------------------------------------------------------------ */

struct ing_upkeep *ing_upkeep_new(void (*wake)(void *ctx), void *ctx)
{
	struct ing_upkeep *u = ing_alloc(sizeof(*u));
	*u = (struct ing_upkeep){.wake = wake, .wake_ctx = ctx};
	pthread_mutex_init(&u->lock, NULL);
	for (size_t i = 0; i < ING_ARRAY_LEN(u->arrays); i++)
		ing_buf_init(&u->arrays[i], MAX_ARRAY_BYTES);
	return u;
}

void ing_upkeep_free(struct ing_upkeep *u)
{
	if (u == NULL)
		return;
	for (size_t i = 0; i < u->part_count; i++) {
		free(u->parts[i]->group);
		free(u->parts[i]->topic);
		free(u->parts[i]);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(u->arrays); i++)
		ing_buf_done(&u->arrays[i]);
	free(u->parts);
	free(u->waiting.all);
	free(u->taken.all);
	free(u->low_taken.all);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

void ing_upkeep_prune(struct ing_upkeep *u, const struct ing_source *source)
{
	pthread_mutex_lock(&u->lock);
	const struct prune p = {
		.part = need_part(u, source->group, source->topic, source->partition),
		.offset = source->offset,
		.timestamp_ms = source->timestamp_ms,
		.digest = source->digest,
	};
	bool idle = is_idle(u);
	if (u->waiting.count == 0)
		u->waiting_from_ms = ing_now_ms();
	add_prune(&u->waiting, &p);
	pthread_mutex_unlock(&u->lock);
	if (idle)
		u->wake(u->wake_ctx);
}

void ing_upkeep_committed(struct ing_upkeep *u, const struct ing_positions *p)
{
	pthread_mutex_lock(&u->lock);
	bool idle = is_idle(u);
	for (size_t i = 0; i < p->count; i++)
		set_low_water(u, &p->all[i]);
	idle = idle && !is_idle(u);
	pthread_mutex_unlock(&u->lock);
	if (idle)
		u->wake(u->wake_ctx);
}

void ing_upkeep_claimed(struct ing_upkeep *u, const struct ing_claim *c)
{
	pthread_mutex_lock(&u->lock);
	need_part(u, c->group, c->topic, c->partition)->fence = c->fence;
	pthread_mutex_unlock(&u->lock);
}

int ing_upkeep_wait_ms(struct ing_upkeep *u)
{
	uint64_t until = UINT64_MAX;
	pthread_mutex_lock(&u->lock);
	if (u->waiting.count > 0 || u->taken.count > 0)
		until = u->waiting_from_ms + PRUNE_MS;
	if (u->changed > 0 || u->low_taken.count > 0)
		until = ING_MIN(until, u->lows_at_ms + LOW_WATER_MS);
	pthread_mutex_unlock(&u->lock);
	uint64_t now = ing_now_ms();
	if (until == UINT64_MAX)
		return -1;
	return until > now ? (int)(until - now) : 0;
}

enum ing_pg_rc ing_upkeep_write(
	struct ing_upkeep *u, struct ing_pg *pg, size_t max_rows, struct ing_error *err)
{
	take(u);
	u->under_way = 0;
	u->lows_under_way = u->low_taken.count > 0;
	enum ing_pg_rc rc = u->lows_under_way ? write_low_waters(u, pg, err) : ING_PG_OK;
	return rc == ING_PG_OK ? prune(u, pg, max_rows, err) : rc;
}

size_t ing_upkeep_written(struct ing_upkeep *u, bool committed)
{
	size_t n = u->under_way;
	u->under_way = 0;
	if (!committed)
		return 0;
	u->taken.count -= n;
	if (u->taken.count > 0)
		memmove(u->taken.all, u->taken.all + n, u->taken.count * sizeof(*u->taken.all));
	if (u->lows_under_way) {
		u->low_taken.count = 0;
		u->lows_at_ms = ing_now_ms();
	}
	u->lows_under_way = false;
	return n;
}
