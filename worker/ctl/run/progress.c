/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The bar is drawn five times a second; which hosts it names is looked up once a second, because
 * that is a walk over all hosts known.
 */
#include "worker/ctl/run/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "worker/deliver/deliver.h"
#include "worker/engine/engine.h"
#include "worker/service/hosts_watch.h"
#include "worker/job/job.h"

#define BAR_MS 200
#define WAITS_MS 1000
#define BAR_CHARS 30
#define SHORT_BAR_CHARS 10 /* leaves room for a host in 80 columns */
#define MAX_LINE_BYTES 2000
#define DEFAULT_COLUMNS 80
#define HOSTS_SAID 3

static uint64_t count_finished(const struct ing_run_counts *c)
{
	return c->results + c->bad + c->had_result + c->was_bad;
}

static unsigned long long seconds_since(uint64_t ms)
{
	return (unsigned long long)((ing_now_ms() - ms) / 1000);
}

/* --- on a terminal --- */

static size_t terminal_columns(void)
{
	struct winsize size;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return DEFAULT_COLUMNS;
	return size.ws_col;
}

static void add_bar(const struct ing_run_counts *c, size_t chars, struct ing_buf *out)
{
	uint64_t finished = count_finished(c);
	char bar[BAR_CHARS + 1] = "";
	if (c->lines == 0) {
		ing_buf_printf(out, "%" PRIu64 " done", finished);
		return;
	}
	memset(bar, '.', chars);
	memset(bar, '#', (size_t)(ING_MIN(finished, c->lines) * chars / c->lines));
	ing_buf_printf(out, "[%s] %" PRIu64 "/%" PRIu64, bar, finished, c->lines);
}

/* One line of the terminal, which would scroll if it were longer. */
static void draw_bar(struct ing_run_progress *p)
{
	const struct ing_run_counts *c = p->counts;
	uint64_t now = ing_now_ms();
	struct ing_buf line;
	if (now - p->waits_ms >= WAITS_MS) {
		p->waits_ms = now;
		ing_buf_clear(&p->waits);
		ing_hosts_add_waits(
			p->engine->gate, p->engine->robots, ING_WAITS_BRIEF, HOSTS_SAID, &p->waits);
	}
	ing_buf_init(&line, MAX_LINE_BYTES);
	add_bar(c, p->waits.len > 0 ? SHORT_BAR_CHARS : BAR_CHARS, &line);
	ing_buf_printf(&line, "  %" PRIu64 " hits  %" PRIu64 " invalid  %llu s", c->hits,
		c->bad + c->was_bad, seconds_since(p->started_ms));
	if (p->waits.len > 0)
		ing_buf_printf(&line, "  %s", ing_buf_str(&p->waits));
	fprintf(stderr, "\r%.*s\033[K", (int)(terminal_columns() - 1), ing_buf_str(&line));
	ing_buf_done(&line);
}

/* --- elsewhere --- */

/* Silent as long as requests end and nobody is held: a log is to say what is out of the
 * ordinary. */
static void print_waits(struct ing_run_progress *p)
{
	const struct ing_run_counts *c = p->counts;
	uint64_t finished = count_finished(c);
	bool stands = finished == p->finished;
	struct ing_buf line;
	p->finished = finished;
	ing_buf_init(&line, MAX_LINE_BYTES);
	bool waits = ing_hosts_add_waits(p->engine->gate, p->engine->robots,
		stands ? ING_WAITS_EVERYDAY : 0, HOSTS_SAID, &line);
	struct ing_pipeline_stats s;
	ing_pipeline_stats(p->engine->pipeline, &s);
	if (!waits && stands && s.jobs > 0) {
		const char *blocked = ing_pipeline_blocked_by(p->engine->pipeline);
		ing_buf_printf(&line, "no request has ended for %d s: %" PRIu64 " requests running",
			ING_RUN_SAY_MS / 1000, s.jobs);
		if (blocked != NULL)
			ing_buf_printf(&line, ", waiting for %s", blocked);
	}
	if (line.len > 0)
		fprintf(stderr, "ingestctl %s: %" PRIu64 " done in %llu s; %s\n", p->verb, finished,
			seconds_since(p->started_ms), ing_buf_str(&line));
	ing_buf_done(&line);
}

static void on_timer(uv_timer_t *timer)
{
	struct ing_run_progress *p = timer->data;
	if (p->bar)
		draw_bar(p);
	else
		print_waits(p);
}

/* --- the end --- */

struct of_status {
	enum ing_status status;
	uint64_t count;
};

/* Most first. */
static int compare_counts(const void *a, const void *b)
{
	const struct of_status *x = a;
	const struct of_status *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(ing_status_slug(x->status), ing_status_slug(y->status));
}

/* -------------------------------------------------------------------------------------------- */

void ing_run_progress_start(struct ing_run_progress *p, const char *verb, struct ing_engine *engine,
	const struct ing_run_counts *counts)
{
	*p = (struct ing_run_progress){
		.verb = verb,
		.engine = engine,
		.counts = counts,
		.bar = isatty(STDERR_FILENO) != 0,
		.started_ms = ing_now_ms(),
	};
	unsigned every_ms = p->bar ? BAR_MS : ING_RUN_SAY_MS;
	ing_buf_init(&p->waits, MAX_LINE_BYTES);
	uv_timer_init(&engine->loop, &p->timer);
	p->timer.data = p;
	uv_timer_start(&p->timer, on_timer, every_ms, every_ms);
}

void ing_run_progress_stop(struct ing_run_progress *p)
{
	if (p->engine == NULL)
		return;
	if (p->bar) {
		p->waits_ms = 0; /* looked up anew */
		draw_bar(p);
		fputc('\n', stderr);
	}
	ing_buf_done(&p->waits);
	uv_close((uv_handle_t *)&p->timer, NULL);
}

void ing_run_progress_clear(const struct ing_run_progress *p)
{
	if (p->bar)
		fputs("\r\033[K", stderr);
}

void ing_run_progress_summary(const struct ing_run_progress *p)
{
	const struct ing_run_counts *c = p->counts;
	struct of_status list[ING_STATUS_COUNT_];
	size_t count = 0;
	struct ing_deliver_stats s;
	if (count_finished(c) == 0)
		return;
	ing_deliver_stats(p->engine->deliver, &s);
	for (int i = 0; i < ING_STATUS_COUNT_; i++) {
		if (s.by_status[i] > 0)
			list[count++] = (struct of_status){(enum ing_status)i, s.by_status[i]};
	}
	qsort(list, count, sizeof(*list), compare_counts);
	fprintf(stderr, "ingestctl %s: %" PRIu64 " result%s in %llu s, %" PRIu64 " hit%s", p->verb,
		c->results, ING_PLURAL_S(c->results), seconds_since(p->started_ms), c->hits,
		ING_PLURAL_S(c->hits));
	if (c->bad + c->was_bad > 0)
		fprintf(stderr, "; %" PRIu64 " invalid line%s", c->bad + c->was_bad,
			ING_PLURAL_S(c->bad + c->was_bad));
	if (c->had_result > 0)
		fprintf(stderr, "; %" PRIu64 " skipped (have a result)", c->had_result);
	fputc('\n', stderr);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "%10" PRIu64 "  %s\n", list[i].count,
			ing_status_slug(list[i].status));
}
