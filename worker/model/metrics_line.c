/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The exit line and the status line, made from the metrics.
 */
#include <inttypes.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/data/json.h"
#include "worker/model/metrics.h"

static json_t *number(const struct ing_metric *m, uint64_t value)
{
	return m->line_in_seconds ? json_real(ing_metric_in_base_unit(m, value))
				  : json_integer((json_int_t)value);
}

static json_t *by_slug(const struct ing_metric *m, const uint64_t *values)
{
	json_t *o = json_object();
	for (unsigned i = 0; i < m->count; i++)
		if (values[i] > 0)
			ing_json_set(o, ing_metric_slug(m, i), number(m, values[i]));
	return o;
}

static json_t *in_line(const struct ing_metric *m, const uint64_t *values)
{
	if (m->set == ING_METRIC_SINGLE)
		return number(m, values[0]);
	if (m->kind != ING_METRIC_HISTOGRAM)
		return by_slug(m, values);
	json_t *buckets = json_array();
	for (unsigned i = 0; i < m->count; i++)
		ing_json_append(buckets, number(m, values[i]));
	return buckets;
}

/* path: "key" or "object.key". */
static void put(json_t *line, const char *path, json_t *value)
{
	const char *dot = strchr(path, '.');
	if (dot == NULL) {
		ing_json_set(line, path, value);
		return;
	}
	char name[64];
	int bytes = snprintf(name, sizeof(name), "%.*s", (int)(dot - path), path);
	ing_must(bytes > 0 && (size_t)bytes < sizeof(name));
	json_t *object = json_object_get(line, name);
	if (object == NULL) {
		object = json_object();
		ing_json_set(line, name, object);
	}
	ing_json_set(object, dot + 1, value);
}

/* -------------------------------------------------------------------------------------------- */

char *ing_metrics_line(const struct ing_metrics *from)
{
	json_t *line = json_object();
	const struct ing_metric *m;
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++)
		if (m->line != NULL && !from->absent[m->room])
			put(line, m->line, in_line(m, ing_metric_values(m, from)));
	char *text = ing_json_dump_rounded(line, 9);
	json_decref(line);
	return text;
}

void ing_metrics_add_status(
	const struct ing_metrics *from, uint64_t results_per_second, struct ing_buf *out)
{
	ing_buf_printf(out,
		"%" PRIu64 " results (%" PRIu64 "/s), %" PRIu64 " requests at hand, %" PRIu64
		" transfers, oldest %" PRIu64 " s",
		from->deliver.results, results_per_second, from->pipeline.jobs, from->gate.holding,
		from->pipeline.oldest_ms / 1000);
	const struct ing_intake_stats *in = &from->intake;
	if (in->partitions_held > 0)
		ing_buf_printf(out,
			", %" PRIu64 " partitions held because of their maps "
			"(ingestctl positions show)",
			in->partitions_held);
	if (in->partitions_starting > 0)
		ing_buf_printf(
			out, ", %" PRIu64 " partitions not read yet", in->partitions_starting);
	if (in->partitions_full > 0)
		ing_buf_printf(out, ", %" PRIu64 " partitions wait for unfinished requests",
			in->partitions_full);
}
