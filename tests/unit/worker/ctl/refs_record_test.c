/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Crossref's records: which references are for GROBID, and how their strings are cleaned.
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
#include "worker/ctl/reexamine/refs_record.h"

static const struct {
	const char *text, *want;
} cleaning[] = {
	{"Plain, A. (1972). Words.", "Plain, A. (1972). Words."},
	{"Once.  Once.", "Once."},
	{"Twice.  Twice.  Twice.", "Twice. Twice. Twice."},
	{"Not.  the same.", "Not. the same."},
	{"Möwe, A.  Möwe, A.", "Möwe, A."},
	{"a   b", "a  b"},
	{"  both ends  ", "both ends"},
	{"\u00a0\u00a0 \u2003", ""},
	{"", ""},
	{"  ", ""},
	{"Premi&#232;re N&#176;7, &#x3b1; &#X3B1", "Première N°7, α α"},
	{"Waves &amp; Tides &lt;sea&gt; &eacute;", "Waves & Tides <sea> é"},
	{"&#150;&#128;&#0;&#55296;&#x110000;&#99999999999;",
		"–€\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"AT&T; &eacute;", "AT&T; &eacute;"}, /* nothing says that it is escaped */
	{"&amp;&unknownname;&#;&#x;&; &", "&&unknownname;&#;&#x;&; &"},
	{"&amp;&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;",
		"&&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;"},
	{"a &amp; b.  a &amp; b.", "a & b."},
};

static void citations_are_cleaned(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cleaning); i++) {
		char *got = ing_refs_clean(cleaning[i].text);
		if (strcmp(got, cleaning[i].want) != 0)
			fail_msg("%s: %s", cleaning[i].text, got);
		free(got);
	}
}

#define TEXT "\"unstructured\":\"Quine, W. V. O. (1976).\""

static const struct {
	const char *reference;
	bool parsed;
} conditions[] = {
	{"{" TEXT "}", true},
	{"{\"unstructured\":\"1234567\"}", true},
	{"{\"unstructured\":\"  123456 \u00a0\"}", false},
	{"{\"unstructured\":\"éééééé\"}", false},
	{"{\"unstructured\":7}", false},
	{"{\"unstructured\":null}", false},
	{"{\"year\":\"1976\"}", false},
	{"{" TEXT ",\"DOI\":\"10.1/x\"}", false},
	{"{" TEXT ",\"DOI\":\"\"}", true},
	{"{" TEXT ",\"year\":\"1976\",\"author\":\"Q\"}", true},
	{"{" TEXT ",\"year\":\"1976\",\"author\":\"Q\",\"article-title\":\"T\"}", false},
	{"{" TEXT ",\"year\":\"1976\",\"author\":\"Q\",\"series-title\":\"T\"}", false},
	{"{" TEXT ",\"year\":\"1976\",\"author\":\"Q\",\"volume-title\":\"T\"}", false},
	{"{" TEXT ",\"year\":\"1976\",\"author\":\"Q\",\"journal-title\":\"T\"}", false},
	{"{" TEXT ",\"author\":\"Q\",\"article-title\":\"T\"}", true},
	{"{" TEXT ",\"year\":\"1976\",\"article-title\":\"T\"}", true},
	{"{" TEXT ",\"journal-title\":\"J\",\"volume\":\"1\",\"first-page\":\"2\"}", false},
	{"{" TEXT ",\"journal-title\":\"J\",\"volume\":\"1\"}", true},
	{"{" TEXT ",\"volume\":\"1\",\"first-page\":\"2\"}", true},
	{"[]", false},
	{"\""
	 "text"
	 "\"",
		false},
};

static int read_record(const char *line, struct ing_refs_record *ret, struct ing_error *err)
{
	return ing_refs_record_read(line, strlen(line), ret, err);
}

static void only_strings_that_say_more_are_parsed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(conditions); i++) {
		char line[500];
		struct ing_refs_record r;
		struct ing_error err = {0};
		snprintf(line, sizeof(line),
			"{\"DOI\":\"10.5/A\",\"indexed\":{\"date-time\":\"2021-05-10T22:08:45Z\"},"
			"\"reference\":[%s]}",
			conditions[i].reference);
		assert_int_equal(read_record(line, &r, &err), 0);
		if ((r.count == 1) != conditions[i].parsed)
			fail_msg("%s: %zu", conditions[i].reference, r.count);
		ing_refs_record_done(&r);
	}
}

