/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl requests: finds the verb and hands over.
 */
#include "worker/ctl/requests.h"

#include <stdio.h>
#include <string.h>

#include "common/base/nearest.h"
#include "worker/ctl/ctl.h"

#define VERB "requests"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv, const struct ing_ctl *ctl);
	const char *sentence;
} verbs[] = {
	{"count", ing_ctl_requests_count, "print how many requests are selected"},
	{"dump", ing_ctl_requests_dump, "print stored requests as request lines"},
	{"load", ing_ctl_requests_load, "store the requests of a list"},
	{"enqueue", ing_ctl_requests_enqueue, "put requests onto the topic of a lane, each once"},
	{"lists", ing_ctl_requests_lists,
		"print the lists: name, source, when, number of requests"},
};

static void print_help(void)
{
	printf("usage: ingestctl [--config FILE] [--set KEY=VALUE]... requests VERB ...\n"
	       "       ingestctl requests VERB --help\n\n"
	       "Lists of requests in the database (postgres.dsn).\n\n");
	for (size_t i = 0; i < ING_ARRAY_LEN(verbs); i++)
		printf("  %-8s  %s\n", verbs[i].name, verbs[i].sentence);
}

static int refuse_verb(const char *word)
{
	struct ing_nearest n = ing_nearest_of(word, strlen(word));
	for (size_t i = 0; i < ING_ARRAY_LEN(verbs); i++)
		ing_nearest_try(&n, verbs[i].name);
	if (n.best != NULL)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "no such verb: %s; did you mean '%s'?", word, n.best);
	return ing_ctl_fail(ING_CTL_USAGE, VERB,
		"no such verb: %s; ingestctl requests --help lists them", word);
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_requests(int argc, char **argv, const struct ing_ctl *ctl)
{
	static char called[64]; /* for getopt's complaints */
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_help();
		return ING_CTL_OK;
	}
	if (argc < 2)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give a verb; --help lists them");
	for (size_t i = 0; i < ING_ARRAY_LEN(verbs); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		snprintf(called, sizeof(called), "ingestctl requests %s", verbs[i].name);
		argv[1] = called;
		return verbs[i].run(argc - 1, argv + 1, ctl);
	}
	return refuse_verb(argv[1]);
}
