/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of metrics, and what is made from it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/data/json.h"
#include "worker/model/metrics.h"

static bool begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool ends(const char *s, const char *with)
{
	size_t bytes = strlen(s), want = strlen(with);
	return bytes >= want && strcmp(s + bytes - want, with) == 0;
}

static bool is_time(const struct ing_metric *m)
{
	return m->unit == ING_METRIC_MS || m->unit == ING_METRIC_US || m->unit == ING_METRIC_NS;
}

/* With the sum of a histogram. */
static unsigned numbers_of(const struct ing_metric *m)
{
	return m->count + (m->kind == ING_METRIC_HISTOGRAM ? 1 : 0);
}

/* Every value its own: the first of a row is 1000 times the row's number, counted from 1. */
static void number_all(struct ing_metrics *v)
{
	const struct ing_metric *m;
	*v = (struct ing_metrics){0};
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++) {
		uint64_t *values = (uint64_t *)(void *)((char *)v + m->offset);
		for (unsigned j = 0; j < numbers_of(m); j++)
			values[j] = (i + 1) * 1000 + j;
	}
}

/* --- the table --- */

static void test_every_member_of_a_stage_has_one_row(void **state)
{
	(void)state;
	struct ing_metrics v = {0};
	const struct ing_metric *m;
	size_t members = offsetof(struct ing_metrics, absent) / sizeof(uint64_t);
	size_t rows = 0;
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++) {
		uint64_t *values = (uint64_t *)(void *)((char *)&v + m->offset);
		for (unsigned j = 0; j < numbers_of(m); j++) {
			assert_int_equal(values[j], 0); /* no other row has this place */
			values[j] = 1;
		}
		rows += numbers_of(m);
	}
	assert_int_equal(rows, members);
}

static void check_name(const struct ing_metric *m)
{
	static const char *const reserved[] = {
		"_count", "_sum", "_bucket", "_created", "_info", "_gcount", "_gsum"};
	char family[128];
	assert_true(strlen(m->name) < sizeof(family));
	snprintf(family, sizeof(family), "%s", m->name);
	for (const char *s = m->name; *s != '\0'; s++)
		assert_true(islower(*s) || *s == '_');
	assert_true(begins(m->name, "ing_") || begins(m->name, "process_"));
	assert_null(strstr(m->name, "__"));
	assert_int_equal(ends(m->name, "_total"), m->kind == ING_METRIC_COUNTER);
	if (ends(family, "_total"))
		family[strlen(family) - strlen("_total")] = '\0';
	for (size_t i = 0; i < ING_ARRAY_LEN(reserved); i++)
		assert_true(!ends(family, reserved[i]) || strcmp(family, "ing_build_info") == 0);
	assert_int_equal(ends(family, "_seconds"), is_time(m));
	assert_int_equal(ends(family, "_bytes"), m->unit == ING_METRIC_BYTES);
}

static void test_names_follow_the_rules_of_the_format(void **state)
{
	(void)state;
	const struct ing_metric *m;
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++)
		check_name(m);
}

static void test_every_row_has_a_sentence_of_help(void **state)
{
	(void)state;
	const struct ing_metric *m;
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++) {
		assert_true(isupper(m->help[0]) && strlen(m->help) > 10);
		assert_int_equal(strcspn(m->help, "\n\"\\"), strlen(m->help));
		/* One, with its full stop. A dot inside a word is a key's or a file's. */
		const char *stop = strstr(m->help, ". ");
		assert_true(stop == NULL && ends(m->help, "."));
	}
}

/* In value alone: the key is the same. */
static void check_labels_differ(
	const struct ing_metric *a, unsigned i, const struct ing_metric *b, unsigned j)
{
	struct ing_buf texts[2];
	for (int k = 0; k < 2; k++)
		ing_buf_init(&texts[k], 1000);
	ing_metric_add_labels(a, i, &texts[0]);
	ing_metric_add_labels(b, j, &texts[1]);
	const char *x = ing_buf_str(&texts[0]);
	const char *y = ing_buf_str(&texts[1]);
	assert_true(x[0] != '\0' && y[0] != '\0');
	assert_string_not_equal(x, y);
	assert_int_equal(strcspn(x, "="), strcspn(y, "="));
	assert_memory_equal(x, y, strcspn(x, "="));
	for (int k = 0; k < 2; k++)
		ing_buf_done(&texts[k]);
}

