/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The verbs that look into files: what they print, what they return, and what a child that does not
 * come back becomes.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/data/json.h"
#include "worker/ctl/child.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/helper.h"

#define PDF(name) ING_TEST_DATA "/pdf/" name
#define MAX_ARGS 8

static char printed[1 << 20];

/* Run a verb with its standard output in `printed`; its messages go nowhere. */
static int run(int (*verb)(int, char **, const struct ing_ctl *), const char *const *args)
{
	static const struct ing_ctl ctl;
	char *argv[MAX_ARGS + 1] = {0};
	int argc = 0;
	for (; args[argc] != NULL; argc++) {
		assert_true(argc < MAX_ARGS);
		argv[argc] = strdup(args[argc]);
	}
	FILE *out = tmpfile();
	FILE *none = fopen("/dev/null", "w");
	assert_non_null(out);
	assert_non_null(none);
	fflush(NULL);
	int old_out = dup(STDOUT_FILENO);
	int old_err = dup(STDERR_FILENO);
	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(none), STDERR_FILENO);
	int code = verb(argc, argv, &ctl);
	fflush(NULL);
	dup2(old_out, STDOUT_FILENO);
	dup2(old_err, STDERR_FILENO);
	close(old_out);
	close(old_err);
	rewind(out);
	printed[fread(printed, 1, sizeof(printed) - 1, out)] = '\0';
	fclose(out);
	fclose(none);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	return code;
}

#define RUN(verb, ...) run(verb, (const char *const[]){__VA_ARGS__, NULL})

static void assert_string(json_t *o, const char *key, const char *want)
{
	json_t *v = json_object_get(o, key);
	assert_non_null(v);
	if (want == NULL)
		assert_true(json_is_null(v));
	else
		assert_string_equal(json_string_value(v), want);
}

static void identify_prints_a_line_per_file(void **state)
{
	(void)state;
	assert_int_equal(
		RUN(ing_ctl_identify, "identify", PDF("header_only.pdf"), PDF("renamed_zip.pdf")),
		ING_CTL_OK);
	char *second = strchr(printed, '\n');
	assert_non_null(second);
	*second++ = '\0';
	json_t *o = json_loads(printed, 0, NULL);
	assert_int_equal(json_object_size(o), 6);
	assert_string(o, "path", PDF("header_only.pdf"));
	assert_int_equal(json_integer_value(json_object_get(o, "size_bytes")), 9);
	assert_string(o, "md5hex", "6446a98080f5e51ab7f0abc0e8eda635");
	assert_string(o, "sha1hex", "95607b02d48a786cb786897d727114fc79814b1e");
	assert_string(
		o, "sha256hex", "e5c62df5dab5c87b6a015ef3d43597074d1eec433b15f51aec63b8582d0e4ab4");
	assert_string(o, "mimetype", "application/pdf");
	json_decref(o);
	o = json_loads(second, 0, NULL);
	assert_string(o, "mimetype", "application/zip");
	json_decref(o);
}

static void identify_goes_on_after_a_bad_file(void **state)
{
	(void)state;
	assert_int_equal(RUN(ing_ctl_identify, "identify", PDF("absent.pdf"), ING_TEST_DATA,
				 PDF("article.pdf")),
		ING_CTL_NEGATIVE);
	json_t *o = json_loads(printed, 0, NULL);
	assert_string(o, "path", PDF("article.pdf"));
	json_decref(o);
}

