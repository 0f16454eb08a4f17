/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What requests for publications ask for, and which URLs are of services.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/arena.h"
#include "worker/job/publication_request.h"

static void expect(const char *what, const char *got, const char *want)
{
	if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0))
		fail_msg("%s: %s, not %s", what, got != NULL ? got : "none",
			want != NULL ? want : "none");
}

static void identifiers_are_read_from_wherever_they_stand(void **state)
{
	static const struct {
		const char *more, *pmid, *pmcid, *doi, *url;
		bool bad;
	} cases[] = {
		{.more = "\"ext_ids\":{\"pmid\":\"27095192\"}", .pmid = "27095192"},
		{.more = "\"ext_ids\":{\"pmcid\":\"4987906\"}", .pmcid = "PMC4987906"},
		{.more = "\"ext_ids\":{\"pmcid\":\"PMC4987906\",\"doi\":\"10.1/x\"}",
			.pmcid = "PMC4987906",
			.doi = "10.1/X"},
		{.more = "\"ext_ids\":{\"doi\":\"doi:10.1093/nar/gkw(1)9&9%\"}",
			.doi = "10.1093/NAR/GKW(1)9&9%"},
		{.more = "\"ext_ids\":{\"arxiv\":\"2006.13365v5\"}",
			.doi = "10.48550/ARXIV.2006.13365"},
		{.more = "\"ext_ids\":{\"arxiv\":\"arXiv:math/0211159\"}",
			.doi = "10.48550/ARXIV.MATH/0211159"},
		{.more = "\"ext_ids\":{\"arxiv\":\"2006.1\",\"doi\":\"10.1/x\"}", .doi = "10.1/X"},
		{.more = "\"base_url\":\"27095192\"", .pmid = "27095192"},
		{.more = "\"base_url\":\"https://doi.org/10.1/x\",\"ext_ids\":{\"pmid\":\"7\"}",
			.pmid = "7",
			.doi = "10.1/X"},
		{.more = "\"base_url\":\"https://journal.example/17\"",
			.url = "https://journal.example/17"},
		{.more = "\"ext_ids\":{\"pmid\":\"PMC1\"}", .bad = true},
		{.more = "\"ext_ids\":{\"pmid\":\"1\",\"doi\":\"none\"}", .bad = true},
		{.more = "\"base_url\":\"no such thing\"", .bad = true},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char text[300];
		struct ing_request *r = NULL;
		struct ing_error err = {0};
		struct ing_assembly_request got;
		struct ing_arena ar;
		ing_arena_init(&ar);
		snprintf(text, sizeof(text), "{\"ingest_type\":\"publication\",%s}", cases[i].more);
		assert_int_equal(ing_request_parse(text, strlen(text), &r, &err), 0);
		int rc = ing_publication_request(r, &ar, &got, &err);
		if ((rc != 0) != cases[i].bad)
			fail_msg("%s: %s", cases[i].more, rc != 0 ? err.msg : "is taken");
		if (rc == 0) {
			expect(cases[i].more, got.pmid, cases[i].pmid);
			expect(cases[i].more, got.pmcid, cases[i].pmcid);
			expect(cases[i].more, got.doi, cases[i].doi);
			expect(cases[i].more, got.url, cases[i].url);
			assert_int_equal(got.only, ING_PUBLICATION_RESOURCES_);
		}
		ing_request_free(r);
		ing_arena_done(&ar);
	}
}

static void wishes_are_passed_on(void **state)
{
	static const char text[] =
		"{\"ingest_type\":\"publication\",\"ext_ids\":{\"pmid\":\"5\"},\"parts\":[\"title\"],"
		"\"quick\":true,\"resource\":\"pubmed-xml\"}";
	struct ing_request *r = NULL;
	struct ing_error err = {0};
	struct ing_assembly_request got;
	struct ing_arena ar;
	(void)state;
	ing_arena_init(&ar);
	assert_int_equal(ing_request_parse(text, strlen(text), &r, &err), 0);
	assert_int_equal(ing_publication_request(r, &ar, &got, &err), 0);
	assert_int_equal(got.parts, 1u << ING_PART_TITLE);
	assert_true(got.quick);
	assert_int_equal(got.only, ING_PUBLICATION_RESOURCE_PUBMED_XML);
	ing_request_free(r);
	ing_arena_done(&ar);
}

/* A job begins to wait with the one, and is begun with the other. */
static void the_first_url_is_that_of_the_first_ask(void **state)
{
	static const struct ing_publication_settings settings = {
		.europepmc_url = "https://e.example",
		.annotations_url = "https://a.example",
		.eutils_url = "https://u.example",
		.pmc_url = "https://c.example",
		.pubmed_url = "https://p.example",
		.doi_url = "https://d.example",
		.unpaywall_url = "https://w.example",
		.crossref_url = "",
		.datacite_url = "https://t.example",
		.openalex_url = "https://o.example",
		.arxiv_url = "https://x.example",
		.biorxiv_url = "https://b.example",
		.doaj_url = "https://j.example",
		.email = "a@b.example",
		.tool = "",
		.ncbi_api_key = "",
		.openalex_api_key = "",
		.deadline_ms = 1000,
		.max_links = 10};
	static const struct ing_assembly_request ids[] = {{.pmid = "5"}, {.pmcid = "PMC5"},
		{.doi = "10.1/X"}, {.doi = "10.48550/ARXIV.2006.1"}, {.doi = "10.1101/2020.01.01"},
		{.url = "https://h.example/"},
		{.pmid = "5", .doi = "10.1/X", .url = "https://h.example/"}};
	unsigned asked = 0;
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(ids); i++) {
		for (int only = 0; only <= ING_PUBLICATION_RESOURCES_; only++) {
			struct ing_assembly_request r = ids[i];
			struct ing_assembly_ask ask;
			r.only = (enum ing_publication_resource)only;
			char *url = ing_assembly_first_url(&settings, &r);
			struct ing_assembly *a = ing_assembly_new(&settings, &r);
			bool any = ing_assembly_next(a, 0, &ask);
			assert_int_equal(any, url != NULL);
			if (any)
				assert_string_equal(ask.url, url);
			asked += any;
			ing_assembly_free(a);
			free(url);
		}
	}
	assert_true(asked > 30);
}

static void services_are_known_by_their_base(void **state)
{
	static const struct ing_publication_settings settings = {
		.europepmc_url = "https://e.example/rest",
		.crossref_url = "http://127.0.0.1:80/",
		.pubmed_url = "https://p.example",
		.doaj_url = ""};
	static const struct {
		const char *url;
		bool is_service;
	} cases[] = {
		{"https://e.example/rest/search?query=1", true},
		{"https://e.example/restaurant", false},
		{"https://e.example/", false},
		{"http://127.0.0.1:80/works/10.1", true},
		{"http://127.0.0.1:8080/works/10.1", false},
		{"https://p.example/?term=1", false}, /* pages */
		{"https://other.example/", false},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		if (ing_publication_is_service(&settings, cases[i].url) != cases[i].is_service)
			fail_msg("%s", cases[i].url);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identifiers_are_read_from_wherever_they_stand),
		cmocka_unit_test(wishes_are_passed_on),
		cmocka_unit_test(the_first_url_is_that_of_the_first_ask),
		cmocka_unit_test(services_are_known_by_their_base),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
