/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl requests: finds the verb and hands over.
 */
#include "worker/ctl/requests/requests.h"

#include <stdio.h>
#include <string.h>

#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"

#define VERB "requests"

static const struct {
	const struct ing_usage *usage;
	int (*run)(int argc, char **argv, const struct ing_ctl *ctl);
} verbs[] = {
	{&ing_ctl_requests_count_usage, ing_ctl_requests_count},
	{&ing_ctl_requests_dump_usage, ing_ctl_requests_dump},
	{&ing_ctl_requests_load_usage, ing_ctl_requests_load},
	{&ing_ctl_requests_enqueue_usage, ing_ctl_requests_enqueue},
	{&ing_ctl_requests_lists_usage, ing_ctl_requests_lists},
};

static const struct ing_usage *const verbs_below[] = {&ing_ctl_requests_count_usage,
	&ing_ctl_requests_dump_usage, &ing_ctl_requests_load_usage, &ing_ctl_requests_enqueue_usage,
	&ing_ctl_requests_lists_usage, NULL};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_requests_usage = {
	.name = "requests",
	.synopsis = "VERB ...\nVERB --help",
	.summary = "lists of requests in the database",
	.text = "Lists of requests in the database (postgres.dsn). A request is the same in several lists if "
		"ingest_type, base_url, link_source and link_source_id are; it is stored once and belongs "
		"to all of them.",
	.below = verbs_below,
};

int ing_ctl_requests(int argc, char **argv, const struct ing_ctl *ctl)
{
	static char called[64]; /* for getopt's complaints */
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		ing_usage_print_help(&ing_ctl_requests_usage, false, stdout);
		return ing_usage_code('h');
	}
	if (argc < 2)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give a verb; --help lists them");
	for (size_t i = 0; i < ING_ARRAY_LEN(verbs); i++) {
		if (strcmp(argv[1], ing_usage_last_word(verbs[i].usage)) != 0)
			continue;
		snprintf(called, sizeof(called), "ingestctl %s", verbs[i].usage->name);
		argv[1] = called;
		return verbs[i].run(argc - 1, argv + 1, ctl);
	}
	return ing_usage_refuse_below(&ing_ctl_requests_usage, argv[1]);
}
