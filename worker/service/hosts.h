/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hosts.h - what a running worker knows of hosts, as JSON for its control socket: gate, robots,
 * leases and rules together. Reads them, changes nothing. Thread: loop only.
 *
 * Requests: {"ask":"host","host":H} and {"ask":"top","count":N}; anything else is {"error":…}. The
 * answers are documented in worker/ctl/hosts/README.md (hosts explain, hosts top).
 */
#pragma once
#include "common/data/json.h"

struct ing_gate;
struct ing_robots;
struct ing_host_rules;
struct ing_blocked_hosts;
struct ing_host_rule;
struct ing_orders;
struct ing_hosts_survey;

struct ing_hosts_sources { /* borrowed; all but gate may be NULL */
	const struct ing_gate *gate;
	const struct ing_robots *robots;
	const struct ing_host_rules *host_rules;
	const struct ing_blocked_hosts *blocked_hosts;
	const struct ing_orders *orders;
	const char *instance;
};

/* Never NULL; the caller's. */
json_t *ing_hosts_answer(const struct ing_hosts_sources *s, const json_t *request);

/* Set the members "most_waiting" and "longest_held" of an object, as the answer to "top" has them. */
void ing_hosts_set_survey(
	json_t *o, const struct ing_hosts_sources *s, const struct ing_hosts_survey *survey);

/* An entry of hosts.yaml as it stands in the answers; NULL: null. */
json_t *ing_hosts_rule(const struct ing_host_rule *rule);
