/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Strict: a job that is read otherwise than it was meant asks millions of requests again, so that every key, word and number that
 * is not known is an error, and with an error there are no jobs at all.
 */
#include "worker/ctl/enqueue/reingest_jobs.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/nearest.h"
#include "common/base/report.h"
#include "common/data/yaml.h"
#include "worker/ctl/since.h"
#include "worker/intake/lane_names.h"
#include "worker/model/ingest_type.h"
#include "worker/model/status.h"
#include "worker/rules/rule_reader.h"

#define MAX_JOBS 1000
#define MAX_WORDS 10000
#define MAX_NUMBER UINT32_MAX
#define LOST_AFTER_S ((int64_t)14 * 86400)

struct ing_reingest_jobs {
	struct ing_arena arena;
	struct ing_yaml *yaml; /* texts of nodes are borrowed */
	struct ing_reingest_job *all;
	size_t count;
};

struct reader { /* of one job */
	const struct ing_rule_reader *rd;
	const struct ing_yaml_node *map;
	struct ing_reingest_job *job;
};

/* ---- Lists of words ---- */

/* Appends what the word stands for, or says that it is none. */
typedef void word_f(const struct reader *r, const struct ing_yaml_node *item, struct ing_words *to);

static void append(struct ing_words *to, const char *word)
{
	((const char **)(uintptr_t)to->words)[to->count++] = word;
}

static void take_word(
	const struct reader *r, const struct ing_yaml_node *item, struct ing_words *to)
{
	(void)r;
	append(to, item->text);
}

static void take_type(
	const struct reader *r, const struct ing_yaml_node *item, struct ing_words *to)
{
	enum ing_ingest_type type;
	if (ing_ingest_type_find(item->text, &type))
		append(to, ing_ingest_type_name(type));
	else
		ing_rule_read_error(r->rd, item, "there is no type \"%.60s\"; there are%s",
			item->text, ing_ingest_type_names);
}

/* Each once, since there is no room for more. */
static void append_status(struct ing_words *to, int st)
{
	const char *slug = ing_status_slug((enum ing_status)st);
	for (size_t i = 0; i < to->count; i++)
		if (strcmp(to->words[i], slug) == 0)
			return;
	append(to, slug);
}

/* soon, later, never: the statuses of which the table says so, but for hits. */
static bool take_retry_class(const char *word, struct ing_words *to)
{
	static const struct {
		const char *word;
		enum ing_status_retry retry;
	} classes[] = {{"soon", ING_STATUS_SOON}, {"later", ING_STATUS_LATER},
		{"never", ING_STATUS_NEVER}};
	for (size_t i = 0; i < ING_ARRAY_LEN(classes); i++) {
		if (strcmp(word, classes[i].word) != 0)
			continue;
		for (int st = 0; st < ING_STATUS_COUNT_; st++)
			if (ing_status_retry((enum ing_status)st) == classes[i].retry &&
				st != ING_STATUS_SUCCESS && st != ING_STATUS_EXISTING)
				append_status(to, st);
		return true;
	}
	return false;
}

static void take_status(
	const struct reader *r, const struct ing_yaml_node *item, struct ing_words *to)
{
	if (take_retry_class(item->text, to))
		return;
	int st = ing_status_from_slug(item->text);
	if (st >= 0) {
		append_status(to, st);
		return;
	}
	struct ing_nearest n = ing_nearest_of(item->text, item->bytes);
	for (st = 0; st < ING_STATUS_COUNT_; st++)
		ing_nearest_try(&n, ing_status_slug((enum ing_status)st));
	ing_rule_read_error(r->rd, item,
		"there is no status \"%.60s\", nor is it soon, later or never%s%s%s", item->text,
		n.best != NULL ? "; did you mean \"" : "", n.best != NULL ? n.best : "",
		n.best != NULL ? "\"?" : "");
}

static void take_code(
	const struct reader *r, const struct ing_yaml_node *item, struct ing_words *to)
{
	bool good = item->bytes == 3 && strspn(item->text, "0123456789") == 3;
	if (good)
		append(to, item->text);
	else
		ing_rule_read_error(
			r->rd, item, "not an HTTP status of three digits: \"%.60s\"", item->text);
}

static void take_prefix(
	const struct reader *r, const struct ing_yaml_node *item, struct ing_words *to)
{
	bool good = strncmp(item->text, "10.", 3) == 0 && item->bytes > 3 &&
		    strchr(item->text, '/') == NULL;
	if (good)
		append(to, item->text);
	else
		ing_rule_read_error(
			r->rd, item, "not a DOI prefix, as 10.1234: \"%.60s\"", item->text);
}

