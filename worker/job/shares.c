/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The records. Loop thread.
 *
 * What surprises: a request that came back from a tier stands before everything that is still in
 * that tier or in a longer one, as tiers are first in, first out, and longer ones were given to those
 * with later turns. Were it counted behind them, it would be parked longer each time.
 */
#include "worker/job/shares.h"

#include <limits.h>
#include <stdlib.h>
#include <utlist.h>

#include "common/base/hash.h"
#include "common/base/macros.h"

/* Hosts that something was parked for and that no request in memory waits for: 200 bytes each. */
#define MAX_PARKED 20000
/* A longer time between two requests was a hold or an outage, which the gate knows better. */
#define MAX_STEP_MS 60000u
/* Requests after which the measured pace counts. */
#define LEAST_MEASURED 4u
/* A measurement's weight is an eighth; kept in sixteenths of a millisecond. */
#define PACE_SHIFT 3
#define PACE_UNIT 16u

struct parked {
	uint32_t count[ING_TIERS_];
	uint64_t until_ms[ING_TIERS_]; /* the counts are forgotten */
};

struct ing_share {
	UT_hash_handle hh;
	struct ing_share *prev, *next; /* in idle */
	struct parked *parked;         /* NULL: nothing */
	uint64_t left_ms;              /* when the last one left, or the first one came */
	uint32_t plain, urgent;        /* requests in memory */
	uint32_t pace;                 /* 1/PACE_UNIT ms */
	uint32_t measured;             /* up to LEAST_MEASURED */
	char host[];
};

struct ing_shares {
	struct ing_share *all;
	struct ing_share *idle; /* without requests in memory, longest idle first */
	size_t idle_count;
	unsigned limit;
};

static struct ing_share *find(const struct ing_shares *s, const char *host)
{
	struct ing_share *share;
	HASH_FIND_STR(s->all, host, share);
	return share;
}

static bool is_idle(const struct ing_share *share)
{
	return share->plain + share->urgent == 0;
}

static void add_idle(struct ing_shares *s, struct ing_share *share)
{
	DL_APPEND(s->idle, share);
	s->idle_count++;
}

static void remove_idle(struct ing_shares *s, struct ing_share *share)
{
	DL_DELETE(s->idle, share);
	s->idle_count--;
}

/* Not one that is idle. */
static void drop(struct ing_shares *s, struct ing_share *share)
{
	HASH_DEL(s->all, share);
	free(share->parked);
	free(share);
}

/* It has just become idle, or was made so. */
static void settle_idle(struct ing_shares *s, struct ing_share *share)
{
	if (share->parked == NULL) {
		drop(s, share);
		return;
	}
	add_idle(s, share);
	if (s->idle_count <= MAX_PARKED)
		return;
	struct ing_share *oldest = s->idle;
	remove_idle(s, oldest);
	drop(s, oldest);
}

static struct ing_share *add(struct ing_shares *s, const char *host)
{
	size_t bytes = strlen(host);
	struct ing_share *share = ing_alloc(sizeof(*share) + bytes + 1);
	memcpy(share->host, host, bytes + 1);
	HASH_ADD_KEYPTR(hh, s->all, share->host, bytes, share);
	return share;
}

static void learn_pace(struct ing_share *share, uint64_t now_ms)
{
	uint64_t step_ms = now_ms > share->left_ms ? now_ms - share->left_ms : 0;
	uint32_t step = (uint32_t)ING_MIN(step_ms, (uint64_t)MAX_STEP_MS) * PACE_UNIT;
	if (share->measured == 0)
		share->pace = step;
	else if (step > share->pace)
		share->pace += (step - share->pace) >> PACE_SHIFT;
	else
		share->pace -= (share->pace - step) >> PACE_SHIFT;
	share->measured = ING_MIN(share->measured + 1, LEAST_MEASURED);
}

static uint64_t count_parked(const struct ing_share *share, int tier, uint64_t now_ms)
{
	const struct parked *parked = share->parked;
	return parked != NULL && parked->until_ms[tier] > now_ms ? parked->count[tier] : 0;
}

