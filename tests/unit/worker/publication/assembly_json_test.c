/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a publication says of itself: fields and their sources, authors, sites, resources; its status;
 * its time.
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
#include "script.h"
#include "worker/publication/known.h"

#define ALL ING_PUBLICATION_RESOURCES_

static json_t *run_json(const struct ing_publication_settings *settings,
	const struct ing_assembly_request *request, const struct script_answer *answers,
	size_t count, enum ing_status *ret_status)
{
	struct script_run run;
	const char *detail;
	script_run(&run, settings, request, answers, count, SCRIPT_IN_TURN);
	json_t *all = ing_assembly_json(run.assembly);
	if (ret_status != NULL)
		*ret_status = ing_assembly_status(run.assembly, &detail);
	ing_assembly_free(run.assembly);
	return all;
}

/* Fails unless a member, by its path ("title.size", "authors.0.name"), is this JSON. */
static void assert_member(const json_t *all, const char *path, const char *want)
{
	char copy[200], *save = NULL;
	strncpy(copy, path, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	const json_t *at = all;
	for (char *w = strtok_r(copy, ".", &save); w != NULL; w = strtok_r(NULL, ".", &save))
		at = json_is_array(at) ? json_array_get(at, strtoul(w, NULL, 10))
				       : json_object_get(at, w);
	if (at == NULL)
		fail_msg("%s is missing", path);
	char *text = ing_json_dump(at, NULL);
	if (strcmp(text, want) != 0)
		fail_msg("%s is %s, not %s", path, text, want);
	free(text);
}

static void a_publication_says_where_everything_is_from(void **state)
{
	(void)state;
	static const struct script_answer answers[] = {
		{"search",
			"pmid=1 pmcid=PMC1 doi=10.1/x title=A_\xf0\x9d\x84\x9e keywords*3 mesh*2 "
			"abstract*200 +not-oa journal=J date=2020-02-29 cited=7 author=Ada_B "
			"author=C_D"},
		{"doi.test", "final=https://a.test/1 licence=by corresp=B_Ada/a@b.example "
			     "fulltext*3000 +preprint"},
		{"unpaywall", "+oa journal=K"},
		{"crossref", "!fail"},
	};
	const struct ing_assembly_request request = {.pmid = "1", .only = ALL};
	enum ing_status status;
	json_t *all =
		run_json(&script_settings, &request, answers, ING_ARRAY_LEN(answers), &status);
	assert_int_equal(status, ING_STATUS_SUCCESS);
	assert_member(all, "title.content", "\"A \xf0\x9d\x84\x9e\"");
	assert_member(all, "title.size", "4");
	assert_member(all, "title.type", "\"europepmc\"");
	assert_member(all, "title.timestamp", "1600000000000");
	assert_member(all, "title.timestampHuman", "\"2020-09-13T12:26:40Z\"");
	assert_member(all, "keywords.list", "[\"term0\",\"term1\",\"term2\"]");
	assert_member(all, "mesh.list.0",
		"{\"term\":\"term0\",\"majorTopic\":false,\"uniqueId\":\"http://t.test/1\"}");
	assert_member(all, "efo", "null");
	assert_member(all, "journal_title", "\"J\"");
	assert_member(all, "journalTitle", "\"J\"");
	assert_member(all, "pubDate", "1582934400000");
	assert_member(all, "pubDateHuman", "\"2020-02-29\"");
	assert_member(all, "citationsCount", "7");
	assert_member(all, "citationsTimestamp", "1600000000000");
	assert_member(all, "licence", "\"by\"");
	assert_member(all, "fields.licence.url", "\"https://a.test/1\"");
	assert_member(all, "fields.licence.type", "\"doi\"");
	assert_member(all, "fields.publisher", "null");
	assert_member(all, "preprint", "true");
	assert_member(all, "oa", "true");
	assert_member(all, "fields.oa.type", "\"oadoi\"");
	assert_member(all, "authors.0.name", "\"Ada B\"");
	assert_member(all, "authors.0.corresponding", "true");
	assert_member(all, "authors.1.corresponding", "false");
	assert_member(all, "corresp_author",
		"[{\"name\":\"B Ada\",\"orcid\":null,\"email\":\"a@b.example\",\"phone\":null,"
		"\"uri\":null}]");
	assert_member(all, "visitedSites.0.url", "\"https://a.test/1\"");
	assert_member(all, "visitedSites.0.from", "\"https://doi.test/10.1/X\"");
	assert_member(all, "final", "true");
	assert_member(all, "totallyFinal", "false");
	assert_member(all, "resources.0.status", "\"success\"");
	json_decref(all);
}

static void what_is_absent_is_null(void **state)
{
	(void)state;
	static const char *const names[] = {"pmid", "pmcid", "title", "fulltext", "authors",
		"corresp_author", "correspAuthor", "journal_title", "pub_date", "pubDate", "oa",
		"preprint", "licence", "publisher", "openalex_id", "citationsCount",
		"citationsTimestamp"};
	const struct ing_assembly_request request = {.doi = "10.1/x", .only = ALL};
	enum ing_status status;
	json_t *all = run_json(&script_settings, &request, NULL, 0, &status);
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		assert_member(all, names[i], "null");
	assert_member(all, "doi.url", "null");
	assert_member(all, "doi.type", "\"external\"");
	assert_member(all, "visitedSites", "[]");
	assert_member(all, "empty", "true");
	assert_member(all, "resources.0.http_status", "404");
	assert_int_equal(status, ING_STATUS_EMPTY_PUBLICATION);
	json_decref(all);
}

/* --- status --- */

static void the_status_is_that_of_what_failed_only_if_nothing_was_found(void **state)
{
	(void)state;
	static const struct {
		struct script_answer answers[3];
		enum ing_status want;
		const char *exception;
	} cases[] = {
		{{{"doi.test", "!fail"}}, ING_STATUS_READ_TIMEOUT, "true"},
		{{{"doi.test", "!fail"}, {"crossref", "title*20"}}, ING_STATUS_SUCCESS, "true"},
		{{{"doi.test", "!fail"}, {"crossref", "title*2"}}, ING_STATUS_EMPTY_PUBLICATION,
			"true"},
		{{{"doi.test", "!404"}}, ING_STATUS_EMPTY_PUBLICATION, "false"},
		{{{"doi.test", "!bad-answer"}}, ING_STATUS_EMPTY_PUBLICATION, "false"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_assembly_request request = {.doi = "10.1/x", .only = ALL};
		size_t count = 0;
		while (count < 3 && cases[i].answers[count].url != NULL)
			count++;
		enum ing_status status;
		json_t *all =
			run_json(&script_settings, &request, cases[i].answers, count, &status);
		if (status != cases[i].want)
			fail_msg("case %zu is %s", i, ing_status_slug(status));
		assert_member(all, "fetchException", cases[i].exception);
		json_decref(all);
	}
}

/* --- what a former identifier led to --- */

static void nothing_of_another_work_stays(void **state)
{
	(void)state;
	static const struct script_answer answers[] = {
		{"doi.test/10.1/X",
			"doi=10.1/y pmid=8@citation title*30 journal=Wrong cited=99 +oa "
			"+preprint date=1999-01-01 licence=wrong author=Wrong_Person "
			"corresp=Wrong_Person/w@b.example link=https://w.test/@pdf_doi"},
		{"unpaywall.test/v2/10.1/X", "journal=Wrong +oa"},
		{"doi.test/10.1/Y", "title*40 author=Right_Person author=B_C"},
		{"unpaywall.test/v2/10.1/Y", "+not-oa"},
		{"crossref.test/works/10.1/Y", "journal=Right"},
	};
	const struct ing_assembly_request request = {.doi = "10.1/x", .only = ALL};
	struct script_run run;
	script_run(
		&run, &script_settings, &request, answers, ING_ARRAY_LEN(answers), SCRIPT_REVERSED);
	json_t *all = ing_assembly_json(run.assembly);
	assert_member(all, "doi.content", "\"10.1/Y\"");
	assert_member(all, "title.size", "40");
	assert_member(all, "journal_title", "\"Right\"");
	assert_member(all, "oa", "false");
	assert_member(all, "preprint", "null");
	assert_member(all, "pub_date", "null");
	assert_member(all, "licence", "null");
	assert_member(all, "citationsCount", "null");
	assert_member(all, "corresp_author", "null");
	assert_member(all, "authors.0.name", "\"Right Person\"");
	assert_int_equal(json_array_size(json_object_get(all, "visitedSites")), 1);
	assert_null(strstr(run.urls, "w.test"));
	json_decref(all);
	ing_assembly_free(run.assembly);
}

/* --- authors --- */

static void authors_of_several_sources_are_merged_by_name(void **state)
{
	(void)state;
	static const struct script_answer answers[] = {
		{"ext_id",
			"pmid=1 pmcid=PMC1 doi=10.1/X corresp=J\xc3\xb6rg_M\xc3\xbcller/j@b.example "
			"corresp=Ada_B/a@b.example author=C_D +xml"},
		{"fullTextXML",
			"author=C_D corresp=Jorg_Muller corresp=E_F/e@b.example fulltext*3000"},
	};
	const struct ing_assembly_request request = {.pmid = "1", .only = ALL};
	json_t *all = run_json(&script_settings, &request, answers, ING_ARRAY_LEN(answers), NULL);
	assert_int_equal(json_array_size(json_object_get(all, "authors")), 3);
	assert_int_equal(json_array_size(json_object_get(all, "corresp_author")), 3);
	assert_member(all, "corresp_author.0.email", "\"j@b.example\"");
	assert_member(all, "corresp_author.2.name", "\"E F\"");
	json_decref(all);
}

/* --- is it the work? --- */

#define LONG_TEXT                                                                                  \
	"we_have_measured_what_the_water_carries_into_the_marsh_and_out_of_it_over_two_years_and_" \
	"at_seventeen_stations_the_larger_part_settles_within_the_first_hundred_metres_salt_"      \
	"marshes_grow_by_what_the_water_leaves_behind_how_much_that_is_has_been_estimated_by_"     \
	"several_groups_with_results_that_differ_by_an_order_of_magnitude_and_nobody_knows_why"

static void it_says_whether_the_full_text_is_of_the_work(void **state)
{
	(void)state;
	static const char doi[] =
		"title=Sediment_transport_in_tidal_creeks_of_the_northern_estuary "
		"author=Ada_Abara link=https://a.test/1@pdf_doi";
	const struct ing_assembly_request request = {.doi = "10.1/x", .only = ALL};
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"fulltext=SEDIMENT_TRANSPORT_in_tidal_creeks_of_the_northern_estuary_"
		 "https://doi.org/10.1/x_A._Abara_" LONG_TEXT,
			"[\"doi\",\"title\",\"authors\"]"},
		{"fulltext=doi:10.1234/guide_Guide_for_Authors_" LONG_TEXT,
			"[\"other-doi\",\"no-title\",\"no-author\",\"guide\"]"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct script_answer answers[] = {
			{"doi.test", doi}, {"a.test", cases[i].text}};
		json_t *all = run_json(&script_settings, &request, answers, 2, NULL);
		assert_member(all, "match.reasons", cases[i].want);
		json_decref(all);
	}
	/* Of one page, which says the title itself. */
	const struct script_answer page = {"doi.test",
		"title=Sediment_transport_in_tidal_creeks_of_the_northern_estuary "
		"fulltext=Sediment_transport_in_tidal_creeks_of_the_northern_estuary"};
	json_t *all = run_json(&script_settings, &request, &page, 1, NULL);
	assert_member(all, "match", "null");
	json_decref(all);
}

/* --- limits --- */

static void at_most_so_many_links_are_followed(void **state)
{
	(void)state;
	struct ing_publication_settings settings = script_settings;
	struct script_answer answers[] = {{"doi.test", NULL}};
	char says[4000] = "";
	for (int i = 0; i < 30; i++)
		snprintf(says + strlen(says), sizeof(says) - strlen(says),
			"link=https://h%d.test/@pdf_doi ", i);
	answers[0].says = says;
	for (unsigned max = 0; max < 13; max += 4) {
		const struct ing_assembly_request request = {
			.doi = "10.1/x", .only = ALL, .parts = 1 << ING_PART_FULLTEXT};
		struct script_run run;
		unsigned links = 0;
		settings.max_links = max;
		script_run(&run, &settings, &request, answers, 1, SCRIPT_IN_TURN);
		for (const char *s = run.asked; (s = strstr(s, "link")) != NULL; s++)
			links++;
		assert_int_equal(links, max);
		ing_assembly_free(run.assembly);
	}
}

static void a_quick_one_follows_links_while_there_is_time(void **state)
{
	(void)state;
	struct ing_publication_settings settings = script_settings;
	static const struct script_answer answers[] = {
		{"doi.test", "link=https://a.test/@pdf_doi link=https://b.test/@pdf_doi "
			     "link=https://c.test/@pdf_doi"}};
	const struct ing_assembly_request request = {
		.doi = "10.1/x", .only = ALL, .parts = 1 << ING_PART_FULLTEXT, .quick = true};
	struct script_run run; /* 100 ms an answer; five come before the links */
	settings.quick_ms = 600;
	script_run(&run, &settings, &request, answers, 1, SCRIPT_IN_TURN);
	assert_string_equal(run.asked, "europepmc doi oadoi crossref datacite link link ");
	ing_assembly_free(run.assembly);
}

static void after_its_deadline_nothing_is_asked_and_what_came_is_taken(void **state)
{
	(void)state;
	struct ing_publication_settings settings = script_settings;
	const struct ing_assembly_request request = {.pmid = "1", .only = ALL};
	struct ing_assembly_ask ask, efo = {0}, xml = {0};
	struct ing_publication_found search = {.flags = ING_PUBLICATION_HAS_XML |
							ING_PUBLICATION_HAS_MINED,
					     .citations = -1},
				     terms = {.citations = -1};
	struct ing_assembly_answer answer = {.status = ING_STATUS_SUCCESS, .found = &search};
	settings.deadline_ms = 1000;
	ing_publication_offer_text(&search, ING_PART_PMCID, ING_PART_TYPE_EUROPEPMC, "PMC1", 4);
	struct ing_publication_term *term = ing_alloc(sizeof(*term));
	term->term = ing_strdup("term");
	ing_publication_offer_list(&terms, ING_PART_EFO, ING_PART_TYPE_EUROPEPMC, term, 1);

	struct ing_assembly *a = ing_assembly_new(&settings, &request);
	assert_true(ing_assembly_next(a, 0, &ask));
	assert_false(ing_assembly_next(a, 0, &(struct ing_assembly_ask){0}));
	ing_assembly_answer(a, ask.id, &answer);
	while (ing_assembly_next(a, 10, &ask)) {
		if (ask.resource == ING_PUBLICATION_RESOURCE_EFO)
			efo = ask;
		if (ask.resource == ING_PUBLICATION_RESOURCE_EUROPEPMC_XML)
			xml = ask;
	}
	assert_non_null(efo.url);
	assert_non_null(xml.url);
	answer.found = &terms;
	ing_assembly_answer(a, efo.id, &answer); /* in front of it the XML is missing */
	assert_false(ing_assembly_is_over(a));
	assert_false(ing_assembly_next(a, 1000, &ask));
	assert_true(ing_assembly_is_over(a));
	json_t *all = ing_assembly_json(a);
	assert_member(all, "efo.size", "1");
	assert_member(all, "resources.1.status", "\"timeout\"");
	json_decref(all);
	ing_assembly_free(a);
	ing_publication_found_done(&search);
	ing_publication_found_done(&terms);
}

/* 4 MiB of full text, of characters of two bytes. */
static void a_text_that_is_too_long_is_cut_and_said(void **state)
{
	(void)state;
	const struct ing_assembly_request request = {
		.doi = "10.1/x", .only = ING_PUBLICATION_RESOURCE_DOI};
	struct ing_publication_found page = {.citations = -1};
	size_t bytes = ((size_t)4 << 20) + 2;
	char *text = ing_alloc(bytes + 1);
	for (size_t i = 0; i < bytes; i++)
		text[i] = i == 0 ? 'x' : "\xa9\xc3"[i % 2]; /* the limit is inside of one */
	ing_publication_offer_text(&page, ING_PART_FULLTEXT, ING_PART_TYPE_DOI, text, bytes);
	struct ing_assembly *a = ing_assembly_new(&script_settings, &request);
	struct ing_assembly_ask ask;
	assert_true(ing_assembly_next(a, 0, &ask));
	ing_assembly_answer(a, ask.id,
		&(struct ing_assembly_answer){.status = ING_STATUS_SUCCESS, .found = &page});
	json_t *all = ing_assembly_json(a);
	const char *kept = ing_json_get_text(json_object_get(all, "fulltext"), "content");
	assert_in_range(strlen(kept), ((size_t)4 << 20) - 1, (size_t)4 << 20);
	assert_member(all, "resources.0.status", "\"too-large\"");
	json_decref(all);
	ing_assembly_free(a);
	ing_publication_found_done(&page);
	free(text);
}

/* --- addresses --- */

static void a_doi_is_quoted_for_where_it_stands(void **state)
{
	(void)state;
	static const struct {
		const char *doi, *want;
	} cases[] = {
		{"10.1/a%b", "query=doi%3A%2210.1%2FA%25B%22&|doi.test/10.1/A%25B\n|v2/10.1/A%25B?|"
			     "works/10.1/A%25B?|dois/10.1/A%25B\n"},
		{"10.1/a&b+c;d", "doi%3A%2210.1%2FA%26B%2BC%3BD%22&|doi.test/10.1/A&B+C;D\n|"
				 "v2/10.1/A%26B%2BC%3BD?"},
		{"10.1/(A)1:2<3>4#5?6[7]", "%2210.1%2F%28A%291%3A2%3C3%3E4%235%3F6%5B7%5D%22|"
					   "doi.test/10.1/(A)1:2%3C3%3E4%235%3F6%5B7%5D\n"},
		{"10.1/\xc3\xa9", "doi%3A%2210.1%2F%C3%A9%22&|doi.test/10.1/%C3%A9\n"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_assembly_request request = {.doi = cases[i].doi, .only = ALL};
		struct script_run run;
		char want[400], *save = NULL;
		snprintf(want, sizeof(want), "%s", cases[i].want);
		script_run(&run, &script_settings, &request, NULL, 0, SCRIPT_IN_TURN);
		for (char *w = strtok_r(want, "|", &save); w != NULL;
			w = strtok_r(NULL, "|", &save))
			if (strstr(run.urls, w) == NULL)
				fail_msg("no %s in\n%s", w, run.urls);
		ing_assembly_free(run.assembly);
	}
}

static void keys_for_services_are_not_shown(void **state)
{
	(void)state;
	struct ing_publication_settings settings = script_settings;
	settings.ncbi_api_key = "secret";
	settings.openalex_api_key = "secret";
	settings.openalex_url = "https://openalex.test";
	static const struct script_answer answers[] = {
		{"db=pubmed", "title*30 doi=10.1/X"}, {"openalex", "openalex=W1"}};
	const struct ing_assembly_request request = {.pmid = "1", .only = ALL};
	struct script_run run;
	script_run(&run, &settings, &request, answers, ING_ARRAY_LEN(answers), SCRIPT_IN_TURN);
	assert_non_null(strstr(run.urls, "&api_key=secret\n"));
	assert_non_null(strstr(run.urls, "https://openalex.test/works/doi:10.1/X?mailto="));
	json_t *all = ing_assembly_json(run.assembly);
	char *text = ing_json_dump(all, NULL);
	assert_null(strstr(text, "secret"));
	assert_member(all, "openalex_id", "\"W1\"");
	free(text);
	json_decref(all);
	ing_assembly_free(run.assembly);
}

/* By PMID only if it has no record of the DOI, and not by somebody in a hurry. */
static void openalex_is_asked_by_one_identifier_after_the_other(void **state)
{
	(void)state;
	struct ing_publication_settings settings = script_settings;
	settings.openalex_url = "https://openalex.test";
	static const struct {
		struct script_answer answer;
		bool quick;
		const char *want; /* the calls, with '|' between */
	} cases[] = {
		{{"openalex.test/works/doi", "openalex=W1"}, false, "works/doi:10.1/X"},
		{{"openalex.test/works/doi", "!no-record"}, false, "works/doi:10.1/X|works/pmid:1"},
		{{"openalex.test/works/doi", "!fail"}, false, "works/doi:10.1/X"},
		{{"openalex.test/works/doi", "openalex=W1"}, true, ""},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_assembly_request request = {
			.pmid = "1", .doi = "10.1/X", .only = ALL, .quick = cases[i].quick};
		struct script_run run;
		char got[400] = "";
		script_run(&run, &settings, &request, &cases[i].answer, 1, SCRIPT_IN_TURN);
		for (const char *s = run.urls; (s = strstr(s, "openalex.test/")) != NULL; s++) {
			size_t n = strlen(got);
			const char *path = s + strlen("openalex.test/");
			snprintf(got + n, sizeof(got) - n, "%s%.*s", n > 0 ? "|" : "",
				(int)strcspn(path, "?\n"), path);
		}
		assert_string_equal(got, cases[i].want);
		ing_assembly_free(run.assembly);
	}
}

static void a_resource_that_is_not_configured_is_not_asked(void **state)
{
	(void)state;
	struct ing_publication_settings settings = script_settings;
	settings.email = settings.europepmc_url = settings.crossref_url = "";
	settings.unpaywall_url = "https://api.unpaywall.org/v2"; /* which wants an address */
	settings.eutils_url = "https://mirror.test/eutils/";
	const struct ing_assembly_request request = {.pmid = "1", .doi = "10.1/X", .only = ALL};
	struct script_run run;
	script_run(&run, &settings, &request, NULL, 0, SCRIPT_IN_TURN);
	assert_string_equal(run.asked, "pubmed-xml pubmed-html doi datacite ");
	assert_non_null(strstr(run.urls, "https://mirror.test/eutils/efetch.fcgi?"));
	ing_assembly_free(run.assembly);
	settings.unpaywall_url = "https://mirror.test/unpaywall";
	script_run(&run, &settings, &request, NULL, 0, SCRIPT_IN_TURN);
	assert_non_null(strstr(run.urls, "https://mirror.test/unpaywall/10.1"));
	ing_assembly_free(run.assembly);
	char *first = ing_assembly_first_url(&settings, &request);
	assert_string_equal(first, "https://mirror.test/eutils/"
				   "efetch.fcgi?retmode=xml&db=pubmed&id=1&tool=tool");
	free(first);
}

/* --- ceilings --- */

static void a_term_longer_than_any_is_cut_and_its_uri_left_out(void **state)
{
	char term[3001], uri[3001];
	(void)state;
	memset(term, 't', sizeof(term) - 1);
	memset(uri, 'u', sizeof(uri) - 1);
	term[sizeof(term) - 1] = uri[sizeof(uri) - 1] = '\0';
	struct ing_publication_term terms[] = {{.term = term, .uri = uri}};
	struct ing_publication_offer offer = {.part = ING_PART_GO,
		.type = ING_PART_TYPE_EUROPEPMC,
		.terms = terms,
		.term_count = 1};
	struct ing_known known;
	ing_known_init(&known);
	assert_true(ing_known_offer(
		&known, &offer, &(struct ing_known_source){.type = ING_PART_TYPE_EUROPEPMC}));
	assert_int_equal(strlen(known.parts[ING_PART_GO].terms[0].term), ING_MAX_KNOWN_TERM_BYTES);
	assert_null(known.parts[ING_PART_GO].terms[0].uri);
	ing_known_done(&known);
}

/* The longest terms with the longest URIs, and authors with as much. */
static void lists_that_are_too_large_are_cut_and_said(void **state)
{
	(void)state;
	const struct ing_assembly_request request = {
		.doi = "10.1/x", .only = ING_PUBLICATION_RESOURCE_DOI};
	for (unsigned authors = 0; authors < 2; authors++) {
		struct ing_publication_found page = {.citations = -1};
		struct ing_publication_term *terms = ing_alloc(2000 * sizeof(*terms));
		for (unsigned i = 0; i < 2000; i++) {
			char word[501];
			snprintf(word, sizeof(word), "%04u%0496d", i, 0);
			if (authors)
				ing_publication_add_author(&page,
					(struct ing_publication_author){.name = ing_strdup(word),
						.email = ing_strdup(word),
						.corresponding = true});
			else
				terms[i].term = ing_strdup(word);
		}
		ing_publication_offer_list(
			&page, ING_PART_KEYWORDS, ING_PART_TYPE_DOI, terms, authors ? 0 : 2000);
		ing_publication_offer_text(&page, ING_PART_TITLE, ING_PART_TYPE_DOI, "Of seas", 7);
		struct ing_assembly *a = ing_assembly_new(&script_settings, &request);
		struct ing_assembly_ask ask;
		assert_true(ing_assembly_next(a, 0, &ask));
		ing_assembly_answer(a, ask.id,
			&(struct ing_assembly_answer){
				.status = ING_STATUS_SUCCESS, .found = &page});
		json_t *all = ing_assembly_json(a);
		if (authors)
			assert_int_equal(json_array_size(json_object_get(all, "corresp_author")),
				ING_MAX_CORRESPONDING_BYTES / 1000);
		else
			assert_int_equal(json_array_size(json_object_get(
						 json_object_get(all, "keywords"), "list")),
				ING_MAX_KNOWN_LIST_BYTES / 500);
		assert_member(all, "title.content", "\"Of seas\"");
		assert_member(all, "resources.0.status", "\"too-large\"");
		json_decref(all);
		ing_assembly_free(a);
		ing_publication_found_done(&page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_publication_says_where_everything_is_from),
		cmocka_unit_test(what_is_absent_is_null),
		cmocka_unit_test(the_status_is_that_of_what_failed_only_if_nothing_was_found),
		cmocka_unit_test(nothing_of_another_work_stays),
		cmocka_unit_test(a_term_longer_than_any_is_cut_and_its_uri_left_out),
		cmocka_unit_test(authors_of_several_sources_are_merged_by_name),
		cmocka_unit_test(it_says_whether_the_full_text_is_of_the_work),
		cmocka_unit_test(at_most_so_many_links_are_followed),
		cmocka_unit_test(a_quick_one_follows_links_while_there_is_time),
		cmocka_unit_test(after_its_deadline_nothing_is_asked_and_what_came_is_taken),
		cmocka_unit_test(a_text_that_is_too_long_is_cut_and_said),
		cmocka_unit_test(lists_that_are_too_large_are_cut_and_said),
		cmocka_unit_test(a_doi_is_quoted_for_where_it_stands),
		cmocka_unit_test(keys_for_services_are_not_shown),
		cmocka_unit_test(openalex_is_asked_by_one_identifier_after_the_other),
		cmocka_unit_test(a_resource_that_is_not_configured_is_not_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
