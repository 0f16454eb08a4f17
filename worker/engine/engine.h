/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * engine.h - the stages on their loop, built from the configuration; for the daemon and for
 * `ingestctl run`.
 *
 * Owns: the loop, the stages and everything between them, the control socket, the file of the rule
 * statistics. The caller opens intake, emit and store (`outside`), has them joined with the rest
 * (ing_engine_wire()) and runs the loop; the engine frees them. Thread: the one that made it, which
 * becomes the loop thread.
 */
#pragma once
#include <uv.h>
#include "common/base/error.h"
#include "worker/model/settings.h"
#include "worker/model/status.h"
#include "worker/model/tier.h"
#include "worker/engine/ruleset.h"
#include "worker/service/hosts_survey.h"
#include "worker/service/status.h"

struct ing_cdx;
struct ing_result_facts;
struct ing_conf;
struct ing_emit;
struct ing_fleet;
struct ing_grobid;
struct ing_intake;
struct ing_journal;
struct ing_message;
struct ing_mailbox;
struct ing_metrics;
struct ing_orders;
struct ing_originals;
struct ing_recent;
struct ing_store;

#define ING_ENGINE_CANCEL_MS 5000 /* for threads to give back what was cancelled */

enum ing_engine_sharing {
	ING_ENGINE_ALONE, /* no database: this process alone decides when a host may be asked */
	/* Lines of a file with postgres.dsn: hosts are leased, rows kept, requests answered by them. */
	ING_ENGINE_KEEPING,
	ING_ENGINE_SHARED, /* hosts are leased through postgres.dsn, if that is set */
};

/* What the caller adds; owned by the engine once it is set. worker/job/job.h and
 * worker/deliver/deliver.h say when the functions are called; each may be NULL. */
struct ing_engine_outside {
	struct ing_intake *intake;
	struct ing_store *store; /* NULL: no database */
	struct ing_emit *emit;
	struct ing_journal *journal; /* borrowed; NULL: none */
	void (*on_cdx)(void *ctx, const struct ing_cdx *line);
	void (*on_result)(void *ctx, enum ing_status status, const struct ing_result_facts *facts);
	void (*on_parked)(void *ctx, enum ing_tier tier);
	void (*on_dead_letter)(void *ctx, const struct ing_message *m, const struct ing_error *err);
	void (*on_reloaded)(void *ctx); /* a reload has ended, with or without success */
	void *ctx;
	const char *output; /* what emit writes to, for messages about it; NULL: "broker" */
};

struct ing_engine {
	uv_loop_t loop;
	const struct ing_conf *conf; /* borrowed; must outlive the engine */
	bool shared;                 /* ING_ENGINE_SHARED: of a worker, with its topics and lanes */
	bool keeping;
	struct ing_turns *turns;
	struct ing_ruleset rules;
	struct ing_rule_stats *rule_stats;
	struct ing_blocked_hosts *blocks;
	struct ing_orders *orders;
	struct ing_fleet *fleet;   /* NULL: there is no database, or this is no worker */
	struct ing_leases *leases; /* NULL: hosts are not shared */
	struct ing_lookup *lookup; /* NULL: there is no database */
	struct ing_fetch *fetch;
	struct ing_gate *gate;
	struct ing_originals *originals; /* NULL: no revisit records */
	struct ing_visits *visits;
	struct ing_robots *robots;
	struct ing_robots_fetches *robots_fetches;
	struct ing_archive *archive;
	struct ing_disk *disk;
	struct ing_objects *objects; /* NULL: there is no object store */
	struct ing_pool *pool;
	struct ing_grobid *grobid; /* NULL: none is asked */
	struct ing_deliver *deliver;
	struct ing_pipeline *pipeline;
	struct ing_engine_outside outside;

	/* engine_keys.c */
	struct ing_publication_settings publication; /* with the keys below */
	char *ncbi_api_key, *openalex_api_key;
	/* engine_parts.c */
	uv_work_t pool_start; /* empty: makes libuv start its threads */
	/* engine_stop.c */
	uv_timer_t stop_timer;
	uint64_t stop_by_ms; /* 0: no limit */
	bool cancelled;
	/* engine_rules.c */
	struct ing_ruleset next_rules; /* during a reload: loaded, not in use yet */
	bool reloading, reload_again;
	char *rule_stats_path; /* NULL: not written */
	uv_timer_t rule_stats_timer;
	/* engine_status.c */
	enum ing_status_phase phase;
	struct timespec started; /* UTC */
	uint64_t started_ms;
	struct ing_recent *recent;
	char *lane_topics[ING_LANES_]; /* heap; NULL: none */
	struct ing_engine_loop_share {
		uint64_t at_ms, cpu_us;
		unsigned percent;
	} loop_share;
	struct ing_hosts_survey survey;     /* at_ms 0: none yet */
	uint64_t away_since_ms[ING_NEEDS_]; /* 0: it is not away; engine_away.c */
	/* engine_orders.c */
	uv_timer_t drain_timer; /* while the instance is drained */
	int obeyed;             /* enum ing_order_action, of the instance; 0: none */
	struct ing_engine_order_file *order_file; /* engine_order_file.c; NULL: not kept */
	bool leaving; /* it has finished what it had, and leaves the group or has left */
	/* engine_publish.c */
	uint64_t publish_cpu_ns;
	/* engine_control.c */
	struct ing_control *control;
	const char *control_name;
};