static void take_host(
	const struct reader *r, const struct ing_yaml_node *item, struct ing_words *to)
{
	bool good = strchr(item->text, '.') != NULL && strpbrk(item->text, "/: ") == NULL;
	for (const char *c = item->text; *c != '\0'; c++)
		good = good && !isupper((unsigned char)*c);
	good = good && strncmp(item->text, "www.", 4) != 0;
	if (good)
		append(to, item->text);
	else
		ing_rule_read_error(r->rd, item, "not a host in lower case without www.: \"%.60s\"",
			item->text);
}

/* A scalar that is given for a list is a list of one. */
static void read_words(const struct reader *r, const char *key, word_f *take, struct ing_words *to)
{
	const struct ing_yaml_node *value = ing_yaml_get(r->map, key);
	if (value == NULL)
		return;
	size_t count = value->kind == ING_YAML_LIST ? value->count : 1;
	if (value->kind == ING_YAML_MAP || count == 0 || count > MAX_WORDS) {
		ing_rule_read_error(r->rd, value, "%s must be a list of words", key);
		return;
	}
	to->words = ing_arena_alloc(
		r->rd->arena, ING_MAX(count, (size_t)ING_STATUS_COUNT_) * sizeof(*to->words));
	const struct ing_yaml_node *item = value->kind == ING_YAML_LIST ? value->first : value;
	for (; count > 0; count--) {
		if (item->kind != ING_YAML_SCALAR || item->bytes == 0 || ing_yaml_is_null(item) ||
			strlen(item->text) != item->bytes)
			ing_rule_read_error(r->rd, item, "%s must be a list of words", key);
		else
			take(r, item, to);
		item = item->next;
	}
}

/* ---- Ages, numbers ---- */

/* 90s, 30m, 12h, 7d, 8w. Returns 0 when it is none. */
static int64_t seconds_of(const struct ing_yaml_node *value)
{
	struct ing_since since;
	if (value->kind != ING_YAML_SCALAR || strlen(value->text) != value->bytes ||
		!ing_since_parse(value->text, &since) || !since.is_ago)
		return 0;
	return since.ago_s;
}

static void read_age(
	const struct reader *r, const struct ing_yaml_node *map, const char *key, int64_t *to)
{
	const struct ing_yaml_node *value = ing_yaml_get(map, key);
	if (value == NULL)
		return;
	*to = seconds_of(value);
	if (*to <= 0)
		ing_rule_read_error(
			r->rd, value, "%s must be an age, as 90s, 30m, 12h, 7d or 8w", key);
}

/* {from: 8h, to: 8d}: at least so old, and younger than that. */
static void read_ages(const struct reader *r, const char *key, int64_t *from, int64_t *to)
{
	static const char *const known[] = {"from", "to"};
	if (ing_yaml_get(r->map, key) == NULL)
		return;
	const struct ing_yaml_node *ages = ing_rule_read_node(r->rd, r->map, key, ING_YAML_MAP);
	if (ages == NULL || !ing_rule_read_keys(r->rd, ages, key, known, ING_ARRAY_LEN(known)))
		return;
	read_age(r, ages, "from", from);
	read_age(r, ages, "to", to);
	if (*from > 0 && *to > 0 && *from >= *to)
		ing_rule_read_error(r->rd, ages, "%s: from must be less than to", key);
}

static uint64_t read_number(const struct reader *r, const char *key)
{
	return ing_rule_read_number(r->rd, r->map, key, 1, MAX_NUMBER, 0);
}

/* A part of the limit rather than of what is selected: of a few failures of one host nothing would be selected else. */
static void read_share(const struct reader *r)
{
	struct ing_selection *s = &r->job->selection;
	const struct ing_yaml_node *value = ing_rule_read_scalar(r->rd, r->map, "share");
	if (value == NULL)
		return;
	char *end;
	double share = strtod(value->text, &end);
	if (!isdigit((unsigned char)value->text[0]) || *end != '\0' || !(share > 0 && share <= 100))
		ing_rule_read_error(r->rd, value, "share must be a number over 0, up to 100");
	else if (s->limit == 0)
		ing_rule_read_error(r->rd, value, "share is a part of the limit, which is missing");
	else if (share < 100) {
		uint64_t part = (uint64_t)ING_MAX((double)s->limit * share / 100, 1.0);
		s->per_host = s->per_host != 0 ? ING_MIN(s->per_host, part) : part;
	}
}

/* ---- A job ---- */

static const struct {
	const char *word;
	unsigned class;
} classes[] = {
	{"retry-due", ING_CLASS_RETRY_DUE},
	{"retry-later", ING_CLASS_RETRY_LATER},
	{"ended", ING_CLASS_ENDED},
	{"never-asked", ING_CLASS_NEVER_ASKED},
	{"hit", ING_CLASS_HIT},
};

