/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A slot is an examiner with its reader. It is freed when both are reaped, and only then is the
 * examiner's death reported, so that the pool's number of examiners bounds the processes.
 */
#include "worker/examine/children.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "worker/examine/ipc.h"
#include "worker/examine/fdpass.h"
#include "worker/examine/pdf_reader.h"
#include "worker/examine/serve.h"

struct reader {
	pid_t pid; /* 0: none */
	uint64_t deadline_ms;
	bool timed_out; /* killed at its deadline */
};

struct examiner {
	uint32_t id;
	pid_t pid; /* 0: dead and reaped */
	int status;
	uint64_t cpu_us; /* of the dead: itself and its readers */
	int link;        /* -1: it has closed its end */
	struct reader reader;
};

struct ing_children {
	struct ing_children_conf conf;
	struct examiner *slots[ING_MAX_EXAMINERS];
	size_t count;
};

static void kill_pid(pid_t pid)
{
	if (pid > 0)
		kill(pid, SIGKILL);
}

static void close_link(struct examiner *e)
{
	if (e->link >= 0)
		close(e->link);
	e->link = -1;
}

static uint64_t cpu_of(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

/* ---- readers ---- */

/* An examiner whose socket is full does not read it, and is killed. */
static void send_event(struct examiner *e, const struct ing_pdf_reader_event *event, int fd)
{
	if (e->link >= 0 && ing_fd_send(e->link, event, sizeof(*event), MSG_DONTWAIT, fd) !=
				    (ssize_t)sizeof(*event))
		kill_pid(e->pid);
}

static void report_end(struct examiner *e, int status, uint64_t cpu_us)
{
	const struct ing_pdf_reader_event event = {.version = ING_PDF_READER_VERSION,
		.kind = ING_PDF_READER_ENDED,
		.status = status,
		.timed_out = e->reader.timed_out,
		.cpu_us = cpu_us};
	send_event(e, &event, -1);
}

static bool fork_reader(
	struct ing_children *c, struct examiner *e, const struct ing_pdf_reader_request *request)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	pid_t pid = ing_child_fork(&c->conf.child);
	if (pid == 0)
		ing_pdf_reader_run(&c->conf.child, ends[0], request);
	close(ends[0]);
	if (pid > 0) {
		const struct ing_pdf_reader_event event = {
			.version = ING_PDF_READER_VERSION, .kind = ING_PDF_READER_STARTED};
		e->reader = (struct reader){
			.pid = pid, .deadline_ms = ing_now_ms() + request->timeout_ms};
		send_event(e, &event, ends[1]);
	}
	close(ends[1]);
	return pid > 0;
}

static void read_request(struct ing_children *c, struct examiner *e)
{
	struct ing_pdf_reader_request r;
	ssize_t n = ing_fd_recv(e->link, &r, sizeof(r), MSG_DONTWAIT | MSG_TRUNC, NULL);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n == 0) {
		close_link(e);
		return;
	}
	if (n != (ssize_t)sizeof(r) || r.version != ING_PDF_READER_VERSION || e->reader.pid > 0) {
		close_link(e);
		kill_pid(e->pid);
		return;
	}
	if (c->conf.max_reader_ms > 0)
		r.timeout_ms = ING_MIN(r.timeout_ms, c->conf.max_reader_ms);
	e->reader = (struct reader){0};
	if (!fork_reader(c, e, &r))
		report_end(e, W_EXITCODE(ING_EXIT_FORK, 0), 0);
}

static void check_deadline(struct examiner *e, uint64_t now_ms)
{
	struct reader *r = &e->reader;
	if (r->pid == 0 || r->timed_out || now_ms < r->deadline_ms)
		return;
	r->timed_out = true;
	kill_pid(r->pid);
}

/* ---- ends ---- */

