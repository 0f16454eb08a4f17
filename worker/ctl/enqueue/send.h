/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * enqueue_send.h - the sender of a plan: its batches go to the topic in the order of their numbers, each in a Kafka transaction that
 * commits the next number for the plan's group.
 *
 * Everything is this call's own, so that a thread may send while another plans. A server that is away is
 * waited for; what breaks is gone on with by the next call.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct ing_conf;

struct ing_enqueue_send { /* all borrowed */
	const char *verb, *brokers, *dsn;
	const struct ing_conf *conf;
	const char *name; /* of the plan */
	uint64_t max_lag; /* of the workers' group on the topic; 0: no limit */
	bool take_over; /* begin with what this database has not sent, whatever Kafka's position says */
	bool quiet;     /* no progress */
	const volatile sig_atomic_t *stop; /* NULL: never. Set: the batch under way is the last */
	/* Asked when all that is planned has been sent. True: look again soon. NULL: it ends then. */
	bool (*more)(void *ctx);
	void *ctx;
};

/* Returns the exit code, ING_CTL_INTERRUPTED after a stop; what is wrong has been said. *ret_sent: requests of this call. */
int ing_enqueue_send(const struct ing_enqueue_send *conf, uint64_t *ret_sent);

/* Of a plan; also the transactional identifier. Heap. */
char *ing_enqueue_group(const char *name);

/* Drop what is planned and not sent. A sender at work is fenced first. Returns the exit code. */
int ing_enqueue_abandon(const struct ing_enqueue_send *conf, uint64_t *ret_requests);
