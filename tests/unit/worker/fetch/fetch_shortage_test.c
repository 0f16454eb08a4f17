/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No descriptor left, at each point of a transfer where one is made: nobody else is blamed, nothing
 * is taken for an answer that is none, and it goes on when there are some again. The servers are
 * threads of this process; what they need has been made before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
/* cmocka wants the first two above */
#include <cmocka.h>
#include "client.h"
#include "common/base/clock.h"
#include "common/base/fd_shortage.h"
#include "names.h"
#include "web.h"
#include "worker/fetch/fetch_priv.h"

#define BODY_BYTES ((size_t)1500000) /* more than a window, less than two */
#define GIVE_UP_MS 30000

static struct web *web;
static struct names *names;
static struct rlimit usual;

static void page_small(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
}

static void page_large(struct web_conn *c)
{
	web_sayf(c, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		BODY_BYTES);
	web_pattern(c, 0, BODY_BYTES);
}

static const struct web_page pages[] = {
	{"/small", page_small}, {"/large", page_large}, {NULL, NULL}};
static const struct names_row rows[] = {
	{.name = "here.test", .v4 = {"127.0.0.1"}, .ttl_s = 300}, {.name = NULL}};

/* So that no descriptor can be made: all below the limit are open. */
static int fillers[256];
static unsigned filler_count;

static void use_up(void)
{
	struct rlimit tight = usual;
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	assert_true(fd >= 0);
	fillers[filler_count++] = fd;
	tight.rlim_cur = (rlim_t)fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	for (;;) {
		fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			break;
		fillers[filler_count++] = fd;
	}
}

static void give_back(void)
{
	while (filler_count > 0)
		close(fillers[--filler_count]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

static void wait_until_over(void)
{
	uint64_t until = ing_now_ms() + GIVE_UP_MS;
	while (ing_fd_shortage()) {
		assert_true(ing_now_ms() < until);
		usleep(5000);
	}
}

static void expect_no_descriptor(const struct ing_exchange *ex)
{
	assert_outcome(ex, ING_STATUS_WORKER_ERROR);
	assert_true(ex->no_descriptor && ex->transient && !ex->answered);
	assert_int_equal(ex->request.len, 0);
}

static void expect_success(struct client *c, const char *url)
{
	struct ing_exchange *ex = client_get(c, url);
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_false(ex->no_descriptor);
	ing_exchange_unref(ex);
}

static void a_host_is_not_blamed_for_a_socket(void **state)
{
	char url[128];
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	(void)state;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/small", web_port(web));
	client_start(&c, &conf);
	unsigned before = web_connections(web);
	use_up();
	struct ing_exchange *ex = client_get(&c, url);
	give_back();
	expect_no_descriptor(ex);
	ing_exchange_unref(ex);
	assert_int_equal(web_connections(web), before);
	assert_true(ing_fd_shortage());
	expect_success(&c, url); /* not begun before the shortage is over */
	client_stop(&c);
	wait_until_over();
}

/* Neither "there is no such name", nor remembered. */
static void a_name_is_not_blamed_for_a_socket(void **state)
{
	char url[128];
	struct client c;
	struct ing_fetch_settings conf = client_settings();
	(void)state;
	conf.dns_servers = names_server(names);
	snprintf(url, sizeof(url), "http://here.test:%u/small", web_port(web));
	client_start(&c, &conf);
	use_up();
	struct ing_exchange *ex = client_get(&c, url);
	give_back();
	expect_no_descriptor(ex);
	ing_exchange_unref(ex);
	expect_success(&c, url);
	client_stop(&c);
	wait_until_over();
}

static bool is_pattern(const struct ing_exchange *ex)
{
	static unsigned char got[BODY_BYTES];
	if (ex->body_bytes != BODY_BYTES || ex->body_fd < 0 ||
		pread(ex->body_fd, got, BODY_BYTES, 0) != (ssize_t)BODY_BYTES)
		return false;
	for (size_t i = 0; i < BODY_BYTES; i++)
		if (got[i] != test_pattern(i))
			return false;
	return true;
}

/* Begins a transfer of the large body and stops when all of it has come, but is not yet in its
 * file. */
static void fetch_until_received(struct client *c, const char *url, struct got *got)
{
	struct ing_transfer *t = ing_fetch_start(
		c->fetch, &(struct ing_fetch_request){.url = url}, client_done, got);
	while (t->body == NULL || ing_spool_body_bytes(t->body) < BODY_BYTES) {
		assert_null(got->ex);
		uv_run(&c->loop, UV_RUN_ONCE);
	}
	assert_null(got->ex);
}

static void a_body_in_its_file_is_never_empty(void **state)
{
	char url[128];
	struct client c;
	struct got got = {0};
	struct ing_fetch_settings conf = client_settings();
	(void)state;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/large", web_port(web));
	client_start(&c, &conf);
	fetch_until_received(&c, url, &got);
	usleep(300000); /* the pool has made the file by now; if not, the transfer waits for it */
	use_up();
	client_turn(&c, 300);
	give_back();
	client_wait(&c, &got);
	assert_outcome(got.ex, ING_STATUS_SUCCESS);
	assert_true(is_pattern(got.ex));
	ing_exchange_unref(got.ex);
	client_stop(&c);
	wait_until_over();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_not_blamed_for_a_socket),
		cmocka_unit_test(a_name_is_not_blamed_for_a_socket),
		cmocka_unit_test(a_body_in_its_file_is_never_empty),
	};
	getrlimit(RLIMIT_NOFILE, &usual);
	web = web_start(pages, NULL);
	names = names_start(rows);
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	names_stop(names);
	web_stop(web);
	return rc;
}
