/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * conf.h - the configuration as typed values, read once at start and constant after.
 *
 * Made from one table (conf_table.def): defaults, then a YAML file, then --set values, later ones
 * winning. Owned by whoever loaded it; the strings belong to it. Reading it needs no lock.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include "common/base/error.h"
#include "common/base/log.h"

enum ing_robots_policy { ING_ROBOTS_OBEY, ING_ROBOTS_IGNORE };
/* In the order of enum ing_host_key (worker/gate/gate.h). */
enum ing_conf_host_key { ING_CONF_KEY_HOST, ING_CONF_KEY_DOMAIN, ING_CONF_KEY_ADDRESS };

/* Members are named as the keys. Lists are NULL-terminated and never NULL themselves; strings may
 * be "" but are NULL only where said. */
struct ing_conf {
	char *instance;
	struct {
		char *brokers, *group;
		struct {
			char *requests, *results, *pdf_text, *dead;
			char *priority, *daily, *bulk; /* "": none; "auto": named after requests */
		} topics;
		size_t max_message_bytes;
		char **properties; /* "name=value" */
	} kafka;
	struct {
		char *dsn; /* "": no database */
		unsigned batch_rows, batch_ms, statement_ms;
	} postgres;
	struct {
		char *dir; /* "": no WARC */
		char *prefix;
		uint64_t max_bytes;
	} warc;
	struct {
		char *dir;
	} rules;
	struct {
		char *user_agent;
		unsigned timeout_ms, connect_timeout_ms, stall_ms, min_speed_bytes, max_redirects;
		size_t max_body_bytes, memory_bytes;
		char *ca_file; /* NULL: the system's */
		char *proxy;   /* NULL: none */
		char **connect_to, **allow_address, **deny_address, **allow_port;
		char *dns_servers; /* NULL: the system's */
		size_t max_header_bytes;
		unsigned max_header_fields, max_ratio;
		int tls_fallback; /* truth value */
	} fetch;
	struct {
		unsigned concurrency, host_concurrency, address_concurrency, host_delay_ms;
		unsigned max_wait_ms, max_hold_ms, crawl_delay_max_ms, adaptive_factor,
			adaptive_max_ms;
		unsigned retry_after_max_ms, backoff_ms, backoff_max_ms, breaker_failures;
		unsigned lease_ms; /* 0: as long as transfers ask for */
		enum ing_conf_host_key host_key;
		enum ing_robots_policy robots;
	} gate;
	struct {
		unsigned max_waiting;
		unsigned weight_priority, weight_requests, weight_daily, weight_bulk;
	} intake;
	struct {
		char *dir;
	} spool;
	struct {
		char *dir;
	} state;
	struct {
		unsigned deadline_ms, max_hops;
	} job;
	struct {
		unsigned processes; /* 0: as many as there are processors */
		unsigned recycle_after, timeout_ms, max_wait_ms;
		size_t memory_bytes;
	} examine;
	struct {
		size_t max_bytes;
	} scrape;
	struct {
		unsigned drain_ms;
	} stop;
	struct {
		enum ing_log_level level;
	} log;
};

/* Everything that is wrong, in the order in which it was found; at most ING_CONF_MAX_ERRORS are
 * kept. */
#define ING_CONF_MAX_ERRORS 100
struct ing_conf_errors {
	char **lines; /* "FILE:LINE:COLUMN: key \"x.y\": what is wrong" */
	size_t count;
};
void ing_conf_errors_print(const struct ing_conf_errors *errs, FILE *to); /* a line each */
void ing_conf_errors_done(struct ing_conf_errors *errs); /* zero-initialised is fine */

/* Who asks: the daemon insists on brokers and on a user agent with a contact. */
enum ing_conf_use { ING_CONF_DAEMON, ING_CONF_CTL };

/* file may be NULL: the installed one if there is one (readable, for ctl). sets: KEY=VALUE, VALUE
 * being YAML; NULL-terminated. 0 and *ret, or -ING_FAIL_CONFIG with at least one line in *errs.
 * Free with ing_conf_free(). */
int ing_conf_load(const char *file, char *const *sets, enum ing_conf_use use, struct ing_conf **ret,
	struct ing_conf_errors *errs) ING_MUST_CHECK;
void ing_conf_free(struct ing_conf *conf); /* NULL is fine */

/* Whether a user agent says where its operator can be reached: a URL or a mail address. */
bool ing_conf_has_contact(const char *user_agent);

#define ING_CONF_LEASE_ROUND_MS 50 /* between two conversations with the database */
/* Longest time that a transfer can take from its grant to its end. */
unsigned ing_conf_transfer_ms(const struct ing_conf *c);
/* A lease is extended when a third of it is gone, which is noticed up to a twelfth of it later
 * (worker/gate/fleet/lease.h); with a shorter one no transfer could be begun for most of the time
 * before that. */
unsigned ing_conf_shortest_lease_ms(const struct ing_conf *c);
/* How long leases are; where they are needed never shorter than that. */
unsigned ing_conf_lease_ms(const struct ing_conf *c);

/* The effective configuration as YAML that ing_conf_load() reads back to the same values, each key
 * with its sentence. */
void ing_conf_dump(const struct ing_conf *conf, FILE *to);
/* The list of keys as mdoc, for ingest-worker.conf(5). */
void ing_conf_dump_man(FILE *to);
