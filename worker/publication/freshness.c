/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A cool-down of n minutes is over when n minutes have gone by, both for the question whether to fetch and for
 * the counters.
 */
#include "worker/publication/freshness.h"

#include "common/base/macros.h"
#include "worker/model/settings.h"

#define MINUTE_MS 60000

static bool is_over(int64_t cooldown, int64_t elapsed_ms)
{
	return cooldown >= 0 && elapsed_ms / MINUTE_MS >= cooldown;
}

static bool is_due(
	const struct ing_refetch_rules *r, const struct ing_freshness_state *s, int64_t elapsed_ms)
{
	return s->fetch_time_ms <= 0 || is_over(r->refetch_after, elapsed_ms) ||
	       (s->empty && is_over(r->empty_cooldown, elapsed_ms)) ||
	       (!s->empty && !s->final && is_over(r->non_final_cooldown, elapsed_ms)) ||
	       (s->exception && is_over(r->exception_cooldown, elapsed_ms));
}

/* -------------------------------------------------------------------------------------------- */

enum ing_freshness ing_freshness(const struct ing_refetch_rules *rules,
	const struct ing_freshness_state *state, int64_t now_ms)
{
	bool has_time = state->fetch_time_ms > 0 && state->fetch_time_ms < now_ms;
	int64_t elapsed_ms = has_time ? now_ms - state->fetch_time_ms : 0;
	bool is_whole = !state->empty && state->final && !state->exception;
	if (is_due(rules, state, elapsed_ms))
		return ING_FRESHNESS_DUE;
	if (is_whole)
		return ING_FRESHNESS_KEPT;
	return rules->retry_limit < 0 || state->retry_counter < rules->retry_limit
		       ? ING_FRESHNESS_RETRY
		       : ING_FRESHNESS_KEPT;
}

void ing_freshness_fetched(
	const struct ing_refetch_rules *rules, struct ing_freshness_state *state, int64_t now_ms)
{
	if (ing_freshness(rules, state, now_ms) == ING_FRESHNESS_DUE) {
		state->fetch_time_ms = now_ms;
		state->retry_counter = 0;
	} else if (state->retry_counter < INT64_MAX) {
		state->retry_counter++;
	}
}

struct ing_refetch_rules ing_refetch_rules(const struct ing_publication_settings *s)
{
	return (struct ing_refetch_rules){.empty_cooldown = s->empty_cooldown,
		.non_final_cooldown = s->non_final_cooldown,
		.exception_cooldown = s->exception_cooldown,
		.refetch_after = s->refetch_after,
		.retry_limit = s->retry_limit};
}
