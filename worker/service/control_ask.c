/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The client's end of the control socket: blocking, with one deadline over connecting, asking and
 * reading. The socket is found by a descriptor, since its path may be longer than its address could
 * be.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/service/control.h"

struct asking {
	const char *path;
	int fd;
	uint64_t deadline_ms;
};

/* The next call may take what is left. False: nothing is. */
static bool limit_call(const struct asking *a)
{
	uint64_t now = ing_now_ms();
	if (now >= a->deadline_ms)
		return false;
	uint64_t left_ms = a->deadline_ms - now;
	struct timeval t = {.tv_sec = (time_t)(left_ms / 1000),
		.tv_usec = (suseconds_t)(left_ms % 1000 * 1000)};
	return setsockopt(a->fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t)) == 0 &&
	       setsockopt(a->fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) == 0;
}

static int fail_timeout(const struct asking *a, struct ing_error *err)
{
	return ing_error_set(err, ING_FAIL_TIMEOUT, "%s: no answer in time", a->path);
}

/* A call has failed with errno. */
static int fail_errno(const struct asking *a, struct ing_error *err)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED:
		return ing_error_set(
			err, ING_FAIL_UNAVAILABLE, "%s: no worker listens there", a->path);
	case EPIPE:
	case ECONNRESET:
		return ing_error_set(err, ING_FAIL_UNAVAILABLE,
			"%s: the worker closed the connection without an answer", a->path);
	case EAGAIN:
		return fail_timeout(a, err);
	default:
		return ing_error_sys(err, errno, "%s", a->path);
	}
}

static int connect_to(struct asking *a, struct ing_error *err)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int at = open(a->path, O_PATH | O_CLOEXEC);
	if (at < 0)
		return fail_errno(a, err);
	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", at);
	int rc = 0;
	if (!limit_call(a))
		rc = fail_timeout(a, err);
	else if (connect(a->fd, (const struct sockaddr *)&to, sizeof(to)) != 0)
		rc = fail_errno(a, err);
	close(at);
	return rc;
}

static int send_request(const struct asking *a, const json_t *request, struct ing_error *err)
{
	size_t bytes;
	char *text = ing_json_dump(request, &bytes);
	text[bytes++] = '\n'; /* in place of the NUL */
	int rc = 0;
	for (size_t sent = 0; sent < bytes && rc == 0;) {
		if (!limit_call(a)) {
			rc = fail_timeout(a, err);
			break;
		}
		ssize_t n = send(a->fd, text + sent, bytes - sent, MSG_NOSIGNAL);
		if (n >= 0)
			sent += (size_t)n;
		else if (errno != EINTR)
			rc = fail_errno(a, err);
	}
	free(text);
	return rc;
}

/* Until the end of the line, or of the connection. */
static int read_line(const struct asking *a, struct ing_buf *line, struct ing_error *err)
{
	char piece[16384];
	for (;;) {
		if (!limit_call(a))
			return fail_timeout(a, err);
		ssize_t n = recv(a->fd, piece, sizeof(piece), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(a, err);
		if (n == 0) {
			errno = ECONNRESET;
			return line->len > 0 ? 0 : fail_errno(a, err);
		}
		const char *end = memchr(piece, '\n', (size_t)n);
		if (!ing_buf_add(line, piece, end != NULL ? (size_t)(end - piece) : (size_t)n))
			return ing_error_set(err, ING_FAIL_TOO_BIG,
				"%s: the answer is over %zu bytes", a->path, line->max);
		if (end != NULL)
			return 0;
	}
}

static int read_answer(const struct asking *a, json_t **ret, struct ing_error *err)
{
	struct ing_buf line;
	ing_buf_init(&line, ING_CONTROL_ANSWER_BYTES);
	int rc = read_line(a, &line, err);
	if (rc == 0) {
		json_t *answer = ing_json_parse(ing_buf_str(&line), line.len, &ing_json_own, NULL);
		if (json_is_object(answer))
			*ret = json_incref(answer);
		else
			rc = ing_error_set(
				err, ING_FAIL_SYNTAX, "%s: the answer is no JSON object", a->path);
		json_decref(answer);
	}
	ing_buf_done(&line);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_control_ask(const char *path, const json_t *request, unsigned timeout_ms, json_t **ret,
	struct ing_error *err)
{
	struct asking a = {.path = path, .deadline_ms = ing_now_ms() + timeout_ms};
	a.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (a.fd < 0)
		return ing_error_sys(err, errno, "%s: cannot make a socket", path);
	int rc = connect_to(&a, err);
	if (rc == 0)
		rc = send_request(&a, request, err);
	if (rc == 0)
		rc = read_answer(&a, ret, err);
	close(a.fd);
	return rc;
}
