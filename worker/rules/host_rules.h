/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * host_rules.h - rules for single hosts: rules/hosts.yaml (delays, concurrency, robots.txt, TLS),
 * and the hosts blocked in the database for all workers.
 *
 * A struct ing_host_rules owns its rules and does not change once loaded: any thread. A struct
 * ing_blocked_hosts belongs to the loop. A look-up costs one hash look-up for each label of the
 * host name.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

struct ing_report;
struct ing_rule_files;
struct ing_host_rules;
struct ing_blocked_hosts;
struct ing_url_pattern;
struct ing_url_test;

enum ing_host_choice { ING_CHOICE_UNSET, ING_CHOICE_YES, ING_CHOICE_NO };

struct ing_host_rule {
	const struct ing_host_rule *next; /* of all, in the order of loading */
	const char *host; /* "example.org", or ".example.org" with all below it; lower case,
			   * punycode, without "www." */
	const char *file;
	int line;
	const char *why, *source; /* source NULL: not said */
	bool has_delay, has_concurrency;
	unsigned delay_ms, concurrency;
	/* Requests pass through on their way to other hosts (doi.org): it has a pace of its own
	 * (delay_ms and concurrency are there, if only by default), which its answers do not slow
	 * down, and no share of the requests in memory. */
	bool resolver;
	enum ing_host_choice obey_robots, tls_fallback;
	const struct ing_url_pattern *pattern; /* the same host, for tests */
	const struct ing_url_test *tests;      /* worker/rules/rule_reader.h */
};

/* Load hosts.yaml from the files. Returns 0, or -CONFIG when there are errors, which are in the
 * report. */
int ing_host_rules_load_files(const struct ing_rule_files *files, struct ing_host_rules **ret,
	struct ing_report *report) ING_MUST_CHECK;
void ing_host_rules_free(struct ing_host_rules *r); /* NULL is fine */
size_t ing_host_rules_count(const struct ing_host_rules *r);
const struct ing_host_rule *ing_host_rules_entries(const struct ing_host_rules *r); /* NULL: none */
/* Returns the most specific rule for a host name (lower case; a leading "www." and a trailing dot
 * are ignored): the one for that host, else the one for the nearest domain above it; NULL when
 * there is none. Less specific rules add nothing to it. r may be NULL. */
const struct ing_host_rule *ing_host_rules_find(const struct ing_host_rules *r, const char *host);

/* The hosts blocked by `ingestctl hosts block`; a new set is empty. Host names are written as in
 * hosts.yaml. add() returns false, and adds nothing, for an invalid name, a name that is already
 * there, and above ING_MAX_BLOCKED_HOSTS. */
#define ING_MAX_BLOCKED_HOSTS 100000
struct ing_blocked_hosts *ing_blocked_hosts_new(void);
void ing_blocked_hosts_free(struct ing_blocked_hosts *b); /* NULL is fine */
void ing_blocked_hosts_clear(struct ing_blocked_hosts *b);
bool ing_blocked_hosts_add(
	struct ing_blocked_hosts *b, const char *host, const char *why); /* copied */
/* Returns the reason for which a host is blocked, found as by ing_host_rules_find() and borrowed
 * until the next clear, or NULL when it is not blocked. b may be NULL. */
const char *ing_blocked_hosts_find(const struct ing_blocked_hosts *b, const char *host);
