/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of sources: place and words of every error, options, names.
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
#include "common/base/report.h"
#include "worker/seeds/source.h"

#define DIR ING_SOURCE_DIR "/deploy/seedlists"

static const struct {
	const char *yaml, *want;
} faults[] = {
	{"", "x:1:1: a source must be a map, not a text\n"},
	{"[a", "x:2:1: did not find expected ',' or ']' while parsing a flow sequence (line 1)\n"},
	{"about: a\nshape: b\nformat: lines\nfields: {base_url: {path: line}, ingest_type: pdf}\nskips: []\n",
		"x:5:1: there is no key \"skips\"; did you mean \"skip\"?\n"},
	{"format: jsonn\n",
		"x:1:1: a source needs a about\nx:1:1: a source needs a shape\nx:1:1: a source needs fields\n"
		"x:1:9: there is no format \"jsonn\"; did you mean \"jsonl\"?\n"},
	{"about: a\nshape: b\nformat: lines\nfields:\n  base_url: {path: 'a..b', as: [dio]}\n  ingest_type: {path: a, map: {x: pfd}}\n  ext_id.doi: a\n",
		"x:5:20: a step of a path is empty: \"a..b\"\n"
		"x:5:33: there is no normal form \"dio\"; did you mean doi\n"
		"x:6:16: \"pfd\" is none of pdf file html xml src component publication webpage webcapture fileset dataset\n"
		"x:7:3: there is no field \"ext_id.doi\"; there are base_url, ingest_type, link_source, link_source_id, "
		"ingest_request_source, release_stage, rel, title, created, and ext_ids.NAME, edit_extra.NAME, fatcat.NAME\n"},
	{"about: a\nshape: b\nformat: lines\nfields: {base_url: {as: url}, rel: {path: 'a[b]', const: c, otherwise: d}}\n",
		"x:4:9: fields must have ingest_type\nx:4:20: a value needs one of path, parts, const\n"
		"x:4:36: a value needs one of path, parts, const\nx:4:36: otherwise needs a map\n"
		"x:4:43: brackets in a path must be NAME[MEMBER=TEXT]: \"a[b]\"\n"},
	{"about: a\nshape: b\nformat: lines\nfields: {base_url: {path: line}, ingest_type: pdf}\n"
	 "skip:\n  - {path: a, in: [b]}\n  - {reason: A, path: a, in: [b], longer: 3}\n  - {reason: a, field: doi, missing: true}\n  - x\n"
	 "  - {reason: a, path: b, hosts: ['a b']}\n",
		"x:6:5: a rule needs a reason\n"
		"x:7:5: a rule needs one of missing: true, present: true, in, not_in, prefix, not_prefix, contains, contains_none, hosts, "
		"not_hosts, longer\n"
		"x:7:14: a reason has small letters, digits and hyphens only\n"
		"x:8:24: fields have no doi\nx:9:5: a rule must be a map, not a text\n"
		"x:10:34: host must be a host name, or .NAME for it and all names below\n"},
	{"about: a\nshape: b\nformat: csv\nreader: {separator: '', header: maybe, colums: []}\nrequests: []\neach: {path: a}\n",
		"x:4:21: separator must not be empty or contain NUL\n"
		"x:4:33: header must be one of no, yes\n"
		"x:4:40: there is no key \"colums\"; did you mean \"columns\"?\n"
		"x:5:11: requests must not be empty\nx:6:7: with requests, each belongs to one of them\nx:6:7: each needs a as\n"},
};

static void every_error_is_in_one_report(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(faults); i++) {
		struct ing_seed_source *s = NULL;
		struct ing_report report = {0};
		struct ing_error err = {0};
		char *text = NULL;
		size_t bytes = 0;
		int rc = ing_seed_source_parse(
			"x", faults[i].yaml, strlen(faults[i].yaml), NULL, &s, &report, &err);
		FILE *f = open_memstream(&text, &bytes);
		ing_report_sort(&report);
		ing_report_print_errors(&report, f);
		fclose(f);
		assert_string_equal(text, faults[i].want);
		assert_int_equal(rc, -ING_FAIL_CONFIG);
		free(text);
		ing_report_done(&report);
	}
}

