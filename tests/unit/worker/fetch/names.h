/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * names.h - a name server for tests: a UDP socket on loopback and a thread that answers from a
 * table.
 */
#pragma once
#include <stdbool.h>

struct names;

struct names_row {
	const char *name;
	const char *v4[4]; /* addresses in text, NULL at the end */
	const char *v6[4];
	unsigned rcode; /* RFC 1035 4.1.1: 2 server failure, 3 no such name */
	unsigned ttl_s;
	bool silent;          /* no answer at all */
	const char *v4_later; /* instead of v4 from the second query on; NULL: no change */
};

/* rows end with a name of NULL; a name that is not among them does not exist. */
struct names *names_start(const struct names_row *rows);
/* On this address of the loopback network; port 0: any. */
struct names *names_start_at(const struct names_row *rows, const char *addr, unsigned port);
unsigned names_port(const struct names *n);
void names_stop(struct names *n);
const char *names_server(const struct names *n); /* "127.0.0.1:PORT" */
unsigned names_queries(struct names *n);         /* so far */
