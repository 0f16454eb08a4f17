/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table of options, from which come those of command lines and of jobs. Values are brought to the form in which the
 * tables have them, so that nothing is not found for its writing.
 */
#include "worker/ctl/requests/selection_options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "worker/ctl/ctl.h"
#include "worker/ctl/requests/selection_words.h"
#include "worker/ctl/usage.h"

#define FIRST_OPTION 0x1000 /* what getopt returns for the first row of the table */
#define MAX_LIMIT (UINT64_MAX / 4)
#define MAX_SLICES 1000000
#define MAX_ATTEMPTS 1000000

/* --- setters --- */

typedef int set_f(struct ing_selection *s, const char *value, struct ing_error *err);

static int set_list(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_word(&s->lists, value, NULL, err);
}

static int set_type(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_words(&s->types, value, ing_selection_type, err);
}

static int set_source(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_words(&s->sources, value, NULL, err);
}

static int set_link_source(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_words(&s->link_sources, value, NULL, err);
}

static int set_status(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_words(&s->statuses, value, ing_selection_status, err);
}

static int set_terminal_status(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_words(&s->terminal_codes, value, ing_selection_http_status, err);
}

static int set_host(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_words(&s->hosts, value, ing_selection_host, err);
}

static int set_domain(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_words(&s->domains, value, ing_selection_host, err);
}

static int set_doi_prefix(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_words(&s->doi_prefixes, value, ing_selection_doi_prefix, err);
}

static int set_class(struct ing_selection *s, const char *value, struct ing_error *err)
{
	char *copy = ing_strdup(value);
	char *rest = copy;
	int rc = 0;
	for (char *word; rc == 0 && (word = strsep(&rest, ",")) != NULL;) {
		unsigned one = 0;
		rc = ing_selection_class(word, &one, err);
		s->classes |= one;
	}
	free(copy);
	return rc;
}

static int set_new(struct ing_selection *s, const char *value, struct ing_error *err)
{
	(void)value;
	(void)err;
	s->only_new = true;
	return 0;
}

static int set_since(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_moment(value, &s->created_from_ms, err);
}

static int set_until(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_moment(value, &s->created_to_ms, err);
}

static int set_request_age(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_ages(value, &s->request_age_from_s, &s->request_age_to_s, err);
}

static int set_result_age(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_ages(value, &s->result_age_from_s, &s->result_age_to_s, err);
}

static int read_number(const char *value, uint64_t max, uint64_t *ret, struct ing_error *err)
{
	if (ing_ctl_number(value, max, ret))
		return 0;
	return ing_error_set(
		err, ING_FAIL_USAGE, "\"%s\" is no number from 1 to %" PRIu64, value, max);
}

static int set_attempts_below(struct ing_selection *s, const char *value, struct ing_error *err)
{
	uint64_t n = 0;
	int rc = read_number(value, MAX_ATTEMPTS, &n, err);
	s->attempts_below = (unsigned)n;
	return rc;
}

static int set_limit(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return read_number(value, MAX_LIMIT, &s->limit, err);
}

static int set_per_host(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return read_number(value, MAX_LIMIT, &s->per_host, err);
}

static int set_share(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_percent(value, &s->share, err);
}

static int set_slice(struct ing_selection *s, const char *value, struct ing_error *err)
{
	char first[16];
	uint64_t k = 0;
	uint64_t n = 0;
	size_t bytes = strcspn(value, "/");
	snprintf(first, sizeof(first), "%.*s", (int)ING_MIN(bytes, sizeof(first) - 1), value);
	if (value[bytes] != '/' || !ing_ctl_number(first, MAX_SLICES, &k) ||
		!ing_ctl_number(value + bytes + 1, MAX_SLICES, &n) || k > n)
		return ing_error_set(
			err, ING_FAIL_USAGE, "\"%s\" is no slice like 1/4, from 1/4 to 4/4", value);
	s->slice = (unsigned)k;
	s->slices = (unsigned)n;
	return 0;
}

static int set_random(struct ing_selection *s, const char *value, struct ing_error *err)
{
	size_t digits = strspn(value, "0123456789");
	errno = 0;
	uint64_t seed = strtoull(value, NULL, 10);
	if (digits == 0 || value[digits] != '\0' || errno != 0)
		return ing_error_set(err, ING_FAIL_USAGE, "\"%s\" is no number", value);
	s->random = true;
	s->seed = seed;
	return 0;
}

static int set_exclude_large(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return ing_selection_add_hosts(&s->without_hosts, value, err);
}