static void extract_pdf_prints_facts_and_text(void **state)
{
	(void)state;
	assert_int_equal(RUN(ing_ctl_extract, "extract", "pdf", PDF("article.pdf")), ING_CTL_OK);
	json_t *o = json_loads(printed, 0, NULL);
	assert_string(o, "status", "success");
	assert_string(o, "error_msg", NULL);
	assert_string(json_object_get(o, "pdf_info"), "Author", "Ada Quill");
	assert_string(json_object_get(o, "pdf_extra"), "pdf_version", "1.5");
	assert_int_equal(json_integer_value(json_object_get(o, "word_count")), 16);
	assert_non_null(strstr(json_string_value(json_object_get(o, "text")), "buoy"));
	json_decref(o);

	assert_int_equal(
		RUN(ing_ctl_extract, "extract", "pdf", PDF("password.pdf")), ING_CTL_NEGATIVE);
	o = json_loads(printed, 0, NULL);
	assert_string(o, "status", "parse-error");
	assert_string(o, "text", NULL);
	json_decref(o);
}

static void write_file(char *path, const char *text)
{
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void extract_html_prints_what_the_page_says(void **state)
{
	static const char page[] = "<!doctype html><title>\xcf\xf0</title>"
				   "<embed type=application/pdf src=7.pdf>"
				   "<p>Words that are the main text of the page, and not few of "
				   "them, so that there is something to be kept of it.";
	char path[] = "/tmp/extract-XXXXXX";
	(void)state;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, page, sizeof(page) - 1), sizeof(page) - 1);
	close(fd);
	int code = RUN(ing_ctl_extract, "extract", "html", "--url", "https://a.example/x/", path,
		"--content-type", "text/html; charset=windows-1251");
	unlink(path);
	assert_int_equal(code, ING_CTL_OK);
	json_t *o = json_loads(printed, 0, NULL);
	assert_string(o, "status", "success");
	assert_string(o, "title", "Пр");
	assert_string(o, "next_url", "https://a.example/x/7.pdf");
	assert_string(o, "technique", "embed");
	assert_string(o, "scope", "unknown");
	assert_int_equal(json_integer_value(json_object_get(o, "word_count")), 24);
	assert_non_null(strstr(json_string_value(json_object_get(o, "text")), "main text"));
	assert_non_null(strstr(json_string_value(json_object_get(o, "tei_xml")), "<p>Words"));
	json_decref(o);

	assert_int_equal(
		RUN(ing_ctl_extract, "extract", "html", PDF("article.pdf")), ING_CTL_NEGATIVE);
	o = json_loads(printed, 0, NULL);
	assert_string(o, "status", "not-html");
	json_decref(o);
}

static void extract_xml_prints_the_publication(void **state)
{
	(void)state;
	const char *jats = ING_TEST_DATA "/jats/article.xml";
	assert_int_equal(RUN(ing_ctl_extract, "extract", "xml", jats), ING_CTL_OK);
	json_t *o = json_loads(printed, 0, NULL);
	assert_string(o, "status", "success");
	assert_string(o, "mimetype", "application/jats+xml");
	assert_string(o, "root", "article");
	assert_true(json_is_true(json_object_get(o, "jats")));
	json_t *publication = json_object_get(o, "publication");
	assert_string(json_object_get(publication, "pmid"), "content", "12345678");
	assert_string(publication, "journal_title", "Revue d'études");
	json_decref(o);

	char path[] = "/tmp/extract-XXXXXX";
	write_file(path, "<?xml version='1.0'?>\n<doc>\n<a></doc>");
	int code = RUN(ing_ctl_extract, "extract", "xml", path);
	unlink(path);
	assert_int_equal(code, ING_CTL_NEGATIVE);
	o = json_loads(printed, 0, NULL);
	assert_string(o, "status", "xml-parse-error");
	assert_string(o, "mimetype", "text/xml");
	assert_string(o, "root", "doc");
	assert_true(json_is_false(json_object_get(o, "jats")));
	assert_string(o, "publication", NULL);
	assert_non_null(strstr(json_string_value(json_object_get(o, "error_msg")), "mismatch"));
	json_decref(o);

	assert_int_equal(
		RUN(ing_ctl_extract, "extract", "xml", PDF("article.pdf")), ING_CTL_NEGATIVE);
	o = json_loads(printed, 0, NULL);
	assert_string(o, "status", "not-xml");
	assert_string(o, "mimetype", "application/pdf");
	assert_string(o, "root", NULL);
	json_decref(o);
}

