/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The endpoint's thread, asked over real sockets. Other users are children of this process that have
 * given root away.
 */
#include "worker/service/endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/macros.h"
#include "worker/service/mailbox.h"
#include "worker/service/peers.h"
#include "worker/service/snapshot.h"

#define OTHER_USER 12345
#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

static struct ing_endpoint *start(const char *listen, char *const *users)
{
	struct ing_endpoint *e = NULL;
	struct ing_error err = {0};
	const struct ing_metrics_settings settings = {.listen = listen, .users = users};
	if (ing_endpoint_new(&settings, &e, &err) != 0)
		fail_msg("%s", err.msg);
	return e;
}

static void put(struct ing_endpoint *e, uint64_t hits)
{
	struct ing_snapshot *s = ing_snapshot_new();
	s->metrics.deliver.hits = hits;
	ing_mailbox_put(ing_endpoint_mailbox(e), s);
	ing_mailbox_set_worked(ing_endpoint_mailbox(e), ing_now_ms());
}

/* --- a client --- */

static int connect_to(const struct ing_endpoint *e)
{
	char at[200];
	ing_endpoint_listening(e, at, sizeof(at));
	int fd;
	if (strncmp(at, "unix:", 5) == 0) {
		struct sockaddr_un to = {.sun_family = AF_UNIX};
		snprintf(to.sun_path, sizeof(to.sun_path), "%.100s", at + 5);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
	} else {
		struct sockaddr_in to = {.sin_family = AF_INET,
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
			.sin_port = htons((uint16_t)strtoul(strrchr(at, ':') + 1, NULL, 10))};
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
	}
	close(fd);
	return -1;
}

/* All that comes until the other end closes; heap. */
static char *read_all(int fd)
{
	size_t bytes = 0, room = 1 << 20;
	char *text = ing_alloc(room);
	for (;;) {
		ssize_t got = recv(fd, text + bytes, room - bytes - 1, 0);
		if (got <= 0)
			break;
		bytes += (size_t)got;
	}
	close(fd);
	return text;
}

static char *ask(const struct ing_endpoint *e, const char *request)
{
	int fd = connect_to(e);
	assert_true(fd >= 0);
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	return read_all(fd);
}

static unsigned status_of(const char *answer)
{
	return strncmp(answer, "HTTP/1.1 ", 9) == 0 ? (unsigned)strtoul(answer + 9, NULL, 10) : 0;
}

static const char *body_of(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n");
	return end != NULL ? end + 4 : "";
}

static void assert_answer(
	const struct ing_endpoint *e, const char *request, unsigned status, const char *body)
{
	char *answer = ask(e, request);
	if (status_of(answer) != status || strstr(body_of(answer), body) == NULL)
		fail_msg("%s: not %u with \"%s\" but: %s", request, status, body, answer);
	free(answer);
}

/* --- pages --- */

static void test_numbers_in_the_format_that_is_asked_for(void **state)
{
	(void)state;
	static const struct {
		const char *accept, *type, *line, *end;
	} cases[] = {
		{"", "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n",
			"\n# TYPE ing_results_hits_total counter\ning_results_hits_total 42\n",
			"\n"},
		{"Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n",
			"Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n",
			"\n# TYPE ing_results_hits counter\ning_results_hits_total 42\n",
			"\n# EOF\n"},
	};
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	put(e, 42);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char request[300];
		snprintf(request, sizeof(request),
			"GET /metrics HTTP/1.1\r\nHost: localhost\r\n%sConnection: close\r\n\r\n",
			cases[i].accept);
		char *answer = ask(e, request);
		assert_int_equal(status_of(answer), 200);
		assert_non_null(strstr(answer, cases[i].type));
		assert_non_null(strstr(body_of(answer), cases[i].line));
		assert_non_null(strstr(body_of(answer), "\nprocess_start_time_seconds 1"));
		assert_non_null(strstr(body_of(answer), "\ning_build_info{version=\""));
		size_t bytes = strlen(answer), end = strlen(cases[i].end);
		assert_string_equal(answer + bytes - end, cases[i].end);
		free(answer);
	}
	ing_endpoint_free(e);
}

