/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl requests lists: a line for each list, by name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/requests/requests.h"
#include "worker/ctl/usage.h"
#include "worker/store/requests/lists.h"

#define VERB "requests lists"

static void print_object(const struct ing_request_list *list)
{
	json_t *o = json_object();
	ing_json_set_text(o, "name", list->name);
	ing_json_set_text(o, "source", list->source);
	ing_json_set_text(o, "created", list->created);
	ing_json_set_text(o, "loaded", list->loaded);
	ing_json_set(o, "loading", json_boolean(list->loading));
	ing_json_set_number(o, "priority", list->priority);
	ing_json_set_number(o, "requests", list->requests);
	ing_json_set_number(o, "answered", list->answered);
	ing_json_set_number(o, "hits", list->hits);
	ing_ctl_json_print(o);
}

static void print_row(const struct ing_request_list *list)
{
	printf("%-30s %12" PRId64 " %12" PRId64 " %12" PRId64 "  %-20.10s %-10.10s %s\n",
		list->name, list->requests, list->answered, list->hits,
		list->source != NULL ? list->source : "-", list->created,
		list->loading          ? "unfinished"
		: list->loaded != NULL ? list->loaded
				       : "never");
}

static void print_list(void *ctx, const struct ing_request_list *list)
{
	const bool *json = ctx;
	if (*json)
		print_object(list);
	else
		print_row(list);
}

static int print_lists(const struct ing_conf *conf, bool json)
{
	struct ing_error err = {0};
	if (!json)
		printf("%-30s %12s %12s %12s  %-20s %-10s %s\n", "list", "requests", "answered",
			"hits", "source", "created", "loaded");
	if (ing_request_lists_read(conf->postgres.dsn, print_list, &json, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

static const struct ing_option options[] = {
	{"json", NULL, "print JSON lines", .code = 'j'},
	{0},
};

static int take_option(void *ctx, int option)
{
	*(bool *)ctx = option == 'j';
	return -1;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_requests_lists_usage = {
	.name = "requests lists",
	.synopsis = "[--json]",
	.summary = "print the lists: name, source, when, number of requests",
	.text = "Prints a line for each list of requests, by name: how many requests it has, how many of them "
		"have a result and how many a hit, where it is from, when it was created, and when it was "
		"last loaded to its end (UTC; \"unfinished\": a load was broken off, or is running).",
	.options = options,
	.exits = {ING_EXIT_OK, NULL, ING_EXIT_USAGE, "the database cannot be reached"},
};

int ing_ctl_requests_lists(int argc, char **argv, const struct ing_ctl *ctl)
{
	bool json = false;
	int code =
		ing_usage_take_all(&ing_ctl_requests_lists_usage, argc, argv, take_option, &json);
	if (code >= 0)
		return code;
	struct ing_conf *conf;
	code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = print_lists(conf, json);
	ing_conf_free(conf);
	return code;
}
