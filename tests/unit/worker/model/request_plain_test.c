/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which lines are plain, and that they have the row that the parser makes of them.
 */
#include "worker/model/request_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/arena.h"
#include "worker/model/request.h"
#include "worker/model/request_row.h"

#define URL "\"base_url\":\"https://www.a.example/x\""
#define PDF "{\"ingest_type\":\"pdf\"," URL

static const struct {
	const char *line;
	bool plain;
} cases[] = {
	{PDF "}", true},
	{" { \"ingest_type\" : \"html\" ,\t" URL " } \r", true},
	{PDF ",\"link_source\":\"doi\",\"link_source_id\":\"10.1/a\",\"ext_ids\":{\"doi\":\"10.1/a\"}}",
		true},
	{PDF ",\"link_source\":\"\",\"ingest_request_source\":\"x\",\"release_stage\":\"y\"}",
		true},
	{PDF ",\"created\":\"2020-01-01T00:00:00Z\",\"n\":null,\"a\":[1,-2,{\"b\":[]},{}],\"c\":true}",
		true},
	{PDF ",\"ext_ids\":{\"x\":{\"doi\":\"10.2/b\"},\"doi\":null}}", true},
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"https://doi.org/10.5/Q\"}", true},
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"no URL\"}", true},
	{PDF ",\"release_ident\":\"x\"}", true},
	/* What the parser changes, checks or refuses: */
	{"{\"ingest_type\":\"file\"," URL "}", false},
	{"{\"ingest_type\":\"publication\"," URL "}", false},
	{"{\"ingest_type\":\"sink\"," URL "}", false},
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"\"}", false},
	{"{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"10.1/a\"}}", false},
	{"{" URL "}", false},
	{PDF "} x", false},
	{PDF, false},
	{PDF ",}", false},
	{PDF ",\"a\":1,\"a\":2}", false},
	{PDF ",\"a\":{\"b\":1,\"c\":2,\"b\":3}}", false},
	{PDF ",\"a\":\"\\u0041\"}", false},
	{PDF ",\"a\":\"\xc3\xa9\"}", false},
	{PDF ",\"a\":\"b\tc\"}", false},
	{PDF ",\"a\":\"https://u:p@a.example/\"}", false},
	{PDF ",\"a\":1.0}", false},
	{PDF ",\"a\":1e3}", false},
	{PDF ",\"a\":-0}", false},
	{PDF ",\"a\":01}", false},
	{PDF ",\"a\":1234567890123456}", false},
	{PDF ",\"a\":nul}", false},
	{PDF ",\"link_source\":null}", false},
	{PDF ",\"link_source\":5}", false},
	{PDF ",\"created\":5}", false},
	{PDF ",\"force_recrawl\":true}", false},
	{PDF ",\"expect_mimetypes\":[]}", false},
	{PDF ",\"expect_hash\":{}}", false},
	{PDF ",\"skip_existing_max_age_ms\":5}", false},
	{PDF ",\"fatcat\":{\"release_ident\":\"x\"}}", false},
	{PDF ",\"a\":[[[[[[[[1]]]]]]]]}", false},
	{PDF ",\"a\":[1,]}", false},
	{"[]", false},
	{"", false},
};

static void check_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

static void check_row(const char *line, const struct ing_row_request *plain)
{
	struct ing_request *r = NULL;
	struct ing_row_request row;
	struct ing_arena ar;
	ing_arena_init(&ar);
	assert_int_equal(ing_request_parse(line, strlen(line), &r, NULL), 0);
	ing_request_row(r, &ar, &row);
	assert_int_equal(plain->present, row.present);
	check_text(plain->link_source, row.link_source);
	check_text(plain->link_source_id, row.link_source_id);
	check_text(plain->ingest_type, row.ingest_type);
	check_text(plain->base_url, row.base_url);
	check_text(plain->ingest_request_source, row.ingest_request_source);
	check_text(plain->release_stage, row.release_stage);
	check_text(plain->request_json, row.request_json);
	check_text(plain->request_id, row.request_id);
	check_text(plain->document, row.document);
	check_text(plain->host, row.host);
	check_text(plain->doi_prefix, row.doi_prefix);
	ing_request_free(r);
	ing_arena_done(&ar);
}

static void plain_lines_have_the_row_of_the_parser(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_arena ar;
		struct ing_row_request plain;
		const char *created;
		ing_arena_init(&ar);
		print_message("%s\n", cases[i].line);
		bool is = ing_request_plain_row(
			cases[i].line, strlen(cases[i].line), &ar, &plain, &created);
		assert_int_equal(is, cases[i].plain);
		if (is)
			check_row(cases[i].line, &plain);
		if (is)
			assert_int_equal(
				created != NULL, strstr(cases[i].line, "\"created\"") != NULL);
		ing_arena_done(&ar);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_lines_have_the_row_of_the_parser),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
