/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is a readable request, and what the unreadable ones are told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "common/base/buf.h"
#include "worker/model/request.h"
#include "worker/model/limits.h"

struct good {
	const char *name, *input;
	enum ing_ingest_type type;
	const char *base_url;
};

static const struct good goods[] = {
	{"pdf", "{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\"}", ING_INGEST_PDF,
		"https://a.example/"},
	{"file is pdf", "{\"ingest_type\":\"file\",\"base_url\":\"x\"}", ING_INGEST_PDF, "x"},
	{"unknown fields stay",
		"{\"ingest_type\":\"html\",\"base_url\":\"x\",\"mine\":{\"a\":[1]}}",
		ING_INGEST_HTML, "x"},
	{"doi", "{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"10.1/a b#c\"}}", ING_INGEST_PDF,
		"https://doi.org/10.1/a%20b%23c"},
	{"doi with prefix", "{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"doi:10.1/x\"}}",
		ING_INGEST_PDF, "https://doi.org/10.1/x"},
	{"doi before arxiv",
		"{\"ingest_type\":\"pdf\",\"ext_ids\":{\"arxiv\":\"2006.1\",\"doi\":\"10.1/x\"}}",
		ING_INGEST_PDF, "https://doi.org/10.1/x"},
	{"null doi, then arxiv",
		"{\"ingest_type\":\"pdf\",\"base_url\":null,\"ext_ids\":{\"doi\":null,\"arxiv\":\"2006.13365v5\"}}",
		ING_INGEST_PDF, "https://arxiv.org/abs/2006.13365v5"},
	{"pmcid", "{\"ingest_type\":\"pdf\",\"ext_ids\":{\"pmcid\":\"PMC123\"}}", ING_INGEST_PDF,
		"https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/"},
	{"later type", "{\"ingest_type\":\"dataset\",\"base_url\":\"x\"}", ING_INGEST_DATASET, "x"},
	{"NUL in a field of no interest",
		"{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"note\":\"a\\u0000b\"}",
		ING_INGEST_PDF, "x"},
	{"brackets inside strings are no nesting",
		"{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"n\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[\"}",
		ING_INGEST_PDF, "x"},
};

static void reads_what_the_contract_allows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		struct ing_request *r = NULL;
		struct ing_error err = {0};
		int rc = ing_request_parse(goods[i].input, strlen(goods[i].input), &r, &err);
		if (rc != 0)
			fail_msg("%s: %s", goods[i].name, err.msg);
		assert_int_equal(r->type, goods[i].type);
		assert_string_equal(r->base_url, goods[i].base_url);
		assert_string_equal(
			json_string_value(json_object_get(r->json, "base_url")), goods[i].base_url);
		assert_int_equal(strlen(r->key), 40);
		ing_request_free(r);
	}
}

struct bad {
	const char *name, *input;
	enum ing_fail fail;
	const char *words;
};

