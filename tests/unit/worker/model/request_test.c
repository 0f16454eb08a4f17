/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is a readable request, and what the unreadable ones are told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "worker/model/request.h"
#include "worker/model/limits.h"
#include "worker/model/part_type.h"

struct good {
	const char *name, *input;
	enum ing_ingest_type type;
	const char *base_url;
};

static const struct good goods[] = {
	{.name = "pdf",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\"}",
		.type = ING_INGEST_PDF,
		.base_url = "https://a.example/"},
	{.name = "file is pdf",
		.input = "{\"ingest_type\":\"file\",\"base_url\":\"x\"}",
		.type = ING_INGEST_PDF,
		.base_url = "x"},
	{.name = "unknown fields stay",
		.input = "{\"ingest_type\":\"html\",\"base_url\":\"x\",\"mine\":{\"a\":[1]}}",
		.type = ING_INGEST_HTML,
		.base_url = "x"},
	{.name = "doi",
		.input = "{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"10.1/a b#c\"}}",
		.type = ING_INGEST_PDF,
		.base_url = "https://doi.org/10.1/a%20b%23c"},
	{.name = "doi with prefix",
		.input = "{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"doi:10.1/x\"}}",
		.type = ING_INGEST_PDF,
		.base_url = "https://doi.org/10.1/x"},
	{.name = "doi before arxiv",
		.input =
			"{\"ingest_type\":\"pdf\",\"ext_ids\":{\"arxiv\":\"2006.1\",\"doi\":\"10.1/x\"}}",
		.type = ING_INGEST_PDF,
		.base_url = "https://doi.org/10.1/x"},
	{.name = "null doi, then arxiv",
		.input =
			"{\"ingest_type\":\"pdf\",\"base_url\":null,\"ext_ids\":{\"doi\":null,\"arxiv\":\"2006.13365v5\"}}",
		.type = ING_INGEST_PDF,
		.base_url = "https://arxiv.org/abs/2006.13365v5"},
	{.name = "pmcid",
		.input = "{\"ingest_type\":\"pdf\",\"ext_ids\":{\"pmcid\":\"PMC123\"}}",
		.type = ING_INGEST_PDF,
		.base_url = "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/"},
	{.name = "pmid of a publication",
		.input =
			"{\"ingest_type\":\"publication\",\"ext_ids\":{\"doi\":\"10.1/x\",\"pmid\":\"27009\"}}",
		.type = ING_INGEST_PUBLICATION,
		.base_url = "https://pubmed.ncbi.nlm.nih.gov/27009/"},
	{.name = "pmcid of a publication, without its prefix",
		.input =
			"{\"ingest_type\":\"publication\",\"ext_ids\":{\"pmid\":\"\",\"pmcid\":\"123\"}}",
		.type = ING_INGEST_PUBLICATION,
		.base_url = "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/"},
	{.name = "doi of a publication",
		.input =
			"{\"ingest_type\":\"publication\",\"ext_ids\":{\"doi\":\"10.1/a%b&c(d)\"}}",
		.type = ING_INGEST_PUBLICATION,
		.base_url = "https://doi.org/10.1/a%25b&c(d)"},
	{.name = "other types have their own parts",
		.input =
			"{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"parts\":1,\"resource\":[],\"quick\":5}",
		.type = ING_INGEST_PDF,
		.base_url = "x"},
	{.name = "later type",
		.input = "{\"ingest_type\":\"dataset\",\"base_url\":\"x\"}",
		.type = ING_INGEST_DATASET,
		.base_url = "x"},
	{.name = "NUL in a field of no interest",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"note\":\"a\\u0000b\"}",
		.type = ING_INGEST_PDF,
		.base_url = "x"},
	{.name = "brackets inside strings are no nesting",
		.input =
			"{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"n\":\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[\"}",
		.type = ING_INGEST_PDF,
		.base_url = "x"},
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
	{.name = "pmid of a document",
		.input = "{\"ingest_type\":\"pdf\",\"ext_ids\":{\"pmid\":\"1\"}}",
		.fail = ING_FAIL_INVALID,
		.words = "ext_ids has no doi, arxiv or pmcid"},
	{.name = "publication without a start",
		.input = "{\"ingest_type\":\"publication\",\"ext_ids\":{\"pmid\":\"\"}}",
		.fail = ING_FAIL_INVALID,
		.words = "ext_ids has no pmid, doi, arxiv or pmcid"},
	{.name = "pmid as a number",
		.input =
			"{\"ingest_type\":\"publication\",\"base_url\":\"x\",\"ext_ids\":{\"pmid\":1}}",
		.fail = ING_FAIL_INVALID,
		.words = "pmid: not a string"},
	{.name = "parts as a word",
		.input = "{\"ingest_type\":\"publication\",\"base_url\":\"x\",\"parts\":\"title\"}",
		.fail = ING_FAIL_INVALID,
		.words = "parts: not a list"},
	{.name = "foreign part",
		.input =
			"{\"ingest_type\":\"publication\",\"base_url\":\"x\",\"not_parts\":[\"title\",\"cover\"]}",
		.fail = ING_FAIL_INVALID,
		.words = "not_parts: entry 2 is no part of a publication"},
	{.name = "nothing wanted",
		.input =
			"{\"ingest_type\":\"publication\",\"base_url\":\"x\",\"parts\":[\"title\"],\"not_parts\":[\"title\"]}",
		.fail = ING_FAIL_INVALID,
		.words = "not_parts: no part is left"},
	{.name = "foreign resource",
		.input =
			"{\"ingest_type\":\"publication\",\"base_url\":\"x\",\"resource\":\"cake\"}",
		.fail = ING_FAIL_INVALID,
		.words = "resource: there is no \"cake\""},
	{.name = "quick as a word",
		.input = "{\"ingest_type\":\"publication\",\"base_url\":\"x\",\"quick\":\"yes\"}",
		.fail = ING_FAIL_INVALID,
		.words = "quick: neither true nor false"},
	{.name = "empty", .input = "", .fail = ING_FAIL_SYNTAX, .words = "request:"},
	{.name = "not JSON", .input = "hello", .fail = ING_FAIL_SYNTAX, .words = "request:"},
	{.name = "cut",
		.input = "{\"ingest_type\":\"pdf\"",
		.fail = ING_FAIL_SYNTAX,
		.words = "request:"},
	{.name = "trailing garbage", .input = "{} x", .fail = ING_FAIL_SYNTAX, .words = "request:"},
	{.name = "array", .input = "[]", .fail = ING_FAIL_INVALID, .words = "not a JSON object"},
	{.name = "no type",
		.input = "{\"base_url\":\"x\"}",
		.fail = ING_FAIL_INVALID,
		.words = "ingest_type: missing"},
	{.name = "null type",
		.input = "{\"ingest_type\":null,\"base_url\":\"x\"}",
		.fail = ING_FAIL_INVALID,
		.words = "ingest_type: missing"},
	{.name = "foreign type",
		.input = "{\"ingest_type\":\"cake\",\"base_url\":\"x\"}",
		.fail = ING_FAIL_INVALID,
		.words = "\"cake\" is none of pdf file html"},
	{.name = "number as URL",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":5}",
		.fail = ING_FAIL_INVALID,
		.words = "base_url: not a string"},
	{.name = "empty URL",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":\"\"}",
		.fail = ING_FAIL_INVALID,
		.words = "base_url: empty"},
	{.name = "no start",
		.input = "{\"ingest_type\":\"pdf\",\"ext_ids\":{\"pmid\":\"1\"}}",
		.fail = ING_FAIL_INVALID,
		.words = "base_url: missing"},
	{.name = "ext_ids of the wrong kind",
		.input = "{\"ingest_type\":\"pdf\",\"ext_ids\":[]}",
		.fail = ING_FAIL_INVALID,
		.words = "ext_ids"},
	{.name = "NUL in the URL",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":\"a\\u0000b\"}",
		.fail = ING_FAIL_INVALID,
		.words = "U+0000"},
	{.name = "invalid UTF-8",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":\"\xff\"}",
		.fail = ING_FAIL_ENCODING,
		.words = "UTF-8"},
	{.name = "lone surrogate",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":\"\\ud800\"}",
		.fail = ING_FAIL_SYNTAX,
		.words = "request:"},
	{.name = "same key twice",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"base_url\":\"y\"}",
		.fail = ING_FAIL_SYNTAX,
		.words = "duplicate"},
	{.name = "hash too short",
		.input =
			"{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"expect_hash\":{\"sha1\":\"abc\"}}",
		.fail = ING_FAIL_INVALID,
		.words = "expect_hash.sha1"},
	{.name = "mimetypes of the wrong kind",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"expect_mimetypes\":{}}",
		.fail = ING_FAIL_INVALID,
		.words = "expect_mimetypes"},
	{.name = "mimetype of the wrong kind",
		.input = "{\"ingest_type\":\"pdf\",\"base_url\":\"x\",\"expect_mimetypes\":[1]}",
		.fail = ING_FAIL_INVALID,
		.words = "entry 1"},
	{.name = "a URL with a password where a colon was due",
		.input = "{\"base_url\" \"http://u:pw@h/\"}",
		.fail = ING_FAIL_SYNTAX,
		.words = "http://***@h/"},
	{.name = "33 deep",
		.input = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
		.fail = ING_FAIL_TOO_DEEP,
		.words = "32"},
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

static void reads_what_is_wanted_of_a_publication(void **state)
{
	(void)state;
	static const struct {
		const char *more;
		unsigned parts;
		bool quick;
		const char *resource;
	} cases[] = {
		{"", 0, false, NULL},
		{",\"parts\":[],\"not_parts\":null,\"quick\":null,\"resource\":null", 0, false,
			NULL},
		{",\"parts\":[\"title\",\"abstract\"],\"quick\":true",
			1u << ING_PART_TITLE | 1u << ING_PART_ABSTRACT, true, NULL},
		{",\"parts\":[\"title\",\"efo\"],\"not_parts\":[\"efo\",\"go\"],\"quick\":false",
			1u << ING_PART_TITLE, false, NULL},
		{",\"not_parts\":[\"fulltext\"],\"resource\":\"pubmed-xml\"",
			(1u << ING_PART_FULLTEXT) - 1, false, "pubmed-xml"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[500];
		struct ing_request *r = NULL;
		struct ing_error err = {0};
		snprintf(text, sizeof(text),
			"{\"ingest_type\":\"publication\",\"ext_ids\":{\"pmid\":\"5\",\"pmcid\":null}%s}",
			cases[i].more);
		int rc = ing_request_parse(text, strlen(text), &r, &err);
		if (rc != 0)
			fail_msg("%s: %s", cases[i].more, err.msg);
		assert_true(r->derived);
		assert_string_equal(r->publication.pmid, "5");
		assert_null(r->publication.pmcid);
		assert_null(r->publication.doi);
		assert_int_equal(r->publication.parts, cases[i].parts);
		assert_int_equal(r->publication.quick, cases[i].quick);
		if (cases[i].resource != NULL)
			assert_string_equal(r->publication.resource, cases[i].resource);
		else
			assert_null(r->publication.resource);
		ing_request_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_the_contract_allows),
		cmocka_unit_test(reads_what_is_wanted_of_a_publication),
		cmocka_unit_test(says_what_is_wrong_with_the_rest),
		cmocka_unit_test(a_message_over_one_mebibyte_is_refused_before_it_is_read),
		cmocka_unit_test(the_key_is_the_identity_as_received),
		cmocka_unit_test(file_becomes_pdf_in_the_echo),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