static void extract_answers_each_line_of_a_batch(void **state)
{
	static const char *const wants[] = {
		"One paragraph\xe2\x80\xa6 and no more.\n", NULL, NULL, ""};
	char path[] = "/tmp/extract-XXXXXX";
	(void)state;
	write_file(path, "{\"url\":null,\"html\":\"<p>One paragraph\\u2026 and\\n<i>no</i> "
			 "more.<script>x</script>\"}\n"
			 "no JSON\n"
			 "{\"url\":\"https://a.example/\"}\n"
			 "{\"html\":\"\"}\n");
	int code = RUN(ing_ctl_extract, "extract", "html", "--batch", path);
	unlink(path);
	assert_int_equal(code, ING_CTL_NEGATIVE);
	char *line = printed;
	for (size_t i = 0; i < ING_ARRAY_LEN(wants); i++) {
		char *end = strchr(line, '\n');
		assert_non_null(end);
		json_t *o = json_loadb(line, (size_t)(end - line), 0, NULL);
		if (wants[i] == NULL)
			assert_true(json_is_string(json_object_get(o, "error")));
		else
			assert_string(o, "text", wants[i]);
		json_decref(o);
		line = end + 1;
	}
	assert_string_equal(line, "");
	assert_int_equal(RUN(ing_ctl_extract, "extract", "pdf", "--batch", "-"), ING_CTL_USAGE);
	assert_int_equal(
		RUN(ing_ctl_extract, "extract", "html", "x", "--batch", "-"), ING_CTL_USAGE);
}

static void wrong_calls_are_usage(void **state)
{
	(void)state;
	assert_int_equal(RUN(ing_ctl_identify, "identify"), ING_CTL_USAGE);
	assert_int_equal(RUN(ing_ctl_identify, "identify", "--bogus"), ING_CTL_USAGE);
	assert_int_equal(RUN(ing_ctl_extract, "extract"), ING_CTL_USAGE);
	assert_int_equal(RUN(ing_ctl_extract, "extract", "pdf"), ING_CTL_USAGE);
	assert_int_equal(RUN(ing_ctl_extract, "extract", "xml"), ING_CTL_USAGE);
	assert_int_equal(RUN(ing_ctl_extract, "extract", "djvu", "x"), ING_CTL_USAGE);
	assert_string_equal(printed, "");
	assert_int_equal(
		RUN(ing_ctl_extract, "extract", "pdf", PDF("absent.pdf")), ING_CTL_ENVIRONMENT);
	assert_int_equal(RUN(ing_ctl_identify, "identify", "--help"), ING_CTL_OK);
	assert_non_null(strstr(printed, "usage: ingestctl identify"));
	assert_int_equal(RUN(ing_ctl_extract, "extract", "--help"), ING_CTL_OK);
	assert_non_null(strstr(printed, "--url"));
}

static void answer(void *ctx, struct ing_buf *out)
{
	for (int i = 0; i < *(int *)ctx; i++)
		ing_buf_add_str(out, "0123456789");
}

static void hang(void *ctx, struct ing_buf *out)
{
	(void)ctx;
	ing_buf_add_str(out, "never seen");
	for (;;)
		pause();
}

static void die(void *ctx, struct ing_buf *out)
{
	(void)ctx;
	ing_buf_add_str(out, "never seen");
	kill(getpid(), SIGKILL);
}

static void a_child_that_fails_is_a_message(void **state)
{
	struct ing_buf out;
	struct ing_error err = {0};
	int times = 100000;
	(void)state;
	assert_int_equal(ing_ctl_child(answer, &times, 60000, &out, &err), 0);
	assert_int_equal(out.len, 1000000);
	ing_buf_done(&out);
	assert_int_equal(ing_ctl_child(hang, NULL, 200, &out, &err), -ING_FAIL_TIMEOUT);
	ing_error_clear(&err);
	assert_int_equal(ing_ctl_child(die, NULL, 60000, &out, &err), -ING_FAIL_CRASH);
	assert_true(err.msg[0] != '\0');
}