static bool has_parked(const struct ing_share *share, uint64_t now_ms)
{
	for (int i = 0; i < ING_TIERS_; i++)
		if (count_parked(share, i, now_ms) > 0)
			return true;
	return false;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_shares *ing_shares_new(unsigned max_waiting, unsigned percent)
{
	struct ing_shares *s = ing_alloc(sizeof(*s));
	uint64_t limit = (uint64_t)max_waiting * percent / 100;
	s->limit = percent == 0 || percent >= 100
			   ? UINT_MAX
			   : (unsigned)ING_MAX(limit, (uint64_t)ING_SHARE_LEAST);
	return s;
}

void ing_shares_free(struct ing_shares *s)
{
	if (s == NULL)
		return;
	while (s->idle != NULL) {
		struct ing_share *share = s->idle;
		remove_idle(s, share);
		drop(s, share);
	}
	ing_must(s->all == NULL);
	free(s);
}

unsigned ing_shares_limit(const struct ing_shares *s)
{
	return s->limit;
}

bool ing_shares_full(const struct ing_shares *s, const char *host, bool urgent)
{
	const struct ing_share *share = find(s, host);
	if (share == NULL)
		return false;
	return (urgent ? share->urgent : share->urgent + share->plain) >= s->limit;
}

struct ing_share *ing_shares_enter(
	struct ing_shares *s, const char *host, bool urgent, uint64_t now_ms)
{
	struct ing_share *share = find(s, host);
	if (share == NULL)
		share = add(s, host);
	else if (is_idle(share))
		remove_idle(s, share);
	if (is_idle(share))
		share->left_ms = now_ms;
	share->urgent += urgent;
	share->plain += !urgent;
	return share;
}

void ing_shares_leave(
	struct ing_shares *s, struct ing_share *share, bool urgent, bool served, uint64_t now_ms)
{
	if (share == NULL)
		return;
	ing_must((urgent ? share->urgent : share->plain) > 0);
	share->urgent -= urgent;
	share->plain -= !urgent;
	if (served) {
		learn_pace(share, now_ms);
		share->left_ms = now_ms;
	}
	if (is_idle(share))
		settle_idle(s, share);
}

const char *ing_share_host(const struct ing_share *share)
{
	return share->host;
}

void ing_shares_park(struct ing_shares *s, const char *host, enum ing_tier tier, uint64_t now_ms)
{
	struct ing_share *share = find(s, host);
	bool is_new = share == NULL;
	if (is_new)
		share = add(s, host);
	if (share->parked == NULL)
		share->parked = ing_alloc(sizeof(*share->parked));
	struct parked *parked = share->parked;
	uint64_t delay_ms = ing_tier_delay_ms(tier);
	parked->count[tier] = (uint32_t)count_parked(share, (int)tier, now_ms) + 1;
	/* What is due may wait for its partition, and for who reads it. */
	parked->until_ms[tier] = now_ms + 2 * delay_ms;
	if (is_new)
		settle_idle(s, share);
}

void ing_shares_unpark(struct ing_shares *s, const char *host, enum ing_tier tier, uint64_t now_ms)
{
	struct ing_share *share = find(s, host);
	if (share == NULL || share->parked == NULL)
		return;
	uint64_t count = count_parked(share, (int)tier, now_ms);
	share->parked->count[tier] = (uint32_t)(count > 0 ? count - 1 : 0);
	if (has_parked(share, now_ms))
		return;
	free(ING_TAKE(share->parked));
	if (is_idle(share)) {
		remove_idle(s, share);
		drop(s, share);
	}
}

uint64_t ing_shares_ahead(const struct ing_shares *s, const char *host, int tier, uint64_t now_ms)
{
	const struct ing_share *share = find(s, host);
	if (share == NULL)
		return 0;
	uint64_t ahead = (uint64_t)share->plain + share->urgent;
	for (int i = 0; i < (tier >= 0 ? tier : ING_TIERS_); i++)
		ahead += count_parked(share, i, now_ms);
	return ahead;
}

uint64_t ing_shares_pace_ms(const struct ing_shares *s, const char *host, uint64_t fallback_ms)
{
	const struct ing_share *share = find(s, host);
	if (share == NULL || share->measured < LEAST_MEASURED)
		return fallback_ms;
	return (share->pace + PACE_UNIT / 2) / PACE_UNIT;
}

size_t ing_shares_count(const struct ing_shares *s)
{
	return HASH_COUNT(s->all);
}
