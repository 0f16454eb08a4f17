/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What holds a worker comes first, for that is why one looks; then the numbers, from the requests that come to the results that
 * go. Of long lists only the beginning is shown: --json has all.
 */
#include "worker/ctl/status/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/ctl/hosts/words.h"
#include "worker/ctl/status/screen.h"
#include "worker/model/flow.h"

#define LABEL_COLUMN 11
#define SHOWN_STATUSES 12
#define SHOWN_FAILURES 10
#define HOST_COLUMNS 40
#define INSTANCE_COLUMNS 28
#define CELL_BYTES 64

static const json_t *member(const json_t *o, const char *key)
{
	return json_object_get(o, key);
}

static int64_t number(const json_t *o, const char *key)
{
	return ing_words_number(o, key);
}

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void add_label(struct ing_screen *s, const char *label)
{
	ing_screen_add(s, ING_TONE_SOFT, label);
	ing_screen_tab(s, LABEL_COLUMN);
}

static void add_time(struct ing_screen *s, enum ing_tone tone, int64_t ms)
{
	struct ing_buf words;
	ing_buf_init(&words, CELL_BYTES);
	ing_words_add_time(&words, ms);
	ing_screen_add(s, tone, ing_buf_str(&words));
	ing_buf_done(&words);
}

static void number_cell(struct ing_screen *s, unsigned width, int64_t n)
{
	char cell[CELL_BYTES];
	snprintf(cell, sizeof(cell), "%" PRId64, n);
	ing_screen_number(s, ING_TONE_PLAIN, width, cell);
}

static void time_cell(struct ing_screen *s, unsigned width, int64_t ms)
{
	struct ing_buf words;
	ing_buf_init(&words, CELL_BYTES);
	if (ms > 0)
		ing_words_add_time(&words, ms);
	else
		ing_buf_add_str(&words, "-");
	ing_screen_number(s, ING_TONE_PLAIN, width, ing_buf_str(&words));
	ing_buf_done(&words);
}

static int percent(int64_t part, int64_t of)
{
	return of > 0 ? (int)(part * 100 / of) : 0;
}

static enum ing_tone tone_of_state(const json_t *status)
{
	const json_t *first = json_array_get(member(status, "holds"), 0);
	if (json_is_string(member(status, "held_by")))
		return json_is_false(member(first, "trouble")) ? ING_TONE_WARN : ING_TONE_BAD;
	return strcmp(ing_words_text(status, "state"), "running") == 0 ? ING_TONE_GOOD
								       : ING_TONE_WARN;
}

static bool is_idle(const json_t *status)
{
	return !json_is_string(member(status, "held_by")) &&
	       number(member(status, "jobs"), "under_way") == 0;
}

/* --- one worker --- */

static void show_identity(struct ing_screen *s, const json_t *status)
{
	ing_screen_add(s, ING_TONE_BOLD, ing_words_text(status, "instance"));
	ing_screen_add(s, ING_TONE_PLAIN, "  ");
	ing_screen_add(s, tone_of_state(status), ing_words_text(status, "state"));
	ing_screen_add(s, ING_TONE_PLAIN, " for ");
	add_time(s, ING_TONE_PLAIN, number(status, "uptime_s") * 1000);
	ing_screen_add(s, ING_TONE_SOFT, "  on ");
	ing_screen_add(s, ING_TONE_SOFT, ing_words_text(status, "machine"));
	ing_screen_printf(
		s, ING_TONE_SOFT, ", process %" PRId64 ", version ", number(status, "pid"));
	ing_screen_add(s, ING_TONE_SOFT, ing_words_text(status, "version"));
	ing_screen_add(s, ING_TONE_SOFT, ", rules ");
	ing_screen_add(s, ING_TONE_SOFT, ing_words_text(status, "rules"));
	if (json_is_integer(member(status, "age_ms"))) {
		ing_screen_add(s, ING_TONE_SOFT, "; as it wrote ");
		add_time(s, ING_TONE_SOFT, number(status, "age_ms"));
		ing_screen_add(s, ING_TONE_SOFT, " ago");
	}
	ing_screen_end_line(s);
}

