/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Entries of a large JSON object one by one; records in PubFetcher's form, and back.
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
#include "common/data/json.h"
#include "worker/ctl/publication/kept_entries.h"
#include "worker/ctl/publication/pubfetcher_json.h"

#define NOW INT64_C(1800000000000)
#define MAX_ENTRY 40

static const struct {
	const char *file, *entries; /* each with | behind it; NULL: an error */
} files[] = {
	{"{\"publications\":[{\"a\":1},{\"b\":{\"c\":[{}]}}]}", "{\"a\":1}|{\"b\":{\"c\":[{}]}}|"},
	{" {\n\"version\" : { \"publications\": [ {\"x\":1} ] }, \"argv\":[\"{\"],\n"
	 "\"publications\" : [ { \"s\":\"}]\\\"{\" } ]\n}\n",
		"{ \"s\":\"}]\\\"{\" }|"},
	{"{\"publications\":[]}", ""},
	{"{\"publications\":[1,[{}],\"x,]\",{}]}", "[]|[]|[]|{}|"},
	{"{\"publications\":[{}, null ]}", "{}|[]|"},
	{"{\"publications\":[[[]]],\"argv\":[1]}", "[]|"},
	{"\xef\xbb\xbf{\"publications\":[{}]}", "{}|"},
	{"\xef{}{\"publications\":[{}]}", NULL},
	{"{\"docs\":[{\"d\":1}],\"publications\":[{\"p\":1}]}", "{\"d\":1}|{\"p\":1}|"},
	{"{\"publications\":[{\"a\":\"0123456789012345678901234567890123456789\"},{}]}",
		"too long|{}|"},
	{"{\"publication\":[{}]}", NULL},
	{"{\"publicationsX\":[{}]}", NULL},
	{"{\"publications\":{\"a\":{}}}", NULL},
	{"[{\"publications\":[{}]}]", NULL},
	{"\"publications\"", NULL},
	{"publications", NULL},
	{"", NULL},
	{"{\"publications\":[{}", NULL},
	{"{\"publications\":[{}]}}", NULL},
	{"{\"publications\":[{}], \"x", NULL},
};

static bool take_entry(void *ctx, const char *json, size_t bytes)
{
	struct ing_buf *all = ctx;
	assert_int_equal(json != NULL ? strlen(json) : bytes, bytes);
	ing_buf_printf(all, "%s|", json != NULL ? json : "too long");
	return true;
}

static void entries_come_one_by_one(void **state)
{
	(void)state;
	static const char *const names[] = {"publications", "docs", NULL};
	for (size_t i = 0; i < ING_ARRAY_LEN(files); i++) {
		char copy[256];
		size_t n = strlen(files[i].file);
		memcpy(copy, files[i].file, n);
		FILE *f = n > 0 ? fmemopen(copy, n, "r") : fopen("/dev/null", "r");
		struct ing_buf all;
		struct ing_error err = {0};
		ing_buf_init(&all, 4096);
		int rc = ing_kept_entries(f, names, MAX_ENTRY, take_entry, &all, &err);
		if ((rc == 0) != (files[i].entries != NULL))
			fail_msg("%s: %s", files[i].file, err.msg);
		if (rc == 0)
			assert_string_equal(ing_buf_str(&all), files[i].entries);
		ing_buf_done(&all);
		fclose(f);
	}
}

static bool end_at_once(void *ctx, const char *json, size_t bytes)
{
	(void)json;
	(void)bytes;
	(*(int *)ctx)++;
	return false;
}

static void the_callback_ends_it(void **state)
{
	(void)state;
	static const char *const names[] = {"docs", NULL};
	char text[] = "{\"docs\":[{},{}]} and no end";
	int calls = 0;
	struct ing_error err = {0};
	FILE *f = fmemopen(text, sizeof(text) - 1, "r");
	assert_int_equal(ing_kept_entries(f, names, MAX_ENTRY, end_at_once, &calls, &err), 0);
	assert_int_equal(calls, 1);
	fclose(f);
}

static json_t *paper(void)
{
	json_t *p = json_load_file(ING_TEST_DATA "/publication/paper.json", 0, NULL);
	assert_non_null(p);
	return p;
}

/* What PubFetcher's form has comes back as it was. */
static void a_record_survives_the_way_there_and_back(void **state)
{
	(void)state;
	static const char *const lost[] = {
		"authors", "licence", "publisher", "openalex_id", "fields", "resources"};
	json_t *record = paper();
	json_t *there = ing_pubfetcher_publication(record);
	json_t *back = ing_publication_of_pubfetcher(there, NOW);
	const char *key;
	json_t *value;
	for (size_t i = 0; i < ING_ARRAY_LEN(lost); i++) {
		assert_true(json_is_null(json_object_get(back, lost[i])));
		json_object_del(record, lost[i]);
	}
	json_object_foreach (record, key, value) {
		if (strcmp(key, "fetchTimeHuman") == 0) /* made when it is kept */
			continue;
		if (!json_equal(value, json_object_get(back, key)))
			fail_msg("%s: %s", key, ing_json_dump(json_object_get(back, key), NULL));
	}
	json_decref(record);
	json_decref(there);
	json_decref(back);
}

