/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * job.h - one request from intake to its result, and the pipeline that carries it through the
 * stages.
 *
 * A job is a compact record (its token, its message, its first visit) until the gate admits it;
 * then it gets a struct ing_work: arena, cookie jar, further visits. The message stays, as it may have
 * to be parked, which may also come before there is a job (pipeline_park.c). When its status is decided and
 * every exchange is on disk, what is left of it goes into a delivery (worker/deliver), and the job
 * is freed. Jobs belong to the pipeline, and the pipeline's callbacks are the only code that moves
 * them on. Thread: loop only.
 *
 * A visit says what became of a URL (worker/visit), hop.c what an examined body comes to; the
 * request's status is set by ing_job_end() and nowhere else.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/error.h"
#include "worker/artifact/artifact.h"
#include "worker/intake/intake.h"
#include "worker/job/hop.h"
#include "worker/journal/journal.h"
#include "worker/model/findings.h"
#include "worker/model/flow.h"
#include "worker/model/metrics.h"
#include "worker/model/request.h"
#include "worker/model/settings.h"
#include "worker/model/status.h"
#include "worker/model/tier.h"
#include "worker/visit/visit.h"

struct uv_loop_s;
struct ing_deliver;
struct ing_grobid;
struct ing_grobid_reading;
struct ing_earlier_result;
struct ing_job_exam;
struct ing_lookup;
struct ing_lookup_question;
struct ing_orders;
struct ing_job_message;
struct ing_job_publication;
struct ing_job_resources;
struct ing_pool;
struct ing_share;
struct ing_shares;
struct ing_rule_stats;

/* A visit beside the first; its struct ing_visit_user says what becomes of it. In the arena of the job's
 * work. */
struct ing_job_visit {
	struct ing_job_visit *next;
	struct ing_visit visit;
	const char *url, *referer;
	bool is_hop; /* it follows a link, or asks for a publication: the request's end may come of it */
};

/* A rule that gave a hop. In the job's arena. */
struct ing_followed {
	struct ing_followed *next;
	const char *rule; /* its name (rule_stats.h) */
};

struct ing_work {
	struct ing_arena ar;
	struct ing_job *job;          /* whose it is */
	struct ing_work *prev, *next; /* those with examinations under way */
	struct ing_request *request;
	const char *start;           /* URL; NULL: base_url is none that could be asked for */
	struct ing_work_clock clock; /* job.deadline_ms */
	struct ing_visit_steps steps;
	struct ing_job_visit *further, **further_end; /* visits beside the first, oldest first */
	struct ing_job_exam *exams;                   /* list: under way */
	unsigned landings;                            /* links followed */
	struct ing_visit_step *terminal; /* the last of the visit that has ended last; or NULL */
	unsigned retry_after_s;          /* for the result; 0: nothing to say */
	/* Arena: the host that has its share of requests in memory already, for which it cannot wait
	 * here. NULL: none. */
	const char *crowded;
	bool dropped_userinfo; /* of a URL on the way */
	bool unverified;       /* a certificate on the way was not verified */
	bool needs_browser;    /* a page on the way can only be read by a browser; at the end */
	enum ing_status status;
	char *error_message; /* arena */
	/* The chain reached a document, if perhaps not of the type that was asked for:
	 * artifact.file is about it. */
	bool document_found;
	struct ing_artifact artifact;
	struct ing_exchange *document;      /* a reference: what GROBID is to read; or NULL */
	struct ing_grobid_reading *reading; /* in DERIVING */
	const struct ing_earlier_result *existing; /* what answers it; NULL: it was fetched */
	struct ing_followed *followed;             /* rules whose links were followed */
	size_t derived_bytes; /* of what was derived of the document: counts against the pipeline's ceiling */
	struct ing_job_resources *resources; /* resource.h; NULL: none are visited */
	struct ing_journal_mark mark;        /* in the crash journal, while it is in a stage */
	bool is_ready;                       /* its delivery waits for its turn, in a list: */
	struct ing_work *prev_ready, *next_ready;
};

#define ING_JOB_MAGIC 0x4a4f4231u

/* All there is of a waiting request, beside its message. */
struct ing_job {
	unsigned magic;
	uint8_t state; /* enum ing_job_state */
	uint8_t lane;  /* enum ing_lane */
	/* It came back from a tier for this host, and has not got there yet: until then it counts
	 * there whatever other hosts it passes. */
	bool reserved;
	bool alone;                  /* it may have killed a process: pipeline_suspects.c */
	struct ing_job *prev, *next; /* all jobs of the partition, oldest first */
	struct ing_pipeline *pipeline;
	struct ing_token token;
	uint64_t accepted_ms; /* ing_now_ms() clock */
	struct ing_visit first;
	struct ing_job_message *message;
	struct ing_lookup_question *question; /* in LOOKING_UP */
	struct ing_share *share;              /* NULL: it counts in no host's */
	struct ing_work *work;
	struct ing_job_publication *publication; /* publication.h; NULL: it is no such job */
};
_Static_assert(sizeof(struct ing_job) <= 232, "a million of them wait"); /* 240 with malloc's */

