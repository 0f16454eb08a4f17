/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The zygote is trusted: it forks, kills and reaps, and passes sockets on. It is the subreaper of
 * its examiners, so that a process which an examiner left behind becomes our child and is killed.
 */
#include "worker/examine/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "worker/document/document.h"
#include "worker/examine/control.h"
#include "worker/examine/fdpass.h"
#include "worker/examine/sandbox.h"
#include "worker/examine/serve.h"

#define MAX_EXAMINERS 1024 /* a pool asks for some per core */

struct examiner {
	uint32_t id;
	pid_t pid;
};

struct zygote {
	struct ing_serve_conf serve;
	struct examiner examiners[MAX_EXAMINERS];
	size_t count;
	int signal_fd;
};

/* False when the pool is gone. */
static bool tell(uint32_t kind, uint32_t id, int status, uint64_t cpu_us)
{
	struct ing_control m = {.version = ING_CONTROL_VERSION,
		.kind = kind,
		.id = id,
		.status = status,
		.cpu_us = cpu_us};
	return ing_fd_send(ING_CONTROL_FD, &m, sizeof(m), -1) == (ssize_t)sizeof(m);
}

static bool spawn_examiner(struct zygote *z, uint32_t id, int sock)
{
	pid_t pid = -1;
	if (z->count < MAX_EXAMINERS && sock >= 0)
		pid = fork();
	if (pid == 0)
		ing_serve(&z->serve, sock);
	if (pid < 0)
		return tell(ING_CONTROL_EXIT, id, W_EXITCODE(ING_EXIT_FORK, 0), 0);
	z->examiners[z->count++] = (struct examiner){.id = id, .pid = pid};
	return true;
}

static void kill_examiner(const struct zygote *z, uint32_t id)
{
	for (size_t i = 0; i < z->count; i++)
		if (z->examiners[i].id == id)
			kill(z->examiners[i].pid, SIGKILL);
}

static bool is_examiner(const struct zygote *z, long pid)
{
	for (size_t i = 0; i < z->count; i++)
		if (z->examiners[i].pid == pid)
			return true;
	return false;
}

/* A PDF fork dies with its examiner; what else an examiner has started was not ours to start. */
static void kill_orphans(const struct zygote *z)
{
	char path[64];
	char line[4096];
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* a kernel without this list */
	ssize_t n = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	char *at = line;
	for (;;) {
		char *end;
		long pid = strtol(at, &end, 10);
		if (end == at || pid <= 1)
			break;
		if (!is_examiner(z, pid))
			kill((pid_t)pid, SIGKILL);
		at = end;
	}
}

static bool reap(struct zygote *z)
{
	struct signalfd_siginfo info;
	while (read(z->signal_fd, &info, sizeof(info)) > 0)
		; /* signals coalesce: the loop below asks for everybody */
	for (;;) {
		int status;
		struct rusage u;
		pid_t pid = wait4(-1, &status, WNOHANG, &u);
		if (pid <= 0)
			return true;
		for (size_t i = 0; i < z->count; i++) {
			if (z->examiners[i].pid != pid)
				continue;
			uint32_t id = z->examiners[i].id;
			z->examiners[i] = z->examiners[--z->count];
			kill_orphans(z);
			uint64_t cpu_us =
				(uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
				(uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
			if (!tell(ING_CONTROL_EXIT, id, status, cpu_us))
				return false;
			break;
		}
	}
}

static bool obey(struct zygote *z)
{
	struct ing_control m;
	int fd;
	ssize_t n = ing_fd_recv(ING_CONTROL_FD, &m, sizeof(m), &fd);
	bool good = n == (ssize_t)sizeof(m) && m.version == ING_CONTROL_VERSION;
	if (good && m.kind == ING_CONTROL_SPAWN)
		good = spawn_examiner(z, m.id, fd);
	else if (good && m.kind == ING_CONTROL_KILL)
		kill_examiner(z, m.id);
	if (fd >= 0)
		close(fd);
	return good;
}

static void serve_pool(struct zygote *z)
{
	struct pollfd fds[2] = {
		{.fd = ING_CONTROL_FD, .events = POLLIN}, {.fd = z->signal_fd, .events = POLLIN}};
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		/* Deaths first, so that an id is gone before the pool's answer to its death is
		 * read. */
		if ((fds[1].revents & POLLIN) != 0 && !reap(z))
			return;
		if (fds[0].revents != 0 && !obey(z))
			return;
	}
}

/* A fork that enters both levels and leaves: better one clear message here than examiners that die
 * one by one. */
static int prove_sandbox(const struct ing_sandbox *sb, size_t memory_bytes)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct ing_error err = {0};
		if (ing_sandbox_enter(sb, ING_SANDBOX_EXAMINER, memory_bytes, &err) == 0 &&
			ing_sandbox_enter(sb, ING_SANDBOX_PDF, memory_bytes, &err) == 0)
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

static int start(
	struct zygote *z, const struct ing_zygote_conf *conf, struct ing_sandbox **ret_sandbox)
{
	sigset_t chld;
	struct ing_error err = {0};
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* the pool hanging up ends us as well */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	close_range((conf->rules ? ING_RULES_FD : ING_CONTROL_FD) + 1, ~0u, 0);
	fcntl(ING_CONTROL_FD, F_SETFD, FD_CLOEXEC);
	if (conf->rules && ing_document_load_rules(ING_RULES_FD, &err) != 0) {
		dprintf(STDERR_FILENO, "<3>examiner: %s\n", err.msg);
		return ING_EXIT_RULES;
	}
	if (conf->rules)
		close(ING_RULES_FD);
	ing_document_warm();
	if (ing_sandbox_new(ret_sandbox, &err) != 0) {
		dprintf(STDERR_FILENO, "<3>examiner: %s\n", err.msg);
		return ING_EXIT_SANDBOX;
	}
	if (prove_sandbox(*ret_sandbox, conf->memory_bytes) != 0)
		return ING_EXIT_SANDBOX;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	z->signal_fd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (z->signal_fd < 0 || null_fd < 0)
		return ING_EXIT_SANDBOX;
	z->serve = (struct ing_serve_conf){.sandbox = *ret_sandbox,
		.memory_bytes = conf->memory_bytes,
		.null_fd = conf->keep_stderr ? -1 : null_fd,
		.parent = getpid()};
	return 0;
}

int ing_zygote_run(const struct ing_zygote_conf *conf)
{
	struct ing_sandbox *sandbox = NULL;
	struct zygote *z = ing_alloc(sizeof(*z));
	int code = start(z, conf, &sandbox);
	if (code == 0 && tell(ING_CONTROL_READY, 0, ing_sandbox_landlock(sandbox), 0))
		serve_pool(z);
	for (size_t i = 0; i < z->count; i++)
		kill(z->examiners[i].pid, SIGKILL);
	kill_orphans(z);
	while (waitpid(-1, NULL, 0) > 0)
		;
	ing_sandbox_free(sandbox);
	free(z);
	return code;
}
