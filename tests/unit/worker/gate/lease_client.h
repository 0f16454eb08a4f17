/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lease_client.h - for the tests of leases: workers of a fleet on one loop, each with its own leases,
 * that record their events.
 */
#pragma once
#include <stdbool.h>
#include <uv.h>

#include "worker/gate/fleet/lease.h"

struct client_event {
	char host[300];
	enum ing_lease_event_type type;
	uint64_t at_ms, until_ms;
	unsigned retry_ms;
	char holder[64];
	bool has_backoff;
	struct ing_host_backoff backoff;
	bool read; /* by client_wait() */
};

struct lease_client {
	struct ing_leases *l;
	struct client_event *events;
	size_t event_count, first_unread;
	unsigned went_away, came_back;
	/* NULL: nothing; else called after each event was recorded. */
	void (*on_event)(struct lease_client *w, const struct client_event *t);
	unsigned id;
	unsigned block_calls;
	size_t block_count;
	char blocks[8][64]; /* "host why" of the first ones */
};

struct fleet { /* the loop, and what its leases are like */
	uv_loop_t loop;
	uv_timer_t tick;
	const char *dsn;
	struct ing_lease_conf conf; /* but for dsn and instance */
};

const char *fleet_database(void); /* the DSN of a new one */
/* With a database of its own: lease 60 s, rounds 10 ms, blocks 100 ms. */
void fleet_open(struct fleet *f);
void fleet_close(struct fleet *f);
void fleet_run(struct fleet *f, unsigned ms);
long fleet_rows(const struct fleet *f); /* hosts that the database knows */
long fleet_held(const struct fleet *f); /* those that somebody has */

/* fleet_open(), with members of conf that are not 0 (NULL: none) instead of those above, and with one
 * client, "a"; two, "a" and "b"; or one after a worker "a" was killed while it held a.example
 * (*ret_until_ms: the end of its lease, as it knew it). Close what is open by any of the latter. */
void solo_open(struct fleet *f, const struct ing_lease_conf *conf, struct lease_client *a);
void pair_open(struct fleet *f, const struct ing_lease_conf *conf, struct lease_client *a,
	struct lease_client *b);
void fleet_open_dead(struct fleet *f, const struct ing_lease_conf *conf, struct lease_client *w,
	const char *instance, uint64_t *ret_until_ms);
void solo_close(struct fleet *f, struct lease_client *a);
void pair_close(struct fleet *f, struct lease_client *a, struct lease_client *b);

void client_open(struct fleet *f, struct lease_client *w, const char *instance);
void client_close(struct lease_client *w);
/* The next unread event of the host; fails the test when none comes. */
const struct client_event *client_wait(struct fleet *f, struct lease_client *w, const char *host);
/* Request and wait. */
const struct client_event *client_request(
	struct fleet *f, struct lease_client *w, const char *host);
/* Request, again after retry_ms, until it is granted. */
const struct client_event *client_acquire(
	struct fleet *f, struct lease_client *w, const char *host);
/* And let it reach the database, before another asks. */
void client_release(
	struct fleet *f, struct lease_client *w, const char *host, struct ing_host_backoff backoff);
size_t client_unread(const struct lease_client *w); /* unread events */

struct ing_host_backoff resting(unsigned ms); /* the everyday pause from now on */

/* A process that gets leases of these hosts, and is killed with them.
 * *ret_until_ms: the end of the first one's, as it believed. */
void client_kill(const struct fleet *f, const char *instance, const char *const *hosts,
	size_t count, uint64_t *ret_until_ms);