/* Creates missing folders (spool.dir, warc.dir). On failure nothing is left behind. */
int ing_engine_init(struct ing_engine *e, const struct ing_conf *conf,
	enum ing_engine_sharing sharing, struct ing_error *err) ING_MUST_CHECK;
/* Nothing may be under way (ing_engine_idle()). Runs the loop until its handles are closed. Done
 * twice is fine. */
void ing_engine_done(struct ing_engine *e);
/* Instead of done, when something under way will never end: commits finished offsets and returns
 * the leases of hosts with what is known of them. The process must exit then. */
void ing_engine_abandon(struct ing_engine *e);

/* Join the stages with one another and with e->outside. Before the first message. */
void ing_engine_wire(struct ing_engine *e);
/* Run the loop until it is stopped, measure its turns (service/turn.h), and write the rule
 * statistics at the end. */
void ing_engine_run(struct ing_engine *e);
/* No request and no robots.txt is under way. */
bool ing_engine_idle(const struct ing_engine *e);

/* The input has ended: end the loop as soon as everything is finished and written. */
void ing_engine_finish(struct ing_engine *e);
/* Take no more messages, drop what waits for a host, and end the loop when the rest is finished. What
 * is not within drain_ms is cancelled; ING_ENGINE_CANCEL_MS later the loop ends in any case. Called
 * again, the earlier end counts. */
void ing_engine_stop(struct ing_engine *e, unsigned drain_ms);

/* Read the rule files again. Valid rules replace the current ones as a whole: URL rules at once,
 * those of examiners as ing_pool_reload() says. Errors are logged, each of them, and the current
 * rules stay. A reload requested during another one follows it. */
void ing_engine_reload_rules(struct ing_engine *e);
/* Write the rule statistics (worker/rules/rule_stats.h) into a file at the end, and, unless it is
 * 0, every every_ms. A failure is logged. */
void ing_engine_keep_rule_stats(struct ing_engine *e, const char *path, unsigned every_ms);

/* Shown by the status. STARTING until it is set. */
void ing_engine_set_phase(struct ing_engine *e, enum ing_status_phase phase);
/* What this process does and what holds it (service/status.h), of the parts ING_STATUS_…; a new reference. After
 * ing_engine_wire(). */
json_t *ing_engine_status(struct ing_engine *e, unsigned parts);
/* A line of the log, by log.requests. */
void ing_engine_log_result(
	const struct ing_engine *e, enum ing_status status, const struct ing_result_facts *facts);
void ing_engine_log_dead_letter(
	const struct ing_engine *e, const struct ing_message *m, const struct ing_error *err);

/* Append what holds it; false: nothing does. */
bool ing_engine_held_by(struct ing_engine *e, struct ing_buf *out);

/* Read the order that the last process was told by its control socket, if it is in force still, and keep what
 * this one is told in the same file. Before ing_engine_wire(). */
void ing_engine_keep_order(struct ing_engine *e, const char *path);
/* Listen for requests of `ingestctl status` and `ingestctl hosts` (service/control.h); name: what answers call this
 * process, borrowed. */
int ing_engine_open_control(struct ing_engine *e, const char *path, const char *name,
	struct ing_error *err) ING_MUST_CHECK;

/* By an operator's order it has left the group, or has not joined it. */
bool ing_engine_is_drained(const struct ing_engine *e);

/* The metrics of every stage, as they are now (worker/model/metrics.h). After ing_engine_wire(). */
void ing_engine_metrics(const struct ing_engine *e, struct ing_metrics *ret);

/* What the engine does not know of a worker by itself. */
struct ing_engine_phase {
	bool assigned; /* partitions were assigned, if only an empty set */
	bool stopping;
};
/* Put the worker's state into a mailbox of struct ing_snapshot (service/snapshot.h), for another
 * thread. metrics: of this moment. */
void ing_engine_publish(struct ing_engine *e, struct ing_engine_phase phase,
	const struct ing_metrics *metrics, struct ing_mailbox *to);