static void check_pair(const struct ing_metric *a, const struct ing_metric *b)
{
	char in_histogram[128];
	assert_string_not_equal(a->source, b->source);
	if (a->line != NULL && b->line != NULL) {
		assert_string_not_equal(a->line, b->line);
		/* A key has either a number or an object. */
		snprintf(in_histogram, sizeof(in_histogram), "%s.", a->line);
		assert_false(begins(b->line, in_histogram));
	}
	if (strcmp(a->name, b->name) == 0) {
		for (unsigned i = 0; i < a->count * b->count; i++)
			check_labels_differ(a, i / b->count, b, i % b->count);
		assert_true(a->kind == b->kind);
		assert_string_equal(a->help, b->help);
	} else if (a->kind == ING_METRIC_HISTOGRAM) {
		snprintf(in_histogram, sizeof(in_histogram), "%s_", a->name);
		assert_false(begins(b->name, in_histogram));
	}
}

static void test_names_keys_and_labels_are_unique(void **state)
{
	(void)state;
	const struct ing_metric *a, *b;
	for (size_t i = 0; (a = ing_metric(i)) != NULL; i++)
		for (size_t j = 0; (b = ing_metric(j)) != NULL; j++)
			if (i != j)
				check_pair(a, b);
}

/* Its bounds are in a unit of its own. */
static void test_a_histogram_is_of_times_or_of_bytes(void **state)
{
	(void)state;
	const struct ing_metric *m;
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++)
		if (m->kind == ING_METRIC_HISTOGRAM)
			assert_true(m->unit ==
				    (m->set == ING_METRIC_SIZE ? ING_METRIC_BYTES : ING_METRIC_US));
		else
			assert_true(m->set < ING_METRIC_TURN_TIME);
}

/* In OpenMetrics a counter's family is its name without the end, which no other may have. */
static void test_families_are_unique(void **state)
{
	(void)state;
	const struct ing_metric *a, *b;
	char total[128];
	for (size_t i = 0; (a = ing_metric(i)) != NULL; i++) {
		snprintf(total, sizeof(total), "%s_total", a->name);
		for (size_t j = 0; (b = ing_metric(j)) != NULL; j++)
			assert_string_not_equal(total, b->name);
	}
}

/* --- values and labels --- */

static const struct ing_metric *find(const char *source)
{
	const struct ing_metric *m;
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++)
		if (strcmp(m->source, source) == 0)
			return m;
	fail_msg("no row for %s", source);
	return NULL;
}

static void test_values_are_read_from_their_members_in_base_units(void **state)
{
	(void)state;
	struct ing_metrics v = {0};
	v.pipeline.oldest_ms = 1500;
	v.gate.bytes = 7;
	v.pool.cpu_us = 2500000;
	v.archive.cpu_ns = 250000000;
	v.deliver.by_status[ING_STATUS_TIMEOUT] = 3;
	static const struct {
		const char *source;
		unsigned i;
		double want;
	} cases[] = {
		{.source = "pipeline.oldest_ms", .want = 1.5},
		{.source = "gate.bytes", .want = 7},
		{.source = "pool.cpu_us", .want = 2.5},
		{.source = "archive.cpu_ns", .want = 0.25},
		{.source = "deliver.by_status", .i = ING_STATUS_TIMEOUT, .want = 3},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_metric *m = find(cases[i].source);
		uint64_t value = ing_metric_values(m, &v)[cases[i].i];
		assert_true(ing_metric_in_base_unit(m, value) == cases[i].want);
	}
}

static void assert_label(const char *source, unsigned i, const char *want)
{
	struct ing_buf out;
	ing_buf_init(&out, 1000);
	ing_metric_add_labels(find(source), i, &out);
	assert_string_equal(ing_buf_str(&out), want);
	ing_buf_done(&out);
}

