/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests from JSON lines: a file, a pipe, a terminal. Loop thread; regular files are read on
 * libuv's thread pool.
 *
 * What surprises: the descriptor is never made non-blocking, because it is the caller's and may be
 * shared with other processes (a terminal is even shared with stdout). Instead an epoll instance
 * watches it and libuv watches the epoll instance; a read(2) after "readable" takes what there is
 * and does not block. What epoll refuses (regular files, /dev/null) never waits for anyone and is
 * read with uv_fs_read.
 *
 * Backpressure is not reading. One object holds the handles; it goes when the last of them is
 * closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clock.h"
#include "worker/intake/intake_priv.h"
#include "worker/intake/splitter.h"
#include "worker/model/limits.h"

#define CHUNK_BYTES 65536
/* Lines handed out before the loop sees to its other handles … */
#define LINES_PER_TURN 128
/* … and no more than this time, but for one line: one of a mebibyte can take 70 ms. */
#define TURN_MS 10

struct lines_intake {
	struct ing_intake base;
	struct ing_intake_events ev;
	uv_loop_t *loop;
	int fd;
	char *name;
	struct ing_splitter splitter;
	char chunk[CHUNK_BYTES];

	bool started, paused, stopped, freed;
	bool reading;  /* a uv_fs_read is under way, or the poll is on */
	bool ended;    /* end of input or a read error */
	bool said_end; /* on_end() or on_fatal() has been called */

	int epoll_fd; /* -1: read with uv_fs_read */
	unsigned open_handles;
	uint64_t taken; /* lines handed out */
	uv_poll_t poll;
	uv_fs_t read;
	uv_idle_t idle;
};

static struct lines_intake *lines_of(struct ing_intake *base)
{
	return ING_CONTAINER(base, struct lines_intake, base);
}

static void release(struct lines_intake *in)
{
	if (!in->freed || in->open_handles > 0 || (in->reading && in->epoll_fd < 0))
		return;
	if (in->epoll_fd >= 0)
		close(in->epoll_fd);
	ing_splitter_done(&in->splitter);
	free(in->name);
	in->base.magic = 0;
	free(in);
}

static void on_idle(uv_idle_t *idle);

static void pump_soon(struct lines_intake *in)
{
	if (!in->freed && in->started && !in->paused && !in->stopped && !in->said_end)
		uv_idle_start(&in->idle, on_idle);
}

static void took(struct lines_intake *in, ssize_t n)
{
	if (n > 0) {
		ing_splitter_feed(&in->splitter, in->chunk, (size_t)n);
	} else if (n == 0) {
		in->ended = true;
		ing_splitter_end(&in->splitter);
	} else if (n != -EINTR && n != -EAGAIN) {
		in->ended = true;
		in->said_end = true;
		struct ing_error err = {0};
		ing_error_sys(&err, (int)-n, "%s: reading", in->name);
		in->ev.on_fatal(in->ev.ctx, &err);
		return;
	}
	pump_soon(in);
}

static void on_file_read(uv_fs_t *req)
{
	struct lines_intake *in = req->data;
	ssize_t n = req->result;
	uv_fs_req_cleanup(req);
	in->reading = false;
	if (in->freed)
		release(in);
	else
		took(in, n);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct lines_intake *in = poll->data;
	uv_poll_stop(poll);
	in->reading = false;
	ssize_t n = read(in->fd, in->chunk, sizeof(in->chunk));
	took(in, n < 0 ? -errno : n);
}

static void read_more(struct lines_intake *in)
{
	if (in->reading)
		return;
	in->reading = true;
	if (in->epoll_fd >= 0) {
		uv_poll_start(&in->poll, UV_READABLE, on_readable);
		return;
	}
	uv_buf_t buf = uv_buf_init(in->chunk, sizeof(in->chunk));
	int rc = uv_fs_read(in->loop, &in->read, in->fd, &buf, 1, -1, on_file_read);
	ing_must(rc == 0); /* fails only for a lack of arguments or of memory */
}

static void hand_out(struct lines_intake *in, const struct ing_line *line)
{
	struct ing_message m = {
		.token = {.partition_slot = 0, .epoch = 1, .offset = line->number},
		.value = line->text,
		.value_bytes = line->bytes,
		.topic = in->name,
		.lane = ING_LANE_REQUESTS,
	};
	in->taken++;
	in->ev.on_message(in->ev.ctx, &m);
}

/* Hands out lines until the receiver pauses, the turn is over or there is nothing more. While a
 * read is under way the splitter has no chunk, so that a resumption in between finds nothing and
 * waits for the read. */
