/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The control socket with honest clients and others: a server on a loop of its own thread, and
 * clients that say nothing, too much or nonsense, or do not listen.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>
#include <uv.h>

#include "common/base/clock.h"
#include "worker/service/control.h"

#define BIG_BYTES ((size_t)4 << 20) /* no socket's buffer holds it */
#define TIMEOUT_MS 20000

static char folder[64];
static char path[4096];

struct server {
	uv_loop_t loop;
	uv_async_t stop;
	pthread_t thread;
	struct ing_control *control;
	unsigned requests;
};

static json_t *answer(void *ctx, const json_t *request)
{
	struct server *s = ctx;
	s->requests++;
	if (json_is_true(json_object_get(request, "big"))) {
		char *text = malloc(BIG_BYTES + 1);
		memset(text, 'x', BIG_BYTES);
		text[BIG_BYTES] = '\0';
		json_t *big = json_pack("{s:s}", "big", text);
		free(text);
		return big;
	}
	return json_pack("{s:O}", "echo", request);
}

static void on_stop(uv_async_t *a)
{
	struct server *s = a->data;
	ing_control_free(ING_TAKE(s->control));
	uv_close((uv_handle_t *)a, NULL);
}

static void *run_server(void *ctx)
{
	struct server *s = ctx;
	uv_run(&s->loop, UV_RUN_DEFAULT);
	return NULL;
}

static void start_server(struct server *s)
{
	struct ing_error err = {0};
	*s = (struct server){0};
	assert_int_equal(uv_loop_init(&s->loop), 0);
	assert_int_equal(uv_async_init(&s->loop, &s->stop, on_stop), 0);
	s->stop.data = s;
	if (ing_control_new(&s->loop, path, answer, s, &s->control, &err) != 0)
		fail_msg("%s", err.msg);
	assert_int_equal(pthread_create(&s->thread, NULL, run_server, s), 0);
}

static void stop_server(struct server *s)
{
	uv_async_send(&s->stop);
	pthread_join(s->thread, NULL);
	assert_int_equal(uv_loop_close(&s->loop), 0);
}

static int connect_client(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = {.tv_sec = TIMEOUT_MS / 1000};
	assert_true(fd >= 0);
	assert_true(strlen(path) < sizeof(to.sun_path));
	memcpy(to.sun_path, path, strlen(path) + 1);
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return fd;
}

/* Everything until the connection ends; the number of bytes. */
static size_t read_all(int fd, char *ret, size_t ret_bytes)
{
	size_t have = 0;
	for (;;) {
		char piece[65536];
		ssize_t n = recv(fd, piece, sizeof(piece), 0);
		assert_true(n >= 0 || errno == ECONNRESET);
		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++, have++) {
			if (have + 1 < ret_bytes)
				ret[have] = piece[i];
		}
	}
	ret[ING_MIN(have, ret_bytes - 1)] = '\0';
	close(fd);
	return have;
}

static int ask(const char *text, char *ret, size_t ret_bytes)
{
	struct ing_error err = {0};
	json_t *request = json_loads(text, 0, NULL);
	json_t *got = NULL;
	int rc = ing_control_ask(path, request, TIMEOUT_MS, &got, &err);
	json_decref(request);
	if (rc != 0) {
		snprintf(ret, ret_bytes, "%s", err.msg);
		return rc;
	}
	char *line = json_dumps(got, JSON_COMPACT);
	snprintf(ret, ret_bytes, "%s", line);
	free(line);
	json_decref(got);
	return 0;
}

static void assert_serves(void)
{
	char got[1024];
	assert_int_equal(ask("{\"ask\": \"anything\"}", got, sizeof(got)), 0);
	assert_string_equal(got, "{\"echo\":{\"ask\":\"anything\"}}");
}

/* -------------------------------------------------------------------------------------------- */

static void test_answers_and_is_its_owners_alone(void **state)
{
	struct server s;
	struct stat st;
	(void)state;
	start_server(&s);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	for (int i = 0; i < 100; i++)
		assert_serves();
	stop_server(&s);
	assert_int_equal(s.requests, 100);
	assert_int_equal(access(path, F_OK), -1);
}

