/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From identifiers to requests, and from results in any order to output in that of the list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/publication/answers.h"
#include "worker/ctl/publication/ids.h"

static char dir[64], path[96];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/ing-ask-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/file", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

static void write_file(const char *text, size_t bytes)
{
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, bytes, f), bytes);
	fclose(f);
}

/* Heap. */
static char *read_fd(int fd)
{
	struct ing_buf text;
	char block[4096];
	ssize_t n;
	ing_buf_init(&text, (size_t)1 << 20);
	while ((n = read(fd, block, sizeof(block))) > 0)
		ing_buf_add(&text, block, (size_t)n);
	return ing_buf_steal(&text);
}

static char *read_file(void)
{
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	char *text = read_fd(fileno(f));
	fclose(f);
	return text;
}

/* --- identifiers --- */

struct id_case {
	const char *word, *want; /* want: of the request; NULL: refused */
};

static const struct id_case cases[] = {
	{"12345",
		"{\"ingest_type\":\"publication\",\"ingestctl_number\":0,\"ext_ids\":{\"pmid\":\"12345\"}}\n"},
	{"pmid:12345",
		"{\"ingest_type\":\"publication\",\"ingestctl_number\":0,\"ext_ids\":{\"pmid\":\"12345\"}}\n"},
	{"PMC7",
		"{\"ingest_type\":\"publication\",\"ingestctl_number\":0,\"ext_ids\":{\"pmcid\":\"PMC7\"}}\n"},
	{"https://doi.org/10.1/a%25b",
		"{\"ingest_type\":\"publication\",\"ingestctl_number\":0,\"ext_ids\":{\"doi\":\"10.1/A%B\"}}\n"},
	{"10.1002/(SICI)1<1::A&b+c>3.0.CO;2-2",
		"{\"ingest_type\":\"publication\",\"ingestctl_number\":0,\"ext_ids\":{\"doi\":\"10.1002/"
		"(SICI)1<1::A&B+C>3.0.CO;2-2\"}}\n"},
	{"http://a.example/x?y=1#z",
		"{\"ingest_type\":\"publication\",\"ingestctl_number\":0,\"base_url\":\"http://a.example/x?y=1#z\"}\n"},
	{"nonsense", NULL},
	{"", NULL},
	{"ftp://a.example/", NULL},
	{"\xff", NULL},
};

static struct ing_ask_ids ids_of(const json_t *members)
{
	return (struct ing_ask_ids){.verb = "publication", .members = members, .fd = -1};
}

static void words_become_requests(void **state)
{
	(void)state;
	json_t *none = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_ask_ids ids = ids_of(none);
		char *words[] = {ing_strdup(cases[i].word)};
		bool good = ing_ask_ids_read(&ids, words, 1);
		assert_int_equal(good, cases[i].want != NULL);
		if (good) {
			char *got = read_fd(ids.fd);
			assert_string_equal(got, cases[i].want);
			assert_string_equal(ids.names[0], cases[i].word);
			free(got);
		}
		ing_ask_ids_done(&ids);
		free(words[0]);
	}
	json_decref(none);
}

static void a_file_has_one_or_three_identifiers_a_line(void **state)
{
	static const char text[] =
		"# a list\n\n  12345  \r\n1\tPMC2\t10.1/x\n\t\t10.1/y\nnonsense\n\0001\n9 \tPMC\n77";
	(void)state;
	json_t *members = json_object();
	ing_json_set_bool(members, "quick", true);
	write_file(text, sizeof(text) - 1);
	struct ing_ask_ids ids = ids_of(members);
	char *words[] = {path};
	assert_true(ing_ask_ids_read(&ids, words, 1));
	char *got = read_fd(ids.fd);
	assert_string_equal(got,
		"{\"quick\":true,\"ingest_type\":\"publication\",\"ingestctl_number\":0,\"ext_ids\":{\"pmid\":\"12345\"}}\n"
		"{\"quick\":true,\"ingest_type\":\"publication\",\"ingestctl_number\":1,\"ext_ids\":{\"pmid\":\"1\","
		"\"pmcid\":\"PMC2\",\"doi\":\"10.1/X\"}}\n"
		"{\"quick\":true,\"ingest_type\":\"publication\",\"ingestctl_number\":2,\"ext_ids\":{\"doi\":\"10.1/Y\"}}\n"
		"{\"quick\":true,\"ingest_type\":\"publication\",\"ingestctl_number\":3,\"ext_ids\":{\"pmid\":\"77\"}}\n");
	assert_int_equal(ids.count, 4);
	assert_int_equal(ids.bad, 3);
	assert_string_equal(ids.names[0], "12345");
	free(got);
	ing_ask_ids_done(&ids);
	json_decref(members);
}

static void pages_are_urls(void **state)
{
	(void)state;
	json_t *none = json_object();
	struct ing_ask_ids ids = ids_of(none);
	ids.pages = true;
	char word[] = "https://a.example/", bad[] = "12345";
	char *words[] = {word, bad};
	assert_true(ing_ask_ids_read(&ids, words, 1));
	char *got = read_fd(ids.fd);
	assert_string_equal(got,
		"{\"ingest_type\":\"webpage\",\"ingestctl_number\":0,\"base_url\":\"https://a.example/\"}\n");
	free(got);
	ing_ask_ids_done(&ids);
	assert_false(ing_ask_ids_read(&ids, words + 1, 1));
	ing_ask_ids_done(&ids);
	json_decref(none);
}

/* --- answers --- */

