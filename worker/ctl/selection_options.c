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

#include "common/base/buf.h"
#include "common/base/nearest.h"
#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/since.h"
#include "worker/model/ingest_type.h"
#include "worker/model/status.h"

#define FIRST_OPTION 0x1000 /* what getopt returns for the first row of the table */
#define MAX_WORD_BYTES 1000
#define MAX_LIMIT (UINT64_MAX / 4)
#define MAX_SLICES 1000000
#define MAX_ATTEMPTS 1000000
#define MAX_LARGE_LINE 4096
#define MAX_LARGE_HOSTS 1000000

/* --- words --- */

/* Brings a word into the form of the tables; to has room for MAX_WORD_BYTES and a NUL. */
typedef int read_word_f(const char *word, char *to, struct ing_error *err);

static void push_word(struct ing_words *words, const char *word)
{
	/* The selection only borrows them, so it has them as const. */
	const char **all = (const char **)(uintptr_t)words->words;
	bool full = (words->count & (words->count - 1)) == 0;
	if (full)
		all = ing_realloc(all, ING_MAX(2 * words->count, (size_t)1) * sizeof(*all));
	all[words->count++] = ing_strdup(word);
	words->words = all;
}

static void free_words(struct ing_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free((void *)(uintptr_t)words->words[i]);
	free((void *)(uintptr_t)words->words);
	*words = (struct ing_words){0};
}

static int add_word(
	struct ing_words *words, const char *word, read_word_f *read, struct ing_error *err)
{
	char form[MAX_WORD_BYTES + 1];
	size_t bytes = strlen(word);
	if (bytes == 0)
		return ing_error_set(err, ING_FAIL_USAGE, "an empty word");
	if (bytes > MAX_WORD_BYTES)
		return ing_error_set(err, ING_FAIL_USAGE, "longer than %d bytes", MAX_WORD_BYTES);
	if (!ing_utf8_valid(word, bytes))
		return ing_error_set(err, ING_FAIL_USAGE, "not valid UTF-8");
	memcpy(form, word, bytes + 1);
	int rc = read != NULL ? read(word, form, err) : 0;
	if (rc == 0)
		push_word(words, form);
	return rc;
}

/* Commas between them. */
static int add_words(
	struct ing_words *words, const char *value, read_word_f *read, struct ing_error *err)
{
	char *copy = ing_strdup(value);
	char *rest = copy;
	int rc = 0;
	for (char *word; rc == 0 && (word = strsep(&rest, ",")) != NULL;)
		rc = add_word(words, word, read, err);
	free(copy);
	return rc;
}

static int refuse_word(
	const char *what, const char *word, const struct ing_nearest *n, struct ing_error *err)
{
	if (n != NULL && n->best != NULL)
		return ing_error_set(err, ING_FAIL_USAGE,
			"there is no %s \"%s\"; did you mean \"%s\"?", what, word, n->best);
	return ing_error_set(err, ING_FAIL_USAGE, "there is no %s \"%s\"", what, word);
}

static int read_type(const char *word, char *to, struct ing_error *err)
{
	enum ing_ingest_type type;
	if (!ing_ingest_type_find(word, &type))
		return ing_error_set(
			err, ING_FAIL_USAGE, "\"%s\" is none of%s", word, ing_ingest_type_names);
	snprintf(to, MAX_WORD_BYTES, "%s", ing_ingest_type_name(type));
	return 0;
}

static int read_status(const char *word, char *to, struct ing_error *err)
{
	(void)to;
	if (ing_status_from_slug(word) >= 0)
		return 0;
	struct ing_nearest n = ing_nearest_of(word, strlen(word));
	for (int i = 0; i < ING_STATUS_COUNT_; i++)
		ing_nearest_try(&n, ing_status_slug((enum ing_status)i));
	return refuse_word("status", word, &n, err);
}

static int read_http_status(const char *word, char *to, struct ing_error *err)
{
	uint64_t n;
	if (!ing_ctl_number(word, 999, &n) || n < 100)
		return ing_error_set(
			err, ING_FAIL_USAGE, "\"%s\" is no HTTP status (100 to 999)", word);
	snprintf(to, MAX_WORD_BYTES, "%" PRIu64, n);
	return 0;
}

