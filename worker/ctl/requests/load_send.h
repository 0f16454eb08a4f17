/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * requests_load_send.h - sends what a load plans, while it loads: a thread with worker/ctl/enqueue_send. Thread: the loop's.
 */
#pragma once
#include <stdint.h>
#include "common/base/error.h"

struct ing_conf;
struct uv_loop_s;
struct ing_load_sender;

struct ing_load_sender_conf { /* borrowed, but for the loop's function */
	const char *verb, *brokers;
	const struct ing_conf *conf;
	const char *plan;
	uint64_t max_lag;         /* 0: no limit */
	void (*ended)(void *ctx); /* it has sent all, or cannot; once */
	void *ctx;
};

/* Error: the thread cannot be made. */
int ing_load_sender_new(const struct ing_load_sender_conf *conf, struct uv_loop_s *loop,
	struct ing_load_sender **ret, struct ing_error *err) ING_MUST_CHECK;
/* Nothing more is planned: it ends when all has been sent. */
void ing_load_sender_finish(struct ing_load_sender *s);
/* It ends with the batch under way. Returns false when that takes too long: it can only be left behind by _exit(). */
bool ing_load_sender_stop(struct ing_load_sender *s) ING_MUST_CHECK;
/* When it has ended: its exit code, and how many requests it has sent. */
int ing_load_sender_code(const struct ing_load_sender *s, uint64_t *ret_sent);
/* It has ended or was stopped. Run the loop once more to close its handle. NULL is fine. */
void ing_load_sender_free(struct ing_load_sender *s);
