/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * multi.h - curl's multi handle on a libuv loop: sockets, timer, completed transfers.
 *
 * Owns the multi handle with its connections and their poll handles, not the easy handles. Loop
 * thread.
 */
#pragma once
#include <curl/curl.h>
#include "common/base/macros.h"

struct uv_loop_s;
struct ing_multi;

struct ing_multi_user {
	/* The transfer has ended; to be removed with ing_multi_remove(). */
	void (*done)(void *ctx, CURL *easy, CURLcode rc);
	/* No curl function is on the stack any more: other modules may be called. */
	void (*idle)(void *ctx);
	void *ctx;
};

/* max_connections: kept open, those in use included. */
struct ing_multi *ing_multi_new(
	struct uv_loop_s *loop, unsigned max_connections, const struct ing_multi_user *user);
void ing_multi_free(struct ing_multi *m); /* NULL is fine; no easy handle may be in it */
void ing_multi_add(struct ing_multi *m, CURL *easy);
void ing_multi_remove(struct ing_multi *m, CURL *easy); /* not from inside a callback of curl */
/* Resumes a transfer that its write callback has paused. On anything but CURLE_OK the transfer has ended
 * and is to be removed. */
CURLcode ing_multi_resume(struct ing_multi *m, CURL *easy);
uint64_t ing_multi_cpu_ns(
	const struct ing_multi *m); /* the loop thread's CPU time in curl, from samples */