/* As ing_fact_host() has them; a whole URL is more than a host. */
static int read_host(const char *word, char *to, struct ing_error *err)
{
	char url[MAX_WORD_BYTES + 16];
	char host[ING_URL_HOST_BYTES];
	snprintf(url, sizeof(url), "http://%s/", word);
	ing_fact_host(url, host);
	if (host[0] == '\0' || host[0] == '.' || strpbrk(word, "/?#@\\*% \t\r\n") != NULL ||
		(word[0] != '[' && strchr(word, ':') != NULL))
		return ing_error_set(err, ING_FAIL_USAGE, "\"%s\" is no host", word);
	snprintf(to, MAX_WORD_BYTES, "%s", host);
	return 0;
}

static int read_doi_prefix(const char *word, char *to, struct ing_error *err)
{
	char doi[MAX_WORD_BYTES + 8];
	char prefix[ING_DOI_PREFIX_BYTES];
	size_t bytes = strcspn(word, "/");
	snprintf(doi, sizeof(doi), "%.*s/x", (int)bytes, word);
	ing_doi_prefix(doi, prefix);
	if (prefix[0] == '\0' || (word[bytes] == '/' && word[bytes + 1] != '\0'))
		return ing_error_set(err, ING_FAIL_USAGE,
			"\"%s\" is no DOI prefix, which is like 10.1234", word);
	snprintf(to, MAX_WORD_BYTES, "%s", prefix);
	return 0;
}

/* --- setters --- */

typedef int set_f(struct ing_selection *s, const char *value, struct ing_error *err);

static int set_list(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return add_word(&s->lists, value, NULL, err);
}

static int set_type(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return add_words(&s->types, value, read_type, err);
}

static int set_source(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return add_words(&s->sources, value, NULL, err);
}

static int set_link_source(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return add_words(&s->link_sources, value, NULL, err);
}

static int set_status(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return add_words(&s->statuses, value, read_status, err);
}

static int set_terminal_status(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return add_words(&s->terminal_codes, value, read_http_status, err);
}

static int set_host(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return add_words(&s->hosts, value, read_host, err);
}

static int set_domain(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return add_words(&s->domains, value, read_host, err);
}

static int set_doi_prefix(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return add_words(&s->doi_prefixes, value, read_doi_prefix, err);
}

static const struct {
	const char *name;
	enum ing_request_class one;
} classes[] = {
	{"never-asked", ING_CLASS_NEVER_ASKED},
	{"queued", ING_CLASS_QUEUED},
	{"retry-due", ING_CLASS_RETRY_DUE},
	{"retry-later", ING_CLASS_RETRY_LATER},
	{"ended", ING_CLASS_ENDED},
	{"hit", ING_CLASS_HIT},
};

static int add_class(struct ing_selection *s, const char *word, struct ing_error *err)
{
	struct ing_nearest n = ing_nearest_of(word, strlen(word));
	for (size_t i = 0; i < ING_ARRAY_LEN(classes); i++) {
		if (strcmp(word, classes[i].name) == 0) {
			s->classes |= classes[i].one;
			return 0;
		}
		ing_nearest_try(&n, classes[i].name);
	}
	return refuse_word("class", word, &n, err);
}

