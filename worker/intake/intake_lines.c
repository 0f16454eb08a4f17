/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests from JSON lines: a file, a pipe, a terminal. Loop thread; regular files are read on
 * libuv's thread pool.
 *
 * The descriptor is never made non-blocking, because it is the caller's and may be shared with other
 * processes (a terminal even with stdout). Instead an epoll instance watches it and libuv watches the
 * epoll instance; a read(2) after that does not block. Descriptors that epoll refuses with EPERM
 * (regular files, /dev/null) are read with uv_fs_read.
 *
 * Backpressure: while paused nothing is read. The object is freed when its last handle is closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/data/line_splitter.h"
#include "worker/intake/intake_priv.h"
#include "worker/model/limits.h"

#define CHUNK_BYTES 65536
/* Lines passed on before the loop serves its other handles … */
#define LINES_PER_TURN 128
/* … and for no longer than this, except for the first line: one of 1 MiB can take 70 ms to parse. */
#define TURN_MS 10

struct lines_intake {
	struct ing_intake base;
	struct ing_intake_events ev;
	uv_loop_t *loop;
	int fd;
	char *name;
	struct ing_line_splitter splitter;
	char chunk[CHUNK_BYTES];

	bool started, paused, stopped, freed;
	bool reading;      /* a uv_fs_read is pending, or the poll is active */
	bool ended;        /* end of input or a read error */
	bool end_reported; /* on_end() or on_fatal() has been called */

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
	ing_line_splitter_done(&in->splitter);
	free(in->name);
	in->base.magic = 0;
	free(in);
}

static void on_idle(uv_idle_t *idle);

static void schedule(struct lines_intake *in)
{
	if (!in->freed && in->started && !in->paused && !in->stopped && !in->end_reported)
		uv_idle_start(&in->idle, on_idle);
}

static void take_chunk(struct lines_intake *in, ssize_t n)
{
	if (n > 0) {
		ing_line_splitter_feed(&in->splitter, in->chunk, (size_t)n);
	} else if (n == 0) {
		in->ended = true;
		ing_line_splitter_end(&in->splitter);
	} else if (n != -EINTR && n != -EAGAIN) {
		in->ended = true;
		in->end_reported = true;
		struct ing_error err = {0};
		ing_error_sys(&err, (int)-n, "%s: read error", in->name);
		in->ev.on_fatal(in->ev.ctx, &err);
		return;
	}
	schedule(in);
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
		take_chunk(in, n);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct lines_intake *in = poll->data;
	uv_poll_stop(poll);
	in->reading = false;
	ssize_t n = read(in->fd, in->chunk, sizeof(in->chunk));
	take_chunk(in, n < 0 ? -errno : n);
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
		.token = {.partition_index = 0, .epoch = 1, .offset = line->number},
		.value = line->text,
		.value_bytes = line->bytes,
		.topic = in->name,
		.lane = ING_LANE_REQUESTS,
	};
	in->taken++;
	in->ev.on_message(in->ev.ctx, &m);
}

/* Passes lines on until the receiver pauses, the turn is over or no line is left. While a
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
		if (ing_line_splitter_next(&in->splitter, &line)) {
			hand_out(in, &line);
			continue;
		}
		if (!in->ended) {
			read_more(in);
			return;
		}
		in->end_reported = true;
		in->ev.on_end(in->ev.ctx);
		return;
	}
	schedule(in);
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
	schedule(in);
}

static void finish_line_token(struct ing_intake *base, struct ing_token t)
{
	(void)base;
	(void)t; /* the position in the file is not stored */
}

static bool find_line_source(
	const struct ing_intake *base, struct ing_token t, struct ing_source *ret)
{
	(void)base;
	(void)t;
	(void)ret;
	return false;
}

static void ignore_fence(struct ing_intake *base, struct ing_token t)
{
	(void)base;
	(void)t;
	ing_must(false); /* a line has no source, and so no fence */
}

static void pause_lines(struct ing_intake *base, enum ing_lane lane, bool paused)
{
	if (lane != ING_LANE_REQUESTS)
		return;
	struct lines_intake *in = lines_of(base);
	in->paused = paused;
	schedule(in);
}

static void hold_no_lane(struct ing_intake *base, enum ing_lane lane, bool held)
{
	(void)base;
	(void)lane;
	(void)held;
}

static void stay(struct ing_intake *base, bool away)
{
	(void)base;
	(void)away;
}

static bool is_never_away(const struct ing_intake *base)
{
	(void)base;
	return false;
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
		uv_cancel((uv_req_t *)&in->read); /* on_file_read() is called either way */
}

static void stats_of_lines(const struct ing_intake *base, struct ing_intake_stats *ret)
{
	const struct lines_intake *in = (const struct lines_intake *)(const void *)base;
	*ret = (struct ing_intake_stats){.taken = in->taken};
}

static const struct ing_intake_ops lines_ops = {
	.start = start_lines,
	.finish = finish_line_token,
	.source = find_line_source,
	.fenced = ignore_fence,
	.pause = pause_lines,
	.hold_lane = hold_no_lane,
	.set_away = stay,
	.is_away = is_never_away,
	.stop = stop_lines,
	.stats = stats_of_lines,
	.free = free_lines,
};

/* Returns an epoll instance that is readable when fd is, or -1 with *ret_errnum, EPERM for a descriptor
 * that epoll does not support. */
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
			return ing_error_sys(err, -rc, "%s: cannot be polled", name);
		}
		in->open_handles++;
	}
	uv_idle_init(loop, &in->idle);
	in->open_handles++;
	in->name = ing_strdup(name);
	in->poll.data = in->idle.data = in->read.data = in;
	ing_line_splitter_init(&in->splitter, ING_MAX_REQUEST_BYTES);
	*ret = &in->base;
	return 0;
}