static void what_is_unknown_has_its_marks_there(void **state)
{
	(void)state;
	json_t *record = json_pack("{s:I}", "fetchTime", (json_int_t)1000);
	json_t *there = ing_pubfetcher_publication(record);
	char *text = ing_json_dump(there, NULL);
	assert_non_null(strstr(text,
		"\"oa\":false,\"preprint\":false,\"journalTitle\":\"\",\"pubDate\":-1,"
		"\"pubDateHuman\":\"1969-12-31\",\"citationsCount\":-1,\"citationsTimestamp\":-1,"
		"\"citationsTimestampHuman\":\"1969-12-31T23:59:59.999Z\",\"correspAuthor\":[],"
		"\"visitedSites\":[],\"empty\":false"));
	assert_non_null(strstr(text, "\"keywords\":{\"list\":[],\"type\":\"na\",\"url\":\"\","
				     "\"timestamp\":1000,\"timestampHuman\":\"\",\"size\":0,"
				     "\"empty\":true,\"usable\":false,\"final\":false}"));
	assert_non_null(strstr(text, "\"doi\":{\"content\":\"\",\"type\":\"na\""));
	json_t *back = ing_publication_of_pubfetcher(there, NOW);
	assert_true(json_is_null(json_object_get(back, "oa")));
	assert_true(json_is_null(json_object_get(back, "pub_date")));
	assert_true(json_is_null(json_object_get(back, "citationsCount")));
	assert_true(json_is_null(json_object_get(back, "doi")));
	assert_true(ing_json_get_true(back, "empty"));
	free(text);
	json_decref(record);
	json_decref(there);
	json_decref(back);
}

#define PART(content) "{\"content\":\"" content "\",\"type\":\"external\",\"url\":\"\",\"size\":9}"

static const struct {
	const char *members, *path, *want; /* NULL: null */
} imports[] = {
	{"\"doi\":" PART("https://doi.org/10.1/a%b"), "doi", "10.1/A%B"},
	{"\"doi\":" PART("nonsense"), "doi", NULL},
	{"\"pmid\":" PART("0123"), "pmid", NULL},
	{"\"pmcid\":" PART("PMC12"), "pmcid", "PMC12"},
	{"\"title\":" PART("A title"), "title", "A title"},
	{"\"title\":\"A title\"", "title", NULL},
};

static void identifiers_are_in_normal_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(imports); i++) {
		char text[512];
		snprintf(text, sizeof(text), "{%s}", imports[i].members);
		json_t *o = json_loads(text, 0, NULL);
		json_t *record = ing_publication_of_pubfetcher(o, NOW);
		const json_t *part = json_object_get(record, imports[i].path);
		const char *got = ing_json_get_text(part, "content");
		if (imports[i].want == NULL)
			assert_true(json_is_null(part));
		else
			assert_string_equal(got, imports[i].want);
		json_decref(o);
		json_decref(record);
	}
}

static void nothing_was_fetched_in_the_future(void **state)
{
	(void)state;
	json_t *o = json_pack("{s:I}", "fetchTime", (json_int_t)INT64_MAX);
	json_t *record = ing_publication_of_pubfetcher(o, NOW);
	assert_int_equal(ing_json_get_number(record, "fetchTime"), NOW);
	json_decref(o);
	json_decref(record);
}

static void a_web_page_survives_the_way_there_and_back(void **state)
{
	(void)state;
	json_t *o = json_loads(
		"{\"fetchTime\":5,\"fetchTimeHuman\":\"x\",\"retryCounter\":2,"
		"\"fetchException\":false,\"startUrl\":\"https://a.example/\","
		"\"finalUrl\":\"https://a.example/en\",\"contentType\":\"text/html\","
		"\"statusCode\":200,\"contentTime\":7,\"contentTimeHuman\":\"y\","
		"\"license\":\"MIT\",\"language\":\"\",\"titleLength\":6,"
		"\"contentLength\":4,\"title\":\"A tool\",\"empty\":false,"
		"\"usable\":false,\"final\":false,\"broken\":false,\"content\":\"Text\"}",
		0, NULL);
	assert_non_null(o);
	json_t *record = ing_webpage_of_pubfetcher(o, NOW);
	assert_true(json_is_null(json_object_get(record, "language")));
	json_t *back = ing_pubfetcher_webpage(record);
	json_object_set_new(back, "fetchTimeHuman", json_string("x"));
	char *want = ing_json_dump(o, NULL);
	char *have = ing_json_dump(back, NULL);
	assert_string_equal(have, want);
	free(want);
	free(have);
	json_decref(o);
	json_decref(record);
	json_decref(back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_come_one_by_one),
		cmocka_unit_test(the_callback_ends_it),
		cmocka_unit_test(a_record_survives_the_way_there_and_back),
		cmocka_unit_test(what_is_unknown_has_its_marks_there),
		cmocka_unit_test(identifiers_are_in_normal_form),
		cmocka_unit_test(nothing_was_fetched_in_the_future),
		cmocka_unit_test(a_web_page_survives_the_way_there_and_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
