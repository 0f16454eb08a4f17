/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop's side: hands items over, takes them back when the writer wakes the loop, starts and
 * ends the thread. The wake-up handle keeps the loop alive only while items are out.
 */
#include "worker/archive/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/signals.h"
#include "worker/archive/name.h"
#include "worker/archive/recover.h"
#include "worker/archive/writer.h"

struct ing_archive {
	struct ing_archive_conf conf; /* own copies of the strings */
	struct ing_archive_link link;
	struct ing_archive_writer *writer;
	pthread_t thread;
	uv_async_t *async; /* outlives us until the loop has closed it */
	size_t outstanding;
};

static void deliver_finished(struct ing_archive *a)
{
	struct ing_node *nodes = ing_queue_take_all(&a->link.finished);
	for (struct ing_node *node = nodes; node != NULL; node = node->next)
		a->outstanding--;
	/* Before the callbacks: they may put the next ones. */
	if (a->outstanding == 0)
		uv_unref((uv_handle_t *)a->async);
	while (nodes != NULL) {
		struct ing_archive_item *item = ING_CONTAINER(nodes, struct ing_archive_item, node);
		nodes = nodes->next;
		item->done(item);
	}
}

static void on_async(uv_async_t *async)
{
	deliver_finished(async->data);
}

static void on_async_closed(uv_handle_t *handle)
{
	free(handle);
}

static void wake_loop(void *ctx)
{
	struct ing_archive *a = ctx;
	uv_async_send(a->async);
}

static void *run_thread(void *arg)
{
	struct ing_archive *a = arg;
	ing_archive_writer_run(a->writer);
	return NULL;
}

static int start_thread(struct ing_archive *a)
{
	int errnum = ing_thread_create(&a->thread, run_thread, a);
	if (errnum == 0)
		pthread_setname_np(a->thread, "archive");
	return errnum;
}

/* mkdir -p, then open. Returns the descriptor, or negative. */
static int open_folder(const char *path, struct ing_error *err)
{
	char *part = ing_strdup(path);
	for (char *p = part + 1; *part != '\0' && *p != '\0'; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(part, 0755); /* a failure shows at the end */
		*p = '/';
	}
	free(part);
	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		return ing_error_sys(err, errno, "%s: cannot make the WARC folder", path);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ing_error_sys(err, errno, "%s: cannot open the WARC folder", path);
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
		int rc = ing_error_sys(err, errno, "%s: cannot write into the WARC folder", path);
		close(fd);
		return rc;
	}
	return fd;
}

static char *copy(const char *s)
{
	return ing_strdup(s != NULL ? s : "");
}

static char *safe_part(const char *s)
{
	return ing_warc_name_part(s != NULL ? s : "");
}

static void free_conf(struct ing_archive_conf *conf)
{
	const char **strings[] = {&conf->settings.dir, &conf->settings.prefix, &conf->hostname,
		&conf->software, &conf->user_agent, &conf->robots};
	for (size_t i = 0; i < ING_ARRAY_LEN(strings); i++)
		ing_freep(strings[i]);
}

/* Its thread has ended, or never begun. */
static void free_archive(struct ing_archive *a)
{
	uv_close((uv_handle_t *)a->async, on_async_closed);
	ing_queue_take_all(&a->link.todo);
	ing_queue_done(&a->link.todo);
	ing_queue_done(&a->link.finished);
	ing_note_done(&a->link.trouble);
	ing_archive_writer_free(a->writer);
	free_conf(&a->conf);
	free(a);
}

static struct ing_archive_conf copy_conf(const struct ing_archive_conf *conf)
{
	return (struct ing_archive_conf){
		.settings = {.dir = copy(conf->settings.dir),
			.prefix = safe_part(conf->settings.prefix),
			.max_bytes = conf->settings.max_bytes},
		.hostname = safe_part(conf->hostname),
		.software = copy(conf->software),
		.user_agent = copy(conf->user_agent),
		.robots = copy(conf->robots),
	};
}

/* The folder with what a predecessor left there put in order. *ret_fd is -1 without one. */
static int prepare_dir(const struct ing_archive_conf *conf, int *ret_fd, struct ing_error *err)
{
	*ret_fd = -1;
	if (conf->settings.dir[0] == '\0')
		return 0;
	int rc = ing_warc_name_check(conf->settings.prefix, conf->hostname, err);
	if (rc != 0)
		return rc;
	int fd = open_folder(conf->settings.dir, err);
	if (fd < 0)
		return fd;
	rc = ing_archive_recover(fd, conf->settings.prefix, conf->hostname, err);
	if (rc != 0) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_archive_new(struct uv_loop_s *loop, const struct ing_archive_conf *conf,
	struct ing_archive **ret, struct ing_error *err)
{
	struct ing_archive_conf own = copy_conf(conf);
	int dir_fd;
	int rc = prepare_dir(&own, &dir_fd, err);
	if (rc != 0) {
		free_conf(&own);
		return rc;
	}
	struct ing_archive *a = ing_alloc(sizeof(*a));
	a->conf = own;
	ing_queue_init(&a->link.todo);
	ing_queue_init(&a->link.finished);
	a->link.wake = wake_loop;
	a->link.ctx = a;
	a->async = ing_alloc(sizeof(*a->async));
	a->async->data = a;
	ing_must(uv_async_init(loop, a->async, on_async) == 0);
	uv_unref((uv_handle_t *)a->async);
	a->writer = ing_archive_writer_new(&a->conf, dir_fd, &a->link);
	int errnum = start_thread(a);
	if (errnum != 0) {
		free_archive(a);
		return ing_error_sys(err, errnum, "archive: cannot start its thread");
	}
	*ret = a;
	return 0;
}

void ing_archive_free(struct ing_archive *a)
{
	if (a == NULL)
		return;
	ing_queue_close(&a->link.todo);
	ing_must(pthread_join(a->thread, NULL) == 0);
	deliver_finished(a);
	free_archive(a);
}

void ing_archive_put(struct ing_archive *a, struct ing_archive_item *item, size_t coming)
{
	if (a->outstanding++ == 0)
		uv_ref((uv_handle_t *)a->async);
	ing_queue_push_one_of(&a->link.todo, &item->node, coming);
}

const char *ing_archive_trouble(struct ing_archive *a)
{
	return ing_archive_blocked(a) ? ing_note_get(&a->link.trouble) : NULL;
}

bool ing_archive_blocked(const struct ing_archive *a)
{
	return atomic_load(&a->link.blocked);
}

void ing_archive_stats(const struct ing_archive *a, struct ing_archive_stats *ret)
{
	*ret = (struct ing_archive_stats){
		.records = atomic_load_explicit(&a->link.records, memory_order_relaxed),
		.revisits = atomic_load_explicit(&a->link.revisits, memory_order_relaxed),
		.saved_bytes = atomic_load_explicit(&a->link.saved_bytes, memory_order_relaxed),
		.bytes = atomic_load_explicit(&a->link.bytes, memory_order_relaxed),
		.syncs = atomic_load_explicit(&a->link.syncs, memory_order_relaxed),
		.files = atomic_load_explicit(&a->link.files, memory_order_relaxed),
		.cpu_ns = atomic_load_explicit(&a->link.cpu_ns, memory_order_relaxed),
	};
	ing_histogram_read_shared(ret->sync_us, a->link.sync_us, ING_METRIC_DURATION);
}
