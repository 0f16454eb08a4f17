/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs are read as they are meant, or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/report.h"
#include "worker/ctl/enqueue/reingest_jobs.h"

#define DAY 86400

static struct ing_reingest_jobs *parse(const char *text)
{
	struct ing_report report = {0};
	struct ing_reingest_jobs *jobs =
		ing_reingest_jobs_parse("jobs", text, strlen(text), &report);
	if (jobs == NULL)
		ing_report_print_errors(&report, stderr);
	ing_report_done(&report);
	assert_non_null(jobs);
	return jobs;
}

static bool has(const struct ing_words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->words[i], word) == 0)
			return true;
	return false;
}

static void a_job_is_read_whole(void **state)
{
	(void)state;
	struct ing_reingest_jobs *jobs = parse("jobs:\n"
					       "  one:\n"
					       "    about: what it is for\n"
					       "    types: [pdf, file, html]\n"
					       "    sources: unpaywall\n"
					       "    link_sources: [doi]\n"
					       "    lists: [a list]\n"
					       "    statuses: [soon, no-pdf-link]\n"
					       "    terminal_codes: [404, 500]\n"
					       "    doi_prefixes: ['10.1234']\n"
					       "    hosts: [a.example]\n"
					       "    domains: [b.example]\n"
					       "    without_hosts: [c.example]\n"
					       "    requests: [retry-due, ended]\n"
					       "    request_age: {from: 8h, to: 8d}\n"
					       "    result_age: {from: 90s}\n"
					       "    attempts_below: 5\n"
					       "    lost_after: 3w\n"
					       "    lost_only: true\n"
					       "    per_host: 7\n"
					       "    share: 2.5\n"
					       "    limit: 80000\n"
					       "    lane: bulk\n"
					       "    max_lag: 100\n"
					       "    force_recrawl: true\n"
					       "  two: {types: [xml]}\n"
					       "  three: {limit: 1000, share: 2.5}\n"
					       "  four: {limit: 10, share: 2.5}\n");
	assert_int_equal(ing_reingest_jobs_count(jobs), 4);
	const struct ing_reingest_job *job = ing_reingest_jobs_get(jobs, 0);
	const struct ing_selection *s = &job->selection;
	assert_string_equal(job->name, "one");
	assert_string_equal(job->about, "what it is for");
	assert_int_equal(job->line, 2);
	assert_int_equal(s->types.count, 3);
	assert_string_equal(s->types.words[1], "pdf");
	assert_true(s->sources.count == 1 && has(&s->sources, "unpaywall"));
	assert_true(has(&s->link_sources, "doi") && has(&s->lists, "a list"));
	assert_true(has(&s->statuses, "read-timeout") && has(&s->statuses, "connect-error"));
	assert_true(has(&s->statuses, "no-pdf-link") && !has(&s->statuses, "tls-error"));
	assert_true(has(&s->terminal_codes, "404") && has(&s->doi_prefixes, "10.1234"));
	assert_true(has(&s->hosts, "a.example") && has(&s->domains, "b.example"));
	assert_true(has(&s->without_hosts, "c.example"));
	assert_int_equal(s->classes, ING_CLASS_RETRY_DUE | ING_CLASS_ENDED);
	assert_int_equal(s->request_age_from_s, 8 * 3600);
	assert_int_equal(s->request_age_to_s, 8 * DAY);
	assert_int_equal(s->result_age_from_s, 90);
	assert_int_equal(s->result_age_to_s, 0);
	assert_int_equal(s->attempts_below, 5);
	assert_int_equal(s->lost_after_s, 21 * DAY);
	assert_true(s->lost_only && job->force_recrawl);
	assert_true(s->per_host == 7 && s->limit == 80000);
	assert_int_equal(ing_reingest_jobs_find(jobs, "three")->selection.per_host, 25);
	assert_int_equal(ing_reingest_jobs_find(jobs, "four")->selection.per_host, 1);
	assert_string_equal(job->lane, "bulk");
	assert_int_equal(job->max_lag, 100);
	job = ing_reingest_jobs_find(jobs, "two");
	assert_int_equal(job->selection.classes, ING_CLASS_RETRY_DUE);
	assert_int_equal(job->selection.lost_after_s, 14 * DAY);
	assert_true(job->lane == NULL && job->max_lag == 0 && job->about == NULL);
	assert_null(ing_reingest_jobs_find(jobs, "five"));
	ing_reingest_jobs_free(jobs);
}

