/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * selection_words.h - words of a selection in the form that the tables have, so that nothing is not found for its writing: types,
 * statuses, hosts, DOI prefixes, ages and moments. For selection_options.c. Pure, but for the clock and files.
 */
#pragma once
#include <stdint.h>
#include "common/base/error.h"
#include "worker/store/requests/selection.h"

#define ING_SELECTION_WORD_BYTES 1000

/* Brings a word into its form; to has room for ING_SELECTION_WORD_BYTES and a NUL, and the word in it. Error: -ING_FAIL_USAGE. */
typedef int ing_selection_word_f(const char *word, char *to, struct ing_error *err);
ing_selection_word_f ing_selection_type, ing_selection_status, ing_selection_http_status,
	ing_selection_host, ing_selection_doi_prefix;

/* Add a word, or those between commas; form: NULL for any text. What was added stays when one is refused. */
int ing_selection_add_word(struct ing_words *words, const char *word, ing_selection_word_f *form,
	struct ing_error *err) ING_MUST_CHECK;
int ing_selection_add_words(struct ing_words *words, const char *value, ing_selection_word_f *form,
	struct ing_error *err) ING_MUST_CHECK;
/* Add the hosts of a file: the first word of each line; # begins a comment. */
int ing_selection_add_hosts(
	struct ing_words *words, const char *path, struct ing_error *err) ING_MUST_CHECK;
void ing_selection_free_words(struct ing_words *words);

/* enum ing_request_class of its name. */
int ing_selection_class(const char *word, unsigned *ret, struct ing_error *err) ING_MUST_CHECK;
/* Milliseconds since 1970, never 0, which is no condition. */
int ing_selection_moment(const char *value, int64_t *ret_ms, struct ing_error *err) ING_MUST_CHECK;
/* "A..B", "A..", "..B": seconds; 0 is what is not said. */
int ing_selection_ages(const char *value, int64_t *ret_min_s, int64_t *ret_max_s,
	struct ing_error *err) ING_MUST_CHECK;
/* Above 0 and up to 100, with "%" or without. */
int ing_selection_percent(const char *value, double *ret, struct ing_error *err) ING_MUST_CHECK;
