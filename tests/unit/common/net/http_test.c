/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Heads of HTTP answers, each fed whole, line by line and byte by byte: the result must be the
 * same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the three above first */
#include <cmocka.h>
#include "common/net/http.h"

#define MAX_BYTES 400
#define MAX_FIELDS 12

struct head_case {
	const char *name;
	const char *input;
	size_t bytes; /* 0: strlen */
	enum ing_http_state state;
	const char *raw; /* NULL: the input */
	int status;
	const char *location, *type, *encoding, *transfer, *retry_after, *date;
	int64_t length; /* 0 stands for none in this table */
	bool cookie, bad_length;
};

static const struct head_case head_cases[] = {
	{.name = "nothing", .input = "", .state = ING_HTTP_EMPTY},
	{.name = "plain",
		.input = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.type = "text/html",
		.length = 12},
	{.name = "HTTP/1.0, no reason",
		.input = "HTTP/1.0 404\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 404},
	{.name = "empty reason",
		.input = "HTTP/1.1 404 \r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 404},
	{.name = "more spaces",
		.input = "HTTP/1.1   301   Moved\r\nLocation:/x\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 301,
		.location = "/x"},
	{.name = "bare LF",
		.input = "HTTP/1.1 200 OK\nLocation: a\nSet-Cookie: k=v\n\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.location = "a",
		.cookie = true},
	{.name = "highest status",
		.input = "HTTP/1.1 999 Denied\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 999},
	{.name = "the first Retry-After of the final head",
		.input = "HTTP/1.1 103 Early\r\nRetry-After: 1\r\n\r\n"
			 "HTTP/1.1 503 Busy\r\nretry-after: Sun,\r\n 06 Nov 1994 \r\n"
			 "Retry-After: 3\r\n\r\n",
		.raw = "HTTP/1.1 503 Busy\r\nretry-after: Sun,\r\n 06 Nov 1994 \r\n"
		       "Retry-After: 3\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 503,
		.retry_after = "Sun, 06 Nov 1994"},
	{.name = "the first Date of the final head",
		.input = "HTTP/1.1 103 Early\r\nDate: a\r\n\r\n"
			 "HTTP/1.1 200 OK\r\nDate: b\r\nDate: c\r\n\r\n",
		.raw = "HTTP/1.1 200 OK\r\nDate: b\r\nDate: c\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.date = "b"},
	{.name = "names in any case",
		.input = "HTTP/1.1 302 F\r\nLOCATION:  /a b \t\r\ncontent-TYPE:x/y\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 302,
		.location = "/a b",
		.type = "x/y"},
	{.name = "first Location",
		.input = "HTTP/1.1 302 F\r\nLocation: /1\r\nLocation: /2\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 302,
		.location = "/1"},
	{.name = "empty Location",
		.input = "HTTP/1.1 302 F\r\nLocation:\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 302,
		.location = ""},
	{.name = "last Content-Type with text",
		.input =
			"HTTP/1.1 200 O\r\nContent-Type: a/b\r\nContent-Type: c/d\r\nContent-Type: \r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.type = "c/d"},
	{.name = "encodings joined",
		.input =
			"HTTP/1.1 200 O\r\nContent-Encoding: gzip\r\nX: y\r\nContent-Encoding: br\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.encoding = "gzip, br"},
	{.name = "transfer coding renamed",
		.input = "HTTP/1.1 200 O\r\nA: b\r\ntransfer-Encoding: chunked\r\nC: d\r\n\r\n",
		.raw = "HTTP/1.1 200 O\r\nA: b\r\nX-Archive-Orig-transfer-Encoding: chunked\r\nC: d\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.transfer = "chunked"},
	{.name = "two transfer codings",
		.input =
			"HTTP/1.1 200 O\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding:chunked\r\n\r\n",
		.raw = "HTTP/1.1 200 O\r\nX-Archive-Orig-Transfer-Encoding: gzip\r\n"
		       "X-Archive-Orig-Transfer-Encoding:chunked\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.transfer = "gzip, chunked"},
	{.name = "a space before the colon is another name",
		.input =
			"HTTP/1.1 200 O\r\nTransfer-Encoding : chunked\r\nContent-Length : 3\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200},
	{.name = "fold",
		.input =
			"HTTP/1.1 302 F\r\nLocation: /a\r\n\t/b\r\n  /c\r\nContent-Type: t/u\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 302,
		.location = "/a /b /c",
		.type = "t/u"},
	{.name = "fold of an unknown field",
		.input = "HTTP/1.1 200 O\r\nX: a\r\n b\r\nLocation: /c\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.location = "/c"},
	{.name = "fold before any field",
		.input = "HTTP/1.1 200 O\r\n folded\r\nLocation: /c\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.location = "/c"},
	{.name = "fold that looks like an end",
		.input = "HTTP/1.1 200 O\r\nLocation: /c\r\n \r\nContent-Type: a/b\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.location = "/c",
		.type = "a/b"},
	{.name = "folded framing",
		.input = "HTTP/1.1 200 O\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
		.state = ING_HTTP_BAD},
	{.name = "folded length",
		.input = "HTTP/1.1 200 O\r\nContent-Length: 1\r\n 0\r\n\r\n",
		.state = ING_HTTP_BAD},
	{.name = "line without colon",
		.input = "HTTP/1.1 200 O\r\nnonsense\r\nLocation: /c\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.location = "/c"},
	{.name = "bare CR in a value",
		.input = "HTTP/1.1 302 F\r\nLocation: /a\rX: b\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 302,
		.location = "/a X: b"},
	{.name = "high bytes",
		.input = "HTTP/1.1 302 F\r\nLocation: /\xc3\xa9\xff\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 302,
		.location = "/\xc3\xa9\xff"},
	{.name = "lengths that agree",
		.input = "HTTP/1.1 200 O\r\nContent-Length: 7\r\nContent-Length: 7, 7\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.length = 7},
	{.name = "lengths that differ",
		.input = "HTTP/1.1 200 O\r\nContent-Length: 7\r\nContent-Length: 8\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.length = 8,
		.bad_length = true},
	{.name = "length that is no number",
		.input = "HTTP/1.1 200 O\r\nContent-Length: x\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200},
	{.name = "the largest length",
		.input = "HTTP/1.1 200 O\r\nContent-Length: 0009223372036854775807\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.length = INT64_MAX},
	{.name = "a length that does not fit by one",
		.input = "HTTP/1.1 200 O\r\nContent-Length: 9223372036854775808\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.bad_length = true},
	{.name = "a length past 64 bits, and one that fits",
		.input = "HTTP/1.1 200 O\r\nContent-Length: 99999999999999999999\r\n"
			 "Content-Length: 5\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.length = 5,
		.bad_length = true},
	{.name = "interim heads dropped",
		.input = "HTTP/1.1 100 Continue\r\nSet-Cookie: a=b\r\n\r\n"
			 "HTTP/1.1 103 Early\r\nLocation: /no\r\nTransfer-Encoding: x\r\n\r\n"
			 "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\n",
		.raw = "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200,
		.type = "a/b"},
	{.name = "101 is final",
		.input = "HTTP/1.1 101 Switch\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 101},
	{.name = "only an interim head",
		.input = "HTTP/1.1 100 C\r\n\r\n",
		.state = ING_HTTP_EMPTY},
	{.name = "trailers ignored",
		.input = "HTTP/1.1 200 OK\r\n\r\nLocation: /no\r\nSet-Cookie: no\r\n\r\n",
		.raw = "HTTP/1.1 200 OK\r\n\r\n",
		.state = ING_HTTP_DONE,
		.status = 200},
	{.name = "cut short in a field",
		.input = "HTTP/1.1 200 OK\r\nLocation: /x",
		.state = ING_HTTP_OPEN,
		.status = 200},
	{.name = "cut short before the blank line",
		.input = "HTTP/1.1 200 OK\r\nLocation: /x\r\n",
		.state = ING_HTTP_OPEN,
		.status = 200},
	{.name = "HTTP/0.9", .input = "<html>\r\n<body>\r\n", .state = ING_HTTP_BAD},
	{.name = "blank line first", .input = "\r\nHTTP/1.1 200 OK\r\n\r\n", .state = ING_HTTP_BAD},
	{.name = "HTTP/2 in text", .input = "HTTP/2 200\r\n\r\n", .state = ING_HTTP_BAD},
	{.name = "HTTP/1.2", .input = "HTTP/1.2 200 OK\r\n\r\n", .state = ING_HTTP_BAD},
	{.name = "shoutcast", .input = "ICY 200 OK\r\n\r\n", .state = ING_HTTP_BAD},
	{.name = "no code", .input = "HTTP/1.1 OK and more\r\n\r\n", .state = ING_HTTP_BAD},
	{.name = "code of two digits", .input = "HTTP/1.1 20 OKOK\r\n\r\n", .state = ING_HTTP_BAD},
	{.name = "code of four digits", .input = "HTTP/1.1 2000 OK\r\n\r\n", .state = ING_HTTP_BAD},
	{.name = "code under 100", .input = "HTTP/1.1 099 OK\r\n\r\n", .state = ING_HTTP_BAD},
	{.name = "NUL in a field",
		.input = "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
		.bytes = 27,
		.state = ING_HTTP_BAD},
	{.name = "NUL in the status line",
		.input = "HTTP/1.1 200 O\0K\r\n\r\n",
		.bytes = 20,
		.state = ING_HTTP_BAD},
	{.name = "too many fields",
		.input = "HTTP/1.1 200 O\na:\na:\na:\na:\na:\na:\na:\na:\na:\na:\na:\na:\na:\n\n",
		.state = ING_HTTP_TOO_LARGE},
	{.name = "as many fields as may be",
		.input = "HTTP/1.1 200 O\na:\na:\na:\na:\na:\na:\na:\na:\na:\na:\na:\na:\n\n",
		.state = ING_HTTP_DONE,
		.status = 200},
};

static void check_head(const struct head_case *c, const struct ing_http_head *h, const char *how)
{
	if (h->state != c->state)
		fail_msg(
			"%s, %s: state %d (%s)", c->name, how, (int)h->state, h->why ? h->why : "");
	if ((h->why != NULL) != (c->state == ING_HTTP_BAD || c->state == ING_HTTP_TOO_LARGE))
		fail_msg("%s, %s: words", c->name, how);
	if (c->state != ING_HTTP_DONE)
		return;
	const char *raw = c->raw ? c->raw : c->input;
	if (h->raw.len != strlen(raw) || memcmp(h->raw.data, raw, h->raw.len) != 0)
		fail_msg("%s, %s: kept [%s]", c->name, how, ing_buf_str(&h->raw));
	const char *got[] = {h->location, h->content_type, h->content_encoding,
		h->transfer_encoding, h->retry_after, h->date};
	const char *want[] = {
		c->location, c->type, c->encoding, c->transfer, c->retry_after, c->date};
	for (size_t i = 0; i < ING_ARRAY_LEN(got); i++)
		if ((got[i] == NULL) != (want[i] == NULL) ||
			(got[i] != NULL && strcmp(got[i], want[i]) != 0))
			fail_msg("%s, %s: field %zu is [%s]", c->name, how, i,
				got[i] ? got[i] : "NULL");
	if (h->status != c->status || h->set_cookie != c->cookie ||
		(h->bad_length != NULL) != c->bad_length ||
		h->content_length != (c->length ? c->length : -1))
		fail_msg("%s, %s: status %d, length %lld", c->name, how, h->status,
			(long long)h->content_length);
}

static void heads(void **state)
{
	(void)state;
	static const size_t steps[] = {SIZE_MAX, 1, 3, 7};
	for (size_t i = 0; i < ING_ARRAY_LEN(head_cases); i++) {
		const struct head_case *c = &head_cases[i];
		size_t bytes = c->bytes ? c->bytes : strlen(c->input);
		for (size_t s = 0; s < ING_ARRAY_LEN(steps); s++) {
			struct ing_http_head h;
			ing_http_head_init(&h, MAX_BYTES, MAX_FIELDS);
			for (size_t at = 0; at < bytes;) {
				size_t n = ING_MIN(steps[s], bytes - at);
				ing_http_head_add(&h, c->input + at, n);
				at += n;
			}
			check_head(c, &h, steps[s] == 1 ? "by bytes" : "in pieces");
			ing_http_head_done(&h);
		}
	}
}

/* The limit counts every byte the server sent as head, so that interim heads cannot go on for
 * ever. */
static void endless(void **state)
{
	(void)state;
	static const char *const repeated[] = {
		"HTTP/1.1 103 E\r\nA: b\r\n\r\n", "HTTP/1.1 100 x", " \r\n"};
	for (size_t i = 0; i < ING_ARRAY_LEN(repeated); i++) {
		struct ing_http_head h;
		size_t sent = 0;
		ing_http_head_init(&h, MAX_BYTES, 1000);
		if (i == 2)
			ing_http_head_add(&h, "HTTP/1.1 200 OK\r\nLocation: \r\n", 29);
		while (ing_http_head_add(&h, repeated[i], strlen(repeated[i])) &&
			sent < 10 * MAX_BYTES)
			sent += strlen(repeated[i]);
		assert_int_equal(h.state, ING_HTTP_TOO_LARGE);
		assert_true(sent <= MAX_BYTES);
		assert_false(ing_http_head_add(&h, "x", 1));
		ing_http_head_done(&h);
	}
}

static void exactly_at_the_limit(void **state)
{
	(void)state;
	char input[MAX_BYTES + 2];
	for (size_t over = 0; over < 2; over++) {
		struct ing_http_head h;
		size_t bytes = MAX_BYTES + over;
		memset(input, 'x', sizeof(input));
		memcpy(input, "HTTP/1.1 200 OK\r\nTransfer-Encoding: ", 36);
		memcpy(input + bytes - 4, "\r\n\r\n", 4);
		ing_http_head_init(&h, MAX_BYTES, MAX_FIELDS);
		ing_http_head_add(&h, input, bytes);
		assert_int_equal(h.state, over ? ING_HTTP_TOO_LARGE : ING_HTTP_DONE);
		ing_http_head_done(&h);
	}
}

static void trailers_count_with_the_head(void **state)
{
	(void)state;
	static const char head[] = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n";
	static const char field[] = "X: y\r\n";
	struct ing_http_head h;
	unsigned by_number = 0;
	size_t by_bytes = 0;
	ing_http_head_init(&h, 1 << 20, 10);
	assert_true(ing_http_head_add(&h, head, sizeof(head) - 1));
	while (by_number < 100 && ing_http_head_add_trailer(&h, field, sizeof(field) - 1))
		by_number++;
	assert_int_equal(by_number, 10); /* nine, and the line that ends them */
	assert_int_equal(h.state, ING_HTTP_DONE);
	ing_http_head_done(&h);
	ing_http_head_init(&h, 1000, 1000);
	assert_true(ing_http_head_add(&h, head, sizeof(head) - 1));
	while (by_bytes < 5000 && ing_http_head_add_trailer(&h, "x", 1))
		by_bytes++;
	assert_int_equal(by_bytes, 1000 - (sizeof(head) - 1));
	assert_string_equal(ing_buf_str(&h.raw), head);
	ing_http_head_done(&h);
}

static void plain_codings(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool plain;
	} cases[] = {
		{"chunked", true},
		{"Chunked", true},
		{"identity", true},
		{"", true},
		{" ,, chunked\t,identity", true},
		{"gzip", false},
		{"gzip, chunked", false},
		{"chunked, deflate", false},
		{"chunkedx", false},
		{"chunke", false},
		{"chunked;q=1", false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		if (ing_http_coding_is_plain(cases[i].text) != cases[i].plain)
			fail_msg("%s", cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads),
		cmocka_unit_test(endless),
		cmocka_unit_test(exactly_at_the_limit),
		cmocka_unit_test(trailers_count_with_the_head),
		cmocka_unit_test(plain_codings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
