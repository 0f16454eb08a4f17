/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The algorithm is that of the paper "SipHash: a fast short-input PRF"; names are its own.
 */
#include "common/base/hash.h"

#include <endian.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "common/base/macros.h"

static uint64_t process_key[2];
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static uint64_t rotl(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], unsigned rounds)
{
	while (rounds-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotl(v[1], 13) ^ v[0];
		v[3] = rotl(v[3], 16) ^ v[2];
		v[0] = rotl(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotl(v[1], 17) ^ v[2];
		v[3] = rotl(v[3], 21) ^ v[0];
		v[2] = rotl(v[2], 32);
	}
}

static void take_word(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	sip_rounds(v, 2);
	v[0] ^= m;
}

static void draw_key(void)
{
	ing_must(getrandom(process_key, sizeof(process_key), 0) == sizeof(process_key));
}

/* -------------------------------------------------------------------------------------------- */

uint64_t ing_siphash(const uint64_t key[2], const void *data, size_t bytes)
{
	uint64_t v[4] = {
		key[0] ^ UINT64_C(0x736f6d6570736575),
		key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261),
		key[1] ^ UINT64_C(0x7465646279746573),
	};
	const unsigned char *at = data;
	uint64_t m;
	for (size_t left = bytes; left >= sizeof(m); left -= sizeof(m), at += sizeof(m)) {
		memcpy(&m, at, sizeof(m));
		take_word(v, le64toh(m));
	}
	m = 0;
	if (bytes % sizeof(m) > 0)
		memcpy(&m, at, bytes % sizeof(m));
	take_word(v, le64toh(m) | (uint64_t)bytes << 56);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint32_t ing_hash(const void *data, size_t bytes)
{
	pthread_once(&key_once, draw_key);
	return (uint32_t)ing_siphash(process_key, data, bytes);
}
