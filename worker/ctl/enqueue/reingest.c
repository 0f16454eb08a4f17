/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl reingest [JOB…]: requests whose last result is worth asking again, onto a lane, as jobs say (reingest_jobs.h).
 *
 * While a job runs, an advisory lock in the database keeps a second run of it out. It ends with its connection; should that break
 * in the middle, a second run takes over what the first has planned, and Kafka lets the first send no more.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/nearest.h"
#include "common/base/report.h"
#include "common/data/pg.h"
#include "worker/conf/conf.h"
#include "worker/conf/paths.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/enqueue/enqueue.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/ctl/enqueue/reingest_jobs.h"
#include "worker/database/schema.h"

#define VERB "reingest"
#define OPERATORS_FILE "reingest.yaml" /* beside the configuration */

struct options {
	const char *jobs_file, *brokers;
	uint64_t max_lag;
	bool list, dry_run, all, abandon, take_over, quiet, help;
};

/* ---- Which file ---- */

/* The operator's own, if there is one; else that of the installation. Heap. */
static char *find_file(const struct options *o)
{
	if (o->jobs_file != NULL)
		return ing_strdup(o->jobs_file);
	struct ing_buf path;
	ing_buf_init(&path, 8192);
	const char *config = ing_path_config();
	const char *slash = strrchr(config, '/');
	ing_buf_add(&path, config, slash != NULL ? (size_t)(slash + 1 - config) : 0);
	ing_buf_add_str(&path, OPERATORS_FILE);
	if (access(ing_buf_str(&path), F_OK) == 0)
		return ing_buf_steal(&path);
	ing_buf_done(&path);
	return ing_strdup(ing_path_jobs());
}

static struct ing_reingest_jobs *load_jobs(const struct options *o)
{
	struct ing_report report = {0};
	char *path = find_file(o);
	struct ing_reingest_jobs *jobs = ing_reingest_jobs_load(path, &report);
	ing_report_sort(&report);
	ing_report_print_errors(&report, stderr);
	ing_report_done(&report);
	free(path);
	return jobs;
}

/* ---- A job ---- */

/* Of the plan: no list is called so by chance. */
static char *plan_name(const struct ing_reingest_job *job)
{
	char name[ING_REINGEST_NAME_BYTES + 16];
	snprintf(name, sizeof(name), "reingest-%s", job->name);
	return ing_strdup(name);
}

struct lock {
	struct ing_pg *pg;
	bool held;
};

static void take_held(void *ctx, const char *const *values, int count)
{
	ing_must(count == 1);
	*(bool *)ctx = values[0] != NULL && values[0][0] == 't';
}