static void test_nonsense_is_answered_without_the_handler(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name, *request;
		size_t bytes; /* 0: the text's */
		const char *want;
	} cases[] = {
		{.name = "no JSON", .request = "GET / HTTP/1.1\r\n",
			.want = "{\"error\":\"that is no JSON\"}\n"},
		{.name = "an empty line", .request = "\n",
			.want = "{\"error\":\"that is no JSON\"}\n"},
		{.name = "a list", .request = "[1]\n",
			.want = "{\"error\":\"a request is a JSON object\"}\n"},
		{.name = "a number", .request = "1\n",
			.want = "{\"error\":\"that is no JSON\"}\n"},
		{.name = "a key twice", .request = "{\"a\":1,\"a\":2}\n",
			.want = "{\"error\":\"that is no JSON\"}\n"},
		{.name = "a NUL", .request = "{\"a\":\"\0\"}\n", .bytes = 10,
			.want = "{\"error\":\"that is no JSON\"}\n"},
		{.name = "no UTF-8", .request = "{\"a\":\"\xff\"}\n",
			.want = "{\"error\":\"that is no JSON\"}\n"},
		{.name = "too deep", .request = "{\"a\":[[[[[[[[[[1]]]]]]]]]]}\n",
			.want = "{\"error\":\"a request is not nested so deep\"}\n"},
	};
	/* clang-format on */
	struct server s;
	(void)state;
	start_server(&s);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char got[1024];
		int fd = connect_client();
		size_t bytes = cases[i].bytes > 0 ? cases[i].bytes : strlen(cases[i].request);
		assert_int_equal(send(fd, cases[i].request, bytes, MSG_NOSIGNAL), (ssize_t)bytes);
		read_all(fd, got, sizeof(got));
		if (strcmp(got, cases[i].want) != 0)
			fail_msg("%s: %s", cases[i].name, got);
	}
	assert_serves();
	stop_server(&s);
	assert_int_equal(s.requests, 1);
}

static void test_a_request_is_bounded(void **state)
{
	struct server s;
	char got[1024];
	(void)state;
	start_server(&s);
	char *text = malloc(ING_CONTROL_REQUEST_BYTES);
	memset(text, ' ', ING_CONTROL_REQUEST_BYTES);
	int fd = connect_client();
	assert_int_equal(send(fd, text, ING_CONTROL_REQUEST_BYTES, MSG_NOSIGNAL),
		(ssize_t)ING_CONTROL_REQUEST_BYTES);
	read_all(fd, got, sizeof(got));
	assert_string_equal(got, "{\"error\":\"the request is too long\"}\n");
	/* One byte less, and it is read. */
	memcpy(text, "{}", 2);
	text[ING_CONTROL_REQUEST_BYTES - 2] = '\n';
	fd = connect_client();
	assert_int_equal(send(fd, text, ING_CONTROL_REQUEST_BYTES - 1, MSG_NOSIGNAL),
		(ssize_t)ING_CONTROL_REQUEST_BYTES - 1);
	read_all(fd, got, sizeof(got));
	assert_string_equal(got, "{\"echo\":{}}\n");
	free(text);
	stop_server(&s);
}

static void test_a_request_may_come_in_pieces_and_end_with_the_connection(void **state)
{
	static const char request[] = "{\"a\": 1}";
	struct server s;
	char got[1024];
	(void)state;
	start_server(&s);
	int fd = connect_client();
	for (size_t i = 0; i + 1 < sizeof(request); i++) {
		assert_int_equal(send(fd, request + i, 1, MSG_NOSIGNAL), 1);
		usleep(1000);
	}
	shutdown(fd, SHUT_WR);
	read_all(fd, got, sizeof(got));
	assert_string_equal(got, "{\"echo\":{\"a\":1}}\n");
	fd = connect_client();
	shutdown(fd, SHUT_WR);
	assert_int_equal(read_all(fd, got, sizeof(got)), 0);
	stop_server(&s);
	assert_int_equal(s.requests, 1);
}

static void test_only_the_first_line_is_a_request(void **state)
{
	static const char lines[] = "{\"n\":1}\n{\"n\":2}\n";
	struct server s;
	char got[1024];
	(void)state;
	start_server(&s);
	int fd = connect_client();
	assert_int_equal(send(fd, lines, strlen(lines), MSG_NOSIGNAL), (ssize_t)strlen(lines));
	read_all(fd, got, sizeof(got));
	assert_string_equal(got, "{\"echo\":{\"n\":1}}\n");
	stop_server(&s);
	assert_int_equal(s.requests, 1);
}

