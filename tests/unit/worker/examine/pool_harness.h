/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A loop, a pool and the answers that came, for tests that run real examiners.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "worker/examine/pool.h"

#define MAX_ANSWERS 256

struct harness {
	uv_loop_t loop;
	struct ing_pool *pool;
	struct answer {
		bool came, at_work;
		unsigned started; /* how often */
		unsigned order;   /* of all that were taken: the last time */
		uint64_t at_ms;
		struct ing_findings f;
		struct harness *h;
		struct ing_exam_task *task; /* NULL once it came */
		int fd;
		size_t bytes;
	} answers[MAX_ANSWERS];
	unsigned asked, answered, started;
	bool unsealed; /* bodies are so, and not passed on themselves */
	void (*then)(struct harness *h, struct answer *a); /* called inside done() */
};

void harness_start(struct harness *h, const struct ing_pool_conf *conf);
/* Ends the pool, closes the loop, and fails the test when a handle or descriptor is left. */
void harness_stop(struct harness *h);
struct answer *harness_ask(
	struct harness *h, const void *body, size_t bytes, const struct ing_exam_request *q);
struct answer *harness_ask_text(struct harness *h, const char *body);
/* Turn the loop until *count has reached `want`; fails the test after timeout_ms. */
void harness_run(struct harness *h, const unsigned *count, unsigned want, unsigned timeout_ms);
/* Ask, and wait for the answer. */
const struct ing_findings *harness_get(struct harness *h, const char *body);
void harness_turn(struct harness *h, unsigned ms); /* let time pass */
/* True when no such process is alive (a zombie is dead) within 5 s. */
bool harness_is_gone(int pid);