static void on_idle(uv_idle_t *idle)
{
	struct lines_intake *in = idle->data;
	const uint64_t until_ms = ing_now_ms() + TURN_MS;
	uv_idle_stop(idle);
	for (int i = 0; i < LINES_PER_TURN && (i == 0 || ing_now_ms() < until_ms); i++) {
		if (in->freed || in->paused || in->stopped || in->reading)
			return;
		struct ing_line line;
		if (ing_splitter_next(&in->splitter, &line)) {
			hand_out(in, &line);
			continue;
		}
		if (!in->ended) {
			read_more(in);
			return;
		}
		in->said_end = true;
		in->ev.on_end(in->ev.ctx);
		return;
	}
	pump_soon(in);
}

static void on_closed(uv_handle_t *handle)
{
	struct lines_intake *in = handle->data;
	in->open_handles--;
	release(in);
}

static void start_lines(struct ing_intake *base)
{
	struct lines_intake *in = lines_of(base);
	in->started = true;
	in->ev.on_assigned(in->ev.ctx, 1);
	pump_soon(in);
}

static void finish_line_token(struct ing_intake *base, struct ing_token t)
{
	(void)base;
	(void)t; /* a line's place is not kept anywhere */
}

static void pause_lines(struct ing_intake *base, enum ing_lane lane, bool paused)
{
	if (lane != ING_LANE_REQUESTS)
		return;
	struct lines_intake *in = lines_of(base);
	in->paused = paused;
	pump_soon(in);
}

static void stop_lines(struct ing_intake *base)
{
	struct lines_intake *in = lines_of(base);
	in->stopped = true;
	if (in->epoll_fd >= 0 && in->reading) {
		uv_poll_stop(&in->poll);
		in->reading = false;
	}
}

static void free_lines(struct ing_intake *base)
{
	struct lines_intake *in = lines_of(base);
	in->freed = true;
	uv_close((uv_handle_t *)&in->idle, on_closed);
	if (in->epoll_fd >= 0)
		uv_close((uv_handle_t *)&in->poll, on_closed);
	else if (in->reading)
		uv_cancel((uv_req_t *)&in
				  ->read); /* or it ends by itself: on_file_read() comes anyhow */
}

static void stats_of_lines(const struct ing_intake *base, struct ing_intake_stats *ret)
{
	const struct lines_intake *in = (const struct lines_intake *)(const void *)base;
	*ret = (struct ing_intake_stats){.taken = in->taken};
}

static const struct ing_intake_ops lines_ops = {
	.start = start_lines,
	.finish = finish_line_token,
	.pause = pause_lines,
	.stop = stop_lines,
	.stats = stats_of_lines,
	.free = free_lines,
};

/* An epoll instance that is readable when fd is; -1 with *ret_errnum EPERM when fd never waits. */
static int watch(int fd, int *ret_errnum)
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0) {
		*ret_errnum = errno;
		return -1;
	}
	struct epoll_event event = {.events = EPOLLIN};
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return epoll_fd;
	*ret_errnum = errno;
	close(epoll_fd);
	return -1;
}

/* -------------------------------------------------------------------------------------------- */

int ing_intake_lines_new(struct uv_loop_s *loop, int fd, const char *name,
	const struct ing_intake_events *ev, struct ing_intake **ret, struct ing_error *err)
{
	int errnum = 0;
	int epoll_fd = watch(fd, &errnum);
	if (epoll_fd < 0 && errnum != EPERM)
		return ing_error_sys(err, errnum, "%s: cannot be read", name);
	struct lines_intake *in = ing_alloc(sizeof(*in));
	in->base = (struct ing_intake){ING_INTAKE_MAGIC, &lines_ops};
	in->ev = *ev;
	in->loop = loop;
	in->fd = fd;
	in->epoll_fd = epoll_fd;
	if (epoll_fd >= 0) {
		int rc = uv_poll_init(loop, &in->poll, epoll_fd);
		if (rc < 0) {
			close(epoll_fd);
			free(in);
			return ing_error_sys(err, -rc, "%s: cannot be watched", name);
		}
		in->open_handles++;
	}
	uv_idle_init(loop, &in->idle);
	in->open_handles++;
	in->name = ing_strdup(name);
	in->poll.data = in->idle.data = in->read.data = in;
	ing_splitter_init(&in->splitter, ING_MAX_REQUEST_BYTES);
	*ret = &in->base;
	return 0;
}
