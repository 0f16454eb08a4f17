/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random worlds of resources, which contradict one another: an assembly ends, and with the same
 * publication whatever the order of the answers.
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

#define WORLDS 500
#define ANSWERS 40

static uint64_t random_state;

static unsigned draw(unsigned n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % n;
}

/* Pieces of URLs that an answer is for, the more special ones first. */
static const char *const places[] = {"ext_id%3A1", "ext_id%3A2", "query=pmcid%3APMC1",
	"query=pmcid%3APMC2", "query=doi%3A10.1%2FX", "query=doi%3A10.1%2FY", "PMC1/fullTextXML",
	"PMC2/fullTextXML", "MED%3A1&type=Exp", "PMC%3APMC1&type=Exp", "type=Gene",
	"db=pubmed&id=1", "db=pubmed&id=2", "db=pmc&id=1", "db=pmc&id=2", "pubmed.test/?term=1",
	"pmc.test/articles/PMC1", "doi.test/10.1/X", "doi.test/10.1/Y", "unpaywall.test/v2/10.1/X",
	"unpaywall.test", "crossref.test/works/10.1/X", "crossref.test", "datacite.test",
	"a.test/1", "a.test/2", "b.test/1", "b.test/2", "c.test/1"};

static const char *const words[] = {"pmid=1", "pmid=2", "pmcid=PMC1", "pmcid=PMC2", "doi=10.1/X",
	"doi=10.1/Y", "doi=10.1/X.2", "pmid=2@citation", "doi=10.1/Y@dc", "title*20", "title*30",
	"title*9@og", "keywords*3", "keywords*1", "mesh*3", "efo*2", "go*1", "abstract*300",
	"abstract*90", "abstract*400@dc", "fulltext*3000", "fulltext*900", "fulltext*4000@webpage",
	"+oa", "+not-oa", "+xml", "+mined", "+manuscript", "author=A_B", "corresp=A_B/a@b.example",
	"author=C_D", "journal=J", "journal=K", "cited=3", "date=2020-01-02",
	"link=https://a.test/1@link", "link=https://a.test/2@pdf_doi",
	"link=https://b.test/1@link_oadoi", "link=https://b.test/2@link_citation",
	"link=https://c.test/1@pdf_oadoi", "link=https://europepmc.org/articles/PMC2@link_oadoi",
	"link=https://pubmed.ncbi.nlm.nih.gov/1/@link_citation", "!no-record", "!wrong-record",
	"!fail", "!404"};

static void make_answer(char *says, size_t bytes)
{
	*says = '\0';
	for (unsigned n = draw(9); n > 0; n--) {
		size_t at = strlen(says);
		/* Failures, at the end of the list, are less frequent. */
		unsigned which =
			draw(6) == 0 ? draw(ING_ARRAY_LEN(words)) : draw(ING_ARRAY_LEN(words) - 4);
		snprintf(says + at, bytes - at, "%s ", words[which]);
	}
}

static void drop(json_t *o, const char *name)
{
	if (json_is_object(o))
		json_object_del(o, name);
}

/* What was found, without times. */
static char *found(const struct ing_assembly *a)
{
	json_t *all = ing_assembly_json(a), *value;
	const char *name;
	drop(all, "resources");
	drop(all, "fetchTime");
	drop(all, "fetchTimeHuman");
	drop(all, "citationsTimestamp");
	drop(all, "citationsTimestampHuman");
	json_object_foreach (all, name, value) {
		drop(value, "timestamp");
		drop(value, "timestampHuman");
	}
	json_object_foreach (json_object_get(all, "fields"), name, value) {
		drop(value, "timestamp");
		drop(value, "timestampHuman");
	}
	size_t i;
	json_array_foreach (json_object_get(all, "visitedSites"), i, value) {
		drop(value, "timestamp");
		drop(value, "timestampHuman");
	}
	char *text = ing_json_dump(all, NULL);
	json_decref(all);
	return text;
}

/* Fails with what differs, and some of what is before it. */
static void assert_same(unsigned world, const char *a, const char *b)
{
	size_t same = 0;
	while (a[same] != '\0' && a[same] == b[same])
		same++;
	if (a[same] == b[same])
		return;
	size_t from = same < 300 ? 0 : same - 300;
	fail_msg("world %u: %.400s\n  but %.400s", world, a + from, b + from);
}

static void what_is_found_does_not_depend_on_who_answers_first(void **state)
{
	(void)state;
	unsigned side_by_side = 0, restarts = 0;
	for (unsigned world = 0; world < WORLDS; world++) {
		static char says[ANSWERS][400];
		struct script_answer answers[ANSWERS];
		random_state = world * 7919u + 1;
		for (size_t i = 0; i < ING_ARRAY_LEN(places); i++) {
			make_answer(says[i], sizeof(says[i]));
			answers[i] = (struct script_answer){places[i], says[i]};
		}
		struct ing_assembly_request request = {.only = ING_PUBLICATION_RESOURCES_};
		request.pmid = draw(2) != 0 ? "1" : NULL;
		request.pmcid = draw(3) == 0 ? "PMC1" : NULL;
		request.doi = request.pmid == NULL || draw(2) != 0 ? "10.1/X" : NULL;
		request.parts = draw(3) == 0 ? draw((1 << ING_PARTS_) - 1) + 1 : 0;
		char *texts[3];
		for (int order = 0; order < 3; order++) {
			static struct script_run run;
			script_run(&run, &script_settings, &request, answers, ING_ARRAY_LEN(places),
				(enum script_order)order);
			texts[order] = found(run.assembly);
			side_by_side += run.most_at_once > 1;
			restarts += strstr(run.urls, "doi.test/10.1/X") != NULL &&
				    strstr(run.urls, "doi.test/10.1/Y") != NULL;
			ing_assembly_free(run.assembly);
		}
		for (int order = 1; order < 3; order++)
			assert_same(world, texts[0], texts[order]);
		for (int order = 0; order < 3; order++)
			free(texts[order]);
	}
	assert_true(side_by_side > WORLDS / 4);
	assert_true(restarts > WORLDS / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found_does_not_depend_on_who_answers_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
