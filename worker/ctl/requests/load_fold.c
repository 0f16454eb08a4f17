/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/ctl/requests/load_fold.h"

#include <stdlib.h>

#include "common/data/pg_thread.h"
#include "worker/database/schema.h"
#include "worker/store/requests/load.h"

#define EVERY_MS 5000
#define SESSION "SET statement_timeout = '60s'; SET client_min_messages = 'error'; SET jit = off"

struct ing_load_folder {
	struct ing_pg_thread *thread;
	struct ing_node last; /* pushed by finish, and handed back when that is done */
	void (*done)(void *ctx);
	void *ctx;
};

static enum ing_pg_rc attempt(struct ing_pg *pg, void *ctx, struct ing_error *err)
{
	const struct ing_load_folder *f = ctx;
	int64_t folded = 0;
	enum ing_pg_rc rc;
	do {
		rc = ing_load_fold(pg, &folded, err);
	} while (rc == ING_PG_OK && folded >= ING_LOAD_FOLD_STEP &&
		 !ing_pg_thread_stopping(f->thread));
	return rc == ING_PG_SLOW || rc == ING_PG_LOCKED ? ING_PG_OK : rc;
}

static void work(void *ctx)
{
	struct ing_load_folder *f = ctx;
	struct ing_error err = {0};
	struct ing_node *last = ing_pg_thread_take(f->thread, EVERY_MS);
	if (ing_pg_thread_run(f->thread, attempt, f, &err) != ING_PG_STOPPED && last != NULL)
		ing_pg_thread_hand_back(f->thread, last);
}

static int prepare(void *ctx, struct ing_pg *pg, struct ing_error *err)
{
	(void)ctx;
	return ing_schema_prepare(pg, SESSION, err);
}

/* The streams say what is wrong with the database. */
static void trouble(void *ctx, const struct ing_error *err)
{
	(void)ctx;
	(void)err;
}

static void finished(void *ctx, struct ing_node *node)
{
	struct ing_load_folder *f = ctx;
	(void)node;
	f->done(f->ctx);
}

/* -------------------------------------------------------------------------------------------- */

int ing_load_folder_new(const char *dsn, struct uv_loop_s *loop, void (*done)(void *ctx), void *ctx,
	struct ing_load_folder **ret, struct ing_error *err)
{
	struct ing_load_folder *f = ing_alloc(sizeof(*f));
	*f = (struct ing_load_folder){.done = done, .ctx = ctx};
	const struct ing_pg_thread_conf conf = {.name = "ing-load-fold",
		.dsn = dsn,
		.ctx = f,
		.prepare = prepare,
		.work = work,
		.trouble = trouble,
		.finished = finished};
	int rc = ing_pg_thread_new(&conf, &f->thread, err);
	if (rc != 0) {
		free(f);
		return rc;
	}
	ing_pg_thread_start(f->thread, loop);
	*ret = f;
	return 0;
}

void ing_load_folder_finish(struct ing_load_folder *f)
{
	ing_pg_thread_push(f->thread, &f->last);
}

void ing_load_folder_free(struct ing_load_folder *f)
{
	if (f == NULL)
		return;
	ing_pg_thread_free(f->thread);
	free(f);
}
