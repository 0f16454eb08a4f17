/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A check is an object of its own, because it may outlast the struct ing_disk that began it: statvfs(2)
 * on a file system that is away can take for ever.
 */
#include "worker/disk/disk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <uv.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/macros.h"

#define TICK_MS 100
#define IDLE_MS 1000
#define NO_ANSWER_MS 10000
#define RESUME_SHARE 16 /* of a level: what must be free beyond it, so that it does not flap */
#define LOG_EVERY_MS 60000

static const char *const keys[ING_DISK_FOLDERS_] = {
	"warc.dir", "spool.dir", "state.dir", "store.dir"};

struct answer {
	uint64_t free_bytes;
	int errnum;
};

struct check {
	uv_work_t work;
	struct ing_disk *disk; /* NULL: it is gone */
	char *folders[ING_DISK_FOLDERS_];
	struct answer answers[ING_DISK_FOLDERS_];
};

struct folder {
	uint64_t free_bytes;
	enum ing_disk_level level;
	struct ing_log_throttle throttle;
};

struct ing_disk {
	uv_loop_t *loop;
	struct ing_disk_conf conf;
	uv_timer_t *timer;
	struct check *check; /* under way */
	uint64_t checked_ms, checked_written;
	struct folder folders[ING_DISK_FOLDERS_];
	bool silent; /* the check has not come back for NO_ANSWER_MS */
	uint64_t stops;
};

static bool is_used(const struct ing_disk *d, int i)
{
	return d->conf.folders[i] != NULL && d->conf.folders[i][0] != '\0';
}

static void free_check(struct check *c)
{
	for (int i = 0; i < ING_DISK_FOLDERS_; i++)
		free(c->folders[i]);
	free(c);
}

/* --- levels --- */

static void log_level(const struct ing_disk *d, int i, enum ing_disk_level before)
{
	static const char *const words[] = {
		"enough again, fetching goes on",
		"less than disk.stop_bytes, nothing new is fetched until there is more",
		"less than disk.abort_bytes, running transfers are ended",
	};
	const struct folder *f = &d->folders[i];
	ing_log(f->level > before ? ING_LOG_ERROR : ING_LOG_INFO,
		"%s %s: %" PRIu64 " bytes are free: %s", keys[i], d->conf.folders[i], f->free_bytes,
		words[f->level]);
}

static void take_answer(struct ing_disk *d, int i, const struct answer *a)
{
	struct folder *f = &d->folders[i];
	if (a->errnum != 0) {
		ing_log_throttled(&f->throttle, LOG_EVERY_MS, ING_LOG_WARNING,
			"%s %s: its free space is unknown: %s", keys[i], d->conf.folders[i],
			strerror(a->errnum));
		return;
	}
	enum ing_disk_level before = f->level;
	f->free_bytes = a->free_bytes;
	f->level = ing_disk_level_of(&d->conf.settings, a->free_bytes, before);
	if (f->level != before)
		log_level(d, i, before);
}

/* The folder with the least room for what it needs; of the same level the first. */
static int find_worst(const struct ing_disk *d)
{
	int worst = 0;
	for (int i = 1; i < ING_DISK_FOLDERS_; i++)
		worst = d->folders[i].level > d->folders[worst].level ? i : worst;
	return worst;
}

static void take_answers(struct ing_disk *d, const struct check *c)
{
	bool was_low = ing_disk_low(d);
	if (d->silent)
		ing_log(ING_LOG_INFO, "the folders answer again");
	d->silent = false;
	for (int i = 0; i < ING_DISK_FOLDERS_; i++)
		if (is_used(d, i))
			take_answer(d, i, &c->answers[i]);
	d->stops += !was_low && ing_disk_low(d);
	int worst = find_worst(d);
	if (d->folders[worst].level == ING_DISK_ABORT && d->conf.on_abort != NULL)
		d->conf.on_abort(d->conf.ctx, keys[worst]);
}

/* --- checks --- */

/* @locality pool */
static void ask(uv_work_t *work)
{
	struct check *c = ING_CONTAINER(work, struct check, work);
	for (int i = 0; i < ING_DISK_FOLDERS_; i++) {
		struct statvfs st;
		if (c->folders[i] == NULL)
			continue;
		c->answers[i].errnum = statvfs(c->folders[i], &st) == 0 ? 0 : errno;
		if (c->answers[i].errnum == 0) /* what a user has that is not root */
			c->answers[i].free_bytes = (uint64_t)st.f_bavail * st.f_frsize;
	}
}

static void on_asked(uv_work_t *work, int status)
{
	struct check *c = ING_CONTAINER(work, struct check, work);
	struct ing_disk *d = c->disk;
	if (d != NULL) {
		d->check = NULL;
		if (status == 0)
			take_answers(d, c);
	}
	free_check(c);
}

