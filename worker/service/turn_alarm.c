/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two ways in which a turn is found to be long, and one in which it is named.
 *
 * CPU time: a POSIX timer on the CPU clock of the loop's thread is set anew at each turn; the
 * kernel then interrupts that thread where it computes.
 *
 * Blocking: a thread looks at the state of the loop's thread (/proc, as ps(1)) every few
 * milliseconds. Asleep while libuv does not wait for events is blocked; ready or running is not, so
 * who has to wait for a core is not blamed. When that adds up to the limit within a turn, the
 * loop's thread is sent the signal.
 *
 * The handler writes with write(2) and backtrace_symbols_fd(3) alone. backtrace(3) loads a library
 * at its first call, which is therefore made at the start.
 */
#include "worker/service/turn_alarm.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#ifndef sigev_notify_thread_id
#	define sigev_notify_thread_id _sigev_un._tid
#endif

#define ALARM_SIGNAL (SIGRTMIN + 5)
#define LOOK_MS 5
#define LOOK_LONGEST_MS (2 * LOOK_MS) /* a look that came late proves no more than this */
#define REPORTS_PER_TURN 3            /* of a long computation, to see more than its first part */
#define FRAMES 64

struct ing_turn_alarm {
	uv_loop_t *loop;
	unsigned limit_ms;
	timer_t timer;
	pid_t tid;
	int stat_fd; /* of the loop's thread */
	pthread_t watcher;
	bool watching;
	atomic_bool ending;
	atomic_uint turn;
	struct sigaction old_action;
};

/* Of the handler, which has no other way to know. */
static unsigned limit_of_handler;
static volatile sig_atomic_t reports_in_turn;

static void say(const char *what, unsigned ms)
{
	char line[96];
	int n = snprintf(line, sizeof(line), "\nloop %s %u ms %s in one turn\n", what, ms,
		what[0] == 's' ? "of CPU time" : "in calls that wait");
	(void)!write(STDERR_FILENO, line, (size_t)n);
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	static const char end[] = "loop: end of the stack\n";
	int saved = errno;
	bool stalled = info->si_code == SI_TIMER;
	if (stalled && reports_in_turn >= REPORTS_PER_TURN)
		return;
	if (stalled)
		reports_in_turn = reports_in_turn + 1;
	void *frames[FRAMES];
	say(stalled ? "stalled:" : "blocked:",
		limit_of_handler * (stalled ? (unsigned)reports_in_turn : 1));
	int count = backtrace(frames, FRAMES);
	backtrace_symbols_fd(frames, count, STDERR_FILENO);
	(void)!write(STDERR_FILENO, end, sizeof(end) - 1);
	errno = saved;
}

static void set_timer(const struct ing_turn_alarm *a, unsigned ms)
{
	struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
	timer_settime(a->timer, 0, &(struct itimerspec){.it_interval = t, .it_value = t}, NULL);
}

/* --- the watcher's thread --- */

/* The state is the word behind the name, which is in parentheses and may hold any byte. */
static char thread_state(int stat_fd)
{
	char text[512];
	ssize_t got = pread(stat_fd, text, sizeof(text) - 1, 0);
	if (got <= 0)
		return '?';
	text[got] = '\0';
	const char *name_end = strrchr(text, ')');
	return name_end != NULL && name_end[1] == ' ' ? name_end[2] : '?';
}

static unsigned elapsed_ms(uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ms = (to_ns - from_ns) / 1000000;
	return ms < LOOK_LONGEST_MS ? (unsigned)ms : LOOK_LONGEST_MS;
}

static void *watch(void *ctx)
{
	struct ing_turn_alarm *a = ctx;
	unsigned turn = 0, blocked_ms = 0;
	uint64_t idle_ns = 0, looked_ns = uv_hrtime();
	bool named = false;
	while (!atomic_load(&a->ending)) {
		usleep(LOOK_MS * 1000);
		uint64_t now_ns = uv_hrtime(), idle_now_ns = uv_metrics_idle_time(a->loop);
		unsigned turn_now = atomic_load(&a->turn);
		char state = thread_state(a->stat_fd);
		if (turn_now != turn) {
			blocked_ms = 0;
			named = false;
		} else if (idle_now_ns == idle_ns && (state == 'S' || state == 'D')) {
			blocked_ms += elapsed_ms(looked_ns, now_ns);
		}
		turn = turn_now;
		idle_ns = idle_now_ns;
		looked_ns = now_ns;
		if (blocked_ms >= a->limit_ms && !named) {
			named = true;
			syscall(SYS_tgkill, getpid(), a->tid, ALARM_SIGNAL);
		}
	}
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

int ing_turn_alarm_new(
	uv_loop_t *loop, unsigned limit_ms, struct ing_turn_alarm **ret, struct ing_error *err)
{
	struct ing_turn_alarm *a = ing_alloc(sizeof(*a));
	a->loop = loop;
	a->limit_ms = limit_ms;
	a->tid = (pid_t)syscall(SYS_gettid);
	a->stat_fd = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC);
	if (a->stat_fd < 0) {
		free(a);
		return ing_error_sys(err, errno, "/proc/thread-self/stat");
	}
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = ALARM_SIGNAL};
	event.sigev_notify_thread_id = a->tid;
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &a->timer) != 0) {
		int rc = ing_error_sys(err, errno, "timer_create");
		close(a->stat_fd);
		free(a);
		return rc;
	}
	void *frame;
	(void)backtrace(&frame, 1);
	limit_of_handler = limit_ms;
	struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigaction(ALARM_SIGNAL, &action, &a->old_action);
	*ret = a;
	return 0;
}

void ing_turn_alarm_begin(struct ing_turn_alarm *a)
{
	atomic_store(&a->ending, false);
	ing_turn_alarm_next(a);
	a->watching = pthread_create(&a->watcher, NULL, watch, a) == 0;
	ing_must(a->watching); /* a test that cannot watch proves nothing */
}

void ing_turn_alarm_next(struct ing_turn_alarm *a)
{
	atomic_fetch_add(&a->turn, 1);
	reports_in_turn = 0;
	set_timer(a, a->limit_ms);
}

void ing_turn_alarm_end(struct ing_turn_alarm *a)
{
	set_timer(a, 0);
	atomic_store(&a->ending, true);
	if (a->watching)
		pthread_join(a->watcher, NULL);
	a->watching = false;
}

void ing_turn_alarm_free(struct ing_turn_alarm *a)
{
	if (a == NULL)
		return;
	timer_delete(a->timer);
	sigaction(ALARM_SIGNAL, &a->old_action, NULL);
	close(a->stat_fd);
	free(a);
}
