/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The record of a result: what is believed of an examiner's words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/artifact/html_biblio.h"
#include "worker/model/limits.h"

struct record_case {
	const char *name, *json, *page_title, *want;
	bool own;
};

static const struct record_case records[] = {
	{.name = "nothing"},
	{.name = "the page's title alone", .page_title = "P", .want = "{\"title\":\"P\"}"},
	{.name = "its own before the page's",
		.json = "{\"title\":\"T\"}",
		.page_title = "P",
		.want = "{\"title\":\"T\"}",
		.own = true},
	{.name = "a title of null",
		.json = "{\"title\":null,\"doi\":\"10.1/x\"}",
		.page_title = "P",
		.want = "{\"title\":\"P\",\"doi\":\"10.1/x\"}"},
	{.name = "no title at all", .json = "{\"doi\":\"10.1/x\"}"},
	{.name = "nulls and strangers",
		.json = "{\"evil\":[1],\"volume\":null,\"title\":\"T\"}",
		.want = "{\"title\":\"T\"}",
		.own = true},
	{.name = "in the table's order",
		.json = "{\"doi\":\"d\",\"title\":\"T\"}",
		.want = "{\"title\":\"T\",\"doi\":\"d\"}",
		.own = true},
	{.name = "wrong types",
		.json = "{\"title\":\"T\",\"doi\":7,\"release_year\":\"2001\",\"contrib_names\":\"A\","
			"\"keywords\":[1],\"raw_references\":[],\"release_date\":\"2001\",\"pmid\":\"\"}",
		.want = "{\"title\":\"T\"}",
		.own = true},
	{.name = "right types",
		.json = "{\"title\":\"T\",\"release_year\":2001,\"release_date\":\"2001-02-03\","
			"\"contrib_names\":[\"A\"],\"contribs\":[{\"name\":\"A\",\"orcid\":null,"
			"\"affiliations\":[\"U\"]}]}",
		.want = "{\"title\":\"T\",\"contrib_names\":[\"A\"],\"contribs\":[{\"name\":\"A\","
			"\"orcid\":null,\"affiliations\":[\"U\"]}],\"release_date\":\"2001-02-03\","
			"\"release_year\":2001}",
		.own = true},
	{.name = "people with more than people have",
		.json = "{\"title\":\"T\",\"contribs\":[{\"name\":\"A\",\"x\":{}}]}",
		.want = "{\"title\":\"T\"}",
		.own = true},
	{.name = "no object",
		.json = "[\"title\"]",
		.page_title = "P",
		.want = "{\"title\":\"P\"}"},
	{.name = "no JSON", .json = "{\"title\":", .page_title = "P", .want = "{\"title\":\"P\"}"},
	{.name = "twice",
		.json = "{\"title\":\"T\",\"title\":\"U\"}",
		.page_title = "P",
		.want = "{\"title\":\"P\"}"},
	{.name = "too deep",
		.json = "{\"title\":\"T\",\"x\":[[[[1]]]]}",
		.page_title = "P",
		.want = "{\"title\":\"P\"}"},
};

static void what_is_believed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(records); i++) {
		const struct record_case *c = &records[i];
		bool own = !c->own;
		json_t *got = ing_html_biblio_new(c->json, c->page_title, &own);
		char *text = got != NULL ? json_dumps(got, JSON_COMPACT) : NULL;
		if ((text == NULL) != (c->want == NULL) ||
			(text != NULL && strcmp(text, c->want) != 0))
			fail_msg("%s: %s", c->name, text != NULL ? text : "nothing");
		assert_int_equal(own, c->own);
		free(text);
		json_decref(got);
	}
}

/* A parser that recurses would not survive it. */
static void a_tower_is_nothing(void **state)
{
	(void)state;
	size_t bytes = ING_MAX_BIBLIO_BYTES;
	char *tower = ing_alloc(bytes + 1);
	bool own;
	memset(tower, '[', bytes);
	assert_null(ing_html_biblio_new(tower, NULL, &own));
	free(tower);
}

/* Parsing them would keep the loop busy, and no page says so much. */
static void too_many_values_are_none(void **state)
{
	(void)state;
	static const struct {
		unsigned values;
		const char *title;
	} cases[] = {{19000, "T"}, {21000, "P"}};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf b;
		bool own;
		ing_buf_init(&b, ING_MAX_BIBLIO_BYTES);
		ing_buf_add_str(&b, "{\"title\":\"T\"");
		for (unsigned k = 0; k < cases[i].values; k++)
			ing_buf_printf(&b, ",\"%x\":1", k);
		ing_buf_add_str(&b, "}");
		json_t *o = ing_html_biblio_new(ing_buf_str(&b), "P", &own);
		assert_string_equal(json_string_value(json_object_get(o, "title")), cases[i].title);
		json_decref(o);
		ing_buf_done(&b);
	}
}

static void what_shrinks_first(void **state)
{
	(void)state;
	bool own;
	json_t *o = ing_html_biblio_new(
		"{\"title\":\"T\",\"abstract\":\"A\",\"raw_references\":[\"R\"]}", NULL, &own);
	assert_true(ing_html_biblio_shrink(o));
	assert_null(json_object_get(o, "raw_references"));
	assert_true(ing_html_biblio_shrink(o));
	assert_null(json_object_get(o, "abstract"));
	assert_false(ing_html_biblio_shrink(o));
	assert_non_null(json_object_get(o, "title"));
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_believed),
		cmocka_unit_test(a_tower_is_nothing),
		cmocka_unit_test(too_many_values_are_none),
		cmocka_unit_test(what_shrinks_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
