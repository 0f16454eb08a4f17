/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What two records of one publication become, and which records are of one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/publication/kept.h"

static const struct ing_refetch_rules rules = {720, 10080, 1440, -1, 3};

/* JSON with ' in place of ". */
static json_t *json(const char *text)
{
	char *copy = ing_strdup(text);
	for (char *s = copy; *s != '\0'; s++)
		if (*s == '\'')
			*s = '"';
	json_t *o = json_loads(copy, 0, NULL);
	if (o == NULL)
		fail_msg("%s", copy);
	free(copy);
	return o;
}

#define P(name, content, type, size)                                                               \
	"'" name "':{'content':'" content "','type':'" type "','size':" #size "}"

static const struct {
	const char *name, *kept, *fresh;
	enum ing_kept_relation want;
} relations[] = {
	{"one identifier in common", "{" P("pmid", "1", "external", 1) "}",
		"{" P("pmid", "1", "europepmc", 1) "," P("doi", "10.1/A", "doi", 6) "}",
		ING_KEPT_SAME},
	{"none at all", "{}", "{" P("pmid", "1", "doi", 1) "}", ING_KEPT_SAME},
	{"a wrong DOI was given",
		"{" P("pmid", "1", "europepmc", 1) "," P("doi", "10.1/A", "external", 6) "}",
		"{" P("pmid", "1", "europepmc", 1) "," P("doi", "10.1/B", "europepmc", 6) "}",
		ING_KEPT_STALE},
	{"a version of the DOI",
		"{" P("pmid", "1", "europepmc", 1) "," P("doi", "10.1/A.2", "europepmc", 6) "}",
		"{" P("pmid", "1", "europepmc", 1) "," P("doi", "10.1/A", "europepmc", 6) "}",
		ING_KEPT_SAME},
	{"no version of the DOI",
		"{" P("pmid", "1", "europepmc", 1) "," P("doi", "10.1/A.b", "europepmc", 6) "}",
		"{" P("pmid", "1", "europepmc", 1) "," P("doi", "10.1/A", "europepmc", 6) "}",
		ING_KEPT_OTHER_LOSES},
	{"the new one was not confirmed",
		"{" P("pmid", "1", "europepmc", 1) "," P("doi", "10.1/A", "europepmc", 6) "}",
		"{" P("pmid", "1", "external", 1) "," P("doi", "10.1/B", "external", 6) "}",
		ING_KEPT_OTHER_STAYS},
	{"neither was confirmed",
		"{" P("pmid", "1", "external", 1) "," P("doi", "10.1/A", "external", 6) "}",
		"{" P("pmid", "1", "external", 1) "," P("doi", "10.1/B", "external", 6) "}",
		ING_KEPT_OTHER_LOSES},
};

static void identifiers_say_what_is_one_publication(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(relations); i++) {
		json_t *kept = json(relations[i].kept);
		json_t *fresh = json(relations[i].fresh);
		if (ing_kept_relation(kept, fresh) != relations[i].want)
			fail_msg("%s", relations[i].name);
		json_decref(kept);
		json_decref(fresh);
	}
}

static const struct {
	const char *name, *kept, *fresh, *path, *want; /* content of a part afterwards */
} parts[] = {
	{"a better type", "{" P("title", "old", "citation", 9) "}",
		"{" P("title", "new", "europepmc", 9) "}", "title", "new"},
	{"a worse type", "{" P("title", "old", "europepmc", 9) "}",
		"{" P("title", "new", "webpage", 9) "}", "title", "old"},
	{"a failed fetch", "{" P("abstract", "old", "webpage", 300) "}", "{}", "abstract", "old"},
	{"an empty part", "{" P("abstract", "old", "webpage", 300) "}",
		"{" P("abstract", "new", "europepmc", 0) "}", "abstract", "old"},
	{"too short to be used", "{" P("abstract", "old", "citation", 300) "}",
		"{" P("abstract", "new", "europepmc", 100) "}", "abstract", "old"},
	{"long enough at last", "{" P("abstract", "old", "europepmc", 100) "}",
		"{" P("abstract", "new", "citation", 300) "}", "abstract", "new"},
	{"of the same type, corrected", "{" P("fulltext", "old", "doi", 9000) "}",
		"{" P("fulltext", "new", "doi", 8000) "}", "fulltext", "new"},
	{"of the same type, both too short", "{" P("abstract", "old", "doi", 90) "}",
		"{" P("abstract", "new", "doi", 80) "}", "abstract", "old"},
	{"a teaser of another source", "{" P("fulltext", "old", "europepmc_xml", 9000) "}",
		"{" P("fulltext", "new", "doi", 2500) "}", "fulltext", "old"},
	{"a longer one of another source", "{" P("fulltext", "old", "doi", 2500) "}",
		"{" P("fulltext", "new", "europepmc_xml", 9000) "}", "fulltext", "new"},
	{"a confirmed identifier stays", "{" P("doi", "10.1/A.2", "europepmc", 8) "}",
		"{" P("doi", "10.1/A", "external", 6) "}", "doi", "10.1/A.2"},
	{"a part of no known type", "{" P("title", "old", "telepathy", 9) "}",
		"{" P("title", "new", "webpage", 9) "}", "title", "new"},
};

