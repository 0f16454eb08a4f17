/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a client of the control socket sends: the first byte says in what pieces, the rest is sent,
 * and then no more. A request has one answer, which is a JSON object in one line; an empty one has
 * none; and then the connection is closed. Through a real socket and loop, to the real handler with
 * a gate that knows no host.
 */
#include "tests/fuzz/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/buf.h"
#include "worker/gate/gate.h"
#include "worker/service/hosts.h"
#include "worker/service/control.h"

FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 500, .heap_kb = 512, .heap_byte = 64, .out_bytes = 4096,
	.out_byte = 16);

static struct {
	uv_loop_t loop;
	char folder[32];
	char path[64];
	struct ing_gate *gate;
	struct ing_control *control;
	unsigned requests;
} server;

static json_t *answer(void *ctx, const json_t *request)
{
	(void)ctx;
	const struct ing_hosts_sources sources = {.gate = server.gate, .instance = "fuzz"};
	ing_must(json_is_object(request));
	server.requests++;
	return ing_hosts_answer(&sources, request);
}

static void remove_folder(void)
{
	unlink(server.path);
	rmdir(server.folder);
}

static void start_server(void)
{
	struct ing_error err = {0};
	snprintf(server.folder, sizeof(server.folder), "/tmp/fuzz-control-XXXXXX");
	ing_must(mkdtemp(server.folder) != NULL && uv_loop_init(&server.loop) == 0);
	snprintf(server.path, sizeof(server.path), "%s/sock", server.folder);
	server.gate = ing_gate_new(&server.loop,
		&(struct ing_gate_conf){.settings = {.concurrency = 1, .host_concurrency = 1}});
	ing_must(ing_control_new(&server.loop, server.path, answer, NULL, &server.control, &err) ==
		 0);
	atexit(remove_folder);
}

static int connect_client(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	memcpy(to.sun_path, server.path, sizeof(server.path));
	ing_must(fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0);
	return fd;
}

/* Takes what the server has sent. Returns false when it has closed the connection. */
static bool receive(int fd, struct ing_buf *got)
{
	char room[4096];
	for (;;) {
		ssize_t n = recv(fd, room, sizeof(room), 0);
		if (n > 0)
			ing_buf_add(got, room, (size_t)n);
		else
			return n < 0 && errno == EAGAIN;
	}
}

/* Sends it all, or as much as the server takes, and returns when the server has closed. */
static void converse(int fd, const uint8_t *data, size_t size, size_t step, struct ing_buf *got)
{
	size_t at = 0;
	bool open = true;
	while (open) {
		if (at < size) {
			ssize_t n = send(fd, data + at, ING_MIN(step, size - at), MSG_NOSIGNAL);
			at = n > 0 ? at + (size_t)n : errno == EAGAIN ? at : size;
		} else {
			shutdown(fd, SHUT_WR);
		}
		uv_run(&server.loop, UV_RUN_NOWAIT);
		open = receive(fd, got);
	}
}

static void check_answer(const struct ing_buf *got)
{
	json_error_t why;
	ing_must(memchr(got->data, '\n', got->len) == got->data + got->len - 1);
	json_t *o = json_loadb(got->data, got->len, JSON_REJECT_DUPLICATES, &why);
	ing_must(json_is_object(o));
	json_decref(o);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_buf got;
	if (server.control == NULL)
		start_server();
	if (size == 0)
		return;
	size_t step = (size_t)1 << data[0] % 17;
	ing_buf_init(&got, ING_CONTROL_ANSWER_BYTES);
	server.requests = 0;
	int fd = connect_client();
	/* Small pieces of a long request would only measure the loop. */
	converse(fd, data + 1, size - 1, ING_MAX(step, size / 64), &got);
	close(fd);
	uv_run(&server.loop, UV_RUN_NOWAIT);
	ing_must(server.requests <= 1 && !got.failed);
	ing_must((got.len > 0) == (size > 1));
	if (got.len > 0)
		check_answer(&got);
	fuzz_wrote(got.len);
	ing_buf_done(&got);
}
