/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The zygote is trusted: it loads, forks, kills and reaps, and passes sockets on. children.c keeps
 * its forks.
 */
#include "worker/examine/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/document/document.h"
#include "worker/examine/children.h"
#include "worker/examine/ipc.h"
#include "worker/examine/fdpass.h"
#include "worker/examine/sandbox.h"

enum { POLL_CONTROL, POLL_SIGNAL, POLL_CHILDREN };

struct zygote {
	struct ing_sandbox *sandbox;
	struct ing_children *children;
	int signal_fd;
};

/* Returns false when the pool is gone. */
static bool send_message(uint32_t kind, uint32_t id, int status, uint64_t cpu_us)
{
	struct ing_zygote_message m = {.version = ING_ZYGOTE_VERSION,
		.kind = kind,
		.id = id,
		.status = status,
		.cpu_us = cpu_us};
	return ing_fd_send(ING_ZYGOTE_FD, &m, sizeof(m), 0, -1) == (ssize_t)sizeof(m);
}

static bool send_exit(uint32_t id, int status, uint64_t cpu_us)
{
	return send_message(ING_ZYGOTE_EXIT, id, status, cpu_us);
}

static bool reap(struct zygote *z)
{
	struct signalfd_siginfo info;
	while (read(z->signal_fd, &info, sizeof(info)) > 0)
		; /* signals coalesce, so all children are waited for */
	return ing_children_reap(z->children);
}

static bool handle_message(struct zygote *z)
{
	struct ing_zygote_message m;
	int fd = -1;
	ssize_t n = ing_fd_recv(ING_ZYGOTE_FD, &m, sizeof(m), 0, &fd);
	bool good = n == (ssize_t)sizeof(m) && m.version == ING_ZYGOTE_VERSION;
	if (good && m.kind == ING_ZYGOTE_SPAWN && !ing_children_spawn(z->children, m.id, fd))
		good = send_exit(m.id, W_EXITCODE(ING_EXIT_FORK, 0), 0);
	else if (good && m.kind == ING_ZYGOTE_KILL)
		ing_children_kill(z->children, m.id);
	if (fd >= 0)
		close(fd);
	return good;
}

static void serve_pool(struct zygote *z)
{
	static struct pollfd fds[POLL_CHILDREN + ING_MAX_EXAMINERS];
	fds[POLL_CONTROL] = (struct pollfd){.fd = ING_ZYGOTE_FD, .events = POLLIN};
	fds[POLL_SIGNAL] = (struct pollfd){.fd = z->signal_fd, .events = POLLIN};
	for (;;) {
		int wait_ms;
		size_t count = ing_children_poll_fds(z->children, fds + POLL_CHILDREN, &wait_ms);
		if (poll(fds, POLL_CHILDREN + count, wait_ms) < 0) {
			if (errno != EINTR)
				return;
			continue;
		}
		/* Deaths first, so that an id is gone before the pool's answer to its death is
		 * read. Examiners last: they may ask as often as they like. */
		if ((fds[POLL_SIGNAL].revents & POLLIN) != 0 && !reap(z))
			return;
		if (fds[POLL_CONTROL].revents != 0 && !handle_message(z))
			return;
		ing_children_handle(z->children, fds + POLL_CHILDREN, count);
	}
}

/* A fork for each level that enters it and leaves: better one clear message here than examiners
 * that die one by one. */
static int prove_sandbox(
	const struct ing_sandbox *sb, enum ing_sandbox_level level, size_t memory_bytes)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct ing_error err = {0};
		if (ing_sandbox_enter(sb, level, memory_bytes, &err) == 0)
			_exit(0);
		dprintf(STDERR_FILENO, "<3>examiner: %s\n", err.msg);
		_exit(ING_EXIT_SANDBOX);
	}
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	if (status != 0)
		dprintf(STDERR_FILENO,
			"<3>examiner: the sandbox cannot be closed (wait status %d)\n", status);
	return status == 0 ? 0 : -1;
}

/* /dev/null above the places of forks' sockets, which it holds free: nothing that stays open here
 * may land where a fork puts its own. */
static int open_null(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int high = fcntl(fd, F_DUPFD_CLOEXEC, ING_RULES_FD + 1);
	if (high < 0 || dup3(high, ING_RULES_FD, O_CLOEXEC) < 0)
		return -1;
	if (fd != ING_RULES_FD)
		close(fd);
	return high;
}

static int load(const struct ing_zygote_conf *conf, int *ret_null_fd)
{
	struct ing_error err = {0};
	close_range((conf->rules ? ING_RULES_FD : ING_ZYGOTE_FD) + 1, ~0u, 0);
	fcntl(ING_ZYGOTE_FD, F_SETFD, FD_CLOEXEC);
	if (conf->rules && ing_document_load_rules(ING_RULES_FD, &err) != 0) {
		dprintf(STDERR_FILENO, "<3>examiner: %s\n", err.msg);
		return ING_EXIT_RULES;
	}
	*ret_null_fd = open_null();
	if (*ret_null_fd < 0)
		return ING_EXIT_SANDBOX;
	ing_document_warm();
	return 0;
}

static int make_sandbox(const struct ing_zygote_conf *conf, struct ing_sandbox **ret)
{
	struct ing_error err = {0};
	if (ing_sandbox_new(ret, &err) != 0) {
		dprintf(STDERR_FILENO, "<3>examiner: %s\n", err.msg);
		return ING_EXIT_SANDBOX;
	}
	for (int level = 0; level < ING_SANDBOX_LEVELS_; level++) {
		if (prove_sandbox(*ret, (enum ing_sandbox_level)level, conf->memory_bytes) != 0)
			return ING_EXIT_SANDBOX;
	}
	return 0;
}

static int start(struct zygote *z, const struct ing_zygote_conf *conf)
{
	sigset_t chld;
	int null_fd = -1;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* the pool hanging up ends us as well */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	int code = load(conf, &null_fd);
	if (code == 0)
		code = make_sandbox(conf, &z->sandbox);
	if (code != 0)
		return code;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	z->signal_fd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (z->signal_fd < 0)
		return ING_EXIT_SANDBOX;
	struct ing_children_conf children = {
		.child = {.sandbox = z->sandbox,
			.memory_bytes = conf->memory_bytes,
			.null_fd = conf->keep_stderr ? -1 : null_fd,
			.parent = getpid()},
		.max_reader_ms = conf->timeout_ms,
		.exited = send_exit,
	};
	ing_child_raise_oom_score(&children.child);
	z->children = ing_children_new(&children);
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_zygote_prove(const struct ing_zygote_conf *conf)
{
	struct ing_sandbox *sandbox = NULL;
	int code = make_sandbox(conf, &sandbox);
	ing_sandbox_free(sandbox);
	return code;
}

int ing_zygote_run(const struct ing_zygote_conf *conf)
{
	struct zygote z = {0};
	int code = start(&z, conf);
	if (code == 0 && send_message(ING_ZYGOTE_READY, 0, ing_sandbox_landlock(z.sandbox), 0))
		serve_pool(&z);
	ing_children_free(z.children);
	ing_sandbox_free(z.sandbox);
	return code;
}
