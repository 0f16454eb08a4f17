/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The life of a body: open window (memfd being filled) -> flight (memfd being copied by the pool)
 * -> file. While a flight is under way the pool owns `flight` and the file descriptor's position;
 * the loop touches neither until the landing. A body that nobody wants any more is freed at its
 * landing.
 *
 * A flight that found the disk full is stuck: it stays a flight, with its window, and takes off
 * again a second later, from where the file was safe.
 *
 * Waiters are a list in order of arrival. Waking calls them back one by one while there is room; a
 * waiter that finds none after all queues again at the end.
 */
#include "worker/fetch/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>
#include "common/base/log.h"
#include "common/base/shortage.h"

/* Room that must be there before a waiter is woken: what curl hands over at a time. */
#define WAKE_BYTES ((size_t)16 << 10)
/* Bodies that may be over the ceiling at once, by one piece of data each. */
#define RESERVES 4
#define COMPLAIN_EVERY_MS 60000
#define RETRY_FULL_MS 1000

struct ing_spool {
	unsigned refs; /* the owner, every body, every held memory */
	uv_loop_t *loop;
	const char *dir;
	size_t limit_bytes, used_bytes;
	size_t head_bytes; /* of the used ones */
	unsigned reserves_used;
	struct ing_body *waiting;
	struct ing_body *stuck; /* list by next_stuck */
	unsigned stuck_count;   /* these, and those of them that are on their way again */
	uv_timer_t *retry;
	void (*wanted)(void *ctx); /* NULL once the owner has gone */
	void *ctx;
	struct ing_log_gate complaint;
};

/* Chunks may be a byte each. Pieces below the first size are put together, up to the second, before
 * they are written: a system call takes as long as the kilobyte. */
#define SMALL_PIECE_BYTES ((size_t)1 << 10)
#define SMALL_BYTES ((size_t)4 << 10)

struct window {
	int fd; /* -1: none */
	size_t bytes;
	bool reserve; /* holds one of the reserves */
};

struct ing_body {
	struct ing_body *prev, *next; /* in spool->waiting */
	struct ing_body *next_stuck;
	bool stuck; /* counted in spool->stuck_count */
	struct ing_spool *spool;
	struct window open, flight;
	size_t small_bytes; /* of the open window, counted there and not yet written: its last */
	char small[SMALL_BYTES];
	bool waiting;    /* in the list */
	bool wants_wake; /* waits for its own landing */
	bool finishing, abandoned;
	/* a window has been sent off: the open one is no longer the body's beginning */
	bool spilled;
	int file, file_reader; /* the same, to write and to read; -1: none yet */
	size_t file_bytes;     /* safely in the file */
	size_t put_bytes;
	struct ing_error error;
	void (*try_again)(void *ctx);
	void (*finished)(void *ctx);
	void *ctx;
	/* the flight */
	uv_work_t work;
	bool in_flight;
	int work_errno;
	int work_file, work_reader;
	char dir[]; /* a copy: the spool's owner may go while the pool works */
};

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

static void unref_spool(struct ing_spool *sp)
{
	if (--sp->refs == 0)
		free(sp);
}

static void give_back(struct ing_spool *sp, struct window *w)
{
	ing_must(sp->used_bytes >= w->bytes);
	sp->used_bytes -= w->bytes;
	if (w->reserve)
		sp->reserves_used--;
	if (w->fd >= 0)
		close(w->fd);
	*w = (struct window){.fd = -1};
	if (sp->waiting != NULL && sp->wanted != NULL)
		sp->wanted(sp->ctx);
}

static void free_body(struct ing_body *b)
{
	struct ing_spool *sp = b->spool;
	if (b->waiting)
		DL_DELETE(sp->waiting, b);
	give_back(sp, &b->open);
	give_back(sp, &b->flight);
	if (b->file >= 0)
		close(b->file);
	if (b->file_reader >= 0)
		close(b->file_reader);
	free(b);
	unref_spool(sp);
}

