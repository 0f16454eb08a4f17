/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The zygote from the pool's side: started without the worker's environment and signals, in a
 * process group of its own, so that a ^C at the terminal reaches the worker alone, and so that one
 * kill reaches all that the zygote has forked.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "common/base/log.h"
#include "common/base/fd_shortage.h"
#include "worker/examine/fdpass.h"
#include "worker/examine/pool_priv.h"

static bool wants_stderr(void)
{
#ifdef ING_SANITIZED
	return true; /* the sanitizer's reports */
#else
	return ing_log_wants(ING_LOG_DEBUG);
#endif
}

/* posix_spawn with everything of ours left behind. 0 or an error number. */
static int spawn_process(const struct ing_pool *p, int control_fd, int rules_fd, pid_t *ret_pid)
{
	char memory[32];
	char timeout[16];
	char *path = NULL;
	char *env[ING_EXAMINER_ENVIRONMENT];
	char option_memory[] = "--memory";
	char option_timeout[] = "--timeout";
	char option_rules[] = "--rules";
	char option_stderr[] = "--stderr";
	memcpy(&path, &p->conf.examiner_path, sizeof(path)); /* argv has no const */
	snprintf(memory, sizeof(memory), "%zu", p->conf.settings.memory_bytes);
	snprintf(timeout, sizeof(timeout), "%u", p->conf.settings.timeout_ms);
	char *argv[8] = {path, option_memory, memory, option_timeout, timeout};
	size_t argc = 5;
	if (rules_fd >= 0)
		argv[argc++] = option_rules;
	if (wants_stderr())
		argv[argc++] = option_stderr;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	sigset_t all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, control_fd, ING_ZYGOTE_FD);
	if (rules_fd >= 0) /* above both (copy_rules_fd()), so it is still open */
		posix_spawn_file_actions_adddup2(&files, rules_fd, ING_RULES_FD);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(
		&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	int rc = posix_spawn(ret_pid, path, &files, &attr, argv, ing_examiner_environment(env));
	ing_examiner_environment_free(env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

static struct ing_pool_examiner *find_examiner(const struct ing_pool_zygote *z, uint32_t id)
{
	struct ing_pool_examiner *e;
	DL_FOREACH (z->pool->examiners, e)
		if (e->id == id && e->zygote == z)
			return e;
	return NULL;
}

static void log_ready(int landlock_abi)
{
#ifdef ING_SANITIZED
	(void)landlock_abi;
	ing_log(ING_LOG_WARNING,
		"examiner: ready, in a sanitized build's sandbox: a test, no protection");
#else
	if (landlock_abi > 0)
		ing_log(ING_LOG_INFO, "examiner: ready, sandboxed by seccomp and Landlock (ABI %d)",
			landlock_abi);
	else
		ing_log(ING_LOG_INFO,
			"examiner: ready, sandboxed by seccomp; this kernel has no Landlock");
#endif
}

/* Report the end of the reload. */
static void end_reload(struct ing_pool *p, bool good)
{
	ing_pool_reloaded_f *reloaded = ING_TAKE(p->reloaded);
	if (!p->closing)
		reloaded(p->reloaded_ctx, good);
}

/* The zygote with the new rules is ready and replaces the current one. */
static void promote(struct ing_pool *p)
{
	struct ing_pool_zygote *before = p->zygote;
	p->zygote = ING_TAKE(p->next);
	if (p->rules_fd >= 0)
		close(p->rules_fd);
	p->rules_fd = p->next_rules_fd;
	p->next_rules_fd = -1;
	if (before != NULL) {
		DL_APPEND(p->retired, before);
		ing_examiner_retire_all(before);
		ing_zygote_end_if_done(before);
	}
	ing_pool_refill(p);
	end_reload(p, true);
}

/* Returns false when the zygote is of another version. */
static bool handle_message(struct ing_pool_zygote *z, const struct ing_zygote_message *m)
{
	if (m->version != ING_ZYGOTE_VERSION)
		return false;
	if (m->kind == ING_ZYGOTE_READY) {
		z->ready = true;
		uv_timer_stop(&z->timer);
		log_ready(m->status);
		if (z == z->pool->next)
			promote(z->pool);
		return true;
	}
	if (m->kind != ING_ZYGOTE_EXIT)
		return false;
	struct ing_pool_examiner *e = find_examiner(z, m->id);
	if (e != NULL)
		ing_examiner_exited(e, m);
	return true;
}

static void on_control(uv_poll_t *poll, int status, int events)
{
	struct ing_pool_zygote *z;
	ING_CAST_OBJ(z, poll->data, ING_ZYGOTE_MAGIC);
	(void)events;
	if (status < 0) { /* it left messages unread */
		ing_zygote_lost(z, z->ready ? "died" : "could not start");
		return;
	}
	/* What is called here may free the pool or lose the zygote; both end it. */
	while (!z->ended) {
		struct ing_zygote_message m;
		ssize_t n = recv(z->fd, &m, sizeof(m), MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			ing_zygote_lost(z, z->ready ? "died" : "could not start");
		else if (n != (ssize_t)sizeof(m) || !handle_message(z, &m))
			ing_zygote_lost(z, "is of another version");
	}
}

static void on_start_timer(uv_timer_t *timer)
{
	struct ing_pool_zygote *z;
	ING_CAST_OBJ(z, timer->data, ING_ZYGOTE_MAGIC);
	ing_zygote_lost(z, "was not ready in time");
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct ing_pool_zygote *z;
	ING_CAST_OBJ(z, handle->data, ING_ZYGOTE_MAGIC);
	struct ing_pool *p = z->pool;
	if (--z->open_handles == 0) {
		z->magic = 0;
		free(z);
	}
	ing_pool_handle_closed(p);
}

/* The newest first. */
static struct ing_pool_examiner *last_examiner(const struct ing_pool_zygote *z)
{
	struct ing_pool_examiner *last = NULL;
	struct ing_pool_examiner *e;
	DL_FOREACH (z->pool->examiners, e)
		if (e->zygote == z)
			last = e;
	return last;
}

/* From the newest to the oldest, so that the oldest is again the first in the queue. */
static void requeue_documents(struct ing_pool_zygote *z)
{
	struct ing_pool *p = z->pool;
	struct ing_pool_examiner *e;
	while ((e = last_examiner(z)) != NULL) {
		struct ing_exam_task *t = ING_TAKE(e->task);
		if (t != NULL)
			ing_pool_requeue(p, t);
		ing_examiner_close(e);
	}
}

/* -------------------------------------------------------------------------------------------- */

int ing_zygote_start(
	struct ing_pool *p, int rules_fd, struct ing_pool_zygote **ret, struct ing_error *err)
{
	int ends[2];
	pid_t pid;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		int errnum = errno;
		ing_fd_shortage_note(errnum);
		return ing_error_sys(err, errnum, "examiner: control socket");
	}
	int rc = spawn_process(p, ends[1], rules_fd, &pid);
	close(ends[1]);
	if (rc != 0) {
		close(ends[0]);
		return ing_error_sys(err, rc, "examiner: cannot start %s", p->conf.examiner_path);
	}
	struct ing_pool_zygote *z = ing_alloc(sizeof(*z));
	z->magic = ING_ZYGOTE_MAGIC;
	z->pool = p;
	z->pid = pid;
	z->fd = ends[0];
	rc = uv_poll_init(p->loop, &z->poll, z->fd); /* makes the descriptor non-blocking */
	ing_must(rc == 0);
	uv_timer_init(p->loop, &z->timer);
	z->poll.data = z->timer.data = z;
	z->open_handles = 2;
	p->open_handles += 2;
	p->stats.zygotes++;
	rc = uv_poll_start(&z->poll, UV_READABLE, on_control);
	ing_must(rc == 0);
	uv_update_time(p->loop);
	uv_timer_start(&z->timer, on_start_timer, ING_POOL_START_MS, 0);
	*ret = z;
	return 0;
}

bool ing_zygote_send(
	struct ing_pool_zygote *z, enum ing_zygote_message_kind kind, uint32_t id, int fd)
{
	struct ing_zygote_message m = {.version = ING_ZYGOTE_VERSION, .kind = kind, .id = id};
	return z != NULL && !z->ended &&
	       ing_fd_send(z->fd, &m, sizeof(m), 0, fd) == (ssize_t)sizeof(m);
}

void ing_zygote_end(struct ing_pool_zygote *z)
{
	if (z == NULL || z->ended)
		return;
	struct ing_pool *p = z->pool;
	z->ended = true;
	if (p->zygote == z)
		p->zygote = NULL;
	else if (p->next == z)
		p->next = NULL;
	else
		DL_DELETE(p->retired, z);
	/* Not reaped yet, so neither number can have been given to anybody else. */
	kill(-z->pid, SIGKILL);
	kill(z->pid, SIGKILL);
	while (waitpid(z->pid, NULL, 0) < 0 && errno == EINTR)
		;
	uv_close((uv_handle_t *)&z->poll, on_handle_closed); /* before its descriptor */
	close(z->fd);
	uv_close((uv_handle_t *)&z->timer, on_handle_closed);
}

void ing_zygote_end_if_done(struct ing_pool_zygote *z)
{
	struct ing_pool *p = z->pool;
	if (z->examiners == 0 && !z->ended && z != p->zygote && z != p->next)
		ing_zygote_end(z);
}

void ing_zygote_lost(struct ing_pool_zygote *z, const char *detail)
{
	struct ing_pool *p = z->pool;
	if (z->ended)
		return;
	bool next = z == p->next;
	bool current = z == p->zygote;
	ing_log(ING_LOG_ERROR, "examiner: the zygote (process %d) %s%s", (int)z->pid, detail,
		current ? "; starting another" : "");
	ing_zygote_end(z);
	if (next) {
		if (p->next_rules_fd >= 0)
			close(p->next_rules_fd);
		p->next_rules_fd = -1;
		end_reload(p, false);
		return;
	}
	requeue_documents(z);
	ing_pool_refill_later(p);
	ing_pool_dispatch(
		p); /* they wait for max_wait_ms at most if no other zygote can be started */
	while (!p->closing && p->failed != NULL)
		ing_pool_fail(
			p->failed, ING_EXAM_CRASH, "the examiners' parent process died twice");
}
