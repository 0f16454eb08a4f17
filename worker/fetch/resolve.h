/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resolve.h - host names to addresses, by c-ares on the loop.
 *
 * /etc/hosts, then the system's name servers (resolv.conf(5), looked at once a minute, so that a
 * change of it takes effect); search domains do not apply, because a URL's name is absolute. Those
 * who wait for one name share one query. Answers are kept for as long as they say but at most a
 * minute; that there is no such name for five minutes, the most that RFC 2308 7.1 has for failures
 * (c-ares does not show the SOA record that might say less); a name server's own trouble for half a
 * minute. The table is of bounded size. IPv4 is asked for first, IPv6 for names without it (the
 * other way round on a machine that has no way to the IPv4 internet), or on demand. The addresses
 * are not judged here.
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

struct ing_dns_answer {
	unsigned count;     /* 0: failed */
	const char *words;  /* why, static */
	bool passing;       /* failed because of the name servers, not of the name */
	bool starved;       /* nobody was asked: there was no descriptor for it */
	bool both_families; /* the second family was asked for, too: there is nothing more to ask */
	struct ing_addr addrs[ING_RESOLVER_MAX_ADDRS];
};

/* Embedded in whoever waits; zero-initialise. */
struct ing_lookup {
	struct ing_lookup *prev, *next;
	struct ing_name *name; /* NULL: not waiting */
	void (*done)(struct ing_lookup *lookup,
		const struct ing_dns_answer *answer); /* answer is borrowed */
};

struct ing_resolver_conf {
	const char *servers;     /* "ADDRESS[:PORT],…"; NULL: the ones of resolv_conf */
	const char *resolv_conf; /* NULL: /etc/resolv.conf */
	unsigned short port;     /* of the servers there; 0: 53 */
	unsigned recheck_ms;     /* how often resolv_conf is looked at; 0: once a minute */
};

/* conf is borrowed, its strings must outlive the resolver. -SYSTEM when c-ares cannot start,
 * -CONFIG for bad servers. */
int ing_resolver_new(struct uv_loop_s *loop, const struct ing_resolver_conf *conf,
	struct ing_resolver **ret, struct ing_error *err) ING_MUST_CHECK;
void ing_resolver_free(struct ing_resolver *r); /* NULL is fine; nobody may be waiting any more */

/* lookup->done() may come from inside (known name). There is no time limit here but c-ares's own,
 * some 14 s. */
void ing_resolver_start(struct ing_resolver *r, struct ing_lookup *lookup, const char *name);
/* The addresses of the family that is second in line only, for a name whose first ones are of no
 * use. */
void ing_resolver_start_other(struct ing_resolver *r, struct ing_lookup *lookup, const char *name);
void ing_resolver_stop(
	struct ing_lookup *lookup); /* done() will not come; harmless when not waiting */