static void better_parts_stay(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++) {
		json_t *kept = json(parts[i].kept);
		json_t *fresh = json(parts[i].fresh);
		json_t *both = ing_publication_merged(kept, fresh, ING_KEEP_WHOLE, &rules);
		const char *got =
			ing_json_get_text(json_object_get(both, parts[i].path), "content");
		if (got == NULL || strcmp(got, parts[i].want) != 0)
			fail_msg("%s: %s", parts[i].name, got);
		json_decref(kept);
		json_decref(fresh);
		json_decref(both);
	}
}

#define FIELDS                                                                                     \
	"'journal_title':'J','oa':false,'citationsCount':5,'authors':[{'name':'A'}],"              \
	"'visitedSites':[{'url':'https://a.example/'}],"                                           \
	"'fields':{'journal_title':{'type':'doi'},'oa':{'type':'oadoi'}},'resources':[1]"

static void the_match_is_that_of_the_full_text(void **state)
{
	(void)state;
	static const char *const fresh[] = {"{" P("fulltext", "x", "pdf_doi", 9000) ",'match':2}",
		"{" P("fulltext", "x", "europepmc_xml", 9000) ",'match':2}", "{'match':null}"};
	for (size_t i = 0; i < 3; i++) {
		json_t *a = json("{" P("fulltext", "x", "doi", 8000) ",'match':1}");
		json_t *b = json(fresh[i]);
		json_t *both = ing_publication_merged(a, b, ING_KEEP_WHOLE, &rules);
		assert_int_equal(ing_json_get_number(both, "match"), i == 1 ? 2 : 1);
		json_decref(a);
		json_decref(b);
		json_decref(both);
	}
}

static void fields_are_the_newest_that_are_known(void **state)
{
	(void)state;
	json_t *kept = json("{" FIELDS "}");
	json_t *fresh =
		json("{'journal_title':null,'oa':true,'authors':[],'citationsCount':7,"
		     "'visitedSites':[{'url':'https://b.example/'},{'url':'https://a.example/'}],"
		     "'fields':{'oa':{'type':'europepmc'}},'resources':[2],'new':1}");
	json_t *both = ing_publication_merged(kept, fresh, ING_KEEP_WHOLE, &rules);
	json_t *want =
		json("{'journal_title':'J','oa':true,'authors':[{'name':'A'}],'citationsCount':7,"
		     "'visitedSites':[{'url':'https://a.example/'},{'url':'https://b.example/'}],"
		     "'fields':{'oa':{'type':'europepmc'},'journal_title':{'type':'doi'}},"
		     "'resources':[2],'new':1}");
	const char *key;
	json_t *value;
	json_object_foreach (want, key, value) {
		if (!json_equal(json_object_get(both, key), value))
			fail_msg("%s", key);
	}
	json_decref(kept);
	json_decref(fresh);
	json_decref(both);
	json_decref(want);
}

static void a_record_and_itself_are_the_record(void **state)
{
	(void)state;
	static const char *const records[] = {"{}", "{" FIELDS "," P("title", "t", "doi", 4) "}"};
	for (size_t i = 0; i < 2; i++) {
		json_t *text = json(records[i]);
		json_t *record = ing_publication_settled(text);
		ing_kept_first(record, ING_KEEP_IMPORTED);
		json_t *both = ing_publication_merged(record, record, ING_KEEP_IMPORTED, &rules);
		char *want = ing_json_dump(record, NULL);
		char *have = ing_json_dump(both, NULL);
		assert_string_equal(have, want);
		free(want);
		free(have);
		json_decref(text);
		json_decref(record);
		json_decref(both);
	}
}

static void a_record_has_all_members_in_their_order(void **state)
{
	(void)state;
	json_t *record = json("{'resources':[],'title':{'content':'','size':0},'pmid':'nonsense',"
			      "'extra':1,'doi':{'content':'10.1/A','size':6,'type':'doi'}}");
	json_t *settled = ing_publication_settled(record);
	char *text = ing_json_dump(settled, NULL);
	assert_int_equal(
		strncmp(text, "{\"pmid\":null,\"pmcid\":null,\"doi\":{\"content\"", 41), 0);
	assert_non_null(strstr(text, "\"title\":null,\"keywords\":null,\"mesh\":null"));
	assert_non_null(strstr(text,
		"\"empty\":true,\"usable\":false,\"final\":false,"
		"\"totallyFinal\":false,\"fields\":null,\"match\":null,\"resources\":[],"
		"\"extra\":1}"));
	free(text);
	json_decref(record);
	json_decref(settled);
}