/* -1: it is held; else the exit code. */
static int lock_job(const struct ing_conf *conf, const char *plan, struct lock *ret)
{
	struct ing_error err = {0};
	const char *params[] = {plan};
	int rc = ing_schema_open(conf->postgres.dsn, &ret->pg, &err);
	if (rc != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	if (ing_pg_query(ret->pg, NULL,
		    "SELECT pg_try_advisory_lock(hashtextextended('ingestctl ' || $1, 0))", params,
		    1, take_held, &ret->held, &err) != ING_PG_OK)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", err.msg);
	return -1;
}

static int run_job(
	const struct options *o, const struct ing_conf *conf, const struct ing_reingest_job *job)
{
	char *topic = ing_ctl_lane_topic(VERB, job->lane, conf);
	if (topic == NULL)
		return ING_CTL_USAGE;
	char *plan = plan_name(job);
	struct lock lock = {0};
	const struct ing_enqueue e = {.verb = VERB,
		.brokers = o->brokers != NULL ? o->brokers : conf->kafka.brokers,
		.conf = conf,
		.name = plan,
		.topic = topic,
		.selection = &job->selection,
		.asked = job->asked,
		.max_lag = o->max_lag != 0 ? o->max_lag : job->max_lag,
		.force_recrawl = job->force_recrawl,
		.dry_run = o->dry_run,
		.take_over = o->take_over,
		.quiet = o->quiet};
	int code = o->dry_run ? -1 : lock_job(conf, plan, &lock);
	if (code < 0 && !o->dry_run && !lock.held)
		code = ing_ctl_fail(
			ING_CTL_NEGATIVE, VERB, "job %s: another run of it is at work", job->name);
	if (code < 0 && o->dry_run)
		printf("%s ", job->name);
	if (code < 0)
		code = o->abandon ? ing_enqueue_drop(&e) : ing_enqueue_run(&e);
	ing_pg_close(lock.pg);
	free(plan);
	free(topic);
	return code;
}

/* ---- Jobs ---- */

static int refuse_job(const struct ing_reingest_jobs *jobs, const char *name)
{
	struct ing_nearest n = ing_nearest_of(name, strlen(name));
	for (size_t i = 0; i < ing_reingest_jobs_count(jobs); i++)
		ing_nearest_try(&n, ing_reingest_jobs_get(jobs, i)->name);
	if (n.best != NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"there is no job \"%s\"; did you mean \"%s\"?", name, n.best);
	return ing_ctl_fail(
		ING_CTL_USAGE, VERB, "there is no job \"%s\"; --list prints them", name);
}

static int list_jobs(const struct ing_reingest_jobs *jobs)
{
	for (size_t i = 0; i < ing_reingest_jobs_count(jobs); i++) {
		const struct ing_reingest_job *job = ing_reingest_jobs_get(jobs, i);
		printf("%-20s %-9s %10" PRIu64 "  %s\n", job->name,
			job->lane != NULL ? job->lane : "requests", job->selection.limit,
			job->about != NULL ? job->about : "");
	}
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

/* All of them, whatever becomes of one; the worst exit code. An interruption ends it. */
static int run_jobs(const struct options *o, const struct ing_conf *conf,
	const struct ing_reingest_jobs *jobs, char **names, size_t count)
{
	int worst = ING_CTL_OK;
	for (size_t i = 0; i < count; i++)
		if (ing_reingest_jobs_find(jobs, names[i]) == NULL)
			return refuse_job(jobs, names[i]);
	size_t all = count > 0 ? count : ing_reingest_jobs_count(jobs);
	for (size_t i = 0; i < all; i++) {
		int code = run_job(o, conf,
			count > 0 ? ing_reingest_jobs_find(jobs, names[i])
				  : ing_reingest_jobs_get(jobs, i));
		worst = ING_MAX(worst, code);
		if (code == ING_CTL_INTERRUPTED)
			break;
	}
	return worst;
}

/* ---- Options ---- */

static const struct ing_option options[] = {
	{"list", NULL, "print the jobs: name, lane, limit, what they are for", .code = 'l'},
	{"dry-run", NULL, "print how many requests each job would plan now", .code = 'n'},
	{"all", NULL, "all jobs of the file, one after the other", .code = 'a'},
	{"jobs", "FILE", "another file of jobs", .code = 'j', .words = ING_WORDS_FILE},
	{"max-lag", "N",
		"wait while the workers' group has more than N messages of the lane before it, in place of "
		"the job's",
		.code = 'm'},
	{"abandon", NULL, "drop what is planned and not sent; it is due again then", .code = 'A'},
	{"take-over", NULL,
		"begin with what this database has not sent, although the position that Kafka has for the "
		"job is of another database, or lost",
		.code = 'T'},
	{"brokers", "LIST", "instead of kafka.brokers", .code = 'b', .letter = 'b'},
	{"quiet", NULL, "no progress", .code = 'q'},
	{0},
};

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int c)
{
	struct options *o = ctx;
	switch (c) {
	case 'l':
		o->list = true;
		break;
	case 'n':
		o->dry_run = true;
		break;
	case 'a':
		o->all = true;
		break;
	case 'j':
		o->jobs_file = optarg;
		break;
	case 'm':
		if (!ing_ctl_number(optarg, UINT64_MAX, &o->max_lag))
			return ing_ctl_fail(ING_CTL_USAGE, VERB,
				"--max-lag: not a positive number: %s", optarg);
		break;
	case 'A':
		o->abandon = true;
		break;
	case 'T':
		o->take_over = true;
		break;
	case 'b':
		o->brokers = optarg;
		break;
	case 'q':
		o->quiet = true;
		break;
	default:
		return ING_CTL_USAGE;
	}
	return -1;
}

static int check_options(const struct options *o, size_t names)
{
	if (o->list && (o->dry_run || o->all || o->abandon || names > 0))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--list stands alone");
	if (o->all && names > 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give jobs, or --all");
	if (o->abandon && o->dry_run)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--abandon and --dry-run exclude each other");
	if (names == 0 && !o->list && !o->dry_run && !o->all)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "give a job, or --all; --list prints them");
	return ING_CTL_OK;
}

static int run(const struct options *o, const struct ing_ctl *ctl,
	const struct ing_reingest_jobs *jobs, char **names, size_t count)
{
	struct ing_conf *conf = NULL;
	if (o->list)
		return list_jobs(jobs);
	int code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = run_jobs(o, conf, jobs, names, count);
	ing_conf_free(conf);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_reingest_usage = {
	.name = "reingest",
	.synopsis = "JOB... [OPTION]...\n--list | --dry-run [JOB]... | --all",
	.summary = "put requests onto their lane again that are worth asking again",
	.text = "Asks requests again whose last result is worth it: each JOB selects stored requests, plans "
		"them, and puts them onto its lane, each once. What a run that was broken off has planned is "
		"sent first; if the job is still the same, that is all then. A second run of a job that is "
		"running ends at once (exit status 1).\n\n"
		"Jobs are data: reingest.yaml beside the configuration if it is there, else the file of that "
		"name that comes with the program; it explains itself.",
	.options = options,
	.exits = {ING_EXIT_OK, "a job is running already, or its position is not what it should be",
		ING_EXIT_USAGE, "a server cannot be reached", ING_EXIT_INTERRUPTED},
	.operands = "!reingest --list",
};

int ing_ctl_reingest(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct options o = {0};
	int code = ing_usage_take(&ing_ctl_reingest_usage, argc, argv, take_option, &o);
	if (code >= 0)
		return code;
	size_t names = (size_t)(argc - optind);
	code = check_options(&o, names);
	if (code != ING_CTL_OK)
		return code;
	struct ing_reingest_jobs *jobs = load_jobs(&o);
	if (jobs == NULL)
		return ING_CTL_USAGE;
	code = run(&o, ctl, jobs, argv + optind, names);
	ing_reingest_jobs_free(jobs);
	return code;
}
