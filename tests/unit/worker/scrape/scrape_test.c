/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The parts of the scraping together: what each leaves to the next, what a page without any sense
 * gives, and that a scraper kept from page to page remembers nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rules_helper.h"
#include "worker/model/limits.h"
#include "worker/scrape/publication/meta_schemes.h"
#include "worker/scrape/scrape.h"

#define PAGE "https://site.example/paper/1"

static const char journals_yaml[] = "'site\\.example/paper/': site\n"
				    "---\n"
				    "site:\n"
				    "  title: 'h1:matchText, h1 > b'\n"
				    "  pdf_a: a.dl\n"
				    "  pdf_src: /paper/\n"
				    "  pdf_dst: /pdf/\n"
				    "---\n---\n";

static struct rules_helper rules;
static struct ing_scraper *scraper;

static struct ing_scraped scrape(const char *page, const char *url, bool xml)
{
	struct ing_scraped found;
	const struct ing_scrape_input in = {.url = url,
		.data = page,
		.bytes = strlen(page),
		.xml = xml,
		.want = ING_SCRAPE_ALL,
		.page_type = ING_PART_TYPE_DOI};
	ing_scrape(scraper, &in, &found);
	return found;
}

static int set_up(void **state)
{
	(void)state;
	rules_helper_init(&rules);
	assert_true(rules_helper_load(&rules, ING_RULES_JOURNALS, journals_yaml));
	scraper = ing_scraper_new(rules.rules);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_scraper_free(scraper);
	rules_helper_done(&rules);
	return 0;
}

static void every_key_is_there_whatever_the_page(void **state)
{
	(void)state;
	static const char *const pages[] = {"", "\x01\xff\xfe<<<>", "<p>x", "%PDF-1.4"};
	static const char *const keys[] = {"url", "status", "error_message", "title", "site",
		"webpage_rule", "biblio", "links", "next", "blocked", "platform", "scope",
		"publication", "page_links", "webpage", "word_count"};
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++) {
		for (unsigned xml = 0; xml < 2; xml++) {
			struct ing_scraped found = scrape(pages[i], xml ? NULL : PAGE, xml);
			json_t *o = ing_scraped_json(&found, xml ? NULL : PAGE);
			for (size_t k = 0; k < ING_ARRAY_LEN(keys); k++)
				assert_non_null(json_object_get(o, keys[k]));
			char *text = json_dumps(o, 0);
			assert_non_null(text); /* so it is valid UTF-8 */
			free(text);
			json_decref(o);
		}
	}
}

