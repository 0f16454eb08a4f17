/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Record headers byte for byte, and the judgement of foreign ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/record/warc.h"

#define ID "<urn:uuid:01234567-89ab-4def-8123-456789abcdef>"

static const struct {
	const char *name;
	struct ing_warc_head head;
	const char *want;
} heads[] = {
	{"response with everything",
		{.type = "response",
			.id = ID,
			.date = {.tv_sec = 1767322984, .tv_nsec = 123456789},
			.target_uri = "https://example.org/",
			.ip = "2001:db8::1",
			.concurrent_to = "<urn:uuid:b>",
			.warcinfo_id = "<urn:uuid:a>",
			.truncated = "length",
			.content_type = "application/http;msgtype=response",
			.block_sha1b32 = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
			.payload_sha1b32 = "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5",
			.content_bytes = 42},
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: " ID "\r\n"
		"WARC-Date: 2026-01-02T03:03:04.123456Z\r\nWARC-Target-URI: https://example.org/\r\n"
		"WARC-IP-Address: 2001:db8::1\r\nWARC-Concurrent-To: <urn:uuid:b>\r\n"
		"WARC-Warcinfo-ID: <urn:uuid:a>\r\nWARC-Truncated: length\r\n"
		"WARC-Block-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n"
		"WARC-Payload-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n"
		"Content-Type: application/http;msgtype=response\r\nContent-Length: 42\r\n\r\n"},
	{"warcinfo",
		{.type = "warcinfo",
			.id = ID,
			.filename = "A.warc.gz",
			.content_type = "application/warc-fields"},
		"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: " ID "\r\n"
		"WARC-Date: 1970-01-01T00:00:00.000000Z\r\nWARC-Filename: A.warc.gz\r\n"
		"Content-Type: application/warc-fields\r\nContent-Length: 0\r\n\r\n"},
	{"no value can make a field",
		{.type = "response",
			.id = ID,
			.target_uri = "http://h/\r\nContent-Length: 9\r\n\r\n\x7f",
			.ip = ""},
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: " ID "\r\n"
		"WARC-Date: 1970-01-01T00:00:00.000000Z\r\n"
		"WARC-Target-URI: http://h/%0D%0AContent-Length: 9%0D%0A%0D%0A%7F\r\nContent-Length: 0\r\n\r\n"},
};

static void heads_are_written_and_accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(heads); i++) {
		struct ing_buf b;
		uint64_t bytes;
		ing_buf_init(&b, ING_WARC_MAX_HEAD_BYTES);
		if (!ing_warc_head_format(&heads[i].head, &b) ||
			strcmp(ing_buf_str(&b), heads[i].want) != 0)
			fail_msg("%s: %s", heads[i].name, ing_buf_str(&b));
		assert_int_equal(ing_warc_head_check(b.data, b.len, &bytes), 0);
		assert_int_equal(bytes, heads[i].head.content_bytes);
		ing_buf_done(&b);
	}
}

static void an_endless_value_is_refused(void **state)
{
	(void)state;
	char *url = malloc(ING_WARC_MAX_HEAD_BYTES + 1);
	assert_non_null(url);
	memset(url, 'u', ING_WARC_MAX_HEAD_BYTES);
	url[ING_WARC_MAX_HEAD_BYTES] = '\0';
	struct ing_buf b;
	ing_buf_init(&b, 4 * ING_WARC_MAX_HEAD_BYTES);
	assert_false(ing_warc_head_format(
		&(struct ing_warc_head){.type = "x", .id = ID, .target_uri = url}, &b));
	ing_buf_done(&b);
	free(url);
}

#define V "WARC/1.1\r\n"
#define M "WARC-Type: response\r\nWARC-Record-ID: <urn:x>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"

