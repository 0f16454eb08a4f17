/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * selection_options.h - which stored requests a verb is about: options of a command line, or members of a job, become a
 * selection (worker/store/requests/selection.h). What an option takes is read strictly.
 *
 * Owns the words that the selection borrows. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"
#include "worker/store/requests/selection.h"

struct ing_options;

struct ing_selection_options {
	struct ing_selection selection; /* good until _done() */
};

void ing_selection_options_init(struct ing_selection_options *o);
void ing_selection_options_done(struct ing_selection_options *o);

/* name: as in --help, without "--". value: NULL for one that takes none. Words of several calls add up. Error: -ING_FAIL_NOT_FOUND: there
 * is no such option; -ING_FAIL_USAGE and others: the value is not understood, *err says why and names the option. */
int ing_selection_set(struct ing_selection_options *o, const char *name, const char *value,
	struct ing_error *err) ING_MUST_CHECK;
/* Whether there is one of this name, and whether it takes a value. */
bool ing_selection_has_option(const char *name, bool *ret_takes_value);

/* For the tables of verbs: these options. */
extern const struct ing_options *const ing_selection_shared[];
/* c: what ing_usage_next() returned. False: it is none of these. True: *ret_code is -1, or the exit code after a message. */
bool ing_selection_take_option(
	struct ing_selection_options *o, const char *verb, int c, int *ret_code);
/* A failure of ing_selection_open() and the like as a message. Returns the exit code: a list that does not exist is a word that is
 * not understood. */
int ing_selection_fail(const char *verb, const struct ing_error *err);
/* On stderr, why a share leaves nothing, if it is so. */
void ing_selection_explain(
	const char *verb, const struct ing_selection *s, const struct ing_selection_facts *facts);
