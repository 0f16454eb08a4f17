/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests to a server that does what each test tells it to.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <openssl/ssl.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "common/net/http_client.h"
#include "tests/unit/worker/fetch/certs.h"
#include "tests/unit/worker/fetch/web.h"

#define BODY_BYTES ((size_t)300000)
#define REQUESTS 6

/* What became of a request. */
struct outcome {
	struct ing_http_client_request request;
	unsigned calls; /* of done() */
	enum ing_http_client_end end;
	unsigned status, retry_after_s;
	char *data, *content_type;
	uint64_t bytes;
	int fd;
	char detail[256];
	bool again;                                /* put it once more in done() */
	struct ing_http_client_request *to_cancel; /* in done() */
};

static struct {
	uv_loop_t loop;
	struct web *web;
	struct ing_http_client *client;
	char url[REQUESTS][80];
} world;

static void on_done(struct ing_http_client_request *r, struct ing_http_client_answer *a)
{
	struct outcome *o = ING_CONTAINER(r, struct outcome, request);
	assert_null(r->transfer);
	o->calls++;
	o->end = a->end;
	o->status = a->status;
	o->retry_after_s = a->retry_after_s;
	o->bytes = a->bytes;
	free(o->data);
	free(o->content_type);
	o->data = ING_TAKE(a->data);
	o->content_type = a->content_type != NULL ? ing_strdup(a->content_type) : NULL;
	o->fd = a->fd;
	a->fd = -1;
	snprintf(o->detail, sizeof(o->detail), "%s", a->detail);
	if (o->to_cancel != NULL)
		ing_http_client_cancel(o->to_cancel);
	if (o->again) {
		o->again = false;
		ing_http_client_put(world.client, r);
	}
}

static void end_outcome(struct outcome *o)
{
	free(o->data);
	free(o->content_type);
	if (o->fd > 0)
		close(o->fd);
}

/* --- the server --- */

static void say_hello(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/x-hello\r\nRetry-After: 7\r\n"
		   "Content-Length: 5\r\n\r\nhello");
}

static void say_nothing(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 204 No Content\r\n\r\n");
}

static size_t length_of(const struct web_conn *c)
{
	const char *field = strstr(c->request, "Content-Length: ");
	return field != NULL ? strtoul(field + 16, NULL, 10) : 0;
}

/* What came, as it came. */
static void echo(struct web_conn *c)
{
	size_t bytes = length_of(c);
	char *body = ing_alloc(bytes + 1);
	if (web_receive(c, body, bytes)) {
		web_sayf(c, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", bytes);
		web_send(c, body, bytes);
	}
	free(body);
}

static void echo_once(struct web_conn *c)
{
	echo(c);
	c->over = true; /* although nothing has said that it would be */
}

/* A second request on the same connection is met by its end, while its body is being sent. */
static void echo_then_reset(struct web_conn *c)
{
	if (c->served == 0)
		echo(c);
	else
		web_reset(c);
}

static void wait_long(struct web_conn *c)
{
	web_wait(c, -1);
}

static void wait_in_the_middle(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf.");
	web_wait(c, -1);
}

static void break_off(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf.");
	c->over = true;
}

static void refuse_early(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 503 Slow Down\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy");
	char some[4096];
	while (web_receive(c, some, sizeof(some)))
		continue;
}

static void wait_a_little(struct web_conn *c)
{
	web_wait(c, 50);
	say_hello(c);
}

static const struct web_page pages[] = {
	{"/hello", say_hello},
	{"/nothing", say_nothing},
	{"/echo", echo},
	{"/echo-once", echo_once},
	{"/echo-then-reset", echo_then_reset},
	{"/wait", wait_long},
	{"/half", wait_in_the_middle},
	{"/break", break_off},
	{"/early", refuse_early},
	{"/slow", wait_a_little},
	{NULL, NULL},
};

/* --- the client --- */

static void start_client(const char *ca_file)
{
	struct ing_error err = {0};
	assert_int_equal(uv_loop_init(&world.loop), 0);
	int rc = ing_http_client_new(&world.loop,
		&(struct ing_http_client_settings){.user_agent = "test/1",
			.ca_file = ca_file,
			.max_transfers = 2,
			.connect_timeout_ms = 5000},
		&world.client, &err);
	assert_int_equal(rc, 0);
}

static void stop_client(void)
{
	ing_http_client_free(world.client);
	uv_run(&world.loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&world.loop), 0);
}

