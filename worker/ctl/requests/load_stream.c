/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A batch is as many blocks as are there, as far as the pace allows (common/data/pace.h). Stream 0 names the bad lines of all, before they
 * are counted: so none is left out when a load is broken off, and they come in order.
 */
#include "worker/ctl/requests/load_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/data/pace.h"
#include "common/data/pg_paced.h"
#include "common/data/pg_thread.h"

#define MAX_ROWS 8192
#define STATEMENT_MS 30000

struct stream {
	struct ing_node node;
	struct ing_load_streams *all;
	unsigned number;
	struct ing_pg_thread *thread;
	struct ing_pace pace;
	struct ing_load_position at, reached;
	struct ing_load_batch batch;
	/* Blocks at hand, the first of them not yet written; how many the attempt under way takes. */
	const struct ing_load_block *blocks[ING_LOAD_BLOCKS];
	size_t block_count, taken;
	int64_t named; /* block up to which bad lines were named */
	bool idle;
	struct ing_error error;
};

struct ing_load_streams {
	struct ing_load_streams_conf conf;
	char *dsn;
	struct ing_load_blocks *blocks;
	struct stream streams[ING_LOAD_MAX_STREAMS];
	unsigned count, back; /* threads that were made; that have ended */
	bool told;
	pthread_mutex_t lock; /* of counts and left */
	struct ing_load_counts counts[ING_LOAD_MAX_STREAMS];
	unsigned left; /* streams that still write */
};

/* --- a batch --- */

static size_t rows_of(const struct stream *s, size_t block)
{
	return s->blocks[block]->shares[s->number].count;
}

static size_t count_rows(const struct stream *s)
{
	size_t rows = 0;
	for (size_t i = 0; i < s->block_count; i++)
		rows += rows_of(s, i);
	return rows;
}

/* Whole blocks, at least one. Returns bad lines in them, if this stream is to count them. */
static int64_t gather(struct stream *s, unsigned most_rows)
{
	size_t rows = 0;
	int64_t bad = 0;
	ing_load_batch_clear(&s->batch);
	for (s->taken = 0; s->taken < s->block_count; s->taken++) {
		const struct ing_load_block *block = s->blocks[s->taken];
		rows += rows_of(s, s->taken);
		if (s->taken > 0 && rows > most_rows)
			break;
		ing_load_batch_add(&s->batch, &block->shares[s->number]);
		bad += s->number == 0 ? block->bad : 0;
	}
	ing_load_batch_sort(&s->batch);
	return bad;
}

static enum ing_pg_rc write_some(struct ing_pg *pg, void *ctx, unsigned rows,
	unsigned *ret_slowest_ms, struct ing_error *err)
{
	struct stream *s = ctx;
	int64_t bad = gather(s, rows);
	const struct ing_load_block *last = s->blocks[s->taken - 1];
	const struct ing_load_write w = {.list = s->all->conf.list,
		.stream = s->number,
		.from = &s->at,
		.block = last->index + 1,
		.digest = last->digest,
		.batch = &s->batch,
		.plan = s->all->conf.plan,
		.bad = bad};
	return ing_load_write(pg, &w, &s->reached, ret_slowest_ms, err);
}

static enum ing_pg_rc attempt_write(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	struct stream *s = ctx;
	const struct ing_pg_paced paced = {.write = write_some, .ctx = s};
	struct ing_pg_paced_run run;
	return ing_pg_write_paced(
		pg, &s->pace, ING_MAX(count_rows(s), (size_t)1), &paced, &run, err);
}

static void name_bad_lines(struct stream *s)
{
	const struct ing_load_streams_conf *conf = &s->all->conf;
	for (size_t i = 0; i < s->block_count && s->number == 0; i++) {
		const struct ing_load_block *block = s->blocks[i];
		if (block->index < s->named)
			continue;
		if (block->bad > 0)
			conf->bad_lines(
				conf->ctx, ing_buf_str(&block->bad_words), block->bad_words.len);
		s->named = block->index + 1;
	}
}

static void advance(struct stream *s)
{
	int64_t from = s->at.block;
	s->at = s->reached;
	pthread_mutex_lock(&s->all->lock);
	s->all->counts[s->number] = s->at.counts;
	pthread_mutex_unlock(&s->all->lock);
	ing_load_blocks_give_back(s->all->blocks, from, s->at.block);
	s->block_count -= s->taken;
	memmove(s->blocks, s->blocks + s->taken, s->block_count * sizeof(s->blocks[0]));
}

/* --- the end --- */

static enum ing_pg_rc attempt_end(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	const struct stream *s = ctx;
	return ing_load_end(pg, s->all->conf.list, err);
}

static enum ing_pg_rc end_load(struct stream *s)
{
	return ing_pg_thread_run(s->thread, attempt_end, s, &s->error);
}

static bool is_last(struct stream *s)
{
	pthread_mutex_lock(&s->all->lock);
	bool last = --s->all->left == 0;
	pthread_mutex_unlock(&s->all->lock);
	return last;
}

/* --- thread --- */