/* Answers a question with itself, twice; some are its last. */
static void serve(void *ctx, const char *question, size_t bytes, struct ing_buf *out)
{
	int *served = ctx;
	++*served;
	if (strcmp(question, "die") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(question, "exit") == 0)
		_exit(3);
	if (strcmp(question, "hang") == 0)
		hang(NULL, out);
	if (strcmp(question, "flood") == 0)
		for (int i = 0; i < 70 << 10; i++)
			ing_buf_printf(out, "%1000d", i);
	if (strcmp(question, "count") == 0)
		ing_buf_printf(out, "%d", *served);
	ing_buf_add(out, question, bytes);
	ing_buf_add(out, question, bytes);
}

static void a_helper_survives_its_questions(void **state)
{
	static const struct {
		const char *question, *answer;
		int rc;
	} cases[] = {
		{.question = "one", .answer = "oneone"},
		{.question = "", .answer = ""},
		{.question = "count", .answer = "3countcount"}, /* the same child */
		{.question = "die", .rc = -ING_FAIL_CRASH},
		{.question = "count", .answer = "1countcount"}, /* another */
		{.question = "exit", .rc = -ING_FAIL_CRASH},
		{.question = "flood", .rc = -ING_FAIL_TOO_BIG},
		{.question = "two", .answer = "twotwo"},
	};
	struct ing_buf answer;
	int served = 0;
	(void)state;
	ing_buf_init(&answer, ING_CTL_CHILD_BYTES);
	struct ing_ctl_helper *h = ing_ctl_helper_new(serve, &served, 60000);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_error err = {0};
		int rc = ing_ctl_helper_ask(
			h, cases[i].question, strlen(cases[i].question), &answer, &err);
		if (rc != cases[i].rc)
			fail_msg("%s: %d %s", cases[i].question, rc, err.msg);
		if (rc == 0)
			assert_string_equal(ing_buf_str(&answer), cases[i].answer);
		else
			assert_true(err.msg[0] != '\0');
	}
	ing_buf_done(&answer);
	ing_ctl_helper_free(h);
	assert_int_equal(served, 0); /* all of it was elsewhere */
}

static void a_helper_that_hangs_is_replaced(void **state)
{
	struct ing_buf answer;
	struct ing_error err = {0};
	int served = 0;
	(void)state;
	ing_buf_init(&answer, ING_CTL_CHILD_BYTES);
	struct ing_ctl_helper *h = ing_ctl_helper_new(serve, &served, 4000);
	assert_int_equal(ing_ctl_helper_ask(h, "hang", 4, &answer, &err), -ING_FAIL_TIMEOUT);
	assert_true(err.msg[0] != '\0');
	ing_error_clear(&err);
	assert_int_equal(ing_ctl_helper_ask(h, "count", 5, &answer, &err), 0);
	assert_string_equal(ing_buf_str(&answer), "1countcount");
	ing_buf_done(&answer);
	ing_ctl_helper_free(h);
}

static void scrape_prints_what_the_page_says(void **state)
{
	char path[] = "/tmp/scrape-XXXXXX";
	(void)state;
	write_file(path, "<!doctype html><title>\xcf\xf0</title><meta name=citation_pdf_url "
			 "content=7.pdf>");
	int code = RUN(ing_ctl_scrape, "scrape", "--url", "https://a.example/x/", path,
		"--content-type", "text/html; charset=windows-1251");
	unlink(path);
	assert_int_equal(code, ING_CTL_OK);
	assert_string_equal(strchr(printed, '\n'), "\n");
	json_t *o = json_loads(printed, 0, NULL);
	assert_string(o, "url", "https://a.example/x/");
	assert_string(json_object_get(o, "webpage"), "title", "Пр");
	json_t *pdf = json_object_get(json_object_get(o, "links"), "pdf");
	assert_string(pdf, "url", "https://a.example/x/7.pdf");
	assert_string(pdf, "technique", "citation_pdf_url");
	json_decref(o);
}

