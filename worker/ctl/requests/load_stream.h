/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * requests_load_stream.h - the streams of a load: a connection each, which writes its share of the blocks in their order.
 *
 * Owns the connections' threads (common/data/pg_thread.h), which repeat a transaction until the database has taken it; blocks and
 * list are borrowed. The one that ends last ends the load. Thread: the loop's, but where it says otherwise.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include "common/base/error.h"
#include "worker/ctl/requests/load_blocks.h"

struct uv_loop_s;
struct ing_load_plan;
struct ing_load_streams;

struct ing_load_streams_conf {
	const char *dsn;
	struct ing_load_list *list;
	const struct ing_load_plan *plan; /* NULL: nothing is put onto a topic */
	/* "LINE: reason" of a bad line, with its end; of a load that goes on after a break, some come again. A stream's thread; one at a time. */
	void (*bad_lines)(void *ctx, const char *words, size_t bytes);
	/* What keeps the database from answering; NULL: it does again. A stream's thread. */
	void (*trouble)(void *ctx, const struct ing_error *err);
	/* All has been written, or nothing more can be: err says why. Once. */
	void (*finished)(void *ctx, const struct ing_error *err);
	void *ctx;
};

/* Connects, locks and makes the list, and finds out how far it has come. Error: as ing_load_prepare(), ing_load_lock(), ing_load_begin(). */
int ing_load_streams_new(const struct ing_load_streams_conf *conf, struct ing_load_streams **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Blocks must outlive the streams. Error: a further connection cannot be made. */
int ing_load_streams_start(struct ing_load_streams *s, struct uv_loop_s *loop,
	struct ing_load_blocks *blocks, struct ing_error *err) ING_MUST_CHECK;
/* Abandons what is under way. Run the loop once more to close its handles. NULL is fine. */
void ing_load_streams_free(struct ing_load_streams *s);

/* Any thread: the sum of what the streams have stored, and whether one of them waits for the database. */
void ing_load_streams_counts(struct ing_load_streams *s, struct ing_load_counts *ret);
bool ing_load_streams_blocked(const struct ing_load_streams *s);
