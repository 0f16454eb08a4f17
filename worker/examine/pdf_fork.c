/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fork arms its own alarm before its filter closes, and the filter takes the means to disarm it
 * away. So the examiner needs no right to send signals, which a filter could not limit to its own
 * children. Should code that has taken the fork over ignore the alarm, the pool's deadline ends the
 * examiner, and the kernel the fork with it.
 */
#include "worker/examine/pdf_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "worker/document/document.h"
#include "worker/examine/control.h"
#include "worker/examine/proto.h"
#include "worker/examine/sandbox.h"
#include "worker/limits.h"

static void write_all(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, data, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(ING_EXIT_PROTOCOL);
		data += n;
		bytes -= (size_t)n;
	}
}

static void arm_alarm(unsigned timeout_ms)
{
	struct itimerval at = {
		.it_value = {.tv_sec = timeout_ms / 1000, .tv_usec = (timeout_ms % 1000) * 1000}};
	signal(SIGALRM, SIG_DFL);
	setitimer(ITIMER_REAL, &at, NULL);
	ing_sandbox_limit_cpu(timeout_ms / 1000 + 1);
}

ING_NORETURN static void run_child(const struct ing_sandbox *sb,
	const struct ing_pdf_limits *limits, pid_t parent, int out, const void *data, size_t bytes)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(ING_EXIT_ORPHAN);
	arm_alarm(limits->timeout_ms);
	if (ing_sandbox_enter(sb, ING_SANDBOX_PDF, limits->memory_bytes, NULL) != 0)
		_exit(ING_EXIT_SANDBOX);
	struct ing_pdf pdf = {0};
	ing_document_pdf(data, bytes, &pdf);
	struct ing_buf frame;
	ing_buf_init(&frame, ING_FRAME_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_pdf(&frame, &pdf);
	if (frame.failed)
		_exit(ING_EXIT_MEMORY);
	write_all(out, frame.data, frame.len);
	_exit(0); /* nothing is freed: the process is the scratch memory */
}

/* All that comes until the fork closes its end; false when that is more than any answer. */
static bool read_answer(int in, struct ing_buf *answer)
{
	for (;;) {
		size_t room = ING_MIN(answer->max - answer->len, (size_t)64 << 10);
		char *to = ing_buf_reserve(answer, room);
		if (to == NULL || room == 0)
			return false;
		ssize_t n = read(in, to, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		ing_buf_commit(answer, (size_t)n);
	}
}

static int parse_answer(const struct ing_buf *answer, struct ing_pdf *pdf)
{
	size_t payload;
	if (answer->len < ING_FRAME_HEAD_BYTES ||
		ing_frame_head(answer->data, ING_FRAME_PDF, ING_MAX_REPLY_BYTES, &payload) != 0 ||
		payload != answer->len - ING_FRAME_HEAD_BYTES)
		return -ING_FAIL_SYNTAX;
	return ing_proto_get_pdf(answer->data + ING_FRAME_HEAD_BYTES, payload, pdf);
}

static void set_failed(struct ing_pdf *pdf, const char *status, const char *words)
{
	*pdf = (struct ing_pdf){.status = ing_strdup(status), .error_msg = ing_strdup(words)};
}

/* What became of a fork that did not answer. */
static void set_ended(struct ing_pdf *pdf, int status, unsigned timeout_ms)
{
	char words[100];
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU)) {
		snprintf(words, sizeof(words), "still reading after %u ms", timeout_ms);
		set_failed(pdf, "error-timeout", words);
		return;
	}
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;
	if (name != NULL)
		snprintf(words, sizeof(words), "the reading process died: SIG%s", name);
	else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		snprintf(words, sizeof(words), "the reading process died: exit code %d",
			WEXITSTATUS(status));
	else
		snprintf(words, sizeof(words), "the reading process answered with garbage");
	set_failed(pdf, "crash", words);
}

static uint64_t cpu_of(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

void ing_pdf_fork(const struct ing_sandbox *sb, const struct ing_pdf_limits *limits,
	const int closes[2], const void *data, size_t bytes, struct ing_pdf *pdf,
	uint64_t *ret_cpu_us)
{
	int ends[2];
	pid_t self = getpid();
	*ret_cpu_us = 0;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		set_failed(pdf, "crash", "no pipe for the reading process");
		return;
	}
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		for (int i = 0; i < 2; i++)
			if (closes[i] >= 0)
				close(closes[i]);
		run_child(sb, limits, self, ends[1], data, bytes);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		set_failed(pdf, "crash", "no reading process could be started");
		return;
	}
	struct ing_buf answer;
	ing_buf_init(&answer, ING_FRAME_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	bool whole = read_answer(ends[0], &answer);
	close(ends[0]); /* a fork that has more to say ends by SIGPIPE */
	int status = 0;
	struct rusage used = {0};
	while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	*ret_cpu_us = cpu_of(&used);
	bool good = whole && WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
		    parse_answer(&answer, pdf) == 0;
	ing_buf_done(&answer);
	if (!good)
		set_ended(pdf, status, limits->timeout_ms);
}
