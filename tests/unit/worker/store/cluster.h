/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cluster.h - a PostgreSQL server for tests: the one ING_TEST_DSN names (its user may create
 * databases), or else a private one in a temporary folder, started and stopped through
 * deploy/lib/private_servers.py.
 */
#pragma once
#include <stdbool.h>

#define CLUSTER_MAX_DATABASES 64

struct cluster {
	bool own; /* ours to stop and start */
	char folder[64];
	char dsn[512]; /* of a database that exists */
	unsigned databases;
	char *dsns[CLUSTER_MAX_DATABASES];
};

/* False after a message: there is no server to be had here. A server that exists but does not start
 * fails the test. */
bool cluster_start(struct cluster *c);
void cluster_stop(struct cluster *c);   /* own only; keeps the data */
void cluster_resume(struct cluster *c); /* own only; same port */
void cluster_done(struct cluster *c);   /* drops what was made here; stops and deletes an own one */

/* A new, empty database; its address is good until cluster_done(). */
const char *cluster_database(struct cluster *c);