/* Each line is answered, in order, whatever the others were. */
static void scrape_answers_each_line_of_a_batch(void **state)
{
	static const char *const wants[] = {"one", NULL, NULL, NULL, "f", "six \uFFFD", NULL};
	char path[] = "/tmp/scrape-XXXXXX";
	(void)state;
	write_file(path, "{\"url\":\"https://a.example/1\",\"html\":\"<title>one</title>\"}\n"
			 "no JSON\n"
			 "{\"html\":7}\n"
			 "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n"
			 "\n"
			 "{\"html\":\"<title>f\xfcnf</title>\",\"content_type\":\"text/html; "
			 "charset=windows-1252\"}\n"
			 "{\"html\":\"<title>six \\ud800</title>\",\"url\":null}\n"
			 "{\"html\":\"\",\"xml\":\"yes\"}");
	int code = RUN(ing_ctl_scrape, "scrape", "--batch", path);
	unlink(path);
	assert_int_equal(code, ING_CTL_NEGATIVE);
	char *line = printed;
	for (size_t i = 0; i < ING_ARRAY_LEN(wants); i++) {
		char *end = strchr(line, '\n');
		assert_non_null(end);
		json_t *o = json_loadb(line, (size_t)(end - line), 0, NULL);
		assert_non_null(o);
		const char *title =
			json_string_value(json_object_get(json_object_get(o, "webpage"), "title"));
		if (wants[i] == NULL)
			assert_true(json_is_string(json_object_get(o, "error")));
		else if (i == 4)
			assert_string_equal(title, "f\uFFFDnf"); /* the bytes were no UTF-8 */
		else
			assert_string_equal(title, wants[i]);
		json_decref(o);
		line = end + 1;
	}
	assert_string_equal(line, "");
}

static void scrape_refuses_wrong_calls(void **state)
{
	(void)state;
	assert_int_equal(RUN(ing_ctl_scrape, "scrape"), ING_CTL_USAGE);
	assert_int_equal(RUN(ing_ctl_scrape, "scrape", "--batch", "-", "x"), ING_CTL_USAGE);
	assert_int_equal(
		RUN(ing_ctl_scrape, "scrape", "--url", "x", "--batch", "-"), ING_CTL_USAGE);
	assert_int_equal(RUN(ing_ctl_scrape, "scrape", "/nonexistent"), ING_CTL_ENVIRONMENT);
	assert_int_equal(
		RUN(ing_ctl_scrape, "scrape", "--batch", "/nonexistent"), ING_CTL_ENVIRONMENT);
	assert_int_equal(RUN(ing_ctl_scrape, "scrape", "--help"), ING_CTL_OK);
	assert_non_null(strstr(printed, "--batch"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identify_prints_a_line_per_file),
		cmocka_unit_test(identify_goes_on_after_a_bad_file),
		cmocka_unit_test(extract_pdf_prints_facts_and_text),
		cmocka_unit_test(extract_html_prints_what_the_page_says),
		cmocka_unit_test(extract_xml_prints_the_publication),
		cmocka_unit_test(extract_answers_each_line_of_a_batch),
		cmocka_unit_test(wrong_calls_are_usage),
		cmocka_unit_test(a_child_that_fails_is_a_message),
		cmocka_unit_test(a_helper_survives_its_questions),
		cmocka_unit_test(a_helper_that_hangs_is_replaced),
		cmocka_unit_test(scrape_prints_what_the_page_says),
		cmocka_unit_test(scrape_answers_each_line_of_a_batch),
		cmocka_unit_test(scrape_refuses_wrong_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
