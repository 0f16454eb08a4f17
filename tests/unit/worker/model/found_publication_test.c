/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Building what an answer says of a publication: ceilings, of which the status speaks, copies, parts that are not
 * wanted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/model/found_publication.h"

static struct ing_publication_found found;

static int begin(void **state)
{
	(void)state;
	found = (struct ing_publication_found){.citations = -1};
	return 0;
}

static int end(void **state)
{
	(void)state;
	ing_publication_found_done(&found);
	ing_publication_found_done(&found);
	assert_int_equal(found.citations, -1);
	return 0;
}

static void offer(enum ing_part_key part, const char *text)
{
	ing_publication_offer_text(&found, part, ING_PART_TYPE_DC, text, strlen(text));
}

static void offer_terms(enum ing_part_key part, uint32_t count)
{
	struct ing_publication_term *terms = ing_alloc((count + 1) * sizeof(*terms));
	for (uint32_t i = 0; i < count; i++)
		terms[i] = (struct ing_publication_term){
			.term = ing_strdup("t"), .uri = i == 0 ? ing_strdup("u") : NULL};
	ing_publication_offer_list(&found, part, ING_PART_TYPE_DC, terms, count);
}

static void what_is_empty_is_no_offer(void **state)
{
	(void)state;
	offer(ING_PART_TITLE, "");
	offer_terms(ING_PART_MESH, 0);
	assert_int_equal(found.offer_count, 0);
	assert_null(found.status);
}

static void there_are_so_many_offers(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ING_MAX_PUBLICATION_OFFERS; i++)
		offer(ING_PART_TITLE, "x");
	assert_null(found.status);
	offer(ING_PART_TITLE, "y");
	assert_string_equal(found.status, "too-large");
	offer_terms(ING_PART_MESH, 3);
	assert_int_equal(found.offer_count, ING_MAX_PUBLICATION_OFFERS);
}

/* Between characters. */
static void a_long_text_is_cut(void **state)
{
	size_t bytes = ING_MAX_PUBLICATION_TEXT_BYTES + 1;
	char *text = ing_alloc(bytes + 1);
	(void)state;
	memset(text, 'x', bytes);
	memcpy(text + bytes - 2, "\xc3\xa9", 2);
	ing_publication_offer_text(&found, ING_PART_FULLTEXT, ING_PART_TYPE_DC, text, bytes);
	free(text);
	assert_string_equal(found.status, "too-large");
	assert_int_equal(strlen(found.offers[0].text), ING_MAX_PUBLICATION_TEXT_BYTES - 1);
}

static void a_long_list_is_cut(void **state)
{
	(void)state;
	offer_terms(ING_PART_MESH, ING_MAX_PUBLICATION_TERMS);
	assert_null(found.status);
	offer_terms(ING_PART_GO, ING_MAX_PUBLICATION_TERMS + 1);
	assert_string_equal(found.status, "too-large");
	assert_int_equal(found.offers[1].term_count, ING_MAX_PUBLICATION_TERMS);
}

static void there_are_so_many_links_and_authors(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ING_MAX_PUBLICATION_LINKS; i++)
		ing_publication_add_link(&found, "http://a/", ING_PART_TYPE_LINK);
	for (uint32_t i = 0; i < ING_MAX_PUBLICATION_AUTHORS; i++)
		ing_publication_add_author(
			&found, (struct ing_publication_author){.name = ing_strdup("A")});
	assert_null(found.status);
	ing_publication_add_link(&found, "http://a/", ING_PART_TYPE_LINK);
	assert_string_equal(found.status, "too-large");
	assert_int_equal(found.link_count, ING_MAX_PUBLICATION_LINKS);
	ing_freep(&found.status);
	ing_publication_add_author(
		&found, (struct ing_publication_author){.name = ing_strdup("A")});
	assert_string_equal(found.status, "too-large");
	assert_int_equal(found.author_count, ING_MAX_PUBLICATION_AUTHORS);
}

/* And more may be added then. */
static void parts_that_are_not_wanted_are_dropped(void **state)
{
	(void)state;
	offer(ING_PART_PMID, "1");
	offer(ING_PART_TITLE, "T");
	offer_terms(ING_PART_MESH, 2);
	offer(ING_PART_ABSTRACT, "A");
	ing_publication_keep_parts(&found, 0);
	assert_int_equal(found.offer_count, 4);
	ing_publication_keep_parts(&found, 1u << ING_PART_ABSTRACT);
	assert_int_equal(found.offer_count, 2);
	assert_string_equal(found.offers[0].text, "1");
	assert_string_equal(found.offers[1].text, "A");
	for (unsigned i = 0; i < 9; i++)
		offer(ING_PART_TITLE, "T");
	assert_int_equal(found.offer_count, 11);
	assert_string_equal(found.offers[10].text, "T");
}

static void a_copy_stands_alone(void **state)
{
	struct ing_publication_found copy;
	(void)state;
	found.status = ing_strdup("success");
	found.pub_date = ing_strdup("2020-01-02");
	found.flags = ING_PUBLICATION_OA;
	found.citations = 7;
	offer(ING_PART_TITLE, "T");
	offer_terms(ING_PART_MESH, 2);
	ing_publication_add_link(&found, "http://a/", ING_PART_TYPE_LINK);
	ing_publication_add_author(&found,
		(struct ing_publication_author){.name = ing_strdup("A"), .corresponding = true});
	size_t bytes = ing_publication_found_copy(&found, &copy);
	assert_true(bytes > sizeof(found));
	ing_publication_found_done(&found);
	assert_string_equal(copy.status, "success");
	assert_string_equal(copy.pub_date, "2020-01-02");
	assert_int_equal(copy.flags, ING_PUBLICATION_OA);
	assert_int_equal(copy.citations, 7);
	assert_string_equal(copy.offers[0].text, "T");
	assert_string_equal(copy.offers[1].terms[0].uri, "u");
	assert_null(copy.offers[1].terms[1].uri);
	assert_string_equal(copy.links[0].url, "http://a/");
	assert_string_equal(copy.authors[0].name, "A");
	assert_true(copy.authors[0].corresponding);
	ing_publication_found_done(&copy);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(what_is_empty_is_no_offer),
		TEST(there_are_so_many_offers),
		TEST(a_long_text_is_cut),
		TEST(a_long_list_is_cut),
		TEST(there_are_so_many_links_and_authors),
		TEST(parts_that_are_not_wanted_are_dropped),
		TEST(a_copy_stands_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