static void show_holds(struct ing_screen *s, const json_t *status)
{
	size_t i;
	const json_t *hold;
	const json_t *holds = member(status, "holds");
	add_label(s, "held by");
	if (json_array_size(holds) == 0) {
		ing_screen_add(s, ING_TONE_GOOD,
			is_idle(status) ? "nothing; it has no requests" : "nothing");
		ing_screen_end_line(s);
		return;
	}
	for (i = 0; i < json_array_size(holds); i++) {
		hold = json_array_get(holds, i);
		if (i > 0)
			ing_screen_tab(s, LABEL_COLUMN);
		ing_screen_add(s,
			json_is_false(member(hold, "trouble")) ? ING_TONE_WARN : ING_TONE_BAD,
			ing_words_text(hold, "words"));
		ing_screen_end_line(s);
	}
}

/* All that is known of a worker that does not answer. */
static void show_silent(struct ing_screen *s, const json_t *status)
{
	ing_screen_add(s, ING_TONE_BOLD, ing_words_text(status, "instance"));
	ing_screen_add(s, ING_TONE_PLAIN, "  ");
	ing_screen_add(s, ING_TONE_BAD, "silent: ");
	ing_screen_add(s, ING_TONE_PLAIN, ing_words_text(status, "held_by"));
	ing_screen_end_line(s);
}

static void show_results(struct ing_screen *s, const json_t *status)
{
	const json_t *rates = member(status, "per_second");
	const json_t *hour = member(status, "hour");
	add_label(s, "results");
	ing_screen_printf(s, ING_TONE_BOLD, "%.1f/s", real(rates, "results"));
	ing_screen_printf(s, ING_TONE_PLAIN, " over the last minute (%.1f/s hits, %.1f/s parked)",
		real(rates, "hits"), real(rates, "parked"));
	if (json_is_object(hour))
		ing_screen_printf(s, ING_TONE_PLAIN, "; last hour %" PRId64 ", %d %% hits",
			number(hour, "results"),
			percent(number(hour, "hits"), number(hour, "results")));
	ing_screen_end_line(s);
}

static void show_jobs(struct ing_screen *s, const json_t *status)
{
	const json_t *jobs = member(status, "jobs");
	const json_t *states = member(jobs, "by_state");
	const char *state;
	const char *between = ": ";
	json_t *n;
	add_label(s, "requests");
	ing_screen_printf(s, ING_TONE_PLAIN, "%" PRId64 " of %" PRId64 " under way",
		number(jobs, "under_way"), number(jobs, "most"));
	if (number(jobs, "under_way") > 0) {
		ing_screen_add(s, ING_TONE_PLAIN, ", the oldest for ");
		add_time(s, ING_TONE_PLAIN, number(jobs, "oldest_ms"));
	}
	json_object_foreach ((json_t *)(uintptr_t)states, state, n) {
		if (json_integer_value(n) == 0)
			continue;
		ing_screen_printf(s, ING_TONE_PLAIN, "%s%" PRId64 " ", between,
			(int64_t)json_integer_value(n));
		ing_screen_add(s, ING_TONE_PLAIN, state);
		between = ", ";
	}
	ing_screen_end_line(s);
}

static void show_gate(struct ing_screen *s, const json_t *status)
{
	const json_t *gate = member(status, "gate");
	add_label(s, "hosts");
	ing_screen_printf(s, ING_TONE_PLAIN,
		"%" PRId64 " of %" PRId64 " transfers under way, %" PRId64
		" requests wait for their host; %" PRId64 " hosts in a pause, %" PRId64
		" held, %" PRId64 " breakers open",
		number(gate, "transfers"), number(gate, "concurrency"), number(gate, "waiting"),
		number(gate, "hosts_resting"), number(gate, "hosts_held"),
		number(gate, "breakers_open"));
	ing_screen_end_line(s);
}

static void show_examiners(struct ing_screen *s, const json_t *status)
{
	const json_t *examiners = member(status, "examiners");
	const json_t *grobid = member(status, "grobid");
	add_label(s, "examiners");
	ing_screen_printf(s, ING_TONE_PLAIN,
		"%" PRId64 ", %" PRId64 " documents wait; %" PRId64 " crashes, %" PRId64
		" timeouts",
		number(examiners, "ready"), number(examiners, "waiting"),
		number(examiners, "crashes"), number(examiners, "timeouts"));
	ing_screen_end_line(s);
	if (!json_is_object(grobid))
		return;
	add_label(s, "GROBID");
	if (ing_json_get_true(grobid, "away"))
		ing_screen_add(s, ING_TONE_WARN,
			"cannot be reached, documents are delivered without its results; ");
	ing_screen_printf(s, ING_TONE_PLAIN, "%" PRId64 " being read, %" PRId64 " wait; ",
		number(grobid, "working"), number(grobid, "waiting"));
	add_time(s, ING_TONE_PLAIN, number(grobid, "answer_ms"));
	ing_screen_add(s, ING_TONE_PLAIN, " an answer");
	ing_screen_end_line(s);
}

