/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Types and their order, when a part is replaced, and the list of links.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/scrape/publication/fulltext_links.h"
#include "worker/scrape/publication/parts.h"

static struct ing_arena arena;
static struct ing_parts parts;

static int set_up(void **state)
{
	(void)state;
	ing_arena_init(&arena);
	ing_parts_init(&parts, &arena);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_arena_done(&arena);
	return 0;
}

static void test_types(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ING_PART_TYPES_; i++) {
		enum ing_part_type t = (enum ing_part_type)i;
		assert_non_null(ing_part_type_name(t));
		assert_false(ing_part_type_better(t, t));
		assert_int_equal(ing_part_type_final(t), i < 10);
		/* The order is total but for the final ones. */
		for (unsigned j = 0; j < i; j++)
			assert_int_equal(ing_part_type_better((enum ing_part_type)j, t),
				!(i < 10 && j < 10));
		/* A PDF's type is its own counterpart, and never final. */
		enum ing_part_type pdf = ing_part_type_pdf(t);
		assert_int_equal(ing_part_type_pdf(pdf), pdf);
	}
	assert_string_equal(ing_part_type_name(ING_PART_TYPE_LINK_CITATION), "link_citation");
	assert_int_equal(ing_part_type_pdf(ING_PART_TYPE_DOI), ING_PART_TYPE_PDF_DOI);
	assert_int_equal(ing_part_type_pdf(ING_PART_TYPE_LINK_OADOI), ING_PART_TYPE_PDF_OADOI);
	assert_int_equal(ing_part_type_pdf(ING_PART_TYPE_PMC_HTML), ING_PART_TYPE_PDF_PMC);
	assert_int_equal(ing_part_type_pdf(ING_PART_TYPE_LINK_META), ING_PART_TYPE_PDF_META);
	assert_int_equal(ing_part_type_pdf(ING_PART_TYPE_CITATION), ING_PART_TYPE_CITATION);
}

/* Offers one after the other to one part. */
static const struct {
	const char *name;
	enum ing_part_key key;
	/* clang-format off */
	struct {
		enum ing_part_type type;
		const char *text;
		bool taken;
	} offers[4];
	const char *want;
	enum ing_part_type want_type;
} offer_cases[] = {
	{.name = "nothing is nothing", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_DOI, " \n", false}}, .want = NULL,
		.want_type = ING_PART_TYPE_NA},
	{.name = "trimmed", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_META, " a title\n", true}}, .want = "a title",
		.want_type = ING_PART_TYPE_META},
	{.name = "better replaces, also by less", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_META, "a long title", true}, {ING_PART_TYPE_DC, "short", true}},
		.want = "short", .want_type = ING_PART_TYPE_DC},
	{.name = "worse does not", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_DC, "short", true}, {ING_PART_TYPE_META, "a long title", false}},
		.want = "short", .want_type = ING_PART_TYPE_DC},
	{.name = "equal does not", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_DC, "short", true}, {ING_PART_TYPE_DC, "a long title", false}},
		.want = "short", .want_type = ING_PART_TYPE_DC},
	{.name = "final and usable stays", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_DOI, "four", true}, {ING_PART_TYPE_EUROPEPMC, "a long title", false}},
		.want = "four", .want_type = ING_PART_TYPE_DOI},
	{.name = "final but too short gives way to longer", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_DOI, "abc", true}, {ING_PART_TYPE_LINK, "ab", false}, {ING_PART_TYPE_LINK, "abcd", true}},
		.want = "abcd", .want_type = ING_PART_TYPE_LINK},
	{.name = "but not to longer that is not final", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_DOI, "abc", true}, {ING_PART_TYPE_CITATION, "a long title", false}},
		.want = "abc", .want_type = ING_PART_TYPE_DOI},
	{.name = "sizes are UTF-16's: two surrogate pairs make four", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_DOI, "\xf0\x9d\x90\x80\xf0\x9d\x90\x81", true}, {ING_PART_TYPE_LINK, "longer", false}},
		.want = "\xf0\x9d\x90\x80\xf0\x9d\x90\x81", .want_type = ING_PART_TYPE_DOI},
	{.name = "not bytes: three letters of nine bytes are too short", .key = ING_PART_TITLE,
		.offers = {{ING_PART_TYPE_DOI, "\xe4\xb8\x80\xe4\xb8\x81\xe4\xb8\x82", true}, {ING_PART_TYPE_LINK, "longer", true}},
		.want = "longer", .want_type = ING_PART_TYPE_LINK},
	{.name = "a page's text is never final", .key = ING_PART_FULLTEXT,
		.offers = {{ING_PART_TYPE_WEBPAGE, "page", true}, {ING_PART_TYPE_PDF_META, "pdf", true}},
		.want = "pdf", .want_type = ING_PART_TYPE_PDF_META},
};
/* clang-format on */

