/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which requests have their result already: identity and count, from files as runs leave them.
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

#include "worker/ctl/run/done.h"
#include "worker/ctl/run/folder.h"

#define MANY 20000u

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/ing-run-XXXXXX");
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const names[] = {
		"results.jsonl", "index.cdx", "pdf-text.jsonl", "dead-letters.jsonl", ".lock"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static void write_file(const char *name, const char *text, size_t bytes)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, bytes, f), bytes);
	fclose(f);
}

static off_t size_of(const char *name)
{
	char path[128];
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return stat(path, &st) == 0 ? st.st_size : -1;
}

static struct ing_run_done *load(void)
{
	struct ing_run_done *d = NULL;
	struct ing_error err = {0};
	assert_int_equal(ing_run_done_load(dir, NULL, NULL, &d, &err), 0);
	return d;
}

static enum ing_run_was take(struct ing_run_done *d, const char *line)
{
	struct ing_error err = {0};
	return ing_run_done_take(d, line, strlen(line), &err);
}

static const char results[] =
	"{\"request\":{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\"},\"status\":\"success\"}\n"
	"{\"request\":{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\",\"link_source\":\"x\","
	"\"link_source_id\":\"1\",\"more\":[1]},\"status\":\"no-capture\"}\n"
	"{\"request\":{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\"},\"status\":\"success\"}\n"
	"{\"request\":{\"ingest_type\":\"html\",\"base_url\":\"https://doi.org/10.5555/x\",\"ext_ids\":{\"doi\":"
	"\"10.5555/x\"}},\"status\":\"success\"}\n"
	"nonsense\n"
	"{\"request\":3,\"status\":\"success\"}\n"
	"{\"status\":\"success\"}\n";

static void requests_are_known_by_identity_and_counted(void **state)
{
	static const char same[] =
		"{\"base_url\":\"http://a.example/\",\"ingest_type\":\"pdf\",\"x\":1}";
	static const char alias[] = "{\"ingest_type\":\"file\",\"base_url\":\"http://a.example/\"}";
	static const char listed[] =
		"{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\",\"link_source\":"
		"\"x\",\"link_source_id\":\"1\"}";
	static const char derived[] =
		"{\"ingest_type\":\"html\",\"ext_ids\":{\"doi\":\"10.5555/x\"}}";
	static const char other[] = "{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example\"}";
	(void)state;
	write_file("results.jsonl", results, strlen(results));
	struct ing_run_done *d = load();
	assert_int_equal(ing_run_done_results(d), 4);
	assert_int_equal(ing_run_done_strange(d), 3);
	assert_int_equal(take(d, other), ING_RUN_NEW);
	assert_int_equal(take(d, same), ING_RUN_HAS_RESULT);
	assert_int_equal(take(d, alias), ING_RUN_HAS_RESULT);
	assert_int_equal(take(d, same), ING_RUN_NEW);
	assert_int_equal(take(d, listed), ING_RUN_HAS_RESULT);
	assert_int_equal(take(d, listed), ING_RUN_NEW);
	assert_int_equal(take(d, derived), ING_RUN_HAS_RESULT);
	assert_int_equal(take(d, derived), ING_RUN_NEW);
	ing_run_done_free(d);
}

static void unreadable_lines_are_known_by_their_bytes(void **state)
{
	static const char letters[] =
		"{\"value\":\"nonsense\",\"headers\":{}}\n"
		"{\"value_base64\":\"/wBhYg==\",\"headers\":{}}\n" /* ff 00 a b */
		"{\"value_base64\":\"/wBh\"}\n"
		"{\"value_base64\":\"!\"}\n";
	struct ing_error err = {0};
	(void)state;
	write_file("dead-letters.jsonl", letters, strlen(letters));
	struct ing_run_done *d = load();
	assert_int_equal(ing_run_done_results(d), 0);
	assert_int_equal(take(d, "nonsense "), ING_RUN_NEW);
	assert_int_equal(
		ing_run_done_take(d, "nonsense", strlen("nonsense"), &err), ING_RUN_WAS_BAD);
	assert_true(err.msg[0] != '\0');
	assert_int_equal(take(d, "nonsense"), ING_RUN_NEW);
	assert_int_equal(ing_run_done_take(d, "\xff\0ab", 4, &err), ING_RUN_WAS_BAD);
	assert_int_equal(ing_run_done_take(d, "\xff\0a", 3, &err), ING_RUN_WAS_BAD);
	assert_int_equal(ing_run_done_take(d, "\xff\0a", 3, &err), ING_RUN_NEW);
	ing_run_done_free(d);
}

