/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * options.h - getopt_long(3) that suggests an option for a misspelt one. Uses its
 * globals (optind, optarg …) and standard error; one thread.
 */
#pragma once

struct option;

/* Like getopt_long() without an index. Its message about an unknown option is followed by a line "ARGV0: did you mean '--NAME'?" when one of longs is near. */
int ing_options_next(int argc, char **argv, const char *shorts, const struct option *longs);