static void test_offers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(offer_cases); i++) {
		enum ing_part_key key = offer_cases[i].key;
		ing_parts_init(&parts, &arena);
		for (size_t j = 0; j < 4 && offer_cases[i].offers[j].text != NULL; j++) {
			const char *s = offer_cases[i].offers[j].text;
			bool taken = ing_parts_offer(
				&parts, key, offer_cases[i].offers[j].type, s, strlen(s));
			if (taken != offer_cases[i].offers[j].taken)
				fail_msg("%s: offer %zu", offer_cases[i].name, j);
		}
		assert_int_equal(parts.items[key].type, offer_cases[i].want_type);
		if (offer_cases[i].want == NULL)
			assert_int_equal(parts.items[key].size, 0);
		else
			assert_string_equal(parts.items[key].content.text, offer_cases[i].want);
	}
}

static void test_thresholds(void **state)
{
	static const struct {
		enum ing_part_key key;
		size_t least;
	} cases[] = {{ING_PART_TITLE, 4}, {ING_PART_ABSTRACT, 200}, {ING_PART_FULLTEXT, 2000}};
	char text[2000];
	(void)state;
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		ing_parts_init(&parts, &arena);
		assert_true(ing_parts_offer(
			&parts, cases[i].key, ING_PART_TYPE_DOI, text, cases[i].least - 1));
		assert_false(ing_part_usable(&parts, cases[i].key));
		assert_true(ing_parts_offer(
			&parts, cases[i].key, ING_PART_TYPE_DOI, text, cases[i].least));
		assert_true(ing_part_usable(&parts, cases[i].key));
		assert_true(ing_part_is_final(&parts, cases[i].key));
	}
	ing_parts_init(&parts, &arena);
	ing_parts_offer(&parts, ING_PART_FULLTEXT, ING_PART_TYPE_WEBPAGE, text, sizeof(text));
	assert_false(ing_part_usable(&parts, ING_PART_FULLTEXT));
}

static void test_lists(void **state)
{
	const struct ing_text_value list[] = {
		{" a ", 3}, {"b", 1}, {"", 0}, {"a", 1}, {" ", 1}, {"A", 1}};
	(void)state;
	assert_false(ing_parts_offer_list(&parts, ING_PART_KEYWORDS, ING_PART_TYPE_DC, list, 0));
	assert_false(
		ing_parts_offer_list(&parts, ING_PART_KEYWORDS, ING_PART_TYPE_DC, list + 2, 1));
	assert_true(ing_parts_offer_list(&parts, ING_PART_KEYWORDS, ING_PART_TYPE_DC, list, 1));
	/* One is not usable, but nothing worse replaces it. */
	assert_false(ing_part_usable(&parts, ING_PART_KEYWORDS));
	assert_false(ing_parts_offer_list(&parts, ING_PART_KEYWORDS, ING_PART_TYPE_META, list, 6));
	assert_true(
		ing_parts_offer_list(&parts, ING_PART_KEYWORDS, ING_PART_TYPE_CITATION, list, 6));
	json_t *j = ing_part_json(&parts, ING_PART_KEYWORDS);
	char *text = json_dumps(j, JSON_COMPACT);
	assert_string_equal(text, "{\"list\":[\"a\",\"b\",\"A\"],\"type\":\"citation\"}");
	free(text);
	json_decref(j);
	/* A final one of two is final. */
	assert_true(ing_parts_offer_list(&parts, ING_PART_KEYWORDS, ING_PART_TYPE_DOI, list, 2));
	assert_false(ing_parts_offer_list(&parts, ING_PART_KEYWORDS, ING_PART_TYPE_DOI, list, 6));
}

static void test_too_many_keywords(void **state)
{
	enum { COUNT = 20000 };
	struct ing_text_value *list = ing_alloc(COUNT * sizeof(*list));
	char *text = ing_alloc(COUNT * 6);
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		for (size_t j = 0, rest = i; j < 6; j++, rest /= 10)
			text[i * 6 + j] = (char)('0' + rest % 10);
		list[i] = (struct ing_text_value){.text = text + i * 6, .bytes = 6};
	}
	assert_true(ing_parts_offer_list(&parts, ING_PART_KEYWORDS, ING_PART_TYPE_DC, list, COUNT));
	assert_int_equal(parts.items[ING_PART_KEYWORDS].size, ING_MAX_KEYWORDS);
	free(list);
	free(text);
}