static const struct bad bads[] = {
	{"empty", "", ING_FAIL_SYNTAX, "request:"},
	{"not JSON", "hello", ING_FAIL_SYNTAX, "request:"},
	{"cut", "{\"ingest_type\":\"pdf\"", ING_FAIL_SYNTAX, "request:"},
	{"trailing garbage", "{} x", ING_FAIL_SYNTAX, "request:"},
	{"array", "[]", ING_FAIL_INVALID, "not a JSON object"},
	{"no type", "{\"base_url\":\"x\"}", ING_FAIL_INVALID, "ingest_type: missing"},
	{"null type", "{\"ingest_type\":null,\"base_url\":\"x\"}", ING_FAIL_INVALID,
		"ingest_type: missing"},
	{"foreign type", "{\"ingest_type\":\"cake\",\"base_url\":\"x\"}", ING_FAIL_INVALID,
		"\"cake\""},
	{"number as URL", "{\"ingest_type\":\"pdf\",\"base_url\":5}", ING_FAIL_INVALID,
		"base_url: not a string"},
	{"empty URL", "{\"ingest_type\":\"pdf\",\"base_url\":\"\"}", ING_FAIL_INVALID,
		"base_url: empty"},
	{"no start", "{\"ingest_type\":\"pdf\",\"ext_ids\":{\"pmid\":\"1\"}}", ING_FAIL_INVALID,
		"base_url: missing"},
	{"ext_ids of the wrong kind", "{\"ingest_type\":\"pdf\",\"ext_ids\":[]}", ING_FAIL_INVALID,
		"ext_ids"},
	{"NUL in the URL", "{\"ingest_type\":\"pdf\",\"base_url\":\"a\\u0000b\"}", ING_FAIL_INVALID,
		"U+0000"},
	{"invalid UTF-8", "{\"ingest_type\":\"pdf\",\"base_url\":\"\xff\"}", ING_FAIL_ENCODING,
		"UTF-8"},
	{"lone surrogate", "{\"ingest_type\":\"pdf\",\"base_url\":\"\\ud800\"}", ING_FAIL_SYNTAX,
		"request:"},
	{"same key twice", "{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"base_url\":\"y\"}",
		ING_FAIL_SYNTAX, "duplicate"},
	{"hash too short",
		"{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"expect_hash\":{\"sha1\":\"abc\"}}",
		ING_FAIL_INVALID, "expect_hash.sha1"},
	{"mimetypes of the wrong kind",
		"{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"expect_mimetypes\":{}}",
		ING_FAIL_INVALID, "expect_mimetypes"},
	{"mimetype of the wrong kind",
		"{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"expect_mimetypes\":[1]}",
		ING_FAIL_INVALID, "entry 1"},
	{"a URL with a password where a colon was due", "{\"base_url\" \"http://u:pw@h/\"}",
		ING_FAIL_SYNTAX, "http://***@h/"},
	{"33 deep", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", ING_FAIL_TOO_DEEP, "32"},
};

static void says_what_is_wrong_with_the_rest(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		struct ing_request *r = NULL;
		struct ing_error err = {0};
		int rc = ing_request_parse(bads[i].input, strlen(bads[i].input), &r, &err);
		if (rc != -(int)bads[i].fail || strstr(err.msg, bads[i].words) == NULL)
			fail_msg("%s: got %d \"%s\"", bads[i].name, rc, err.msg);
		assert_null(r);
	}
}

static void a_message_over_one_mebibyte_is_refused_before_it_is_read(void **state)
{
	(void)state;
	size_t bytes = ING_MAX_REQUEST_BYTES + 1;
	char *big = malloc(bytes);
	memset(big, '[', bytes);
	struct ing_request *r = NULL;
	struct ing_error err = {0};
	assert_int_equal(ing_request_parse(big, bytes, &r, &err), -ING_FAIL_TOO_BIG);
	free(big);
}

static void the_key_is_the_identity_as_received(void **state)
{
	(void)state;
	static const struct {
		const char *input, *key;
	} cases[] = {
		/* printf 'file\thttp://a/\tdoi\t10.1/x' | sha1sum, and so on */
		{"{\"ingest_type\":\"file\",\"base_url\":\"http://a/\",\"link_source\":\"doi\",\"link_source_id\":\"10.1/x\"}",
			"02dbc5a47fd163246c5bf9867d0718a323fb87d1"},
		{"{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"10.1/x\"}}",
			"980421a96d5eea9a7aa5f35ff8274e72c3a877d8"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_request *r = NULL;
		struct ing_error err = {0};
		assert_int_equal(
			ing_request_parse(cases[i].input, strlen(cases[i].input), &r, &err), 0);
		assert_string_equal(r->key, cases[i].key);
		ing_request_free(r);
	}
}

static void file_becomes_pdf_in_the_echo(void **state)
{
	(void)state;
	static const char input[] = "{\"ingest_type\":\"file\",\"base_url\":\"x\"}";
	struct ing_request *r = NULL;
	struct ing_error err = {0};
	assert_int_equal(ing_request_parse(input, sizeof(input) - 1, &r, &err), 0);
	assert_string_equal(r->ingest_type, "pdf");
	assert_string_equal(json_string_value(json_object_get(r->json, "ingest_type")), "pdf");
	ing_request_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_the_contract_allows),
		cmocka_unit_test(says_what_is_wrong_with_the_rest),
		cmocka_unit_test(a_message_over_one_mebibyte_is_refused_before_it_is_read),
		cmocka_unit_test(the_key_is_the_identity_as_received),
		cmocka_unit_test(file_becomes_pdf_in_the_echo),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
