/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines as indexers write them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/record/cdx.h"

static const struct {
	const char *name;
	struct ing_cdx cdx;
	const char *line;
} lines[] = {
	{"every field",
		{"org,example)/a", "20260102030405", "https://example.org/a", "text/html", 200,
			"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "https://example.org/b", "A", 1234,
			5678, "X-1.warc.gz"},
		"org,example)/a 20260102030405 https://example.org/a text/html 200 "
		"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ https://example.org/b A 1234 5678 X-1.warc.gz\n"},
	{"absent fields",
		{"org,example)/", "20260102030405", "http://example.org/", NULL, 0, NULL, NULL, "",
			-1, -1, NULL},
		"org,example)/ 20260102030405 http://example.org/ - - - - - - - -\n"},
	{"numbers of nothing are numbers",
		{"k", "20260102030405", "u", "unk", 100, "D", NULL, NULL, 0, 0, "f"},
		"k 20260102030405 u unk 100 D - - 0 0 f\n"},
	{"blanks and line ends stay within their field",
		{"k y", "20260102030405", "http://h/a b\r\nc\td\x7f", "unk", 404, "D", NULL, NULL,
			1, 2, "a b"},
		"k%20y 20260102030405 http://h/a%20b%0D%0Ac%09d%7F unk 404 D - - 1 2 a%20b\n"},
	{"other bytes are left alone",
		{"k", "20260102030405", "http://h/\xc3\xa9\xff%41", "unk", 999, "D", NULL, NULL, 1,
			INT64_MAX, "f"},
		"k 20260102030405 http://h/\xc3\xa9\xff%41 unk 999 D - - 1 9223372036854775807 f\n"},
};

static void lines_are_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(lines); i++) {
		struct ing_buf b;
		ing_buf_init(&b, ING_CDX_MAX_BYTES);
		if (!ing_cdx_format(&lines[i].cdx, &b) ||
			strcmp(ing_buf_str(&b), lines[i].line) != 0)
			fail_msg("%s: %s", lines[i].name, ing_buf_str(&b));
		ing_buf_done(&b);
	}
}

static void long_lines_are_refused(void **state)
{
	(void)state;
	char *url = malloc(ING_CDX_MAX_BYTES + 1);
	assert_non_null(url);
	memset(url, 'x', ING_CDX_MAX_BYTES);
	url[ING_CDX_MAX_BYTES] = '\0';
	const struct ing_cdx cdx = {.surt = "k", .datetime = "20260102030405", .url = url};
	struct ing_buf b;
	ing_buf_init(&b, 4 * ING_CDX_MAX_BYTES);
	ing_buf_add_str(&b, "before\n");
	assert_false(ing_cdx_format(&cdx, &b));
	assert_string_equal(ing_buf_str(&b), "before\n");
	ing_buf_done(&b);
	free(url);
}

static const struct {
	const char *content_type;
	const char *want;
} mimetypes[] = {
	{NULL, "unk"},
	{"", "unk"},
	{"  ", "unk"},
	{"text/html", "text/html"},
	{"Text/HTML; charset=UTF-8", "text/html"},
	{" application/pdf\t", "application/pdf"},
	{"application/pdf;name=\"a b.pdf\"", "application/pdf"},
	{"text/html, text/html", "text/html"},
	{"image/svg+xml", "image/svg+xml"},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{"text", "unk"},
	{"text/", "unk"},
	{"/html", "unk"},
	{"text/html/x", "unk"},
	{"text /html", "unk"},
	{"<b>/html", "unk"},
	{"\"text/html\"", "unk"},
	{"t\xc3\xa9xt/html", "unk"},
	{"text/html\r\nX: y", "unk"},
};

static void mimetypes_are_normalised(void **state)
{
	(void)state;
	char got[ING_CDX_MIMETYPE_BYTES];
	for (size_t i = 0; i < ING_ARRAY_LEN(mimetypes); i++) {
		ing_cdx_mimetype(mimetypes[i].content_type, got);
		assert_string_equal(got, mimetypes[i].want);
	}
	char longest[200];
	memset(longest, 'a', sizeof(longest));
	longest[1] = '/';
	longest[127] = '\0';
	ing_cdx_mimetype(longest, got);
	assert_string_equal(got, longest);
	longest[127] = 'a';
	longest[128] = '\0';
	ing_cdx_mimetype(longest, got);
	assert_string_equal(got, "unk");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_written),
		cmocka_unit_test(long_lines_are_refused),
		cmocka_unit_test(mimetypes_are_normalised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