static int setup(void **state)
{
	(void)state;
	world.web = web_start(pages, NULL);
	start_client(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stop_client();
	web_stop(world.web);
	return 0;
}

static struct outcome outcome_of(const char *method, const char *path, unsigned number)
{
	snprintf(world.url[number], sizeof(world.url[number]), "http://127.0.0.1:%u%s",
		web_port(world.web), path);
	return (struct outcome){.request = {.method = method,
					.url = world.url[number],
					.max_answer_bytes = 1 << 20,
					.timeout_ms = 20000,
					.done = on_done}};
}

static bool is_under_way(void)
{
	return ing_http_client_running(world.client) + ing_http_client_waiting(world.client) > 0;
}

static void run(void)
{
	while (is_under_way())
		uv_run(&world.loop, UV_RUN_ONCE);
}

static void do_request(struct outcome *o)
{
	ing_http_client_put(world.client, &o->request);
	assert_int_equal(o->calls, 0); /* not from inside the call */
	run();
	assert_int_equal(o->calls, 1);
}

static void expect_end(const struct outcome *o, enum ing_http_client_end end)
{
	if (o->end != end)
		fail_msg("%s: %s", ing_http_client_end_name(o->end), o->detail);
	assert_int_equal(o->detail[0] == '\0', end == ING_HTTP_CLIENT_ANSWERED);
}

static char *pattern(size_t bytes)
{
	char *data = ing_alloc(bytes);
	for (size_t i = 0; i < bytes; i++)
		data[i] = (char)test_pattern(i);
	return data;
}

static int file_with(const char *before, const void *data, size_t bytes)
{
	int fd = memfd_create("body", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, before, strlen(before)), (ssize_t)strlen(before));
	assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
	return fd;
}

/* --- tests --- */

static void an_answer_comes_whole_with_its_head(void **state)
{
	(void)state;
	static const char *const fields[] = {"X-Test: 1", NULL};
	struct outcome o = outcome_of("GET", "/hello", 0);
	char head[32 << 10];
	o.request.fields = fields;
	do_request(&o);
	expect_end(&o, ING_HTTP_CLIENT_ANSWERED);
	assert_int_equal(o.status, 200);
	assert_int_equal(o.retry_after_s, 7);
	assert_string_equal(o.content_type, "text/x-hello");
	assert_string_equal(o.data, "hello");
	assert_int_equal(o.bytes, 5);
	assert_int_equal(o.fd, -1);
	web_last_request(world.web, head, sizeof(head));
	assert_non_null(strstr(head, "GET /hello HTTP/1.1\r\n"));
	assert_non_null(strstr(head, "User-Agent: test/1\r\n"));
	assert_non_null(strstr(head, "X-Test: 1\r\n"));
	end_outcome(&o);
}

static void an_empty_answer_is_an_empty_string(void **state)
{
	(void)state;
	struct outcome o = outcome_of("HEAD", "/nothing", 0);
	do_request(&o);
	expect_end(&o, ING_HTTP_CLIENT_ANSWERED);
	assert_int_equal(o.status, 204);
	assert_string_equal(o.data, "");
	end_outcome(&o);
}

/* Larger than what sockets buffer. */
static void a_body_is_sent_from_memory_or_from_a_part_of_a_file(void **state)
{
	(void)state;
	char *data = pattern(BODY_BYTES);
	int fd = file_with("before", data, BODY_BYTES);
	for (int from_file = 0; from_file < 2; from_file++) {
		struct outcome o = outcome_of(from_file ? "POST" : "PUT", "/echo", 0);
		char head[32 << 10];
		o.request.body = from_file ? (struct ing_http_client_body){.fd = fd,
						     .offset = 6,
						     .bytes = BODY_BYTES - 7}
					   : (struct ing_http_client_body){
						     .data = data, .bytes = BODY_BYTES - 7};
		do_request(&o);
		expect_end(&o, ING_HTTP_CLIENT_ANSWERED);
		assert_int_equal(o.bytes, BODY_BYTES - 7);
		assert_memory_equal(o.data, data, BODY_BYTES - 7);
		web_last_request(world.web, head, sizeof(head));
		assert_int_equal(strncmp(head, from_file ? "POST " : "PUT ", 4), 0);
		assert_null(strstr(head, "Expect"));
		end_outcome(&o);
	}
	assert_int_equal(lseek(fd, 0, SEEK_CUR), (off_t)(BODY_BYTES + 6)); /* not moved */
	close(fd);
	free(data);
}

