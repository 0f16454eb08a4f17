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
#include "common/base/report.h"
#include "worker/model/settings.h"

/* The settings of each stage, and what is nobody's else. Lists and strings are never NULL, but for
 * texts of type OPTION that are empty. */
struct ing_conf {
	const char *instance;
	struct ing_kafka_settings kafka;
	struct ing_postgres_settings postgres;
	struct ing_grobid_settings grobid;
	struct ing_metrics_settings metrics;
	struct ing_archive_settings warc;
	struct ing_fetch_settings fetch;
	struct ing_gate_settings gate;
	struct ing_examine_settings examine;
	struct ing_job_settings job;
	struct ing_disk_settings disk;
	struct ing_objects_settings objects;
	/* ncbi_api_key and openalex_api_key are NULL: they are read from these files (common/base/key_file.h). */
	struct ing_publication_settings publication;
	const char *ncbi_api_key_file, *openalex_api_key_file; /* publication.* */
	const char *rules_dir, *seedlists_dir, *state_dir;
	char *const *filters; /* resources.filters */
	bool obey_robots;     /* gate.robots */
	bool tls_fallback;    /* fetch.tls_fallback, where no rule of the host says */
	unsigned lease_ms;    /* gate.lease_ms; 0: see ing_conf_lease_ms() */
	unsigned drain_ms;    /* stop.drain_ms */
	enum ing_log_level log_level;
	enum ing_log_format log_format;
	enum ing_log_requests log_requests;
};

/* Who asks: the daemon insists on brokers and on a user agent with a contact. */
enum ing_conf_use { ING_CONF_DAEMON, ING_CONF_CTL };

/* file may be NULL: the installed one if there is one (readable, for ctl). sets: KEY=VALUE, VALUE
 * being YAML; NULL-terminated. 0 and *ret, or -ING_FAIL_CONFIG with every error in *report, which
 * was empty. Free with ing_conf_free(). */
int ing_conf_load(const char *file, char *const *sets, enum ing_conf_use use, struct ing_conf **ret,
	struct ing_report *report) ING_MUST_CHECK;
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
struct ing_buf;
/* The i-th key of the table, static; NULL: there is none. */
const char *ing_conf_key_name(size_t i);
/* What the manual says of it: sentences of what it is, its range and its default. Appended. */
void ing_conf_key_add_words(size_t i, struct ing_buf *out);