static void test_labels_are_of_closed_sets(void **state)
{
	(void)state;
	assert_label("gate.waiting", 0, "");
	assert_label("archive.cpu_ns", 0, "thread=\"archive\"");
	assert_label("pool.pdf_cpu_us", 0, "process=\"pdf\"");
	assert_label("deliver.by_status", ING_STATUS_SUCCESS, "status=\"success\"");
	assert_label("deliver.by_status", ING_STATUS_COUNT_ - 1, "status=\"result-too-large\"");
	assert_label("pipeline.by_state", ING_JOB_CANCELLED, "state=\"cancelled\"");
	assert_label("deliver.results_by_lane", ING_LANE_BULK, "lane=\"bulk\"");
	assert_label("deliver.parked_by_tier", ING_TIER_10M, "tier=\"10m\"");
	assert_label("fetch.tls_us", 1, "stage=\"tls\",le=\"0.0025\"");
	assert_label("fetch.tls_us", ING_METRIC_COUNT_DURATION - 2, "stage=\"tls\",le=\"86400.0\"");
	assert_label("fetch.body_size", 0, "le=\"1024.0\"");
	/* Bucket 10 has turns of 512 to 1023 us. */
	assert_label("turn.cpu_us", 0, "le=\"0.0\"");
	assert_label("turn.cpu_us", 1, "le=\"0.000001\"");
	assert_label("turn.cpu_us", 10, "le=\"0.001023\"");
	assert_label("turn.cpu_us", ING_METRIC_COUNT_TURN_TIME - 2, "le=\"4.194303\"");
	assert_label("turn.cpu_us", ING_METRIC_COUNT_TURN_TIME - 1, "le=\"+Inf\"");
}

static void test_labels_of_a_set_differ_and_need_no_escaping(void **state)
{
	(void)state;
	const struct ing_metric *m;
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++) {
		json_t *seen = json_object();
		for (unsigned j = 0; j < m->count; j++) {
			struct ing_buf out;
			ing_buf_init(&out, 1000);
			ing_metric_add_labels(m, j, &out);
			const char *text = ing_buf_str(&out);
			assert_null(json_object_get(seen, text));
			json_object_set_new(seen, text, json_true());
			assert_null(strpbrk(text, "\\\n"));
			/* Names and values without quotes in them, commas between. */
			unsigned quotes = 0, names = 0;
			for (const char *s = text; *s != '\0'; s++) {
				quotes += *s == '"';
				names += *s == '=';
			}
			assert_int_equal(quotes, 2 * names);
			assert_true(m->count == 1 || names > 0);
			assert_true(names == 0 || ends(text, "\""));
			ing_buf_done(&out);
		}
		json_decref(seen);
	}
}

