/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order that came by the control socket, in a file of state.dir, so that it outlives the process as those of the
 * database do. Read once, before the loop runs; written by libuv's pool, one write at a time, the newest
 * order last. A file that cannot be read or written is logged, and the order holds for this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/io.h"
#include "common/base/log.h"
#include "common/data/json.h"
#include "worker/engine/engine_priv.h"
#include "worker/fleet/orders.h"

#define MAX_FILE_BYTES ((size_t)16 << 10)

struct ing_engine_order_file {
	char *path;
	bool writing, again;
};

struct write {
	uv_work_t work;
	struct ing_engine *e;
	char *path;
	char *json; /* NULL: there is no order */
	int rc;
	struct ing_error err;
};

/* The order that the socket gave, if it is in force. */
static const struct ing_order *local_order(const struct ing_engine *e)
{
	const struct ing_order *order = ing_orders_get(e->orders, 0);
	return order != NULL && order->local ? order : NULL;
}

static char *format(const struct ing_order *order)
{
	json_t *o = json_object();
	int64_t age_s = (int64_t)(ing_order_age_ms(order, ing_now_ms()) / 1000);
	ing_json_set_text(o, "action", ing_order_action_name(order->action));
	ing_json_set_text(o, "why", order->why);
	ing_json_set_text(o, "by", order->by);
	ing_json_set_number(o, "since", (int64_t)ing_wall_now().tv_sec - age_s);
	char *text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return text;
}

/* --- writing --- */

static void begin_write(struct ing_engine *e);

static void on_write(uv_work_t *work)
{
	struct write *w = ING_CONTAINER(work, struct write, work);
	if (w->json != NULL)
		w->rc = ing_replace_file(w->path, w->json, strlen(w->json), &w->err);
	else if (unlink(w->path) != 0 && errno != ENOENT)
		w->rc = ing_error_sys(&w->err, errno, "%s", w->path);
}

static void on_written(uv_work_t *work, int status)
{
	struct write *w = ING_CONTAINER(work, struct write, work);
	struct ing_engine *e = w->e;
	(void)status;
	if (w->rc != 0)
		ing_log(ING_LOG_WARNING, "%s: the order will not outlive this process", w->err.msg);
	free(w->path);
	free(w->json);
	free(w);
	struct ing_engine_order_file *f = e->order_file;
	if (f == NULL)
		return; /* the engine is being freed */
	f->writing = false;
	if (f->again)
		begin_write(e);
}

static void begin_write(struct ing_engine *e)
{
	struct ing_engine_order_file *f = e->order_file;
	const struct ing_order *order = local_order(e);
	f->again = f->writing;
	if (f->writing)
		return;
	f->writing = true;
	struct write *w = ing_alloc(sizeof(*w));
	w->e = e;
	w->path = ing_strdup(f->path);
	w->json = order != NULL ? format(order) : NULL;
	int rc = uv_queue_work(&e->loop, &w->work, on_write, on_written);
	ing_must(rc == 0);
}

/* --- reading --- */

/* Returns 0, or an errno; ENOENT: there is no order. The text ends with a NUL. */
static int read_file(const char *path, char text[MAX_FILE_BYTES], size_t *ret_bytes)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int rc = fstat(fd, &st) != 0 ? errno : 0;
	if (rc == 0 && (st.st_size <= 0 || (uintmax_t)st.st_size >= MAX_FILE_BYTES))
		rc = EINVAL;
	if (rc == 0)
		rc = ing_read_all(fd, text, (size_t)st.st_size);
	close(fd);
	*ret_bytes = rc == 0 ? (size_t)st.st_size : 0;
	return rc;
}

static bool parse(const char *text, size_t bytes, struct ing_engine *e)
{
	json_t *o = ing_json_parse(text, bytes, &ing_json_own, NULL);
	const char *action = ing_json_get_text(o, "action");
	struct ing_order order = {
		.why = ing_json_get_text(o, "why"), .by = ing_json_get_text(o, "by")};
	int64_t age_s = (int64_t)ing_wall_now().tv_sec - ing_json_get_number(o, "since");
	order.age_ms = ING_MAX(age_s, (int64_t)0) * 1000;
	bool good = action != NULL && ing_order_action_from_name(action, &order.action);
	if (good)
		ing_orders_set_local(e->orders, &order, ing_now_ms());
	json_decref(o);
	return good;
}

/* -------------------------------------------------------------------------------------------- */

void ing_engine_keep_order(struct ing_engine *e, const char *path)
{
	char text[MAX_FILE_BYTES];
	size_t bytes;
	e->order_file = ing_alloc(sizeof(*e->order_file));
	e->order_file->path = ing_strdup(path);
	int rc = read_file(path, text, &bytes);
	if (rc == ENOENT)
		return;
	if (rc != 0 || !parse(text, bytes, e))
		ing_log(ING_LOG_WARNING, "%s: no order can be read from it%s%s", path,
			rc != 0 ? ": " : "", rc != 0 ? strerror(rc) : "");
}

void ing_engine_write_order(struct ing_engine *e)
{
	if (e->order_file != NULL)
		begin_write(e);
}

void ing_engine_done_order_file(struct ing_engine *e)
{
	struct ing_engine_order_file *f = ING_TAKE(e->order_file);
	if (f == NULL)
		return;
	free(f->path);
	free(f);
}
