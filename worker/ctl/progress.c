/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rate is of the last ten seconds or so, and the time left follows from it.
 */
#include "worker/ctl/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"

#define BAR_MS 200
#define LINE_MS 10000
#define RATE_MS 2000
#define BAR_CHARS 20
#define MAX_LINE_BYTES 1000

static void update_rate(struct ing_progress *p, uint64_t done, uint64_t now_ms)
{
	uint64_t ms = now_ms - p->rate_ms;
	if (ms < RATE_MS)
		return;
	double rate = (double)(done - p->rate_count) * 1000 / (double)ms;
	p->rate = p->rate < 0 ? rate : 0.8 * p->rate + 0.2 * rate;
	p->rate_ms = now_ms;
	p->rate_count = done;
}

static void draw(struct ing_progress *p, uint64_t done, const char *words)
{
	char bar[BAR_CHARS + 1] = "";
	if (!p->bar) {
		fprintf(stderr, "ingestctl %s: %s\n", p->verb, words);
		return;
	}
	p->drawn = true;
	if (p->total == 0) {
		fprintf(stderr, "\r%s\033[K", words);
		return;
	}
	memset(bar, '.', BAR_CHARS);
	memset(bar, '#', (size_t)(ING_MIN(done, p->total) * BAR_CHARS / p->total));
	fprintf(stderr, "\r[%s] %s\033[K", bar, words);
}

/* -------------------------------------------------------------------------------------------- */

void ing_progress_add_duration(uint64_t s, struct ing_buf *out)
{
	if (s >= 86400)
		ing_buf_printf(out, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s % 86400 / 3600);
	else if (s >= 3600)
		ing_buf_printf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	else if (s >= 60)
		ing_buf_printf(out, "%" PRIu64 " min", s / 60);
	else
		ing_buf_printf(out, "%" PRIu64 " s", s);
}

void ing_progress_start(
	struct ing_progress *p, const char *verb, const char *what, uint64_t total, bool quiet)
{
	uint64_t now_ms = ing_now_ms();
	bool bar = isatty(STDERR_FILENO) == 1;
	*p = (struct ing_progress){.verb = verb,
		.what = what,
		.total = total,
		.quiet = quiet,
		.bar = bar,
		.started_ms = now_ms,
		.said_ms = bar ? 0 : now_ms, /* the first line at once */
		.rate_ms = now_ms,
		.rate = -1};
}

void ing_progress_words(
	const struct ing_progress *p, uint64_t done, const char *waits_for, struct ing_buf *out)
{
	ing_buf_printf(out, "%" PRIu64, done);
	if (p->total > 0)
		ing_buf_printf(out, " of %" PRIu64, p->total);
	ing_buf_printf(out, " %s", p->what);
	if (p->total > 0)
		ing_buf_printf(out, " (%.1f %%)",
			100 * (double)ING_MIN(done, p->total) / (double)p->total);
	if (p->rate >= 0)
		ing_buf_printf(out, ", %.*f/s", p->rate < 10 ? 1 : 0, p->rate);
	if (p->rate > 0 && p->total > done) {
		ing_buf_add_str(out, ", ");
		ing_progress_add_duration((uint64_t)((double)(p->total - done) / p->rate), out);
		ing_buf_add_str(out, " left");
	}
	if (waits_for != NULL)
		ing_buf_printf(out, ", waiting for %s", waits_for);
}

void ing_progress_tick(struct ing_progress *p, uint64_t done, const char *waits_for)
{
	uint64_t now_ms = ing_now_ms();
	update_rate(p, done, now_ms);
	if (p->quiet || now_ms - p->said_ms < (p->bar ? BAR_MS : LINE_MS))
		return;
	p->said_ms = now_ms;
	struct ing_buf words;
	ing_buf_init(&words, MAX_LINE_BYTES);
	ing_progress_words(p, done, waits_for, &words);
	draw(p, done, ing_buf_str(&words));
	ing_buf_done(&words);
}

void ing_progress_clear(struct ing_progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}

double ing_progress_mean_rate(const struct ing_progress *p, uint64_t done)
{
	uint64_t ms = ing_now_ms() - p->started_ms;
	return ms == 0 ? 0 : (double)done * 1000 / (double)ms;
}