static const struct {
	const char *name, *record;
	bool empty, usable, final;
} states[] = {
	{"nothing", "{" P("pmid", "1", "doi", 1) "}", true, false, false},
	{"a short title", "{" P("title", "abc", "doi", 3) "}", false, false, false},
	{"a title", "{" P("title", "abcd", "webpage", 4) "}", false, true, false},
	{"all three",
		"{" P("title", "t", "doi", 4) "," P("abstract", "a", "europepmc", 200) "," P(
			"fulltext", "f", "pmc_xml", 2000) "}",
		false, true, true},
	{"one of a type that is not final",
		"{" P("title", "t", "doi", 4) "," P("abstract", "a", "citation", 200) "," P(
			"fulltext", "f", "pmc_xml", 2000) "}",
		false, true, false},
};

static void the_state_is_that_of_the_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(states); i++) {
		json_t *record = json(states[i].record);
		json_t *settled = ing_publication_settled(record);
		if (ing_json_get_true(settled, "empty") != states[i].empty ||
			ing_json_get_true(settled, "usable") != states[i].usable ||
			ing_json_get_true(settled, "final") != states[i].final)
			fail_msg("%s", states[i].name);
		json_decref(record);
		json_decref(settled);
	}
}

#define DAY INT64_C(86400000)

static const struct {
	const char *name, *kept, *fresh;
	enum ing_keep how;
	int64_t time, retries;
	bool exception;
} counters[] = {
	{"due: it begins anew", "{'fetchTime':86400000,'retryCounter':2,'empty':true}",
		"{'fetchTime':172800000,'fetchException':true}", ING_KEEP_WHOLE, 2 * DAY, 0, true},
	{"a try in between", "{'fetchTime':86400000,'retryCounter':2,'empty':true}",
		"{'fetchTime':86400001}", ING_KEEP_WHOLE, DAY, 3, false},
	{"a part of it does not count",
		"{'fetchTime':86400000,'retryCounter':2,'empty':true,'fetchException':true}",
		"{'fetchTime':172800000}", ING_KEEP_PARTIAL, DAY, 2, true},
	{"imported, older", "{'fetchTime':172800000,'retryCounter':2}",
		"{'fetchTime':86400000,'retryCounter':1}", ING_KEEP_IMPORTED, 2 * DAY, 2, false},
	{"imported, newer", "{'fetchTime':86400000,'retryCounter':2}",
		"{'fetchTime':172800000,'retryCounter':1,'fetchException':true}", ING_KEEP_IMPORTED,
		2 * DAY, 1, true},
	{"a time out of this world", "{'fetchTime':9223372036854775807,'final':true}",
		"{'fetchTime':86400000}", ING_KEEP_WHOLE, 253402300799999, 1, false},
};

static void fetches_are_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(counters); i++) {
		json_t *kept = json(counters[i].kept);
		json_t *fresh = json(counters[i].fresh);
		json_t *both = ing_publication_merged(kept, fresh, counters[i].how, &rules);
		if (ing_json_get_number(both, "fetchTime") != counters[i].time ||
			ing_json_get_number(both, "retryCounter") != counters[i].retries ||
			ing_json_get_true(both, "fetchException") != counters[i].exception)
			fail_msg("%s", counters[i].name);
		json_decref(kept);
		json_decref(fresh);
		json_decref(both);
	}
}

static void part_of_a_publication_is_no_fetch_of_it(void **state)
{
	(void)state;
	json_t *record = json("{'fetchTime':86400000,'retryCounter':7}");
	ing_kept_first(record, ING_KEEP_PARTIAL);
	assert_int_equal(ing_json_get_number(record, "fetchTime"), 0);
	assert_true(json_is_null(json_object_get(record, "fetchTimeHuman")));
	assert_int_equal(ing_json_get_number(record, "retryCounter"), 0);
	json_decref(record);
}

static void shared_identifiers_go_to_one_of_two(void **state)
{
	(void)state;
	json_t *a = json("{" P("pmid", "1", "doi", 1) "," P("doi", "10.1/A", "doi", 6) "}");
	json_t *b = json("{" P("pmid", "1", "doi", 1) "," P("doi", "10.1/B", "doi", 6) "}");
	ing_kept_take_ids(a, b);
	assert_null(ing_kept_id(a, "pmid"));
	assert_string_equal(ing_kept_id(a, "doi"), "10.1/A");
	json_decref(a);
	json_decref(b);
}

#define LONG "Words that are long enough to be of use to somebody, all of them."

