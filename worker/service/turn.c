/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libuv runs the callbacks of descriptors within its poll phase, so "before the wait" and "after
 * the wait" cannot both be hooked. A turn is measured from one prepare callback to the next: the
 * thread's CPU clock does not advance while it waits, and how long it has waited for events libuv
 * tells (UV_METRICS_IDLE_TIME). What is left of the turn's wall time is either blocking or waiting
 * for a core; the kernel counts the latter in /proc/thread-self/schedstat. That is read only after
 * turns that were long, and else once a second, so what it says of a turn may be too much by what
 * was waited since: a turn is rather not called blocked than wrongly.
 */
#include "worker/service/turn.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/service/turn_alarm.h"

#define NS_PER_MS UINT64_C(1000000)
#define LONG_NS (ING_TURN_LONG_MS * NS_PER_MS)
#define DELAY_AGE_NS (1000 * NS_PER_MS)
#define WARN_MS 60000
#define LIMIT_VARIABLE "ING_TURN_LIMIT_MS"
#define LIMIT_MAX_MS 60000

struct ing_turns {
	uv_prepare_t prepare;
	struct ing_turn_alarm *alarm; /* NULL: not a test */
	bool running;
	uint64_t cpu_ns, wall_ns, idle_ns; /* at the begin of this turn */
	int schedstat_fd;                  /* -1: the kernel does not tell */
	uint64_t delay_ns;                 /* waited for a core, up to delay_read_ns */
	uint64_t delay_read_ns;
	struct ing_turn_stats stats;
	struct ing_log_throttle busy_gate, blocked_gate;
};

/* Reads how long the thread has waited for a core since it exists. Returns how much of that is
 * new. */
static uint64_t read_delay(struct ing_turns *t, uint64_t now_ns)
{
	char text[96];
	ssize_t got = t->schedstat_fd >= 0 ? pread(t->schedstat_fd, text, sizeof(text) - 1, 0) : -1;
	uint64_t total = t->delay_ns;
	if (got > 0) {
		text[got] = '\0';
		char *second = text;
		strtoull(text, &second, 10); /* ns on a core */
		total = strtoull(second, NULL, 10);
	}
	uint64_t more = total - t->delay_ns;
	t->delay_ns = total;
	t->delay_read_ns = now_ns;
	return more;
}

static void mark(struct ing_turns *t)
{
	t->cpu_ns = ing_thread_cpu_ns();
	t->wall_ns = uv_hrtime();
	t->idle_ns = uv_metrics_idle_time(t->prepare.loop);
}

static void warn(struct ing_log_throttle *gate, const char *what, uint64_t ns, uint64_t count)
{
	ing_log_throttled(gate, WARN_MS, ING_LOG_WARNING,
		"loop: a turn %s %" PRIu64 " ms; over %d ms so far: %" PRIu64
		" turns. Everything else waited for it",
		what, ns / NS_PER_MS, ING_TURN_LONG_MS, count);
}

static void count_cpu(struct ing_turns *t, uint64_t ns)
{
	struct ing_turn_stats *s = &t->stats;
	uint64_t us = ns / 1000;
	s->turns++;
	ing_histogram_add(s->cpu_us, ING_METRIC_TURN_TIME, us);
	s->longest_cpu_us = ING_MAX(s->longest_cpu_us, us);
	if (ns <= LONG_NS)
		return;
	s->busy++;
	warn(&t->busy_gate, "computed for", ns, s->busy);
}

static void count_blocked(struct ing_turns *t, uint64_t ns)
{
	struct ing_turn_stats *s = &t->stats;
	s->blocked++;
	s->longest_blocked_us = ING_MAX(s->longest_blocked_us, ns / 1000);
	warn(&t->blocked_gate, "was blocked in calls for", ns, s->blocked);
}

static void end_turn(struct ing_turns *t)
{
	uint64_t cpu_ns = t->cpu_ns, wall_ns = t->wall_ns, idle_ns = t->idle_ns;
	mark(t);
	cpu_ns = t->cpu_ns - cpu_ns;
	wall_ns = t->wall_ns - wall_ns;
	idle_ns = t->idle_ns - idle_ns;
	count_cpu(t, cpu_ns);
	/* The clocks are not read at the same instant, so a difference may be a little below 0. */
	int64_t other_ns = (int64_t)(wall_ns - idle_ns - cpu_ns);
	bool suspect = other_ns > (int64_t)LONG_NS;
	if (suspect || t->wall_ns - t->delay_read_ns > DELAY_AGE_NS) {
		other_ns -= (int64_t)read_delay(t, t->wall_ns);
		if (suspect && t->schedstat_fd >= 0 && other_ns > (int64_t)LONG_NS)
			count_blocked(t, (uint64_t)other_ns);
	}
}

static void on_prepare(uv_prepare_t *prepare)
{
	struct ing_turns *t = prepare->data;
	if (!t->running)
		return;
	end_turn(t);
	if (t->alarm != NULL)
		ing_turn_alarm_next(t->alarm);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static int init_alarm(struct ing_turns *t, struct ing_error *err)
{
	const char *said = getenv(LIMIT_VARIABLE);
	if (said == NULL || said[0] == '\0')
		return 0;
	char *end;
	unsigned long ms = strtoul(said, &end, 10);
	if (*end != '\0' || ms == 0 || ms > LIMIT_MAX_MS)
		return ing_error_set(err, ING_FAIL_CONFIG, LIMIT_VARIABLE ": %s: not 1 to %d", said,
			LIMIT_MAX_MS);
	return ing_turn_alarm_new(t->prepare.loop, (unsigned)ms, &t->alarm, err);
}

/* -------------------------------------------------------------------------------------------- */

int ing_turns_new(uv_loop_t *loop, struct ing_turns **ret, struct ing_error *err)
{
	int rc = uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
	if (rc != 0)
		return ing_error_set(err, ING_FAIL_SYSTEM, "loop: idle time: %s", uv_strerror(rc));
	struct ing_turns *t = ing_alloc(sizeof(*t));
	t->schedstat_fd = -1;
	t->prepare.loop = loop;
	rc = init_alarm(t, err);
	if (rc != 0) {
		free(t);
		return rc;
	}
	uv_prepare_init(loop, &t->prepare);
	t->prepare.data = t;
	uv_prepare_start(&t->prepare, on_prepare);
	uv_unref((uv_handle_t *)&t->prepare);
	*ret = t;
	return 0;
}

void ing_turns_begin(struct ing_turns *t)
{
	t->running = true;
	t->schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	mark(t);
	(void)read_delay(t, t->wall_ns);
	if (t->alarm != NULL)
		ing_turn_alarm_begin(t->alarm);
}

void ing_turns_end(struct ing_turns *t)
{
	if (!t->running)
		return;
	if (t->alarm != NULL)
		ing_turn_alarm_end(t->alarm);
	end_turn(t);
	t->running = false;
	if (t->schedstat_fd >= 0)
		close(t->schedstat_fd);
	t->schedstat_fd = -1;
}

void ing_turns_stats(const struct ing_turns *t, struct ing_turn_stats *ret)
{
	*ret = t->stats;
}

void ing_turns_free(struct ing_turns *t)
{
	if (t == NULL)
		return;
	ing_turns_end(t);
	ing_turn_alarm_free(ING_TAKE(t->alarm));
	uv_close((uv_handle_t *)&t->prepare, on_closed);
}
