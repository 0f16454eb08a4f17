/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records to requests. Every list is fed in pieces of several sizes, which must make no difference.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/report.h"
#include "worker/model/request.h"
#include "worker/seeds/convert.h"

struct got {
	struct ing_buf lines; /* requests; "NUMBER bad"; at the end "REASON COUNT" */
	size_t most;          /* requests that are wanted; 0: all */
	size_t requests;
};

static bool take_request(void *ctx, int64_t number, const char *json, size_t bytes)
{
	struct got *got = ctx;
	struct ing_request *request = NULL;
	assert_true(number > 0);
	assert_int_equal(ing_request_parse(json, bytes, &request, NULL), 0);
	ing_request_free(request);
	ing_buf_add(&got->lines, json, bytes);
	ing_buf_add_char(&got->lines, '\n');
	return ++got->requests != got->most;
}

static void take_bad(void *ctx, int64_t number, const char *why)
{
	struct got *got = ctx;
	assert_true(why[0] != '\0');
	ing_buf_printf(&got->lines, "%" PRId64 " bad\n", number);
}

static struct ing_seed_source *parse(const char *yaml, const char *const *settings)
{
	struct ing_seed_source *s = NULL;
	struct ing_report report = {0};
	struct ing_error err = {0};
	int rc =
		ing_seed_source_parse("test.yaml", yaml, strlen(yaml), settings, &s, &report, &err);
	ing_report_print_errors(&report, stderr);
	if (rc != 0)
		fail_msg("%s", err.msg);
	ing_report_done(&report);
	return s;
}

static int feed(struct ing_seed_converter *c, const char *list, size_t bytes, size_t step)
{
	int rc = 0;
	for (size_t at = 0; at < bytes && rc == 0; at += step)
		rc = ing_seed_converter_feed(c, list + at, ING_MIN(step, bytes - at), NULL);
	return rc == 0 ? ing_seed_converter_end(c, NULL) : rc;
}

static int convert(const struct ing_seed_source *s, const char *list, size_t bytes, size_t step,
	struct got *got)
{
	const struct ing_seed_sink sink = {take_request, take_bad, got};
	struct ing_seed_converter *c = ing_seed_converter_new(s, &sink);
	int rc = feed(c, list, bytes, step);
	const struct ing_seed_counts *counts = ing_seed_converter_counts(c);
	assert_int_equal(counts->requests, got->requests);
	for (size_t i = 0; i < counts->reasons; i++)
		if (counts->left_out[i].count > 0)
			ing_buf_printf(&got->lines, "%s %" PRIu64 "\n", counts->left_out[i].reason,
				counts->left_out[i].count);
	ing_seed_converter_free(c);
	return rc;
}

static void check_bytes(const char *yaml, const char *list, size_t bytes, const char *want)
{
	static const size_t steps[] = {1, 2, 3, 7, 1000000};
	struct ing_seed_source *s = parse(yaml, NULL);
	for (size_t i = 0; i < ING_ARRAY_LEN(steps); i++) {
		struct got got = {0};
		ing_buf_init(&got.lines, (size_t)1 << 26);
		assert_int_equal(convert(s, list, bytes, steps[i], &got), 0);
		assert_string_equal(ing_buf_str(&got.lines), want);
		ing_buf_done(&got.lines);
	}
	ing_seed_source_free(s);
}

static void check(const char *yaml, const char *list, const char *want)
{
	check_bytes(yaml, list, strlen(list), want);
}

/* Of a literal with NULs in it. */
#define CHECK_BYTES(yaml, list, want) check_bytes(yaml, list, sizeof(list) - 1, want)
#define HEAD "about: a\nshape: b\n"
#define JSON HEAD "format: jsonl\n"
#define CSV                                                                                        \
	HEAD "format: csv\nfields: {base_url: {path: url}, ingest_type: pdf, title: {path: t}}\n"
#define URL(u) "{\"base_url\":\"http://" u "\",\"ingest_type\":\"pdf\"}\n"
#define TITLE(u, t) "{\"base_url\":\"http://" u "\",\"ingest_type\":\"pdf\",\"title\":\"" t "\"}\n"

