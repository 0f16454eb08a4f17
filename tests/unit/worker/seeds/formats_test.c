/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the formats make of files, whole, malformed and hostile; samples of real lists are in the sources' files.
 */
#include <inttypes.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/io.h"
#include "common/base/report.h"
#include "common/data/compress.h"
#include "worker/seeds/convert.h"

#define JSON                                                                                       \
	"about: x\nshape: x\nformat: json\nreader: {list: items}\nfields: {base_url: {path: u}, ingest_type: pdf}\n"
#define XML                                                                                        \
	"about: x\nshape: x\nformat: xml\nreader: {record: r}\n"                                   \
	"fields: {base_url: {path: ['u.#text', 'u.@href', '@u', 'a.b.#text']}, ingest_type: pdf}\n"
#define ROOT                                                                                       \
	"about: x\nshape: x\nformat: xml\n"                                                        \
	"fields: {base_url: {path: 'u.#text'}, ingest_type: pdf, title: {path: '#name'}}\n"
#define CDX                                                                                        \
	"about: x\nshape: x\nformat: cdx\nfields: {base_url: {path: url}, ingest_type: pdf, title: {path: digest}}\n"
#define WARC                                                                                       \
	"about: x\nshape: x\nformat: warc\nfields: {base_url: {path: url}, ingest_type: pdf, title: {path: status}}\n"
#define U(n) "{\"u\":\"http://a/" #n "\"}"
#define R(n) "<r><u>http://a/" #n "</u></r>"

/* want: "NUMBER URL TITLE;", "NUMBER bad;", "failed;" */
/* clang-format off */
static const struct {
	const char *name, *yaml, *list, *want;
} cases[] = {
	{"JSON: nothing", JSON, "", ""},
	{"JSON: lines", JSON, U(1) "\n\n" U(2) "\nx\n" U(3), "1 http://a/1;3 http://a/2;4 bad;5 http://a/3;"},
	{"JSON: one line without an end", JSON, U(1), "1 http://a/1;"},
	{"JSON: a list", JSON, "[" U(1) ",\n" U(2) ",\n3,\n" U(4) "]", "1 http://a/1;2 http://a/2;3 bad;4 http://a/4;"},
	{"JSON: items", JSON, "{\"n\":1,\"items\":[\n" U(1) ",\n{\"u\" 2},\n" U(3) "],\"x\":[]}", "2 http://a/1;3 bad;4 http://a/3;"},
	{"JSON: items in a line", JSON, "{\"items\":[" U(1) "," U(2) "]}", "1 http://a/1;1 http://a/2;"},
	{"JSON: over lines", JSON, "{\n\"u\":\"http://a/1\"\n}\n{\n\"u\":\n\"http://a/2\"\n}\n", "1 http://a/1;4 http://a/2;"},
	{"JSON: a list that is cut", JSON, "[" U(1) "," U(2), "1 http://a/1;1 http://a/2;failed;"},
	{"JSON: a value that is cut", JSON, "[" U(1) ",{\"u", "1 http://a/1;failed;"},
	{"JSON: brackets that do not fit", JSON, "[" U(1) "}]", "1 http://a/1;failed;"},
	{"XML: nothing", XML, "", ""},
	{"XML: records at any place", XML, "<x>" R(1) "<y>\n" R(2) "</y></x>", "1 http://a/1;2 http://a/2;"},
	{"XML: a record in a record is its part", XML, "<x><r><r><u>http://a/1</u></r><u>http://a/2</u></r></x>", "1 http://a/2;"},
	{"XML: attributes and prefixes", XML,
		"<p:x xmlns:p='p'><p:r><p:u p:href=' http://a/1 '/></p:r><r u='http://a/2'/></p:x>", "1 http://a/1;1 http://a/2;"},
	{"XML: lists on the way", XML, "<x><r><a/><a><c/><b/><b>http://a/1</b></a></r></x>", "1 http://a/1;"},
	{"XML: children of the root", ROOT, "<x>\n<v><u>http://a/1</u></v><w><u>http://a/<i>2</i></u></w></x>",
		"2 http://a/1 v;2 http://a/2 w;"},
	{"XML: damage", XML, "<x>" R(1) "\n<r><u></r>" R(2) "</x>", "1 http://a/1;failed;"},
	{"XML: cut", XML, "<x>" R(1) "<r><u>http", "1 http://a/1;failed;"},
	{"XML: no XML", XML, "http://a/\n", "failed;"},
	{"XML: entities of entities", XML,
		"<!DOCTYPE x [<!ENTITY a 'http://a/'><!ENTITY b '&a;&a;&a;&a;'>]><x><r><u>http://a/&b;</u></r></x>",
		"1 http://a/%EF%BF%BD;"},
	{"XML: entities from outside", XML,
		"<!DOCTYPE x SYSTEM 'http://a/x.dtd' [<!ENTITY a SYSTEM 'file:///etc/hostname'>]><x><r><u>http://a/&a;</u></r></x>",
		"1 http://a/%EF%BF%BD;"},
	{"CDX: lines", CDX, " CDX N b a m s k r M S V g\r\ns 2020 http://a/1 m 200 K - - 1 2 f\r\n\r\nx\ns 2020 {\"url\":\"http://a/2\",\"digest\":7}\n",
		"2 http://a/1 K;4 bad;5 http://a/2 7;"},
	{"WARC: no WARC", WARC, "http://a/\n", "1 bad;"},
	{"WARC: nothing", WARC, "", ""},
};
/* clang-format on */

