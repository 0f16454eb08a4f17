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
#include "worker/model/job_state.h"
#include "worker/model/lane.h"
#include "worker/model/status.h"
#include "worker/model/tier.h"

struct ing_buf;

/* Closed sets of labels, and how many values each has. */
enum ing_metric_set {
	ING_METRIC_SINGLE,    /* no set: one number */
	ING_METRIC_STATUS,    /* status="SLUG" of enum ing_status */
	ING_METRIC_JOB_STATE, /* state="LABEL" of enum ing_job_state */
	ING_METRIC_LANE,      /* lane="NAME" of enum ing_lane */
	ING_METRIC_TIER,      /* tier="NAME" of enum ing_tier */
	/* le="BOUND" of a histogram's buckets, the last of which has no bound. */
	ING_METRIC_TURN_TIME, /* CPU time of a turn in us, by powers of two up to 4 s */
	ING_METRIC_DURATION,  /* us, from a millisecond to a day */
	ING_METRIC_SIZE,      /* bytes, from 1 KiB to 256 MiB */
};
#define ING_METRIC_COUNT_STATUS ING_STATUS_COUNT_
#define ING_METRIC_COUNT_JOB_STATE ING_JOB_STATES_
#define ING_METRIC_COUNT_LANE ING_LANES_
#define ING_METRIC_COUNT_TIER ING_TIERS_
#define ING_METRIC_COUNT_TURN_TIME 24
#define ING_METRIC_COUNT_DURATION 21
#define ING_METRIC_COUNT_SIZE 11

/* struct ing_pipeline_stats, ing_fetch_stats and so on: a member for each row. */
#define ROOM(room, files) struct ing_##room##_stats {
#define METRIC(room, member, kind, unit, line, name, label, help) uint64_t member;
#define METRIC_SET(room, member, kind, unit, set, line, name, help)                                \
	uint64_t member[ING_METRIC_COUNT_##set];
/* The buckets, not cumulative, and behind them the sum of what was added. */
#define METRIC_HISTOGRAM(room, member, unit, bounds, line, name, label, help)                      \
	uint64_t member[ING_METRIC_COUNT_##bounds + 1];
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
	unsigned count;     /* of values; 1 without a set; of a histogram its buckets */
	enum ing_metric_kind kind;
	enum ing_metric_unit unit; /* of the member; the name has the base unit */
	enum ing_metric_set set;
	const char *line; /* path in the exit line; NULL: not in it */
	bool line_in_seconds;
	const char *name;
	const char *label; /* key="value", fixed; "" without one */
	const char *help;
};

/* The rows, in the order of metrics.def; NULL when there is no i-th. */
const struct ing_metric *ing_metric(size_t i);

/* Count a value in a histogram, a member of a struct above, whose bounds are these. */
void ing_histogram_add(uint64_t *histogram, enum ing_metric_set bounds, uint64_t value);
/* The same on another thread than the one that reads them: beside the struct, with as many members. */
void ing_histogram_add_shared(
	_Atomic uint64_t *histogram, enum ing_metric_set bounds, uint64_t value);
/* The largest value that the i-th bucket can have, which is not the last. */
uint64_t ing_histogram_bound(enum ing_metric_set bounds, unsigned i);
void ing_histogram_read_shared(
	uint64_t *ret, const _Atomic uint64_t *histogram, enum ing_metric_set bounds);

/* The values of a row, m->count of them, and behind them the sum of a histogram; borrowed from
 * *from. Buckets of a histogram are not cumulative. */
const uint64_t *ing_metric_values(const struct ing_metric *m, const struct ing_metrics *from);
/* A value in the base unit (bytes, seconds). */
double ing_metric_in_base_unit(const struct ing_metric *m, uint64_t value);
/* The i-th value of a set of names (status, state, lane, tier); static. */
const char *ing_metric_slug(const struct ing_metric *m, unsigned i);
/* A value in the base unit, exactly, appended to out. */
void ing_metric_add_number(const struct ing_metric *m, uint64_t value, struct ing_buf *out);
/* The labels of the i-th value as Prometheus has them, key="value" and commas between, appended to
 * out; nothing when the row has none. No value of a closed set needs escaping. A histogram's bound is
 * the largest value that its bucket can have, or +Inf. */
void ing_metric_add_labels(const struct ing_metric *m, unsigned i, struct ing_buf *out);

enum ing_metrics_format {
	ING_METRICS_PROMETHEUS,  /* text/plain; version=0.0.4 */
	ING_METRICS_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
};
/* All rows, those of a name together, in the order of metrics.def, appended to out. Rooms that are
 * absent are left out. */
void ing_metrics_add_text(
	const struct ing_metrics *from, enum ing_metrics_format format, struct ing_buf *out);

/* The exit line: all rows that belong in it as one line of JSON, heap, caller frees. Of a set it
 * has an object of the values that are not 0, of a histogram an array of its buckets. */
char *ing_metrics_line(const struct ing_metrics *from);
/* The numbers of the status line, appended to out. */
void ing_metrics_add_status(
	const struct ing_metrics *from, uint64_t results_per_second, struct ing_buf *out);
