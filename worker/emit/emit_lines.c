/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Results and side products to files, one JSON value on each line: `ingestctl run`.
 *
 * A writer thread, because a full pipe or a slow disk blocks; the loop passes puts through one queue and
 * gets them back through another, signalled by a uv_async. SIGPIPE is blocked in that thread, so that
 * a closed pipe is an error like others. Stdout may be non-blocking (a terminal shares its flags with
 * everything on it): EAGAIN is retried.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/queue.h"
#include "common/base/signals.h"
#include "common/base/utf8.h"
#include "common/data/base64.h"
#include "common/data/json.h"
#include "worker/emit/emit_priv.h"
#include "worker/model/tier.h"

/* Puts waiting for the writer at which intake should stop. */
#define BLOCKED_PUTS 256
/* A file has no limit; this keeps lines within what the rest of the system accepts. */
#define MAX_VALUE_BYTES ((size_t)32 << 20)
#define FLUSH_MS 5000
/* How often a writer that waits for its reader checks for the end of the program. */
#define POLL_MS 200

struct put {
	struct ing_node node;    /* first member */
	struct put *prev, *next; /* records, which may be dropped; the loop's */
	enum ing_output output;
	const struct ing_emit_user *user; /* NULL for a record */
	void *ctx;
	struct ing_emit_record *record;
	bool ok;
	bool unwanted; /* set by the loop: the writer does not begin it. Atomic. */
	size_t bytes;  /* of line, newline included; 0: nothing to write */
	char *line;
};

struct lines_emit {
	struct ing_emit base;
	int fds[ING_OUTPUTS_]; /* -1: dropped; results' is the caller's */
	char *names[ING_OUTPUTS_];
	struct ing_queue todo, finished;
	struct put *records; /* those that are not done */
	pthread_t writer;
	uv_async_t wake; /* data is NULL once freed */
	unsigned outstanding;

	/* Set by the writer, read by the loop after a put came back with ok false. */
	struct ing_error error;
	bool fatal_reported;
	bool dropping; /* set by the loop at the end: the writer starts no further line. Atomic. */
	void (*on_fatal)(void *ctx, const struct ing_error *err);
	void *fatal_ctx;
};

static struct lines_emit *lines_of(struct ing_emit *base)
{
	return ING_CONTAINER(base, struct lines_emit, base);
}

/* ---- Writer thread ---- */

static bool is_dropping(struct lines_emit *e)
{
	return __atomic_load_n(&e->dropping, __ATOMIC_RELAXED);
}

/* 0 or an errno. Never blocks for long, so that the end of the program need not wait for a reader
 * that has stopped reading: a pipe that polls writable takes PIPE_BUF bytes at once (pipe(7)), and
 * files always poll writable. */
static int write_all(struct lines_emit *e, int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		int ready = poll(&p, 1, POLL_MS);
		if (ready <= 0 && is_dropping(e))
			return ECANCELED;
		if (ready <= 0)
			continue;
		ssize_t n = write(fd, data, ING_MIN(bytes, (size_t)PIPE_BUF));
		if (n > 0) {
			data += n;
			bytes -= (size_t)n;
		} else if (n < 0 && errno != EINTR && errno != EAGAIN) {
			return errno;
		}
	}
	return 0;
}

/* @locality writer. After an error nothing more is written, so that there is no gap. */
static void write_put(struct lines_emit *e, struct put *p)
{
	if (p->bytes == 0)
		return;
	p->ok = false;
	bool unwanted = __atomic_load_n(&p->unwanted, __ATOMIC_RELAXED);
	if (e->error.code != ING_FAIL_NONE || is_dropping(e) || unwanted)
		return;
	int errnum = write_all(e, e->fds[p->output], p->line, p->bytes);
	if (errnum == 0)
		p->ok = true;
	else if (errnum != ECANCELED)
		ing_error_sys(&e->error, errnum, "%s: cannot be written", e->names[p->output]);
}

static void *run_writer(void *arg)
{
	struct lines_emit *e = arg;
	for (;;) {
		struct ing_node *node = ing_queue_wait_all(&e->todo, -1);
		if (node == NULL && ing_queue_closed(&e->todo))
			return NULL;
		while (node != NULL) {
			struct ing_node *next = node->next;
			write_put(e, ING_CONTAINER(node, struct put, node));
			if (ing_queue_push(&e->finished, node))
				uv_async_send(&e->wake);
			node = next;
		}
	}
}

/* SIGPIPE becomes EPIPE. */
static int start_writer(struct lines_emit *e)
{
	return ing_thread_create(&e->writer, run_writer, e);
}

/* ---- Loop thread ---- */

static void report_fatal(struct lines_emit *e)
{
	if (e->fatal_reported)
		return;
	e->fatal_reported = true;
	if (e->on_fatal != NULL)
		e->on_fatal(e->fatal_ctx, &e->error);
	else
		ing_log(ING_LOG_ERROR, "%s", e->error.msg);
}

