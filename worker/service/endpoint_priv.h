/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * endpoint_priv.h - the endpoint's state, for endpoint*.c. Thread: the endpoint's.
 */
#pragma once
#include <uv.h>
#include "common/net/http_server.h"
#include "worker/model/metrics.h"
#include "worker/service/mailbox.h"
#include "worker/service/snapshot.h"
#include "worker/service/unix_socket.h"

struct ing_peers;
struct ing_waiting;

struct ing_endpoint {
	unsigned magic;
	pthread_t thread;
	uv_loop_t loop;
	uv_async_t stop;
	uv_timer_t poll; /* runs while somebody waits for a snapshot */
	bool closed;
	int listen_fd; /* -1: the server's */
	char listening[200];
	struct ing_unix_socket socket; /* folder -1: TCP */
	struct ing_http_server *http;
	struct ing_peers *peers;
	unsigned strangers; /* connections of users who may not */
	struct ing_mailbox mailbox;
	struct ing_snapshot *snapshot; /* the newest; NULL: none yet */
	struct ing_waiting *waiting;   /* exchanges that wait for one */
	struct ing_endpoint_stats stats;
	/* The text of the newest numbers by format, for whoever asks next. */
	struct ing_blob *texts[2];
	uint64_t texts_ms;
};

/* One thing that can be asked for. serve() answers x; s is the newest snapshot, NULL when there is
 * none. */
struct ing_endpoint_page {
	const char *path;
	bool needs_snapshot; /* waits for the first one, a little */
	bool detailed;       /* waits for one with the state of hosts */
	void (*serve)(
		struct ing_endpoint *e, struct ing_http_exchange *x, const struct ing_snapshot *s);
};
/* NULL: there is none. */
const struct ing_endpoint_page *ing_endpoint_page(const char *path);

/* A text of this type, with the header fields that all answers have. */
void ing_endpoint_answer(
	struct ing_http_exchange *x, unsigned status, const char *type, const char *text);
/* The members of *ret that are this process': memory, descriptors, start. */
void ing_endpoint_measure_process(struct ing_endpoint_stats *ret);