static const struct {
	const char *name;
	const char *head;
	long long want; /* Content-Length, or a negative failure */
} judgements[] = {
	{"ours", V M "Content-Length: 5\r\n\r\n", 5},
	{"version 1.0", "WARC/1.0\r\n" M "Content-Length: 5\r\n\r\n", 5},
	{"any case, any blanks", V M "content-LENGTH:\t 5 \r\n\r\n", 5},
	{"the largest number", V M "Content-Length: 9223372036854775807\r\n\r\n", INT64_MAX},
	{"an empty value elsewhere", V M "X-Note:\r\nContent-Length: 0\r\n\r\n", 0},
	{"version 2.0", "WARC/2.0\r\n" M "Content-Length: 5\r\n\r\n", -ING_FAIL_SYNTAX},
	{"no version", M "Content-Length: 5\r\n\r\n", -ING_FAIL_SYNTAX},
	{"no length", V M "\r\n", -ING_FAIL_SYNTAX},
	{"two lengths", V M "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", -ING_FAIL_SYNTAX},
	{"no type", V "WARC-Record-ID: <x>\r\nWARC-Date: d\r\nContent-Length: 5\r\n\r\n",
		-ING_FAIL_SYNTAX},
	{"negative length", V M "Content-Length: -5\r\n\r\n", -ING_FAIL_SYNTAX},
	{"empty length", V M "Content-Length:\r\n\r\n", -ING_FAIL_SYNTAX},
	{"hexadecimal length", V M "Content-Length: 0x5\r\n\r\n", -ING_FAIL_SYNTAX},
	{"length past 63 bits", V M "Content-Length: 9223372036854775808\r\n\r\n",
		-ING_FAIL_SYNTAX},
	{"length of many digits", V M "Content-Length: 99999999999999999999999999\r\n\r\n",
		-ING_FAIL_SYNTAX},
	{"bare line ends", "WARC/1.1\r\nWARC-Type: x\nContent-Length: 5\r\n\r\n", -ING_FAIL_SYNTAX},
	{"a line without a colon", V M "Content-Length: 5\r\nhello\r\n\r\n", -ING_FAIL_SYNTAX},
	{"a folded line", V M "Content-Length: 5\r\n more: 6\r\n\r\n", -ING_FAIL_SYNTAX},
	{"a name with a blank", V M "Content-Length : 5\r\n\r\n", -ING_FAIL_SYNTAX},
	{"an empty name", V M ": 5\r\nContent-Length: 5\r\n\r\n", -ING_FAIL_SYNTAX},
	{"something behind the blank line", V M "Content-Length: 5\r\n\r\nx", -ING_FAIL_SYNTAX},
	{"an unfinished line", V M "Content-Length: 5", -ING_FAIL_SYNTAX},
	{"nothing", "", -ING_FAIL_SYNTAX},
};

static void foreign_heads_are_judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(judgements); i++) {
		uint64_t bytes = 0;
		/* a copy of exactly its length: reading past it is seen by the sanitizer */
		size_t len = strlen(judgements[i].head);
		char *head = malloc(len + 1);
		assert_non_null(head);
		memcpy(head, judgements[i].head, len);
		char *tight = realloc(head, len > 0 ? len : 1);
		assert_non_null(tight);
		int rc = ing_warc_head_check(tight, len, &bytes);
		long long got = rc == 0 ? (long long)bytes : rc;
		if (got != judgements[i].want)
			fail_msg("%s: %lld", judgements[i].name, got);
		free(tight);
	}
}

static void fields_are_found(void **state)
{
	(void)state;
	static const char head[] =
		V "WARC-Type: response\r\nX-A:  one two \r\nx-a: three\r\nX-B:\r\n\r\nX-C: no\r\n";
	const char *value;
	size_t bytes;
	assert_true(ing_warc_field(head, strlen(head), "x-A", &value, &bytes));
	assert_int_equal(bytes, 7);
	assert_memory_equal(value, "one two", 7);
	assert_true(ing_warc_field(head, strlen(head), "X-B", &value, &bytes));
	assert_int_equal(bytes, 0);
	assert_false(ing_warc_field(head, strlen(head), "X-C", &value, &bytes));
	assert_false(ing_warc_field(head, strlen(head), "X", &value, &bytes));
	assert_false(ing_warc_field("junk\r\nX: y\r\n", 12, "X", &value, &bytes));
}

static void ids_are_random_uuids(void **state)
{
	(void)state;
	char a[ING_WARC_ID_BYTES];
	char b[ING_WARC_ID_BYTES];
	ing_warc_make_id(a);
	ing_warc_make_id(b);
	assert_string_not_equal(a, b);
	assert_int_equal(strlen(a), ING_WARC_ID_BYTES - 1);
	assert_memory_equal(a, "<urn:uuid:", 10);
	for (size_t i = 0; i < 36; i++) {
		if (i == 8 || i == 13 || i == 18 || i == 23)
			assert_int_equal(a[10 + i], '-');
		else
			assert_non_null(strchr("0123456789abcdef", a[10 + i]));
	}
	assert_int_equal(a[24], '4');
	assert_non_null(strchr("89ab", a[29]));
	assert_int_equal(a[46], '>');
}

static void warcinfo_fields_keep_to_their_line(void **state)
{
	(void)state;
	struct ing_buf b;
	ing_buf_init(&b, 1000);
	ing_warc_fields_add(&b, "software", "a/1\nrobots: obey");
	ing_warc_fields_add(&b, "robots", NULL);
	ing_warc_fields_add(&b, "hostname", "h");
	assert_string_equal(ing_buf_str(&b), "software: a/1%0Arobots: obey\r\nhostname: h\r\n");
	ing_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_are_written_and_accepted),
		cmocka_unit_test(an_endless_value_is_refused),
		cmocka_unit_test(foreign_heads_are_judged),
		cmocka_unit_test(fields_are_found),
		cmocka_unit_test(ids_are_random_uuids),
		cmocka_unit_test(warcinfo_fields_keep_to_their_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
