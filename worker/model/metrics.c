/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * metrics.def as an array.
 */
#include "worker/model/metrics.h"

#include <inttypes.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "worker/model/version.h"

#define LINE(path) .line = (path)
#define LINE_SECONDS(path) .line = (path), .line_in_seconds = true
#define NOT_IN_LINE .line = NULL
#define LABEL(key, value) #key "=\"" value "\""
#define NO_LABEL ""

static const struct ing_metric rows[] = {
#define METRIC(room_, member_, kind_, unit_, line_, name_, label_, help_)                          \
	{                                                                                          \
		.room = ING_METRIC_ROOM_##room_,                                                   \
		.source = #room_ "." #member_,                                                     \
		.offset = offsetof(struct ing_metrics, room_.member_),                             \
		.count = 1,                                                                        \
		.kind = ING_METRIC_##kind_,                                                        \
		.unit = ING_METRIC_##unit_,                                                        \
		.set = ING_METRIC_SINGLE,                                                          \
		line_,                                                                             \
		.name = (name_),                                                                   \
		.label = (label_),                                                                 \
		.help = (help_),                                                                   \
	},
#define METRIC_SET(room_, member_, kind_, unit_, set_, line_, name_, help_)                        \
	{                                                                                          \
		.room = ING_METRIC_ROOM_##room_,                                                   \
		.source = #room_ "." #member_,                                                     \
		.offset = offsetof(struct ing_metrics, room_.member_),                             \
		.count = ING_METRIC_COUNT_##set_,                                                  \
		.kind = ING_METRIC_##kind_,                                                        \
		.unit = ING_METRIC_##unit_,                                                        \
		.set = ING_METRIC_##set_,                                                          \
		line_,                                                                             \
		.name = (name_),                                                                   \
		.label = "",                                                                       \
		.help = (help_),                                                                   \
	},
#define METRIC_HISTOGRAM(room_, member_, unit_, bounds_, line_, name_, label_, help_)              \
	{                                                                                          \
		.room = ING_METRIC_ROOM_##room_,                                                   \
		.source = #room_ "." #member_,                                                     \
		.offset = offsetof(struct ing_metrics, room_.member_),                             \
		.count = ING_METRIC_COUNT_##bounds_,                                               \
		.kind = ING_METRIC_HISTOGRAM,                                                      \
		.unit = ING_METRIC_##unit_,                                                        \
		.set = ING_METRIC_##bounds_,                                                       \
		line_,                                                                             \
		.name = (name_),                                                                   \
		.label = (label_),                                                                 \
		.help = (help_),                                                                   \
	},
#include "worker/model/metrics.def"
};

static const char *key_of(enum ing_metric_set set)
{
	switch (set) {
	case ING_METRIC_STATUS:
		return "status";
	case ING_METRIC_JOB_STATE:
		return "state";
	case ING_METRIC_LANE:
		return "lane";
	case ING_METRIC_TIER:
		return "tier";
	case ING_METRIC_SINGLE:
	case ING_METRIC_TURN_TIME:
	case ING_METRIC_DURATION:
	case ING_METRIC_SIZE:
		break;
	}
	return "";
}

/* NULL: the values of the set have no names. */
static const char *slug_of(enum ing_metric_set set, unsigned i)
{
	switch (set) {
	case ING_METRIC_STATUS:
		return ing_status_slug((enum ing_status)i);
	case ING_METRIC_JOB_STATE:
		return ing_job_state_label((enum ing_job_state)i);
	case ING_METRIC_LANE:
		return ing_lane_name((enum ing_lane)i);
	case ING_METRIC_TIER:
		return ing_tier_name((enum ing_tier)i);
	case ING_METRIC_SINGLE:
	case ING_METRIC_TURN_TIME:
	case ING_METRIC_DURATION:
	case ING_METRIC_SIZE:
		break;
	}
	return NULL;
}

static uint64_t per_base_unit(const struct ing_metric *m)
{
	switch (m->unit) {
	case ING_METRIC_MS:
		return 1000;
	case ING_METRIC_US:
		return 1000000;
	case ING_METRIC_NS:
		return 1000000000;
	case ING_METRIC_NUMBER:
	case ING_METRIC_BYTES:
		break;
	}
	return 1;
}

static void add_bound(const struct ing_metric *m, unsigned i, struct ing_buf *out)
{
	if (i + 1 == m->count) {
		ing_buf_add_str(out, "le=\"+Inf\"");
		return;
	}
	uint64_t bound = ing_histogram_bound(m->set, i);
	ing_buf_add_str(out, "le=\"");
	ing_metric_add_number(m, bound, out);
	/* In OpenMetrics these are floating point numbers, which shows. */
	ing_buf_add_str(out, bound % per_base_unit(m) == 0 ? ".0\"" : "\"");
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_metric *ing_metric(size_t i)
{
	return i < ING_ARRAY_LEN(rows) ? &rows[i] : NULL;
}

const uint64_t *ing_metric_values(const struct ing_metric *m, const struct ing_metrics *from)
{
	return (const uint64_t *)(const void *)((const char *)from + m->offset);
}

double ing_metric_in_base_unit(const struct ing_metric *m, uint64_t value)
{
	return (double)value / (double)per_base_unit(m);
}

const char *ing_metric_slug(const struct ing_metric *m, unsigned i)
{
	ing_must(i < m->count);
	const char *slug = slug_of(m->set, i);
	ing_must(slug != NULL);
	return slug;
}

void ing_metric_add_number(const struct ing_metric *m, uint64_t value, struct ing_buf *out)
{
	uint64_t per_unit = per_base_unit(m);
	ing_buf_printf(out, "%" PRIu64, value / per_unit);
	uint64_t rest = value % per_unit;
	if (rest == 0)
		return;
	ing_buf_add_char(out, '.');
	for (per_unit /= 10; rest > 0; per_unit /= 10) {
		ing_buf_add_char(out, (char)('0' + rest / per_unit));
		rest %= per_unit;
	}
}

void ing_metric_add_labels(const struct ing_metric *m, unsigned i, struct ing_buf *out)
{
	ing_must(i < m->count);
	ing_buf_add_str(out, m->label);
	if (m->label[0] != '\0' && m->set != ING_METRIC_SINGLE)
		ing_buf_add_char(out, ',');
	if (m->kind == ING_METRIC_HISTOGRAM)
		add_bound(m, i, out);
	else if (m->set != ING_METRIC_SINGLE)
		ing_buf_printf(out, "%s=\"%s\"", key_of(m->set), slug_of(m->set, i));
}