static void test_the_first_numbers_are_waited_for(void **state)
{
	(void)state;
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	int fd = connect_to(e);
	assert_int_equal(
		send(fd, GET("/metrics"), strlen(GET("/metrics")), 0), strlen(GET("/metrics")));
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&ready, 1, 300), 0);
	put(e, 7);
	char *answer = read_all(fd);
	assert_int_equal(status_of(answer), 200);
	assert_non_null(strstr(answer, "\ning_results_hits_total 7\n"));
	free(answer);
	ing_endpoint_free(e);
}

static void test_numbers_that_do_not_come_are_not_waited_for_for_ever(void **state)
{
	(void)state;
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	assert_answer(e, GET("/metrics"), 503, "no numbers yet");
	assert_answer(e, GET("/readyz"), 503, "worker: starting");
	assert_answer(e, GET("/healthz"), 200, "loop: ok");
	ing_endpoint_free(e);
}

static void test_who_waits_is_answered_when_it_stops(void **state)
{
	(void)state;
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	int fd = connect_to(e);
	assert_int_equal(
		send(fd, GET("/metrics"), strlen(GET("/metrics")), 0), strlen(GET("/metrics")));
	usleep(100000); /* taken, most likely; the end is in order in any case */
	ing_endpoint_free(e);
	free(read_all(fd));
}

static void test_a_loop_that_hangs_is_not_healthy(void **state)
{
	(void)state;
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	put(e, 1);
	ing_mailbox_set_worked(ing_endpoint_mailbox(e), ing_now_ms() - 9000);
	assert_answer(e, GET("/healthz"), 200, "loop: ok\n");
	ing_mailbox_set_worked(ing_endpoint_mailbox(e), ing_now_ms() - 12000);
	assert_answer(e, GET("/healthz"), 503, "loop: has not turned for 12 s\n");
	assert_answer(e, GET("/readyz"), 503, "loop: has not turned for 12 s\n");
	assert_answer(e, GET("/metrics"), 200, "\ning_loop_silence_seconds 12");
	ing_endpoint_free(e);
}

static void test_readiness_names_each_thing(void **state)
{
	(void)state;
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	put(e, 1);
	assert_answer(e, GET("/readyz"), 200,
		"loop: ok\npartitions: ok\nbrokers: ok\ndatabase: ok\ndisk: ok\nexaminers: ok\n");
	for (int i = 0; i < ING_READY_CHECKS_; i++) {
		char want[100];
		struct ing_snapshot *s = ing_snapshot_new();
		snprintf(s->wrong[i], sizeof(s->wrong[i]), "is away");
		ing_mailbox_put(ing_endpoint_mailbox(e), s);
		snprintf(want, sizeof(want), "\n%s: is away\n",
			ing_ready_name((enum ing_ready_check)i));
		assert_answer(e, GET("/readyz"), 503, want);
	}
	ing_endpoint_free(e);
}

static void test_other_requests_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *request;
		unsigned status;
	} cases[] = {
		{GET("/"), 404},
		{GET("/metrics/"), 404},
		{GET("/metrics%00"), 400},
		{GET("/metrics?a=%00"), 400},
		{"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405},
		{"GET /metrics HTTP/1.1\r\nHost: attacker.example\r\nConnection: close\r\n\r\n",
			421},
		{"GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n", 400},
		{"GET /metrics HTTP/1.1\r\nHost: a\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			400},
		{"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n\r\n",
			413},
		{"HEAD /healthz HTTP/1.1\r\nHost: 127.0.0.1:9\r\nConnection: close\r\n\r\n", 200},
		{"GET /metrics?a=b HTTP/1.1\r\nHost: [::1]:9\r\nConnection: close\r\n\r\n", 200},
	};
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	put(e, 1);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char *answer = ask(e, cases[i].request);
		if (status_of(answer) != cases[i].status)
			fail_msg("%s: not %u but: %s", cases[i].request, cases[i].status, answer);
		free(answer);
	}
	ing_endpoint_free(e);
}

