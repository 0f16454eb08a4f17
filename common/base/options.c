/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * getopt_long() has said what is wrong by the time it returns '?'. For an option that it does not
 * know, or that is short for several, optopt is 0 and the argument is the one before optind.
 */
#include "common/base/options.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/nearest.h"

/* An abbreviation of several options: getopt_long() has listed them. */
static bool is_ambiguous(const char *word, size_t bytes, const struct option *longs)
{
	for (; longs->name != NULL; longs++) {
		if (strncmp(longs->name, word, bytes) == 0)
			return true;
	}
	return false;
}

static void suggest(const char *program, const char *argument, const struct option *longs)
{
	if (strncmp(argument, "--", 2) != 0)
		return;
	const char *word = argument + 2;
	size_t bytes = strcspn(word, "=");
	if (is_ambiguous(word, bytes, longs))
		return;
	struct ing_nearest n = ing_nearest_of(word, bytes);
	for (; longs->name != NULL; longs++)
		ing_nearest_try(&n, longs->name);
	if (n.best != NULL)
		fprintf(stderr, "%s: did you mean '--%s'?\n", program, n.best);
}

/* -------------------------------------------------------------------------------------------- */

int ing_options_next(int argc, char **argv, const char *shorts, const struct option *longs)
{
	int c = getopt_long(argc, argv, shorts, longs, NULL);
	if (c == '?' && optopt == 0 && optind > 0 && optind <= argc)
		suggest(argv[0], argv[optind - 1], longs);
	return c;
}