#define RESULT(number, hit, title)                                                                 \
	"{\"request\":{\"ingestctl_number\":" number "},\"hit\":" hit                              \
	",\"status\":\"success\",\"publication\":{\"title\":{\"content\":\"" title "\"}}}\n"

static char name_a[] = "a", name_b[] = "b", name_c[] = "c";
static char *names[] = {name_a, name_b, name_c};

static struct ing_publication_answers *open_answers(enum ing_publication_format format)
{
	struct ing_publication_answers *a = NULL;
	struct ing_error err = {0};
	const struct ing_publication_answers_conf conf = {
		.verb = "publication", .format = format, .path = path, .names = names, .count = 3};
	assert_int_equal(ing_publication_answers_new(&conf, &a, &err), 0);
	return a;
}

/* What is printed for these lines; *code what end() returns. Heap. */
static char *answer(enum ing_publication_format format, const char *const *lines, int *code)
{
	struct ing_publication_answers *a = open_answers(format);
	for (; *lines != NULL; lines++)
		assert_int_equal(write(ing_publication_answers_fd(a), *lines, strlen(*lines)),
			strlen(*lines));
	*code = ing_publication_answers_end(a);
	ing_publication_answers_free(a);
	return read_file();
}

static void results_are_printed_in_the_order_of_the_list(void **state)
{
	static const char *const lines[] = {RESULT("2", "true", "third"),
		RESULT("1", "true", "second"), RESULT("0", "true", "first"), NULL};
	int code;
	(void)state;
	char *got = answer(ING_ANSWERS_JSON, lines, &code);
	assert_string_equal(got,
		"{\"title\":{\"content\":\"first\"}}\n{\"title\":{\"content\":\"second\"}}\n"
		"{\"title\":{\"content\":\"third\"}}\n");
	assert_int_equal(code, ING_CTL_OK);
	free(got);
}

static void what_has_no_result_keeps_its_line(void **state)
{
	static const char *const lines[] = {RESULT("2", "true", "third"), "no JSON\n",
		RESULT("9", "true", "whose"),
		"{\"request\":{\"ingestctl_number\":0},\"hit\":false,\"status\":\"invalid-url\","
		"\"error_message\":\"no URL\"}\n",
		NULL};
	int code;
	(void)state;
	char *got = answer(ING_ANSWERS_JSON, lines, &code);
	assert_string_equal(got,
		"{\"error\":\"invalid-url\",\"error_message\":\"no URL\",\"id\":\"a\"}\n"
		"{\"error\":null,\"error_message\":null,\"id\":\"b\"}\n{\"title\":{\"content\":\"third\"}}\n");
	assert_int_equal(code, ING_CTL_NEGATIVE);
	free(got);
}

static void a_second_result_of_one_is_ignored(void **state)
{
	static const char *const lines[] = {RESULT("0", "true", "first"),
		RESULT("0", "true", "again"), RESULT("1", "true", "second"),
		RESULT("2", "true", "third"), NULL};
	int code;
	(void)state;
	char *got = answer(ING_ANSWERS_JSON, lines, &code);
	assert_null(strstr(got, "again"));
	assert_int_equal(code, ING_CTL_OK);
	free(got);
}

static void an_empty_publication_is_a_negative_answer(void **state)
{
	static const char *const lines[] = {RESULT("0", "true", "first"),
		RESULT("1", "false", "second"), RESULT("2", "true", "third"), NULL};
	int code;
	(void)state;
	free(answer(ING_ANSWERS_JSON, lines, &code));
	assert_int_equal(code, ING_CTL_NEGATIVE);
}

static void a_page_and_a_text_have_all_in_order(void **state)
{
	static const char *const lines[] = {RESULT("2", "true", "third"),
		RESULT("0", "true", "first"), RESULT("1", "true", "second"), NULL};
	static const enum ing_publication_format formats[] = {ING_ANSWERS_HTML, ING_ANSWERS_PLAIN};
	int code;
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(formats); i++) {
		char *got = answer(formats[i], lines, &code);
		char *first = strstr(got, "first");
		assert_non_null(first);
		char *second = strstr(first, "second");
		assert_non_null(second);
		assert_non_null(strstr(second, "third"));
		assert_int_equal(code, ING_CTL_OK);
		free(got);
	}
}

static void an_output_that_is_full_is_said(void **state)
{
	struct ing_publication_answers *a = NULL;
	struct ing_error err = {0};
	const struct ing_publication_answers_conf conf = {
		.verb = "publication", .path = "/dev/full", .names = names, .count = 1};
	(void)state;
	if (access("/dev/full", W_OK) != 0)
		skip();
	assert_int_equal(ing_publication_answers_new(&conf, &a, &err), 0);
	static const char line[] = RESULT("0", "true", "first");
	assert_int_equal(write(ing_publication_answers_fd(a), line, strlen(line)), strlen(line));
	assert_int_equal(ing_publication_answers_end(a), ING_CTL_ENVIRONMENT);
	ing_publication_answers_free(a);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)
	const struct CMUnitTest tests[] = {
		TEST(words_become_requests),
		TEST(a_file_has_one_or_three_identifiers_a_line),
		TEST(pages_are_urls),
		TEST(results_are_printed_in_the_order_of_the_list),
		TEST(what_has_no_result_keeps_its_line),
		TEST(a_second_result_of_one_is_ignored),
		TEST(an_empty_publication_is_a_negative_answer),
		TEST(a_page_and_a_text_have_all_in_order),
		TEST(an_output_that_is_full_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
