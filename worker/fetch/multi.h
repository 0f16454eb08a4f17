/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * multi.h - curl's multi handle on a libuv loop: its sockets, its timer, its messages.
 *
 * Owns: the multi handle with its connections and their poll handles. Not the easy handles. Thread:
 * loop.
 */
#pragma once
#include <curl/curl.h>
#include "common/base/macros.h"

struct uv_loop_s;
struct ing_multi;

struct ing_multi_user {
	/* The transfer has ended; take it out with ing_multi_remove(). */
	void (*done)(void *ctx, CURL *easy, CURLcode rc);
	/* All that was ready has been worked on: a safe place to call anybody. */
	void (*settled)(void *ctx);
	void *ctx;
};

/* max_connections: kept open, those in use included. */
struct ing_multi *ing_multi_new(
	struct uv_loop_s *loop, unsigned max_connections, const struct ing_multi_user *user);
void ing_multi_free(struct ing_multi *m); /* NULL is fine; no easy handle may be in it */
void ing_multi_add(struct ing_multi *m, CURL *easy);
void ing_multi_remove(struct ing_multi *m, CURL *easy); /* not from inside a callback of curl */
/* Go on with a transfer whose write callback had paused it. Anything but CURLE_OK ends it: remove
 * it. */
CURLcode ing_multi_resume(struct ing_multi *m, CURL *easy);
uint64_t ing_multi_cpu_ns(const struct ing_multi *m); /* this thread's CPU time inside curl */