static enum ing_pg_rc write_all(struct stream *s)
{
	for (;;) {
		s->block_count = ing_load_blocks_take(
			s->all->blocks, s->at.block, ING_LOAD_BLOCKS, s->blocks);
		if (s->block_count == 0)
			return ing_load_blocks_stopped(s->all->blocks) ? ING_PG_STOPPED : ING_PG_OK;
		name_bad_lines(s);
		while (s->block_count > 0) {
			enum ing_pg_rc rc =
				ing_pg_thread_run(s->thread, attempt_write, s, &s->error);
			if (rc != ING_PG_OK)
				return rc;
			advance(s);
		}
	}
}

static void work(void *ctx)
{
	struct stream *s = ctx;
	if (s->idle) { /* nothing is ever pushed: until it is stopped */
		(void)ing_pg_thread_take(s->thread, -1);
		return;
	}
	enum ing_pg_rc rc = write_all(s);
	if (rc == ING_PG_OK && is_last(s))
		rc = end_load(s);
	if (rc != ING_PG_OK)
		ing_load_blocks_stop(s->all->blocks);
	s->idle = true;
	ing_pg_thread_hand_back(s->thread, &s->node);
}

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	const struct stream *s = ctx;
	int rc = ing_load_prepare(pg, err);
	if (rc == 0 && s->number == 0 && s->all->conf.list->name != NULL)
		rc = ing_load_lock(pg, s->all->conf.list->name, err);
	return rc;
}

static void trouble(void *ctx, const struct ing_error *err)
{
	const struct stream *s = ctx;
	s->all->conf.trouble(s->all->conf.ctx, err);
}

/* --- loop --- */

static void finished(void *ctx, struct ing_node *node)
{
	struct ing_load_streams *all = ((struct stream *)ctx)->all;
	for (; node != NULL; node = node->next) {
		const struct stream *s = ING_CONTAINER(node, struct stream, node);
		all->back++;
		bool failed = s->error.code != ING_FAIL_NONE;
		if (!all->told && (failed || all->back == all->count)) {
			all->told = true;
			all->conf.finished(all->conf.ctx, failed ? &s->error : NULL);
		}
	}
}

static int connect_stream(struct ing_load_streams *all, struct ing_error *err)
{
	struct stream *s = &all->streams[all->count];
	*s = (struct stream){.all = all, .number = all->count};
	ing_pace_init(&s->pace, MAX_ROWS, STATEMENT_MS);
	const struct ing_pg_thread_conf conf = {.name = "ing-load",
		.dsn = all->dsn,
		.ctx = s,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished};
	int rc = ing_pg_thread_new(&conf, &s->thread, err);
	all->count += rc == 0;
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_load_streams_new(const struct ing_load_streams_conf *conf, struct ing_load_streams **ret,
	struct ing_error *err)
{
	struct ing_load_streams *all = ing_alloc(sizeof(*all));
	all->conf = *conf;
	all->dsn = ing_strdup(conf->dsn);
	pthread_mutex_init(&all->lock, NULL);
	int rc = connect_stream(all, err);
	if (rc == 0)
		rc = ing_load_begin(
			ing_pg_thread_connection(all->streams[0].thread), conf->list, err);
	if (rc == 0)
		*ret = all;
	else
		ing_load_streams_free(all);
	return rc;
}

int ing_load_streams_start(struct ing_load_streams *all, struct uv_loop_s *loop,
	struct ing_load_blocks *blocks, struct ing_error *err)
{
	const struct ing_load_list *list = all->conf.list;
	all->blocks = blocks;
	while (all->count < list->streams) {
		int rc = connect_stream(all, err);
		if (rc != 0)
			return rc;
	}
	all->left = all->count;
	for (unsigned i = 0; i < all->count; i++) {
		all->streams[i].at = list->at[i];
		all->counts[i] = list->at[i].counts;
	}
	for (unsigned i = 0; i < all->count; i++)
		ing_pg_thread_start(all->streams[i].thread, loop);
	return 0;
}

void ing_load_streams_free(struct ing_load_streams *all)
{
	if (all == NULL)
		return;
	if (all->blocks != NULL)
		ing_load_blocks_stop(all->blocks);
	for (unsigned i = 0; i < all->count; i++) {
		ing_pg_thread_free(all->streams[i].thread);
		ing_load_batch_done(&all->streams[i].batch);
	}
	pthread_mutex_destroy(&all->lock);
	free(all->dsn);
	free(all);
}

void ing_load_streams_counts(struct ing_load_streams *all, struct ing_load_counts *ret)
{
	*ret = (struct ing_load_counts){0};
	pthread_mutex_lock(&all->lock);
	for (unsigned i = 0; i < all->count; i++) {
		ret->added += all->counts[i].added;
		ret->known += all->counts[i].known;
		ret->elsewhere += all->counts[i].elsewhere;
		ret->bad += all->counts[i].bad;
	}
	pthread_mutex_unlock(&all->lock);
}

bool ing_load_streams_blocked(const struct ing_load_streams *all)
{
	for (unsigned i = 0; i < all->count; i++)
		if (ing_pg_thread_blocked(all->streams[i].thread))
			return true;
	return false;
}