static bool take_request(void *ctx, int64_t number, const char *json, size_t bytes)
{
	static const char url[] = "{\"base_url\":\"", title[] = "\"title\":\"";
	struct ing_buf *got = ctx;
	(void)bytes;
	ing_buf_printf(got, "%" PRId64 " ", number);
	assert_int_equal(strncmp(json, url, strlen(url)), 0);
	json += strlen(url);
	ing_buf_add(got, json, strcspn(json, "\""));
	json = strstr(json, title);
	if (json != NULL) {
		ing_buf_add_char(got, ' ');
		ing_buf_add(got, json + strlen(title), strcspn(json + strlen(title), "\""));
	}
	return ing_buf_add_char(got, ';');
}

static void take_bad(void *ctx, int64_t number, const char *why)
{
	assert_true(why[0] != '\0');
	ing_buf_printf(ctx, "%" PRId64 " bad;", number);
}

static struct ing_seed_source *parse(const char *yaml)
{
	struct ing_seed_source *s = NULL;
	struct ing_report report = {0};
	struct ing_error err = {0};
	int rc = ing_seed_source_parse("test.yaml", yaml, strlen(yaml), NULL, &s, &report, &err);
	ing_report_print_errors(&report, stderr);
	assert_int_equal(rc, 0);
	ing_report_done(&report);
	return s;
}

static void check(const char *name, const char *yaml, const char *list, size_t bytes, size_t step,
	const char *want)
{
	struct ing_seed_source *s = parse(yaml);
	struct ing_buf got;
	struct ing_error err = {0};
	int rc = 0;
	ing_buf_init(&got, 100000);
	const struct ing_seed_sink sink = {take_request, take_bad, &got};
	struct ing_seed_converter *c = ing_seed_converter_new(s, &sink);
	for (size_t at = 0; at < bytes && rc == 0; at += step)
		rc = ing_seed_converter_feed(c, list + at, ING_MIN(step, bytes - at), &err);
	if (rc == 0)
		rc = ing_seed_converter_end(c, &err);
	if (rc != 0)
		ing_buf_add_str(&got, "failed;");
	assert_int_equal(rc != 0, err.msg[0] != '\0');
	if (strcmp(ing_buf_str(&got), want) != 0)
		print_message("%s, in steps of %zu: %s\n", name, step, err.msg);
	assert_string_equal(ing_buf_str(&got), want);
	ing_buf_done(&got);
	ing_seed_converter_free(c);
	ing_seed_source_free(s);
}

static void records_are_those_of_the_file_however_it_is_cut(void **state)
{
	(void)state;
	static const size_t steps[] = {1, 2, 3, 7, 100000};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		for (size_t k = 0; k < ING_ARRAY_LEN(steps); k++)
			check(cases[i].name, cases[i].yaml, cases[i].list, strlen(cases[i].list),
				steps[k], cases[i].want);
}

/* before, `times` of piece, after. */
static void check_many(const char *name, const char *yaml, const char *before, const char *piece,
	size_t times, const char *after, const char *want)
{
	struct ing_buf list;
	ing_buf_init(&list, (size_t)1 << 26);
	ing_buf_add_str(&list, before);
	for (size_t i = 0; i < times; i++)
		ing_buf_add_str(&list, piece);
	ing_buf_add_str(&list, after);
	assert_false(list.failed);
	check(name, yaml, list.data, list.len, 65536, want);
	ing_buf_done(&list);
}

static void a_record_that_is_too_much_is_bad_and_the_next_is_read(void **state)
{
	(void)state;
	struct ing_buf deep;
	ing_buf_init(&deep, 100000);
	ing_buf_add_str(&deep, "<x><r>");
	for (int i = 0; i < 100; i++)
		ing_buf_add_str(&deep, "<a>");
	for (int i = 0; i < 100; i++)
		ing_buf_add_str(&deep, "</a>");
	ing_buf_add_str(&deep, "</r>" R(2) "</x>");
	check("a deep record", XML, deep.data, deep.len, 1000, "1 bad;1 http://a/2;");
	ing_buf_done(&deep);
	check_many("a long record", XML, "<x><r><u>", "0123456789", 1000000, "</u></r>" R(2) "</x>",
		"1 bad;1 http://a/2;");
	check_many("many elements", XML, "<x><r>", "<u/>", 200000, "</r>" R(2) "</x>",
		"1 bad;1 http://a/2;");
	check_many("an attribute of megabytes", XML, "<x><r u='", "0123456789", 100000,
		"'/>" R(2) "</x>", "failed;");
	check_many("a line of megabytes", CDX, "s 2020 http://a/", "0123456789", 1000000,
		" m 200 K - 2 f\ns 2020 http://a/2 m 200 K - 2 f\n", "1 bad;2 http://a/2 K;");
	check_many("a value of megabytes", JSON, "[{\"u\":\"", "0123456789", 4000000,
		"\"}," U(2) "]", "1 bad;1 http://a/2;");
	check_many("a deep value", JSON, "[", "[", 100000, "", "failed;");
}

