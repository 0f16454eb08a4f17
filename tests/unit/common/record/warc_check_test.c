/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records with right and wrong digests, in pieces of every size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/base32.h"
#include "common/data/digest.h"
#include "common/record/warc_check.h"

#define HTTP "HTTP/1.1 200 OK\r\nX: y\r\n\r\n"

static const struct {
	const char *name, *type, *content_type, *block, *payload;
	const char *block_digest, *payload_digest; /* NULL: the right one; "": no field */
	const char *want;                          /* a part of the words; NULL: all is well */
} cases[] = {
	{"a response", "response", "application/http; msgtype=response", HTTP "body", "body", NULL,
		NULL, NULL},
	{"a request without a body", "request", "application/http; msgtype=request",
		"GET / HTTP/1.1\r\n\r\n", "", NULL, NULL, NULL},
	{"lines without CR", "response", "application/http", "HTTP/1.1 200 OK\nX: y\n\n\nbody",
		"\nbody", NULL, NULL, NULL},
	{"an empty line of CRs", "response", "application/http", "HTTP/1.1 200 OK\r\n\r\r\nbody",
		"body", NULL, NULL, NULL},
	{"a head that does not end", "response", "application/http", "HTTP/1.1 200 OK\r\nX: y\r\n",
		"", NULL, NULL, NULL},
	{"an empty block", "response", "application/http", "", "", NULL, NULL, NULL},
	{"a resource", "resource", "text/plain", "a\r\n\r\nb", "a\r\n\r\nb", NULL, NULL, NULL},
	{"no digests", "response", "application/http", HTTP "body", "body", "", "", NULL},
	{"another algorithm", "response", "application/http", HTTP "body", "body", "md5:XX",
		"sha256:YY", NULL},
	{"another block", "response", "application/http", HTTP "body", "body",
		"sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", NULL, "WARC-Block-Digest"},
	{"another payload", "response", "application/http", HTTP "body", "body", NULL,
		"sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "WARC-Payload-Digest"},
	{"half a digest", "response", "application/http", HTTP "body", "body", NULL, "sha1:AAAA",
		"WARC-Payload-Digest"},
	{"a revisit: its payload is elsewhere", "revisit", "application/http", HTTP, "", NULL,
		"sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", NULL},
	{"a revisit with another block", "revisit", "application/http", HTTP, "",
		"sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", NULL, "WARC-Block-Digest"},
};

static void digest_of(const char *text, char ret[ING_WARC_SHA1B32_BYTES])
{
	struct ing_digests d;
	ing_digest(ING_DIGEST_SHA1, text, strlen(text), &d);
	ing_base32_encode(d.sha1, sizeof(d.sha1), ret);
}

static void add_digest(struct ing_buf *head, const char *name, const char *given, const char *text)
{
	char right[ING_WARC_SHA1B32_BYTES];
	digest_of(text, right);
	if (given == NULL)
		ing_buf_printf(head, "%s: sha1:%s\r\n", name, right);
	else if (given[0] != '\0')
		ing_buf_printf(head, "%s: %s\r\n", name, given);
}

static void head_of(size_t number, struct ing_buf *head)
{
	ing_buf_clear(head);
	ing_buf_printf(head, "WARC/1.1\r\nWARC-Type: %s\r\nContent-Type: %s\r\n",
		cases[number].type, cases[number].content_type);
	add_digest(head, "WARC-Block-Digest", cases[number].block_digest, cases[number].block);
	add_digest(
		head, "WARC-Payload-Digest", cases[number].payload_digest, cases[number].payload);
	ing_buf_add_str(head, "\r\n");
}

static void digests_are_judged_in_any_pieces(void **state)
{
	(void)state;
	struct ing_warc_check *c = ing_warc_check_new();
	struct ing_buf head;
	ing_buf_init(&head, 4096);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char wanted[ING_WARC_SHA1B32_BYTES];
		digest_of(cases[i].payload, wanted);
		head_of(i, &head);
		for (size_t step = 1; step < 40; step++) {
			size_t bytes = strlen(cases[i].block);
			size_t payload = 0;
			char found[ING_WARC_SHA1B32_BYTES];
			ing_warc_check_begin(c, ing_buf_str(&head), head.len);
			for (size_t at = 0; at < bytes; at += step)
				payload += ing_warc_check_add(
					c, cases[i].block + at, ING_MIN(step, bytes - at));
			const char *words = ing_warc_check_end(c, found);
			if (cases[i].want == NULL
					? words != NULL
					: words == NULL || strstr(words, cases[i].want) == NULL)
				fail_msg("%s: %s", cases[i].name, words != NULL ? words : "good");
			assert_int_equal(payload, strlen(cases[i].payload));
			assert_string_equal(found, wanted);
		}
	}
	ing_buf_done(&head);
	ing_warc_check_free(c);
}

static void a_record_that_did_not_end_leaves_nothing_behind(void **state)
{
	(void)state;
	struct ing_warc_check *c = ing_warc_check_new();
	struct ing_buf head;
	ing_buf_init(&head, 4096);
	head_of(0, &head);
	ing_warc_check_begin(c, ing_buf_str(&head), head.len);
	ing_warc_check_add(c, "HTTP/1.1 200", 12);
	ing_warc_check_begin(c, ing_buf_str(&head), head.len);
	ing_warc_check_add(c, cases[0].block, strlen(cases[0].block));
	assert_null(ing_warc_check_end(c, NULL));
	ing_buf_done(&head);
	ing_warc_check_free(c);
	ing_warc_check_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_judged_in_any_pieces),
		cmocka_unit_test(a_record_that_did_not_end_leaves_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