static void test_numbers_are_exact(void **state)
{
	(void)state;
	static const struct {
		const char *source;
		uint64_t value;
		const char *want;
	} cases[] = {
		{"gate.bytes", UINT64_MAX, "18446744073709551615"},
		{"pipeline.oldest_ms", 0, "0"},
		{"pipeline.oldest_ms", 1500, "1.5"},
		{"pipeline.oldest_ms", 1001, "1.001"},
		{"pool.cpu_us", 3000000, "3"},
		{"pool.cpu_us", 20, "0.00002"},
		{"archive.cpu_ns", 10000000001, "10.000000001"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 1000);
		ing_metric_add_number(find(cases[i].source), cases[i].value, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
	}
}

static void test_a_histogram_counts_a_value_where_it_fits_first(void **state)
{
	(void)state;
	static const struct {
		enum ing_metric_set bounds;
		unsigned count;
		uint64_t value;
		unsigned want;
	} cases[] = {
		{ING_METRIC_TURN_TIME, ING_METRIC_COUNT_TURN_TIME, 0, 0},
		{ING_METRIC_TURN_TIME, ING_METRIC_COUNT_TURN_TIME, 1, 1},
		{ING_METRIC_TURN_TIME, ING_METRIC_COUNT_TURN_TIME, 512, 10},
		{ING_METRIC_TURN_TIME, ING_METRIC_COUNT_TURN_TIME, 1023, 10},
		{ING_METRIC_TURN_TIME, ING_METRIC_COUNT_TURN_TIME, 1024, 11},
		{ING_METRIC_TURN_TIME, ING_METRIC_COUNT_TURN_TIME, UINT64_MAX, 23},
		{ING_METRIC_DURATION, ING_METRIC_COUNT_DURATION, 0, 0},
		{ING_METRIC_DURATION, ING_METRIC_COUNT_DURATION, 1000, 0},
		{ING_METRIC_DURATION, ING_METRIC_COUNT_DURATION, 1001, 1},
		{ING_METRIC_DURATION, ING_METRIC_COUNT_DURATION, 86400000000, 19},
		{ING_METRIC_DURATION, ING_METRIC_COUNT_DURATION, 86400000001, 20},
		{ING_METRIC_SIZE, ING_METRIC_COUNT_SIZE, 1024, 0},
		{ING_METRIC_SIZE, ING_METRIC_COUNT_SIZE, 268435457, 10},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		uint64_t h[64] = {0};
		ing_histogram_add(h, cases[i].bounds, cases[i].value);
		for (unsigned j = 0; j < cases[i].count; j++)
			assert_int_equal(h[j], j == cases[i].want ? 1 : 0);
		assert_true(h[cases[i].count] == cases[i].value);
		assert_int_equal(h[cases[i].count + 1], 0);
	}
}

/* --- the formats of Prometheus --- */

static char *text_of(const struct ing_metrics *v, enum ing_metrics_format format)
{
	struct ing_buf out;
	ing_buf_init(&out, 1 << 20);
	ing_metrics_add_text(v, format, &out);
	return ing_buf_steal(&out);
}

/* The lines of a family, with those of its head: heap. */
static char *lines_of(const char *text, const char *family)
{
	struct ing_buf out;
	ing_buf_init(&out, 1 << 20);
	size_t bytes = strlen(family);
	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
		const char *name = begins(line, "# ") && !begins(line, "# EOF") ? line + 7 : line;
		if (strncmp(name, family, bytes) == 0)
			ing_buf_add(&out, line, strcspn(line, "\n") + 1);
	}
	return ing_buf_steal(&out);
}

static void assert_lines(const struct ing_metrics *v, enum ing_metrics_format format,
	const char *family, const char *want)
{
	char *text = text_of(v, format);
	char *lines = lines_of(text, family);
	assert_string_equal(lines, want);
	free(lines);
	free(text);
}