/* Free the slot when both processes are reaped. Returns false when the pool is gone. */
static bool free_if_gone(struct ing_children *c, size_t i)
{
	struct examiner *e = c->slots[i];
	if (e->pid > 0 || e->reader.pid > 0)
		return true;
	c->slots[i] = c->slots[--c->count];
	bool heard = c->conf.exited(e->id, e->status, e->cpu_us);
	close_link(e);
	free(e);
	return heard;
}

static bool handle_exit(struct ing_children *c, pid_t pid, int status, const struct rusage *used)
{
	for (size_t i = 0; i < c->count; i++) {
		struct examiner *e = c->slots[i];
		if (e->pid != pid && e->reader.pid != pid)
			continue;
		e->cpu_us += cpu_of(used);
		if (e->pid == pid) {
			e->pid = 0;
			e->status = status;
			close_link(e);
			kill_pid(e->reader.pid);
		} else {
			e->reader.pid = 0;
			report_end(e, status, cpu_of(used));
		}
		return free_if_gone(c, i);
	}
	return true;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_children *ing_children_new(const struct ing_children_conf *conf)
{
	struct ing_children *c = ing_alloc(sizeof(*c));
	c->conf = *conf;
	return c;
}

void ing_children_free(struct ing_children *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->count; i++) {
		kill_pid(c->slots[i]->pid);
		kill_pid(c->slots[i]->reader.pid);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	for (size_t i = 0; i < c->count; i++) {
		close_link(c->slots[i]);
		free(c->slots[i]);
	}
	free(c);
}

bool ing_children_spawn(struct ing_children *c, uint32_t id, int sock)
{
	int ends[2];
	if (c->count == ING_MAX_EXAMINERS || sock < 0 ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	pid_t pid = ing_child_fork(&c->conf.child);
	if (pid == 0)
		ing_serve(&c->conf.child, sock, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return false;
	}
	struct examiner *e = ing_alloc(sizeof(*e));
	*e = (struct examiner){.id = id, .pid = pid, .link = ends[0]};
	c->slots[c->count++] = e;
	return true;
}

void ing_children_kill(struct ing_children *c, uint32_t id)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->slots[i]->id == id)
			kill_pid(c->slots[i]->pid);
	}
}

bool ing_children_reap(struct ing_children *c)
{
	for (;;) {
		int status;
		struct rusage used;
		pid_t pid = wait4(-1, &status, WNOHANG, &used);
		if (pid <= 0)
			return true;
		if (!handle_exit(c, pid, status, &used))
			return false;
	}
}

size_t ing_children_poll_fds(const struct ing_children *c, struct pollfd *fds, int *ret_ms)
{
	uint64_t next_ms = UINT64_MAX;
	for (size_t i = 0; i < c->count; i++) {
		const struct examiner *e = c->slots[i];
		/* A negative descriptor is passed over by poll(2). */
		fds[i] = (struct pollfd){.fd = e->link, .events = POLLIN};
		if (e->reader.pid > 0 && !e->reader.timed_out)
			next_ms = ING_MIN(next_ms, e->reader.deadline_ms);
	}
	uint64_t now_ms = ing_now_ms();
	uint64_t left_ms = next_ms > now_ms ? next_ms - now_ms : 0;
	*ret_ms = next_ms == UINT64_MAX ? -1 : (int)ING_MIN(left_ms, (uint64_t)60000);
	return c->count;
}

void ing_children_handle(struct ing_children *c, const struct pollfd *fds, size_t count)
{
	uint64_t now_ms = ing_now_ms();
	for (size_t i = 0; i < c->count; i++)
		check_deadline(c->slots[i], now_ms);
	/* Slots may have moved or gone since poll(2); a request is never waited for, so asking one
	 * that has none is harmless. */
	bool some = false;
	for (size_t i = 0; i < count; i++)
		some |= fds[i].fd >= 0 && fds[i].revents != 0;
	for (size_t i = 0; some && i < c->count; i++) {
		if (c->slots[i]->link >= 0)
			read_request(c, c->slots[i]);
	}
}
