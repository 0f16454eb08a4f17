/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * shares.h - how many requests of each host are in memory, how fast they leave it, and how many
 * were parked for it: from that follows whether a further one has room, and when its turn will be.
 *
 * Owns: a record of each host that a request in memory waits for, and of the last MAX_PARKED hosts
 * that something was parked for. A request counts in one record at a time. Arithmetic over times
 * given as arguments. Thread: loop.
 *
 * What was parked is known only as far as this process has parked it and has not seen it again: the
 * topics are shared by a group of workers, so what another worker takes is forgotten when it must
 * have been due long ago. Orders of magnitude are enough, for they choose a tier.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/tier.h"

#define ING_SHARE_LEAST 16u /* requests: what a host may have in however small a window */

struct ing_shares;
struct ing_share;

/* percent (intake.host_share) of max_waiting; 0 or 100: no limit. */
struct ing_shares *ing_shares_new(unsigned max_waiting, unsigned percent);
void ing_shares_free(struct ing_shares *s); /* NULL is fine; no request may count */
/* Requests that a host may have in memory; UINT_MAX: any number. */
unsigned ing_shares_limit(const struct ing_shares *s);

/* There is no room for another request of this host. The urgent ones (priority lane) are refused
 * only for those that are urgent, too: a list must not keep them out. */
bool ing_shares_full(const struct ing_shares *s, const char *host, bool urgent);
/* Counts a request; the record is valid until ing_shares_leave(). */
struct ing_share *ing_shares_enter(
	struct ing_shares *s, const char *host, bool urgent, uint64_t now_ms);
/* served: the host was asked for it, so its pace is learnt from that. NULL is fine. */
void ing_shares_leave(
	struct ing_shares *s, struct ing_share *share, bool urgent, bool served, uint64_t now_ms);
const char *ing_share_host(const struct ing_share *share);

/* A request of this host was parked; one came back. */
void ing_shares_park(struct ing_shares *s, const char *host, enum ing_tier tier, uint64_t now_ms);
void ing_shares_unpark(struct ing_shares *s, const char *host, enum ing_tier tier, uint64_t now_ms);
/* How many requests of this host have their turns before one that comes from this tier, or, tier -1,
 * from anywhere else: those in memory, and those that come back earlier. */
uint64_t ing_shares_ahead(const struct ing_shares *s, const char *host, int tier, uint64_t now_ms);
/* Milliseconds from one request of this host to the next, as measured; `fallback_ms` when too few
 * have been. */
uint64_t ing_shares_pace_ms(const struct ing_shares *s, const char *host, uint64_t fallback_ms);
size_t ing_shares_count(const struct ing_shares *s); /* records */