static int set_class(struct ing_selection *s, const char *value, struct ing_error *err)
{
	char *copy = ing_strdup(value);
	char *rest = copy;
	int rc = 0;
	for (char *word; rc == 0 && (word = strsep(&rest, ",")) != NULL;)
		rc = add_class(s, word, err);
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

/* 0 is no condition, so the first moment of 1970 is the one after it. */
static int read_moment(const char *value, int64_t *ret_ms, struct ing_error *err)
{
	struct ing_since since;
	if (!ing_since_parse(value, &since))
		return ing_error_set(err, ING_FAIL_USAGE,
			"\"%s\" is neither a date or time (UTC) like 2026-11-21 or 2026-11-21T11:00:00,"
			" nor so long ago like 90s, 30m, 12h, 7d, 2w",
			value);
	int64_t s = since.is_ago ? (int64_t)ing_wall_now().tv_sec - since.ago_s : since.at_s;
	*ret_ms = s > 0 ? s * 1000 : 1;
	return 0;
}

static int set_since(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return read_moment(value, &s->created_from_ms, err);
}

static int set_until(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return read_moment(value, &s->created_to_ms, err);
}

static bool read_age(const char *text, size_t bytes, int64_t *ret_s)
{
	char age[64];
	struct ing_since since;
	*ret_s = 0;
	if (bytes == 0)
		return true;
	snprintf(age, sizeof(age), "%.*s", (int)ING_MIN(bytes, sizeof(age) - 1), text);
	if (bytes >= sizeof(age) || !ing_since_parse(age, &since) || !since.is_ago)
		return false;
	*ret_s = since.ago_s;
	return true;
}

/* "A..B", "A..", "..B". */
static int read_range(const char *value, int64_t *ret_min, int64_t *ret_max, struct ing_error *err)
{
	int64_t min;
	int64_t max;
	const char *dots = strstr(value, "..");
	if (dots != NULL && strcmp(value, "..") != 0 &&
		read_age(value, (size_t)(dots - value), &min) &&
		read_age(dots + 2, strlen(dots + 2), &max) && (dots[2] == '\0' || max > min)) {
		*ret_min = min;
		*ret_max = max;
		return 0;
	}
	return ing_error_set(err, ING_FAIL_USAGE,
		"\"%s\" is no age like 8h..7d, 8h.. (at least) or ..7d (less than); units are s, m, h, d, w",
		value);
}

static int set_request_age(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return read_range(value, &s->request_age_from_s, &s->request_age_to_s, err);
}

static int set_result_age(struct ing_selection *s, const char *value, struct ing_error *err)
{
	return read_range(value, &s->result_age_from_s, &s->result_age_to_s, err);
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

/* Digits, and perhaps a dot and digits: what strtod() takes beside them is not meant. */
static int set_share(struct ing_selection *s, const char *value, struct ing_error *err)
{
	size_t digits = strspn(value, "0123456789");
	size_t bytes = digits;
	if (digits > 0 && value[digits] == '.')
		bytes = digits + 1 + strspn(value + digits + 1, "0123456789");
	if (value[bytes] == '%')
		bytes++;
	double share = bytes > 0 && bytes < 40 && value[bytes] == '\0' ? strtod(value, NULL) : 0;
	if (!(share > 0 && share <= 100))
		return ing_error_set(err, ING_FAIL_USAGE,
			"\"%s\" is no percentage above 0 and up to 100", value);
	s->share = share;
	return 0;
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

/* The first word of each line; # begins a comment. */
static int add_large(struct ing_selection *s, const char *path, const struct ing_buf *line,
	unsigned number, struct ing_error *err)
{
	static const char blank[] = " \t\r\f\v";
	char word[MAX_WORD_BYTES + 2];
	const char *text = ing_buf_str(line);
	text += strspn(text, blank);
	size_t bytes = strcspn(text, " \t\r\f\v#");
	if (line->failed || strlen(ing_buf_str(line)) != line->len || bytes > MAX_WORD_BYTES)
		return ing_error_set(err, ING_FAIL_USAGE, "%s:%u: no line of text", path, number);
	if (bytes == 0)
		return 0;
	snprintf(word, sizeof(word), "%.*s", (int)bytes, text);
	int rc = add_word(&s->without_hosts, word, read_host, err);
	if (rc != 0)
		ing_error_context(err, "%s:%u", path, number);
	return rc;
}

static int read_large(struct ing_selection *s, const char *path, FILE *f, struct ing_error *err)
{
	struct ing_buf line;
	int rc = 0;
	ing_buf_init(&line, MAX_LARGE_LINE);
	for (unsigned n = 1; rc == 0 && ing_ctl_read_line(f, &line); n++) {
		rc = add_large(s, path, &line, n, err);
		if (rc == 0 && s->without_hosts.count > MAX_LARGE_HOSTS)
			rc = ing_error_set(err, ING_FAIL_USAGE, "%s: more than %d hosts", path,
				MAX_LARGE_HOSTS);
	}
	if (rc == 0 && ferror(f))
		rc = ing_error_sys(err, errno, "%s", path);
	ing_buf_done(&line);
	return rc;
}

static int set_exclude_large(struct ing_selection *s, const char *value, struct ing_error *err)
{
	FILE *f = fopen(value, "re");
	if (f == NULL)
		return ing_error_sys(err, errno, "%s", value);
	int rc = read_large(s, value, f, err);
	fclose(f);
	return rc;
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
		free_words(all[i]);
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