static const struct {
	const char *settings[3];
	const char *want; /* NULL: good */
} settings[] = {
	{{"link_source=pmc", NULL}, NULL},
	{{"header=no", "separator=;", NULL}, NULL},
	{{"link_surce=pmc", NULL}, "csv has no option link_surce; did you mean link_source?"},
	{{"link_source", NULL}, "\"link_source\" is not NAME=VALUE"},
	{{"link_source=", NULL}, "option link_source is empty"},
	{{"header=maybe", NULL}, "option header is one of yes, no, not \"maybe\""},
};

static void options_are_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(settings); i++) {
		struct ing_seed_source *s = NULL;
		struct ing_report report = {0};
		struct ing_error err = {0};
		int rc = ing_seed_source_load(DIR, "csv", settings[i].settings, &s, &report, &err);
		assert_int_equal(rc, settings[i].want == NULL ? 0 : -ING_FAIL_USAGE);
		assert_string_equal(err.msg, settings[i].want == NULL ? "" : settings[i].want);
		ing_seed_source_free(s);
		ing_report_done(&report);
	}
}

static void an_option_that_is_needed_must_be_given(void **state)
{
	(void)state;
	static const char yaml[] =
		"about: a\nshape: b\nformat: lines\noptions: {kind: {about: what}}\n"
		"fields: {base_url: {path: line}, ingest_type: pdf, rel: '{kind}'}\n";
	static const char *const none[] = {NULL};
	struct ing_seed_source *s = NULL;
	struct ing_report report = {0};
	struct ing_error err = {0};
	assert_int_equal(
		ing_seed_source_parse("x", yaml, sizeof(yaml) - 1, none, &s, &report, &err),
		-ING_FAIL_USAGE);
	assert_string_equal(err.msg, "x needs option kind: what");
	assert_int_equal(
		ing_seed_source_parse("x", yaml, sizeof(yaml) - 1, NULL, &s, &report, &err), 0);
	size_t count;
	assert_string_equal(ing_seed_source_options(s, &count)[0].name, "kind");
	assert_int_equal(count, 1);
	ing_seed_source_free(s);
	ing_report_done(&report);
}

static void a_name_is_looked_for_in_the_folder_and_a_path_is_a_file(void **state)
{
	(void)state;
	static const char *const none[] = {NULL};
	struct ing_seed_source *s = NULL;
	struct ing_report report = {0};
	struct ing_error err = {0};
	assert_int_equal(ing_seed_source_load(DIR, "unpaywal", none, &s, &report, &err),
		-ING_FAIL_NOT_FOUND);
	assert_string_equal(err.msg, "there is no source unpaywal; did you mean unpaywall?");
	err = (struct ing_error){0};
	assert_int_equal(
		ing_seed_source_load(DIR, "./urls", none, &s, &report, &err), -ING_FAIL_NOT_FOUND);
	assert_int_equal(ing_seed_source_load("/nowhere", "urls", none, &s, &report, &err),
		-ING_FAIL_NOT_FOUND);
	assert_int_equal(
		ing_seed_source_load("/nowhere", DIR "/urls.yaml", none, &s, &report, &err), 0);
	assert_string_equal(ing_seed_source_name(s), "urls");
	assert_string_equal(ing_seed_source_format(s), "lines");
	assert_int_equal(report.errors, 0);
	ing_seed_source_free(s);
	ing_report_done(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_error_is_in_one_report),
		cmocka_unit_test(options_are_checked),
		cmocka_unit_test(an_option_that_is_needed_must_be_given),
		cmocka_unit_test(a_name_is_looked_for_in_the_folder_and_a_path_is_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
