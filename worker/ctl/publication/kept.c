/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds the verb.
 */
#include "worker/ctl/publication/kept.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	ing_kept_verb_f *run;
} verbs[] = {
	{"list", ing_ctl_kept_list},
	{"show", ing_ctl_kept_show},
	{"export", ing_ctl_kept_export},
	{"stats", ing_ctl_kept_stats},
	{"import", ing_ctl_kept_import},
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage *const ing_kept_publication_below[] = {&ing_ctl_publication_list_usage,
	&ing_ctl_publication_show_usage, &ing_ctl_publication_export_usage,
	&ing_ctl_publication_stats_usage, &ing_ctl_publication_import_usage, NULL};
const struct ing_usage *const ing_kept_webpage_below[] = {&ing_ctl_webpage_list_usage,
	&ing_ctl_webpage_show_usage, &ing_ctl_webpage_export_usage, &ing_ctl_webpage_stats_usage,
	&ing_ctl_webpage_import_usage, NULL};

const char *ing_kept_table_name(enum ing_kept_table table)
{
	return table == ING_TABLE_WEBPAGE ? "webpage" : "publication";
}

bool ing_ctl_kept(
	enum ing_kept_table table, int argc, char **argv, const struct ing_ctl *ctl, int *ret_code)
{
	static char called[64]; /* for getopt's complaints */
	for (size_t i = 0; argc > 1 && i < ING_ARRAY_LEN(verbs); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		snprintf(called, sizeof(called), "ingestctl %s %s", ing_kept_table_name(table),
			verbs[i].name);
		argv[1] = called;
		*ret_code = verbs[i].run(table, argc - 1, argv + 1, ctl);
		return true;
	}
	return false;
}
