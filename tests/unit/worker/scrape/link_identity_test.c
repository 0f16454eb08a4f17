/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs of a page and a link: whether their URLs name the same document. What is wrong here puts
 * another article into an archive, or loses one, so both sides have the forms that publishers use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/error.h"
#include "common/base/macros.h"
#include "view_helper.h"
#include "worker/scrape/rules/link_identity.h"

#define DOI_META "<meta name=citation_doi content='10.5555/Boats.2019.1'>"

static struct view_helper helper;

struct pair {
	const char *page;
	const char *link;
	const char *markup; /* NULL: none */
};

static const struct pair same_doi[] = {
	{"https://a.example/doi/10.5555/x.1", "https://a.example/doi/pdf/10.5555/x.1", NULL},
	{"https://a.example/doi/full/10.5555/X.1", "https://a.example/doi/pdf/10.5555/x.1?a=1",
		NULL},
	{"https://a.example/doi/10.5555%2Fx.1", "https://a.example/10.5555/x.1.full.pdf", NULL},
	{"https://a.example/10.5555/x.1v2", "https://a.example/10.5555/x.1v2.full.pdf", NULL},
	{"https://a.example/10.5555/x.1", "https://a.example/10.5555/x.1v2.full.pdf", NULL},
	{"https://a.example/doi/10.5555/b-1/full/html", "https://a.example/10.5555/b-1/full/pdf",
		NULL},
	{"https://a.example/article/doi/10.5555/nar/gkw1/249",
		"https://a.example/article-pdf/doi/10.5555/nar/gkw1/187/gkw1.pdf", NULL},
	{"https://a.example/a?id=10.5555/j.1", "https://a.example/f?id=10.5555/j.1&type=printable",
		NULL},
	{"https://a.example/7", "https://a.example/pdf/10.5555/boats.2019.1", DOI_META},
	/* one of the two has none */
	{"https://a.example/doi/10.5555/x.1", "https://a.example/files/7.pdf", NULL},
	{"https://a.example/7", "https://a.example/pdf/10.5555/x.2", NULL},
	{"https://a.example/v110.5555/1", "https://a.example/10.5/x.2", NULL},
};

static const struct pair other_doi[] = {
	{"https://a.example/doi/10.5555/x.1", "https://a.example/doi/pdf/10.5555/x.2", NULL},
	{"https://a.example/doi/10.5555/x.1", "https://a.example/doi/pdf/10.5556/x.1", NULL},
	{"https://a.example/doi/10.5555/x1", "https://a.example/doi/pdf/10.5555/x12", NULL},
	{"https://a.example/doi/10.5555/978.3", "https://a.example/10.5555/978.3-fm/pdf", NULL},
	{"https://a.example/doi/10.5555/978.3", "https://a.example/10.5555/978.3_1.pdf", NULL},
	{"https://a.example/doi/10.5555/978.3_1", "https://a.example/10.5555/978.3.pdf", NULL},
	{"https://a.example/doi/10.5555/300", "https://a.example/doi/pdf/10.5555/300.301", NULL},
	{"https://a.example/doi/10.5555/x.1", "https://a.example/10.5555/x.1.s001", NULL},
	{"https://a.example/doi/10.5555/nar/gkw1", "https://a.example/pdf/10.5555/nar/gkw2", NULL},
	{"https://a.example/7", "https://a.example/pdf/10.5555/boats.2019.2", DOI_META},
};

static const struct ing_view *read_page(const struct pair *p)
{
	const char *markup = p->markup != NULL ? p->markup : "<p>A page";
	return view_helper_read(&helper, markup, strlen(markup), p->page);
}

static void dois_are_compared_to_where_they_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(same_doi); i++)
		if (ing_link_has_another_doi(read_page(&same_doi[i]), same_doi[i].link))
			fail_msg("%s is lost on %s", same_doi[i].link, same_doi[i].page);
	for (size_t i = 0; i < ING_ARRAY_LEN(other_doi); i++)
		if (!ing_link_has_another_doi(read_page(&other_doi[i]), other_doi[i].link))
			fail_msg("%s is taken on %s", other_doi[i].link, other_doi[i].page);
}

static void numbers_of_one_folder_are_articles_of_a_volume(void **state)
{
	(void)state;
	static const struct {
		struct pair pair;
		bool another;
	} cases[] = {
		{{"https://a.example/2019/12", "https://a.example/2019/13.pdf", NULL}, true},
		{{"https://a.example/2019/12.html", "https://a.example/2019/112.pdf", NULL}, true},
		{{"https://a.example/2019/12", "https://a.example/2019/12.pdf", NULL}, false},
		{{"https://a.example/2019/12", "https://a.example/files/13.pdf", NULL}, false},
		{{"https://a.example/2019/12", "https://a.example/2019/paper13.pdf", NULL}, false},
		{{"https://a.example/2019/", "https://a.example/2019/13.pdf", NULL}, false},
		{{NULL, "https://a.example/2019/13.pdf", NULL}, false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct pair *p = &cases[i].pair;
		if (ing_link_has_another_number(read_page(p), p->link) != cases[i].another)
			fail_msg("%s on %s", p->link, p->page != NULL ? p->page : "no page");
	}
}

static void an_entry_says_what_page_and_link_have_in_common(void **state)
{
	(void)state;
	static const char expression[] = "/(?:article|files)/(?<id>[a-z0-9/]+)_";
	static const struct {
		struct pair pair;
		bool same;
	} cases[] = {
		{{"https://a.example/article/b/1_html", "https://a.example/files/b/1_pdf", NULL},
			true},
		{{"https://a.example/ARTICLE/B/1_html", "https://a.example/files/b%2F1_pdf", NULL},
			true},
		{{"https://a.example/article/b/1_html", "https://a.example/files/b/2_pdf", NULL},
			false},
		{{"https://a.example/article/b/1_html", "https://a.example/files/b/12_pdf", NULL},
			false},
		{{"https://a.example/article/b/1_html", "https://a.example/cover.pdf", NULL},
			false},
		{{"https://a.example/issue/1", "https://a.example/files/b/1_pdf", NULL}, false},
		{{NULL, "https://a.example/files/b/1_pdf", NULL}, false},
	};
	struct ing_regex *same;
	struct ing_error err = {0};
	assert_int_equal(
		ing_regex_compile(expression, sizeof(expression) - 1, ING_REGEX_BYTES, &same, &err),
		0);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct pair *p = &cases[i].pair;
		bool failed;
		if (ing_link_has_same(read_page(p), p->link, same, &failed) != cases[i].same)
			fail_msg("%s on %s", p->link, p->page != NULL ? p->page : "no page");
		assert_false(failed);
	}
	ing_regex_free(same);
}

static int setup(void **state)
{
	(void)state;
	view_helper_init(&helper);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	view_helper_done(&helper);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(dois_are_compared_to_where_they_end),
		cmocka_unit_test(numbers_of_one_folder_are_articles_of_a_volume),
		cmocka_unit_test(an_entry_says_what_page_and_link_have_in_common),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
