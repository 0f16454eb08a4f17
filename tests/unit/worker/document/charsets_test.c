/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In a closed sandbox no library can be loaded any more, and documents in whatever character set
 * are read all the same.
 */
#include <errno.h>
#include <iconv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "worker/document/charsets.h"
#include "worker/document/document.h"
#include "worker/model/findings.h"
#include "worker/examine/sandbox.h"

/* Its exit code, or negative when it died otherwise. */
static int run_inside(enum ing_sandbox_level level, bool warm, int (*run)(void))
{
	pid_t pid = fork();
	if (pid == 0) {
		struct ing_sandbox *sb = NULL;
		if (warm)
			ing_document_warm();
		if (warm && level == ING_SANDBOX_EXAMINER)
			ing_document_warm_examiner();
		if (ing_sandbox_new(&sb, NULL) != 0 || ing_sandbox_enter(sb, level, 0, NULL) != 0)
			_exit(100);
		_exit(run());
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool converts(const char *to, const char *from, const char *in, size_t bytes, char *out,
	size_t *ret_bytes)
{
	iconv_t cd = iconv_open(to, from);
	if (cd == (iconv_t)-1)
		return false;
	char copy[64];
	char *in_at = copy;
	char *out_at = out;
	size_t in_left = bytes;
	size_t out_left = 64;
	memcpy(copy, in, bytes);
	bool good = iconv(cd, &in_at, &in_left, &out_at, &out_left) != (size_t)-1;
	iconv_close(cd);
	*ret_bytes = 64 - out_left;
	return good;
}

static bool goes_and_comes(const char *charset)
{
	char there[64];
	char back[64];
	size_t bytes = 0;
	size_t back_bytes = 0;
	return converts(charset, "UTF-8", "Tides 7", 7, there, &bytes) &&
	       converts("UTF-8", charset, there, bytes, back, &back_bytes) && back_bytes == 7 &&
	       memcmp(back, "Tides 7", 7) == 0;
}

static int count_first(size_t most)
{
	int count = 0;
	for (size_t i = 0; i < most; i++)
		count += goes_and_comes(ing_charsets[i]);
	return count;
}

static int count_converters(void)
{
	return count_first(ing_charset_count);
}

static int count_pdf_converters(void)
{
	return count_first(ING_PDF_CHARSETS);
}

static int open_one(void)
{
	return iconv_open("UTF-8", "SHIFT_JIS") == (iconv_t)-1 ? 1 : 0;
}

/* This process has to stay without any converter loaded, so that forks have none either. */
static void test_converters_that_were_not_loaded(void **state)
{
	(void)state;
	assert_int_equal(run_inside(ING_SANDBOX_EXAMINER, false, open_one), 1);
	assert_int_equal(run_inside(ING_SANDBOX_PDF, false, open_one), 1);
}

static void test_every_converter_after_warming(void **state)
{
	(void)state;
	/* What this system has, by a process that may load. */
	pid_t pid = fork();
	if (pid == 0)
		_exit(count_converters());
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) > 10);
	int want = WEXITSTATUS(status);
	print_message("%d of %zu converters\n", want, ing_charset_count);
	assert_int_equal(run_inside(ING_SANDBOX_EXAMINER, true, count_converters), want);
	assert_int_equal(
		run_inside(ING_SANDBOX_PDF, true, count_pdf_converters), (int)ING_PDF_CHARSETS);
	/* Of the others a fork for a PDF has none to copy. */
	assert_int_equal(run_inside(ING_SANDBOX_PDF, true, open_one), 1);
}

static const struct page {
	const char *charset, *title; /* in the charset */
	const char *want;
} pages[] = {
	{"shift_jis", "\x92\xaa\x8e\xac", "潮汐"},
	{"euc-jp", "\xc4\xac\xbc\xae", "潮汐"},
	{"iso-2022-jp", "\x1b$BD,<.\x1b(B", "潮汐"},
	{"gb18030", "\xb3\xb1\xcf\xab", "潮汐"},
	{"big5", "\xbc\xe9\xa6\xc1", "潮汐"},
	{"euc-kr", "\xc1\xb6\xbc\xae", "조석"},
	{"koi8-r", "\xf0\xf2\xe9\xec\xe9\xf7", "ПРИЛИВ"},
	{"windows-1251", "\xcf\xf0\xe8\xeb\xe8\xe2", "Прилив"},
	{"iso-8859-7", "\xd0\xe1\xeb\xdf\xf1\xf1\xef\xe9\xe1", "Παλίρροια"},
	{"windows-1255", "\xe2\xe0\xe5\xfa", "גאות"},
	{"windows-1256", "\xe3\xcf", "مد"},
	{"windows-874", "\xb9\xe9\xd3", "น้ำ"},
	{"macintosh",
		"Mar\x8e"
		"e",
		"Marée"},
};

/* How many pages were read otherwise than they should. */
static int read_pages(void)
{
	int wrong = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++) {
		char html[200];
		struct ing_document_body body;
		struct ing_findings f;
		int n = snprintf(html, sizeof(html), "<meta charset=%s><title>%s</title>",
			pages[i].charset, pages[i].title);
		const struct ing_exam_request q = {.url = "http://a.example/",
			.content_type = "text/html",
			.want = ING_WANT_LINKS,
			.max_body_bytes = 1 << 20,
			.max_scrape_bytes = 1 << 20};
		ing_findings_init(&f);
		ing_document_examine(&q, html, (size_t)n, &body, &f);
		if (f.page.title == NULL || strcmp(f.page.title, pages[i].want) != 0) {
			dprintf(STDERR_FILENO, "%s: %s\n", pages[i].charset,
				f.page.title != NULL ? f.page.title : "no title");
			wrong++;
		}
		ing_document_body_done(&body);
		ing_findings_done(&f);
	}
	return wrong;
}

static void test_pages_in_the_sandbox(void **state)
{
	(void)state;
	assert_int_equal(run_inside(ING_SANDBOX_EXAMINER, true, read_pages), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_converters_that_were_not_loaded),
		cmocka_unit_test(test_every_converter_after_warming),
		cmocka_unit_test(test_pages_in_the_sandbox),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
