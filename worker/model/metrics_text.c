/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The metrics in the two text formats of Prometheus. They differ in the name that a counter's lines
 * of HELP and TYPE have, in the lines of UNIT and in how the text ends; what a sample is called is
 * the same, so that queries do not depend on what was scraped.
 */
#include <inttypes.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "worker/model/metrics.h"

#define TOTAL "_total"

static bool has_row_before(size_t row)
{
	const struct ing_metric *m = ing_metric(row);
	for (size_t i = 0; i < row; i++)
		if (strcmp(ing_metric(i)->name, m->name) == 0)
			return true;
	return false;
}

static int family_length(const struct ing_metric *m, enum ing_metrics_format format)
{
	size_t bytes = strlen(m->name);
	if (format == ING_METRICS_OPENMETRICS && m->kind == ING_METRIC_COUNTER)
		bytes -= strlen(TOTAL);
	return (int)bytes;
}

static const char *unit_of(const struct ing_metric *m)
{
	switch (m->unit) {
	case ING_METRIC_NUMBER:
		break;
	case ING_METRIC_BYTES:
		return "bytes";
	case ING_METRIC_MS:
	case ING_METRIC_US:
	case ING_METRIC_NS:
		return "seconds";
	}
	return NULL;
}

static void add_head(
	const struct ing_metric *m, enum ing_metrics_format format, struct ing_buf *out)
{
	static const char *const types[] = {
		[ING_METRIC_COUNTER] = "counter",
		[ING_METRIC_GAUGE] = "gauge",
		[ING_METRIC_HISTOGRAM] = "histogram",
	};
	int bytes = family_length(m, format);
	const char *unit = unit_of(m);
	ing_buf_printf(out, "# HELP %.*s %s\n# TYPE %.*s %s\n", bytes, m->name, m->help, bytes,
		m->name, types[m->kind]);
	if (format == ING_METRICS_OPENMETRICS && unit != NULL)
		ing_buf_printf(out, "# UNIT %.*s %s\n", bytes, m->name, unit);
}

/* A sample up to its number. i: of the value whose labels it has; -1: the fixed label alone. */
static void begin_sample(const struct ing_metric *m, const char *suffix, int i, struct ing_buf *out)
{
	bool of_set = i >= 0 && m->set != ING_METRIC_SINGLE;
	ing_buf_printf(out, "%s%s", m->name, suffix);
	if (of_set || m->label[0] != '\0') {
		ing_buf_add_char(out, '{');
		if (of_set)
			ing_metric_add_labels(m, (unsigned)i, out);
		else
			ing_buf_add_str(out, m->label);
		ing_buf_add_char(out, '}');
	}
	ing_buf_add_char(out, ' ');
}

static void add_value(
	const struct ing_metric *m, const char *suffix, int i, uint64_t value, struct ing_buf *out)
{
	begin_sample(m, suffix, i, out);
	ing_metric_add_number(m, value, out);
	ing_buf_add_char(out, '\n');
}

static void add_count(
	const struct ing_metric *m, const char *suffix, int i, uint64_t count, struct ing_buf *out)
{
	begin_sample(m, suffix, i, out);
	ing_buf_printf(out, "%" PRIu64 "\n", count);
}

static void add_histogram(const struct ing_metric *m, const uint64_t *values, struct ing_buf *out)
{
	uint64_t count = 0;
	for (unsigned i = 0; i < m->count; i++) {
		count += values[i];
		add_count(m, "_bucket", (int)i, count, out);
	}
	add_value(m, "_sum", -1, values[m->count], out);
	add_count(m, "_count", -1, count, out);
}

static void add_row(const struct ing_metric *m, const struct ing_metrics *from, struct ing_buf *out)
{
	const uint64_t *values = ing_metric_values(m, from);
	if (m->kind == ING_METRIC_HISTOGRAM) {
		add_histogram(m, values, out);
		return;
	}
	for (unsigned i = 0; i < m->count; i++)
		add_value(m, "", (int)i, values[i], out);
}

/* The row and all behind it that share its name. */
static void add_family(const struct ing_metrics *from, size_t row, enum ing_metrics_format format,
	struct ing_buf *out)
{
	const struct ing_metric *first = ing_metric(row), *m;
	bool begun = false;
	for (size_t i = row; (m = ing_metric(i)) != NULL; i++) {
		if (from->absent[m->room] || strcmp(m->name, first->name) != 0)
			continue;
		if (!begun)
			add_head(m, format, out);
		begun = true;
		add_row(m, from, out);
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_metrics_add_text(
	const struct ing_metrics *from, enum ing_metrics_format format, struct ing_buf *out)
{
	for (size_t i = 0; ing_metric(i) != NULL; i++)
		if (!has_row_before(i))
			add_family(from, i, format, out);
	if (format == ING_METRICS_OPENMETRICS)
		ing_buf_add_str(out, "# EOF\n");
}