static void test_a_family_has_help_type_and_samples_byte_for_byte(void **state)
{
	(void)state;
	struct ing_metrics v = {
		.deliver.hits = 12,
		.disk = {.warc_free_bytes = 7000000000, .state_free_bytes = 1},
		.archive.cpu_ns = 1500000000,
		.process.loop_cpu_us = 2,
	};
	static const struct {
		const char *family, *prometheus, *openmetrics;
	} cases[] = {
		{"ing_results_hits",
			"# HELP ing_results_hits_total Results with the status success.\n"
			"# TYPE ing_results_hits_total counter\n"
			"ing_results_hits_total 12\n",
			"# HELP ing_results_hits Results with the status success.\n"
			"# TYPE ing_results_hits counter\n"
			"ing_results_hits_total 12\n"},
		{"ing_disk_free_bytes",
			"# HELP ing_disk_free_bytes Free space of a folder's file system; 0 when the folder is not used.\n"
			"# TYPE ing_disk_free_bytes gauge\n"
			"ing_disk_free_bytes{folder=\"warc.dir\"} 7000000000\n"
			"ing_disk_free_bytes{folder=\"spool.dir\"} 0\n"
			"ing_disk_free_bytes{folder=\"state.dir\"} 1\n"
			"ing_disk_free_bytes{folder=\"store.dir\"} 0\n",
			"# HELP ing_disk_free_bytes Free space of a folder's file system; 0 when the folder is not used.\n"
			"# TYPE ing_disk_free_bytes gauge\n"
			"# UNIT ing_disk_free_bytes bytes\n"
			"ing_disk_free_bytes{folder=\"warc.dir\"} 7000000000\n"
			"ing_disk_free_bytes{folder=\"spool.dir\"} 0\n"
			"ing_disk_free_bytes{folder=\"state.dir\"} 1\n"
			"ing_disk_free_bytes{folder=\"store.dir\"} 0\n"},
		/* Of several rooms. */
		{"ing_thread_cpu_seconds",
			"# HELP ing_thread_cpu_seconds_total CPU time of one thread of the worker's process.\n"
			"# TYPE ing_thread_cpu_seconds_total counter\n"
			"ing_thread_cpu_seconds_total{thread=\"archive\"} 1.5\n"
			"ing_thread_cpu_seconds_total{thread=\"store\"} 0\n"
			"ing_thread_cpu_seconds_total{thread=\"lookup\"} 0\n"
			"ing_thread_cpu_seconds_total{thread=\"loop\"} 0.000002\n"
			"ing_thread_cpu_seconds_total{thread=\"endpoint\"} 0\n",
			"# HELP ing_thread_cpu_seconds CPU time of one thread of the worker's process.\n"
			"# TYPE ing_thread_cpu_seconds counter\n"
			"# UNIT ing_thread_cpu_seconds seconds\n"
			"ing_thread_cpu_seconds_total{thread=\"archive\"} 1.5\n"
			"ing_thread_cpu_seconds_total{thread=\"store\"} 0\n"
			"ing_thread_cpu_seconds_total{thread=\"lookup\"} 0\n"
			"ing_thread_cpu_seconds_total{thread=\"loop\"} 0.000002\n"
			"ing_thread_cpu_seconds_total{thread=\"endpoint\"} 0\n"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		assert_lines(&v, ING_METRICS_PROMETHEUS, cases[i].family, cases[i].prometheus);
		assert_lines(&v, ING_METRICS_OPENMETRICS, cases[i].family, cases[i].openmetrics);
	}
}

static void test_buckets_are_cumulative(void **state)
{
	(void)state;
	struct ing_metrics v = {0};
	ing_histogram_add(v.turn.cpu_us, ING_METRIC_TURN_TIME, 0);
	ing_histogram_add(v.turn.cpu_us, ING_METRIC_TURN_TIME, 3);
	ing_histogram_add(v.turn.cpu_us, ING_METRIC_TURN_TIME, 5000000);
	char *text = text_of(&v, ING_METRICS_OPENMETRICS);
	char *lines = lines_of(text, "ing_loop_turn_cpu_seconds");
	const char *first = "# HELP ing_loop_turn_cpu_seconds CPU time of the loop's turns.\n"
			    "# TYPE ing_loop_turn_cpu_seconds histogram\n"
			    "# UNIT ing_loop_turn_cpu_seconds seconds\n"
			    "ing_loop_turn_cpu_seconds_bucket{le=\"0.0\"} 1\n"
			    "ing_loop_turn_cpu_seconds_bucket{le=\"0.000001\"} 1\n"
			    "ing_loop_turn_cpu_seconds_bucket{le=\"0.000003\"} 2\n";
	const char *last = "ing_loop_turn_cpu_seconds_bucket{le=\"4.194303\"} 2\n"
			   "ing_loop_turn_cpu_seconds_bucket{le=\"+Inf\"} 3\n"
			   "ing_loop_turn_cpu_seconds_sum 5.000003\n"
			   "ing_loop_turn_cpu_seconds_count 3\n";
	assert_true(begins(lines, first));
	assert_true(ends(lines, last));
	free(lines);
	free(text);
}

static void test_every_family_stands_once_and_every_row_is_there(void **state)
{
	(void)state;
	struct ing_metrics v;
	const struct ing_metric *m;
	number_all(&v);
	char *text = text_of(&v, ING_METRICS_PROMETHEUS);
	char *openmetrics = text_of(&v, ING_METRICS_OPENMETRICS);
	assert_true(ends(openmetrics, "\n# EOF\n"));
	assert_null(strstr(text, "# EOF"));
	for (size_t i = 0; (m = ing_metric(i)) != NULL; i++) {
		char head[300];
		snprintf(head, sizeof(head), "# TYPE %s ", m->name);
		const char *found = strstr(text, head);
		assert_non_null(found);
		assert_null(strstr(found + 1, head));
		for (unsigned j = 0; j < m->count && m->kind != ING_METRIC_HISTOGRAM; j++) {
			struct ing_buf want;
			ing_buf_init(&want, 1000);
			ing_buf_add_char(&want, ' ');
			ing_metric_add_number(m, ing_metric_values(m, &v)[j], &want);
			ing_buf_add_char(&want, '\n');
			assert_non_null(strstr(found, ing_buf_str(&want)));
			ing_buf_done(&want);
		}
	}
	free(openmetrics);
	free(text);
}

static void test_nothing_is_shown_of_a_stage_that_is_absent(void **state)
{
	(void)state;
	struct ing_metrics v = {.absent[ING_METRIC_ROOM_lookup] = true};
	char *text = text_of(&v, ING_METRICS_PROMETHEUS);
	assert_null(strstr(text, "ing_lookup_"));
	assert_null(strstr(text, "thread=\"lookup\""));
	assert_non_null(strstr(text, "thread=\"store\""));
	free(text);
}

/* --- the lines --- */

/* The keys that scenarios and the bench read, each with the member that belongs there. */
static void test_the_exit_line_has_its_keys(void **state)
{
	(void)state;
	static const struct {
		const char *object, *keys;
	} want[] = {
		{"parked_for", "share held order retry"},
		{NULL, "accepted dead cancelled parked results hits by_status answered transactions exchanges body_bytes "
		       "warc_records warc_bytes warc_revisits warc_syncs documents examiner_forks store_items "
		       "store_answered store_fenced store_batches cpu_seconds intake gate robots "
		       "loop examine leases disk lookup parked_for journal objects grobid tls"},
		{"transactions", "committed aborted"},
		{"cpu_seconds", "worker loop archive store lookup examine examine_pdf"},
		{"lookup", "asked found"},
		{"tls", "handshakes resumed"},
		{"intake", "taken left_over reread finished_before lost restarts"},
		{"disk", "stops aborted"},
		{"objects",
			"stored bytes refused failed_away failed_busy failed_denied failed_missing failed_full "
			"failed_strange"},
		{"journal", "suspects condemned faults unrecorded"},
		{"gate", "waiting hosts hosts_resting hosts_held breakers_open leases grants "
			 "refused holds breaker_opens bytes"},
		{"robots", "fetched hits disallowed unreachable entries bytes"},
		{"loop", "turns busy blocked longest_cpu_us longest_blocked_us cpu_us"},
		{"examine", "crashes timeouts waited interrupted waiting waiting_late "
			    "domains_marked"},
		{"leases", "rounds asked granted returned extended database_us"},
	};
	struct ing_metrics v;
	number_all(&v);
	char *text = ing_metrics_line(&v);
	assert_null(strchr(text, '\n'));
	json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(line);
	for (size_t i = 0; i < ING_ARRAY_LEN(want); i++) {
		const json_t *o =
			want[i].object == NULL ? line : json_object_get(line, want[i].object);
		char keys[512];
		char *rest = NULL;
		size_t count = 0;
		snprintf(keys, sizeof(keys), "%s", want[i].keys);
		for (char *key = strtok_r(keys, " ", &rest); key != NULL;
			key = strtok_r(NULL, " ", &rest), count++)
			if (json_object_get(o, key) == NULL)
				fail_msg("no %s in %s", key, text);
		assert_int_equal(json_object_size(o), count);
	}
	json_decref(line);
	free(text);
}

static void test_the_exit_line_has_every_number_in_its_place(void **state)
{
	(void)state;
	struct ing_metrics v = {
		.pipeline.accepted = 7,
		.deliver.by_status[ING_STATUS_TIMEOUT] = 2,
		.archive = {.records = 5, .cpu_ns = 1250000000},
		.process = {.cpu_us = 3000001, .loop_cpu_us = 500000},
		.gate.leases = 4,
		.turn = {.longest_cpu_us = 9, .cpu_us[3] = 8},
		.lease.database_us = 11,
		.pool = {.pdf_cpu_us = 10, .waiting_late = 6},
	};
	static const struct {
		const char *object, *key;
		double want;
	} cases[] = {
		{.key = "accepted", .want = 7},
		{.key = "warc_records", .want = 5},
		{.key = "dead", .want = 0},
		{.object = "by_status", .key = "timeout", .want = 2},
		{.object = "cpu_seconds", .key = "worker", .want = 3.000001},
		{.object = "cpu_seconds", .key = "loop", .want = 0.5},
		{.object = "cpu_seconds", .key = "archive", .want = 1.25},
		{.object = "cpu_seconds", .key = "examine_pdf", .want = 0.00001},
		{.object = "gate", .key = "leases", .want = 4},
		{.object = "loop", .key = "longest_cpu_us", .want = 9},
		{.object = "examine", .key = "waiting_late", .want = 6},
		{.object = "leases", .key = "database_us", .want = 11},
	};
	char *text = ing_metrics_line(&v);
	json_t *line = json_loads(text, 0, NULL);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const json_t *o =
			cases[i].object == NULL ? line : json_object_get(line, cases[i].object);
		const json_t *got = json_object_get(o, cases[i].key);
		assert_true(json_is_number(got));
		assert_true(json_number_value(got) == cases[i].want);
	}
	assert_int_equal(json_object_size(json_object_get(line, "by_status")), 1);
	const json_t *buckets = json_object_get(json_object_get(line, "loop"), "cpu_us");
	assert_int_equal(json_array_size(buckets), ING_METRIC_COUNT_TURN_TIME);
	for (size_t i = 0; i < ING_METRIC_COUNT_TURN_TIME; i++)
		assert_int_equal(json_integer_value(json_array_get(buckets, i)), i == 3 ? 8 : 0);
	json_decref(line);
	free(text);
}

