/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Answers of services in JSON, in the forms in which they come: what is found in each, and what is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "found_helper.h"
#include "worker/document/publication/readers.h"

struct answer {
	const char *name;
	enum ing_publication_reader reader;
	enum ing_part_type type;
	const char *doi; /* that is asked for */
	const char *body, *want;
};

static void read_answer(
	const struct answer *a, const char *body, size_t bytes, struct ing_publication_found *found)
{
	const struct ing_publication_ask ask = {
		.reader = a->reader, .type = a->type, .doi = a->doi};
	const struct ing_publication_body b = {.url = "https://api.example/x",
		.mimetype = "application/json",
		.data = body,
		.bytes = bytes};
	*found = (struct ing_publication_found){.citations = -1};
	ing_publication_read(&ask, &b, found);
}

#define UNPAYWALL ING_READ_UNPAYWALL, ING_PART_TYPE_OADOI

static const struct answer answers[] = {
	{"Unpaywall: an open work", UNPAYWALL, "10.1093/NAR/GKW199",
		"{\"doi\":\"10.1093/nar/gkw199\",\"doi_url\":\"https://doi.org/10.1093/nar/gkw199\","
		"\"title\":\"A &amp; B of <i>E. coli</i>\",\"genre\":\"journal-article\",\"is_paratext\":false,"
		"\"published_date\":\"2016-03-21\",\"year\":2016,\"journal_name\":\"Nucleic Acids Research\","
		"\"journal_issns\":\"0305-1048,1362-4962\",\"journal_is_oa\":false,\"publisher\":\"OUP\","
		"\"is_oa\":true,\"oa_status\":\"hybrid\",\"has_repository_copy\":true,"
		"\"best_oa_location\":{\"license\":\"cc-by\",\"url\":\"https://p.example/x.pdf\"},"
		"\"oa_locations\":["
		"{\"url\":\"https://p.example/x.pdf\",\"url_for_pdf\":\"https://p.example/x.pdf\","
		"\"url_for_landing_page\":\"https://doi.org/10.1093/nar/gkw199\",\"license\":\"cc-by\"},"
		"{\"url\":\"https://r.example/1\",\"url_for_pdf\":null,"
		"\"url_for_landing_page\":\"https://r.example/1\"},"
		"{\"url\":\"ftp://r.example/2\",\"url_for_pdf\":\"not a url\",\"url_for_landing_page\":3},"
		"7],\"z_authors\":[{\"given\":\"Ada\",\"family\":\"Byron\",\"sequence\":\"first\","
		"\"ORCID\":\"http://orcid.org/0000-0002-1825-0097\"},{\"raw_author_name\":\"Bo Lee\","
		"\"is_corresponding\":true},{\"affiliation\":[]}]}",
		"title oadoi A & B of E. coli\n"
		"link link_oadoi https://doi.org/10.1093/nar/gkw199\n"
		"link pdf_oadoi https://p.example/x.pdf\n"
		"link link_oadoi https://r.example/1\n"
		"author Ada Byron, https://orcid.org/0000-0002-1825-0097\n"
		"author Bo Lee *\n"
		"journal Nucleic Acids Research\ndate 2016-03-21\nlicence cc-by\npublisher OUP\noa\n"},
	{"Unpaywall: a closed one, dates that are a year, no journal", UNPAYWALL, "10.1/X",
		"{\"doi\":\"10.1/x\",\"title\":null,\"is_oa\":false,\"journal_name\":\"null\","
		"\"published_date\":\"1999-01-01\",\"best_oa_location\":null,\"oa_locations\":[],"
		"\"z_authors\":null}",
		"not-oa\n"},
	{"Unpaywall: none", UNPAYWALL, "10.1/X",
		"{\"HTTP_status_code\":404,\"error\":true,\"message\":\"'10.1/x' is an invalid doi.\"}",
		"no-record: '10.1/x' is an invalid doi.\n"},
	{"Unpaywall: another work", UNPAYWALL, "10.1/X", "{\"doi\":\"10.1/y\",\"title\":\"Y\"}",
		"wrong-record: it is about 10.1/y\n"},
	{"Unpaywall: a version of the work", UNPAYWALL, "10.1/X.1",
		"{\"doi\":\"10.1/x.1.v2\",\"title\":\"Title\"}", "title oadoi Title\n"},
	{"Unpaywall: no record at all", UNPAYWALL, "10.1/X", "{}",
		"bad-answer: the record has no \"doi\"\n"},
};