/* --- the table --- */

enum {
	SELECT_LIST = FIRST_OPTION,
	SELECT_TYPE,
	SELECT_SOURCE,
	SELECT_LINK_SOURCE,
	SELECT_STATUS,
	SELECT_TERMINAL_STATUS,
	SELECT_CLASS,
	SELECT_NEW,
	SELECT_HOST,
	SELECT_DOMAIN,
	SELECT_DOI_PREFIX,
	SELECT_EXCLUDE_LARGE,
	SELECT_SINCE,
	SELECT_UNTIL,
	SELECT_REQUEST_AGE,
	SELECT_RESULT_AGE,
	SELECT_ATTEMPTS_BELOW,
	SELECT_LIMIT,
	SELECT_PER_HOST,
	SELECT_SHARE,
	SELECT_SLICE,
	SELECT_RANDOM,
	SELECT_END,
};

static const struct ing_option rows[] = {
	{"list", "NAME", "of this list, brought by it or there before; of any of several",
		.code = SELECT_LIST},
	{"type", "T,…", "of these types: pdf, html, xml, …", .code = SELECT_TYPE,
		.words = ING_WORDS_TYPES},
	{"source", "S,…", "with this ingest_request_source", .code = SELECT_SOURCE},
	{"link-source", "S,…", "with this link_source", .code = SELECT_LINK_SOURCE},
	{"status", "S,…", "with this status of the last result", .code = SELECT_STATUS,
		.words = ING_WORDS_STATUSES},
	{"terminal-status", "N,…", "HTTP status with which it ended",
		.code = SELECT_TERMINAL_STATUS},
	{"class", "C,…",
		"of these classes: never-asked, queued (asked, and not answered since), retry-due, retry-later, ended (no hit, not worth asking again), hit",
		.code = SELECT_CLASS,
		.words = ",never-asked queued retry-due retry-later ended hit"},
	{"new", NULL,
		"documents that were never queued nor answered, under whatever writing of their URL (http or https, with or without www.)",
		.code = SELECT_NEW},
	{"host", "H,…", "at this host (of base_url, without www.)", .code = SELECT_HOST},
	{"domain", "D,…", "at this host or any below it", .code = SELECT_DOMAIN},
	{"doi-prefix", "P,…", "of this DOI prefix, as in 10.1234", .code = SELECT_DOI_PREFIX},
	{"exclude-large", "FILE", "but hosts in this file and all below them, one a line",
		.code = SELECT_EXCLUDE_LARGE, .words = ING_WORDS_FILE},
	{"since", "T",
		"created since then: 2026-11-21, 2026-11-21T11:00:00 (UTC), or so long ago: 90s, 30m, 12h, 7d, 2w",
		.code = SELECT_SINCE},
	{"until", "T", "created before then", .code = SELECT_UNTIL},
	{"request-age", "A..B", "created at least A and less than B ago: 8h..8d, 8h.., ..8d",
		.code = SELECT_REQUEST_AGE},
	{"result-age", "A..B", "the same of the last result", .code = SELECT_RESULT_AGE},
	{"attempts-below", "N", "with fewer results than N so far", .code = SELECT_ATTEMPTS_BELOW},
	{"limit", "N", "so many of all these", .code = SELECT_LIMIT},
	{"per-host", "N",
		"so many of one host; of requests that start at a DOI resolver, of one DOI prefix",
		.code = SELECT_PER_HOST},
	{"share", "P",
		"no more than P percent of what is selected of one host (or DOI prefix), also when there are fewer than --limit",
		.code = SELECT_SHARE},
	{"slice", "K/N", "the K-th of N parts that have nothing in common", .code = SELECT_SLICE},
	{"random", "SEED", "in an order that follows from the number; with --limit, a sample",
		.code = SELECT_RANDOM},
	{0},
};

