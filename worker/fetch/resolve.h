/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resolve.h - host names to addresses, by c-ares on the loop.
 *
 * /etc/hosts, then the system's name servers (resolv.conf(5), read once); search domains do not
 * apply, because a URL's name is absolute. Transfers that wait for one name share one query.
 * Answers are kept for at most a minute, failures for at most half of one, in a table of bounded
 * size. IPv4 is asked for first, IPv6 for names without it (the other way round on a machine that
 * has no way to the IPv4 internet). The addresses are not judged here.
 *
 * Owns: the c-ares channel, its sockets' poll handles and the table. Thread: loop.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "common/net/addr.h"

struct uv_loop_s;
struct ing_resolver;

#define ING_RESOLVER_MAX_ADDRS 16 /* kept of one name; more than anyone tries */

struct ing_answer {
	unsigned count;    /* 0: failed */
	const char *words; /* why, static */
	struct ing_addr addrs[ING_RESOLVER_MAX_ADDRS];
};

/* Embedded in whoever waits; zero-initialise. */
struct ing_lookup {
	struct ing_lookup *prev, *next;
	struct ing_name *name; /* NULL: not waiting */
	void (*done)(struct ing_lookup *lookup,
		const struct ing_answer *answer); /* answer is borrowed */
};

/* servers: "ADDRESS[:PORT],…", or NULL for the system's. -SYSTEM when c-ares cannot start, -CONFIG
 * for bad servers. */
int ing_resolver_new(struct uv_loop_s *loop, const char *servers, struct ing_resolver **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_resolver_free(struct ing_resolver *r); /* NULL is fine; nobody may be waiting any more */

/* lookup->done() may come from inside (known name). There is no time limit here but c-ares's own,
 * some 14 s. */
void ing_resolver_start(struct ing_resolver *r, struct ing_lookup *lookup, const char *name);
void ing_resolver_stop(
	struct ing_lookup *lookup); /* done() will not come; harmless when not waiting */
