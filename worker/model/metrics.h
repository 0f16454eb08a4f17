/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * metrics.h - what the worker counts and measures (metrics.def): the stages' structs of counters,
 * all of them together, and the table that describes every number.
 *
 * A stage has its struct ing_ROOM_stats from here, counts in it (or beside it, when another thread
 * counts) and fills it in its stats function. The engine gathers all of them
 * (ing_engine_metrics()). Plain data and pure functions; any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/status.h"
#include "worker/model/job_state.h"

struct ing_buf;

/* Of a turn's CPU time: bucket i has the turns of less than 2^i us that are in no earlier one; the
 * last has all turns of over four seconds. */
#define ING_TURN_BUCKETS 24

/* Closed sets of labels, and how many values each has. */
enum ing_metric_set {
	ING_METRIC_SINGLE,    /* no set: one number */
	ING_METRIC_STATUS,    /* status="SLUG" of enum ing_status */
	ING_METRIC_JOB_STATE, /* state="LABEL" of enum ing_job_state */
	ING_METRIC_TURN_TIME, /* le="SECONDS" of a bucket */
};
#define ING_METRIC_COUNT_STATUS ING_STATUS_COUNT_
#define ING_METRIC_COUNT_JOB_STATE ING_JOB_STATES_
#define ING_METRIC_COUNT_TURN_TIME ING_TURN_BUCKETS

/* struct ing_pipeline_stats, ing_fetch_stats and so on: a member for each row. */
#define ROOM(room, files) struct ing_##room##_stats {
#define METRIC(room, member, kind, unit, line, name, label, help) uint64_t member;
#define METRIC_SET(room, member, kind, unit, set, line, name, help)                                \
	uint64_t member[ING_METRIC_COUNT_##set];
/* clang-format off */
#define ROOM_END(room) };
/* clang-format on */
#include "worker/model/metrics.def"

enum ing_metric_room {
#define ROOM(room, files) ING_METRIC_ROOM_##room,
#include "worker/model/metrics.def"
	ING_METRIC_ROOMS_
};

struct ing_metrics {
#define ROOM(room, files) struct ing_##room##_stats room;
#include "worker/model/metrics.def"
	bool absent[ING_METRIC_ROOMS_]; /* this worker has no such stage: nothing is shown of it */
};

enum ing_metric_kind { ING_METRIC_COUNTER, ING_METRIC_GAUGE, ING_METRIC_HISTOGRAM };
enum ing_metric_unit {
	ING_METRIC_NUMBER,
	ING_METRIC_BYTES,
	ING_METRIC_MS,
	ING_METRIC_US,
	ING_METRIC_NS
};

/* A row of the table. All strings are static. */
struct ing_metric {
	enum ing_metric_room room;
	const char *source; /* "room.member" */
	size_t offset;      /* of the member in struct ing_metrics */
	unsigned count;     /* of values; 1 without a set */
	enum ing_metric_kind kind;
	enum ing_metric_unit unit; /* of the member; the name has the base unit */
	enum ing_metric_set set;
	const char *line; /* path in the exit line; NULL: not in it */
	bool line_in_seconds;
	const char *name;
	const char *label; /* key="value", fixed; "" without, and with a set */
	const char *help;
};

/* The rows, in the order of metrics.def; NULL when there is no i-th. */
const struct ing_metric *ing_metric(size_t i);

/* The values of a row, m->count of them; borrowed from *from. Buckets of a histogram are not
 * cumulative. */
const uint64_t *ing_metric_values(const struct ing_metric *m, const struct ing_metrics *from);
/* A value in the base unit (bytes, seconds). */
double ing_metric_in_base_unit(const struct ing_metric *m, uint64_t value);
/* The i-th value of a set of names (status, state); static. */
const char *ing_metric_slug(const struct ing_metric *m, unsigned i);
/* The label of the i-th value as OpenMetrics has it, key="value", appended to out; nothing when the
 * row has none. No value of a closed set needs escaping. A histogram's bound is the largest value
 * that its bucket can have, or +Inf. */
void ing_metric_add_label(const struct ing_metric *m, unsigned i, struct ing_buf *out);

/* The exit line: all rows that belong in it as one line of JSON, heap, caller frees. Of a set it
 * has an object of the values that are not 0, of a histogram an array of its buckets. */
char *ing_metrics_line(const struct ing_metrics *from);
/* The numbers of the status line, appended to out. */
void ing_metrics_add_status(
	const struct ing_metrics *from, uint64_t results_per_second, struct ing_buf *out);
