/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * verbs.h - all verbs of ingestctl, in the order in which they are shown.
 */
#pragma once
#include <stdio.h>

struct ing_ctl;
struct ing_usage;

struct ing_verb {
	const char *group; /* the heading before it; NULL: that of the verb before */
	int (*run)(int argc, char **argv, const struct ing_ctl *ctl);
	const struct ing_usage *usage;
};

/* Ends with {0}. */
extern const struct ing_verb ing_verbs[];
const struct ing_verb *ing_verb_of_name(const char *name);
/* Each verb, and behind it those below it. */
typedef void ing_verb_each_f(void *ctx, const struct ing_usage *u);
void ing_verbs_walk(ing_verb_each_f *each, void *ctx);
/* ingestctl --help */
void ing_verbs_print(FILE *to);