/* More silent ones than there is room for, one that drips, and one that asks for much and does not
 * read: others are served when their time is over, and it is over when it is said to be. */
static void test_silent_slow_and_deaf_clients_are_dropped(void **state)
{
	enum { SILENT = 18, DRIPPING = SILENT, DEAF, CLIENTS };
	struct server s;
	int fds[CLIENTS];
	char got[1024];
	(void)state;
	start_server(&s);
	fds[DEAF] = connect_client();
	assert_int_equal(send(fds[DEAF], "{\"big\":true}\n", 13, MSG_NOSIGNAL), 13);
	fds[DRIPPING] = connect_client();
	for (int i = 0; i < SILENT; i++)
		fds[i] = connect_client();
	uint64_t start_ms = ing_now_ms();
	for (int i = 0; i < 40; i++) {
		if (send(fds[DRIPPING], " ", 1, MSG_NOSIGNAL) != 1)
			break;
		usleep(50000);
	}
	assert_serves();
	uint64_t took_ms = ing_now_ms() - start_ms;
	assert_in_range(took_ms, 1000, ING_CONTROL_TIMEOUT_MS + 3000);
	assert_true(read_all(fds[DEAF], got, sizeof(got)) < BIG_BYTES);
	assert_int_equal(read_all(fds[DRIPPING], got, sizeof(got)), 0);
	for (int i = 0; i < SILENT; i++)
		assert_int_equal(read_all(fds[i], got, sizeof(got)), 0);
	assert_serves();
	stop_server(&s);
}

static void test_a_large_answer_arrives_whole(void **state)
{
	struct server s;
	struct ing_error err = {0};
	(void)state;
	start_server(&s);
	json_t *request = json_pack("{s:b}", "big", 1);
	json_t *got = NULL;
	assert_int_equal(ing_control_ask(path, request, TIMEOUT_MS, &got, &err), 0);
	assert_int_equal(json_string_length(json_object_get(got, "big")), BIG_BYTES);
	json_decref(got);
	json_decref(request);
	stop_server(&s);
}

static void test_freeing_drops_who_is_connected(void **state)
{
	struct server s;
	char got[16];
	(void)state;
	start_server(&s);
	assert_serves();
	int fds[20];
	for (int i = 0; i < 20; i++)
		fds[i] = connect_client();
	stop_server(&s);
	for (int i = 0; i < 20; i++)
		assert_int_equal(read_all(fds[i], got, sizeof(got)), 0);
}