static struct check *new_check(struct ing_disk *d)
{
	struct check *c = ing_alloc(sizeof(*c));
	c->disk = d;
	for (int i = 0; i < ING_DISK_FOLDERS_; i++)
		if (is_used(d, i))
			c->folders[i] = ing_strdup(d->conf.folders[i]);
	d->checked_ms = ing_now_ms();
	return c;
}

static void note_silence(struct ing_disk *d, uint64_t now_ms)
{
	if (d->silent || now_ms - d->checked_ms < NO_ANSWER_MS)
		return;
	d->stops += !ing_disk_low(d);
	d->silent = true;
	ing_log(ING_LOG_ERROR,
		"warc.dir, spool.dir, state.dir or store.dir has not answered for %d s: nothing new is fetched "
		"until it does",
		NO_ANSWER_MS / 1000);
}

static void on_tick(uv_timer_t *timer)
{
	struct ing_disk *d = timer->data;
	uint64_t now_ms = ing_now_ms();
	uint64_t written = d->conf.written != NULL ? d->conf.written(d->conf.ctx) : 0;
	if (d->check != NULL) {
		note_silence(d, now_ms);
		return;
	}
	if (written == d->checked_written && now_ms - d->checked_ms < IDLE_MS)
		return;
	d->checked_written = written;
	d->check = new_check(d);
	ing_must(uv_queue_work(d->loop, &d->check->work, ask, on_asked) == 0);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_disk *ing_disk_new(struct uv_loop_s *loop, const struct ing_disk_conf *conf)
{
	struct ing_disk *d = ing_alloc(sizeof(*d));
	d->loop = loop;
	d->conf = *conf;
	d->timer = ing_alloc(sizeof(*d->timer));
	d->timer->data = d;
	struct check *first = new_check(d);
	ask(&first->work);
	take_answers(d, first);
	free_check(first);
	ing_must(uv_timer_init(loop, d->timer) == 0);
	uv_timer_start(d->timer, on_tick, TICK_MS, TICK_MS);
	uv_unref((uv_handle_t *)d->timer);
	return d;
}

void ing_disk_free(struct ing_disk *d)
{
	if (d == NULL)
		return;
	if (d->check != NULL)
		d->check->disk = NULL;
	uv_close((uv_handle_t *)d->timer, on_closed);
	free(d);
}

bool ing_disk_low(const struct ing_disk *d)
{
	return d->silent || d->folders[find_worst(d)].level != ING_DISK_ENOUGH;
}

bool ing_disk_add_trouble(const struct ing_disk *d, struct ing_buf *out)
{
	int worst = find_worst(d);
	const struct folder *f = &d->folders[worst];
	if (d->silent) {
		ing_buf_add_str(out, "a folder's file system does not answer");
		return true;
	}
	if (f->level == ING_DISK_ENOUGH)
		return false;
	bool stop = f->level == ING_DISK_STOP;
	uint64_t bound = stop ? d->conf.settings.stop_bytes : d->conf.settings.abort_bytes;
	ing_buf_printf(out, "%s %s has %" PRIu64 " MiB free, under disk.%s (%" PRIu64 " MiB)%s",
		keys[worst], d->conf.folders[worst], f->free_bytes >> 20,
		stop ? "stop_bytes" : "abort_bytes", bound >> 20,
		f->free_bytes >= bound ? ", and a little more is wanted before it goes on" : "");
	return true;
}

void ing_disk_stats(const struct ing_disk *d, struct ing_disk_stats *ret)
{
	*ret = (struct ing_disk_stats){
		.warc_free_bytes = d->folders[ING_DISK_WARC].free_bytes,
		.spool_free_bytes = d->folders[ING_DISK_SPOOL].free_bytes,
		.state_free_bytes = d->folders[ING_DISK_STATE].free_bytes,
		.store_free_bytes = d->folders[ING_DISK_STORE].free_bytes,
		.low = ing_disk_low(d),
		.stops = d->stops,
	};
}

enum ing_disk_level ing_disk_level_of(
	const struct ing_disk_settings *settings, uint64_t free_bytes, enum ing_disk_level before)
{
	const uint64_t bounds[] = {
		[ING_DISK_STOP] = settings->stop_bytes, [ING_DISK_ABORT] = settings->abort_bytes};
	for (int level = ING_DISK_ABORT; level > ING_DISK_ENOUGH; level--) {
		uint64_t more = (int)before >= level ? bounds[level] / RESUME_SHARE : 0;
		if (bounds[level] > 0 && free_bytes < bounds[level] + more)
			return (enum ing_disk_level)level;
	}
	return ING_DISK_ENOUGH;
}
