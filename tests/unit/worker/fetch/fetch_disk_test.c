/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No room left on the disk, in each phase of a transfer: it ends as worker-error and keeps nothing,
 * and what has come whole stays. Files of bodies are closed, off the loop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stdio.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/sendfile.h>
/* cmocka wants the first two above */
#include <cmocka.h>
#include "client.h"
#include "names.h"
#include "web.h"
#include "worker/fetch/fetch_priv.h"

#define BODY_BYTES ((size_t)1500000) /* more than a window, less than two */
#define QUEUED 20                    /* more than are started at once */

static struct web *web;
static struct names *names;
static atomic_bool disk_full;

ssize_t __real_sendfile(int out, int in, off_t *at, size_t bytes);
ssize_t __wrap_sendfile(int out, int in, off_t *at, size_t bytes);

ssize_t __wrap_sendfile(int out, int in, off_t *at, size_t bytes)
{
	if (!atomic_load(&disk_full))
		return __real_sendfile(out, in, at, bytes);
	errno = ENOSPC;
	return -1;
}

/* Calls of ours on the loop's thread; not libuv's, nor the web server's on its own. */
static _Thread_local int last_closed = -1;

int __real_close(int fd);
int __wrap_close(int fd);

int __wrap_close(int fd)
{
	last_closed = fd;
	return __real_close(fd);
}

static void page_small(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
}

static void page_half(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello");
	web_wait(c, -1);
}

static void page_large(struct web_conn *c)
{
	web_sayf(c, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		BODY_BYTES);
	web_pattern(c, 0, BODY_BYTES);
}

static const struct web_page pages[] = {
	{"/small", page_small}, {"/half", page_half}, {"/large", page_large}, {NULL, NULL}};
static const struct names_row rows[] = {{.name = "silent.test", .silent = true}, {.name = NULL}};

static struct ing_transfer *start(struct client *c, const char *url, struct got *got)
{
	return ing_fetch_start(c->fetch, &(struct ing_fetch_request){.url = url}, client_done, got);
}

/* The loop has seen it, or 300 ms have passed. */
static void turn_until(struct client *c, const struct ing_transfer *t,
	enum ing_transfer_phase phase, size_t body_bytes)
{
	for (int i = 0; i < 1000; i++) {
		if (t->phase == phase &&
			(body_bytes == 0 ||
				(t->body != NULL && ing_spool_body_bytes(t->body) >= body_bytes)))
			return;
		client_turn(c, 5);
	}
	fail_msg("the transfer does not reach phase %d", (int)phase);
}

static void expect_no_room(struct got *got)
{
	assert_int_equal(got->calls, 1);
	assert_outcome(got->ex, ING_STATUS_WORKER_ERROR);
	assert_false(got->ex->answered || got->ex->transient || got->ex->no_descriptor);
	assert_int_equal(got->ex->body_bytes, 0);
	assert_int_equal(got->ex->body_fd, -1);
	assert_string_equal(got->ex->detail, "spool.dir: less than disk.abort_bytes are free");
	ing_exchange_unref(got->ex);
}

static uint64_t aborts_of(const struct client *c)
{
	struct ing_fetch_stats stats;
	ing_fetch_stats(c->fetch, &stats);
	assert_int_equal(stats.active, 0);
	return stats.disk_aborts;
}

static void a_running_transfer_ends_and_keeps_nothing(void **state)
{
	(void)state;
	char url[64];
	struct client c;
	struct got got = {0};
	struct ing_fetch_settings conf = client_settings();
	client_start(&c, &conf);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/half", web_port(web));
	turn_until(&c, start(&c, url, &got), ING_TRANSFER_RUNNING, 5);
	ing_fetch_abort_disk(c.fetch, "spool.dir");
	assert_true(got.ex->request.len > 0); /* so that its host rests as after any other */
	expect_no_room(&got);
	assert_int_equal(aborts_of(&c), 1);
	client_stop(&c);
}