static void test_the_exit_line_is_silent_about_a_stage_that_is_absent(void **state)
{
	(void)state;
	struct ing_metrics v;
	number_all(&v);
	v.absent[ING_METRIC_ROOM_lease] = true;
	char *text = ing_metrics_line(&v);
	assert_null(strstr(text, "\"leases\":{"));
	assert_non_null(strstr(text, "\"gate\":{"));
	free(text);
}

static void test_the_status_line_says_how_it_goes(void **state)
{
	(void)state;
	struct ing_metrics v = {
		.pipeline = {.jobs = 17, .oldest_ms = 4999},
		.deliver.results = 120,
		.gate.holding = 5,
	};
	struct ing_buf out;
	ing_buf_init(&out, 1000);
	ing_metrics_add_status(&v, 3, &out);
	assert_string_equal(ing_buf_str(&out),
		"120 results (3/s), 17 requests at hand, 5 transfers, oldest 4 s");
	v.intake.partitions_held = 1;
	v.intake.partitions_starting = 2;
	v.intake.partitions_full = 3;
	ing_buf_clear(&out);
	ing_metrics_add_status(&v, 3, &out);
	assert_string_equal(ing_buf_str(&out),
		"120 results (3/s), 17 requests at hand, 5 transfers, oldest 4 s, 1 partitions held "
		"because of their maps (ingestctl positions show), 2 partitions not read yet, 3 "
		"partitions wait for unfinished requests");
	ing_buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_member_of_a_stage_has_one_row),
		cmocka_unit_test(test_names_follow_the_rules_of_the_format),
		cmocka_unit_test(test_every_row_has_a_sentence_of_help),
		cmocka_unit_test(test_names_keys_and_labels_are_unique),
		cmocka_unit_test(test_a_histogram_is_of_times_or_of_bytes),
		cmocka_unit_test(test_families_are_unique),
		cmocka_unit_test(test_values_are_read_from_their_members_in_base_units),
		cmocka_unit_test(test_labels_are_of_closed_sets),
		cmocka_unit_test(test_labels_of_a_set_differ_and_need_no_escaping),
		cmocka_unit_test(test_numbers_are_exact),
		cmocka_unit_test(test_a_histogram_counts_a_value_where_it_fits_first),
		cmocka_unit_test(test_a_family_has_help_type_and_samples_byte_for_byte),
		cmocka_unit_test(test_buckets_are_cumulative),
		cmocka_unit_test(test_every_family_stands_once_and_every_row_is_there),
		cmocka_unit_test(test_nothing_is_shown_of_a_stage_that_is_absent),
		cmocka_unit_test(test_the_exit_line_has_its_keys),
		cmocka_unit_test(test_the_exit_line_has_every_number_in_its_place),
		cmocka_unit_test(test_the_exit_line_is_silent_about_a_stage_that_is_absent),
		cmocka_unit_test(test_the_status_line_says_how_it_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
