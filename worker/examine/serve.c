/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything from here on runs on hostile bytes. The process keeps nothing from one document to the
 * next but caches of libraries, and is replaced after some number of documents.
 */
#include "worker/examine/serve.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/io.h"
#include "worker/document/document.h"
#include "worker/examine/ipc.h"
#include "worker/examine/fdpass.h"
#include "worker/examine/pdf_client.h"
#include "worker/examine/proto.h"
#include "worker/examine/sandbox.h"
#include "worker/model/limits.h"

#define SERVE_FD ING_CHILD_FD
#define LINK_FD (ING_CHILD_FD + 1)
/* A reader that is not worth starting would be a needless special case. */
#define MIN_PDF_TIMEOUT_MS 10u

static uint64_t cpu_now_us(void)
{
	struct rusage u;
	if (getrusage(RUSAGE_SELF, &u) != 0)
		return 0;
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Exactly `bytes`, and the descriptor that comes with them if any. False at the end of the stream
 * before the first. */
static bool read_exactly(int sock, char *to, size_t bytes, int *fd)
{
	size_t got = 0;
	while (got < bytes) {
		int came;
		ssize_t n = ing_fd_recv(sock, to + got, bytes - got, 0, &came);
		if (came >= 0) {
			if (*fd >= 0)
				_exit(ING_EXIT_PROTOCOL);
			*fd = came;
		}
		if (n == 0 && got == 0)
			return false;
		if (n <= 0)
			_exit(ING_EXIT_PROTOCOL);
		got += (size_t)n;
	}
	return true;
}

static bool read_request(int sock, struct ing_proto_request *request, int *ret_fd)
{
	char head[ING_PROTO_HEAD_BYTES];
	size_t bytes;
	*ret_fd = -1;
	if (!read_exactly(sock, head, sizeof(head), ret_fd))
		return false;
	if (ing_proto_head(head, ING_PROTO_REQUEST, ING_MAX_EXAM_REQUEST_BYTES, &bytes) != 0)
		_exit(ING_EXIT_PROTOCOL);
	char *payload = ing_alloc(bytes);
	if (bytes > 0 && !read_exactly(sock, payload, bytes, ret_fd))
		_exit(ING_EXIT_PROTOCOL);
	if (ing_proto_get_request(payload, bytes, request) != 0)
		_exit(ING_EXIT_PROTOCOL);
	ing_freep(&payload);
	return true;
}

static void write_frame(int sock, const struct ing_buf *frame)
{
	if (frame->failed)
		_exit(ING_EXIT_MEMORY);
	if (ing_write_all(sock, frame->data, frame->len) != 0)
		_exit(ING_EXIT_PROTOCOL);
}

static bool is_whole(int fd, size_t bytes)
{
	struct stat st;
	return bytes == 0 || (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
				     (uint64_t)st.st_size >= bytes);
}

/* The body in place. The file is sealed or unlinked and complete, so that a page cannot vanish
 * under the mapping; if one does (a failing disk), SIGBUS ends the process, which the
 * pool reports as UNREADABLE. */
static const void *map_body(int fd, size_t bytes)
{
	if (bytes == 0)
		return "";
	void *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	return data == MAP_FAILED ? NULL : data;
}

static void unmap_body(const void *data, size_t bytes)
{
	void *p;
	memcpy(&p, &data, sizeof(p));
	if (bytes > 0)
		munmap(p, bytes);
}

/* A slow PDF must end before the worker's deadline, or the findings about the file would be lost. */
static unsigned pdf_timeout_of(const struct ing_proto_request *request, uint64_t started_ms)
{
	uint64_t margin_ms = ING_MIN(request->timeout_ms / 4, 1000u);
	uint64_t spent_ms = ing_now_ms() - started_ms + margin_ms;
	unsigned left_ms =
		spent_ms < request->timeout_ms ? request->timeout_ms - (unsigned)spent_ms : 0;
	if (request->q.pdf_timeout_ms > 0)
		left_ms = ING_MIN(left_ms, request->q.pdf_timeout_ms);
	return ING_MAX(left_ms, MIN_PDF_TIMEOUT_MS);
}

/* Whatever reading the document leads to, this much is known of it. */
static void send_file(const struct ing_file_meta *file)
{
	struct ing_buf frame;
	ing_buf_init(&frame, ING_PROTO_HEAD_BYTES + ING_MAX_PROTO_FILE_BYTES);
	ing_proto_put_file(&frame, file);
	write_frame(SERVE_FD, &frame);
	ing_buf_done(&frame);
}

/* *own_pdf_us gets what this process itself has spent on a PDF's reader. */
static void examine(const struct ing_proto_request *request, int body_fd, struct ing_findings *f,
	uint64_t *own_pdf_us)
{
	uint64_t started_ms = ing_now_ms();
	size_t bytes = (size_t)request->body_bytes;
	if (!is_whole(body_fd, bytes)) {
		f->exam = ING_EXAM_UNREADABLE;
		f->detail = ing_strdup("the body is shorter than it was");
		return;
	}
	const void *data = map_body(body_fd, bytes);
	if (data == NULL) {
		f->exam = ING_EXAM_CRASH;
		f->detail = ing_strdup("the body does not fit into the examiner's memory");
		return;
	}
	struct ing_document_body body = {0};
	if (ing_document_identify(&request->q, data, bytes, &body, f)) {
		send_file(&f->file);
		ing_document_read(&request->q, &body, f);
	}
	if (f->exam == ING_EXAM_OK && (request->q.want & ING_WANT_PDF) != 0 &&
		strcmp(f->file.mimetype, "application/pdf") == 0) {
		uint64_t cpu_us = cpu_now_us();
		ing_pdf_done(&f->pdf);
		ing_pdf_client_read(LINK_FD, pdf_timeout_of(request, started_ms), body.data,
			body.bytes, &f->pdf, &f->pdf_cpu_us);
		/* Handing the body over and taking the text is the PDF's cost, too. */
		*own_pdf_us = cpu_now_us() - cpu_us;
		f->pdf_cpu_us += *own_pdf_us;
		ing_document_read_pdf(&request->q, &body, f);
	}
	ing_document_body_done(&body);
	unmap_body(data, bytes);
}

static void serve_request(const struct ing_proto_request *request, int body_fd)
{
	struct ing_findings f;
	struct ing_buf frame;
	uint64_t cpu_us = cpu_now_us();
	ing_sandbox_limit_cpu(request->timeout_ms / 1000 + 1);
	ing_findings_init(&f);
	uint64_t own_pdf_us = 0;
	examine(request, body_fd, &f, &own_pdf_us);
	f.cpu_us = cpu_now_us() - cpu_us - own_pdf_us;
	ing_buf_init(&frame, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_reply(&frame, &f);
	write_frame(SERVE_FD, &frame);
	ing_buf_done(&frame);
	ing_findings_done(&f);
}

/* -------------------------------------------------------------------------------------------- */

void ing_serve(const struct ing_child_conf *conf, int sock, int link)
{
	const int socks[] = {sock, link};
	ing_document_warm_examiner();
	ing_child_enter_sandbox(conf, ING_SANDBOX_EXAMINER, socks, ING_ARRAY_LEN(socks));
	signal(SIGPIPE, SIG_IGN); /* readers may die while they are written to */
	struct ing_buf hello;
	ing_buf_init(&hello, ING_PROTO_HEAD_BYTES);
	ing_proto_put_hello(&hello);
	write_frame(SERVE_FD, &hello);
	ing_buf_done(&hello);
	for (;;) {
		struct ing_proto_request request;
		int body_fd;
		if (!read_request(SERVE_FD, &request, &body_fd))
			_exit(0);
		serve_request(&request, body_fd);
		if (body_fd >= 0)
			close(body_fd);
		ing_proto_request_done(&request);
	}
}