/* A line that is written stays, dropped or not. */
static void finish_record(struct lines_emit *e, struct put *p)
{
	struct ing_emit_record *r = p->record;
	bool refused = p->bytes == 0; /* too large, or its output has no file */
	DL_DELETE(e->records, p);
	if (p->ok)
		e->base.positions.finish(e->base.positions.ctx, r->token);
	r->done(r, p->ok ? ING_EMIT_COMMITTED : refused ? ING_EMIT_REFUSED : ING_EMIT_DROPPED);
}

static void call_done(struct lines_emit *e)
{
	struct ing_node *node = ing_queue_take_all(&e->finished);
	bool failed = false;
	while (node != NULL) {
		struct put *p = ING_CONTAINER(node, struct put, node);
		node = node->next;
		e->outstanding--;
		failed = failed || !p->ok;
		if (p->record != NULL)
			finish_record(e, p);
		else
			p->user->done(p->ctx, p->ok);
		free(p->line);
		free(p);
	}
	if (failed && e->error.code != ING_FAIL_NONE)
		report_fatal(e);
}

static void on_wake(uv_async_t *wake)
{
	if (wake->data != NULL)
		call_done(wake->data);
}

/* NULL when memory is short. */
static json_t *make_base64(const char *value, size_t bytes)
{
	char *text = ing_try_alloc(ING_BASE64_CHARS(bytes) + 1);
	if (text == NULL)
		return NULL;
	ing_base64_encode(value, bytes, text);
	json_t *json = json_stringn_nocheck(text, ING_BASE64_CHARS(bytes));
	free(text);
	return json;
}

/* {"value": text} or {"value_base64": …}, and {"headers": {name: value}}: of dead letters and parked
 * requests. NULL when memory is short. */
static char *make_wrapped(const struct ing_output_message *m, size_t *ret_bytes)
{
	const char *bytes = m->value != NULL ? m->value : "";
	bool is_text = ing_utf8_valid(bytes, m->value_bytes);
	json_t *value = is_text ? json_stringn_nocheck(bytes, m->value_bytes)
				: make_base64(bytes, m->value_bytes);
	if (value == NULL)
		return NULL;
	json_t *letter = json_object();
	json_t *headers = json_object();
	for (size_t i = 0; i < m->header_count; i++)
		ing_json_set_text(headers, m->headers[i].name, m->headers[i].value);
	ing_json_set(letter, is_text ? "value" : "value_base64", value);
	ing_json_set(letter, "headers", headers);
	char *text = ing_json_dump(letter, ret_bytes);
	json_decref(letter);
	return text;
}

/* {"key": text, "value_base64": …}. NULL when memory is short. */
static char *make_bytes(const struct ing_output_message *m, size_t *ret_bytes)
{
	json_t *value = make_base64(m->value, m->value_bytes);
	if (value == NULL)
		return NULL;
	json_t *line = json_object();
	ing_json_set(line, "key", json_stringn(m->key, m->key_bytes));
	ing_json_set(line, "value_base64", value);
	char *text = ing_json_dump(line, ret_bytes);
	json_decref(line);
	return text;
}

/* The line without its newline, with a spare byte behind it; heap. Takes the value. */
static char *make_line(const struct ing_output_message *m, size_t *ret_bytes)
{
	enum ing_output_form form = ing_output_row(m->output)->form;
	if (form == ING_OUTPUT_FORM_JSON) {
		*ret_bytes = m->value_bytes;
		return ing_realloc(m->value, m->value_bytes + 1);
	}
	char *line = form == ING_OUTPUT_FORM_LETTER ? make_wrapped(m, ret_bytes)
						    : make_bytes(m, ret_bytes);
	free(m->value);
	return line;
}

static size_t max_value_bytes(const struct ing_emit *base, enum ing_output output)
{
	(void)base;
	(void)output;
	return MAX_VALUE_BYTES;
}

/* The newline takes the place of the NUL, or of the spare byte. Takes the value. */
static struct put *make_put(struct lines_emit *e, const struct ing_output_message *m)
{
	struct put *p = ing_alloc(sizeof(*p));
	p->output = m->output;
	bool has_file = e->fds[m->output] >= 0;
	p->ok = !has_file && ing_tier_of_output(m->output) < 0; /* dropped */
	if (!has_file || m->value_bytes > MAX_VALUE_BYTES)
		free(m->value);
	else
		p->line = make_line(m, &p->bytes);
	if (p->line != NULL)
		p->line[p->bytes++] = '\n';
	return p;
}

static void put_lines(struct ing_emit *base, const struct ing_output_message *m,
	const struct ing_emit_user *user, void *ctx)
{
	struct lines_emit *e = lines_of(base);
	struct put *p = make_put(e, m);
	p->user = user;
	p->ctx = ctx;
	e->outstanding++;
	ing_queue_push(&e->todo, &p->node);
}

static struct put *make_record_put(struct lines_emit *e, const struct ing_output_message *borrowed)
{
	struct ing_output_message m = *borrowed;
	m.value = m.value != NULL ? ing_strndup(m.value, m.value_bytes) : NULL;
	return make_put(e, &m);
}