static void json_of_any_shape_gives_what_paths_lead_to(void **state)
{
	(void)state;
	static const char yaml[] =
		JSON "fields:\n  base_url: {path: [a.b, c]}\n  ingest_type: pdf\n";
	check(yaml, "{\"a\":{\"b\":\"http://x/\"},\"c\":\"http://y/\"}\n", URL("x/"));
	check(yaml, "{\"a\":{\"b\":null},\"c\":\"http://y/\"}\n", URL("y/"));
	check(yaml, "{\"a\":[{\"b\":1},{\"b\":[\"\",\" \",\"http://z/\"]}],\"c\":\"http://y/\"}\n",
		"no-web-url 1\n");
	check(yaml, "{\"a\":[[{\"b\":[[]]}],{\"b\":[\"\",\" \",\"http://z/\"]}]}\n", URL("z/"));
	check(yaml, "{\"a\":\"b\",\"c\":{}}\n{}\n", "no-url 2\n");
	check(yaml, "{\"a\":{\"b\":\"http://x/\\u0000\"}}\n", "no-url 1\n");
	check(yaml, "{\"c\":\"http://x/\",\"c\":\"http://y/\"}", URL("y/"));
}

static void lines_that_are_no_objects_are_named_and_skipped(void **state)
{
	(void)state;
	static const char yaml[] = JSON "fields: {base_url: {path: u}, ingest_type: pdf}\n";
	check(yaml,
		"[]\n{\"u\":\"http://x/\"}\n\n{\"u\":\n\"text\"\r\n{\"u\":\"http://y/\"}\r\n{}{}\n\xff\n",
		"1 bad\n" URL("x/") "4 bad\n5 bad\n" URL("y/") "7 bad\n8 bad\n");
	check(yaml, "\xef\xbb\xbf{\"u\":\"http://x/\"}\n\xef\xbb\xbf{\"u\":\"http://x/\"}",
		URL("x/") "2 bad\n");
	check(yaml, "", "");
	check(yaml, "{\"u\":\"http://\xe4/\"}\n", "1 bad\n"); /* Latin-1 */
	CHECK_BYTES(yaml, "{\"u\":\"http://a\0/\"}\n\0\n", "1 bad\n2 bad\n");
}

static void lists_in_other_lists_give_a_request_each(void **state)
{
	(void)state;
	static const char yaml[] =
		JSON "each: {path: 'files.urls', as: url, reason: no-file}\n"
		     "fields: {base_url: {path: [url.url, url]}, ingest_type: pdf}\n";
	check(yaml,
		"{\"files\":[{\"urls\":[{\"url\":\"http://a/\"},\"http://b/\"]},{\"urls\":null},{\"urls\":[{\"x\":1},null]},{\"urls\":\"http://c/\"}]}\n"
		"{\"files\":[]}\n{\"files\":7}\n",
		URL("a/") URL("b/") URL("c/") "no-url 1\nno-file 2\n");
	check(yaml, "{\"files\":{\"urls\":[\"http://a\",\"HTTP://A/\",\"http://a/?\"]}}\n",
		URL("a/") URL("a/?") "repeated 1\n");
}

static void entries_are_chosen_by_a_member(void **state)
{
	(void)state;
	static const char yaml[] = JSON
		"fields: {base_url: {path: u}, ingest_type: pdf, ext_ids.doi: {path: 'ids[type=doi].id', as: doi}}\n";
	check(yaml,
		"{\"u\":\"http://a/\",\"ids\":[{\"type\":\"issn\",\"id\":\"10.1/a\"},{\"type\":\"DOI\",\"id\":\"none\"},{\"type\":\"doi\",\"id\":\"10.1/B\"}]}\n",
		"{\"base_url\":\"http://a/\",\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"10.1/b\"}}\n");
	check(yaml, "{\"u\":\"http://a/\",\"ids\":{\"type\":\"doi\",\"id\":\"10.1/b\"}}\n",
		"{\"base_url\":\"http://a/\",\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"10.1/b\"}}\n");
	check(yaml, "{\"u\":\"http://a/\",\"ids\":[\"doi\",{\"type\":{},\"id\":\"10.1/b\"}]}\n",
		URL("a/"));
}

