/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine_stages.h - the worker's stages behind the fetch, on a loop of their own: examiners, rows,
 * messages, objects. There is no intake, no gate and no archive: nothing is fetched, and no folder of a worker
 * is touched.
 *
 * Owns: the loop and the stages. Thread: the one that opened it.
 */
#pragma once
#include <uv.h>
#include "common/base/error.h"
#include "worker/engine/ruleset.h"

struct ing_conf;
struct ing_grobid;

struct ing_reexamine_stages {
	uv_loop_t loop;
	bool has_loop;
	unsigned examiners; /* processes */
	struct ing_ruleset rules;
	struct ing_pool *pool;
	struct ing_grobid *grobid; /* NULL: not asked */
	/* NULL: nothing is written. */
	struct ing_store *store;
	struct ing_emit *emit;
	struct ing_objects *objects; /* NULL also when there is no object store */
	struct ing_deliver *deliver;
	int null_fd;
};

struct ing_reexamine_parts {
	bool writes; /* rows, messages and objects, too */
	bool grobid; /* is configured, and asked */
};

/* on_fatal: messages cannot be sent any more. conf is borrowed. Release with
 * ing_reexamine_stages_close() whatever it returns. */
int ing_reexamine_stages_open(struct ing_reexamine_stages *s, const struct ing_conf *conf,
	const struct ing_reexamine_parts *parts,
	void (*on_fatal)(void *ctx, const struct ing_error *err), void *ctx,
	struct ing_error *err) ING_MUST_CHECK;
/* Nothing may be under way. Runs the loop until its handles are closed. */
void ing_reexamine_stages_close(struct ing_reexamine_stages *s);
/* What keeps documents from being written ("database", "broker" …), or NULL. */
const char *ing_reexamine_stages_blocked_by(const struct ing_reexamine_stages *s);