static void a_record_is_a_work_or_an_answer_about_one(void **state)
{
	static const char *const lines[] = {
		"{\"DOI\":\"10.5/ABC\",\"indexed\":{\"date-time\":\"2021-05-10T22:08:45Z\"},\"type\":\"x\"}",
		"{\"status\":\"ok\",\"message\":{\"DOI\":\"10.5/ABC\","
		"\"indexed\":{\"date-time\":\"2021-05-10T22:08:45Z\"},\"type\":\"x\"}}",
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(lines); i++) {
		struct ing_refs_record r;
		struct ing_error err = {0};
		assert_int_equal(read_record(lines[i], &r, &err), 0);
		assert_string_equal(r.doi, "10.5/abc");
		assert_string_equal(r.indexed, "2021-05-10T22:08:45Z");
		assert_string_equal(ing_json_get_text(r.record, "type"), "x");
		assert_string_equal(ing_json_get_text(r.record, "DOI"), "10.5/ABC");
		assert_int_equal(r.count, 0);
		ing_refs_record_done(&r);
	}
}

static void what_has_no_key_is_refused(void **state)
{
	static const struct {
		const char *line, *words;
	} cases[] = {
		{"", ""},
		{"{", ""},
		{"[]", "DOI"},
		{"{}", "DOI"},
		{"{\"message\":[]}", "DOI"},
		{"{\"DOI\":7}", "DOI"},
		{"{\"DOI\":\"nodoi\"}", "DOI"},
		{"{\"DOI\":\"10.5/a\"}", "indexed"},
		{"{\"DOI\":\"10.5/a\",\"indexed\":{}}", "indexed"},
		{"{\"DOI\":\"10.5/a\",\"indexed\":{\"date-time\":\"yesterday\"}}", "indexed"},
		{"{\"DOI\":\"10.5/a\",\"indexed\":{\"date-time\":\"2021-13-41T22:08:45Z\"}}",
			"indexed"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_refs_record r;
		struct ing_error err = {0};
		assert_true(read_record(cases[i].line, &r, &err) < 0);
		if (err.msg[0] == '\0' || strstr(err.msg, cases[i].words) == NULL)
			fail_msg("%s: %s", cases[i].line, err.msg);
	}
}

static void more_references_than_most_are_left_out(void **state)
{
	struct ing_buf line;
	struct ing_refs_record r;
	struct ing_error err = {0};
	(void)state;
	ing_buf_init(&line, 1 << 20);
	ing_buf_add_str(&line, "{\"DOI\":\"10.5/a\",\"indexed\":{\"date-time\":"
			       "\"2021-05-10T22:08:45Z\"},\"reference\":[{}");
	for (size_t i = 0; i < ING_REFS_MOST + 3; i++)
		ing_buf_printf(&line, ",{\"key\":\"k%zu\"," TEXT "}", i);
	ing_buf_add_str(&line, "]}");
	assert_int_equal(read_record(line.data, &r, &err), 0);
	assert_int_equal(r.count, ING_REFS_MOST);
	assert_int_equal(r.left_out, 3);
	assert_string_equal(r.citations[0].key, "k0");
	assert_string_equal(r.citations[ING_REFS_MOST - 1].key, "k1999");
	ing_refs_record_done(&r);
	ing_buf_done(&line);
}

static void parsed_references_are_named_by_their_keys(void **state)
{
	struct ing_refs_record r;
	struct ing_error err = {0};
	(void)state;
	assert_int_equal(
		read_record(
			"{\"DOI\":\"10.5/a\",\"indexed\":{\"date-time\":\"2021-05-10T22:08:45Z\"},"
			"\"reference\":[{\"key\":\"no\",\"unstructured\":\"x\"},{\"key\":\"a\"," TEXT
			"},{" TEXT "}]}",
			&r, &err),
		0);
	json_t *list = json_loads("[{\"id\":\"b0\"},{\"id\":\"b1\"}]", 0, NULL);
	assert_true(ing_refs_record_name(&r, list));
	assert_string_equal(ing_json_get_text(json_array_get(list, 0), "id"), "a");
	assert_null(ing_json_get_text(json_array_get(list, 1), "id"));
	json_array_remove(list, 1);
	assert_false(ing_refs_record_name(&r, list));
	json_decref(list);
	ing_refs_record_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(citations_are_cleaned),
		cmocka_unit_test(only_strings_that_say_more_are_parsed),
		cmocka_unit_test(a_record_is_a_work_or_an_answer_about_one),
		cmocka_unit_test(what_has_no_key_is_refused),
		cmocka_unit_test(more_references_than_most_are_left_out),
		cmocka_unit_test(parsed_references_are_named_by_their_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
