/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * status.h - what a running worker does, and what holds it, as JSON (schemas/worker-status.schema.json) and
 * in a sentence: for `ingestctl status`, the status page, the fleet's table and the service manager.
 *
 * Facts in, words out: the engine gathers the facts (worker/engine/engine_status.c). Reads the gate and
 * the recent results, changes nothing. Thread: loop only.
 *
 * What holds a worker is looked for in the order in which it must be mended: an operator's order, what is
 * away, what is full, the hosts themselves. More than one may hold it at a time; all are listed, the
 * first one is "held_by". Nothing holds a worker that has nothing to do.
 */
#pragma once
#include <stdbool.h>
#include <time.h>
#include "common/data/json.h"
#include "worker/model/flow.h"
#include "worker/model/metrics.h"
#include "worker/service/hosts.h"

struct ing_buf;
struct ing_orders;
struct ing_hosts_survey;
struct ing_recent;

enum ing_status_phase {
	ING_PHASE_STARTING, /* no assignment of partitions yet */
	ING_PHASE_RUNNING,
	ING_PHASE_PAUSED,   /* by order: starts no transfer, keeps its partitions */
	ING_PHASE_DRAINING, /* by order: takes no message, finishes what it has */
	ING_PHASE_DRAINED,  /* has given its partitions to the others */
	ING_PHASE_STOPPING,
};
const char *ing_status_phase_name(enum ing_status_phase phase); /* "running" */

/* What a worker cannot work without. */
enum ing_status_need {
	ING_NEEDS_DATABASE,
	ING_NEEDS_DISK,
	ING_NEEDS_OBJECTS, /* the object store */
	ING_NEEDS_BROKER,
	ING_NEEDS_GROBID,
	ING_NEEDS_
};

struct ing_status_away {
	bool is;
	uint64_t ms;     /* so far */
	char words[400]; /* why, as far as is known; "": nobody knows */
};

/* All borrowed. */
struct ing_status_facts {
	const char *instance, *version, *machine;
	const char *rules_digest; /* hex; NULL: not known */
	long pid;
	enum ing_status_phase phase;
	bool has_partitions;          /* of Kafka; else it works through a file */
	struct timespec now, started; /* UTC */
	uint64_t now_ms, started_ms;  /* ing_now_ms() */
	const struct ing_metrics *metrics;
	const struct ing_flow *flow;
	struct ing_status_away away[ING_NEEDS_];
	const struct ing_orders *orders; /* NULL: nothing is ordered */
	const struct ing_recent *recent;
	const struct ing_hosts_sources *hosts;
	/* How the hosts are; NULL: nobody has looked. */
	const struct ing_hosts_survey *survey;
	const char *lane_topics[ING_LANES_]; /* NULL: not configured */
	unsigned concurrency;                /* gate.concurrency */
	uint64_t disk_stop_bytes;            /* disk.stop_bytes */
	unsigned loop_percent; /* of a core, that the loop has taken in the last seconds */
};

enum {
	ING_SHOW_HOSTS = 1,   /* the hosts of the survey */
	ING_SHOW_HISTORY = 2, /* the last hour's minutes and failures */
	ING_SHOW_ALL = 3,
};

/* New reference. parts: of the above; without any it has about 2 KiB. */
json_t *ing_status_json(const struct ing_status_facts *f, unsigned parts);
/* Append what holds the worker, as a plain sentence without a full stop. Returns false, and appends nothing,
 * when nothing does. */
bool ing_status_held_by(const struct ing_status_facts *f, struct ing_buf *out);