static void show_lanes(struct ing_screen *s, const json_t *status)
{
	const json_t *lanes = member(status, "lanes");
	if (json_array_size(lanes) == 0)
		return;
	ing_screen_end_line(s);
	ing_screen_add(s, ING_TONE_SOFT, "LANE        LAG  REQUESTS  RESULTS/MIN  TOPIC");
	ing_screen_end_line(s);
	for (size_t i = 0; i < json_array_size(lanes); i++) {
		const json_t *lane = json_array_get(lanes, i);
		ing_screen_cell(s, ING_TONE_PLAIN, 8, ing_words_text(lane, "lane"));
		if (json_is_integer(member(lane, "lag")))
			number_cell(s, 5, number(lane, "lag"));
		else
			ing_screen_number(s, ING_TONE_PLAIN, 5, "-");
		number_cell(s, 8, number(lane, "jobs"));
		number_cell(s, 11, number(lane, "results_minute"));
		ing_screen_add(s, ING_TONE_PLAIN, ing_words_text(lane, "topic"));
		const char *not_read = ing_words_text(lane, "not_read");
		if (not_read[0] != '\0') {
			ing_screen_add(s, ING_TONE_PLAIN, "  ");
			ing_screen_add(s, ING_TONE_WARN, ing_flow_pause_words(not_read));
		}
		ing_screen_end_line(s);
	}
}

static void show_hosts(struct ing_screen *s, const json_t *status)
{
	const json_t *list = member(member(status, "hosts"), "most_waiting");
	if (json_array_size(list) == 0)
		return;
	unsigned width = 4;
	for (size_t i = 0; i < json_array_size(list); i++)
		width = ING_MAX(
			width, ing_screen_width(ing_words_text(json_array_get(list, i), "host")));
	width = ING_MIN(width, (unsigned)HOST_COLUMNS);
	ing_screen_end_line(s);
	ing_screen_cell(s, ING_TONE_SOFT, width, "HOST");
	ing_screen_add(s, ING_TONE_SOFT, "WAITING  RUNNING  WAITS FOR");
	ing_screen_end_line(s);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *host = json_array_get(list, i);
		ing_screen_cell(s, ING_TONE_PLAIN, width, ing_words_text(host, "host"));
		number_cell(s, 7, number(host, "waiting") + number(host, "robots_waiting"));
		number_cell(s, 7, number(host, "holding"));
		ing_screen_add(s, ING_TONE_PLAIN, ing_words_text(host, "why"));
		ing_screen_end_line(s);
	}
}

struct counted {
	const char *slug;
	int64_t count;
};

static int compare_counts(const void *a, const void *b)
{
	const struct counted *x = a;
	const struct counted *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->slug, y->slug);
}

static void show_statuses(struct ing_screen *s, const json_t *status)
{
	const json_t *hour = member(status, "hour");
	json_t *by_status = json_object_get(hour, "by_status");
	size_t count = json_object_size(by_status), n = 0;
	const char *slug;
	json_t *value;
	if (count == 0)
		return;
	struct counted *list = ing_alloc(count * sizeof(*list));
	json_object_foreach (by_status, slug, value)
		list[n++] = (struct counted){slug, (int64_t)json_integer_value(value)};
	qsort(list, n, sizeof(*list), compare_counts);
	ing_screen_end_line(s);
	ing_screen_add(s, ING_TONE_SOFT, "RESULTS IN THE LAST HOUR");
	ing_screen_end_line(s);
	for (size_t i = 0; i < n && i < SHOWN_STATUSES; i++) {
		bool good = strcmp(list[i].slug, "success") == 0;
		ing_screen_cell(s, good ? ING_TONE_GOOD : ING_TONE_PLAIN, 26, list[i].slug);
		number_cell(s, 9, list[i].count);
		ing_screen_printf(s, ING_TONE_PLAIN, "%3d %%",
			percent(list[i].count, number(hour, "results")));
		ing_screen_end_line(s);
	}
	free(list);
}