static const struct {
	const char *name, *kept, *fresh, *want; /* title afterwards */
} pages[] = {
	{"a final one replaces any", "{'title':'old','content':'" LONG "','statusCode':200}",
		"{'title':'new','content':'" LONG "','statusCode':200}", "new"},
	{"a broken one does not", "{'title':'old','content':'" LONG "','statusCode':200}",
		"{'title':'new','content':'" LONG "','statusCode':404}", "old"},
	{"one that is not final replaces another", "{'title':'old','statusCode':200}",
		"{'title':'new','statusCode':200}", "new"},
	{"an empty one does not", "{'title':'old','statusCode':200}", "{'statusCode':200}", "old"},
	{"one without a status but with a URL is not broken", "{'title':'old'}",
		"{'title':'new','content':'" LONG "','finalUrl':'ftp://a.example/'}", "new"},
};

static void a_better_web_page_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++) {
		json_t *a = json(pages[i].kept);
		json_t *b = json(pages[i].fresh);
		json_t *kept = ing_webpage_settled(a);
		json_t *fresh = ing_webpage_settled(b);
		json_t *both = ing_webpage_merged(kept, fresh, ING_KEEP_WHOLE, &rules);
		if (strcmp(ing_json_get_text(both, "title"), pages[i].want) != 0)
			fail_msg("%s", pages[i].name);
		json_decref(a);
		json_decref(b);
		json_decref(kept);
		json_decref(fresh);
		json_decref(both);
	}
}

static void lengths_of_web_pages_are_in_utf16(void **state)
{
	(void)state;
	json_t *page = json("{'title':'aé😀','content':null,'statusCode':200}");
	json_t *settled = ing_webpage_settled(page);
	assert_int_equal(ing_json_get_number(settled, "titleLength"), 4);
	assert_int_equal(ing_json_get_number(settled, "contentLength"), 0);
	assert_false(ing_json_get_true(settled, "usable"));
	json_decref(page);
	json_decref(settled);
}

/* Whatever addresses a publisher thinks of for each fetch. */
static void of_sites_those_of_the_newest_fetches_stay(void **state)
{
	json_t *record = json_object();
	(void)state;
	for (int fetch = 0; fetch < 30; fetch++) {
		json_t *fresh = json_object(), *sites = json_array();
		for (int i = 0; i < 7; i++)
			json_array_append_new(
				sites, json_pack("{s:o}", "url",
					       json_sprintf("https://a.example/%d/%d", fetch, i)));
		json_array_append_new(sites, json_pack("{s:s}", "url", "https://b.example/"));
		json_object_set_new(fresh, "visitedSites", sites);
		json_t *both = ing_publication_merged(record, fresh, ING_KEEP_WHOLE, &rules);
		json_decref(record);
		json_decref(fresh);
		record = both;
		char *text = json_dumps(json_object_get(record, "visitedSites"), 0);
		assert_non_null(strstr(text, "https://b.example/"));
		free(text);
	}
	const json_t *sites = json_object_get(record, "visitedSites");
	size_t count = json_array_size(sites);
	assert_int_equal(count, 64);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(sites, count - 1), "url")),
		"https://a.example/29/6");
	json_decref(record);
}

static void a_list_of_a_hundred_thousand_sites_is_cut(void **state)
{
	json_t *record = json_object(), *sites = json_array(), *nothing = json_object();
	(void)state;
	for (int i = 0; i < 100000; i++)
		json_array_append_new(
			sites, json_pack("{s:o}", "url", json_sprintf("https://a.example/%d", i)));
	json_object_set_new(record, "visitedSites", sites);
	json_t *both = ing_publication_merged(record, nothing, ING_KEEP_WHOLE, &rules);
	assert_int_equal(json_array_size(json_object_get(both, "visitedSites")), 64);
	json_decref(both);
	json_decref(record);
	json_decref(nothing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identifiers_say_what_is_one_publication),
		cmocka_unit_test(better_parts_stay),
		cmocka_unit_test(of_sites_those_of_the_newest_fetches_stay),
		cmocka_unit_test(a_list_of_a_hundred_thousand_sites_is_cut),
		cmocka_unit_test(the_match_is_that_of_the_full_text),
		cmocka_unit_test(fields_are_the_newest_that_are_known),
		cmocka_unit_test(a_record_and_itself_are_the_record),
		cmocka_unit_test(a_record_has_all_members_in_their_order),
		cmocka_unit_test(the_state_is_that_of_the_parts),
		cmocka_unit_test(fetches_are_counted),
		cmocka_unit_test(part_of_a_publication_is_no_fetch_of_it),
		cmocka_unit_test(shared_identifiers_go_to_one_of_two),
		cmocka_unit_test(a_better_web_page_stays),
		cmocka_unit_test(lengths_of_web_pages_are_in_utf16),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