static void maps_choose_types_and_leave_out(void **state)
{
	(void)state;
	static const char yaml[] = JSON
		"fields:\n  base_url: {path: u}\n"
		"  ingest_type: {path: t, map: {'': pdf, html: 'html,pdf', abstract: ~}, default: xml, reason: type}\n"
		"  release_stage: {path: v, map: {1: draft}, otherwise: published}\n";
	check(yaml, "{\"u\":\"http://a/\",\"t\":\"\",\"v\":1}\n",
		"{\"base_url\":\"http://a/\",\"ingest_type\":\"pdf\",\"release_stage\":\"draft\"}\n");
	check(yaml, "{\"u\":\"http://a/\",\"t\":\"HTML\",\"v\":2}\n",
		"{\"base_url\":\"http://a/\",\"ingest_type\":\"html\",\"release_stage\":\"published\"}\n"
		"{\"base_url\":\"http://a/\",\"ingest_type\":\"pdf\",\"release_stage\":\"published\"}\n");
	check(yaml, "{\"u\":\"http://a/\",\"t\":\"abstract\"}\n{\"u\":\"http://a/\",\"t\":\"?\"}\n",
		"type 2\n");
	check(yaml, "{\"u\":\"http://a/\"}\n",
		"{\"base_url\":\"http://a/\",\"ingest_type\":\"xml\"}\n");
}

static void rules_count_what_they_leave_out(void **state)
{
	(void)state;
	static const char yaml[] =
		JSON "each: {path: u, as: u}\n"
		     "skip:\n"
		     "  - {reason: no-id, path: id, missing: true}\n"
		     "  - {reason: id, path: id, prefix: ['oai:a:']}\n"
		     "  - {reason: format, path: f, contains_none: [pdf]}\n"
		     "  - {reason: kind, path: k, not_in: [a, b], missing: false}\n"
		     "  - {reason: host, field: base_url, hosts: [a.example, .b.example]}\n"
		     "  - {reason: long, field: base_url, longer: 30}\n"
		     "  - {reason: part, path: u, contains: [/no/]}\n"
		     "fields: {base_url: {path: u}, ingest_type: pdf}\n";
	check(yaml,
		"{\"u\":\"http://x.example/\"}\n{\"id\":\"OAI:a:1\",\"u\":\"http://x.example/\"}\n",
		"no-id 1\nid 1\n");
	check(yaml,
		"{\"id\":1,\"f\":[\"text/html\"],\"u\":[]}\n{\"id\":1,\"f\":[\"x\",\"application/PDF\"],\"u\":\"http://x.example/\"}\n",
		URL("x.example/") "format 1\n");
	check(yaml,
		"{\"id\":1,\"k\":\"c\",\"u\":[]}\n{\"id\":1,\"k\":\"B\",\"u\":\"http://x.example/\"}\n",
		URL("x.example/") "kind 1\n");
	check(yaml,
		"{\"id\":1,\"u\":[\"http://a.example/\",\"http://WWW.a.example:81/\",\"http://c.a.example/\",\"http://b.example/\",\"http://d.c.b.example/\",\"http://bb.example/\"]}\n",
		URL("c.a.example/") URL("bb.example/") "host 4\n");
	check(yaml,
		"{\"id\":1,\"u\":[\"http://x.example/NO/\",\"http://x.example/5678901234567890\"]}\n",
		"long 1\npart 1\n");
}

static void only_urls_that_can_be_fetched_and_stored_are_requests(void **state)
{
	(void)state;
	static const char yaml[] =
		HEAD "format: lines\nfields: {base_url: {path: line}, ingest_type: pdf}\n";
	check(yaml,
		"ftp://a/\nmailto:a@b\nhttp://\nhttp://[::1]:80/x\nhttp://u@a/\nhttps://:p@a/\nhttp://a/@\nhttp://a:81/\n",
		URL("[::1]/x") URL("a/@") URL("a:81/") "no-web-url 3\nuser-in-url 2\n");
	struct ing_buf list;
	ing_buf_init(&list, 100000);
	ing_buf_add_str(&list, "http://a/");
	for (int i = 0; i < 2000; i++)
		ing_buf_add_char(&list, 'x');
	ing_buf_add_str(&list, "\nhttp://");
	for (int i = 0; i < 300; i++)
		ing_buf_add_str(&list, "a.");
	check(yaml, ing_buf_str(&list), "no-web-url 1\ntoo-long 1\n");
	ing_buf_done(&list);
}