static void show_failure(struct ing_screen *s, const json_t *f)
{
	const char *at = ing_words_text(f, "at");
	const char *time = strchr(at, 'T');
	const char *url = ing_words_text(f, "last_url");
	char clock[9];
	snprintf(clock, sizeof(clock), "%s", time != NULL ? time + 1 : "");
	ing_screen_cell(s, ING_TONE_SOFT, 8, clock);
	ing_screen_cell(s, ING_TONE_WARN, 24, ing_words_text(f, "status"));
	ing_screen_add(s, ING_TONE_SOFT, ing_words_text(f, "id"));
	ing_screen_add(s, ING_TONE_PLAIN, "  ");
	ing_screen_add(s, ING_TONE_PLAIN, url[0] != '\0' ? url : ing_words_text(f, "url"));
	const char *message = ing_words_text(f, "message");
	if (message[0] != '\0') {
		ing_screen_add(s, ING_TONE_PLAIN, "  ");
		ing_screen_add(s, ING_TONE_SOFT, message);
	}
	ing_screen_end_line(s);
}

static void show_failures(struct ing_screen *s, const json_t *status)
{
	const json_t *list = member(status, "failures");
	if (json_array_size(list) == 0)
		return;
	ing_screen_end_line(s);
	ing_screen_add(s, ING_TONE_SOFT, "LAST FAILURES, UTC (ingestctl explain request ID)");
	ing_screen_end_line(s);
	for (size_t i = 0; i < json_array_size(list) && i < SHOWN_FAILURES; i++)
		show_failure(s, json_array_get(list, i));
}

/* --- many --- */

static unsigned longest_instance(const json_t *list)
{
	unsigned width = 8;
	for (size_t i = 0; i < json_array_size(list); i++)
		width = ING_MAX(width,
			ing_screen_width(ing_words_text(json_array_get(list, i), "instance")));
	return ING_MIN(width, (unsigned)INSTANCE_COLUMNS);
}

static void show_row(struct ing_screen *s, const json_t *status, unsigned width)
{
	char cell[CELL_BYTES];
	const json_t *rates = member(status, "per_second");
	const json_t *jobs = member(status, "jobs");
	const json_t *gate = member(status, "gate");
	ing_screen_cell(s, ING_TONE_BOLD, width, ing_words_text(status, "instance"));
	ing_screen_cell(s, tone_of_state(status), 8, ing_words_text(status, "state"));
	snprintf(cell, sizeof(cell), "%.1f", real(rates, "results"));
	ing_screen_number(s, ING_TONE_PLAIN, 9, cell);
	snprintf(cell, sizeof(cell), "%.1f", real(rates, "hits"));
	ing_screen_number(s, ING_TONE_PLAIN, 6, cell);
	number_cell(s, 8, number(jobs, "under_way"));
	number_cell(s, 9, number(gate, "transfers"));
	number_cell(s, 7, number(gate, "waiting"));
	time_cell(s, 12, number(jobs, "oldest_ms"));
	const char *held_by = ing_words_text(status, "held_by");
	if (held_by[0] != '\0')
		ing_screen_add(s, tone_of_state(status), held_by);
	else
		ing_screen_add(s, ING_TONE_SOFT, is_idle(status) ? "(no requests)" : "-");
	ing_screen_end_line(s);
}

/* -------------------------------------------------------------------------------------------- */

void ing_ctl_show_workers(struct ing_screen *s, const json_t *list)
{
	unsigned width = longest_instance(list);
	ing_screen_cell(s, ING_TONE_SOFT, width, "INSTANCE");
	ing_screen_add(s, ING_TONE_SOFT,
		"STATE     RESULTS/S  HITS/S  REQUESTS  TRANSFERS  WAITING        OLDEST  HELD BY");
	ing_screen_end_line(s);
	for (size_t i = 0; i < json_array_size(list); i++)
		show_row(s, json_array_get(list, i), width);
}

void ing_ctl_show_worker(struct ing_screen *s, const json_t *status)
{
	if (strcmp(ing_words_text(status, "state"), "silent") == 0 &&
		member(status, "jobs") == NULL) {
		show_silent(s, status);
		return;
	}
	show_identity(s, status);
	show_holds(s, status);
	show_results(s, status);
	show_jobs(s, status);
	show_gate(s, status);
	show_examiners(s, status);
	show_lanes(s, status);
	show_hosts(s, status);
	show_statuses(s, status);
	show_failures(s, status);
}
