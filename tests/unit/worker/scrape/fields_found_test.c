/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fields of a publication as a finding: an offer for each part that is wanted, and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/scrape/publication/fields_found.h"

static struct ing_arena arena;
static struct ing_publication_fields fields;

static int set_up(void **state)
{
	(void)state;
	ing_arena_init(&arena);
	memset(&fields, 0, sizeof(fields));
	ing_parts_init(&fields.parts, &arena);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_arena_done(&arena);
	return 0;
}

static void put(enum ing_part_key key, enum ing_part_type type, const char *s)
{
	assert_true(ing_parts_offer(&fields.parts, key, type, s, strlen(s)));
}

static const struct ing_publication_offer no_offer;

static const struct ing_publication_offer *offer_of(
	const struct ing_publication_found *found, enum ing_part_key key)
{
	for (uint32_t i = 0; i < found->offer_count; i++)
		if (found->offers[i].part == key)
			return &found->offers[i];
	return &no_offer;
}

static void each_part_is_one_offer_of_its_type(void **state)
{
	(void)state;
	struct ing_publication_found found = {.citations = -1};
	struct ing_text_value words[] = {{"a", 1}, {"\xc3\xa9", 2}, {"\xff", 1}};
	struct ing_text_value terms[] = {{"Humans", 6}, {"Mice", 4}};
	bool majors[] = {false, true};
	put(ING_PART_DOI, ING_PART_TYPE_DC, "10.1/X");
	put(ING_PART_TITLE, ING_PART_TYPE_OG, "Title");
	put(ING_PART_FULLTEXT, ING_PART_TYPE_DOI, "text \xff");
	assert_true(ing_parts_offer_list(
		&fields.parts, ING_PART_KEYWORDS, ING_PART_TYPE_META, words, 3));
	assert_true(
		ing_parts_offer_mesh(&fields.parts, ING_PART_TYPE_PUBMED_HTML, terms, majors, 2));
	ing_publication_fields_add(&fields, 0, &found);
	assert_int_equal(found.offer_count, 4);
	assert_string_equal(offer_of(&found, ING_PART_DOI)->text, "10.1/X");
	assert_int_equal(offer_of(&found, ING_PART_DOI)->type, ING_PART_TYPE_DC);
	assert_int_equal(offer_of(&found, ING_PART_TITLE)->type, ING_PART_TYPE_OG);
	assert_ptr_equal(offer_of(&found, ING_PART_FULLTEXT), &no_offer); /* no UTF-8 */
	const struct ing_publication_offer *keywords = offer_of(&found, ING_PART_KEYWORDS);
	assert_null(keywords->text);
	assert_int_equal(keywords->term_count, 2);
	assert_string_equal(keywords->terms[1].term, "\xc3\xa9");
	const struct ing_publication_offer *mesh = offer_of(&found, ING_PART_MESH);
	assert_int_equal(mesh->type, ING_PART_TYPE_PUBMED_HTML);
	assert_false(mesh->terms[0].major);
	assert_true(mesh->terms[1].major);
	assert_null(mesh->terms[1].uri);
	ing_publication_found_done(&found);
}

static void what_is_not_wanted_is_not_offered_but_identifiers(void **state)
{
	(void)state;
	struct ing_publication_found found = {.citations = -1};
	put(ING_PART_PMID, ING_PART_TYPE_DOI, "12");
	put(ING_PART_TITLE, ING_PART_TYPE_DOI, "Title");
	put(ING_PART_ABSTRACT, ING_PART_TYPE_DOI, "Abstract");
	ing_publication_fields_add(&fields, 1u << ING_PART_ABSTRACT, &found);
	assert_ptr_not_equal(offer_of(&found, ING_PART_PMID), &no_offer);
	assert_ptr_not_equal(offer_of(&found, ING_PART_ABSTRACT), &no_offer);
	assert_ptr_equal(offer_of(&found, ING_PART_TITLE), &no_offer);
	ing_publication_found_done(&found);
}

static void links_authors_and_fields_come_along(void **state)
{
	(void)state;
	struct ing_publication_found found = {
		.citations = -1, .journal_title = ing_strdup("Known before")};
	const struct ing_author authors[] = {{.name = "Ada", .email = "ada@x.org"}, {.uri = "u"}};
	fields.authors = (struct ing_authors){authors, 2};
	fields.journal_title = "Later";
	fields.pub_date = "2020-05-17";
	fields.oa = true;
	ing_fulltext_links_add(
		&fields.links, &fields.parts, "https://a.example/1.pdf", ING_PART_TYPE_PDF_DOI);
	ing_publication_fields_add(&fields, 0, &found);
	assert_int_equal(found.link_count, 1);
	assert_int_equal(found.links[0].type, ING_PART_TYPE_PDF_DOI);
	assert_int_equal(found.author_count, 2);
	assert_true(found.authors[0].corresponding);
	assert_string_equal(found.authors[0].email, "ada@x.org");
	assert_null(found.authors[0].orcid);
	assert_string_equal(found.authors[1].uri, "u");
	assert_string_equal(found.journal_title, "Known before");
	assert_string_equal(found.pub_date, "2020-05-17");
	assert_int_equal(found.flags, ING_PUBLICATION_OA);
	ing_publication_found_done(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			each_part_is_one_offer_of_its_type, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_not_wanted_is_not_offered_but_identifiers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			links_authors_and_fields_come_along, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
