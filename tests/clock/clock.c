/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A wall clock that a test may set while the program runs; README.md says what is covered. The true
 * time is asked for by syscall(2), so that no call of ours is one of those that we stand in
 * front of.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NS_PER_S INT64_C(1000000000)
#define SLICE_NS (50 * INT64_C(1000000)) /* how long a wait may miss that the clock was set */
/* A time of the wall clock, and not of one that counts from the machine's start. */
#define WALL_S INT64_C(1000000000)

/* Constructors of other libraries may ask for the time before ours has run. */
static const volatile int64_t no_offset_s;
static const volatile int64_t *offset_s = &no_offset_s;

__attribute__((constructor)) static void map_offset(void)
{
	const char *path = getenv("ING_CLOCK_FILE");
	int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *page =
		fd >= 0 ? mmap(NULL, sizeof(*offset_s), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (page == MAP_FAILED)
		_exit(99); /* a test without its clock would show nothing */
	close(fd);
	offset_s = page;
}

static int64_t wall_ns(void)
{
	struct timespec t;
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
}

/* How long the next part of a wait until `until` lasts at most; 0: it is over. */
static int64_t slice_ns(const struct timespec *until)
{
	int64_t left = until->tv_sec * NS_PER_S + until->tv_nsec - wall_ns() - *offset_s * NS_PER_S;
	return left <= 0 ? 0 : left < SLICE_NS ? left : SLICE_NS;
}

/* -------------------------------------------------------------------------------------------- */

EXPORT int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, ret);
	if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		ret->tv_sec += *offset_s;
	return rc;
}

EXPORT int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
	int64_t ns = wall_ns();
	(void)zone;
	ret->tv_sec = ns / NS_PER_S + *offset_s;
	ret->tv_usec = ns % NS_PER_S / 1000;
	return 0;
}

EXPORT time_t time(time_t *ret)
{
	time_t now = wall_ns() / NS_PER_S + *offset_s;
	if (ret != NULL)
		*ret = now;
	return now;
}

EXPORT int timespec_get(struct timespec *ret, int base)
{
	if (base != TIME_UTC)
		return 0;
	*ret = timespec_of(wall_ns());
	ret->tv_sec += *offset_s;
	return base;
}

EXPORT int cnd_timedwait(
	cnd_t *restrict cnd, mtx_t *restrict mtx, const struct timespec *restrict until)
{
	static int (*next)(cnd_t *, mtx_t *, const struct timespec *);
	if (next == NULL)
		next = dlsym(RTLD_NEXT, "cnd_timedwait");
	for (;;) {
		int64_t slice = slice_ns(until);
		struct timespec to = timespec_of(wall_ns() + slice);
		int rc = next(cnd, mtx, &to);
		if (rc != thrd_timedout || slice == 0)
			return rc;
	}
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
	const struct timespec *restrict until)
{
	static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	if (next == NULL)
		next = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	if (until->tv_sec < WALL_S)
		return next(cond, mutex, until);
	for (;;) {
		int64_t slice = slice_ns(until);
		struct timespec to = timespec_of(wall_ns() + slice);
		int rc = next(cond, mutex, &to);
		if (rc != ETIMEDOUT || slice == 0)
			return rc;
	}
}
