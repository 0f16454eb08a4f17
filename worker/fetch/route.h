/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * route.h - where the connection for a URL goes: to its host, to a fetch.connect_to target, or to the
 * proxy.
 *
 * Plain data, made once from the configuration. Any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct ing_fetch_settings;

/* A parsed URL. */
struct ing_target {
	char *url;  /* without fragment and user information: what is fetched and recorded */
	char *host; /* a name or an address, without brackets */
	unsigned port;
	bool https;
	bool had_userinfo; /* "user:password@", which is dropped */
};

/* The URL must be absolute, http or https, ASCII without control characters, at most
 * ING_MAX_URL_BYTES long. Returns 0, -INVALID or -TOO_BIG. */
int ing_target_init(struct ing_target *t, const char *url, struct ing_error *err) ING_MUST_CHECK;
void ing_target_done(struct ing_target *t); /* zero-initialised is fine */

struct ing_connect_rule {
	char *host, *connect_host;   /* NULL: any, the same */
	unsigned port, connect_port; /* 0: any, the same */
};

struct ing_routes {
	struct ing_connect_rule *rules;
	size_t rule_count;
	char *proxy_host; /* NULL: no proxy */
	unsigned proxy_port;
	char *proxy_user, *proxy_password; /* NULL: none */
};

int ing_routes_init(struct ing_routes *r, const struct ing_fetch_settings *settings,
	struct ing_error *err) ING_MUST_CHECK; /* -CONFIG */
void ing_routes_done(struct ing_routes *r);    /* zero-initialised is fine */

struct ing_route {
	const char *host; /* to be looked up unless it is an address; borrowed from the routes or
			     the target */
	unsigned port;
	bool via_proxy;
	bool named; /* by a rule of fetch.connect_to */
};

/* fetch.allow_port: ports of URLs that are allowed beside 80 and 443. */
struct ing_ports {
	unsigned *list; /* heap */
	size_t count;
};

int ing_ports_init(struct ing_ports *p, char *const *texts,
	struct ing_error *err) ING_MUST_CHECK; /* texts as in the configuration; -CONFIG */
void ing_ports_done(struct ing_ports *p);      /* zero-initialised is fine */
bool ing_ports_allow(const struct ing_ports *p, unsigned port);

/* A connect_to rule that matches wins over the proxy: its target is reached directly. */
struct ing_route ing_routes_find(const struct ing_routes *r, const struct ing_target *t);
