/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool.h - the loop's side of the examiner processes.
 *
 * Owns the zygote (ingest-examiner, started with a socket pair) and the examiners that it forks.
 * Thread: loop only. Every submitted request comes back through done() exactly once, crash and
 * timeout included, never from inside ing_pool_submit(), unless it is cancelled. An examiner is
 * replaced when it dies, is killed at its deadline, or has served `recycle_after` documents. A
 * document whose examiner died is a CRASH. When the zygote dies, all examiners die with it, through
 * no fault of their documents: these are submitted once more, and are a CRASH the second time.
 *
 * Requests wait by the registered domain of their URL; queue.h says which is next. A request that
 * has waited for max_wait_ms comes back as NOT_STARTED, which is not its document's fault.
 *
 * The kernel ends the zygote when the thread that called ing_pool_new() ends: call it from a thread
 * that stays.
 */
#pragma once
#include "common/base/error.h"
#include "worker/model/findings.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_pool;
struct ing_exam_task;

struct ing_pool_conf {
	struct ing_examine_settings settings; /* processes: not 0. timeout_ms: PDF included, counted
						 from when an examiner takes the document */
	const char *examiner_path;            /* the ingest-examiner executable */
	unsigned capacity; /* waiting documents: ing_pool_is_full(), ing_pool_has_room() */
	int rules_fd;      /* scraping rules (ing_rule_files_to_fd()), duplicated; -1: none */
};

struct ing_pool_user { /* callbacks; shared by all requests of a kind */
	/* Takes the findings' contents: call ing_findings_done(). */
	void (*done)(void *ctx, struct ing_findings *findings);
	/* true: an examiner has the document and its limit runs; may be called from inside
	 * ing_pool_submit(). false: it waits again, because its examiner was lost or it was
	 * preempted. For deadlines that count only the document's own time; must not call the pool.
	 * NULL: not wanted. */
	void (*running)(void *ctx, bool running);
};

/* Whether an examiner can close its sandbox here: starts one, which tries and ends; waits for that. Error: -ING_FAIL_SYSTEM, with
 * what refused it. To be called before ing_pool_new(), whose pool would start examiners again and again. */
int ing_pool_prove_sandbox(const char *examiner_path, struct ing_error *err) ING_MUST_CHECK;
int ing_pool_new(struct uv_loop_s *loop, const struct ing_pool_conf *conf, struct ing_pool **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* NULL is fine; kills the zygote and so every examiner, reaps it. Open tasks are dropped without
 * done(). The memory goes when the loop has turned once more and closed the handles. */
void ing_pool_free(struct ing_pool *p);
/* body_fd is borrowed until done() or cancel; -1 with body_bytes 0 is an empty body. It holds
 * body_bytes, and is a memfd with a write seal or was opened for reading only (the examiner gets it
 * as it is), or is another memfd with ING_MAX_MEMORY_BODY_BYTES at most (the examiner gets a copy).
 * q's strings are copied. */
struct ing_exam_task *ing_pool_submit(struct ing_pool *p, const struct ing_exam_request *q,
	int body_fd, size_t body_bytes, const struct ing_pool_user *user, void *ctx);
/* Cancel a task in any state and free it. An examiner that runs it is killed. */
void ing_pool_cancel(struct ing_exam_task *t);

/* Called once: whether the rules are in force. */
typedef void ing_pool_reloaded_f(void *ctx, bool good);
/* Replace the rules without a pause and without losing a document: a second zygote loads them; once
 * it is ready, new examiners come from it, idle ones of the first are replaced, busy ones finish
 * their document, and the first zygote ends with the last of them. When the second cannot start,
 * everything stays as it was. rules_fd is duplicated. done() is called from the loop, unless the
 * pool is freed before. Returns 0, -ING_FAIL_BUSY during another reload, or -ING_FAIL_SYSTEM. */
int ing_pool_reload(struct ing_pool *p, int rules_fd, ing_pool_reloaded_f *done, void *ctx,
	struct ing_error *err) ING_MUST_CHECK;

/* Whether nothing more should be fetched that has to be examined (ing_exam_queue_is_full()). */
bool ing_pool_is_full(const struct ing_pool *p);
/* Whether a further document should be fetched from this host, a name or its domain
 * (ing_exam_queue_has_room()). */
bool ing_pool_has_room(const struct ing_pool *p, const char *host);

/* The caller has found a reply to be false: it counts as a crash. */
void ing_pool_count_false_reply(struct ing_pool *p);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_pool_stats(const struct ing_pool *p, struct ing_pool_stats *ret);
