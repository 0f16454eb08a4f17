/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A body has an open window (a memfd being filled), an outgoing window (a memfd being copied to the file
 * by the pool), and the file. While `writing` is set the pool owns the outgoing window and the
 * position of the file; the loop uses neither until on_written(). A body that was discarded meanwhile
 * is freed there.
 *
 * When the disk is full a body is blocked: the outgoing window is kept, and the write is repeated a
 * second later from the end of what the file has.
 *
 * Bodies that wait for memory are in a list in order of arrival. ing_spool_wake() calls them back one
 * by one while there is memory; one that still gets none is appended again.
 */
#include "worker/fetch/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>
#include "common/base/log.h"
#include "common/base/fd_shortage.h"
#include "worker/fetch/spares.h"
#include "worker/model/limits.h"

static_assert(ING_SPOOL_WINDOW_BYTES <= ING_MAX_MEMORY_BODY_BYTES, "an examiner gets it whole");

/* Memory that must be free before a waiting body is called back: what curl passes at a time. */
#define WAKE_BYTES ((size_t)16 << 10)
/* Bodies that may exceed the limit at the same time, by one piece of data each. */
#define MAX_RESERVES 4
#define LOG_EVERY_MS 60000
#define RETRY_FULL_MS 1000
/* Memfds that are kept for other bodies have so much beyond the limit at most, as a part of it. */
#define SPARE_PART 16

struct ing_spool {
	unsigned refs;   /* the owner, every body, every ing_spool_hold */
	uv_loop_t *loop; /* NULL after ing_spool_free() */
	const char *dir;
	size_t limit_bytes, used_bytes;
	size_t head_bytes; /* part of used_bytes */
	unsigned reserves_used;
	struct ing_spool_body *waiting;
	struct ing_spool_body *blocked; /* list by next_blocked */
	unsigned blocked_count;         /* these, and those being retried */
	bool disk_full;                 /* what the last one waits for; else a descriptor */
	uv_timer_t *retry;
	void (*on_memory)(void *ctx); /* NULL after ing_spool_free() */
	void *ctx;
	struct ing_log_throttle log_throttle;
	struct ing_spares spares;
};

/* Chunks can be one byte each. Pieces below the first size are collected up to the second before they
 * are written, because a system call costs as much as copying a kilobyte. */
#define SMALL_WRITE_BYTES ((size_t)1 << 10)
#define SMALL_BUFFER_BYTES ((size_t)4 << 10)

struct window {
	int fd; /* -1: none */
	size_t bytes;
	bool reserve; /* counted in reserves_used */
};

struct ing_spool_body {
	struct ing_spool_body *prev, *next; /* in spool->waiting */
	struct ing_spool_body *next_blocked;
	bool blocked; /* counted in spool->blocked_count */
	struct ing_spool *spool;
	struct window open, outgoing;
	size_t small_bytes; /* the last bytes of the open window, counted there but not yet written to it */
	char small[SMALL_BUFFER_BYTES];
	bool waiting;         /* in spool->waiting */
	bool waits_for_write; /* for its own pending write */
	bool finishing, discarded;
	/* a window has been written: the open one is not the first */
	bool spilled;
	int file, file_reader; /* the same, to write and to read; -1: none yet */
	size_t file_bytes;     /* written to the file */
	size_t total_bytes;
	struct ing_error error;
	void (*try_again)(void *ctx);
	void (*finished)(void *ctx);
	void *ctx;
	/* the pending write */
	uv_work_t work;
	bool writing;
	int work_errno;
	int work_file, work_reader;
	char dir[]; /* a copy: the spool may be freed during a write */
};

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

static void unref_spool(struct ing_spool *sp)
{
	if (--sp->refs > 0)
		return;
	ing_spares_done(&sp->spares);
	free(sp);
}

static void release_window(struct ing_spool *sp, struct window *w)
{
	ing_must(sp->used_bytes >= w->bytes);
	sp->used_bytes -= w->bytes;
	if (w->reserve)
		sp->reserves_used--;
	if (w->fd >= 0)
		ing_spares_give(&sp->spares, w->fd);
	*w = (struct window){.fd = -1};
	if (sp->waiting != NULL && sp->on_memory != NULL)
		sp->on_memory(sp->ctx);
}