static set_f *const setters[] = {
	[SELECT_LIST - FIRST_OPTION] = set_list,
	[SELECT_TYPE - FIRST_OPTION] = set_type,
	[SELECT_SOURCE - FIRST_OPTION] = set_source,
	[SELECT_LINK_SOURCE - FIRST_OPTION] = set_link_source,
	[SELECT_STATUS - FIRST_OPTION] = set_status,
	[SELECT_TERMINAL_STATUS - FIRST_OPTION] = set_terminal_status,
	[SELECT_CLASS - FIRST_OPTION] = set_class,
	[SELECT_NEW - FIRST_OPTION] = set_new,
	[SELECT_HOST - FIRST_OPTION] = set_host,
	[SELECT_DOMAIN - FIRST_OPTION] = set_domain,
	[SELECT_DOI_PREFIX - FIRST_OPTION] = set_doi_prefix,
	[SELECT_EXCLUDE_LARGE - FIRST_OPTION] = set_exclude_large,
	[SELECT_SINCE - FIRST_OPTION] = set_since,
	[SELECT_UNTIL - FIRST_OPTION] = set_until,
	[SELECT_REQUEST_AGE - FIRST_OPTION] = set_request_age,
	[SELECT_RESULT_AGE - FIRST_OPTION] = set_result_age,
	[SELECT_ATTEMPTS_BELOW - FIRST_OPTION] = set_attempts_below,
	[SELECT_LIMIT - FIRST_OPTION] = set_limit,
	[SELECT_PER_HOST - FIRST_OPTION] = set_per_host,
	[SELECT_SHARE - FIRST_OPTION] = set_share,
	[SELECT_SLICE - FIRST_OPTION] = set_slice,
	[SELECT_RANDOM - FIRST_OPTION] = set_random,
};
_Static_assert(ING_ARRAY_LEN(setters) == SELECT_END - FIRST_OPTION, "a setter for each");

static const struct ing_options selection = {
	.name = "Selections",
	.title =
		"Which requests; of several options all must hold, and the words of a comma list, or of "
		"an option that is given several times, are alternatives:",
	.rows = rows,
	.notes =
		"What came of a request is the result of its document, under whatever writing of its URL (http "
		"or https, with or without www.): a hit, else the newest. With fewer hosts than --share takes "
		"nothing is selected.",
};

static const struct ing_option *find_row(const char *name)
{
	for (const struct ing_option *row = rows; row->name != NULL; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

static int set(struct ing_selection_options *o, const struct ing_option *row, const char *value,
	struct ing_error *err)
{
	int rc = setters[row->code - FIRST_OPTION](&o->selection, value, err);
	if (rc != 0)
		ing_error_context(err, "%s", row->name);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_options *const ing_selection_shared[] = {&selection, NULL};

void ing_selection_options_init(struct ing_selection_options *o)
{
	*o = (struct ing_selection_options){0};
}

void ing_selection_options_done(struct ing_selection_options *o)
{
	struct ing_selection *s = &o->selection;
	struct ing_words *const all[] = {&s->lists, &s->types, &s->sources, &s->link_sources,
		&s->statuses, &s->doi_prefixes, &s->terminal_codes, &s->hosts, &s->domains,
		&s->without_hosts};
	for (size_t i = 0; i < ING_ARRAY_LEN(all); i++)
		ing_selection_free_words(all[i]);
}

int ing_selection_set(
	struct ing_selection_options *o, const char *name, const char *value, struct ing_error *err)
{
	const struct ing_option *row = find_row(name);
	if (row == NULL)
		return ing_error_set(err, ING_FAIL_NOT_FOUND, "there is no option %s", name);
	return set(o, row, value, err);
}

bool ing_selection_has_option(const char *name, bool *ret_takes_value)
{
	const struct ing_option *row = find_row(name);
	if (row != NULL)
		*ret_takes_value = row->value != NULL;
	return row != NULL;
}

bool ing_selection_take_option(
	struct ing_selection_options *o, const char *verb, int c, int *ret_code)
{
	struct ing_error err = {0};
	if (c < FIRST_OPTION || c >= SELECT_END)
		return false;
	*ret_code = -1;
	if (set(o, &rows[c - FIRST_OPTION], optarg, &err) != 0)
		*ret_code = ing_ctl_fail(
			err.code == ING_FAIL_SYSTEM ? ING_CTL_ENVIRONMENT : ING_CTL_USAGE, verb,
			"--%s", err.msg);
	return true;
}

int ing_selection_fail(const char *verb, const struct ing_error *err)
{
	return ing_ctl_fail(err->code == ING_FAIL_NOT_FOUND ? ING_CTL_USAGE : ing_ctl_exit_of(err),
		verb, "%s", err->msg);
}

void ing_selection_explain(
	const char *verb, const struct ing_selection *s, const struct ing_selection_facts *facts)
{
	if (s->share > 0 && facts->total == 0 && facts->candidates > 0)
		fprintf(stderr,
			"ingestctl %s: nothing is selected: for --share %g it takes at least %.0f"
			" requests, of as many hosts\n",
			verb, s->share, ceil(100 / s->share));
}
