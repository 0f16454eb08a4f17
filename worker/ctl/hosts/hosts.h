/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hosts.h - what the files of `ingestctl hosts` share: hosts.c has the verb, hosts_ask.c collects
 * what workers, the database and the rules know, as JSON, hosts_print.c says it to people. One
 * thread.
 */
#pragma once
#include "common/data/json.h"
#include "common/net/url.h"
#include "worker/ctl/ctl.h"

struct ing_conf;

#define ING_CTL_HOST_BYTES (1 + ING_URL_HOST_BYTES) /* a dot, a host, NUL */

/* A host as rules and tables have it: lower case, punycode, no "www.", no closing dot. below: a dot
 * in front, for all names below it as well, is allowed. False: it is no host. */
bool ing_ctl_host_name(const char *text, bool below, char ret[ING_CTL_HOST_BYTES]);
/* The same of a URL, or of a host or address without one. */
bool ing_ctl_host_of(const char *text, char ret[ING_CTL_HOST_BYTES]);

/* What is known, in objects that worker/ctl/hosts/README.md describes. */
struct ing_ctl_known {
	json_t *workers;     /* a list: the answer of each that runs */
	json_t *database;    /* NULL: none is set, or it does not answer */
	json_t *rules;       /* explain only */
	const char *missing; /* in words, when there is neither a worker nor a database: what was
			      * tried; else NULL */
};
/* What cannot be had is said on stderr. Release with ing_ctl_known_done(). */
void ing_ctl_known_host(const struct ing_conf *conf, const char *host, struct ing_ctl_known *ret);
void ing_ctl_known_top(const struct ing_conf *conf, unsigned count, struct ing_ctl_known *ret);
void ing_ctl_known_done(struct ing_ctl_known *k);
/* Whether anybody has met the host, or blocked it. */
bool ing_ctl_known_any(const struct ing_ctl_known *k);
struct ing_host_block;
json_t *ing_ctl_host_block_json(const struct ing_host_block *b);

/* To stdout. */
void ing_ctl_print_explain(const char *host, const struct ing_ctl_known *k);
void ing_ctl_print_top(const struct ing_ctl_known *k);
void ing_ctl_print_block(const json_t *block);
void ing_ctl_print_json(const struct ing_ctl_known *k); /* an object a line */
