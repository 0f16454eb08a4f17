/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * JSON-LD in pages: forms in which sites describe publications, what it adds to <meta> elements,
 * JSON that is not quite JSON, and JSON made to hurt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "view_helper.h"
#include "worker/model/limits.h"
#include "worker/scrape/biblio/biblio.h"
#include "common/data/json_lenient.h"

#define M(name, content) "<meta name='" name "' content='" content "'>"
#define LD(json) "<script type='application/ld+json'>" json "</script>"

static struct view_helper helper;

static const struct {
	const char *name;
	const char *page;
	const char *want; /* JSON object: keys that must be so */
} cases[] = {
	{"article of a journal",
		LD("{\"@context\":\"http://schema.org\",\"@type\":\"ScholarlyArticle\","
		   "\"headline\":\"On <i>bees</i>\",\"datePublished\":\"2019-04-22\","
		   "\"description\":\"Bees.\",\"inLanguage\":\"en\",\"pagination\":\"12-19\","
		   "\"identifier\":{\"@type\":\"PropertyValue\",\"propertyID\":\"doi\","
		   "\"value\":\"10.1234/b.5\"},\"keywords\":[\"bees\",\"cities\"],"
		   "\"license\":\"http://creativecommons.org/licenses/by/4.0/\","
		   "\"publisher\":{\"@type\":\"Organization\",\"name\":\"Pub\"},"
		   "\"isPartOf\":{\"@type\":\"PublicationIssue\",\"issueNumber\":\"4\","
		   "\"isPartOf\":{\"@type\":[\"PublicationVolume\"],\"volumeNumber\":14,"
		   "\"isPartOf\":{\"@type\":\"Periodical\",\"name\":\"J. Bees\","
		   "\"issn\":[\"1932-6203\"]}}},"
		   "\"author\":[{\"@type\":\"Person\",\"name\":\"Ada Ant\",\"givenName\":\"Ada\","
		   "\"familyName\":\"Ant\",\"sameAs\":\"https://orcid.org/0000-0002-1825-0097\","
		   "\"affiliation\":{\"@type\":\"Organization\",\"name\":\"U 1\"},"
		   "\"email\":\"mailto:a@u.example\"},\"Bob Bee\"],"
		   "\"citation\":[\"Ref 1\",{\"@type\":\"CreativeWork\",\"name\":\"Ref 2\"}]}"),
		"{\"title\":\"On bees\",\"release_date\":\"2019-04-22\",\"abstract\":\"Bees.\","
		"\"lang\":\"en\",\"first_page\":\"12\",\"last_page\":\"19\",\"doi\":\"10.1234/b.5\","
		"\"keywords\":[\"bees\",\"cities\"],\"publisher\":\"Pub\",\"issue\":\"4\","
		"\"license\":\"http://creativecommons.org/licenses/by/4.0/\",\"volume\":\"14\","
		"\"container_name\":\"J. Bees\",\"container_issn\":\"1932-6203\","
		"\"release_type\":\"article-journal\",\"raw_references\":[\"Ref 1\",\"Ref 2\"],"
		"\"contrib_names\":[\"Ada Ant\",\"Bob Bee\"],\"contribs\":["
		"{\"name\":\"Ada Ant\",\"given_name\":\"Ada\",\"surname\":\"Ant\","
		"\"orcid\":\"0000-0002-1825-0097\",\"affiliations\":[\"U 1\"],"
		"\"email\":\"a@u.example\"},{\"name\":\"Bob Bee\",\"given_name\":null,"
		"\"surname\":null,\"orcid\":null,\"affiliations\":[],\"email\":null}]}"},
	{"page with a main entity",
		LD("{\"@type\":\"WebPage\",\"name\":\"Site\",\"mainEntity\":"
		   "{\"@type\":\"ScholarlyArticle\",\"headline\":\"A\",\"isPartOf\":"
		   "{\"@type\":[\"Periodical\",\"PublicationVolume\"],\"name\":\"J\","
		   "\"volumeNumber\":\"3\"}}}"),
		"{\"title\":\"A\",\"container_name\":\"J\",\"volume\":\"3\"}"},
	{"graph with references by id",
		LD("{\"@graph\":[{\"@type\":\"WebSite\",\"name\":\"S\",\"@id\":\"#s\"},"
		   "{\"@type\":\"Article\",\"headline\":\"A\",\"author\":{\"@id\":\"#p\"},"
		   "\"isPartOf\":{\"@id\":\"#s\"}},"
		   "{\"@type\":\"Person\",\"@id\":\"#p\",\"name\":\"Roe, Jane\"}]}"),
		"{\"title\":\"A\",\"contrib_names\":[\"Roe, Jane\"],\"container_name\":null,"
		"\"release_type\":null}"},
	{"the publication, not what stands before it",
		LD("[{\"@type\":\"NewsArticle\",\"headline\":\"N\"},{\"@type\":\"BreadcrumbList\"},"
		   "{\"@type\":\"http://schema.org/MedicalScholarlyArticle\",\"name\":\"M\"}]"),
		"{\"title\":\"M\"}"},
	{"two scripts",
		LD("{\"@type\":\"Organization\",\"name\":\"O\"}")
			LD("{\"@type\":\"Thesis\",\"name\":\"T\"}"),
		"{\"title\":\"T\",\"release_type\":\"thesis\"}"},
	{"dataset",
		LD("{\"@type\":\"Dataset\",\"name\":\"D\",\"@id\":\"https://doi.org/10.5281/zenodo.1\","
		   "\"creator\":[{\"@type\":\"Person\",\"familyName\":\"Ant\",\"givenName\":\"Ada\","
		   "\"@id\":\"https://orcid.org/0000-0002-1825-0097\"}],"
		   "\"inLanguage\":{\"@type\":\"Language\",\"alternateName\":\"eng\","
		   "\"name\":\"English\"},\"license\":{\"@type\":\"CreativeWork\",\"name\":\"CC\","
		   "\"url\":\"https://cc.example/by\"},\"copyrightYear\":2016}"),
		"{\"title\":\"D\",\"doi\":\"10.5281/zenodo.1\",\"release_type\":\"dataset\","
		"\"lang\":\"eng\",\"license\":\"https://cc.example/by\",\"release_year\":2016,"
		"\"contrib_names\":[\"Ada Ant\"]}"},
	{"book", LD("{\"@type\":\"Book\",\"name\":\"B\",\"isbn\":\"978-3-16-148410-0\"}"),
		"{\"release_type\":\"book\",\"isbn13\":\"9783161484100\"}"},
	{"identifiers as strings",
		LD("{\"@type\":\"Article\",\"identifier\":[\"x\",\"doi:10.1/a\",\"PMC12\","
		   "{\"propertyID\":\"PMID\",\"value\":7}, {\"propertyID\":\"pmid\",\"value\":\"8\"}]}"),
		"{\"doi\":\"10.1/a\",\"pmcid\":\"PMC12\",\"pmid\":\"8\","
		"\"raw_identifiers\":[\"x\",\"doi:10.1/a\",\"PMC12\",\"7\",\"8\"]}"},

	/* beside <meta> */
	{"meta first, gaps filled",
		M("citation_title", "M") M("citation_volume", "1")
			LD("{\"@type\":\"ScholarlyArticle\",\"headline\":\"L\",\"volumeNumber\":2,"
			   "\"issueNumber\":3}"),
		"{\"title\":\"M\",\"volume\":\"1\",\"issue\":\"3\"}"},
	{"a journal rather than the site's name",
		"<meta property=og:site_name content=Site>" LD(
			"{\"@type\":\"Article\",\"isPartOf\":{\"@type\":\"Periodical\","
			"\"name\":\"J\"}}"),
		"{\"container_name\":\"J\"}"},
	{"the site's name for want of a journal",
		"<meta property=og:site_name content=Site>" LD("{\"@type\":\"Article\"}"),
		"{\"container_name\":\"Site\"}"},
	{"people enriched",
		M("citation_author", "Ant, Ada") M("citation_author", "Bob Bee")
			LD("{\"@type\":\"ScholarlyArticle\",\"author\":["
			   "{\"name\":\"Bob Bee\",\"sameAs\":[\"https://b.example\","
			   "\"https://orcid.org/0000-0002-1825-0097\"]},"
			   "{\"name\":\"Ada Ant\",\"affiliation\":[\"U 1\",{\"name\":\"U 2\"}]}]}"),
		"{\"contrib_names\":[\"Ant, Ada\",\"Bob Bee\"],\"contribs\":["
		"{\"name\":\"Ant, Ada\",\"given_name\":\"Ada\",\"surname\":\"Ant\",\"orcid\":null,"
		"\"affiliations\":[\"U 1\",\"U 2\"],\"email\":null},{\"name\":\"Bob Bee\","
		"\"given_name\":null,\"surname\":null,\"orcid\":\"0000-0002-1825-0097\","
		"\"affiliations\":[],\"email\":null}]}"},
	{"year completed",
		M("citation_date", "2018")
			LD("{\"@type\":\"Article\",\"datePublished\":\"2018-02-13T00:00Z\"}"),
		"{\"release_date\":\"2018-02-13\",\"raw_date\":\"2018\"}"},
	{"year of another stays",
		M("citation_date", "2018")
			LD("{\"@type\":\"Article\",\"datePublished\":\"2019-02-13\"}"),
		"{\"release_date\":null,\"release_year\":2018}"},

	/* not quite JSON */
	{"raw line breaks", LD("{\"@type\":\"Article\",\"headline\":\"A\nB\tC\"}"),
		"{\"title\":\"A B C\"}"},
	{"bad escapes", LD("{\"@type\":\"Article\",\"headline\":\"A\\'s \\x \\ud800 \\u0000.\"}"),
		"{\"title\":\"A's x \xef\xbf\xbd \xef\xbf\xbd.\"}"},
	{"good escapes",
		LD("{\"@type\":\"Article\",\"headline\":\"\\u00e9 \\ud83d\\ude00 \\\"q\\\"\n\"}"),
		"{\"title\":\"\xc3\xa9 \xf0\x9f\x98\x80 \\\"q\\\"\"}"},
	{"commas too many",
		LD("{\"@type\":\"Article\",\"headline\":\"A, ]\",\"keywords\":[\"a\", ],}"),
		"{\"title\":\"A, ]\",\"keywords\":[\"a\"]}"},
	{"marks around it", LD("\n//<![CDATA[\n{\"@type\":\"Article\",\"headline\":\"A\"}\n//]]>"),
		"{\"title\":\"A\"}"},
	{"comment around it", LD("<!-- {\"@type\":\"Article\",\"headline\":\"A\"}; -->"),
		"{\"title\":\"A\"}"},
	{"the same key twice", LD("{\"@type\":\"Article\",\"headline\":\"A\",\"headline\":\"B\"}"),
		"{\"title\":\"B\"}"},
	{"entities in strings", LD("{\"@type\":\"Article\",\"headline\":\"A &amp; B\"}"),
		"{\"title\":\"A & B\"}"},
	{"type with parameter",
		"<script type=' Application/LD+JSON; charset=utf-8'>{\"@type\":\"Article\","
		"\"headline\":\"A\"}</script>",
		"{\"title\":\"A\"}"},

	/* nothing */
	{"another type of script",
		"<script type=application/json>{\"@type\":\"Article\",\"name\":\"A\"}</script>",
		"{\"title\":null}"},
	{"no publication", LD("{\"@type\":\"WebSite\",\"name\":\"A\"}"), "{\"title\":null}"},
	{"values of no use",
		LD("{\"@type\":[\"Article\",7,null],\"headline\":true,\"author\":[null,7,{},[]],"
		   "\"isPartOf\":[[],null,\"x\",{}],\"keywords\":{},\"citation\":[[],{}],"
		   "\"identifier\":[null,{\"value\":{}}],\"pagination\":\"\","
		   "\"datePublished\":[],\"license\":{},\"name\":1.5}"),
		"{\"title\":null,\"contribs\":null,\"keywords\":null,\"raw_references\":null}"},
	{"refers to itself",
		LD("{\"@type\":\"Article\",\"@id\":\"#a\",\"headline\":{\"@id\":\"#a\"},"
		   "\"isPartOf\":{\"@id\":\"#a\"},\"author\":{\"@id\":\"#a\"}}"),
		"{\"contribs\":null}"},
	{"empty", LD(""), "{\"title\":null}"},
	{"not JSON at all", LD("var x = 1;"), "{\"title\":null}"},
	{"cut short", LD("{\"@type\":\"Article\",\"headline\":\"A"), "{\"title\":null}"},
	{"ends in an escape", LD("{\"@type\":\"Article\",\"headline\":\"A\n\\"),
		"{\"title\":null}"},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool any;
		const char *key;
		json_t *value, *want = json_loads(cases[i].want, 0, NULL);
		json_t *got = ing_biblio_json(
			view_helper_read(&helper, cases[i].page, strlen(cases[i].page), NULL),
			&any);
		if (want == NULL)
			fail_msg("%s: bad case", cases[i].name);
		json_object_foreach (want, key, value) {
			if (json_equal(json_object_get(got, key), value))
				continue;
			char *text = json_dumps(json_object_get(got, key), JSON_ENCODE_ANY);
			fail_msg("%s, %s: %s", cases[i].name, key, text == NULL ? "-" : text);
		}
		json_decref(want);
		json_decref(got);
	}
}

