/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The journal's backend against a socket that stands in for the journal: entries, a journal that
 * does not read, one that is started anew, and none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "worker/service/journald.h"

static char path[64];

static int listen_at_path(void)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	unlink(path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* The next entry, or "" when there is none. */
static const char *receive(int fd)
{
	static char entry[65536];
	ssize_t n = recv(fd, entry, sizeof(entry) - 1, MSG_DONTWAIT);
	entry[n < 0 ? 0 : n] = '\0';
	return entry;
}

static void open_log(void)
{
	ing_journald_log("prog", &(struct ing_log_conf){.max_level = ING_LOG_INFO,
					 .format = ING_LOG_FORMAT_JOURNAL,
					 .instance = "w1"});
}

static void test_entries_have_fields(void **state)
{
	(void)state;
	int fd = listen_at_path();
	open_log();
	assert_string_equal(receive(fd), "");
	ing_log_fields(ING_LOG_WARNING, &ING_LOG_FIELD_TEXT("url", "http://a/\nPRIORITY=0"), 1,
		"two\nlines");
	assert_string_equal(receive(fd),
		"PRIORITY=4\nSYSLOG_IDENTIFIER=prog\nMESSAGE=two\\x0alines\nINGEST_INSTANCE=w1\n"
		"INGEST_URL=http://a/\\x0aPRIORITY=0\n");
	assert_string_equal(receive(fd), "");
	close(fd);
}

/* The caller is not held up by a journal that does not read, and what it lost is said afterwards. */
static void test_a_journal_that_does_not_read_costs_entries(void **state)
{
	(void)state;
	int fd = listen_at_path();
	unsigned sent = 100000, kept = 0;
	open_log();
	for (unsigned i = 0; i < sent; i++)
		ing_log(ING_LOG_INFO, "entry");
	while (receive(fd)[0] != '\0')
		kept++;
	assert_in_range(kept, 1, sent - 1);
	ing_log(ING_LOG_INFO, "after");
	char want[100];
	snprintf(want, sizeof(want), "INGEST_LEFT_OUT=%u\n", sent - kept);
	const char *entry = receive(fd);
	assert_non_null(strstr(entry, "MESSAGE=after\n"));
	assert_non_null(strstr(entry, want));
	ing_log(ING_LOG_INFO, "and then");
	assert_null(strstr(receive(fd), "LEFT_OUT"));
	close(fd);
}

static void test_a_journal_that_is_started_anew_gets_what_follows(void **state)
{
	(void)state;
	int fd = listen_at_path();
	open_log();
	close(fd);
	fd = listen_at_path();
	ing_log(ING_LOG_INFO, "hello again");
	assert_non_null(strstr(receive(fd), "MESSAGE=hello again\n"));
	close(fd);
}

static void test_without_a_journal_lines_are_text(void **state)
{
	(void)state;
	char text[4096];
	int ends[2], saved = dup(STDERR_FILENO);
	assert_int_equal(pipe(ends), 0);
	unlink(path);
	dup2(ends[1], STDERR_FILENO);
	open_log();
	ing_log(ING_LOG_INFO, "seen all the same");
	dup2(saved, STDERR_FILENO);
	close(ends[1]);
	close(saved);
	size_t n = 0;
	for (ssize_t got = 1; got > 0; n += (size_t)got) {
		got = read(ends[0], text + n, sizeof(text) - 1 - n);
		assert_true(got >= 0);
	}
	close(ends[0]);
	text[n] = '\0';
	assert_non_null(strstr(text, "there is no journal at"));
	assert_non_null(strstr(text, "info: seen all the same\n"));
}

int main(void)
{
	char dir[] = "/tmp/journald_test.XXXXXX";
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries_have_fields),
		cmocka_unit_test(test_a_journal_that_does_not_read_costs_entries),
		cmocka_unit_test(test_a_journal_that_is_started_anew_gets_what_follows),
		cmocka_unit_test(test_without_a_journal_lines_are_text),
	};
	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/socket", dir);
	ing_journald_set_socket(path);
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(dir);
	return rc;
}