static void rows_have_quoted_fields_and_named_columns(void **state)
{
	(void)state;
	check(CSV,
		"t,URL\r\n\"a \"\"b\"\"\",http://x/\r\n\"c\r\nd\",http://y/\r\n\r\n,\n\"e\"f,http://z/",
		TITLE("x/", "a \\\"b\\\"") TITLE("y/", "c\\r\\nd") TITLE("z/", "ef") "no-url 1\n");
	check(CSV, "\xef\xbb\xbfurl,t\nhttp://x/\nhttp://y/,1,2\nhttp://z/,\"\n\"",
		URL("x/") "3 bad\n" URL("z/"));
	check(CSV, "url,t\nhttp://x/,\"open\nhttp://y/,\n", "2 bad\n");
	check(CSV, "url,t\nhttp://x/,\xe4\nhttp://y/,\n", "2 bad\n" URL("y/"));
	CHECK_BYTES(CSV, "url,t\nhttp://x/,a\0b\nhttp://y/,\n", "2 bad\n" URL("y/"));
	check(CSV, "\xef\xbburl,t\nhttp://x/,\n", "no-url 1\n");
	check(CSV, "", "");
	check(CSV, "url", "");
}

static void a_quote_that_is_not_closed_costs_a_megabyte(void **state)
{
	(void)state;
	struct ing_buf list;
	ing_buf_init(&list, (size_t)8 << 20);
	ing_buf_add_str(&list, "url,t\nhttp://x/,\"open\n");
	while (list.len < (size_t)3 << 19)
		ing_buf_add_str(&list, "http://y/,t\n");
	ing_buf_add_str(&list, "http://z/,end\n");
	struct ing_seed_source *s = parse(CSV, NULL);
	struct got got = {0};
	ing_buf_init(&got.lines, (size_t)64 << 20);
	assert_int_equal(convert(s, list.data, list.len, 4096, &got), 0);
	assert_int_equal(strncmp(got.lines.data, "2 bad\n" TITLE("y/", "t"), 20), 0);
	assert_non_null(strstr(got.lines.data, TITLE("z/", "end")));
	assert_true(got.requests > 40000 && got.requests < 45000);
	ing_buf_done(&got.lines);
	ing_buf_done(&list);
	ing_seed_source_free(s);
}

static void options_name_columns_and_values(void **state)
{
	(void)state;
	static const char yaml[] = HEAD
		"format: csv\nreader: {separator: '{sep}', header: '{head}'}\n"
		"options:\n  sep: {about: a, default: ','}\n  head: {about: a, default: 'yes'}\n  url: {about: a}\n"
		"  kind: {about: a, optional: true}\n  type: {about: a, default: pdf, values: [pdf, html]}\n"
		"fields: {base_url: {path: '{url}'}, ingest_type: '{type}', link_source: '{kind}', 'ext_ids.{kind}': {path: id}}\n";
	static const char *const settings[] = {"url=2", "sep=;", "head=no", "kind=doi", NULL};
	struct ing_seed_source *s = parse(yaml, settings);
	struct got got = {0};
	ing_buf_init(&got.lines, 10000);
	assert_int_equal(convert(s, "a;http://x/\n", 12, 3, &got), 0);
	assert_string_equal(got.lines.data,
		"{\"base_url\":\"http://x/\",\"ingest_type\":\"pdf\",\"link_source\":\"doi\"}\n");
	ing_buf_done(&got.lines);
	ing_seed_source_free(s);
}