static void test_a_head_has_its_bound(void **state)
{
	(void)state;
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	size_t bytes = 100000;
	char *request = ing_alloc(bytes + 100);
	int n = snprintf(request, 100, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ");
	memset(request + n, 'a', bytes);
	int fd = connect_to(e);
	ssize_t sent = send(fd, request, (size_t)n + bytes, MSG_NOSIGNAL);
	assert_true(sent > 0);
	char *answer = read_all(fd);
	assert_true(answer[0] == '\0' || status_of(answer) == 431);
	free(answer);
	free(request);
	assert_answer(e, GET("/healthz"), 200, "ok");
	ing_endpoint_free(e);
}

/* --- who may --- */

/* Runs act as another user, in a child. Returns what it returned. */
static int as_other(int (*act)(const struct ing_endpoint *e), const struct ing_endpoint *e)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		gid_t none = OTHER_USER;
		if (setgroups(1, &none) != 0 ||
			setresgid(OTHER_USER, OTHER_USER, OTHER_USER) != 0 ||
			setresuid(OTHER_USER, OTHER_USER, OTHER_USER) != 0)
			_exit(99);
		_exit(act(e));
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The status of an answer, its last digit and a marker for those above: 0 for none at all. */
static int ask_for_status(const struct ing_endpoint *e)
{
	int fd = connect_to(e);
	if (fd < 0)
		return 98;
	if (send(fd, GET("/healthz"), strlen(GET("/healthz")), MSG_NOSIGNAL) < 0)
		return 97;
	char *answer = read_all(fd);
	unsigned status = status_of(answer);
	free(answer);
	return status == 200 ? 20 : status == 403 ? 43 : status == 0 ? 0 : 96;
}

static void test_other_users_are_refused_over_tcp(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	char number[20];
	char *users[] = {number, NULL};
	snprintf(number, sizeof(number), "%d", OTHER_USER);
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	put(e, 1);
	assert_int_equal(as_other(ask_for_status, e), 43);
	assert_answer(e, GET("/metrics"), 200, "\ning_endpoint_refusals_total 1\n");
	ing_endpoint_free(e);
	e = start("[::1]:0", NULL);
	ing_endpoint_free(e);
	e = start("127.0.0.1:0", users);
	assert_int_equal(as_other(ask_for_status, e), 20);
	ing_endpoint_free(e);
}

static char *socket_path(void)
{
	static char path[100];
	snprintf(path, sizeof(path), "unix:/tmp/endpoint_test.%ld.sock", (long)getpid());
	return path;
}

static void test_a_unix_socket_is_for_its_group(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	char *path = socket_path();
	struct stat st;
	struct ing_endpoint *e = start(path, NULL);
	assert_int_equal(stat(path + 5, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_answer(e, GET("/healthz"), 200, "ok");
	assert_int_equal(as_other(ask_for_status, e), 98);
	/* Whatever the mode lets in. */
	assert_int_equal(chmod(path + 5, 0666), 0);
	assert_int_equal(as_other(ask_for_status, e), 43);
	ing_endpoint_free(e);
	assert_int_equal(stat(path + 5, &st), -1);
}

/* Eight of them, of which half may stay. They go with the child's end, which the parent's question
 * does not wait for. */
static int hold_connections(const struct ing_endpoint *e)
{
	int open = 0;
	struct pollfd fds[8];
	for (int i = 0; i < 8; i++)
		fds[i] = (struct pollfd){.fd = connect_to(e), .events = POLLIN};
	usleep(300000);
	if (poll(fds, 8, 0) < 0)
		return 99;
	for (int i = 0; i < 8; i++)
		open += fds[i].fd >= 0 && fds[i].revents == 0;
	return open;
}

static void test_silent_strangers_do_not_take_all_places(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	assert_int_equal(as_other(hold_connections, e), 4);
	/* Their places are given back. */
	usleep(300000);
	assert_int_equal(as_other(ask_for_status, e), 43);
	ing_endpoint_free(e);
}

/* For the kernel a socket that nobody has open is root's. */
static void test_a_client_that_has_gone_is_nobody(void **state)
{
	(void)state;
	struct ing_peers *peers;
	struct ing_error err = {0};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(at);
	assert_int_equal(ing_peers_new(NULL, (gid_t)-1, &peers, &err), 0);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 5), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &bytes), 0);
	int client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
	int fd = accept(listener, NULL, NULL);
	assert_true(ing_peers_allow(peers, fd));
	shutdown(client, SHUT_WR);
	assert_true(ing_peers_allow(peers, fd));
	close(client);
	assert_false(ing_peers_allow(peers, fd));
	close(fd);
	close(listener);
	ing_peers_free(peers);
}

