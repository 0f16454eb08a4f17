/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is compared: what the request says, what the landing page says, and the document.
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
#include "worker/artifact/artifact.h"
#include "worker/artifact/match.h"

#define NAME "Sediment transport in tidal creeks of the northern estuary"
#define OTHER "A survey of heron colonies and their breeding success inland"
#define BODY                                                                                          \
	" Abstract. We have measured what the tide carries into the marsh and out of it, over two "   \
	"years and at seventeen stations. The larger part settles within the first hundred metres. "  \
	"Introduction. Salt marshes grow by what the water leaves behind. How much that is has been " \
	"estimated by several groups, with results that differ by an order of magnitude, and the "    \
	"reasons are not known. Methods. Samples were taken at high water with bottles."

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

static double score(const json_t *match)
{
	return json_real_value(json_object_get(match, "score"));
}

static json_t *match_of(const struct ing_artifact *a, const char *request)
{
	json_t *r = ing_json_parse(request, strlen(request), &ing_json_own, NULL);
	assert_non_null(r);
	json_t *match = ing_artifact_match_json(a, r);
	json_decref(r);
	return match;
}

static void the_landing_page_fills_what_the_request_does_not_say(void **state)
{
	(void)state;
	struct ing_artifact a = {0};
	static const char record[] =
		"{\"title\":\"" NAME "\",\"doi\":\"10.1234/abc\",\"contrib_names\":[\"A Abara\"],"
		"\"first_page\":\"11\",\"last_page\":\"20\"}";
	static const char text[] = NAME " A Abara" BODY " doi:10.1234/abc";
	a.biblio = ing_json_parse(record, sizeof(record) - 1, &ing_json_own, NULL);
	a.pdf.status = ing_strdup("success");
	a.pdf.page_count = 10;
	ing_derived_set(&a.derived[ING_DERIVED_PDF_TEXT], ing_strdup(text), sizeof(text) - 1);

	json_t *match = match_of(&a, "{}");
	assert_string_equal(joined_reasons(match), "doi title authors pages");
	assert_true(score(match) > 0.98);
	json_decref(match);

	/* The page is of another work than the request, and the document is the page's. */
	match = match_of(&a, "{\"ext_ids\":{\"doi\":\"10.1234/else\"},\"title\":\"" OTHER "\"}");
	assert_string_equal(joined_reasons(match),
		"other-doi no-title authors pages landing-page-other-ids "
		"landing-page-other-title");
	assert_true(score(match) < 0.05);
	json_decref(match);

	/* What a request carries along under these names may be anything. */
	match = match_of(&a, "{\"ext_ids\":7,\"title\":{},\"authors\":\"x\"}");
	assert_string_equal(joined_reasons(match), "doi title authors pages");
	json_decref(match);
	ing_artifact_done(&a);
}

static void a_page_is_compared_with_the_request_alone(void **state)
{
	(void)state;
	struct ing_artifact a = {0};
	static const char record[] = "{\"title\":\"" NAME "\",\"doi\":\"10.1234/abc\"}";
	a.biblio = ing_json_parse(record, sizeof(record) - 1, &ing_json_own, NULL);
	a.text.status = ing_strdup("success");
	assert_null(match_of(&a, "{}"));
	json_t *match = match_of(&a, "{\"ext_ids\":{\"doi\":\"10.1234/ABC\"}}");
	assert_string_equal(joined_reasons(match), "doi");
	json_decref(match);
	match = match_of(&a, "{\"ext_ids\":{\"doi\":\"10.1234/x\"},\"title\":\"" OTHER "\"}");
	assert_string_equal(joined_reasons(match), "other-doi no-title");
	json_decref(match);
	ing_artifact_done(&a);
}

static void there_is_none_without_a_document_that_is_read(void **state)
{
	(void)state;
	struct ing_artifact a = {0};
	assert_null(match_of(&a, "{\"ext_ids\":{\"doi\":\"10.1234/x\"}}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_landing_page_fills_what_the_request_does_not_say),
		cmocka_unit_test(a_page_is_compared_with_the_request_alone),
		cmocka_unit_test(there_is_none_without_a_document_that_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
