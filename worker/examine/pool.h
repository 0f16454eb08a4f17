/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool.h - the loop's view of the examiner processes.
 *
 * Owns: the zygote (ingest-examiner, started with a socketpair) and the examiners it forks. Thread: loop only.
 * Every submitted question comes back through done() exactly once (crash and timeout included), never from inside
 * ing_pool_submit(), unless cancelled. Examiners are replaced at once when they die, are killed at their deadline, or
 * have served `recycle_after` documents.
 */
#pragma once
#include "common/base/error.h"
#include "worker/examine/findings.h"

struct uv_loop_s;
struct ing_pool;
struct ing_exam_ticket;

struct ing_pool_conf {
	const char *examiner_path; /* the ingest-examiner executable */
	unsigned examiners;        /* processes */
	unsigned recycle_after;    /* documents */
	unsigned timeout_ms;       /* one document, PDF included; counted from when an examiner takes it */
	size_t memory_bytes;       /* RLIMIT_AS of an examiner; 0: none (sanitized builds) */
};

typedef void ing_pool_done_f(void *ctx, struct ing_findings *findings); /* takes the contents: call ing_findings_done() */

int ing_pool_new(struct uv_loop_s *loop, const struct ing_pool_conf *conf, struct ing_pool **ret, struct ing_error *err)
	ING_MUST_CHECK;
void ing_pool_free(struct ing_pool *p); /* NULL is fine; kills the zygote and so every examiner, reaps it */
/* body_fd is borrowed until done() or cancel; -1 with body_bytes 0 is an empty body. q's strings are copied. */
struct ing_exam_ticket *ing_pool_submit(struct ing_pool *p, const struct ing_question *q, int body_fd, size_t body_bytes,
	ing_pool_done_f *done, void *ctx);
void ing_pool_cancel(struct ing_exam_ticket *t);
unsigned ing_pool_waiting(const struct ing_pool *p);

struct ing_pool_stats {
	uint64_t documents, crashes, timeouts, forks;
	uint64_t cpu_us, pdf_cpu_us;
};
void ing_pool_stats(const struct ing_pool *p, struct ing_pool_stats *ret);
