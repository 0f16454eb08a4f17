/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What speaks for and against a document's being the work that was asked for.
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
#include "common/data/json.h"
#include "worker/publication/match.h"

#define NAME "Sediment transport in tidal creeks of the northern estuary"
#define OTHER "A survey of heron colonies and their breeding success inland"
#define BODY                                                                                          \
	" Abstract. We have measured what the tide carries into the marsh and out of it, over two "   \
	"years and at seventeen stations. The larger part settles within the first hundred metres. "  \
	"Introduction. Salt marshes grow by what the water leaves behind. How much that is has been " \
	"estimated by several groups, with results that differ by an order of magnitude, and the "    \
	"reasons are not known. Methods. Samples were taken at high water with bottles."

static const struct {
	const char *name;
	struct ing_match_work work;
	const char *authors; /* JSON */
	struct ing_match_document document;
	const char *want; /* reasons, with spaces; "": nothing to compare */
} cases[] = {
	{"nothing is known", {0}, NULL, {.text = NAME BODY}, ""},
	{"DOI in the text", {.doi = "10.1234/abc.5"}, NULL,
		{.text = "https://doi.org/10.1234/ABC.5. " BODY}, "doi"},
	{"DOI with a version", {.doi = "10.1234/abc"}, NULL, {.text = "doi:10.1234/abc.v2 " BODY},
		"doi"},
	{"a longer DOI is another", {.doi = "10.1234/abc"}, NULL,
		{.text = "doi:10.1234/abcd " BODY}, ""},
	{"another DOI at the front", {.doi = "10.1234/abc"}, NULL,
		{.text = "doi:10.1234/xyz " BODY}, "other-doi"},
	{"another DOI in its Info dictionary", {.doi = "10.1234/abc"}, NULL,
		{.doi = "doi:10.1234/xyz", .text = BODY}, "other-doi"},
	{"another DOI among many pages of references is nothing", {.doi = "10.1234/abc"}, NULL,
		{.text = BODY BODY BODY BODY BODY BODY BODY BODY " doi:10.1234/xyz"}, ""},
	{"DOI that a line end divides", {.doi = "10.1016/j.x.2019.04.001"}, NULL,
		{.text = "doi.org/10.1016/j.x.2019.\n04.001 " BODY}, ""},
	{"DOIs with parentheses and signs", {.doi = "10.1002/(SICI)1097<1::AID-X>3.0.CO;2-#"}, NULL,
		{.text = "10.1002/(SICI)1097<1::AID-X>3.0.CO;2-# " BODY}, "doi"},
	{"title, in other case, divided by lines and hyphens", {.title = NAME}, NULL,
		{.text = "SEDIMENT TRANS-\nPORT IN TIDAL\n   CREEKS of the NORTHERN\nEstu\xc3\xa1ry" BODY},
		"title"},
	{"title with another word in it", {.title = NAME}, NULL,
		{.text = "Sediment transport in tidal creeks of one northern estuary" BODY},
		"title-words"},
	{"another title", {.title = OTHER}, NULL, {.text = NAME BODY}, "no-title"},
	{"a title of the Info dictionary", {.title = NAME}, NULL, {.title = NAME}, "title"},
	{"one that nobody has set speaks not against it", {.title = NAME}, NULL,
		{.title = "Microsoft Word - final version 3 of document.doc", .text = NAME BODY},
		"title"},
	{"a short title says nothing", {.title = "Editorial"}, NULL, {.text = BODY}, ""},
	{"a scan has no text", {.title = NAME}, "[\"A Abara\"]",
		{.text = "Scanned by X", .page_count = 3}, ""},
	{"authors", {0}, "[\"Ada Abara\", \"Bergstr\xc3\xb6m, B.\", \"X Y\"]",
		{.text = "A. Abara and B. Bergstrom" BODY}, "authors"},
	{"none of the authors", {0}, "[\"Ada Abara\", \"Berit Bergstrom\"]",
		{.text = "C. Castillo" BODY}, "no-author"},
	{"arXiv's stamp", {.arxiv = "2101.00001v2"}, NULL,
		{.text = "arXiv:2101.00001v1 [cs.DL] 1 Jan 2021 " BODY}, "arxiv"},
	{"pages", {.page_count = 12}, NULL, {.text = BODY, .page_count = 13}, "pages"},
	{"a preview", {.page_count = 12}, NULL, {.text = BODY, .page_count = 1}, "too-few-pages"},
	{"a whole issue", {.page_count = 12}, NULL, {.text = BODY, .page_count = 200},
		"too-many-pages"},
	{"a supplement", {.title = NAME}, NULL, {.text = "Supplementary Material for " NAME BODY},
		"title supplement"},
	{"a work about supplements", {.title = "Supporting information in journals of ecology"},
		NULL, {.text = "Supporting information in journals of ecology" BODY}, "title"},
	{"a guide", {.title = NAME}, NULL, {.text = "Journal of tides: Guide for Authors" BODY},
		"no-title guide"},
	{"XML", {.doi = "10.1234/abc", .title = NAME}, NULL,
		{.text = "<article><id>10.1234/abc</id><t>Sediment <i>transport</i> in tidal creeks of "
			 "the northern estuary</t><p>" BODY "</p>",
			.is_markup = true},
		"doi title"},
};