/* clang-format off */
static const struct {
	const char *name, *old, *offered, *url, *want;
	enum ing_part_type old_type, type, want_type;
} id_cases[] = {
	{.name = "the first", .offered = "10.1/A", .want = "10.1/A", .old_type = ING_PART_TYPE_NA,
		.type = ING_PART_TYPE_META, .want_type = ING_PART_TYPE_META},
	{.name = "a better one", .old = "10.1/A", .offered = "10.1/B", .want = "10.1/B",
		.old_type = ING_PART_TYPE_DC, .type = ING_PART_TYPE_CITATION,
		.want_type = ING_PART_TYPE_CITATION},
	{.name = "a worse one", .old = "10.1/A", .offered = "10.1/B", .want = "10.1/A",
		.old_type = ING_PART_TYPE_CITATION, .type = ING_PART_TYPE_DC,
		.want_type = ING_PART_TYPE_CITATION},
	{.name = "a final one stays", .old = "10.1/A", .offered = "10.1/B", .want = "10.1/A",
		.old_type = ING_PART_TYPE_DOI, .type = ING_PART_TYPE_EUROPEPMC,
		.want_type = ING_PART_TYPE_DOI},
	{.name = "the same gets the type", .old = "10.1/A", .offered = "10.1/A", .want = "10.1/A",
		.old_type = ING_PART_TYPE_DC, .type = ING_PART_TYPE_DOI,
		.want_type = ING_PART_TYPE_DOI},
	{.name = "a version does not replace", .old = "10.1/A", .offered = "10.1/A.2",
		.want = "10.1/A", .old_type = ING_PART_TYPE_DC, .type = ING_PART_TYPE_DOI,
		.want_type = ING_PART_TYPE_DOI},
	{.name = "nor the other way", .old = "10.1/A_12", .offered = "10.1/A", .want = "10.1/A_12",
		.old_type = ING_PART_TYPE_DC, .type = ING_PART_TYPE_DOI,
		.want_type = ING_PART_TYPE_DOI},
	{.name = "a letter is no version", .old = "10.1/A", .offered = "10.1/A.V2",
		.want = "10.1/A.V2", .old_type = ING_PART_TYPE_DC, .type = ING_PART_TYPE_DOI,
		.want_type = ING_PART_TYPE_DOI},
	{.name = "nor is nothing", .old = "10.1/A", .offered = "10.1/A.", .want = "10.1/A.",
		.old_type = ING_PART_TYPE_DC, .type = ING_PART_TYPE_DOI,
		.want_type = ING_PART_TYPE_DOI},
	{.name = "F1000", .old = "10.12688/F1000RESEARCH.1.1",
		.offered = "10.12688/F1000RESEARCH.2.3", .want = "10.12688/F1000RESEARCH.1.1",
		.old_type = ING_PART_TYPE_DC, .type = ING_PART_TYPE_DOI,
		.want_type = ING_PART_TYPE_DOI},
	{.name = "Zenodo", .old = "10.5281/ZENODO.1", .offered = "10.5281/ZENODO.2",
		.url = "https://zenodo.org/record/2", .want = "10.5281/ZENODO.1",
		.old_type = ING_PART_TYPE_DC, .type = ING_PART_TYPE_DOI,
		.want_type = ING_PART_TYPE_DOI},
	{.name = "another site's name in the path", .old = "10.5281/ZENODO.1",
		.offered = "10.5281/ZENODO.2", .url = "https://x.example/zenodo.org",
		.want = "10.5281/ZENODO.2", .old_type = ING_PART_TYPE_DC,
		.type = ING_PART_TYPE_DOI, .want_type = ING_PART_TYPE_DOI},
};
/* clang-format on */

static void test_ids(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(id_cases); i++) {
		const char *old = id_cases[i].old, *id = id_cases[i].offered;
		ing_parts_init(&parts, &arena);
		if (old != NULL)
			ing_parts_offer_id(
				&parts, ING_PART_DOI, id_cases[i].old_type, old, strlen(old), NULL);
		ing_parts_offer_id(
			&parts, ING_PART_DOI, id_cases[i].type, id, strlen(id), id_cases[i].url);
		if (strcmp(parts.items[ING_PART_DOI].content.text, id_cases[i].want) != 0 ||
			parts.items[ING_PART_DOI].type != id_cases[i].want_type)
			fail_msg(
				"%s: %s", id_cases[i].name, parts.items[ING_PART_DOI].content.text);
	}
}

