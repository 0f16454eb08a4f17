/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * job.h - one request from intake to its result, and the pipeline that carries it through the
 * stages.
 *
 * A job is a compact record (its token, its message, its place in the gate) until the gate admits
 * it; then it gets a struct ing_work: arena, cookie jar, hops. When its status is decided and every
 * exchange is on disk, what is left of it goes into a delivery (worker/deliver), and the job is
 * freed. Jobs belong to the pipeline; one stage at a time works for a job, and the
 * pipeline's callbacks are the only code that moves it on. Thread: loop only.
 *
 * Statuses are decided in worker/job and nowhere else: stages report outcomes and findings.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/error.h"
#include "common/data/json.h"
#include "worker/archive/archive.h"
#include "worker/artifact/artifact.h"
#include "worker/model/findings.h"
#include "worker/model/exchange.h"
#include "worker/gate/gate.h"
#include "worker/gate/robots/robots.h"
#include "worker/intake/intake.h"
#include "worker/job/hop.h"
#include "worker/model/request.h"
#include "worker/model/status.h"
#include "worker/model/metrics.h"
#include "worker/visit/capture.h"

struct uv_loop_s;
struct ing_fetch;
struct ing_pool;
struct ing_deliver;
struct ing_cookies;
struct ing_transfer;
struct ing_exam_ticket;
struct ing_url_rules;
struct ing_rule_stats;
struct ing_robots_fetches;

/* One URL asked for, once. In the job's arena. */
struct ing_hop {
	struct ing_hop *next;
	struct ing_job *job;
	const char *url;
	enum ing_via via;
	uint64_t jar_version; /* of the cookies when this URL was asked for */
	/* What the exchange left behind; the body is let go of as early as possible. */
	struct ing_exchange *exchange; /* until archived and examined */
	bool archive_pending;
	bool answered;
	struct ing_capture capture;
};

/* A rule that gave a hop. In the job's arena. */
struct ing_followed {
	struct ing_followed *next;
	const char *rule; /* its name (rule_stats.h) */
};

struct ing_work {
	struct ing_arena ar;
	struct ing_job *job;          /* whose it is */
	struct ing_work *prev, *next; /* those in EXAMINING */
	struct ing_request *request;
	struct ing_cookies *jar;
	struct ing_hop *hops, **hops_tail, *hop; /* all, in order; the last */
	unsigned hop_count, landings,
		redirects;         /* landing pages followed; redirects since the last page */
	unsigned cookie_redirects; /* those of them that set a cookie */
	const char *next_url;      /* where to go; NULL: base_url is no URL to be asked for */
	enum ing_via next_via;
	unsigned tries;         /* of next_url so far */
	unsigned delay_ms;      /* before the next of them */
	const char *referer;    /* the hop before next_url; NULL: none */
	unsigned retry_after_s; /* for the result; 0: nothing to say */
	bool dropped_userinfo;  /* of a URL on the way */
	bool unverified;        /* a certificate on the way was not verified */
	bool lost_answer;       /* one on the way could not be archived */
	uint64_t deadline_ms;   /* ing_now_ms() clock while working */
	uint64_t work_left_ms;  /* saved while GATED, and while waiting for an examiner */
	uint64_t exam_end_ms;   /* in EXAMINING: when the deadline ends it; NEVER while waiting */
	struct ing_transfer *transfer;
	struct ing_exam_ticket *exam;
	unsigned archive_pending;
	enum ing_status status;
	char *error_message; /* arena */
	/* The chain reached a document, if perhaps not of the type that was asked for:
	 * artifact.file is about it. */
	bool document_found;
	struct ing_artifact artifact;
	struct ing_followed *followed; /* rules whose links were followed */
	size_t text_bytes; /* of the document's text: what counts against the pipeline's ceiling */
};

#define ING_JOB_MAGIC 0x4a4f4231u

