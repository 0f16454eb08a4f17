/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resolve.h - looks up host names with c-ares on the loop.
 *
 * Sources are /etc/hosts, then the name servers of resolv.conf(5), which is checked for changes once
 * a minute; search domains do not apply, because a URL's host is absolute. Lookups of the same name
 * share one query. Addresses are cached for their TTL, 5 s to 60 s; "no such name" for five minutes,
 * the maximum of RFC 2308 7.1 (c-ares does not return the SOA record that might say less); failures
 * of name servers for 30 s. The cache has at most 20,000 names. IPv4 is queried first, IPv6 for names
 * without it or on request (the other way round on a host without a route to the IPv4 internet).
 * Whether an address may be used is not checked here.
 *
 * Owns the c-ares channel, the poll handles of its sockets and the cache. Loop thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "common/net/addr.h"

struct uv_loop_s;
struct ing_resolver;

#define ING_RESOLVER_MAX_ADDRS 16 /* of one name; the rest is ignored */

struct ing_dns_answer {
	unsigned count;     /* 0: failed */
	const char *detail; /* the reason, static */
	bool transient;     /* the name servers failed; the name may exist */
	bool no_descriptor; /* no query was sent for lack of a file descriptor */
	bool both_families; /* both address families have been queried */
	struct ing_addr addrs[ING_RESOLVER_MAX_ADDRS];
};

/* A pending lookup, embedded in its owner; zero-initialise. */
struct ing_dns_lookup {
	struct ing_dns_lookup *prev, *next;
	struct ing_dns_name *name; /* NULL: not waiting */
	void (*done)(struct ing_dns_lookup *lookup,
		const struct ing_dns_answer *answer); /* answer is borrowed */
};

struct ing_resolver_conf {
	const char *servers;     /* "ADDRESS[:PORT],…"; NULL: the ones of resolv_conf */
	const char *resolv_conf; /* NULL: /etc/resolv.conf */
	unsigned short port;     /* of the servers there; 0: 53 */
	unsigned recheck_ms; /* how often resolv_conf is checked for changes; 0: once a minute */
};

/* conf is borrowed, its strings must outlive the resolver. -SYSTEM when c-ares cannot start,
 * -CONFIG for bad servers. */
int ing_resolver_new(struct uv_loop_s *loop, const struct ing_resolver_conf *conf,
	struct ing_resolver **ret, struct ing_error *err) ING_MUST_CHECK;
void ing_resolver_free(struct ing_resolver *r); /* NULL is fine; no lookup may be pending */

/* lookup->done() may be called before the function returns (cached name). The only time limit is
 * c-ares's own, about 14 s. */
void ing_resolver_start(struct ing_resolver *r, struct ing_dns_lookup *lookup, const char *name);
/* Queries only the address family that is otherwise queried second, for a name whose other addresses
 * could not be connected to. */
void ing_resolver_start_other(
	struct ing_resolver *r, struct ing_dns_lookup *lookup, const char *name);
void ing_resolver_stop(
	struct ing_dns_lookup *lookup); /* done() will not come; harmless when not waiting */
