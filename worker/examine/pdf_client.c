/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The zygote is trusted, the reader is not. The reader reads the whole body before it parses it and
 * replies afterwards, so the two writes never wait for each other. The zygote kills the reader at
 * its time limit, which ends the stream, and reports its exit.
 */
#include "worker/examine/pdf_client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/io.h"
#include "worker/examine/ipc.h"
#include "worker/examine/fdpass.h"
#include "worker/examine/proto.h"
#include "worker/model/limits.h"

/* Read until the reader closes its end. Returns false when that is more than any reply. */
static bool read_reply(int in, struct ing_buf *reply)
{
	for (;;) {
		size_t room = ING_MIN(reply->max - reply->len, (size_t)64 << 10);
		char *to = ing_buf_reserve(reply, room);
		if (to == NULL || room == 0)
			return false;
		ssize_t n = read(in, to, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		ing_buf_commit(reply, (size_t)n);
	}
}

/* One part. Returns where the next one begins; 0 when this one is not whole. */
static size_t parse_part(
	const struct ing_buf *reply, size_t at, enum ing_pdf_part part, struct ing_pdf *pdf)
{
	size_t payload;
	size_t left = reply->len - at;
	const uint8_t *head = (const uint8_t *)reply->data + at;
	if (left < ING_PROTO_HEAD_BYTES ||
		ing_proto_head(head, ing_proto_pdf_kinds[part], left - ING_PROTO_HEAD_BYTES,
			&payload) != 0 ||
		ing_proto_get_pdf_part(head + ING_PROTO_HEAD_BYTES, payload, part, pdf) != 0)
		return 0;
	return at + ING_PROTO_HEAD_BYTES + payload;
}

/* However the reader ended, the parts that it had sent are good. Returns false when not even the
 * first one is. */
static bool parse_reply(const struct ing_buf *reply, struct ing_pdf *pdf)
{
	size_t at = parse_part(reply, 0, ING_PDF_TEXT, pdf);
	if (at == 0)
		return false;
	for (enum ing_pdf_part part = ING_PDF_INFO; part < ING_PDF_PARTS_ && at > 0; part++)
		at = parse_part(reply, at, part, pdf);
	return true;
}

static void set_failed(struct ing_pdf *pdf, const char *status, const char *detail)
{
	*pdf = (struct ing_pdf){.status = ing_strdup(status), .error_msg = ing_strdup(detail)};
}

/* The status of a PDF whose reader has sent no valid reply. */
static void set_ended(
	struct ing_pdf *pdf, const struct ing_pdf_reader_event *end, unsigned timeout_ms)
{
	char detail[100];
	int status = end->status;
	if (end->timed_out != 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
		snprintf(detail, sizeof(detail), "still reading after %u ms", timeout_ms);
		set_failed(pdf, "error-timeout", detail);
		return;
	}
	const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;
	if (name != NULL)
		snprintf(detail, sizeof(detail), "the reading process died: SIG%s", name);
	else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		snprintf(detail, sizeof(detail), "the reading process died: exit code %d",
			WEXITSTATUS(status));
	else
		snprintf(detail, sizeof(detail), "the reading process sent an invalid reply");
	set_failed(pdf, "bad-pdf", detail);
}

static struct ing_pdf_reader_event receive_event(int link, int *ret_fd)
{
	struct ing_pdf_reader_event event;
	if (ing_fd_recv(link, &event, sizeof(event), 0, ret_fd) != (ssize_t)sizeof(event) ||
		event.version != ING_PDF_READER_VERSION)
		_exit(ING_EXIT_PROTOCOL);
	return event;
}

/* -------------------------------------------------------------------------------------------- */

void ing_pdf_client_read(int link, unsigned timeout_ms, const void *data, size_t bytes,
	struct ing_pdf *pdf, uint64_t *ret_cpu_us)
{
	const struct ing_pdf_reader_request request = {
		.version = ING_PDF_READER_VERSION, .timeout_ms = timeout_ms, .body_bytes = bytes};
	struct ing_buf reply;
	int fd;
	*ret_cpu_us = 0;
	if (write(link, &request, sizeof(request)) != (ssize_t)sizeof(request))
		_exit(ING_EXIT_PROTOCOL);
	struct ing_pdf_reader_event event = receive_event(link, &fd);
	if (event.kind != ING_PDF_READER_STARTED || fd < 0) {
		set_failed(pdf, "crash", "the reading process could not be started");
		return;
	}
	ing_buf_init(&reply, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	/* Writing fails when the reader has died meanwhile; SIGPIPE is ignored (serve.c). */
	bool whole = ing_write_all(fd, data, bytes) == 0 && read_reply(fd, &reply);
	close(fd); /* a reader that still writes ends by SIGPIPE */
	event = receive_event(link, NULL);
	*ret_cpu_us = event.cpu_us;
	bool good = whole && parse_reply(&reply, pdf);
	ing_buf_done(&reply);
	if (!good)
		set_ended(pdf, &event, timeout_ms);
}