/* A script of front, count times piece, back. */
static json_t *read_flood(const char *front, const char *piece, size_t count, const char *back)
{
	struct ing_buf page;
	bool any;
	ing_buf_init(&page, (size_t)32 << 20);
	ing_buf_add_str(&page, "<script type=application/ld+json>");
	ing_buf_add_str(&page, front);
	for (size_t i = 0; i < count; i++)
		ing_buf_add_str(&page, piece);
	ing_buf_add_str(&page, back);
	assert_false(page.failed);
	const struct ing_view *v = view_helper_read(&helper, page.data, page.len, NULL);
	clock_t start = clock();
	json_t *o = ing_biblio_json(v, &any);
	assert_true((clock() - start) / CLOCKS_PER_SEC < 10);
	char *text = json_dumps(o, JSON_COMPACT);
	assert_true(strlen(text) <= ING_MAX_BIBLIO_BYTES);
	free(text);
	ing_buf_done(&page);
	return o;
}

static void test_floods(void **state)
{
	static const char head[] = "{\"@type\":\"Article\",\"headline\":\"A\",\"author\":[";
	/* clang-format off */
	static const struct {
		const char *front, *piece;
		size_t count;
		const char *back;
		bool read; /* is it within bounds? */
	} floods[] = {
		{.front = head, .piece = "[", .count = 100000, .back = ""},
		{.front = head, .piece = "{\"a\":", .count = 100000, .back = "1"},
		{.front = head, .piece = "{},", .count = 300000, .back = "{}]}"},
		{.front = head, .piece = "{},", .count = 20000, .back = "{}]}", .read = true},
		{.front = head, .piece = "{\"name\":\"Ada Ant\"},", .count = 20000, .back = "{}]}",
			.read = true},
		{.front = head, .piece = "{\"@id\":\"#b\"},", .count = 20000, .back = "{}]}",
			.read = true},
		{.front = head, .piece = "\n", .count = 900000, .back = "]}", .read = true},
		{.front = head, .piece = "\n", .count = 1100000, .back = "]}"},
		{.front = "{\"@type\":\"Article\",\"headline\":\"A\",\"keywords\":\"",
			.piece = "a,b;", .count = 200000, .back = "\"}", .read = true},
		{.front = "{\"@type\":\"Article\",\"headline\":\"A\",\"citation\":[",
			.piece = "\"r\",", .count = 50000, .back = "\"r\"]}", .read = true},
		{.front = "{\"@type\":\"Article\",\"headline\":\"A\",\"x\":\"", .piece = "\\'\n",
			.count = 200000, .back = "\"}", .read = true},
		{.front = "{\"@type\":\"Article\",\"headline\":\"A\",\"x\":[",
			.piece = "1,          ", .count = 50000, .back = "]}", .read = true},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
		json_t *o = read_flood(
			floods[i].front, floods[i].piece, floods[i].count, floods[i].back);
		bool read = json_is_string(json_object_get(o, "title"));
		if (read != floods[i].read)
			fail_msg("flood %zu: %d", i, read);
		json_decref(o);
	}
}