static void on_closed(uv_fs_t *request)
{
	struct ing_spool *sp = request->data;
	uv_fs_req_cleanup(request);
	free(request);
	unref_spool(sp);
}

/* With its last descriptor a file's blocks are freed, which takes milliseconds for a large one. */
static void close_on_pool(struct ing_spool *sp, int fd)
{
	if (fd < 0)
		return;
	if (sp->loop == NULL) {
		close(fd);
		return;
	}
	uv_fs_t *request = ing_alloc(sizeof(*request));
	request->data = sp;
	sp->refs++;
	ing_must(uv_fs_close(sp->loop, request, fd, on_closed) == 0);
}

static void free_body(struct ing_spool_body *b)
{
	struct ing_spool *sp = b->spool;
	if (b->waiting)
		DL_DELETE(sp->waiting, b);
	release_window(sp, &b->open);
	release_window(sp, &b->outgoing);
	if (b->file >= 0)
		close(b->file); /* file_reader is the same one, here or with who took it */
	close_on_pool(sp, b->file_reader);
	free(b);
	unref_spool(sp);
}

static void log_error(const struct ing_spool_body *b, const char *text)
{
	ing_log_throttled(&b->spool->log_throttle, LOG_EVERY_MS, ING_LOG_ERROR, "spool.dir %s: %s",
		b->dir, text);
}

static void fail_body(struct ing_spool_body *b, int errnum, const char *what)
{
	ing_error_sys(&b->error, errnum, "%s", what);
	log_error(b, b->error.msg);
}

/* ---- on the thread pool ---- */

static int open_spool_file(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	char path[4096]; /* a file system without O_TMPFILE */
	if ((size_t)snprintf(path, sizeof(path), "%s/body.XXXXXX", dir) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

/* A read-only descriptor of the file. Opened with the file rather than at the end, when no descriptor
 * may be left and the bytes would be lost. */
static int open_reader(int file)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno != EMFILE && errno != ENFILE)
		fd = fcntl(file, F_DUPFD_CLOEXEC, 0); /* there is no /proc */
	return fd;
}

