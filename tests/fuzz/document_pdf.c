/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A PDF as its reader sees it: poppler, and what we make of its answers. Each input is read by a
 * fork with so many seconds of CPU time, as poppler may hang, fill the memory or crash, which is
 * why it has a process of its own in the worker too. What must hold: whoever lives to answer says
 * something well formed, and our own code is at no fault that a sanitizer finds.
 */
#include "tests/fuzz/target.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/document/document.h"
#include "worker/examine/proto.h"
#include "worker/model/limits.h"

/* Of the process that forks; the fork has CPU_SECONDS. */
FUZZ_BUDGET(.cpu_us = 10000, .cpu_byte_ns = 1000, .heap_kb = 50000, .heap_byte = 50);

#define CPU_SECONDS 3
#define MAX_INPUT_BYTES ((size_t)1 << 20)

#if defined(__SANITIZE_ADDRESS__)
/* A signal in poppler stays one and is told from a report, which ends in an exit code. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0:detect_leaks=0:"
	       "allocator_may_return_null=1";
}
#endif

static void send_part(void *ctx, enum ing_pdf_part part, const struct ing_pdf *pdf)
{
	const int *out = ctx;
	struct ing_buf frame;
	ing_buf_init(&frame, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_pdf_part(&frame, part, pdf);
	ing_must(!frame.failed);
	for (size_t sent = 0; sent < frame.len;) {
		ssize_t n = write(*out, frame.data + sent, frame.len - sent);
		if (n <= 0)
			_exit(0);
		sent += (size_t)n;
	}
	ing_buf_done(&frame);
}

static void answer(const uint8_t *data, size_t size, int out)
{
	const struct rlimit cpu = {.rlim_cur = CPU_SECONDS, .rlim_max = CPU_SECONDS};
	const struct rlimit core = {0};
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
	struct ing_pdf pdf = {0};
	ing_document_pdf(data, size, send_part, &out, &pdf);
	_exit(0);
}

/* Returns its length. */
static size_t check_part(
	const struct ing_buf *frame, size_t at, enum ing_pdf_part part, struct ing_pdf *pdf)
{
	size_t bytes;
	const char *head = frame->data + at;
	ing_must(part < ING_PDF_PARTS_ && frame->len - at >= ING_PROTO_HEAD_BYTES);
	ing_must(ing_proto_head(head, ing_proto_pdf_kinds[part], ING_MAX_REPLY_BYTES, &bytes) == 0);
	ing_must(bytes <= frame->len - at - ING_PROTO_HEAD_BYTES);
	ing_must(ing_proto_get_pdf_part(head + ING_PROTO_HEAD_BYTES, bytes, part, pdf) == 0);
	return ING_PROTO_HEAD_BYTES + bytes;
}

static void check_answer(const struct ing_buf *frame)
{
	struct ing_pdf pdf = {0};
	size_t at = 0;
	for (enum ing_pdf_part part = ING_PDF_TEXT; part == ING_PDF_TEXT || at < frame->len; part++)
		at += check_part(frame, at, part, &pdf);
	/* Those two are said by whoever waits for a reader. */
	ing_must(strcmp(pdf.status, "crash") != 0 && strcmp(pdf.status, "error-timeout") != 0);
	if (strcmp(pdf.status, "success") == 0)
		ing_must(pdf.text != NULL && pdf.info_json != NULL && pdf.page_count > 0);
	ing_pdf_done(&pdf);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	int ends[2];
	struct ing_buf frame;
	if (size > MAX_INPUT_BYTES)
		return;
	ing_document_warm();
	ing_must(pipe(ends) == 0);
	pid_t pid = fork();
	ing_must(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		answer(data, size, ends[1]);
	}
	close(ends[1]);
	ing_buf_init(&frame, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES + 1);
	for (;;) {
		char *to = ing_buf_reserve(&frame, 4096);
		ing_must(to != NULL);
		ssize_t n = read(ends[0], to, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		ing_must(n >= 0);
		if (n == 0)
			break;
		ing_buf_commit(&frame, (size_t)n);
	}
	close(ends[0]);
	int status = 0;
	ing_must(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status)) {
		ing_must(WEXITSTATUS(status) == 0);
		check_answer(&frame);
	}
	ing_buf_done(&frame);
}