static void a_record_gives_no_more_requests_than_its_limit(void **state)
{
	(void)state;
	static const char yaml[] =
		JSON "each: {path: u, as: u}\nfields: {base_url: {path: u}, ingest_type: pdf}\n";
	struct ing_buf list;
	ing_buf_init(&list, (size_t)8 << 20);
	ing_buf_add_str(&list, "{\"u\":[");
	for (int i = 0; i < 10010; i++)
		ing_buf_printf(&list, "%s\"http://x/%d\"", i > 0 ? "," : "", i);
	ing_buf_add_str(&list, "]}\n{\"u\":\"http://x/1\"}\n");
	struct ing_seed_source *s = parse(yaml, NULL);
	struct got got = {0};
	ing_buf_init(&got.lines, (size_t)8 << 20);
	assert_int_equal(convert(s, list.data, list.len, 4096, &got), 0);
	assert_int_equal(got.requests, 10001);
	assert_non_null(strstr(got.lines.data, "\ntoo-many 1\n"));
	ing_buf_done(&got.lines);
	ing_buf_done(&list);
	ing_seed_source_free(s);
}

static void a_sink_that_has_enough_ends_it(void **state)
{
	(void)state;
	static const char yaml[] = JSON
		"each: {path: u, as: u}\nfields: {base_url: {path: u}, ingest_type: 'pdf,html'}\n";
	static const char list[] =
		"{\"u\":[\"http://x/\",\"http://y/\"]}\n{\"u\":\"http://x/\"}\nbad\n";
	for (size_t most = 1; most <= 6; most++) {
		struct ing_seed_source *s = parse(yaml, NULL);
		struct got got = {.most = most};
		ing_buf_init(&got.lines, 10000);
		assert_int_equal(convert(s, list, sizeof(list) - 1, 5, &got), -ING_FAIL_CANCELLED);
		assert_int_equal(got.requests, most);
		ing_buf_done(&got.lines);
		ing_seed_source_free(s);
	}
}

static void lines_over_the_limit_are_skipped(void **state)
{
	(void)state;
	static const char yaml[] =
		HEAD "format: lines\nfields: {base_url: {path: line}, ingest_type: pdf}\n";
	struct ing_buf list;
	ing_buf_init(&list, (size_t)1 << 20);
	for (int i = 0; i < 70000; i++)
		ing_buf_add_char(&list, 'x');
	ing_buf_add_str(&list, "\nhttp://x/\n");
	check(yaml, ing_buf_str(&list), "1 bad\n" URL("x/"));
	ing_buf_done(&list);
}

static void deep_and_crowded_records_are_bad(void **state)
{
	(void)state;
	static const char yaml[] = JSON "fields: {base_url: {path: u}, ingest_type: pdf}\n";
	struct ing_buf list;
	ing_buf_init(&list, (size_t)16 << 20);
	for (int i = 0; i < 100000; i++)
		ing_buf_add_str(&list, "{\"u\":");
	ing_buf_add_str(&list, "\n{\"u\":[");
	for (int i = 0; i < 2100000; i++)
		ing_buf_add_str(&list, "1,");
	ing_buf_add_str(&list, "1]}\n{\"u\":\"http://x/\"}\n");
	struct ing_seed_source *s = parse(yaml, NULL);
	struct got got = {0};
	ing_buf_init(&got.lines, 10000);
	assert_int_equal(convert(s, list.data, list.len, 65536, &got), 0);
	assert_string_equal(got.lines.data, "1 bad\n2 bad\n" URL("x/"));
	ing_buf_done(&got.lines);
	ing_buf_done(&list);
	ing_seed_source_free(s);
}

static void what_stands_before_a_value_makes_a_url_of_it(void **state)
{
	(void)state;
	static const char yaml[] = JSON
		"fields: {base_url: {path: d, as: doi, before: 'https://doi.org/', after: '?x'}, ingest_type: pdf}\n";
	check(yaml, "{\"d\":\"10.1/a#b?c%<d>\"}\n",
		"{\"base_url\":\"https://doi.org/10.1/a%23b%3Fc%25%3Cd%3E?x\",\"ingest_type\":\"pdf\"}\n");
}

