/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl db migrate | status | fill | recount: the database's schema, what rows from before it lack, and its counts. One JSON object on
 * stdout.
 */
#include <getopt.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/database/schema.h"
#include "worker/store/requests/fill.h"

#define VERB "db"

static int migrate(const char *dsn)
{
	struct ing_error err = {0};
	int from = 0;
	int to = 0;
	if (ing_schema_migrate(dsn, &from, &to, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB " migrate", "%s", err.msg);
	printf("{\"from\": %d, \"to\": %d}\n", from, to);
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

static int status(const char *dsn)
{
	struct ing_error err = {0};
	int version = 0;
	if (ing_schema_version(dsn, &version, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB " status", "%s", err.msg);
	int newest = ing_schema_newest();
	const char *state = version == newest  ? "current"
			    : version == 0     ? "missing"
			    : version < newest ? "older"
					       : "newer";
	printf("{\"version\": %d, \"newest\": %d, \"state\": \"%s\"}\n", version, newest, state);
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
	return version == newest ? ING_CTL_OK : ING_CTL_NEGATIVE;
}

#define PROGRESS_MS 5000

struct filling {
	struct ing_filled filled;
	uint64_t said_ms;
};

static void say_progress(void *ctx)
{
	struct filling *f = ctx;
	uint64_t now = ing_now_ms();
	if (now - f->said_ms < PROGRESS_MS)
		return;
	f->said_ms = now;
	fprintf(stderr, "ingestctl " VERB " fill: %lld requests, %lld results\n",
		(long long)f->filled.requests, (long long)f->filled.results);
}

/* Rows first: with its identity, a request is counted by the triggers. What was stored meanwhile by others, and files of before, the
 * recount sees. */
static int fill(const char *dsn)
{
	struct ing_error err = {0};
	struct filling f = {.said_ms = ing_now_ms()};
	const struct ing_fill_progress progress = {say_progress, &f};
	int64_t counts = 0;
	int rc = ing_requests_fill(dsn, &progress, &f.filled, &err);
	if (rc == 0)
		rc = ing_requests_recount(dsn, &counts, &err);
	if (rc != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB " fill",
			"%s; %lld requests and %lld results were filled: call it again to go on",
			err.msg, (long long)f.filled.requests, (long long)f.filled.results);
	printf("{\"requests\": %lld, \"results\": %lld, \"counts\": %lld}\n",
		(long long)f.filled.requests, (long long)f.filled.results, (long long)counts);
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

static int recount(const char *dsn)
{
	struct ing_error err = {0};
	int64_t counts = 0;
	if (ing_requests_recount(dsn, &counts, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB " recount", "%s", err.msg);
	printf("{\"counts\": %lld}\n", (long long)counts);
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

static const struct ing_usage migrate_usage = {
	.name = "db migrate",
	.synopsis = "",
	.summary = "apply missing migrations",
	.text = "Applies missing migrations to the schema of postgres.dsn and prints {\"from\": N, \"to\": N}. A "
		"newer schema is not changed (exit status 1).",
	.parent = &ing_ctl_db_usage,
};

static const struct ing_usage status_usage = {
	.name = "db status",
	.synopsis = "",
	.summary = "print the version of the schema, and whether a migration is needed",
	.text = "Prints {\"version\": N, \"newest\": N, \"state\": \"current|missing|older|newer\"}: the version of "
		"the schema, the one of this program, and what that means.",
	.parent = &ing_ctl_db_usage,
};

static const struct ing_usage fill_usage = {
	.name = "db fill",
	.synopsis = "",
	.summary = "compute what rows from before version 9 of the schema lack",
	.text = "Computes what rows from before version 9 lack: identity, document, host and DOI prefix of "
		"requests; attempts, host and the time of the next try of results. Then they are counted, "
		"\"db recount\" is done, and {\"requests\": N, \"results\": N, \"counts\": N} is printed. Workers may "
		"run meanwhile, and what is interrupted goes on when it is called again.",
	.parent = &ing_ctl_db_usage,
};

static const struct ing_usage recount_usage = {
	.name = "db recount",
	.synopsis = "",
	.summary = "compare the counts with the tables, and mend them",
	.text = "Compares the counts of requests and files with the tables, mends them, and prints "
		"{\"counts\": N}: how many were wrong. That is needed after rows were deleted by hand. Nobody "
		"waits for it; with sixty million requests it takes minutes.",
	.parent = &ing_ctl_db_usage,
};

static const struct ing_usage *const verbs_below[] = {
	&migrate_usage, &status_usage, &fill_usage, &recount_usage, NULL};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_db_usage = {
	.name = "db",
	.summary = "migrate the database schema, or show its version",
	.text = "The schema of the database of postgres.dsn.",
	.exits = {"the schema is current", "it is not", ING_EXIT_USAGE,
		"the database cannot be reached or refuses"},
	.below = verbs_below,
};

int ing_ctl_db(int argc, char **argv, const struct ing_ctl *ctl)
{
	static const struct {
		const char *name;
		int (*run)(const char *dsn);
	} actions[] = {
		{"migrate", migrate}, {"status", status}, {"fill", fill}, {"recount", recount}};
	int c = ing_usage_next(&ing_ctl_db_usage, argc, argv);
	if (c != -1)
		return ing_usage_code(c);
	int (*run)(const char *dsn) = NULL;
	for (size_t i = 0; i < ING_ARRAY_LEN(actions); i++) {
		if (optind == argc - 1 && strcmp(argv[optind], actions[i].name) == 0)
			run = actions[i].run;
	}
	if (run == NULL)
		return ing_usage_refuse_below(
			&ing_ctl_db_usage, optind < argc ? argv[optind] : NULL);
	struct ing_conf *conf = NULL;
	int code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = run(conf->postgres.dsn);
	ing_conf_free(conf);
	return code;
}
