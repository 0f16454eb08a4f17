/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the tables say of requests: which ask for the same document, where they start, whose DOI they have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/model/request.h"
#include "worker/model/request_facts.h"

static const struct {
	const char *type_a, *a, *type_b, *b;
	bool same;
} documents[] = {
	{"pdf", "http://a.example/x", "pdf", "https://www.a.example/x", true},
	{"pdf", "HTTP://A.Example:80/x", "pdf", "https://a.example:443/x", true},
	{"pdf", " http://a.example ", "pdf", "http://a.example/", true},
	{"pdf", "http://a.example/x", "html", "http://a.example/x", false},
	{"pdf", "http://a.example/x", "pdf", "http://a.example/X", false},
	{"pdf", "http://a.example/x", "pdf", "http://a.example/x/", false},
	{"pdf", "http://a.example/x?q=A", "pdf", "http://a.example/x?q=a", false},
	{"pdf", "http://a.example/www.x", "pdf", "http://a.example/x", false},
	{"pdf", "http://www.www.a.example/", "pdf", "http://a.example/", false},
	{"pdf", "http://me:hush@a.example/x", "pdf", "https://***@www.a.example/x", true},
	{"pdf", "http://me@a.example/", "pdf", "http://a.example/", true},
	{"pdf", "http://a.example/?x@y", "pdf", "http://y/", false},
	{"pdf", "no url", "pdf", "no url", true},
	{"pdf", "www.no-url", "pdf", "no-url", false},
	{"pdf", "", "pdf", "", true},
};

static void documents_are_told_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(documents); i++) {
		unsigned char a[ING_FACT_ID_BYTES], b[ING_FACT_ID_BYTES];
		ing_document_id(documents[i].type_a, documents[i].a, a);
		ing_document_id(documents[i].type_b, documents[i].b, b);
		if ((memcmp(a, b, sizeof(a)) == 0) != documents[i].same)
			fail_msg("%s and %s", documents[i].a, documents[i].b);
	}
}

static const struct {
	const char *doi, *prefix;
} dois[] = {
	{"10.1234/abc", "10.1234"},
	{"doi:10.1234/abc", "10.1234"},
	{"DOI: 10.1000.10/abc", "10.1000.10"},
	{"https://doi.org/10.1234/a/b", "10.1234"},
	{"http://dx.doi.org/10.1234/a", "10.1234"},
	{"HTTPS://DOI.ORG/10.1234/a", "10.1234"},
	{"https://www.doi.org/10.1234/a", "10.1234"},
	{"https://example.org/10.1234/a", ""},
	{"10.1234", ""},
	{"10./a", ""},
	{"10.1234./a", ""},
	{"11.1234/a", ""},
	{"", ""},
	{"10.1111111111111111111111111111111111111111111111111111111111111111111/a", ""},
};

static void prefixes_of_dois(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(dois); i++) {
		char prefix[ING_DOI_PREFIX_BYTES];
		ing_doi_prefix(dois[i].doi, prefix);
		assert_string_equal(prefix, dois[i].prefix);
	}
}

static const struct {
	const char *request, *host, *doi_prefix;
} requests[] = {
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"https://WWW.A.example/x\"}", "a.example", ""},
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"https://doi.org/10.1234/x\"}", "doi.org",
		"10.1234"},
	{"{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"10.1234/x\"}}", "doi.org", "10.1234"},
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\",\"ext_ids\":{\"doi\":\"10.9/x\"}}",
		"a.example", "10.9"},
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\",\"ext_ids\":{\"doi\":null}}",
		"a.example", ""},
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"nothing\"}", "", ""},
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"http://[::1]/\"}", "[::1]", ""},
	{"{\"ingest_type\":\"pdf\",\"base_url\":\"http://www./\"}", "www.", ""},
};

static void facts_of_requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(requests); i++) {
		struct ing_request *r = NULL;
		struct ing_error err = {0};
		struct ing_request_facts f;
		const char *text = requests[i].request;
		assert_int_equal(ing_request_parse(text, strlen(text), &r, &err), 0);
		ing_request_facts(r, &f);
		assert_string_equal(f.host, requests[i].host);
		assert_string_equal(f.doi_prefix, requests[i].doi_prefix);
		char id[ING_FACT_ID_TEXT_BYTES];
		ing_fact_id_text(f.request_id, id);
		assert_int_equal(strncmp(id, r->key, 8), 0);
		assert_int_equal(id[8], '-');
		assert_int_equal(strncmp(id + 24, r->key + 20, 12), 0);
		ing_request_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_are_told_apart),
		cmocka_unit_test(prefixes_of_dois),
		cmocka_unit_test(facts_of_requests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