static int to_buf(void *ctx, const void *data, size_t bytes)
{
	return ing_buf_add(ctx, data, bytes) ? 0 : -ING_FAIL_TOO_BIG;
}

static void add_warc_member(struct ing_buf *b, const char *url)
{
	struct ing_buf r;
	struct ing_gzip *z = ing_gzip_new(to_buf, b);
	ing_buf_init(&r, 1000);
	ing_buf_printf(&r,
		"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0>\r\n"
		"WARC-Date: 2020-01-02T03:04:05Z\r\nWARC-Target-URI: %s\r\n"
		"Content-Type: application/http\r\nContent-Length: 19\r\n\r\n"
		"HTTP/1.1 200 OK\r\n\r\n\r\n\r\n",
		url);
	assert_int_equal(ing_gzip_add(z, r.data, r.len), 0);
	assert_int_equal(ing_gzip_end(z), 0);
	ing_gzip_free(z);
	ing_buf_done(&r);
}

/* The file itself goes to the reader, which knows members: a damaged one costs no other. */
static void a_damaged_member_of_a_warc_file_is_skipped(void **state)
{
	(void)state;
	struct ing_buf file, got;
	ing_buf_init(&file, 10000);
	add_warc_member(&file, "http://a/1");
	size_t at = file.len;
	add_warc_member(&file, "http://a/2");
	file.data[at + 30] ^= 0x55;
	add_warc_member(&file, "http://a/3");
	int fd = memfd_create("list", MFD_CLOEXEC);
	assert_int_equal(ing_write_all(fd, file.data, file.len), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	struct ing_seed_source *s = parse(WARC);
	ing_buf_init(&got, 10000);
	const struct ing_seed_sink sink = {take_request, take_bad, &got};
	struct ing_seed_converter *c = ing_seed_converter_new(s, &sink);
	assert_int_equal(ing_seed_converter_read(c, fd, NULL), 0);
	assert_string_equal(ing_buf_str(&got), "1 http://a/1 200;2 bad;2 http://a/3 200;");
	ing_seed_converter_free(c);
	ing_seed_source_free(s);
	ing_buf_done(&got);
	ing_buf_done(&file);
	close(fd);
}

static bool count_request(void *ctx, int64_t number, const char *json, size_t bytes)
{
	(void)number, (void)json, (void)bytes;
	++*(size_t *)ctx;
	return true;
}

static void count_bad(void *ctx, int64_t number, const char *why)
{
	(void)ctx, (void)number;
	fail_msg("%s", why);
}

static void memory_does_not_grow_with_the_list(void **state)
{
	(void)state;
	static const struct {
		const char *yaml, *before, *piece;
	} lists[] = {
		{JSON, "{\"items\":[", "\n" U(1) ","},
		{JSON, "[", "\n" U(1) ","},
		{XML, "<x>", "\n" R(1)},
		{CDX, "", "s 2020 http://a/1 m 200 K - 2 f\n"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(lists); i++) {
		struct ing_seed_source *s = parse(lists[i].yaml);
		size_t count = 0, before = 0;
		const struct ing_seed_sink sink = {count_request, count_bad, &count};
		struct ing_seed_converter *c = ing_seed_converter_new(s, &sink);
		assert_int_equal(
			ing_seed_converter_feed(c, lists[i].before, strlen(lists[i].before), NULL),
			0);
		for (size_t k = 0; k < 20000; k++) {
			if (k == 3000)
				before = mallinfo2().uordblks;
			assert_int_equal(ing_seed_converter_feed(
						 c, lists[i].piece, strlen(lists[i].piece), NULL),
				0);
		}
		assert_true(mallinfo2().uordblks < before + 100000);
		assert_true(count >= 19000);
		ing_seed_converter_free(c);
		ing_seed_source_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_those_of_the_file_however_it_is_cut),
		cmocka_unit_test(a_record_that_is_too_much_is_bad_and_the_next_is_read),
		cmocka_unit_test(a_damaged_member_of_a_warc_file_is_skipped),
		cmocka_unit_test(memory_does_not_grow_with_the_list),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
