/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A pipe, a fork, a deadline. The child's whole output and its exit status 0 together are an
 * answer; anything less is none.
 */
#include "worker/ctl/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/io.h"

/* Address space of the child: the file, its decoded copy, a tree. */
#define CHILD_MEMORY_BYTES ((rlim_t)2 << 30)

static void limit(int what, rlim_t value)
{
	struct rlimit r = {.rlim_cur = value, .rlim_max = value};
	(void)setrlimit(what, &r);
}

ING_NORETURN static void run_child(ing_ctl_child_f *fn, void *ctx, unsigned timeout_ms, int fd)
{
	ing_ctl_child_limits(timeout_ms / 1000 + 1);
	struct ing_buf out;
	ing_buf_init(&out, ING_CTL_CHILD_BYTES);
	fn(ctx, &out);
	bool sent = !out.failed && ing_write_all(fd, ing_buf_str(&out), out.len) == 0;
	_exit(sent ? 0 : 1);
}

/* Read until the child closes its end. 0 or a failure. */
static int collect(int fd, uint64_t end_ms, struct ing_buf *ret)
{
	for (;;) {
		uint64_t now = ing_now_ms();
		if (now >= end_ms)
			return -ING_FAIL_TIMEOUT;
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (poll(&p, 1, (int)(end_ms - now)) <= 0)
			continue; /* interrupted, or the deadline: the loop's head tells */
		void *to = ing_buf_reserve(ret, (size_t)64 << 10);
		if (to == NULL)
			return -ING_FAIL_TOO_BIG;
		ssize_t n = read(fd, to, (size_t)64 << 10);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -ING_FAIL_SYSTEM;
		if (n > 0)
			ing_buf_commit(ret, (size_t)n);
	}
}

static int wait_for(pid_t pid)
{
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static int explain(int rc, int status, unsigned timeout_ms, struct ing_error *err)
{
	if (rc == 0 && status == 0)
		return 0;
	if (rc == -ING_FAIL_TIMEOUT || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		return ing_error_set(
			err, ING_FAIL_TIMEOUT, "not finished after %u seconds", timeout_ms / 1000);
	if (rc == -ING_FAIL_TOO_BIG || (WIFEXITED(status) && rc == 0))
		return ing_error_set(err, ING_FAIL_TOO_BIG, "the answer is too large");
	if (rc < 0)
		return ing_error_set(err, ING_FAIL_SYSTEM, "no answer from the child");
	return ing_error_set(err, ING_FAIL_CRASH, "the parser process died of signal %d",
		WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* -------------------------------------------------------------------------------------------- */

void ing_ctl_child_limits(unsigned cpu_s)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit(RLIMIT_CORE, 0);
	if (cpu_s > 0)
		limit(RLIMIT_CPU, cpu_s);
#ifndef ING_SANITIZED /* whose shadow memory is larger than any limit */
	limit(RLIMIT_AS, CHILD_MEMORY_BYTES);
#endif
}

int ing_ctl_child(ing_ctl_child_f *fn, void *ctx, unsigned timeout_ms, struct ing_buf *ret,
	struct ing_error *err)
{
	int fds[2];
	ing_buf_init(ret, ING_CTL_CHILD_BYTES + ((size_t)64 << 10));
	if (pipe2(fds, O_CLOEXEC) != 0)
		return ing_error_sys(err, errno, "pipe");
	fflush(NULL); /* so that the child has nothing of ours to write */
	pid_t pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return ing_error_sys(err, errno, "fork");
	}
	if (pid == 0)
		run_child(fn, ctx, timeout_ms, fds[1]);
	close(fds[1]);
	int rc = collect(fds[0], ing_now_ms() + timeout_ms, ret);
	close(fds[0]);
	if (rc < 0)
		kill(pid, SIGKILL);
	rc = explain(rc, wait_for(pid), timeout_ms, err);
	if (rc < 0)
		ing_buf_done(ret);
	return rc;
}
