/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines of the log: their formats byte for byte, where they are cut, which of repeated ones are
 * written, and what a reader that is slow costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/log.h"
#include "common/base/log_line.h"
#include "common/data/json.h"

static const struct timespec when = {.tv_sec = 1795419000, .tv_nsec = 123456789};

static struct ing_log_record record(
	const char *message, const struct ing_log_field *fields, size_t count)
{
	return (struct ing_log_record){.level = ING_LOG_WARNING,
		.instance = "w1",
		.message = message,
		.message_bytes = strlen(message),
		.fields = fields,
		.field_count = count};
}

/* --- formats --- */

static const struct {
	const char *name, *message, *field;
	const char *text, *json, *entry; /* behind the time; of the message and the field "url" */
} cases[] = {
	{"plain", "hello", "http://a/", "hello url=http://a/", "\"hello\",\"url\":\"http://a/\"",
		"MESSAGE=hello\nINGEST_URL=http://a/\n"},
	{"quotes", "say \"hi\" \\o/", "a \"b\" \\c", "say \"hi\" \\o/ url=\"a \\\"b\\\" \\\\c\"",
		"\"say \\\"hi\\\" \\\\o/\",\"url\":\"a \\\"b\\\" \\\\c\"",
		"MESSAGE=say \"hi\" \\o/\nINGEST_URL=a \"b\" \\c\n"},
	{"line feed", "a\nb", "c\r\nd", "a\\x0ab url=\"c\\x0d\\x0ad\"",
		"\"a\\u000ab\",\"url\":\"c\\u000d\\u000ad\"",
		"MESSAGE=a\\x0ab\nINGEST_URL=c\\x0d\\x0ad\n"},
	{"not UTF-8", "\xff\xc3(", "\xe2\x82", "\\xff\\xc3( url=\\xe2\\x82",
		"\"\\\\xff\\\\xc3(\",\"url\":\"\\\\xe2\\\\x82\"",
		"MESSAGE=\\xff\\xc3(\nINGEST_URL=\\xe2\\x82\n"},
	{"UTF-8", "\xc3\xa9 \xf0\x9f\x98\x80", "\xc3\xa9", "\xc3\xa9 \xf0\x9f\x98\x80 url=\xc3\xa9",
		"\"\xc3\xa9 \xf0\x9f\x98\x80\",\"url\":\"\xc3\xa9\"",
		"MESSAGE=\xc3\xa9 \xf0\x9f\x98\x80\nINGEST_URL=\xc3\xa9\n"},
	{"C1 and separators", "\xc2\x9b[31m", "\xe2\x80\xa8", "\\xc2\\x9b[31m url=\\xe2\\x80\\xa8",
		"\"\\\\xc2\\\\x9b[31m\",\"url\":\"\\\\xe2\\\\x80\\\\xa8\"",
		"MESSAGE=\\xc2\\x9b[31m\nINGEST_URL=\\xe2\\x80\\xa8\n"},
	{"DEL", "\x7f", "\x1b[0m", "\\x7f url=\"\\x1b[0m\"", "\"\\u007f\",\"url\":\"\\u001b[0m\"",
		"MESSAGE=\\x7f\nINGEST_URL=\\x1b[0m\n"},
	{"empty", "", "", " url=\"\"", "\"\",\"url\":\"\"", "MESSAGE=\nINGEST_URL=\n"},
	{"no field", "x", NULL, "x", "\"x\"", "MESSAGE=x\n"},
};

