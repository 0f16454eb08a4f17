/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * settings.h - what each stage lets an operator set. worker/conf fills these structs from its table
 * of keys; whoever wires the stages hands them on, with what is not configuration beside them.
 *
 * Plain data. Strings and lists are borrowed from the configuration, which outlives the stages.
 * Lists are NULL-terminated; NULL is an empty one. Members have the name and unit of their key
 * (worker/conf/conf_table.def), whose sentence says what they mean; only what it does not say is
 * said here.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/kafka/properties.h"
#include "worker/model/lane.h"
#include "worker/model/outputs.h"

enum ing_guarantee { ING_GUARANTEE_AT_LEAST_ONCE, ING_GUARANTEE_EXACTLY_ONCE };

struct ing_kafka_settings {
	const char *brokers, *group;
	/* Of each lane: "" for none, "auto" for the name of the requests topic and -LANE. */
	const char *lane_topics[ING_LANES_];
	/* "" or NULL: none. Of parked requests "auto" is the name of the requests topic and
	 * -parked-TIER (tier.h). */
	const char *output_topics[ING_OUTPUTS_];
	size_t max_message_bytes;
	enum ing_guarantee delivery;
	struct ing_kafka_properties properties;
};

struct ing_metrics_settings {
	const char *listen; /* "": off */
	char *const *users;
};

struct ing_grobid_settings {
	const char *url; /* NULL: none */
	unsigned timeout_ms, concurrency;
	char *const *reuse_versions;
	uint64_t reuse_max_age_ms; /* 0: any */
};

struct ing_postgres_settings {
	const char *dsn; /* "": no database */
	const char *password_file;
	unsigned batch_rows, batch_ms;
	unsigned statement_ms;
	unsigned max_attempts; /* 0: no limit */
	bool visits;           /* rows of results keep them */
};

struct ing_archive_settings { /* warc.* */
	const char *dir;      /* "": no WARC files */
	const char *prefix;
	uint64_t max_bytes;
	bool revisits;
	unsigned revisit_min_bytes, revisit_cache;
};

/* s3.*, store.dir. Strings may be "", but for ca_file. */
struct ing_objects_settings {
	const char *endpoint; /* "": no bucket */
	const char *bucket, *prefix, *region;
	const char *access_key_file, *secret_key_file;
	const char *ca_file; /* NULL: the system's */
	const char *dir;     /* "": no folder */
};

struct ing_disk_settings { /* disk.*; 0: off */
	size_t stop_bytes, abort_bytes;
};

struct ing_fetch_settings {
	const char *user_agent;
	unsigned timeout_ms, connect_timeout_ms, stall_ms;
	unsigned min_speed_bytes; /* a second */
	size_t max_body_bytes, memory_bytes;
	const char *ca_file; /* NULL: the system's */
	bool tls_resume;
	const char *proxy; /* NULL: none */
	const char *proxy_password_file;
	char *const *connect_to, *const *allow_address, *const *deny_address, *const *allow_port;
	const char *dns_servers; /* NULL: the system's */
	size_t max_header_bytes;
	unsigned max_header_fields;
	const char *spool_dir; /* spool.dir: bodies over 1 MiB are unlinked files here */
};

enum ing_host_key {      /* what shares a queue, pauses and slots */
	ING_KEY_HOST,    /* the host name without a leading "www." */
	ING_KEY_DOMAIN,  /* its registered domain (public suffix list) */
	ING_KEY_ADDRESS, /* the address that it resolves to */
};

struct ing_host_backoff_settings { /* gate.* */
	unsigned delay_ms;         /* gate.host_delay_ms; a host's own rule goes before */
	unsigned crawl_delay_max_ms;
	unsigned adaptive_factor; /* 0: off */
	unsigned adaptive_max_ms;
	unsigned retry_after_max_ms;
	unsigned backoff_ms, backoff_max_ms;
	unsigned breaker_failures; /* 0: no breaker */
};

struct ing_gate_settings {
	unsigned concurrency, host_concurrency;
	unsigned address_concurrency; /* 0: no limit */
	enum ing_host_key key;        /* gate.host_key */
	unsigned max_wait_ms;         /* 0: for ever */
	unsigned max_hold_ms;         /* 0: max_wait_ms */
	unsigned weights[ING_LANES_]; /* intake.weight_LANE; at least 1 each */
	struct ing_host_backoff_settings backoff;
};

struct ing_examine_settings {
	unsigned processes; /* 0: one per processor */
	unsigned recycle_after, timeout_ms, max_wait_ms;
	size_t memory_bytes; /* RLIMIT_AS; 0: none */
};

/* Resources of publications. Strings are never NULL; a base URL that is "" is not asked. */
struct ing_publication_settings {
	const char *europepmc_url, *annotations_url, *eutils_url, *pmc_url, *pubmed_url, *doi_url,
		*unpaywall_url, *crossref_url, *datacite_url, *openalex_url, *arxiv_url,
		*biorxiv_url, *doaj_url;
	const char *email, *tool, *ncbi_api_key, *openalex_api_key; /* "": none */
	unsigned deadline_ms; /* of a whole publication, waiting for hosts included */
	unsigned quick_ms;    /* after which a quick one follows no more links */
	unsigned max_links;   /* followed for one publication */
	/* When one that is kept is asked for again. Minutes; -1: never. */
	int64_t empty_cooldown, non_final_cooldown, exception_cooldown;
	int64_t retry_limit;   /* -1: none */
	int64_t refetch_after; /* minutes since it was fetched, whatever it is; -1: never */
};

enum ing_resource_mode {       /* sub-resources of pages */
	ING_RESOURCES_DEFAULT, /* of a lane: as resources.mode */
	ING_RESOURCES_OFF,
	ING_RESOURCES_ON,
	ING_RESOURCES_STRICT, /* one that is not archived fails the page */
};

enum ing_log_requests { /* which finished requests are logged */
	ING_LOG_REQUESTS_OFF,
	ING_LOG_REQUESTS_FAILURES,
	ING_LOG_REQUESTS_ALL,
};

struct ing_job_settings {
	unsigned max_waiting;    /* intake.max_waiting */
	unsigned deadline_ms;    /* of work; waiting does not count */
	unsigned max_hops;       /* landing pages followed */
	unsigned max_redirects;  /* fetch.max_redirects, in a row */
	unsigned max_ratio;      /* fetch.max_ratio: of a decoded body to the one sent */
	size_t max_scrape_bytes; /* scrape.max_bytes */
	unsigned host_share;     /* intake.host_share: percent of max_waiting; 0 or 100: no limit */
	unsigned max_attempts;
	uint64_t parked_max_age_ms;                        /* parked.max_age_ms */
	uint64_t skip_existing_ms;                         /* skip_existing_max_age_ms; 0: off */
	uint64_t lane_skip_existing_ms[ING_LANES_];        /* of a lane; 0: as skip_existing_ms */
	enum ing_resource_mode resources;                  /* resources.mode */
	enum ing_resource_mode lane_resources[ING_LANES_]; /* intake.resources_LANE */
	unsigned resources_ms;                             /* resources.max_ms */
};
