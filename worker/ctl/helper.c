/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A socket pair to a forked child; questions and answers are a length and that many bytes. They
 * take turns: the child reads a question whole before it answers, and we read the answer whole
 * before we ask again, so neither can block the other.
 */
#include "worker/ctl/helper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/io.h"
#include "worker/ctl/child.h"
#include "worker/ctl/ctl.h"

#define QUESTIONS_A_CHILD 5000 /* then a fresh one: whatever a library has hoarded goes */

struct ing_ctl_helper {
	ing_ctl_helper_f *fn;
	void *ctx;
	unsigned timeout_ms;
	unsigned asked;
	pid_t pid; /* 0: none at the moment */
	int fd;
};

/* Either end may die, which is no reason for the other to. */
static bool send_all(int fd, const void *data, size_t bytes)
{
	const char *at = data;
	while (bytes > 0) {
		ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		bytes -= (size_t)n;
	}
	return true;
}

/* --- in the child --- */

ING_NORETURN static void serve(const struct ing_ctl_helper *h, int fd)
{
	ing_ctl_child_limits(0);
	for (;;) {
		uint64_t bytes;
		if (ing_read_all(fd, &bytes, sizeof(bytes)) != 0)
			_exit(0);
		char *question = bytes < SIZE_MAX ? ing_try_alloc(bytes + 1) : NULL;
		if (question == NULL || ing_read_all(fd, question, bytes) != 0)
			_exit(1);
		question[bytes] = '\0';
		struct ing_buf out;
		ing_buf_init(&out, ING_CTL_CHILD_BYTES);
		h->fn(h->ctx, question, bytes, &out);
		bytes = out.failed ? UINT64_MAX : out.len;
		if (!send_all(fd, &bytes, sizeof(bytes)) ||
			(!out.failed && !send_all(fd, ing_buf_str(&out), out.len)))
			_exit(1);
		ing_buf_done(&out);
		free(question);
	}
}

/* --- in the parent --- */

static int start(struct ing_ctl_helper *h, struct ing_error *err)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return ing_error_sys(err, errno, "socketpair");
	fflush(NULL); /* so that the child has nothing of ours to write */
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		serve(h, ends[1]);
	}
	int saved = errno;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return ing_error_sys(err, saved, "fork");
	}
	h->pid = pid;
	h->fd = ends[0];
	h->asked = 0;
	return 0;
}

/* The child's wait status. */
static int stop(struct ing_ctl_helper *h)
{
	int status = 0;
	close(h->fd);
	kill(h->pid, SIGKILL);
	while (waitpid(h->pid, &status, 0) < 0 && errno == EINTR)
		;
	h->pid = 0;
	return status;
}

/* 0, -TIMEOUT, or -CRASH at the end of the stream. */
static int read_until(int fd, void *data, size_t bytes, uint64_t end_ms)
{
	char *at = data;
	while (bytes > 0) {
		uint64_t now = ing_now_ms();
		struct pollfd p = {.fd = fd, .events = POLLIN};
		if (now >= end_ms)
			return -ING_FAIL_TIMEOUT;
		if (poll(&p, 1, (int)(end_ms - now)) <= 0)
			continue; /* interrupted, or the deadline: the loop's head tells */
		ssize_t n = read(fd, at, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -ING_FAIL_CRASH;
		at += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int exchange(
	struct ing_ctl_helper *h, const char *question, size_t question_bytes, struct ing_buf *ret)
{
	uint64_t bytes = question_bytes;
	uint64_t end_ms = ing_now_ms() + h->timeout_ms;
	if (!send_all(h->fd, &bytes, sizeof(bytes)) || !send_all(h->fd, question, question_bytes))
		return -ING_FAIL_CRASH;
	int rc = read_until(h->fd, &bytes, sizeof(bytes), end_ms);
	if (rc != 0)
		return rc;
	void *to = bytes <= ING_CTL_CHILD_BYTES ? ing_buf_reserve(ret, bytes) : NULL;
	if (to == NULL)
		return -ING_FAIL_TOO_BIG;
	rc = read_until(h->fd, to, bytes, end_ms);
	if (rc == 0)
		ing_buf_commit(ret, bytes);
	return rc;
}

static int explain(const struct ing_ctl_helper *h, int rc, int status, struct ing_error *err)
{
	if (rc == -ING_FAIL_TIMEOUT)
		return ing_error_set(err, ING_FAIL_TIMEOUT, "not finished after %u seconds",
			h->timeout_ms / 1000);
	if (rc == -ING_FAIL_TOO_BIG)
		return ing_error_set(err, ING_FAIL_TOO_BIG, "the answer is too large");
	if (WIFSIGNALED(status))
		return ing_error_set(err, ING_FAIL_CRASH, "the parser process died of signal %d",
			WTERMSIG(status));
	return ing_error_set(
		err, ING_FAIL_CRASH, "the parser process exited with code %d", WEXITSTATUS(status));
}

/* -------------------------------------------------------------------------------------------- */

struct ing_ctl_helper *ing_ctl_helper_new(ing_ctl_helper_f *fn, void *ctx, unsigned timeout_ms)
{
	struct ing_ctl_helper *h = ing_alloc(sizeof(*h));
	*h = (struct ing_ctl_helper){.fn = fn, .ctx = ctx, .timeout_ms = timeout_ms};
	return h;
}

void ing_ctl_helper_free(struct ing_ctl_helper *h)
{
	if (h == NULL)
		return;
	if (h->pid != 0)
		stop(h);
	free(h);
}

int ing_ctl_helper_ask(struct ing_ctl_helper *h, const char *question, size_t bytes,
	struct ing_buf *ret, struct ing_error *err)
{
	ing_buf_clear(ret);
	if (h->pid != 0 && h->asked >= QUESTIONS_A_CHILD)
		stop(h);
	int rc = h->pid == 0 ? start(h, err) : 0;
	if (rc != 0)
		return rc;
	h->asked++;
	rc = exchange(h, question, bytes, ret);
	if (rc == 0)
		return 0;
	ing_buf_clear(ret);
	/* One that has died by itself is not killed: its status is the cause. */
	if (rc == -ING_FAIL_CRASH) {
		int status = 0;
		close(h->fd);
		while (waitpid(h->pid, &status, 0) < 0 && errno == EINTR)
			;
		h->pid = 0;
		return explain(h, rc, status, err);
	}
	return explain(h, rc, stop(h), err);
}

struct batch {
	struct ing_ctl_helper *helper;
	ing_ctl_answer_f *print;
	struct ing_buf answer;
};

static bool send_line(void *ctx, const struct ing_buf *line, unsigned long number)
{
	struct batch *b = ctx;
	struct ing_error err = {0};
	(void)number;
	int rc = line->failed ? ing_error_set(&err, ING_FAIL_TOO_BIG, "the line is too long")
			      : ing_ctl_helper_ask(
					b->helper, ing_buf_str(line), line->len, &b->answer, &err);
	if (rc != 0)
		ing_buf_clear(&b->answer);
	return b->print(&b->answer, rc != 0 ? &err : NULL);
}

int ing_ctl_helper_batch(const char *verb, const char *path, size_t max_line_bytes,
	struct ing_ctl_helper *h, ing_ctl_answer_f *print)
{
	struct batch b = {.helper = h, .print = print};
	ing_buf_init(&b.answer, ING_CTL_CHILD_BYTES);
	int code = ing_ctl_batch(verb, path, max_line_bytes, send_line, &b);
	ing_buf_done(&b.answer);
	return code;
}