static void test_formats(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_log_field field = ING_LOG_FIELD_TEXT("url", cases[i].field);
		struct ing_log_record r = record(cases[i].message, &field, 1);
		char line[ING_LOG_ENTRY_BYTES], want[1000];
		print_message("%s\n", cases[i].name);

		size_t n = ing_log_text_line(&r, when, false, line, ING_LOG_LINE_BYTES);
		snprintf(want, sizeof(want), "2026-11-23T07:30:00.123Z warning: %s\n",
			cases[i].text);
		line[n] = '\0';
		assert_string_equal(line, want);

		n = ing_log_json_line(&r, when, false, line, ING_LOG_LINE_BYTES);
		snprintf(want, sizeof(want),
			"{\"time\":\"2026-11-23T07:30:00.123Z\",\"level\":\"warning\","
			"\"instance\":\"w1\",\"message\":%s}\n",
			cases[i].json);
		line[n] = '\0';
		assert_string_equal(line, want);

		n = ing_log_journal_entry(&r, "prog", line, sizeof(line));
		line[n] = '\0';
		const char *url = strstr(cases[i].entry, "INGEST_URL");
		int message = (int)(url != NULL ? url - cases[i].entry
						: (ptrdiff_t)strlen(cases[i].entry));
		snprintf(want, sizeof(want),
			"PRIORITY=4\nSYSLOG_IDENTIFIER=prog\n%.*sINGEST_INSTANCE=w1\n%s", message,
			cases[i].entry, url != NULL ? url : "");
		assert_string_equal(line, want);
	}
}

static void test_numbers_and_truth(void **state)
{
	(void)state;
	const struct ing_log_field fields[] = {ING_LOG_FIELD_NUMBER("ms", -5),
		ING_LOG_FIELD_BOOL("hit", true), ING_LOG_FIELD_BOOL("last_try", false)};
	struct ing_log_record r = record("m", fields, 3);
	char line[ING_LOG_ENTRY_BYTES];
	r.instance = "";

	size_t n = ing_log_text_line(&r, when, true, line, ING_LOG_LINE_BYTES);
	line[n] = '\0';
	assert_string_equal(line, "<4>m ms=-5 hit=yes last_try=no\n");

	n = ing_log_json_line(&r, when, true, line, ING_LOG_LINE_BYTES);
	line[n] = '\0';
	assert_string_equal(line,
		"<4>{\"time\":\"2026-11-23T07:30:00.123Z\",\"level\":\"warning\",\"message\":\"m\","
		"\"ms\":-5,\"hit\":true,\"last_try\":false}\n");

	n = ing_log_journal_entry(&r, "prog", line, sizeof(line));
	line[n] = '\0';
	assert_string_equal(line, "PRIORITY=4\nSYSLOG_IDENTIFIER=prog\nMESSAGE=m\nINGEST_MS=-5\n"
				  "INGEST_HIT=yes\nINGEST_LAST_TRY=no\n");
}

/* --- lengths --- */

/* Each filled with a character of 1 to 4 bytes, or with what takes six bytes when it is escaped. */
static void test_long_ones_are_cut_and_say_so(void **state)
{
	(void)state;
	static const char *const units[] = {
		"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\x01", "\xff", "\""};
	static char message[20000];
	for (size_t u = 0; u < ING_ARRAY_LEN(units); u++)
		for (size_t bytes = 0; bytes < sizeof(message) - 8; bytes += 1 + bytes / 4) {
			struct ing_log_field fields[8];
			char line[ING_LOG_ENTRY_BYTES];
			size_t n = 0;
			for (; n < bytes; n += strlen(units[u]))
				memcpy(message + n, units[u], strlen(units[u]));
			message[n] = '\0';
			for (size_t i = 0; i < 8; i++)
				fields[i] = ING_LOG_FIELD_TEXT("field", message);
			fields[7] = ING_LOG_FIELD_NUMBER("last", 7);
			struct ing_log_record r = record(message, fields, 8);

			n = ing_log_json_line(&r, when, false, line, ING_LOG_LINE_BYTES);
			assert_in_range(n, 1, ING_LOG_LINE_BYTES);
			json_t *value = ing_json_parse(line, n,
				&(struct ing_json_limits){.flags = ING_JSON_REPEATED_KEYS}, NULL);
			assert_true(json_is_object(value));
			assert_int_equal(ing_json_get_true(value, "truncated"),
				ing_json_get_number(value, "last") != 7 ||
					strstr(line, "\"truncated\"") != NULL);
			assert_true(strlen(ing_json_get_text(value, "message")) > 0 || bytes == 0);
			assert_true(bytes < 1000 || ing_json_get_true(value, "truncated"));
			json_decref(value);

			n = ing_log_text_line(&r, when, false, line, ING_LOG_LINE_BYTES);
			assert_in_range(n, 1, ING_LOG_LINE_BYTES);
			assert_int_equal(line[n - 1], '\n');
			line[n - 1] = '\0';
			size_t cut = strlen(ING_LOG_CUT);
			assert_true(bytes < 1000 || strcmp(line + n - 1 - cut, ING_LOG_CUT) == 0);

			n = ing_log_journal_entry(&r, "prog", line, sizeof(line));
			assert_in_range(n, 1, sizeof(line));
			assert_int_equal(line[n - 1], '\n');
		}
}

