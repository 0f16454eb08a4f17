/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table is in the order of use: uthash keeps the order of insertion, and a client that is heard of is put in again.
 */
#include "worker/serve/limiter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/macros.h"

#define IPV6_NET_BYTES 8 /* of an address, that a subscriber is known by */
#define MAX_WAIT_S 3600

struct bucket {
	struct ing_addr client;
	double tokens;
	uint64_t filled_ms;
	UT_hash_handle hh;
};

struct ing_limiter {
	double rate, burst;
	size_t max_clients;
	struct bucket *buckets;
};

static void forget(struct ing_limiter *l, struct bucket *b)
{
	HASH_DEL(l->buckets, b);
	free(b);
}

static struct bucket *find(struct ing_limiter *l, const struct ing_addr *client, uint64_t now_ms)
{
	struct ing_addr key;
	struct bucket *b;
	memset(&key, 0, sizeof(key));
	key.family = client->family;
	memcpy(key.bytes, client->bytes, client->family == 6 ? IPV6_NET_BYTES : 4);
	HASH_FIND(hh, l->buckets, &key, sizeof(key), b);
	if (b != NULL) {
		HASH_DEL(l->buckets, b);
	} else {
		if (HASH_COUNT(l->buckets) >= l->max_clients)
			forget(l, l->buckets);
		b = ing_alloc(sizeof(*b));
		*b = (struct bucket){.tokens = l->burst, .filled_ms = now_ms};
		memcpy(&b->client, &key, sizeof(key));
	}
	HASH_ADD(hh, l->buckets, client, sizeof(b->client), b);
	b->tokens = fmin(l->burst, b->tokens + l->rate * (double)(now_ms - b->filled_ms) / 1000);
	b->filled_ms = now_ms;
	return b;
}

/* ------------------------------------------------------------------------------------------ */

struct ing_limiter *ing_limiter_new(double rate, double burst, size_t max_clients)
{
	struct ing_limiter *l = ing_alloc(sizeof(*l));
	*l = (struct ing_limiter){
		.rate = rate, .burst = fmax(burst, 1), .max_clients = max_clients};
	return l;
}

void ing_limiter_free(struct ing_limiter *l)
{
	if (l == NULL)
		return;
	while (l->buckets != NULL)
		forget(l, l->buckets);
	free(l);
}

unsigned ing_limiter_take(
	struct ing_limiter *l, const struct ing_addr *client, double tokens, uint64_t now_ms)
{
	if (l->rate <= 0)
		return 0;
	struct bucket *b = find(l, client, now_ms);
	double need = fmin(tokens, 1);
	if (b->tokens < need)
		return (unsigned)fmin(fmax(ceil((need - b->tokens) / l->rate), 1), MAX_WAIT_S);
	b->tokens -= tokens;
	return 0;
}

void ing_limiter_charge(
	struct ing_limiter *l, const struct ing_addr *client, double tokens, uint64_t now_ms)
{
	if (l->rate > 0)
		find(l, client, now_ms)->tokens -= tokens;
}

size_t ing_limiter_clients(const struct ing_limiter *l)
{
	return HASH_COUNT(l->buckets);
}