static void several_requests_share_fields(void **state)
{
	(void)state;
	static const char yaml[] = JSON
		"fields: {ingest_type: pdf, rel: {path: r}}\n"
		"requests:\n"
		"  - {fields: {base_url: {path: a}}}\n"
		"  - {each: {path: b, as: b, reason: no-b}, fields: {base_url: {path: b}, rel: other}, skip: [{reason: r, path: r, in: [x]}]}\n";
	check(yaml, "{\"a\":\"http://a/\",\"b\":[\"http://b/\"],\"r\":\"y\"}\n{\"r\":\"x\"}\n",
		"{\"base_url\":\"http://a/\",\"ingest_type\":\"pdf\",\"rel\":\"y\"}\n"
		"{\"base_url\":\"http://b/\",\"ingest_type\":\"pdf\",\"rel\":\"other\"}\n"
		"no-url 1\nr 1\n");
}

static void requests_may_be_only_for_some_records(void **state)
{
	(void)state;
	static const char yaml[] = JSON
		"fields: {ingest_type: pdf}\n"
		"requests:\n"
		"  - {when: a, unless: {path: d, as: doi}, fields: {base_url: {path: a}}}\n"
		"  - {when: {path: f, only: [x/, 'y/']}, fields: {base_url: {path: f, before: 'http://f/'}}}\n";
	check(yaml,
		"{\"a\":\"http://a/\",\"d\":\"none\"}\n{\"a\":\"http://a/\",\"d\":\"10.1/a\"}\n{\"f\":\"Y/1\"}\n{\"f\":\"z/1\"}\n",
		URL("a/") URL("f/Y/1"));
}

static void values_may_have_parts_and_be_the_last(void **state)
{
	(void)state;
	static const char yaml[] = JSON
		"fields:\n  base_url: {path: u}\n  ingest_type: pdf\n"
		"  link_source_id: {parts: [{path: a, as: lower}, v, {path: b.c, which: last, before: '(', after: ')'}]}\n"
		"  rel: {path: r, which: last, default: none}\n";
	check(yaml,
		"{\"u\":\"http://a/\",\"a\":\"X\",\"b\":[{\"c\":1},{\"c\":\"22\"},{\"c\":3}],\"r\":[\"long\",\"s\",\"\"]}\n",
		"{\"base_url\":\"http://a/\",\"ingest_type\":\"pdf\",\"link_source_id\":\"xv(3)\",\"rel\":\"s\"}\n");
	check(yaml, "{\"u\":\"http://a/\",\"a\":\"X\",\"r\":7}\n",
		"{\"base_url\":\"http://a/\",\"ingest_type\":\"pdf\",\"rel\":\"7\"}\n");
	check(CSV "skip: [{reason: p, path: x, present: true}]\n",
		"url,x\nhttp://a/,\nhttp://b/,1\n", URL("a/") "p 1\n");
	check(HEAD
		"format: csv\nreader: {header: 'no'}\nfields: {base_url: {parts: ['http://', {path: 1}, /, {path: 2}]}, ingest_type: pdf}\n",
		"a,b\nc\n", URL("a/b") "no-url 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_of_any_shape_gives_what_paths_lead_to),
		cmocka_unit_test(lines_that_are_no_objects_are_named_and_skipped),
		cmocka_unit_test(lists_in_other_lists_give_a_request_each),
		cmocka_unit_test(entries_are_chosen_by_a_member),
		cmocka_unit_test(maps_choose_types_and_leave_out),
		cmocka_unit_test(rules_count_what_they_leave_out),
		cmocka_unit_test(only_urls_that_can_be_fetched_and_stored_are_requests),
		cmocka_unit_test(rows_have_quoted_fields_and_named_columns),
		cmocka_unit_test(a_quote_that_is_not_closed_costs_a_megabyte),
		cmocka_unit_test(options_name_columns_and_values),
		cmocka_unit_test(a_record_gives_no_more_requests_than_its_limit),
		cmocka_unit_test(a_sink_that_has_enough_ends_it),
		cmocka_unit_test(lines_over_the_limit_are_skipped),
		cmocka_unit_test(deep_and_crowded_records_are_bad),
		cmocka_unit_test(what_stands_before_a_value_makes_a_url_of_it),
		cmocka_unit_test(several_requests_share_fields),
		cmocka_unit_test(requests_may_be_only_for_some_records),
		cmocka_unit_test(values_may_have_parts_and_be_the_last),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