/* All there is of a waiting request, beside its message: README.md counts the bytes. */
struct ing_job {
	unsigned magic;
	uint8_t state;               /* enum ing_job_state */
	uint8_t lane;                /* enum ing_lane */
	struct ing_job *prev, *next; /* all jobs of the partition, oldest first */
	struct ing_pipeline *pipeline;
	struct ing_token token;
	uint64_t born_ms; /* ing_now_ms() clock */
	struct ing_gate_waiter waiter;
	struct ing_robots_waiter robots;
	char *message; /* heap, until admitted */
	uint32_t message_bytes;
	struct ing_work *work;
};
_Static_assert(sizeof(struct ing_job) <= 224, "a million of them wait");

struct ing_pipeline_conf {
	unsigned max_waiting;         /* requests waiting or under way */
	unsigned weights[ING_LANES_]; /* intake.weight_*; 0: the lane has no topic */
	unsigned max_unacked;         /* decided, but not yet delivered: the gate holds beyond */
	unsigned max_hops;            /* landing pages followed */
	unsigned max_redirects;       /* in a row */
	unsigned deadline_ms;
	unsigned pdf_timeout_ms;
	uint64_t max_body_bytes, max_scrape_bytes;
	unsigned max_ratio;                            /* of a decoded body to the one sent */
	const struct ing_url_rules *url_rules;         /* borrowed; NULL: none */
	const struct ing_host_rules *host_rules;       /* borrowed; NULL: none */
	const struct ing_blocked_hosts *blocked_hosts; /* borrowed; NULL: none */
	bool tls_fallback;                             /* where host_rules do not say */
	struct ing_rule_stats *rule_stats;             /* borrowed; NULL: nobody counts */
};

/* The stages, made by whoever wires. */
struct ing_stages {
	struct ing_intake *intake;
	struct ing_gate *gate;
	struct ing_robots *robots;          /* NULL: nobody asks */
	struct ing_robots_fetches *fetches; /* that get files for robots; NULL: others do */
	struct ing_fetch *fetch;
	struct ing_archive *archive;
	struct ing_pool *pool;
	struct ing_deliver *deliver;
	/* Called when a result is acknowledged. NULL: nobody wants it. */
	void (*on_result)(void *ctx, enum ing_status status);
	/* Called when a message was unreadable. NULL: nobody wants it. */
	void (*on_dead)(void *ctx, const struct ing_message *m, const struct ing_error *err);
	void *ctx;
};

struct ing_pipeline;
struct ing_pipeline *ing_pipeline_new(struct uv_loop_s *loop, const struct ing_pipeline_conf *conf);
void ing_pipeline_wire(struct ing_pipeline *p,
	const struct ing_stages *stages);       /* copied; before the first message */
void ing_pipeline_free(struct ing_pipeline *p); /* NULL is fine; no job may be left */
/* Other rules from now on; the ones before are not looked at again. */
void ing_pipeline_set_rules(struct ing_pipeline *p, const struct ing_url_rules *url_rules,
	const struct ing_host_rules *host_rules);

/* For struct ing_intake_events. */
void ing_pipeline_on_message(struct ing_pipeline *p, const struct ing_message *m);
void ing_pipeline_on_revoked(struct ing_pipeline *p, int32_t partition_slot, uint32_t epoch);

/* Drop what has not been admitted and let the rest finish (first SIGTERM; intake is stopped by the
 * caller). */
void ing_pipeline_drain(struct ing_pipeline *p);
/* Cancel what is left (the drain's bound has passed). Callbacks of threads may still be owed: run
 * the loop until idle. */
void ing_pipeline_cancel(struct ing_pipeline *p);
bool ing_pipeline_idle(const struct ing_pipeline *p);
/* A stage is blocked (database, disk, broker): a short word, or NULL. */
const char *ing_pipeline_blocked_by(const struct ing_pipeline *p);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_pipeline_stats(const struct ing_pipeline *p, struct ing_pipeline_stats *ret);