static void a_name_need_not_be_looked_up(void **state)
{
	(void)state;
	struct client c;
	struct got got = {0};
	struct ing_fetch_settings conf = client_settings();
	conf.dns_servers = names_server(names);
	client_start(&c, &conf);
	turn_until(&c, start(&c, "http://silent.test/", &got), ING_TRANSFER_RESOLVING, 0);
	ing_fetch_abort_disk(c.fetch, "spool.dir");
	assert_int_equal(got.ex->request.len, 0);
	expect_no_room(&got);
	client_stop(&c);
}

static void those_not_begun_end_too(void **state)
{
	(void)state;
	char url[64];
	struct client c;
	struct got got[QUEUED] = {{0}};
	struct ing_fetch_settings conf = client_settings();
	client_start(&c, &conf);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/half", web_port(web));
	for (int i = 0; i < QUEUED; i++)
		start(&c, url, &got[i]);
	ing_fetch_abort_disk(c.fetch, "spool.dir");
	for (int i = 0; i < QUEUED; i++)
		expect_no_room(&got[i]);
	assert_int_equal(aborts_of(&c), QUEUED);
	client_stop(&c);
}

static void a_body_on_its_way_to_the_disk_is_dropped(void **state)
{
	(void)state;
	char url[64];
	struct client c;
	struct got got = {0};
	struct ing_fetch_settings conf = client_settings();
	client_start(&c, &conf);
	atomic_store(&disk_full, true);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/large", web_port(web));
	turn_until(&c, start(&c, url, &got), ING_TRANSFER_FLUSHING, BODY_BYTES);
	ing_fetch_abort_disk(c.fetch, "spool.dir");
	expect_no_room(&got);
	assert_false(ing_fetch_blocked(c.fetch)); /* nothing waits for room any more */
	atomic_store(&disk_full, false);
	struct ing_exchange *ex = client_get(&c, url);
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_pattern(ex, BODY_BYTES);
	ing_exchange_unref(ex);
	client_stop(&c);
}

static void an_answer_that_has_come_stays(void **state)
{
	(void)state;
	char url[64];
	struct client c;
	struct got got = {0};
	struct ing_fetch_settings conf = client_settings();
	client_start(&c, &conf);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/small", web_port(web));
	start(&c, url, &got);
	client_wait(&c, &got);
	ing_fetch_abort_disk(c.fetch, "spool.dir");
	assert_int_equal(aborts_of(&c), 0);
	assert_outcome(got.ex, ING_STATUS_SUCCESS);
	assert_int_equal(got.ex->body_bytes, 5);
	ing_exchange_unref(got.ex);
	client_stop(&c);
}

static struct ing_exchange *get_file(struct client *c)
{
	struct ing_exchange *ex = client_getf(c, "http://127.0.0.1:%u/large", web_port(web));
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_true(fcntl(ex->body_fd, F_GETFD) >= 0);
	return ex;
}

static void a_file_is_closed_on_the_pool(void **state)
{
	(void)state;
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	client_start(&c, &conf);
	struct ing_exchange *ex = get_file(&c);
	int fd = ex->body_fd;
	last_closed = -1;
	ing_exchange_unref(ex);
	assert_int_equal(last_closed, -1);
	for (int i = 0; i < 1000 && fcntl(fd, F_GETFD) >= 0; i++)
		client_turn(&c, 5);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	client_stop(&c);
}

static void a_file_that_outlives_the_fetch_is_closed_at_once(void **state)
{
	(void)state;
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	client_start(&c, &conf);
	struct ing_exchange *ex = get_file(&c);
	int fd = ex->body_fd;
	client_stop(&c);
	ing_exchange_unref(ex);
	assert_int_equal(last_closed, fd);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_running_transfer_ends_and_keeps_nothing),
		cmocka_unit_test(a_name_need_not_be_looked_up),
		cmocka_unit_test(those_not_begun_end_too),
		cmocka_unit_test(a_body_on_its_way_to_the_disk_is_dropped),
		cmocka_unit_test(an_answer_that_has_come_stays),
		cmocka_unit_test(a_file_is_closed_on_the_pool),
		cmocka_unit_test(a_file_that_outlives_the_fetch_is_closed_at_once),
	};
	web = web_start(pages, NULL);
	names = names_start(rows);
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	names_stop(names);
	web_stop(web);
	return rc;
}