static void answers_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(answers); i++) {
		struct ing_publication_found found;
		read_answer(&answers[i], answers[i].body, strlen(answers[i].body), &found);
		assert_found(answers[i].name, &found, answers[i].want);
		ing_publication_found_done(&found);
	}
}

/* Whatever is cut or of another kind gives a status and no offer, from every reader. */
static void what_is_no_answer_is_said(void **state)
{
	(void)state;
	static const struct {
		const char *body, *status;
	} bad[] = {{"", "bad-answer"}, {"<html>502</html>", "bad-answer"}, {"[]", "bad-answer"},
		{"{\"doi\":", "bad-answer"}, {"{\"doi\":\"\xff\"}", "bad-answer"}};
	for (size_t i = 0; i < ING_ARRAY_LEN(answers); i++) {
		for (size_t j = 0; j < ING_ARRAY_LEN(bad); j++) {
			struct ing_publication_found found;
			read_answer(&answers[i], bad[j].body, strlen(bad[j].body), &found);
			assert_string_equal(found.status, bad[j].status);
			assert_non_null(found.error_msg);
			assert_int_equal(found.offer_count + found.link_count, 0);
			ing_publication_found_done(&found);
		}
	}
}

/* Members of another type than they should have. */
static void members_of_other_types_are_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(answers); i++) {
		/* Each text is a number, then each object a list. */
		static const char *const from[] = {":\"", ":{", ":["};
		static const char *const to[] = {":7,\"z", ":[{", ":{\"q\":["};
		for (size_t k = 0; k < ING_ARRAY_LEN(from); k++) {
			const char *body = answers[i].body, *at = body;
			while ((at = strstr(at, from[k])) != NULL) {
				struct ing_publication_found found;
				struct ing_buf b;
				ing_buf_init(&b, 1 << 20);
				ing_buf_printf(&b, "%.*s%s%s", (int)(at - body), body, to[k],
					at + strlen(from[k]));
				read_answer(&answers[i], ing_buf_str(&b), b.len, &found);
				assert_non_null(found.status);
				ing_publication_found_done(&found);
				ing_buf_done(&b);
				at++;
			}
		}
	}
}

static void an_answer_that_is_too_large_is_not_parsed(void **state)
{
	(void)state;
	size_t bytes = (size_t)9 << 20;
	char *body = malloc(bytes);
	struct ing_publication_found found;
	assert_non_null(body);
	memset(body, ' ', bytes);
	read_answer(&answers[0], body, bytes, &found);
	assert_string_equal(found.status, "too-large");
	ing_publication_found_done(&found);
	free(body);
}

static void a_byte_order_mark_is_passed_over(void **state)
{
	(void)state;
	static const char body[] = "\xef\xbb\xbf{\"doi\":\"10.1/x\",\"title\":\"Title\"}";
	struct ing_publication_found found;
	read_answer(&answers[1], body, sizeof(body) - 1, &found);
	assert_found("mark", &found, "title oadoi Title\n");
	ing_publication_found_done(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_read),
		cmocka_unit_test(what_is_no_answer_is_said),
		cmocka_unit_test(members_of_other_types_are_nothing),
		cmocka_unit_test(an_answer_that_is_too_large_is_not_parsed),
		cmocka_unit_test(a_byte_order_mark_is_passed_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