static char *joined_reasons(const json_t *match)
{
	static char text[400];
	size_t i;
	json_t *one;
	text[0] = '\0';
	json_array_foreach (json_object_get(match, "reasons"), i, one) {
		size_t n = strlen(text);
		snprintf(text + n, sizeof(text) - n, "%s%s", i > 0 ? " " : "",
			json_string_value(one));
	}
	return text;
}

static void reasons_are_what_the_document_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_match *m = ing_match_new();
		struct ing_match_work work = cases[i].work;
		struct ing_match_document d = cases[i].document;
		const char *authors = cases[i].authors;
		json_t *list = authors != NULL ? ing_json_parse(authors, strlen(authors),
							 &ing_json_own, NULL)
					       : NULL;
		work.authors = list;
		d.text_bytes = d.text != NULL ? strlen(d.text) : 0;
		ing_match_document(m, &work, &d);
		json_t *match = ing_match_json(m);
		if (match == NULL && *cases[i].want != '\0')
			fail_msg("%s: nothing, not %s", cases[i].name, cases[i].want);
		if (strcmp(joined_reasons(match), cases[i].want) != 0)
			fail_msg("%s: %s, not %s", cases[i].name, joined_reasons(match),
				cases[i].want);
		ing_match_free(m);
		json_decref(match);
		json_decref(list);
	}
}

/* The longest text is as quick as the part of it that is read. */
static void hostile_text_costs_little(void **state)
{
	(void)state;
	size_t bytes = (size_t)8 << 20;
	char *text = ing_alloc(bytes + 1);
	static const char *const fills[] = {"<", "10.", "doi", "a", "\xff", "\xe2\x80"};
	json_t *authors = json_array();
	for (int i = 0; i < 5000; i++)
		ing_json_append(authors, ing_json_text("aaaaaaaaaaaaaaaaaaaaaaaab"));
	char title[5000];
	memset(title, 'a', sizeof(title) - 1);
	title[sizeof(title) - 1] = '\0';
	for (size_t f = 0; f < ING_ARRAY_LEN(fills); f++)
		for (int is_markup = 0; is_markup < 2; is_markup++) {
			size_t n = strlen(fills[f]);
			for (size_t i = 0; i < bytes; i++)
				text[i] = fills[f][i % n];
			struct ing_match *m = ing_match_new();
			ing_match_document(m,
				&(struct ing_match_work){
					.doi = "10.1/x", .title = title, .authors = authors},
				&(struct ing_match_document){.text = text,
					.text_bytes = bytes,
					.is_markup = is_markup != 0});
			json_decref(ing_match_json(m));
			ing_match_free(m);
		}
	json_decref(authors);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_are_what_the_document_says),
		cmocka_unit_test(hostile_text_costs_little),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
