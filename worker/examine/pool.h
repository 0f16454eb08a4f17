/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool.h - the loop's view of the examiner processes.
 *
 * Owns: the zygote (ingest-examiner, started with a socketpair) and the examiners it forks. Thread:
 * loop only. Every submitted question comes back through done() exactly once (crash and timeout
 * included), never from inside ing_pool_submit(), unless cancelled. Examiners are replaced at once
 * when they die, are killed at their deadline, or have served `recycle_after` documents. A document
 * whose examiner died is a CRASH. When the zygote dies, every examiner dies with it through no
 * fault of its document: those documents are asked once more, and are a CRASH the second time.
 *
 * Questions wait by the registered domain of their URL (queue.h): who is next is a matter of what
 * the documents from there have cost, and no domain's documents keep another's from an examiner. A
 * question that waits for longer than max_wait_ms comes back as WAITED: nobody has looked at it,
 * for which its document is not to blame.
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

struct ing_pool_user { /* who asks; shared by all of a kind */
	/* Takes the findings' contents: call ing_findings_done(). */
	void (*done)(void *ctx, struct ing_findings *findings);
	/* true: an examiner has the document, and its limit runs; perhaps from inside
	 * ing_pool_submit(). false: it waits again, because the examiner was lost or has had to
	 * give way. So that deadlines count only what is the document's doing; must not call the
	 * pool. NULL: not wanted. */
	void (*running)(void *ctx, bool running);
};

int ing_pool_new(struct uv_loop_s *loop, const struct ing_pool_conf *conf, struct ing_pool **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* NULL is fine; kills the zygote and so every examiner, reaps it. Tickets still open are dropped
 * without done(). The memory goes when the loop has turned once more and closed the handles. */
void ing_pool_free(struct ing_pool *p);
/* body_fd is borrowed until done() or cancel; -1 with body_bytes 0 is an empty body. It is a memfd
 * with a write seal or was opened for reading only (the examiner gets it as it is), and holds
 * body_bytes. q's strings are copied. */
struct ing_exam_task *ing_pool_submit(struct ing_pool *p, const struct ing_exam_request *q,
	int body_fd, size_t body_bytes, const struct ing_pool_user *user, void *ctx);
/* In any state; the ticket is gone. An examiner at work on it is killed, because its time is better
 * spent. */
void ing_pool_cancel(struct ing_exam_task *t);

/* Told once: whether the rules are in force. */
typedef void ing_pool_reloaded_f(void *ctx, bool good);
/* Give examiners other rules, without a pause and without a document lost: a second zygote loads
 * them; once it is ready, new examiners come from it, idle ones of the old are replaced, those at
 * work finish their document first, and the old zygote ends with the last of them. When it cannot
 * start, everything stays as it was. -BUSY while another reload is under way, -SYSTEM. rules_fd is
 * duplicated. done() is called from the loop, unless the pool is freed before. */
int ing_pool_reload(struct ing_pool *p, int rules_fd, ing_pool_reloaded_f *done, void *ctx,
	struct ing_error *err) ING_MUST_CHECK;

/* Nothing more should be fetched that will have to be examined (ing_exam_queue_is_full()). */
bool ing_pool_is_full(const struct ing_pool *p);
/* Whether a further document should be fetched from this host, a name or its domain
 * (ing_exam_queue_has_room()). */
bool ing_pool_has_room(const struct ing_pool *p, const char *host);

/* An answer given out has proved untrue since: one crash more in the stats. */
void ing_pool_count_false_reply(struct ing_pool *p);

/* Its rows of worker/model/metrics.def, as they are now. */
void ing_pool_stats(const struct ing_pool *p, struct ing_pool_stats *ret);