static void take_class(
	const struct reader *r, const struct ing_yaml_node *item, struct ing_words *to)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(classes); i++) {
		if (strcmp(item->text, classes[i].word) == 0) {
			r->job->selection.classes |= classes[i].class;
			append(to, item->text);
			return;
		}
	}
	ing_rule_read_error(r->rd, item,
		"requests are retry-due, retry-later, ended, never-asked or hit, not \"%.60s\"",
		item->text);
}

static void read_lane(const struct reader *r)
{
	const struct ing_yaml_node *value = ing_rule_read_scalar(r->rd, r->map, "lane");
	enum ing_lane lane;
	if (value == NULL)
		return;
	if (ing_lane_from_name(value->text, &lane))
		r->job->lane = value->text;
	else
		ing_rule_read_error(r->rd, value,
			"there is no lane \"%.60s\"; there are priority, requests, daily and bulk",
			value->text);
}

/* Without a condition a job would ask everything again. */
static void check_job(const struct reader *r)
{
	const struct ing_selection *s = &r->job->selection;
	bool ended = (s->classes & (ING_CLASS_ENDED | ING_CLASS_HIT | ING_CLASS_RETRY_LATER)) != 0;
	if ((s->classes & ING_CLASS_NEVER_ASKED) != 0 && s->statuses.count > 0)
		ing_rule_read_error(r->rd, r->map,
			"requests that were never asked have no status: make it two jobs");
	if (ended && s->limit == 0 && s->attempts_below == 0)
		ing_rule_read_error(r->rd, r->map,
			"a job that asks before it is due, or what has ended, needs a limit or attempts_below");
}

/* All but the name: whoever changes a job means another selection. */
static void write_asked(
	const struct reader *r, const struct ing_yaml_node *node, struct ing_buf *out)
{
	if (node->kind == ING_YAML_SCALAR) {
		ing_yaml_add_text(out, node->text);
		return;
	}
	ing_buf_add_char(out, node->kind == ING_YAML_LIST ? '[' : '{');
	for (const struct ing_yaml_node *n = node->first; n != NULL; n = n->next) {
		bool is_map = node->kind == ING_YAML_MAP;
		if (is_map && strcmp(n->text, "about") == 0)
			continue;
		write_asked(r, n, out);
		if (is_map) {
			ing_buf_add_char(out, ':');
			write_asked(r, n->value, out);
		}
		ing_buf_add_char(out, ',');
	}
	ing_buf_add_char(out, node->kind == ING_YAML_LIST ? ']' : '}');
}

static void read_job(const struct reader *r)
{
	static const char *const known[] = {"about", "types", "sources", "link_sources", "lists",
		"statuses", "terminal_codes", "doi_prefixes", "hosts", "domains", "without_hosts",
		"requests", "request_age", "result_age", "attempts_below", "lost_after",
		"lost_only", "per_host", "share", "limit", "lane", "max_lag", "force_recrawl"};
	struct ing_selection *s = &r->job->selection;
	struct ing_words asked_for = {0};
	struct ing_buf asked;
	if (!ing_rule_read_keys(r->rd, r->map, "a job", known, ING_ARRAY_LEN(known)))
		return;
	r->job->about = ing_rule_read_text(r->rd, r->map, "about");
	read_words(r, "types", take_type, &s->types);
	read_words(r, "sources", take_word, &s->sources);
	read_words(r, "link_sources", take_word, &s->link_sources);
	read_words(r, "lists", take_word, &s->lists);
	read_words(r, "statuses", take_status, &s->statuses);
	read_words(r, "terminal_codes", take_code, &s->terminal_codes);
	read_words(r, "doi_prefixes", take_prefix, &s->doi_prefixes);
	read_words(r, "hosts", take_host, &s->hosts);
	read_words(r, "domains", take_host, &s->domains);
	read_words(r, "without_hosts", take_host, &s->without_hosts);
	read_words(r, "requests", take_class, &asked_for);
	if (s->classes == 0)
		s->classes = ING_CLASS_RETRY_DUE;
	read_ages(r, "request_age", &s->request_age_from_s, &s->request_age_to_s);
	read_ages(r, "result_age", &s->result_age_from_s, &s->result_age_to_s);
	s->attempts_below = (unsigned)read_number(r, "attempts_below");
	s->lost_after_s = LOST_AFTER_S;
	read_age(r, r->map, "lost_after", &s->lost_after_s);
	s->lost_only = ing_rule_read_bool(r->rd, r->map, "lost_only", false);
	s->per_host = read_number(r, "per_host");
	s->limit = read_number(r, "limit");
	read_share(r);
	read_lane(r);
	r->job->max_lag = read_number(r, "max_lag");
	r->job->force_recrawl = ing_rule_read_bool(r->rd, r->map, "force_recrawl", false);
	check_job(r);
	ing_buf_init(&asked, (size_t)1 << 20);
	write_asked(r, r->map, &asked);
	r->job->asked = ing_arena_strdup(r->rd->arena, ing_buf_str(&asked));
	ing_buf_done(&asked);
}