/* A long text that is named again and again: the work is bounded, not only the result. */
static void test_amplified(void **state)
{
	struct ing_buf front;
	(void)state;
	ing_buf_init(&front, (size_t)1 << 20);
	ing_buf_add_str(&front, "[{\"@id\":\"#b\",\"name\":\"");
	for (size_t i = 0; i < 60000; i++)
		ing_buf_add_char(&front, 'x');
	ing_buf_add_str(&front, "\"},{\"@type\":\"Article\",\"headline\":\"A\",\"citation\":[");
	json_t *o = read_flood(ing_buf_str(&front), "{\"@id\":\"#b\"},", 40000, "{}]}]");
	assert_string_equal(json_string_value(json_object_get(o, "title")), "A");
	assert_true(json_array_size(json_object_get(o, "raw_references")) > 0);
	json_decref(o);
	ing_buf_done(&front);
}

static void test_many_scripts(void **state)
{
	struct ing_buf page;
	bool any;
	(void)state;
	ing_buf_init(&page, (size_t)8 << 20);
	for (size_t i = 0; i < 20000; i++)
		ing_buf_add_str(&page, LD("{\"@type\":\"WebSite\"}"));
	const struct ing_view *v = view_helper_read(&helper, page.data, page.len, NULL);
	json_t *o = ing_biblio_json(v, &any);
	assert_false(any);
	json_decref(o);
	ing_buf_done(&page);
}

static void test_mender(void **state)
{
	size_t left = 10;
	(void)state;
	json_t *o = ing_json_parse_lenient("[1,2,3]", 7, 100, 4, &left);
	assert_int_equal(json_array_size(o), 3);
	assert_int_equal(left, 6);
	json_decref(o);
	assert_null(ing_json_parse_lenient("[1,2,3,4,5,6,7]", 15, 100, 4, &left));
	assert_null(ing_json_parse_lenient("[[[[[]]]]]", 10, 100, 4, &left));
	assert_null(ing_json_parse_lenient("[1]", 3, 2, 4, &left));
	assert_null(ing_json_parse_lenient("", 0, 100, 4, &left));
	assert_null(ing_json_parse_lenient("\"\xff\"", 3, 100, 4, &left));
	assert_int_equal(left, 6);
}

static int set_up(void **state)
{
	(void)state;
	view_helper_init(&helper);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	view_helper_done(&helper);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_floods),
		cmocka_unit_test(test_amplified),
		cmocka_unit_test(test_many_scripts),
		cmocka_unit_test(test_mender),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
