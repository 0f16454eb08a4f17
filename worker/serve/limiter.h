/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * limiter.h - how much a client may ask for: a bucket of tokens for each address.
 *
 * A bucket fills at `rate` tokens a second up to `burst`. Who has any may take as many as the request costs, and then
 * waits until the debt is paid: so a large request passes, and costs its price. A client is an IPv4 address or the
 * /64 of an IPv6 one, which is what a subscriber is given. The table is bounded: the address that was heard of longest ago
 * is forgotten for a new one. Owned by one thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "common/net/addr.h"

struct ing_limiter;

/* rate 0: everything passes. */
struct ing_limiter *ing_limiter_new(double rate, double burst, size_t max_clients);
void ing_limiter_free(struct ing_limiter *l); /* NULL is fine */
/* 0: taken. Otherwise the seconds after which it is worth asking again, rounded up; nothing was taken. */
unsigned ing_limiter_take(
	struct ing_limiter *l, const struct ing_addr *client, double tokens, uint64_t now_ms);
/* More, of a request that has passed. */
void ing_limiter_charge(
	struct ing_limiter *l, const struct ing_addr *client, double tokens, uint64_t now_ms);
size_t ing_limiter_clients(const struct ing_limiter *l);