static void a_put_without_a_body_says_so(void **state)
{
	(void)state;
	struct outcome o = outcome_of("PUT", "/echo", 0);
	char head[32 << 10];
	do_request(&o);
	expect_end(&o, ING_HTTP_CLIENT_ANSWERED);
	web_last_request(world.web, head, sizeof(head));
	assert_non_null(strstr(head, "Content-Length: 0\r\n"));
	end_outcome(&o);
}

static void parts_are_sent_as_a_form(void **state)
{
	(void)state;
	char *data = pattern(BODY_BYTES);
	int fd = file_with("", data, BODY_BYTES);
	const struct ing_http_client_part parts[] = {
		{.name = "input",
			.filename = "a.pdf",
			.content_type = "application/pdf",
			.body = {.fd = fd, .bytes = BODY_BYTES}},
		{.name = "mode", .body = {.data = "1", .bytes = 1}},
		{.name = "none"},
	};
	struct outcome o = outcome_of("POST", "/echo", 0);
	o.request.parts = parts;
	o.request.part_count = ING_ARRAY_LEN(parts);
	do_request(&o);
	expect_end(&o, ING_HTTP_CLIENT_ANSWERED);
	const char *file = memmem(o.data, o.bytes, "\r\n\r\n", 4);
	assert_non_null(file);
	*(char *)(uintptr_t)file = '\0';
	assert_non_null(strstr(o.data, "name=\"input\"; filename=\"a.pdf\""));
	assert_non_null(strstr(o.data, "Content-Type: application/pdf"));
	assert_memory_equal(file + 4, data, BODY_BYTES);
	const char *rest = file + 4 + BODY_BYTES;
	assert_non_null(strstr(rest, "name=\"mode\"\r\n\r\n1\r\n--"));
	assert_non_null(strstr(rest, "name=\"none\"\r\n\r\n\r\n--"));
	end_outcome(&o);
	close(fd);
	free(data);
}

static void an_answer_can_go_to_a_descriptor(void **state)
{
	(void)state;
	static const char *const paths[] = {"/hello", "/nothing"};
	static const char *const want[] = {"hello", ""};
	for (size_t i = 0; i < ING_ARRAY_LEN(paths); i++) {
		char got[16] = "";
		struct outcome o = outcome_of("GET", paths[i], 0);
		o.request.answer_to_fd = true;
		do_request(&o);
		expect_end(&o, ING_HTTP_CLIENT_ANSWERED);
		assert_null(o.data);
		assert_true(o.fd > 0);
		assert_int_equal(o.bytes, strlen(want[i]));
		assert_int_equal(pread(o.fd, got, sizeof(got), 0), (ssize_t)strlen(want[i]));
		assert_string_equal(got, want[i]);
		end_outcome(&o);
	}
}

