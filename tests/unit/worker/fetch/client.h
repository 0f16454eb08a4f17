/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * client.h - a loop with a fetch in it, and calls that wait for the exchange.
 */
#pragma once
#include <uv.h>
#include "worker/fetch/fetch.h"

struct client {
	uv_loop_t loop;
	struct ing_fetch *fetch;
	char spool_dir[64];
};

struct got {
	struct ing_exchange *ex; /* NULL until done */
	unsigned calls;
};

/* What a test starts from: short limits, loopback allowed. */
struct ing_fetch_settings client_settings(void);
void client_start(struct client *c, const struct ing_fetch_settings *conf);
void client_stop(struct client
		*c); /* fails the test when something is left on the loop or in the spool folder */
/* Get a URL and wait for it; caller unrefs. */
struct ing_exchange *client_get(struct client *c, const char *url);
struct ing_exchange *client_getf(struct client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
struct ing_exchange *client_get_with(struct client *c, const char *url, struct ing_cookies *jar,
	const char *referer, uint64_t deadline_ms);
void client_done(void *ctx, struct ing_exchange *ex);      /* ctx: struct got */
void client_wait(struct client *c, const struct got *got); /* at most 30 s */
void client_turn(struct client *c, unsigned ms);           /* run the loop that long */

/* The body, whole and NUL-terminated; caller frees. */
char *body_of(const struct ing_exchange *ex);
void assert_pattern(const struct ing_exchange *ex, size_t bytes);
void assert_outcome(const struct ing_exchange *ex, enum ing_status want);