static void commit_lines(struct ing_emit *base, struct ing_emit_record *r)
{
	struct lines_emit *e = lines_of(base);
	struct put *p = r->message != NULL ? make_record_put(e, r->message) : ing_alloc(sizeof(*p));
	p->ok |= r->message == NULL;
	p->record = r;
	e->outstanding++;
	DL_APPEND(e->records, p);
	ing_queue_push(&e->todo, &p->node);
}

static void drop_lines(struct ing_emit *base, const struct ing_emit_range *range)
{
	struct put *p;
	DL_FOREACH (lines_of(base)->records, p)
		if (ing_emit_in_range(range, p->record))
			__atomic_store_n(&p->unwanted, true, __ATOMIC_RELAXED);
}

static unsigned outstanding_lines(const struct ing_emit *base)
{
	return ((const struct lines_emit *)(const void *)base)->outstanding;
}

static bool blocked_lines(const struct ing_emit *base)
{
	return outstanding_lines(base) > BLOCKED_PUTS;
}

static const char *trouble_of_lines(const struct ing_emit *base)
{
	(void)base;
	return "whoever reads the results is slow, or the disk is";
}

static void close_files(struct lines_emit *e)
{
	for (int i = 0; i < ING_OUTPUTS_; i++) {
		if (i != ING_OUTPUT_RESULTS && e->fds[i] >= 0 && close(e->fds[i]) < 0)
			ing_log(ING_LOG_ERROR, "%s: closing: %s", e->names[i], strerror(errno));
		free(e->names[i]);
	}
}

static void on_closed(uv_handle_t *handle)
{
	struct lines_emit *e = ING_CONTAINER(handle, struct lines_emit, wake);
	free(e);
}

static void free_lines(struct ing_emit *base)
{
	struct lines_emit *e = lines_of(base);
	uint64_t deadline = ing_now_ms() + FLUSH_MS;
	while (e->outstanding > 0 && ing_now_ms() < deadline) {
		struct timespec nap = {.tv_nsec = 1000000};
		call_done(e);
		if (e->outstanding > 0)
			nanosleep(&nap, NULL);
	}
	__atomic_store_n(&e->dropping, true, __ATOMIC_RELAXED);
	ing_queue_close(&e->todo);
	pthread_join(e->writer, NULL);
	call_done(e);
	ing_queue_done(&e->todo);
	ing_queue_done(&e->finished);
	close_files(e);
	e->base.magic = 0;
	e->wake.data = NULL;
	uv_close((uv_handle_t *)&e->wake, on_closed);
}

static bool has_lines(const struct ing_emit *base, enum ing_output output)
{
	return ((const struct lines_emit *)(const void *)base)->fds[output] >= 0;
}

static const struct ing_emit_ops lines_ops = {
	.has = has_lines,
	.max_value_bytes = max_value_bytes,
	.put = put_lines,
	.commit = commit_lines,
	.drop = drop_lines,
	.outstanding = outstanding_lines,
	.blocked = blocked_lines,
	.trouble = trouble_of_lines,
	.free = free_lines,
};

static int open_file(
	struct lines_emit *e, enum ing_output output, const char *dir, struct ing_error *err)
{
	const char *name = ing_output_row(output)->file;
	size_t bytes = strlen(dir) + strlen(name) + 2;
	char *path = ing_alloc(bytes);
	snprintf(path, bytes, "%s/%s", dir, name);
	e->names[output] = path;
	e->fds[output] = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	return e->fds[output] >= 0 ? 0 : ing_error_sys(err, errno, "%s: cannot be opened", path);
}

/* -------------------------------------------------------------------------------------------- */

int ing_emit_lines_new(struct uv_loop_s *loop, int results_fd, const char *dir,
	struct ing_emit **ret, struct ing_error *err)
{
	struct lines_emit *e = ing_alloc(sizeof(*e));
	e->base = (struct ing_emit){.magic = ING_EMIT_MAGIC, .ops = &lines_ops};
	for (int i = 0; i < ING_OUTPUTS_; i++)
		e->fds[i] = -1;
	e->fds[ING_OUTPUT_RESULTS] = results_fd;
	e->names[ING_OUTPUT_RESULTS] = ing_strdup("results");
	int rc = 0;
	for (int i = 0; i < ING_OUTPUTS_ && rc == 0 && dir != NULL; i++)
		if (i != ING_OUTPUT_RESULTS)
			rc = open_file(e, (enum ing_output)i, dir, err);
	if (rc == 0) {
		ing_queue_init(&e->todo);
		ing_queue_init(&e->finished);
		uv_async_init(loop, &e->wake, on_wake);
		e->wake.data = e;
		int errnum = start_writer(e);
		if (errnum == 0) {
			*ret = &e->base;
			return 0;
		}
		rc = ing_error_sys(err, errnum, "results: cannot start the writer");
		close_files(e);
		uv_close((uv_handle_t *)&e->wake, on_closed);
		return rc;
	}
	close_files(e);
	free(e);
	return rc;
}

void ing_emit_lines_on_fatal(
	struct ing_emit *e, void (*on_fatal)(void *ctx, const struct ing_error *err), void *ctx)
{
	ing_must(e->ops == &lines_ops);
	lines_of(e)->on_fatal = on_fatal;
	lines_of(e)->fatal_ctx = ctx;
}
