/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * host_rules.h - what an operator says of single hosts: rules/hosts.yaml (delays, slots, robots,
 * TLS), and the hosts blocked for the whole fleet.
 *
 * Owns its entries. A set does not change once loaded, so any thread may ask; blocks are the loop's
 * alone. A question costs one look-up for each label of the host.
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

enum ing_host_choice { ING_CHOICE_UNSAID, ING_CHOICE_YES, ING_CHOICE_NO };

struct ing_host_rule {
	const struct ing_host_rule *next; /* of all, in the order of loading */
	const char *host; /* "example.org", or ".example.org" with all below it; lower case,
			   * punycode, without "www." */
	const char *file;
	int line;
	const char *why, *source; /* source NULL: not said */
	bool has_delay, has_concurrency;
	unsigned delay_ms, concurrency;
	enum ing_host_choice obey_robots, tls_fallback;
	const struct ing_url_pattern *pattern; /* the same host, for tests */
	const struct ing_url_test *tests;      /* worker/rules/rule_reader.h */
};

/* Load hosts.yaml among the files. What is wrong goes to the report, and -CONFIG. */
int ing_host_rules_load_files(const struct ing_rule_files *files, struct ing_host_rules **ret,
	struct ing_report *report) ING_MUST_CHECK;
void ing_host_rules_free(struct ing_host_rules *r); /* NULL is fine */
size_t ing_host_rules_count(const struct ing_host_rules *r);
const struct ing_host_rule *ing_host_rules_entries(const struct ing_host_rules *r); /* NULL: none */
/* The most specific rule for a host name (lower case; "www." and a closing dot do not matter), or
 * NULL: that host's own, else the one for all below it or below the nearest name above. It counts
 * alone, nothing is added from less specific ones. r may be NULL. */
const struct ing_host_rule *ing_host_rules_find(const struct ing_host_rules *r, const char *host);

/* The hosts blocked by `ingestctl hosts block`: empty until set. Written as in hosts.yaml; what
 * is no such host, what comes twice and what is above the ceiling is left out, and add() then
 * says false. */
#define ING_MAX_BLOCKED_HOSTS 100000
struct ing_blocked_hosts *ing_blocked_hosts_new(void);
void ing_blocked_hosts_free(struct ing_blocked_hosts *b); /* NULL is fine */
void ing_blocked_hosts_clear(struct ing_blocked_hosts *b);
bool ing_blocked_hosts_add(
	struct ing_blocked_hosts *b, const char *host, const char *why); /* copied */
/* Why a host is blocked (as ing_host_rules_find()), borrowed until the next clear; NULL: it is not.
 * b may be NULL. */
const char *ing_blocked_hosts_find(const struct ing_blocked_hosts *b, const char *host);
