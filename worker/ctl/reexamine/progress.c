/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rate is of the last ten seconds or so; the time left follows from the whole run.
 */
#include "worker/ctl/reexamine/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/ctl/progress.h"

#define BAR_MS 200
#define LINE_MS 10000
#define RATE_MS 2000
#define BAR_CHARS 20
#define KEY_DIGITS 12 /* of a digest, as a number */

static double number_of(const char *digest, double none)
{
	char digits[KEY_DIGITS + 1] = "";
	if (digest[0] == '\0' || strspn(digest, "0123456789abcdef") == 0)
		return none;
	memset(digits, '0', KEY_DIGITS);
	memcpy(digits, digest, ING_MIN(strlen(digest), KEY_DIGITS));
	return (double)strtoull(digits, NULL, 16) / (double)(1ULL << (4 * KEY_DIGITS));
}

static void update_rate(struct ing_reexamine_progress *p, uint64_t now_ms)
{
	uint64_t count = p->counts->examined + p->counts->skipped;
	uint64_t ms = now_ms - p->rate_ms;
	if (ms < RATE_MS)
		return;
	double rate = (double)(count - p->rate_count) * 1000 / (double)ms;
	p->rate = p->rate_count == 0 ? rate : 0.8 * p->rate + 0.2 * rate;
	p->rate_ms = now_ms;
	p->rate_count = count;
}

static void add_words(const struct ing_reexamine_progress *p, double share, uint64_t now_ms,
	const char *blocked_by, struct ing_buf *out)
{
	const struct ing_reexamine_counts *c = p->counts;
	double elapsed_s = (double)(now_ms - p->started_ms) / 1000;
	ing_buf_printf(out, "%.2f %%  %" PRIu64 " documents  %.1f a second", 100 * share,
		c->examined, p->rate);
	if (c->skipped > 0)
		ing_buf_printf(out, "  %" PRIu64 " skipped", c->skipped);
	if (share > 0 && share < 1 && elapsed_s >= 1) {
		ing_buf_add_str(out, "  ");
		ing_progress_add_duration((uint64_t)(elapsed_s * (1 - share) / share), out);
		ing_buf_add_str(out, " left");
	}
	if (blocked_by != NULL)
		ing_buf_printf(out, "  waiting for %s", blocked_by);
}

static void draw(const struct ing_reexamine_progress *p, double share, const char *words)
{
	char bar[BAR_CHARS + 1] = "";
	memset(bar, '.', BAR_CHARS);
	memset(bar, '#', (size_t)(share * BAR_CHARS));
	if (p->bar)
		fprintf(stderr, "\r[%s] %s\033[K", bar, words);
	else
		fprintf(stderr, "ingestctl " ING_REEXAMINE ": %s\n", words);
}

/* ------------------------------------------------------------------------------------------ */

double ing_reexamine_share(const struct ing_reexamine_task *task,
	const struct ing_reexamine_counts *counts, const char *done_upto)
{
	double from = number_of(task->after, 0), to = number_of(task->to, 1);
	double at = number_of(done_upto, from);
	double share = to > from ? (at - from) / (to - from) : 1;
	if (task->limit > 0)
		share = ING_MAX(
			share, (double)(counts->examined + counts->skipped) / (double)task->limit);
	return share < 0 ? 0 : ING_MIN(share, 1.0);
}

void ing_reexamine_progress_start(struct ing_reexamine_progress *p,
	const struct ing_reexamine_task *task, const struct ing_reexamine_counts *counts)
{
	uint64_t now_ms = ing_now_ms();
	*p = (struct ing_reexamine_progress){.task = task,
		.counts = counts,
		.bar = isatty(STDERR_FILENO) == 1,
		.started_ms = now_ms,
		.said_ms = now_ms,
		.rate_ms = now_ms};
}

void ing_reexamine_progress_tick(
	struct ing_reexamine_progress *p, const char *done_upto, const char *blocked_by)
{
	uint64_t now_ms = ing_now_ms();
	update_rate(p, now_ms);
	if (now_ms - p->said_ms < (p->bar ? BAR_MS : LINE_MS))
		return;
	p->said_ms = now_ms;
	double share = ing_reexamine_share(p->task, p->counts, done_upto);
	struct ing_buf words;
	ing_buf_init(&words, 1000);
	add_words(p, share, now_ms, blocked_by, &words);
	draw(p, share, ing_buf_str(&words));
	ing_buf_done(&words);
}

void ing_reexamine_progress_clear(const struct ing_reexamine_progress *p)
{
	if (p->bar)
		fputs("\r\033[K", stderr);
}