static void test_a_long_message_leaves_room_for_fields(void **state)
{
	(void)state;
	static char message[10000];
	memset(message, 'm', sizeof(message) - 1);
	const struct ing_log_field fields[] = {
		ING_LOG_FIELD_TEXT("job", "0123456789"), ING_LOG_FIELD_NUMBER("ms", 12)};
	struct ing_log_record r = record(message, fields, 2);
	char line[ING_LOG_LINE_BYTES + 1];
	size_t n = ing_log_json_line(&r, when, false, line, ING_LOG_LINE_BYTES);
	line[n] = '\0';
	assert_non_null(strstr(line, "\"job\":\"0123456789\",\"ms\":12,\"truncated\":true}\n"));
	n = ing_log_text_line(&r, when, false, line, ING_LOG_LINE_BYTES);
	line[n] = '\0';
	assert_non_null(strstr(line, " job=0123456789 ms=12" ING_LOG_CUT "\n"));
}

/* --- stderr --- */

struct captured {
	int saved, read_end;
};

static struct captured capture(int pipe_bytes)
{
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	if (pipe_bytes > 0)
		assert_true(fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes) >= 0);
	struct captured c = {.saved = dup(STDERR_FILENO), .read_end = ends[0]};
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	return c;
}

/* What has been written, as text; ends the capture. */
static const char *captured(struct captured *c)
{
	static char text[100000];
	size_t len = 0;
	dup2(c->saved, STDERR_FILENO);
	close(c->saved);
	for (;;) {
		ssize_t n = read(c->read_end, text + len, sizeof(text) - 1 - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(c->read_end);
	text[len] = '\0';
	return text;
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;
	for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
		n++;
	return n;
}

static void test_level_and_format(void **state)
{
	(void)state;
	ing_log_setup(&(struct ing_log_conf){
		.max_level = ING_LOG_WARNING, .format = ING_LOG_FORMAT_JSON, .instance = "w2"});
	struct captured c = capture(0);
	ing_log(ING_LOG_INFO, "hidden");
	ing_log(ING_LOG_ERROR, "shown %d", 1);
	const char *text = captured(&c);
	assert_null(strstr(text, "hidden"));
	json_t *value = ing_json_parse(text, strlen(text), &(struct ing_json_limits){0}, NULL);
	assert_string_equal(ing_json_get_text(value, "message"), "shown 1");
	assert_string_equal(ing_json_get_text(value, "level"), "error");
	assert_string_equal(ing_json_get_text(value, "instance"), "w2");
	json_decref(value);
}

static void test_a_throttled_line_tells_its_count(void **state)
{
	(void)state;
	static struct ing_log_throttle gate;
	ing_log_init(ING_LOG_INFO);
	struct captured c = capture(0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(
			ing_log_throttled(&gate, 3600000, ING_LOG_WARNING, "again %d", i), i == 0);
	gate.next_ms = 1; /* an hour later */
	assert_true(ing_log_throttled(&gate, 3600000, ING_LOG_WARNING, "again"));
	gate.next_ms = 1;
	assert_false(ing_log_throttled(&gate, 3600000, ING_LOG_DEBUG, "nobody sees it"));
	assert_true(ing_log_throttled(&gate, 3600000, ING_LOG_WARNING, "again"));
	const char *text = captured(&c);
	assert_non_null(strstr(text, "again 0 suppressed=0\n"));
	assert_non_null(strstr(text, "again suppressed=4\n"));
	assert_non_null(strstr(text, "again suppressed=0\n"));
	assert_int_equal(count(text, "\n"), 3);
}

/* Written without waiting where the reader is slow: the lines that had no room are counted in the
 * next one that has. */
static void test_a_slow_reader_costs_lines_and_no_time(void **state)
{
	(void)state;
	static char filler[1000], got[65536];
	memset(filler, 'f', sizeof(filler) - 1);
	ing_log_setup(&(struct ing_log_conf){.max_level = ING_LOG_INFO, .never_wait = true});
	struct captured c = capture(4096);
	for (int i = 0; i < 100; i++)
		ing_log(ING_LOG_INFO, "%s", filler);
	ssize_t n = read(c.read_end, got, sizeof(got) - 1); /* all there is room for */
	assert_true(n > 0);
	got[n] = '\0';
	size_t before = count(got, "info: ");
	assert_in_range(before, 1, 4);
	ing_log(ING_LOG_INFO, "room again");
	const char *text = captured(&c);
	char want[100];
	snprintf(want, sizeof(want), "warning: %zu lines of the log left out", 100 - before);
	assert_non_null(strstr(text, want));
	/* The pipe of one page has room for that line alone. */
	assert_true(strstr(text, "room again") == NULL || count(text, "\n") == 2);
}

static bool refuse(const struct ing_log_record *r)
{
	(void)r;
	return false;
}

static void test_what_the_journal_refuses_is_written_as_text(void **state)
{
	(void)state;
	ing_log_setup(&(struct ing_log_conf){
		.max_level = ING_LOG_INFO, .format = ING_LOG_FORMAT_JOURNAL, .journal = refuse});
	struct captured c = capture(0);
	ing_log_fields(ING_LOG_INFO, &ING_LOG_FIELD_NUMBER("ms", 3), 1, "kept");
	assert_non_null(strstr(captured(&c), "Z info: kept ms=3\n"));
}

static void test_priorities_where_stderr_is_the_journal(void **state)
{
	(void)state;
	struct stat st;
	char stream[64];
	struct captured c = capture(0);
	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	ing_log_init(ING_LOG_INFO);
	ing_log(ING_LOG_WARNING, "to the journal");
	setenv("JOURNAL_STREAM", "1:1", 1); /* stderr was redirected since */
	ing_log_init(ING_LOG_INFO);
	ing_log(ING_LOG_WARNING, "to a file");
	unsetenv("JOURNAL_STREAM");
	ing_log_init(ING_LOG_INFO);
	const char *text = captured(&c);
	assert_non_null(strstr(text, "<4>to the journal\n"));
	assert_non_null(strstr(text, "Z warning: to a file\n"));
}

static void test_a_broken_invariant_is_a_line(void **state)
{
	(void)state;
	ing_log_setup(&(struct ing_log_conf){
		.max_level = ING_LOG_ERROR, .format = ING_LOG_FORMAT_JSON, .never_wait = true});
	struct captured c = capture(0);
	pid_t child = fork();
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		ing_must(child > 0);
	}
	waitpid(child, NULL, 0);
	const char *text = captured(&c);
	json_t *value = ing_json_parse(text, strlen(text), &(struct ing_json_limits){0}, NULL);
	assert_string_equal(ing_json_get_text(value, "level"), "fatal");
	assert_non_null(strstr(ing_json_get_text(value, "message"), "broken invariant: child > 0"));
	json_decref(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_numbers_and_truth),
		cmocka_unit_test(test_long_ones_are_cut_and_say_so),
		cmocka_unit_test(test_a_long_message_leaves_room_for_fields),
		cmocka_unit_test(test_level_and_format),
		cmocka_unit_test(test_a_throttled_line_tells_its_count),
		cmocka_unit_test(test_a_slow_reader_costs_lines_and_no_time),
		cmocka_unit_test(test_what_the_journal_refuses_is_written_as_text),
		cmocka_unit_test(test_priorities_where_stderr_is_the_journal),
		cmocka_unit_test(test_a_broken_invariant_is_a_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
