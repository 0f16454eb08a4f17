/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl db migrate | status: the database's schema. One JSON object on stdout.
 */
#include <getopt.h>
#include <string.h>

#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/database/schema.h"

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

static void print_help(void)
{
	printf("usage: ingestctl [--config FILE] [--set postgres.dsn=DSN] db migrate|status\n\n"
	       "migrate  apply missing migrations to the schema of postgres.dsn and print\n"
	       "         {\"from\": N, \"to\": N}; a newer schema is not changed (exit 1)\n"
	       "status   print {\"version\": N, \"newest\": N, \"state\": \"current|missing|older|newer\"}\n\n"
	       "Exit status: 0 the schema is current, 1 it is not, 2 usage or configuration,\n"
	       "3 the database cannot be reached or refuses.\n");
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_db(int argc, char **argv, const struct ing_ctl *ctl)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	static const struct {
		const char *name;
		int (*run)(const char *dsn);
	} actions[] = {{"migrate", migrate}, {"status", status}};
	for (;;) {
		int c = ing_ctl_option(argc, argv, "h", options);
		if (c == -1)
			break;
		if (c != 'h')
			return ING_CTL_USAGE;
		print_help();
		return ING_CTL_OK;
	}
	int (*run)(const char *dsn) = NULL;
	for (size_t i = 0; i < ING_ARRAY_LEN(actions); i++) {
		if (optind == argc - 1 && strcmp(argv[optind], actions[i].name) == 0)
			run = actions[i].run;
	}
	if (run == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "expected migrate or status");
	struct ing_conf *conf = NULL;
	int code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = run(conf->postgres.dsn);
	ing_conf_free(conf);
	return code;
}
