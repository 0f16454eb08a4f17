/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * metrics.def as an array.
 */
#include "worker/model/metrics.h"

#include "common/base/buf.h"
#include "common/base/macros.h"

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
#include "worker/model/metrics.def"
};

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
	switch (m->unit) {
	case ING_METRIC_MS:
		return (double)value / 1e3;
	case ING_METRIC_US:
		return (double)value / 1e6;
	case ING_METRIC_NS:
		return (double)value / 1e9;
	case ING_METRIC_NUMBER:
	case ING_METRIC_BYTES:
		break;
	}
	return (double)value;
}

const char *ing_metric_slug(const struct ing_metric *m, unsigned i)
{
	ing_must(i < m->count);
	ing_must(m->set == ING_METRIC_STATUS || m->set == ING_METRIC_JOB_STATE);
	return m->set == ING_METRIC_STATUS ? ing_status_slug((enum ing_status)i)
					   : ing_job_state_label((enum ing_job_state)i);
}

void ing_metric_add_label(const struct ing_metric *m, unsigned i, struct ing_buf *out)
{
	ing_must(i < m->count);
	switch (m->set) {
	case ING_METRIC_SINGLE:
		ing_buf_add_str(out, m->label);
		break;
	case ING_METRIC_STATUS:
		ing_buf_printf(out, "status=\"%s\"", ing_metric_slug(m, i));
		break;
	case ING_METRIC_JOB_STATE:
		ing_buf_printf(out, "state=\"%s\"", ing_metric_slug(m, i));
		break;
	case ING_METRIC_TURN_TIME:
		if (i + 1 == m->count)
			ing_buf_add_str(out, "le=\"+Inf\"");
		else
			ing_buf_printf(out, "le=\"%.6f\"",
				ing_metric_in_base_unit(m, (UINT64_C(1) << i) - 1));
		break;
	}
}
