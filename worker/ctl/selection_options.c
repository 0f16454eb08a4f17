/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table of options, from which come getopt's, those of jobs, and the help. Values are brought to the form in which the
 * tables have them, so that nothing is not found for its writing.
 */
#include "worker/ctl/selection_options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "worker/ctl/ctl.h"
#include "worker/ctl/selection_words.h"

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

static const struct row {
	const char *name;
	const char *argument; /* NULL: it takes none */
	const char *help;     /* lines */
	set_f *set;
} rows[] = {
	{"list", "NAME", "of this list, brought by it or there before; of any of several",
		set_list},
	{"type", "T,…", "pdf, html, xml, …", set_type},
	{"source", "S,…", "ingest_request_source", set_source},
	{"link-source", "S,…", "link_source", set_link_source},
	{"status", "S,…", "of the last result", set_status},
	{"terminal-status", "N,…", "HTTP status with which it ended", set_terminal_status},
	{"class", "C,…",
		"never-asked, queued (asked, and not answered since), retry-due,\n"
		"retry-later, ended (no hit, not worth asking again), hit",
		set_class},
	{"new", NULL,
		"documents that were never queued nor answered, under whatever\n"
		"writing of their URL (http or https, with or without www.)",
		set_new},
	{"host", "H,…", "of base_url, without www.", set_host},
	{"domain", "D,…", "this host and all below it", set_domain},
	{"doi-prefix", "P,…", "10.1234", set_doi_prefix},
	{"exclude-large", "FILE", "but hosts in this file and all below them, one a line",
		set_exclude_large},
	{"since", "T",
		"created since then: 2026-11-21, 2026-11-21T11:00:00 (UTC), or so\n"
		"long ago: 90s, 30m, 12h, 7d, 2w",
		set_since},
	{"until", "T", "created before then", set_until},
	{"request-age", "A..B", "created at least A and less than B ago: 8h..8d, 8h.., ..8d",
		set_request_age},
	{"result-age", "A..B", "the same of the last result", set_result_age},
	{"attempts-below", "N", "with fewer results than N so far", set_attempts_below},
	{"limit", "N", "so many of all these", set_limit},
	{"per-host", "N",
		"so many of one host; of requests that start at a DOI resolver,\n"
		"of one DOI prefix",
		set_per_host},
	{"share", "P",
		"no more than P percent of what is selected of one host (or DOI\n"
		"prefix), also when there are fewer than --limit",
		set_share},
	{"slice", "K/N", "the K-th of N parts that have nothing in common", set_slice},
	{"random", "SEED", "in an order that follows from the number; with --limit, a sample",
		set_random},
};
_Static_assert(ING_ARRAY_LEN(rows) <= ING_SELECTION_OPTIONS, "room of the verbs' options");

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

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
	const struct row *row = find_row(name);
	if (row == NULL)
		return ing_error_set(err, ING_FAIL_NOT_FOUND, "there is no option %s", name);
	int rc = row->set(&o->selection, value, err);
	if (rc != 0)
		ing_error_context(err, "%s", name);
	return rc;
}

bool ing_selection_has_option(const char *name, bool *ret_takes_value)
{
	const struct row *row = find_row(name);
	if (row != NULL)
		*ret_takes_value = row->argument != NULL;
	return row != NULL;
}

void ing_selection_append_options(struct option *longs, size_t own)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(rows); i++)
		longs[own + i] = (struct option){rows[i].name,
			rows[i].argument != NULL ? required_argument : no_argument, NULL,
			FIRST_OPTION + (int)i};
	longs[own + ING_ARRAY_LEN(rows)] = (struct option){0};
}

bool ing_selection_take_option(
	struct ing_selection_options *o, const char *verb, int c, int *ret_code)
{
	struct ing_error err = {0};
	if (c < FIRST_OPTION || c >= FIRST_OPTION + (int)ING_ARRAY_LEN(rows))
		return false;
	*ret_code = -1;
	if (ing_selection_set(o, rows[c - FIRST_OPTION].name, optarg, &err) != 0)
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

void ing_selection_print_help(void)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(rows); i++) {
		char option[40];
		snprintf(option, sizeof(option), "--%s %s", rows[i].name,
			rows[i].argument != NULL ? rows[i].argument : "");
		const char *line = rows[i].help;
		/* An ellipsis is three bytes wide. */
		int width = strstr(option, "…") != NULL ? 23 : 21;
		for (bool first = true; line != NULL; first = false) {
			int bytes = (int)strcspn(line, "\n");
			printf("  %-*s %.*s\n", first ? width : 21, first ? option : "", bytes,
				line);
			line = line[bytes] == '\n' ? line + bytes + 1 : NULL;
		}
	}
}