static void statuses_are_named_by_their_class(void **state)
{
	(void)state;
	struct ing_reingest_jobs *jobs = parse(
		"jobs: {a: {statuses: [later]}, b: {statuses: [never], limit: 1}, c: {statuses: [soon, later, never]}}");
	const struct ing_words *later = &ing_reingest_jobs_get(jobs, 0)->selection.statuses;
	const struct ing_words *never = &ing_reingest_jobs_get(jobs, 1)->selection.statuses;
	const struct ing_words *all = &ing_reingest_jobs_get(jobs, 2)->selection.statuses;
	assert_true(
		has(later, "skip-robots") && !has(later, "timeout") && !has(later, "invalid-url"));
	assert_true(has(never, "invalid-url") && !has(never, "success") && !has(never, "existing"));
	assert_true(has(all, "timeout") && has(all, "skip-robots") && has(all, "invalid-url"));
	ing_reingest_jobs_free(jobs);
}

/* What says who a repeated command is must change with whatever changes what is selected or sent. */
static void a_job_that_is_changed_is_another(void **state)
{
	(void)state;
	struct ing_reingest_jobs *jobs = parse(
		"jobs:\n  a: {types: [pdf], limit: 5}\n  b: {about: words, types: [pdf], limit: 5}\n"
		"  c: {types: [pdf], limit: 6}\n  d: {types: [pdf, xml], limit: 5}\n"
		"  e: {types: [pdf], limit: 5, force_recrawl: true}\n");
	const char *first = ing_reingest_jobs_get(jobs, 0)->asked;
	assert_string_equal(first, ing_reingest_jobs_get(jobs, 1)->asked);
	for (size_t i = 2; i < ing_reingest_jobs_count(jobs); i++)
		assert_string_not_equal(first, ing_reingest_jobs_get(jobs, i)->asked);
	ing_reingest_jobs_free(jobs);
}