struct ing_pipeline_conf {
	struct ing_job_settings settings;
	struct ing_publication_settings publication; /* strings are borrowed */
	unsigned weights[ING_LANES_];                /* intake.weight_*; 0: the lane has no topic */
	unsigned max_unacked; /* decided, but not yet delivered: the gate holds beyond */
	/* A request that would be parked for longer for a host that is held, or for another try, ends
	 * instead; 0: none. */
	uint64_t longest_park_ms;
	const char *instance; /* borrowed; NULL: none */
	bool keep_visits;     /* postgres.visits */
	/* Borrowed: topics of the lanes, and of parked requests. NULL: none. */
	const char *lane_topics[ING_LANES_], *tier_topics[ING_TIERS_];
	unsigned pdf_timeout_ms;
	uint64_t max_body_bytes;           /* fetch.max_body_bytes */
	struct ing_rule_stats *rule_stats; /* borrowed; NULL: nobody counts */
};

/* The stages, made by whoever wires. */
struct ing_result_facts;
struct ing_stages {
	struct ing_intake *intake;
	struct ing_visits *visits;
	struct ing_pool *pool;
	struct ing_deliver *deliver;
	struct ing_grobid *grobid;       /* NULL: none is asked */
	struct ing_lookup *lookup;       /* NULL: there is no database */
	struct ing_journal *journal;     /* NULL: none */
	const struct ing_orders *orders; /* NULL: nothing is ordered */
	/* Called when a result is acknowledged. NULL: nobody wants it. */
	void (*on_result)(void *ctx, enum ing_status status, const struct ing_result_facts *facts);
	/* Called when a parked request is in its topic. NULL: nobody wants it. */
	void (*on_parked)(void *ctx, enum ing_tier tier);
	/* Called when a message was unreadable. NULL: nobody wants it. */
	void (*on_dead_letter)(void *ctx, const struct ing_message *m, const struct ing_error *err);
	void *ctx;
	/* Whether only a browser can read the page of a URL, by the rules in use. NULL: nobody knows. */
	bool (*needs_browser)(void *rules_ctx, const char *url, bool is_webpage);
	void *rules_ctx;
};

struct ing_pipeline;
struct ing_pipeline *ing_pipeline_new(struct uv_loop_s *loop, const struct ing_pipeline_conf *conf);
void ing_pipeline_wire(struct ing_pipeline *p,
	const struct ing_stages *stages);       /* copied; before the first message */
void ing_pipeline_free(struct ing_pipeline *p); /* NULL is fine; no job may be left */

/* For struct ing_intake_events. */
void ing_pipeline_on_message(struct ing_pipeline *p, const struct ing_message *m);
void ing_pipeline_on_revoked(struct ing_pipeline *p, int32_t partition_index, uint32_t epoch);

/* The orders have changed (stages.orders). */
void ing_pipeline_on_orders(struct ing_pipeline *p);
/* There is nothing left that could be finished soon: requests that wait for a host which is held, or for an order to
 * end, are none. Looks at all of them. */
bool ing_pipeline_is_drained(struct ing_pipeline *p);

/* Drop what has not been admitted and let the rest finish (first SIGTERM; intake is stopped by the
 * caller). */
void ing_pipeline_drain(struct ing_pipeline *p);
/* Cancel what is left (the drain's bound has passed). Callbacks of threads may still be owed: run
 * the loop until idle. */
void ing_pipeline_cancel(struct ing_pipeline *p);
/* Messages of this lane may be given to it. */
bool ing_pipeline_takes(const struct ing_pipeline *p, enum ing_lane lane);
/* Nothing of a request is under way. Files of robots.txt may be: robots_fetch.h. */
bool ing_pipeline_idle(const struct ing_pipeline *p);
/* A stage is blocked (database, disk, broker): a short word, or NULL. */
const char *ing_pipeline_blocked_by(const struct ing_pipeline *p);
/* Why lanes are not read and no transfers started, as it was at the last look, 100 ms ago at most. */
void ing_pipeline_flow(const struct ing_pipeline *p, struct ing_flow *ret);
/* Where the request of this message is: {"known": false}, or with "state", "state_words", "lane", "age_ms",
 * "urls_asked", "blocked_by" (or null), and "visits" that have not ended: {"url", "host", "for" (robots.txt,
 * host, next try, transfer, worker), "since_ms", "before"}. A new reference. */
struct json_t *ing_pipeline_explain(
	const struct ing_pipeline *p, const char *topic, int32_t partition, int64_t offset);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_pipeline_stats(const struct ing_pipeline *p, struct ing_pipeline_stats *ret);