static struct ing_fulltext_links links;

static void add(const char *url, enum ing_part_type type)
{
	ing_fulltext_links_add(&links, &parts, url, type);
}

static void test_links(void **state)
{
	(void)state;
	links.count = 0;
	add("https://x.example/a?q#f", ING_PART_TYPE_LINK_META);
	add("http://x.example/a?q", ING_PART_TYPE_LINK_META); /* the same */
	add("https://x.example/a?r", ING_PART_TYPE_LINK_META);
	add("https://x.example:8443/a?q", ING_PART_TYPE_PDF_META);
	add("https://doi.org/10.1/x", ING_PART_TYPE_DOI);
	add("http://dx.doi.org/10.1/x", ING_PART_TYPE_DOI);
	add("mailto:a@b", ING_PART_TYPE_DOI);
	add("not a link", ING_PART_TYPE_DOI);
	add("ftp://x.example/a.pdf", ING_PART_TYPE_DOI);
	add("https://x.example/a?r#2", ING_PART_TYPE_LINK_CITATION); /* better: first, as written */
	add("https://x.example/a?q", ING_PART_TYPE_PDF_META);        /* worse */
	json_t *j = ing_fulltext_links_json(&links);
	char *text = json_dumps(j, JSON_COMPACT);
	assert_string_equal(text,
		"[{\"url\":\"https://x.example/a?r#2\",\"type\":\"link_citation\"},"
		"{\"url\":\"https://x.example/a?q#f\",\"type\":\"link_meta\"},"
		"{\"url\":\"https://x.example:8443/a?q\",\"type\":\"pdf_meta\"}]");
	free(text);
	json_decref(j);
}

static void test_links_with_identifiers(void **state)
{
	/* clang-format off */
	static const struct {
		const char *url;
		enum ing_part_key key;
		const char *want;
	} cases[] = {
		{.url = "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/", .key = ING_PART_PMCID,
			.want = "PMC123"},
		{.url = "https://pmc.ncbi.nlm.nih.gov/articles/PMC9?x", .key = ING_PART_PMCID,
			.want = "PMC9"},
		{.url = "http://europepmc.org/abstract/MED/77", .key = ING_PART_PMID, .want = "77"},
		{.url = "https://europepmc.org/articles/pmid/8", .key = ING_PART_PMID, .want = "8"},
		{.url = "https://pubmed.ncbi.nlm.nih.gov/31452104/", .key = ING_PART_PMID,
			.want = "31452104"},
		{.url = "https://www.ncbi.nlm.nih.gov/pubmed/5", .key = ING_PART_PMID, .want = "5"},
		{.url = "https://www.europepmc.org/articles/PMC0", .key = ING_PART_PMCID,
			.want = NULL},
		{.url = "https://pubmed.ncbi.nlm.nih.gov/?term=5", .key = ING_PART_PMID,
			.want = NULL},
		{.url = "https://europepmc.org/articles/PMC111111111111111111111",
			.key = ING_PART_PMCID, .want = NULL},
		{.url = "https://x.example/articles/PMC123/", .key = ING_PART_PMCID, .want = NULL},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		ing_parts_init(&parts, &arena);
		links.count = 0;
		add(cases[i].url, ING_PART_TYPE_LINK_CITATION);
		const struct ing_part *p = &parts.items[cases[i].key];
		if (cases[i].want == NULL) {
			assert_int_equal(p->size, 0);
		} else {
			assert_int_equal(links.count, 0);
			assert_string_equal(p->content.text, cases[i].want);
			assert_int_equal(p->type, ING_PART_TYPE_LINK_CITATION);
		}
	}
}

/* The worst fall off. */
static void test_too_many_links(void **state)
{
	char url[64];
	(void)state;
	links.count = 0;
	for (int i = 0; i < 1000; i++) {
		snprintf(url, sizeof(url), "https://x.example/%d", i);
		add(url, ING_PART_TYPE_PDF_META);
	}
	assert_int_equal(links.count, ING_MAX_FULLTEXT_LINKS);
	add("https://x.example/last", ING_PART_TYPE_DOI);
	assert_int_equal(links.count, ING_MAX_FULLTEXT_LINKS);
	assert_string_equal(links.items[0].url, "https://x.example/last");
	assert_string_equal(links.items[1].url, "https://x.example/0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test_setup_teardown(test_offers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_thresholds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_many_keywords, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_links_with_identifiers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_many_links, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