static void the_site_rule_leads_to_the_pdf_when_nothing_else_does(void **state)
{
	(void)state;
	static const struct {
		const char *page, *next, *link;
	} cases[] = {
		{.page = "<a class=dl href=/d.pdf>get</a>", .next = "https://site.example/d.pdf"},
		{.page = "<a class=dl href=#top>get</a><a class=dl href=/e.pdf>",
			.next = "https://site.example/e.pdf"},
		{.page = "<a class=dl href=mailto:a@b.example>get</a>",
			.next = "https://site.example/pdf/1"},
		{.page = "<meta name=citation_pdf_url content=/c.pdf><a class=dl href=/d.pdf>get</a>",
			.link = "https://site.example/c.pdf"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_scraped found = scrape(cases[i].page, PAGE, false);
		if (cases[i].next == NULL) {
			assert_null(found.next.url);
		} else {
			assert_string_equal(found.next.url, cases[i].next);
			assert_string_equal(found.next.technique, "journal:site");
			assert_true(found.next.is_pdf);
		}
		if (cases[i].link != NULL)
			assert_string_equal(found.links[ING_LINK_PDF].url, cases[i].link);
	}
	assert_null(
		scrape("<a class=dl href=/d.pdf>get</a>", "https://b.example/", false).next.url);
}

/* links.pdf and page_links come from one <meta>, through two hands. */
static void an_address_is_read_in_one_way(void **state)
{
	(void)state;
	static const char *const values[] = {"http:foo", "\xc2\xa0http:foo\xe3\x80\x80", "//foo/x",
		"foo?y z", "\x01/foo ", "HTTP://Foo/../x", "http:/foo", "fo\to"};
	for (size_t i = 0; i < ING_ARRAY_LEN(values); i++) {
		char page[200];
		snprintf(page, sizeof(page), "<meta name=citation_pdf_url content=\"%s\">",
			values[i]);
		struct ing_scraped found = scrape(page, "http://h.example/a/b", false);
		assert_non_null(found.links[ING_LINK_PDF].url);
		assert_int_equal(found.publication->links.count, 1);
		assert_string_equal(
			found.publication->links.items[0].url, found.links[ING_LINK_PDF].url);
	}
}

static void a_rule_that_raises_text_changes_nothing_for_the_next_part(void **state)
{
	(void)state;
	struct ing_scraped found =
		scrape("<title>t</title><h1>A <b>bold</b> claim</h1>", PAGE, false);
	assert_string_equal(found.publication->parts.items[ING_PART_TITLE].content.text, "A");
	assert_string_equal(found.webpage->content.text, "A bold claim");
}

static void nothing_is_kept_from_the_page_before(void **state)
{
	(void)state;
	scrape("<title>first</title><meta name=citation_doi content=10.5555/a><h1>One</h1>"
	       "<a class=dl href=/d.pdf>",
		PAGE, false);
	struct ing_scraped found = scrape("<p>x", NULL, false);
	assert_null(found.title);
	assert_null(found.site);
	assert_null(found.next.url);
	assert_false(found.has_biblio);
	assert_true(json_is_null(json_object_get(found.biblio, "doi")));
	assert_int_equal(found.word_count, 1);
}

static void xml_that_is_not_well_formed_gives_its_beginning_and_the_place(void **state)
{
	(void)state;
	struct ing_scraped found =
		scrape("<article>\n<title>T</title>\n<p>x</q></article>", NULL, true);
	assert_int_equal(found.end, ING_SCRAPE_PART);
	assert_non_null(found.detail);
	assert_string_equal(found.title, "T");
}

static void a_page_over_the_ceiling_is_not_read(void **state)
{
	(void)state;
	struct ing_scraped found;
	const struct ing_scrape_input in = {.url = PAGE,
		.data = "<title>x",
		.bytes = ING_MAX_SCRAPE_BYTES + 1,
		.want = ING_SCRAPE_ALL,
		.page_type = ING_PART_TYPE_DOI};
	ing_scrape(scraper, &in, &found);
	assert_int_equal(found.end, ING_SCRAPE_TOO_LARGE);
	assert_null(found.title);
	json_t *o = ing_scraped_json(&found, PAGE);
	assert_string_equal(json_string_value(json_object_get(o, "status")), "too-large");
	json_decref(o);
}

static void a_title_is_the_pages_own_not_an_images(void **state)
{
	(void)state;
	struct ing_scraped found =
		scrape("<body><svg><title>icon</title></svg><title> a\n  b </title>", PAGE, false);
	assert_string_equal(found.title, "a b");
}

static void a_site_may_be_named(void **state)
{
	(void)state;
	static const char page[] = "<h1>A <b>bold</b> claim</h1>";
	static const struct {
		const char *url, *site, *want;
	} cases[] = {{"http://127.0.0.1/mirror", "site", "site"}, {PAGE, "nobody", "site"},
		{"http://127.0.0.1/mirror", "nobody", NULL}, {NULL, "site", "site"}};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_scraped found;
		const struct ing_scrape_input in = {.url = cases[i].url,
			.site = cases[i].site,
			.data = page,
			.bytes = strlen(page),
			.want = ING_SCRAPE_PUBLICATION,
			.page_type = ING_PART_TYPE_LINK};
		ing_scrape(scraper, &in, &found);
		if (cases[i].want == NULL)
			assert_null(found.site);
		else
			assert_string_equal(found.site, cases[i].want);
		const struct ing_part *title = &found.publication->parts.items[ING_PART_TITLE];
		assert_int_equal(
			title->type, cases[i].want == NULL ? ING_PART_TYPE_NA : ING_PART_TYPE_LINK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_there_whatever_the_page),
		cmocka_unit_test(the_site_rule_leads_to_the_pdf_when_nothing_else_does),
		cmocka_unit_test(an_address_is_read_in_one_way),
		cmocka_unit_test(a_rule_that_raises_text_changes_nothing_for_the_next_part),
		cmocka_unit_test(nothing_is_kept_from_the_page_before),
		cmocka_unit_test(xml_that_is_not_well_formed_gives_its_beginning_and_the_place),
		cmocka_unit_test(a_page_over_the_ceiling_is_not_read),
		cmocka_unit_test(a_title_is_the_pages_own_not_an_images),
		cmocka_unit_test(a_site_may_be_named),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