static void what_is_not_understood_is_named_with_its_position(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", "jobs:1:1: "},
		{"[]", "jobs:1:1: "},
		{"jobs: {}", "jobs:1:7: jobs must be a map of jobs by name"},
		{"jobs: [a]", "jobs:1:7: "},
		{"jobs: {a: [pdf]}", "jobs:1:11: a job is a map"},
		{"jobs: {A b: {}}", "jobs:1:8: the name of a job has"},
		{"jobs: {a: {typs: [pdf]}}",
			"jobs:1:12: there is no key \"typs\"; did you mean \"types\"?"},
		{"jobs: {a: {types: [pfd]}}", "jobs:1:20: there is no type \"pfd\""},
		{"jobs: {a: {types: []}}", "jobs:1:19: types must be a list of words"},
		{"jobs: {a: {types: {b: c}}}", "jobs:1:19: types must be a list of words"},
		{"jobs: {a: {types: [[pdf]]}}", "jobs:1:20: types must be a list of words"},
		{"jobs: {a: {types: ~}}", "jobs:1:19: types must be a list of words"},
		{"jobs: {a: {statuses: [sooner]}}", "jobs:1:23: there is no status \"sooner\""},
		{"jobs: {a: {terminal_codes: [40]}}", "jobs:1:29: not an HTTP status"},
		{"jobs: {a: {doi_prefixes: [10.1/2]}}", "jobs:1:27: not a DOI prefix"},
		{"jobs: {a: {hosts: [www.a.example]}}",
			"jobs:1:20: not a host in lower case without www."},
		{"jobs: {a: {hosts: ['https://a.example']}}", "jobs:1:20: not a host"},
		{"jobs: {a: {requests: [new]}}", "jobs:1:23: requests are retry-due"},
		{"jobs: {a: {request_age: 8h}}", "jobs:1:25: "},
		{"jobs: {a: {request_age: {from: 8}}}", "jobs:1:32: from must be an age"},
		{"jobs: {a: {request_age: {from: 0d}}}", "jobs:1:32: from must be an age"},
		{"jobs: {a: {request_age: {from: 99999999d}}}", "jobs:1:32: from must be an age"},
		{"jobs: {a: {request_age: {from: 2d, to: 48h}}}",
			"jobs:1:25: request_age: from must be less than to"},
		{"jobs: {a: {request_age: {since: 2d}}}", "jobs:1:26: there is no key \"since\""},
		{"jobs: {a: {lost_after: soon}}", "jobs:1:24: lost_after must be an age"},
		{"jobs: {a: {limit: 0}}", "jobs:1:19: "},
		{"jobs: {a: {limit: 1e6}}", "jobs:1:19: "},
		{"jobs: {a: {share: 0}}", "jobs:1:19: share must be a number over 0, up to 100"},
		{"jobs: {a: {share: nan}}", "jobs:1:19: share must be"},
		{"jobs: {a: {share: 101}}", "jobs:1:19: share must be"},
		{"jobs: {a: {share: 10}}", "jobs:1:19: share is a part of the limit"},
		{"jobs: {a: {lane: fast}}", "jobs:1:18: there is no lane \"fast\""},
		{"jobs: {a: {force_recrawl: 1}}", "jobs:1:27: "},
		{"jobs: {a: {requests: ended}}", "jobs:1:11: a job that asks before it is due"},
		{"jobs: {a: {requests: never-asked, statuses: soon}}",
			"jobs:1:11: requests that were never asked have no status"},
		{"jobs: {a: {}}\njob: {}", "jobs:2:1: there is no key \"job\""},
		{"jobs: {a: {}, a: {}}", "jobs:1:15: "},
		{"jobs: {a: &b {}, c: *b}", "jobs:1:"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_report report = {0};
		char line[700] = "";
		assert_null(ing_reingest_jobs_parse(
			"jobs", cases[i].text, strlen(cases[i].text), &report));
		assert_true(report.count > 0);
		ing_report_format_line(&report.lines[0], line, sizeof(line));
		if (strncmp(line, cases[i].want, strlen(cases[i].want)) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", cases[i].text, line, cases[i].want);
		ing_report_done(&report);
	}
}

static void the_jobs_that_come_with_it_are_those_that_were_deployed(void **state)
{
	(void)state;
	static const struct {
		const char *name, *lane;
		uint64_t limit;
		int64_t age_from_s, age_to_s;
		size_t types, sources;
		bool force;
	} want[] = {
		{"weekly", "daily", 80000, 8 * 3600, 8 * DAY, 4, 3, false},
		{"quarterly", "daily", 120000, 8 * 3600, 91 * DAY, 4, 8, false},
		{"bulk", "bulk", 1000000, 24 * 3600, 181 * DAY, 2, 2, false},
		{"old", "daily", 250000, 6 * DAY, 0, 0, 8, false},
		{"spn", "priority", 60000, 6 * 3600, 180 * DAY, 4, 1, false},
		{"terminal-status", "daily", 100000, 72 * 3600, 10 * DAY, 0, 2, true},
		{"lost", "daily", 250000, 0, 0, 0, 0, false},
	};
	struct ing_report report = {0};
	struct ing_reingest_jobs *jobs =
		ing_reingest_jobs_load(ING_SOURCE_DIR "/deploy/reingest.yaml", &report);
	assert_non_null(jobs);
	assert_int_equal(report.warnings, 0);
	assert_int_equal(ing_reingest_jobs_count(jobs), ING_ARRAY_LEN(want));
	for (size_t i = 0; i < ING_ARRAY_LEN(want); i++) {
		const struct ing_reingest_job *job = ing_reingest_jobs_find(jobs, want[i].name);
		assert_non_null(job);
		const struct ing_selection *s = &job->selection;
		assert_string_equal(job->lane, want[i].lane);
		assert_true(s->limit == want[i].limit && job->force_recrawl == want[i].force);
		assert_true(s->request_age_from_s == want[i].age_from_s);
		assert_true(s->request_age_to_s == want[i].age_to_s);
		assert_true(s->types.count == want[i].types && s->sources.count == want[i].sources);
		assert_true(s->lost_only || (s->classes & ING_CLASS_RETRY_DUE) != 0);
		assert_false(has(&s->statuses, "invalid-url") || has(&s->statuses, "success"));
	}
	ing_reingest_jobs_free(jobs);
	ing_report_done(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_read_whole),
		cmocka_unit_test(statuses_are_named_by_their_class),
		cmocka_unit_test(a_job_that_is_changed_is_another),
		cmocka_unit_test(what_is_not_understood_is_named_with_its_position),
		cmocka_unit_test(the_jobs_that_come_with_it_are_those_that_were_deployed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