/* --- beginning --- */

static void assert_no_start(
	const char *listen, char *const *users, enum ing_fail code, const char *words)
{
	struct ing_endpoint *e = NULL;
	struct ing_error err = {0};
	const struct ing_metrics_settings settings = {.listen = listen, .users = users};
	assert_int_equal(ing_endpoint_new(&settings, &e, &err), -(int)code);
	if (strstr(err.msg, words) == NULL)
		fail_msg("not \"%s\" in: %s", words, err.msg);
}

static void test_an_address_in_use_is_named(void **state)
{
	(void)state;
	char at[200];
	struct ing_endpoint *e = start("127.0.0.1:0", NULL);
	ing_endpoint_listening(e, at, sizeof(at));
	assert_no_start(at, NULL, ING_FAIL_SYSTEM, at);
	assert_no_start(at, NULL, ING_FAIL_SYSTEM, "metrics.listen: ");
	ing_endpoint_free(e);
	e = start(socket_path(), NULL);
	assert_no_start(socket_path(), NULL, ING_FAIL_SYSTEM, "another process listens");
	ing_endpoint_free(e);
	assert_no_start("unix:/nonexistent/folder/a.sock", NULL, ING_FAIL_SYSTEM, "/nonexistent");
}

static void test_a_dead_process_socket_is_replaced(void **state)
{
	(void)state;
	char *path = socket_path();
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path + 5);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	close(fd);
	struct ing_endpoint *e = start(path, NULL);
	assert_answer(e, GET("/healthz"), 200, "ok");
	ing_endpoint_free(e);
}

static void test_an_unknown_user_is_refused_at_the_start(void **state)
{
	(void)state;
	char name[] = "no-such-user-here", large[] = "4294967295";
	char *users[] = {name, NULL};
	char *number[] = {large, NULL};
	assert_no_start("127.0.0.1:0", users, ING_FAIL_CONFIG, "no-such-user-here");
	assert_no_start("127.0.0.1:0", number, ING_FAIL_CONFIG, "4294967295");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_in_the_format_that_is_asked_for),
		cmocka_unit_test(test_the_first_numbers_are_waited_for),
		cmocka_unit_test(test_numbers_that_do_not_come_are_not_waited_for_for_ever),
		cmocka_unit_test(test_who_waits_is_answered_when_it_stops),
		cmocka_unit_test(test_a_loop_that_hangs_is_not_healthy),
		cmocka_unit_test(test_readiness_names_each_thing),
		cmocka_unit_test(test_other_requests_are_refused),
		cmocka_unit_test(test_a_head_has_its_bound),
		cmocka_unit_test(test_other_users_are_refused_over_tcp),
		cmocka_unit_test(test_a_unix_socket_is_for_its_group),
		cmocka_unit_test(test_silent_strangers_do_not_take_all_places),
		cmocka_unit_test(test_a_client_that_has_gone_is_nobody),
		cmocka_unit_test(test_an_address_in_use_is_named),
		cmocka_unit_test(test_a_dead_process_socket_is_replaced),
		cmocka_unit_test(test_an_unknown_user_is_refused_at_the_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
