/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The pattern is compiled anew, with a callout before each of its parts. PCRE2's own count for its
 * match limit lacks what a loop within one part moves over (x* in front of what cannot be x): two
 * loops make a search quadratic that stays far below the limit.
 */
#include "worker/scrape/jsoup/regex_steps.h"

#include "common/base/macros.h"
#include "worker/scrape/jsoup/literals.h"
#include "worker/scrape/jsoup/regex.h"
#include "worker/scrape/jsoup/regex_literals.h"
#include "worker/scrape/jsoup/regex_priv.h"

#define STOP (-1000) /* no code of PCRE2's */

struct count {
	size_t start, at; /* of the last callout */
	uint64_t steps, max;
};

static int count_step(pcre2_callout_block *block, void *ctx)
{
	struct count *count = ctx;
	size_t at = block->current_position;
	if (block->start_match == count->start)
		count->steps += at > count->at ? at - count->at : count->at - at;
	count->steps++;
	count->start = block->start_match;
	count->at = at;
	return count->steps > count->max ? STOP : 0;
}

static void run(const pcre2_code *code, const char *text, size_t bytes, struct count *count)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	pcre2_match_context *limits = ing_regex_make_limits();
	ing_must(data != NULL);
	pcre2_set_callout(limits, count_step, count);
	int rc = pcre2_match(code, (PCRE2_SPTR)text, bytes, 0, PCRE2_NO_UTF_CHECK, data, limits);
	/* At another limit the search goes no further, either. */
	if (rc < 0 && rc != PCRE2_ERROR_NOMATCH && rc != STOP)
		count->steps = count->max + 1;
	pcre2_match_context_free(limits);
	pcre2_match_data_free(data);
}

/* -------------------------------------------------------------------------------------------- */

uint64_t ing_regex_steps(const char *pattern, size_t pattern_bytes, unsigned flags,
	const char *text, size_t bytes, uint64_t max)
{
	struct ing_error err = {0};
	struct ing_literals *literals = ing_regex_literals(pattern, pattern_bytes,
		(flags & ING_REGEX_NO_CASE) != 0, (flags & ING_REGEX_BYTES) == 0);
	bool possible = literals == NULL || ing_literals_in(literals, text, bytes);
	ing_literals_free(literals);
	if (!possible)
		return 0;
	pcre2_code *code =
		ing_regex_compile_code(pattern, pattern_bytes, flags, PCRE2_AUTO_CALLOUT, &err);
	ing_must(code != NULL);
	struct count count = {.start = SIZE_MAX, .max = max};
	run(code, text, bytes, &count);
	pcre2_code_free(code);
	return ING_MIN(count.steps, max + 1);
}