static void what_ends_a_request_is_said(void **state)
{
	(void)state;
	char *data = pattern(BODY_BYTES);
	int fd = file_with("", data, 100);
	const struct ing_http_client_body short_file = {.fd = fd, .bytes = 200};
	const struct ing_http_client_body large = {.data = data, .bytes = BODY_BYTES};
	const struct {
		const char *path;
		struct ing_http_client_body body;
		unsigned max_answer_bytes, timeout_ms, stall_ms;
		enum ing_http_client_end end;
		unsigned status;
	} cases[] = {
		{"/hello", {0}, 5, 0, 0, ING_HTTP_CLIENT_ANSWERED, 200},
		{"/hello", {0}, 4, 0, 0, ING_HTTP_CLIENT_TOO_LARGE, 200},
		{"/wait", {0}, 9, 50, 0, ING_HTTP_CLIENT_TIMEOUT, 0},
		{"/half", {0}, 99, 50, 0, ING_HTTP_CLIENT_TIMEOUT, 200},
		{"/wait", {0}, 9, 0, 1, ING_HTTP_CLIENT_TIMEOUT, 0},
		{"/half", {0}, 99, 0, 900, ING_HTTP_CLIENT_TIMEOUT, 200},
		{"/break", {0}, 99, 0, 0, ING_HTTP_CLIENT_BROKEN, 200},
		{"/echo", short_file, 9999, 0, 0, ING_HTTP_CLIENT_LOCAL, 0},
		{"/early", large, 99, 0, 0, ING_HTTP_CLIENT_ANSWERED, 503},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct outcome o =
			outcome_of(cases[i].body.bytes > 0 ? "PUT" : "GET", cases[i].path, 0);
		o.request.body = cases[i].body;
		o.request.max_answer_bytes = cases[i].max_answer_bytes;
		o.request.timeout_ms = cases[i].timeout_ms > 0 ? cases[i].timeout_ms : 30000;
		o.request.stall_timeout_ms = cases[i].stall_ms;
		do_request(&o);
		expect_end(&o, cases[i].end);
		assert_int_equal(o.status, cases[i].status);
		end_outcome(&o);
	}
	close(fd);
	free(data);
}

/* A port that was free a moment ago; a name that is none. */
static void a_server_that_is_not_there_is_a_matter_of_connecting(void **state)
{
	(void)state;
	struct web *gone = web_start(pages, NULL);
	char url[80];
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/hello", web_port(gone));
	web_stop(gone);
	const char *const urls[] = {url, "http://no-such-host.invalid/"};
	for (size_t i = 0; i < ING_ARRAY_LEN(urls); i++) {
		struct outcome o = outcome_of("GET", "/", 0);
		o.request.url = urls[i];
		do_request(&o);
		expect_end(&o, ING_HTTP_CLIENT_CONNECT);
		assert_int_equal(o.status, 0);
		end_outcome(&o);
	}
}

static void only_a_certificate_that_is_trusted_is_talked_to(void **state)
{
	(void)state;
	char ca[] = "http-client-ca.XXXXXX";
	close(mkstemp(ca));
	struct certs *certs = certs_new(ca);
	void *tls = certs_server(certs, "localhost", -3600, 3600);
	struct web *web = web_start(pages, tls);
	char url[80];
	snprintf(url, sizeof(url), "https://localhost:%u/hello", web_port(web));
	for (int trusted = 0; trusted < 2; trusted++) {
		stop_client();
		start_client(trusted ? ca : NULL);
		struct outcome o = outcome_of("GET", "/", 0);
		o.request.url = url;
		do_request(&o);
		expect_end(&o, trusted ? ING_HTTP_CLIENT_ANSWERED : ING_HTTP_CLIENT_CONNECT);
		end_outcome(&o);
	}
	web_stop(web);
	SSL_CTX_free(tls);
	certs_free(certs);
	unlink(ca);
}

static void more_than_may_run_wait_for_their_turn(void **state)
{
	(void)state;
	struct outcome o[REQUESTS];
	for (unsigned i = 0; i < REQUESTS; i++) {
		o[i] = outcome_of("GET", "/slow", i);
		ing_http_client_put(world.client, &o[i].request);
	}
	assert_int_equal(ing_http_client_waiting(world.client), REQUESTS);
	run();
	for (unsigned i = 0; i < REQUESTS; i++) {
		expect_end(&o[i], ING_HTTP_CLIENT_ANSWERED);
		assert_int_equal(o[i].calls, 1);
		end_outcome(&o[i]);
	}
	assert_int_equal(web_most_at_once(world.web), 2);
	assert_true(web_connections(world.web) <= 2); /* they are used again */
}