static void complain(const struct ing_body *b, const char *words)
{
	unsigned suppressed;
	if (ing_log_gate_pass(&b->spool->complaint, COMPLAIN_EVERY_MS, &suppressed))
		ing_log(ING_LOG_ERROR, "spool.dir %s: %s (%u more before)", b->dir, words,
			suppressed);
}

static void fail_body(struct ing_body *b, int errnum, const char *what)
{
	ing_error_sys(&b->error, errnum, "%s", what);
	complain(b, b->error.msg);
}

/* ---- the pool's side ---- */

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

/* Nobody can write through it. Made with the file, not when the body is whole: by then there may be
 * no descriptor left, and the bytes would be lost. */
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
static void copy_flight(uv_work_t *work)
{
	struct ing_body *b = ING_CONTAINER(work, struct ing_body, work);
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
	while ((size_t)at < b->flight.bytes) {
		ssize_t n = sendfile(b->work_file, b->flight.fd, &at, b->flight.bytes - (size_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			b->work_errno = n < 0 ? errno : EIO;
			return;
		}
	}
}

/* ---- the loop's side ---- */

static void land(uv_work_t *work, int status);

static void take_off(struct ing_body *b)
{
	b->work_errno = 0;
	b->work_file = b->file;
	b->work_reader = b->file_reader;
	ing_must(uv_queue_work(b->spool->loop, &b->work, copy_flight, land) == 0);
}

static void launch(struct ing_body *b)
{
	b->flight = b->open;
	b->open = (struct window){.fd = -1};
	b->in_flight = true;
	b->spilled = true;
	take_off(b);
}

static void on_retry(uv_timer_t *timer)
{
	struct ing_spool *sp = timer->data;
	struct ing_body *list = ING_TAKE(sp->stuck);
	while (list != NULL) {
		struct ing_body *b = list;
		list = b->next_stuck;
		take_off(b);
	}
}

/* It passes by itself, or by an operator. */
static bool is_worth_waiting(int errnum)
{
	return errnum == ENOSPC || errnum == EDQUOT || ing_shortage_note(errnum);
}

static void wait_for_disk(struct ing_body *b)
{
	struct ing_spool *sp = b->spool;
	bool full = b->work_errno == ENOSPC || b->work_errno == EDQUOT;
	complain(b, full ? "the disk is full, bodies wait" : "no descriptor is left, bodies wait");
	if (!b->stuck)
		sp->stuck_count++;
	b->stuck = true;
	LL_PREPEND2(sp->stuck, b, next_stuck);
	if (!uv_is_active((uv_handle_t *)sp->retry))
		uv_timer_start(sp->retry, on_retry, RETRY_FULL_MS, 0);
}

static void end_waiting_for_disk(struct ing_body *b)
{
	if (b->stuck)
		b->spool->stuck_count--;
	b->stuck = false;
}

/* Stuck, and not on its way: nobody but the list knows of it. */
static bool leave_stuck(struct ing_body *b)
{
	struct ing_body *found = b->spool->stuck;
	while (found != NULL && found != b)
		found = found->next_stuck;
	if (found == NULL)
		return false;
	LL_DELETE2(b->spool->stuck, b, next_stuck);
	end_waiting_for_disk(b);
	return true;
}

static bool is_landed(const struct ing_body *b)
{
	return !b->in_flight && (!b->spilled || b->open.bytes == 0);
}

static void land(uv_work_t *work, int status)
{
	struct ing_body *b = ING_CONTAINER(work, struct ing_body, work);
	size_t bytes = b->flight.bytes;
	b->file = b->work_file;
	b->file_reader = b->work_reader;
	if (status != 0)
		b->work_errno = ECANCELED;
	if (is_worth_waiting(b->work_errno) && !b->abandoned) {
		wait_for_disk(b);
		return;
	}
	end_waiting_for_disk(b);
	b->in_flight = false;
	give_back(b->spool, &b->flight);
	if (b->abandoned) {
		free_body(b);
		return;
	}
	if (b->work_errno == 0)
		b->file_bytes += bytes;
	else
		fail_body(b, b->work_errno, "a body cannot be written");
	if (b->finishing) {
		if (b->error.code == ING_FAIL_NONE && b->open.bytes > 0)
			launch(b);
		else
			b->finished(b->ctx);
		return;
	}
	if (b->wants_wake) {
		b->wants_wake = false;
		b->try_again(b->ctx);
	}
}

static enum ing_body_put wait_for_landing(struct ing_body *b)
{
	b->wants_wake = true;
	return ING_BODY_WAIT;
}

static enum ing_body_put wait_for_memory(struct ing_body *b)
{
	if (!b->waiting) {
		DL_APPEND(b->spool->waiting, b);
		b->waiting = true;
	}
	return ING_BODY_WAIT;
}

static bool open_window(struct ing_body *b)
{
	if (b->open.fd >= 0)
		return true;
	b->open.fd = memfd_create("body", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (b->open.fd < 0) {
		int errnum = errno;
		ing_shortage_note(errnum);
		fail_body(b, errnum, "no memory file for a body");
	}
	return b->open.fd >= 0;
}

/* Behind what the window has in its file. */
static bool write_out(struct ing_body *b, const char *data, size_t bytes, size_t at)
{
	size_t done = 0;
	while (done < bytes) {
		ssize_t n = pwrite(b->open.fd, data + done, bytes - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fail_body(b, n < 0 ? errno : EIO, "a body cannot be kept in memory");
			(void)!ftruncate(b->open.fd, (off_t)at);
			return false;
		}
		done += (size_t)n;
	}
	return true;
}

static void count_bytes(struct ing_body *b, size_t bytes)
{
	b->open.bytes += bytes;
	b->spool->used_bytes += bytes;
	b->put_bytes += bytes;
}

/* Before the window is given to anybody. */
static bool write_small(struct ing_body *b)
{
	size_t bytes = b->small_bytes;
	b->small_bytes = 0;
	if (bytes == 0 || write_out(b, b->small, bytes, b->open.bytes - bytes))
		return true;
	b->open.bytes -= bytes;
	b->spool->used_bytes -= bytes;
	b->put_bytes -= bytes;
	return false;
}

static bool send_off(struct ing_body *b)
{
	if (!write_small(b))
		return false;
	launch(b);
	return true;
}

static bool write_window(struct ing_body *b, const char *data, size_t bytes)
{
	bool small = bytes < SMALL_PIECE_BYTES;
	if ((!small || bytes > SMALL_BYTES - b->small_bytes) && !write_small(b))
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
	void (*wanted)(void *ctx), void *ctx)
{
	struct ing_spool *sp = ing_alloc(sizeof(*sp));
	*sp = (struct ing_spool){.refs = 1,
		.loop = loop,
		.dir = dir,
		.limit_bytes = memory_bytes,
		.retry = ing_alloc(sizeof(uv_timer_t)),
		.wanted = wanted,
		.ctx = ctx};
	ing_must(uv_timer_init(loop, sp->retry) == 0);
	sp->retry->data = sp;
	return sp;
}

void ing_spool_free(struct ing_spool *sp)
{
	if (sp == NULL)
		return;
	ing_must(sp->waiting == NULL && sp->stuck == NULL);
	uv_close((uv_handle_t *)ING_TAKE(sp->retry), free_handle);
	sp->wanted = NULL;
	sp->dir = NULL;
	unref_spool(sp);
}

void ing_spool_wake(struct ing_spool *sp)
{
	unsigned count = 0;
	struct ing_body *b;
	DL_FOREACH (sp->waiting, b)
		count++;
	while (count-- > 0 && sp->waiting != NULL &&
		(has_room(sp, WAKE_BYTES) || sp->reserves_used < RESERVES)) {
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
	return sp->stuck_count > 0;
}

struct ing_body *ing_body_new(
	struct ing_spool *sp, void (*try_again)(void *ctx), void (*finished)(void *ctx), void *ctx)
{
	size_t dir_bytes = strlen(sp->dir) + 1;
	struct ing_body *b = ing_alloc(sizeof(*b) + dir_bytes);
	*b = (struct ing_body){.spool = sp,
		.open.fd = -1,
		.flight.fd = -1,
		.file = -1,
		.file_reader = -1,
		.try_again = try_again,
		.finished = finished,
		.ctx = ctx};
	memcpy(b->dir, sp->dir, dir_bytes);
	sp->refs++;
	return b;
}

void ing_body_abandon(struct ing_body *b)
{
	if (b == NULL)
		return;
	if (!b->in_flight || leave_stuck(b)) {
		free_body(b);
		return;
	}
	b->abandoned = true;
	if (b->waiting) {
		DL_DELETE(b->spool->waiting, b);
		b->waiting = false;
	}
}

enum ing_body_put ing_body_put(struct ing_body *b, const void *data, size_t bytes)
{
	struct ing_spool *sp = b->spool;
	if (b->error.code != ING_FAIL_NONE)
		return ING_BODY_FAILED;
	if (bytes > ING_SPOOL_WINDOW_BYTES - b->open.bytes) {
		if (b->in_flight)
			return wait_for_landing(b);
		if (!send_off(b))
			return ING_BODY_FAILED;
	}
	bool over = !has_room(sp, bytes);
	if (over) {
		if (b->open.bytes > 0 && !b->in_flight && !send_off(b))
			return ING_BODY_FAILED;
		if (b->in_flight || sp->reserves_used >= RESERVES)
			return wait_for_memory(b);
	}
	if (!open_window(b) || !write_window(b, data, bytes))
		return ING_BODY_FAILED;
	if (over) {
		b->open.reserve = true;
		sp->reserves_used++;
		if (!send_off(b))
			return ING_BODY_FAILED;
	}
	return ING_BODY_TAKEN;
}

size_t ing_body_bytes(const struct ing_body *b)
{
	return b->put_bytes;
}

bool ing_body_finish(struct ing_body *b)
{
	b->finishing = true;
	write_small(b);
	if (b->error.code != ING_FAIL_NONE)
		return !b->in_flight;
	if (is_landed(b))
		return true;
	if (!b->in_flight)
		launch(b);
	return false;
}

const struct ing_error *ing_body_error(const struct ing_body *b)
{
	return b->error.code != ING_FAIL_NONE ? &b->error : NULL;
}

size_t ing_body_take(struct ing_body *b, int *ret_fd, struct ing_held *ret_held)
{
	size_t bytes = 0;
	*ret_fd = -1;
	*ret_held = (struct ing_held){0};
	write_small(b);
	if (!b->spilled && b->open.bytes > 0) {
		const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
		ing_must(fcntl(b->open.fd, F_ADD_SEALS, seals) == 0);
		bytes = b->open.bytes;
		*ret_fd = b->open.fd;
		*ret_held = (struct ing_held){.spool = b->spool, .bytes = bytes};
		b->spool->refs++;
		b->open = (struct window){.fd = -1}; /* its bytes stay on the account */
	} else if (b->file_bytes > 0) {
		*ret_fd = b->file_reader;
		b->file_reader = -1;
		bytes = b->file_bytes;
	}
	ing_body_abandon(b);
	return bytes;
}

void ing_spool_release(struct ing_held *held)
{
	struct window gone = {.fd = -1, .bytes = held->bytes};
	struct ing_spool *sp = held->spool;
	if (sp == NULL)
		return;
	if (held->head)
		sp->head_bytes -= held->bytes;
	*held = (struct ing_held){0};
	give_back(sp, &gone);
	unref_spool(sp);
}

void ing_spool_hold_head(struct ing_spool *sp, struct ing_held *held, size_t bytes)
{
	if (held->spool == NULL) {
		*held = (struct ing_held){.spool = sp, .head = true};
		sp->refs++;
	}
	struct window before = {.fd = -1, .bytes = held->bytes};
	sp->used_bytes += bytes;
	sp->head_bytes += bytes - held->bytes;
	held->bytes = bytes;
	give_back(sp, &before);
}