static void an_empty_folder_has_nothing_done(void **state)
{
	(void)state;
	struct ing_run_done *d = load();
	assert_int_equal(take(d, "{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\"}"),
		ING_RUN_NEW);
	assert_int_equal(take(d, "nonsense"), ING_RUN_NEW);
	ing_run_done_free(d);
}

/* Would take hours if each of them were looked for behind those taken before. */
static void a_request_may_stand_in_the_input_ever_so_often(void **state)
{
	static const char line[] =
		"{\"request\":{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\"},\"status\":\"x\"}\n";
	size_t bytes = strlen(line);
	(void)state;
	char *text = malloc(bytes * MANY);
	assert_non_null(text);
	for (size_t i = 0; i < MANY; i++)
		memcpy(text + i * bytes, line, bytes);
	write_file("results.jsonl", text, bytes * MANY);
	free(text);
	struct ing_run_done *d = load();
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(
			take(d, "{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\"}"),
			ING_RUN_HAS_RESULT);
	assert_int_equal(take(d, "{\"ingest_type\":\"pdf\",\"base_url\":\"http://a.example/\"}"),
		ING_RUN_NEW);
	ing_run_done_free(d);
}

static const struct {
	const char *text;
	int keep;
} partial_cases[] = {
	{"", 0},
	{"{}\n", 3},
	{"{}\n{\"a", 3},
	{"{\"a", 0},
	{"\n", 1},
	{"{}\n\n", 4},
};

static void what_is_left_of_a_line_goes(void **state)
{
	static const char *const names[] = {
		"results.jsonl", "index.cdx", "pdf-text.jsonl", "dead-letters.jsonl"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(partial_cases); i++) {
		struct ing_run_folder *f = NULL;
		struct ing_error err = {0};
		for (size_t k = 0; k < ING_ARRAY_LEN(names); k++)
			write_file(names[k], partial_cases[i].text, strlen(partial_cases[i].text));
		assert_int_equal(ing_run_folder_open(dir, &f, &err), 0);
		for (size_t k = 0; k < ING_ARRAY_LEN(names); k++)
			assert_int_equal(size_of(names[k]), partial_cases[i].keep);
		assert_int_equal(ing_run_folder_is_new(f), partial_cases[i].keep == 0);
		ing_run_folder_free(f);
	}
}

/* The cut is found block by block, whatever the length of the line. */
static void a_long_line_that_is_not_whole_goes_as_well(void **state)
{
	size_t bytes = 5u << 20;
	struct ing_run_folder *f = NULL;
	struct ing_error err = {0};
	(void)state;
	char *text = malloc(bytes);
	assert_non_null(text);
	memset(text, 'x', bytes);
	memcpy(text, "{}\n", 3);
	write_file("results.jsonl", text, bytes);
	free(text);
	assert_int_equal(ing_run_folder_open(dir, &f, &err), 0);
	assert_int_equal(size_of("results.jsonl"), 3);
	ing_run_folder_free(f);
}

static void a_folder_has_one_user(void **state)
{
	struct ing_run_folder *first = NULL;
	struct ing_run_folder *second = NULL;
	struct ing_error err = {0};
	(void)state;
	assert_int_equal(ing_run_folder_open(dir, &first, &err), 0);
	assert_int_equal(ing_run_folder_open(dir, &second, &err), -ING_FAIL_LOCKED);
	ing_run_folder_free(first);
	assert_int_equal(ing_run_folder_open(dir, &second, &err), 0);
	ing_run_folder_free(second);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)
	const struct CMUnitTest tests[] = {
		TEST(requests_are_known_by_identity_and_counted),
		TEST(unreadable_lines_are_known_by_their_bytes),
		TEST(an_empty_folder_has_nothing_done),
		TEST(a_request_may_stand_in_the_input_ever_so_often),
		TEST(what_is_left_of_a_line_goes),
		TEST(a_long_line_that_is_not_whole_goes_as_well),
		TEST(a_folder_has_one_user),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