/* @locality pool */
static void write_window_to_file(uv_work_t *work)
{
	struct ing_spool_body *b = ING_CONTAINER(work, struct ing_spool_body, work);
	off_t at = 0;
	if (b->work_file < 0)
		b->work_file = open_spool_file(b->dir);
	if (b->work_file >= 0 && b->work_reader < 0)
		b->work_reader = open_reader(b->work_file);
	if (b->work_file < 0 || b->work_reader < 0 ||
		lseek(b->work_file, (off_t)b->file_bytes, SEEK_SET) < 0) {
		b->work_errno = errno;
		return;
	}
	while ((size_t)at < b->outgoing.bytes) {
		ssize_t n =
			sendfile(b->work_file, b->outgoing.fd, &at, b->outgoing.bytes - (size_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			b->work_errno = n < 0 ? errno : EIO;
			return;
		}
	}
}

/* ---- on the loop ---- */

static void on_written(uv_work_t *work, int status);

static void queue_write(struct ing_spool_body *b)
{
	b->work_errno = 0;
	b->work_file = b->file;
	b->work_reader = b->file_reader;
	ing_must(uv_queue_work(b->spool->loop, &b->work, write_window_to_file, on_written) == 0);
}

static void start_write(struct ing_spool_body *b)
{
	b->outgoing = b->open;
	b->open = (struct window){.fd = -1};
	b->writing = true;
	b->spilled = true;
	queue_write(b);
}

static void on_retry(uv_timer_t *timer)
{
	struct ing_spool *sp = timer->data;
	struct ing_spool_body *list = ING_TAKE(sp->blocked);
	while (list != NULL) {
		struct ing_spool_body *b = list;
		list = b->next_blocked;
		queue_write(b);
	}
}

/* Errors that end by themselves or when an operator acts. */
static bool is_retriable(int errnum)
{
	return errnum == ENOSPC || errnum == EDQUOT || ing_fd_shortage_note(errnum);
}

static void wait_for_disk(struct ing_spool_body *b)
{
	struct ing_spool *sp = b->spool;
	bool full = b->work_errno == ENOSPC || b->work_errno == EDQUOT;
	sp->disk_full = full;
	log_error(b, full ? "the disk is full, bodies wait for room"
			  : "no file descriptor is left, bodies wait");
	if (!b->blocked)
		sp->blocked_count++;
	b->blocked = true;
	LL_PREPEND2(sp->blocked, b, next_blocked);
	if (!uv_is_active((uv_handle_t *)sp->retry))
		uv_timer_start(sp->retry, on_retry, RETRY_FULL_MS, 0);
}

static void end_waiting_for_disk(struct ing_spool_body *b)
{
	if (b->blocked)
		b->spool->blocked_count--;
	b->blocked = false;
}

/* Removes the body from the list of blocked ones. Returns false when it is not in it. */
static bool leave_blocked(struct ing_spool_body *b)
{
	struct ing_spool_body *found = b->spool->blocked;
	while (found != NULL && found != b)
		found = found->next_blocked;
	if (found == NULL)
		return false;
	LL_DELETE2(b->spool->blocked, b, next_blocked);
	end_waiting_for_disk(b);
	return true;
}

static bool is_all_written(const struct ing_spool_body *b)
{
	return !b->writing && (!b->spilled || b->open.bytes == 0);
}

static void on_written(uv_work_t *work, int status)
{
	struct ing_spool_body *b = ING_CONTAINER(work, struct ing_spool_body, work);
	size_t bytes = b->outgoing.bytes;
	b->file = b->work_file;
	b->file_reader = b->work_reader;
	if (status != 0)
		b->work_errno = ECANCELED;
	if (is_retriable(b->work_errno) && !b->discarded) {
		wait_for_disk(b);
		return;
	}
	end_waiting_for_disk(b);
	b->writing = false;
	release_window(b->spool, &b->outgoing);
	if (b->discarded) {
		free_body(b);
		return;
	}
	if (b->work_errno == 0)
		b->file_bytes += bytes;
	else
		fail_body(b, b->work_errno, "writing a body failed");
	if (b->finishing) {
		if (b->error.code == ING_FAIL_NONE && b->open.bytes > 0)
			start_write(b);
		else
			b->finished(b->ctx);
		return;
	}
	if (b->waits_for_write) {
		b->waits_for_write = false;
		b->try_again(b->ctx);
	}
}

static enum ing_spool_put wait_for_write(struct ing_spool_body *b)
{
	b->waits_for_write = true;
	return ING_SPOOL_WAIT;
}

static enum ing_spool_put wait_for_memory(struct ing_spool_body *b)
{
	if (!b->waiting) {
		DL_APPEND(b->spool->waiting, b);
		b->waiting = true;
	}
	return ING_SPOOL_WAIT;
}

static bool open_window(struct ing_spool_body *b)
{
	if (b->open.fd >= 0)
		return true;
	b->open.fd = ing_spares_take(&b->spool->spares);
	if (b->open.fd < 0) {
		int errnum = errno;
		ing_fd_shortage_note(errnum);
		fail_body(b, errnum, "memfd_create() failed");
	}
	return b->open.fd >= 0;
}

/* Writes at offset `at` of the open window. */
static bool write_out(struct ing_spool_body *b, const char *data, size_t bytes, size_t at)
{
	size_t done = 0;
	while (done < bytes) {
		ssize_t n = pwrite(b->open.fd, data + done, bytes - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fail_body(b, n < 0 ? errno : EIO, "writing a memfd failed");
			(void)!ftruncate(b->open.fd, (off_t)at);
			return false;
		}
		done += (size_t)n;
	}
	return true;
}

static void count_bytes(struct ing_spool_body *b, size_t bytes)
{
	b->open.bytes += bytes;
	b->spool->used_bytes += bytes;
	b->total_bytes += bytes;
}

/* To be called before the window is written or taken. */
static bool write_small(struct ing_spool_body *b)
{
	size_t bytes = b->small_bytes;
	b->small_bytes = 0;
	if (bytes == 0 || write_out(b, b->small, bytes, b->open.bytes - bytes))
		return true;
	b->open.bytes -= bytes;
	b->spool->used_bytes -= bytes;
	b->total_bytes -= bytes;
	return false;
}

static bool write_to_disk(struct ing_spool_body *b)
{
	if (!write_small(b))
		return false;
	start_write(b);
	return true;
}

static bool write_window(struct ing_spool_body *b, const char *data, size_t bytes)
{
	bool small = bytes < SMALL_WRITE_BYTES;
	if ((!small || bytes > SMALL_BUFFER_BYTES - b->small_bytes) && !write_small(b))
		return false;
	if (small) {
		memcpy(b->small + b->small_bytes, data, bytes);
		b->small_bytes += bytes;
	} else if (!write_out(b, data, bytes, b->open.bytes)) {
		return false;
	}
	count_bytes(b, bytes);
	return true;
}

static bool has_room(const struct ing_spool *sp, size_t bytes)
{
	return sp->used_bytes < sp->limit_bytes && bytes <= sp->limit_bytes - sp->used_bytes;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_spool *ing_spool_new(struct uv_loop_s *loop, const char *dir, size_t memory_bytes,
	void (*on_memory)(void *ctx), void *ctx)
{
	struct ing_spool *sp = ing_alloc(sizeof(*sp));
	*sp = (struct ing_spool){.refs = 1,
		.loop = loop,
		.dir = dir,
		.limit_bytes = memory_bytes,
		.retry = ing_alloc(sizeof(uv_timer_t)),
		.on_memory = on_memory,
		.ctx = ctx};
	ing_spares_init(&sp->spares, memory_bytes / SPARE_PART);
	ing_must(uv_timer_init(loop, sp->retry) == 0);
	sp->retry->data = sp;
	return sp;
}

void ing_spool_free(struct ing_spool *sp)
{
	if (sp == NULL)
		return;
	ing_must(sp->waiting == NULL && sp->blocked == NULL);
	uv_close((uv_handle_t *)ING_TAKE(sp->retry), free_handle);
	sp->on_memory = NULL;
	sp->dir = NULL;
	sp->loop = NULL;
	ing_spares_done(&sp->spares);
	unref_spool(sp);
}

void ing_spool_wake(struct ing_spool *sp)
{
	unsigned count = 0;
	struct ing_spool_body *b;
	DL_FOREACH (sp->waiting, b)
		count++;
	while (count-- > 0 && sp->waiting != NULL &&
		(has_room(sp, WAKE_BYTES) || sp->reserves_used < MAX_RESERVES)) {
		b = sp->waiting;
		DL_DELETE(sp->waiting, b);
		b->waiting = false;
		b->try_again(b->ctx);
	}
}

size_t ing_spool_memory_bytes(const struct ing_spool *sp)
{
	return sp->used_bytes;
}

size_t ing_spool_head_bytes(const struct ing_spool *sp)
{
	return sp->head_bytes;
}

bool ing_spool_full(const struct ing_spool *sp)
{
	return sp->blocked_count > 0;
}

const char *ing_spool_trouble(const struct ing_spool *sp)
{
	return sp->disk_full ? "spool.dir: the disk is full" : "no file descriptor is left";
}

struct ing_spool_body *ing_spool_body_new(
	struct ing_spool *sp, void (*try_again)(void *ctx), void (*finished)(void *ctx), void *ctx)
{
	size_t dir_bytes = strlen(sp->dir) + 1;
	struct ing_spool_body *b = ing_alloc(sizeof(*b) + dir_bytes);
	*b = (struct ing_spool_body){.spool = sp,
		.open.fd = -1,
		.outgoing.fd = -1,
		.file = -1,
		.file_reader = -1,
		.try_again = try_again,
		.finished = finished,
		.ctx = ctx};
	memcpy(b->dir, sp->dir, dir_bytes);
	sp->refs++;
	return b;
}

void ing_spool_body_discard(struct ing_spool_body *b)
{
	if (b == NULL)
		return;
	if (!b->writing || leave_blocked(b)) {
		free_body(b);
		return;
	}
	b->discarded = true;
	if (b->waiting) {
		DL_DELETE(b->spool->waiting, b);
		b->waiting = false;
	}
}

enum ing_spool_put ing_spool_body_put(struct ing_spool_body *b, const void *data, size_t bytes)
{
	struct ing_spool *sp = b->spool;
	if (b->error.code != ING_FAIL_NONE)
		return ING_SPOOL_FAILED;
	if (bytes > ING_SPOOL_WINDOW_BYTES - b->open.bytes) {
		if (b->writing)
			return wait_for_write(b);
		if (!write_to_disk(b))
			return ING_SPOOL_FAILED;
	}
	bool over = !has_room(sp, bytes);
	if (over) {
		if (b->open.bytes > 0 && !b->writing && !write_to_disk(b))
			return ING_SPOOL_FAILED;
		if (b->writing || sp->reserves_used >= MAX_RESERVES)
			return wait_for_memory(b);
	}
	if (!open_window(b) || !write_window(b, data, bytes))
		return ING_SPOOL_FAILED;
	if (over) {
		b->open.reserve = true;
		sp->reserves_used++;
		if (!write_to_disk(b))
			return ING_SPOOL_FAILED;
	}
	return ING_SPOOL_TAKEN;
}

size_t ing_spool_body_bytes(const struct ing_spool_body *b)
{
	return b->total_bytes;
}

bool ing_spool_body_finish(struct ing_spool_body *b)
{
	b->finishing = true;
	write_small(b);
	if (b->error.code != ING_FAIL_NONE)
		return !b->writing;
	if (is_all_written(b))
		return true;
	if (!b->writing)
		start_write(b);
	return false;
}

const struct ing_error *ing_spool_body_error(const struct ing_spool_body *b)
{
	return b->error.code != ING_FAIL_NONE ? &b->error : NULL;
}

size_t ing_spool_body_take(struct ing_spool_body *b, int *ret_fd, struct ing_spool_hold *ret_held)
{
	size_t bytes = 0;
	*ret_fd = -1;
	*ret_held = (struct ing_spool_hold){0};
	write_small(b);
	if (!b->spilled && b->open.bytes > 0) {
		bytes = b->open.bytes;
		*ret_fd = b->open.fd;
		*ret_held = (struct ing_spool_hold){.spool = b->spool, .bytes = bytes};
		b->spool->refs++;
		b->open = (struct window){.fd = -1}; /* its bytes stay accounted */
	} else if (b->file_bytes > 0) {
		*ret_fd = b->file_reader;
		*ret_held = (struct ing_spool_hold){.spool = b->spool, .file = true};
		b->spool->refs++;
		b->file_reader = -1;
		bytes = b->file_bytes;
	}
	ing_spool_body_discard(b);
	return bytes;
}

void ing_spool_release(struct ing_spool_hold *held, int *fd)
{
	struct window gone = {.fd = -1, .bytes = held->bytes};
	struct ing_spool *sp = held->spool;
	if (sp == NULL)
		return;
	if (fd != NULL) {
		gone.fd = *fd;
		*fd = -1;
	}
	if (held->file) {
		close_on_pool(sp, gone.fd);
		gone.fd = -1;
	}
	if (held->head)
		sp->head_bytes -= held->bytes;
	*held = (struct ing_spool_hold){0};
	release_window(sp, &gone);
	unref_spool(sp);
}

void ing_spool_hold_head(struct ing_spool *sp, struct ing_spool_hold *held, size_t bytes)
{
	if (held->spool == NULL) {
		*held = (struct ing_spool_hold){.spool = sp, .head = true};
		sp->refs++;
	}
	struct window before = {.fd = -1, .bytes = held->bytes};
	sp->used_bytes += bytes;
	sp->head_bytes += bytes - held->bytes;
	held->bytes = bytes;
	release_window(sp, &before);
}
