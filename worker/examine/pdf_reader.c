/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The bytes come through the socket, not as a descriptor: an examiner that could pass descriptors
 * on would need sendmsg(2), and a copy costs little beside what reading a PDF does.
 */
#include "worker/examine/pdf_reader.h"

#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/io.h"
#include "worker/document/document.h"
#include "worker/examine/ipc.h"
#include "worker/examine/proto.h"
#include "worker/model/limits.h"

static char *read_body(size_t bytes)
{
	char *data = malloc(bytes > 0 ? bytes : 1);
	if (data == NULL)
		_exit(ING_EXIT_MEMORY);
	if (ing_read_all(ING_CHILD_FD, data, bytes) != 0)
		_exit(ING_EXIT_PROTOCOL);
	return data;
}

/* CPU time for a part beyond the text: the whole Info dictionary takes 1 ms, a page is drawn in 5 to
 * 50. */
#define PART_CPU_SECONDS 2

/* Send the part; the next one has so much time, and then this process ends, as it does after the
 * last one. What it has sent stays. */
static void send_part(void *ctx, enum ing_pdf_part part, const struct ing_pdf *pdf)
{
	static const struct itimerval share = {.it_value = {.tv_sec = PART_CPU_SECONDS}};
	(void)ctx;
	struct ing_buf frame;
	ing_buf_init(&frame, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_pdf_part(&frame, part, pdf);
	if (frame.failed)
		_exit(ING_EXIT_MEMORY);
	if (ing_write_all(ING_CHILD_FD, frame.data, frame.len) != 0)
		_exit(ING_EXIT_PROTOCOL);
	ing_buf_done(&frame);
	if (part == ING_PDF_PARTS_ - 1)
		_exit(0); /* nothing is freed: the process is the scratch memory */
	setitimer(ITIMER_PROF, &share, NULL);
}

/* -------------------------------------------------------------------------------------------- */

void ing_pdf_reader_run(
	const struct ing_child_conf *conf, int sock, const struct ing_pdf_reader_request *request)
{
	ing_sandbox_limit_cpu(request->timeout_ms / 1000 + 1);
	ing_child_enter_sandbox(conf, ING_SANDBOX_PDF, &sock, 1);
	if (request->body_bytes > SIZE_MAX / 2)
		_exit(ING_EXIT_MEMORY);
	size_t bytes = (size_t)request->body_bytes;
	const char *data = read_body(bytes);
	struct ing_pdf pdf = {0};
	ing_document_pdf(data, bytes, send_part, NULL, &pdf);
	_exit(0); /* a part of it could not be told, as it cannot be read */
}
