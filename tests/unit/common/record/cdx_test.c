/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines as indexers write them, both ways, and lines that are none.
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
#include "common/base/error.h"
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

static void check_same(const char *a, const char *b)
{
	bool none_a = a == NULL || a[0] == '\0';
	bool none_b = b == NULL || b[0] == '\0';
	assert_int_equal(none_a, none_b);
	if (!none_a)
		assert_string_equal(a, b);
}

/* All lines without an escape come back as the fields that they were made of. */
static void lines_are_read_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(lines); i++) {
		if (strchr(lines[i].line, '%') != NULL &&
			strstr(lines[i].name, "left alone") == NULL)
			continue;
		const struct ing_cdx *want = &lines[i].cdx;
		struct ing_cdx got;
		char *line = ing_strdup(lines[i].line);
		assert_int_equal(ing_cdx_parse(line, strlen(line), &got), 0);
		check_same(got.surt, want->surt);
		check_same(got.datetime, want->datetime);
		check_same(got.url, want->url);
		check_same(got.mimetype, want->mimetype);
		assert_int_equal(got.status, want->status);
		check_same(got.sha1b32, want->sha1b32);
		check_same(got.redirect, want->redirect);
		check_same(got.meta, want->meta);
		assert_int_equal(got.csize, want->csize);
		assert_int_equal(got.offset, want->offset);
		check_same(got.filename, want->filename);
		free(line);
	}
}

static const struct {
	const char *name;
	const char *line;
	int want;
} readings[] = {
	{"no line end", "k 20260102030405 u m 200 D - - 1 2 f", 0},
	{"both line ends", "k 20260102030405 u m 200 D - - 1 2 f\r\n", 0},
	{"a field too many", "k 20260102030405 u m 200 D - - 1 2 f more of it", 0},
	{"header", " CDX N b a m s k r M S V g", -ING_FAIL_UNSUPPORTED},
	{"header of nine fields", " CDX N b a m s k r V g\n", -ING_FAIL_UNSUPPORTED},
	{"nothing", "", -ING_FAIL_SYNTAX},
	{"a line end", "\n", -ING_FAIL_SYNTAX},
	{"ten fields", "k 20260102030405 u m 200 D - - 1 2", -ING_FAIL_SYNTAX},
	{"ten fields and a blank", "k 20260102030405 u m 200 D - - 1 2 ", -ING_FAIL_SYNTAX},
	{"an empty field", "k 20260102030405 u  200 D - - 1 2 f", -ING_FAIL_SYNTAX},
	{"datetime of 13 digits", "k 2026010203040 u m 200 D - - 1 2 f", -ING_FAIL_SYNTAX},
	{"datetime of 17 digits", "k 20260102030405999 u m 200 D - - 1 2 f", -ING_FAIL_SYNTAX},
	{"datetime of letters", "k 2026010203040x u m 200 D - - 1 2 f", -ING_FAIL_SYNTAX},
	{"no datetime", "k - u m 200 D - - 1 2 f", -ING_FAIL_SYNTAX},
	{"no URL", "k 20260102030405 - m 200 D - - 1 2 f", -ING_FAIL_SYNTAX},
	{"status of two digits", "k 20260102030405 u m 99 D - - 1 2 f", -ING_FAIL_SYNTAX},
	{"status of four digits", "k 20260102030405 u m 2000 D - - 1 2 f", -ING_FAIL_SYNTAX},
	{"negative status", "k 20260102030405 u m -200 D - - 1 2 f", -ING_FAIL_SYNTAX},
	{"size of letters", "k 20260102030405 u m 200 D - - 1k 2 f", -ING_FAIL_SYNTAX},
	{"offset past 63 bits", "k 20260102030405 u m 200 D - - 1 9223372036854775808 f",
		-ING_FAIL_SYNTAX},
	{"offset far past 63 bits", "k 20260102030405 u m 200 D - - 1 99999999999999999999999 f",
		-ING_FAIL_SYNTAX},
	{"two lines", "k 20260102030405 u m 200 D - - 1 2 f\nk 20260102030405 u", -ING_FAIL_SYNTAX},
};

static void lines_are_judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(readings); i++) {
		struct ing_cdx got;
		char *line = ing_strdup(readings[i].line);
		int rc = ing_cdx_parse(line, strlen(line), &got);
		if (rc != readings[i].want)
			fail_msg("%s: %d", readings[i].name, rc);
		if (rc == 0)
			assert_string_equal(got.filename, "f");
		free(line);
	}
	char with_nul[] = "k 20260102030405 u m 200 D - - 1 2 f\0g";
	struct ing_cdx got;
	assert_int_equal(ing_cdx_parse(with_nul, sizeof(with_nul) - 1, &got), -ING_FAIL_SYNTAX);
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
	struct ing_cdx got;
	ing_buf_add(&b, url, ING_CDX_MAX_BYTES);
	assert_int_equal(ing_cdx_parse(b.data, b.len, &got), -ING_FAIL_TOO_BIG);
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
		cmocka_unit_test(lines_are_read_back),
		cmocka_unit_test(lines_are_judged),
		cmocka_unit_test(long_lines_are_refused),
		cmocka_unit_test(mimetypes_are_normalised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