static void a_cancelled_request_is_never_done(void **state)
{
	(void)state;
	struct outcome o[4];
	for (unsigned i = 0; i < 4; i++) {
		o[i] = outcome_of("GET", i < 2 ? "/wait" : "/hello", i);
		ing_http_client_put(world.client, &o[i].request);
	}
	while (web_connections(world.web) < 2)
		uv_run(&world.loop, UV_RUN_NOWAIT);
	assert_int_equal(ing_http_client_waiting(world.client), 2);
	ing_http_client_cancel(&o[2].request); /* waits */
	ing_http_client_cancel(&o[0].request); /* runs: the fourth takes its place */
	ing_http_client_cancel(&o[0].request);
	o[3].to_cancel = &o[1].request; /* runs */
	run();
	assert_int_equal(o[0].calls + o[1].calls + o[2].calls, 0);
	assert_int_equal(o[3].calls, 1);
	assert_null(o[1].request.transfer);
	end_outcome(&o[3]);
}

static void a_request_can_be_put_again_when_it_is_done(void **state)
{
	(void)state;
	struct outcome o = outcome_of("GET", "/hello", 0);
	o.again = true;
	ing_http_client_put(world.client, &o.request);
	while (o.calls < 2)
		uv_run(&world.loop, UV_RUN_ONCE);
	expect_end(&o, ING_HTTP_CLIENT_ANSWERED);
	assert_string_equal(o.data, "hello");
	end_outcome(&o);
}

/* Its bytes are read once more. */
static void a_kept_connection_that_is_closed_is_replaced(void **state)
{
	(void)state;
	char *data = pattern(1000);
	for (unsigned i = 0; i < 4; i++) {
		struct outcome o = outcome_of("PUT", "/echo-once", 0);
		o.request.body = (struct ing_http_client_body){.data = data, .bytes = 1000};
		do_request(&o);
		expect_end(&o, ING_HTTP_CLIENT_ANSWERED);
		assert_memory_equal(o.data, data, 1000);
		end_outcome(&o);
	}
	free(data);
}

#define LONG_BODY                                                                                  \
	((size_t)1 << 20) /* more than fits into the buffers of a socket that nobody reads */

static void a_body_that_a_kept_connection_did_not_take_is_sent_over_another(void **state)
{
	(void)state;
	char *data = pattern(LONG_BODY);
	for (unsigned i = 0; i < 3; i++) {
		struct outcome o = outcome_of("PUT", "/echo-then-reset", 0);
		o.request.body = (struct ing_http_client_body){.data = data, .bytes = LONG_BODY};
		do_request(&o);
		expect_end(&o, ING_HTTP_CLIENT_ANSWERED);
		assert_memory_equal(o.data, data, LONG_BODY);
		end_outcome(&o);
	}
	assert_int_equal(web_connections(world.web), 3);
	free(data);
}

static void a_client_can_be_freed_in_the_middle(void **state)
{
	(void)state;
	struct outcome o[4];
	for (unsigned i = 0; i < 4; i++) {
		o[i] = outcome_of("GET", "/half", i);
		ing_http_client_put(world.client, &o[i].request);
	}
	while (web_connections(world.web) < 2)
		uv_run(&world.loop, UV_RUN_NOWAIT);
	stop_client();
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(o[i].calls, 0);
	start_client(NULL);
	ing_http_client_free(NULL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_comes_whole_with_its_head),
		TEST(an_empty_answer_is_an_empty_string),
		TEST(a_body_is_sent_from_memory_or_from_a_part_of_a_file),
		TEST(a_put_without_a_body_says_so),
		TEST(parts_are_sent_as_a_form),
		TEST(an_answer_can_go_to_a_descriptor),
		TEST(what_ends_a_request_is_said),
		TEST(a_server_that_is_not_there_is_a_matter_of_connecting),
		TEST(only_a_certificate_that_is_trusted_is_talked_to),
		TEST(more_than_may_run_wait_for_their_turn),
		TEST(a_cancelled_request_is_never_done),
		TEST(a_request_can_be_put_again_when_it_is_done),
		TEST(a_kept_connection_that_is_closed_is_replaced),
		TEST(a_body_that_a_kept_connection_did_not_take_is_sent_over_another),
		TEST(a_client_can_be_freed_in_the_middle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