static void test_a_path_may_be_long(void **state)
{
	struct server s;
	char deep[1024];
	char was[sizeof(path)];
	(void)state;
	memcpy(was, path, sizeof(was));
	snprintf(deep, sizeof(deep), "%s", folder);
	for (int i = 0; i < 3; i++) {
		size_t bytes = strlen(deep);
		snprintf(deep + bytes, sizeof(deep) - bytes, "/%0*d", 150, i);
		assert_int_equal(mkdir(deep, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/%0128d.sock", deep, 7);
	start_server(&s);
	assert_serves();
	stop_server(&s);
	assert_int_equal(access(path, F_OK), -1);
	for (; strlen(deep) > strlen(folder); *strrchr(deep, '/') = '\0')
		assert_int_equal(rmdir(deep), 0); /* empty: nothing was left behind */
	memcpy(path, was, sizeof(was));
}

static void leave_dead_socket(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	memcpy(to.sun_path, path, strlen(path) + 1);
	assert_int_equal(bind(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	close(fd);
}

static void test_a_dead_socket_is_replaced(void **state)
{
	struct server s;
	char got[1024];
	(void)state;
	leave_dead_socket();
	assert_int_equal(ask("{}", got, sizeof(got)), -ING_FAIL_UNAVAILABLE);
	assert_non_null(strstr(got, "no worker listens there"));
	start_server(&s);
	assert_serves();
	/* And who comes later has replaced ours, whose end must not take it away. */
	assert_int_equal(unlink(path), 0);
	leave_dead_socket();
	stop_server(&s);
	assert_int_equal(unlink(path), 0);
}

static int try_server(struct ing_error *err)
{
	uv_loop_t loop;
	struct ing_control *c = NULL;
	assert_int_equal(uv_loop_init(&loop), 0);
	int rc = ing_control_new(&loop, path, answer, NULL, &c, err);
	assert_null(c);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
	return rc;
}

static void test_what_cannot_be_made_is_said(void **state)
{
	char was[sizeof(path)];
	struct ing_error err = {0};
	(void)state;
	memcpy(was, path, sizeof(was));
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	assert_int_equal(try_server(&err), -ING_FAIL_SYSTEM);
	assert_non_null(strstr(err.msg, "is no socket"));
	assert_int_equal(unlink(path), 0);
	ing_error_clear(&err);
	snprintf(path, sizeof(path), "%s/missing/w.sock", folder);
	assert_int_equal(try_server(&err), -ING_FAIL_SYSTEM);
	assert_non_null(strstr(err.msg, path));
	memcpy(path, was, sizeof(was));
}

/* --- the client, with servers of another kind --- */

struct impostor {
	int listener;
	const char *says; /* NULL: nothing, and it stays */
	pthread_t thread;
};

static void *play(void *ctx)
{
	const struct impostor *i = ctx;
	char request[256];
	int fd = accept(i->listener, NULL, NULL);
	assert_true(recv(fd, request, sizeof(request), 0) > 0);
	if (i->says != NULL)
		send(fd, i->says, strlen(i->says), MSG_NOSIGNAL);
	else
		while (recv(fd, request, sizeof(request), 0) > 0)
			;
	close(fd);
	return NULL;
}

static int ask_impostor(const char *says, unsigned timeout_ms, struct ing_error *err)
{
	struct impostor i = {.says = says};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	json_t *request = json_object();
	json_t *got = NULL;
	memcpy(to.sun_path, path, strlen(path) + 1);
	i.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(i.listener, (const struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(listen(i.listener, 1), 0);
	assert_int_equal(pthread_create(&i.thread, NULL, play, &i), 0);
	int rc = ing_control_ask(path, request, timeout_ms, &got, err);
	pthread_join(i.thread, NULL);
	close(i.listener);
	unlink(path);
	json_decref(request);
	json_decref(got);
	return rc;
}

static void test_the_client_bears_odd_servers(void **state)
{
	static const struct {
		const char *says;
		unsigned timeout_ms;
		int want;
	} cases[] = {
		{.says = "{}\n", .timeout_ms = TIMEOUT_MS, .want = 0},
		{.says = "{}", .timeout_ms = TIMEOUT_MS, .want = 0},
		{.says = "", .timeout_ms = TIMEOUT_MS, .want = -ING_FAIL_UNAVAILABLE},
		{.says = "[]\n", .timeout_ms = TIMEOUT_MS, .want = -ING_FAIL_SYNTAX},
		{.says = "{\"a\":", .timeout_ms = TIMEOUT_MS, .want = -ING_FAIL_SYNTAX},
		{.timeout_ms = 200, .want = -ING_FAIL_TIMEOUT},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_error err = {0};
		int rc = ask_impostor(cases[i].says, cases[i].timeout_ms, &err);
		if (rc != cases[i].want)
			fail_msg("case %zu: %d, %s", i, rc, err.msg);
	}
}

static void test_the_client_says_when_nobody_is_there(void **state)
{
	char got[1024];
	(void)state;
	assert_int_equal(ask("{}", got, sizeof(got)), -ING_FAIL_UNAVAILABLE);
	assert_non_null(strstr(got, path));
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/ing-control-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/w.sock", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_and_is_its_owners_alone),
		cmocka_unit_test(test_nonsense_is_answered_without_the_handler),
		cmocka_unit_test(test_a_request_is_bounded),
		cmocka_unit_test(test_a_request_may_come_in_pieces_and_end_with_the_connection),
		cmocka_unit_test(test_only_the_first_line_is_a_request),
		cmocka_unit_test(test_silent_slow_and_deaf_clients_are_dropped),
		cmocka_unit_test(test_a_large_answer_arrives_whole),
		cmocka_unit_test(test_freeing_drops_who_is_connected),
		cmocka_unit_test(test_a_path_may_be_long),
		cmocka_unit_test(test_a_dead_socket_is_replaced),
		cmocka_unit_test(test_what_cannot_be_made_is_said),
		cmocka_unit_test(test_the_client_bears_odd_servers),
		cmocka_unit_test(test_the_client_says_when_nobody_is_there),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