static bool is_name(const struct ing_yaml_node *key)
{
	return key->kind == ING_YAML_SCALAR && key->bytes > 0 &&
	       key->bytes < ING_REINGEST_NAME_BYTES &&
	       strspn(key->text, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == key->bytes;
}

static void read_jobs(struct ing_reingest_jobs *jobs, const struct ing_rule_reader *rd)
{
	static const char *const known[] = {"jobs"};
	const struct ing_yaml_node *root = ing_yaml_root(jobs->yaml);
	if (!ing_rule_read_keys(rd, root, "the file", known, 1))
		return;
	const struct ing_yaml_node *all = ing_rule_read_node(rd, root, "jobs", ING_YAML_MAP);
	if (all == NULL || all->count == 0 || all->count > MAX_JOBS) {
		ing_rule_read_error(
			rd, all != NULL ? all : root, "jobs must be a map of jobs by name");
		return;
	}
	jobs->all = ing_arena_alloc(&jobs->arena, all->count * sizeof(*jobs->all));
	for (const struct ing_yaml_node *key = all->first; key != NULL; key = key->next) {
		struct ing_reingest_job *job = &jobs->all[jobs->count++];
		*job = (struct ing_reingest_job){.name = key->text, .line = key->line};
		if (!is_name(key))
			ing_rule_read_error(rd, key,
				"the name of a job has a-z, 0-9, -, _ and . only, up to 100 of them");
		const struct reader r = {rd, key->value, job};
		if (key->value->kind != ING_YAML_MAP)
			ing_rule_read_error(rd, key->value, "a job is a map");
		else
			read_job(&r);
	}
}

/* Takes the tree; NULL: err says why. */
static struct ing_reingest_jobs *make(const char *name, struct ing_yaml *yaml,
	const struct ing_error *err, struct ing_report *report)
{
	if (yaml == NULL) {
		ing_report_error(report, name, err->line, err->column, "%s", err->msg);
		return NULL;
	}
	struct ing_reingest_jobs *jobs = ing_alloc(sizeof(*jobs));
	*jobs = (struct ing_reingest_jobs){.yaml = yaml};
	ing_arena_init(&jobs->arena);
	const struct ing_rule_reader rd = {.file = name, .report = report, .arena = &jobs->arena};
	size_t errors = report->errors;
	read_jobs(jobs, &rd);
	if (report->errors == errors)
		return jobs;
	ing_reingest_jobs_free(jobs);
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_reingest_jobs *ing_reingest_jobs_load(const char *path, struct ing_report *report)
{
	const struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	struct ing_error err = {0};
	struct ing_yaml *yaml = NULL;
	if (ing_yaml_load(path, &limits, &yaml, &err) != 0)
		yaml = NULL;
	return make(path, yaml, &err, report);
}

struct ing_reingest_jobs *ing_reingest_jobs_parse(
	const char *name, const char *text, size_t bytes, struct ing_report *report)
{
	const struct ing_yaml_limits limits = ING_YAML_LIMITS_DEFAULT;
	struct ing_error err = {0};
	struct ing_yaml *yaml = NULL;
	if (ing_yaml_parse(text, bytes, &limits, &yaml, &err) != 0)
		yaml = NULL;
	return make(name, yaml, &err, report);
}

void ing_reingest_jobs_free(struct ing_reingest_jobs *jobs)
{
	if (jobs == NULL)
		return;
	ing_arena_done(&jobs->arena);
	ing_yaml_free(jobs->yaml);
	free(jobs);
}

size_t ing_reingest_jobs_count(const struct ing_reingest_jobs *jobs)
{
	return jobs->count;
}

const struct ing_reingest_job *ing_reingest_jobs_get(const struct ing_reingest_jobs *jobs, size_t i)
{
	ing_must(i < jobs->count);
	return &jobs->all[i];
}

const struct ing_reingest_job *ing_reingest_jobs_find(
	const struct ing_reingest_jobs *jobs, const char *name)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (strcmp(jobs->all[i].name, name) == 0)
			return &jobs->all[i];
	return NULL;
}
