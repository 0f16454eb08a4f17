/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What needs more rights than the sandbox leaves is done before it closes: /proc is written,
 * descriptors are moved.
 */
#include "worker/examine/child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker/examine/ipc.h"

#define MAX_SOCKS 2
#define OOM_SCORE 1000       /* the highest: before the worker, whatever the worker's size */
#define ZYGOTE_OOM_SCORE 900 /* its forks go first: it takes all of them with it */

/* First above all targets, so that no move overwrites a socket that is still to be moved. */
static void move_socks(const int *socks, size_t count)
{
	int high[MAX_SOCKS];
	ing_must(count <= MAX_SOCKS);
	for (size_t i = 0; i < count; i++) {
		high[i] = fcntl(socks[i], F_DUPFD_CLOEXEC, ING_CHILD_FD + MAX_SOCKS);
		if (high[i] < 0)
			_exit(ING_EXIT_PROTOCOL);
	}
	for (size_t i = 0; i < count; i++) {
		if (dup2(high[i], ING_CHILD_FD + (int)i) < 0)
			_exit(ING_EXIT_PROTOCOL);
	}
}

static void set_oom_score(int fd, int score)
{
	char text[16];
	if (fd < 0)
		return;
	int n = snprintf(text, sizeof(text), "%d", score);
	ssize_t written = pwrite(fd, text, (size_t)n, 0);
	(void)written;
}

/* -------------------------------------------------------------------------------------------- */

void ing_child_raise_oom_score(struct ing_child_conf *conf)
{
	char text[16] = "";
	/* Raising needs no privilege. Where /proc is read-only the score stays, and the memory
	 * limits alone protect the worker. */
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	conf->oom_fd = -1;
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) <= 0) {
		close(fd);
		return;
	}
	conf->oom_fd = fd;
	conf->oom_score = ING_MAX((int)strtol(text, NULL, 10), ZYGOTE_OOM_SCORE);
	set_oom_score(fd, conf->oom_score);
}

pid_t ing_child_fork(const struct ing_child_conf *conf)
{
	set_oom_score(conf->oom_fd, OOM_SCORE);
	pid_t pid = fork();
	if (pid != 0)
		set_oom_score(conf->oom_fd, conf->oom_score);
	return pid;
}

void ing_child_enter_sandbox(const struct ing_child_conf *conf, enum ing_sandbox_level level,
	const int *socks, size_t count)
{
	struct ing_error err = {0};
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	move_socks(socks, count);
	int error_fd = dup(STDERR_FILENO); /* for our own errors; closed below */
	if (conf->null_fd >= 0)
		dup2(conf->null_fd, STDERR_FILENO);
	if (ing_sandbox_enter(conf->sandbox, level, conf->memory_bytes, &err) != 0) {
		dprintf(error_fd, "<3>examiner: %s\n", err.msg);
		_exit(ING_EXIT_SANDBOX);
	}
	/* A zygote that died before the death signal was set is seen by its absence. */
	if (getppid() != conf->parent)
		_exit(ING_EXIT_ORPHAN);
	if (close_range(ING_CHILD_FD + (unsigned)count, ~0u, 0) != 0)
		_exit(ING_EXIT_SANDBOX);
}
