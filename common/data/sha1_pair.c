/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * FIPS 180-4, 6.1 in the SHA instructions of x86-64, two blocks side by side: no OpenSSL function
 * hashes two streams at once. Anywhere else both streams go through `digest`. A block that has no
 * partner is hashed beside itself, into a state that is thrown away.
 */
#include "common/data/sha1_pair.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/data/digest.h"

#define BLOCK_BYTES ((size_t)64)
#define LENGTH_AT ((size_t)56) /* in the last block */

struct stream {
	uint32_t state[5];
	uint64_t bytes;                  /* taken */
	unsigned char part[BLOCK_BYTES]; /* its front: bytes % BLOCK_BYTES of an unfinished block */
};

struct ing_sha1_pair {
	struct stream streams[2];
	struct ing_digester *portable[2]; /* NULL: the processor has the instructions */
};

#if defined(__x86_64__)
#	include <cpuid.h>
#	include <immintrin.h>

static bool have_sha(void)
{
	unsigned a;
	unsigned b;
	unsigned c;
	unsigned d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_SSSE3) == 0 || (c & bit_SSE4_1) == 0)
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0;
}

struct lane {
	__m128i abcd;
	__m128i e;
	__m128i w[4]; /* the schedule's last 16 words */
};

/* Rounds 4i to 4i + 3 with function f; the schedule's words for 4i + 4 on are made meanwhile.
 * Macros, because f has to be a literal also where nothing is inlined. */
#	define LANE_ROUNDS(l, i, f)                                                               \
		do {                                                                               \
			__m128i e = (i) == 0 ? _mm_add_epi32((l).e, (l).w[0])                      \
					     : _mm_sha1nexte_epu32((l).e, (l).w[(i)&3]);           \
			(l).e = (l).abcd;                                                          \
			(l).abcd = _mm_sha1rnds4_epu32((l).abcd, e, f);                            \
			if ((i) >= 3 && (i) < 19)                                                  \
				(l).w[((i) + 1) & 3] = _mm_sha1msg2_epu32(                         \
					_mm_xor_si128(_mm_sha1msg1_epu32((l).w[((i) + 1) & 3],     \
							      (l).w[((i) + 2) & 3]),               \
						(l).w[((i) + 3) & 3]),                             \
					(l).w[(i)&3]);                                             \
		} while (0)
#	define ROUNDS(i, f)                                                                       \
		do {                                                                               \
			LANE_ROUNDS(x, i, f);                                                      \
			LANE_ROUNDS(y, i, f);                                                      \
		} while (0)
#	define ROUNDS_5(i, f)                                                                     \
		do {                                                                               \
			ROUNDS((i), f);                                                            \
			ROUNDS((i) + 1, f);                                                        \
			ROUNDS((i) + 2, f);                                                        \
			ROUNDS((i) + 3, f);                                                        \
			ROUNDS((i) + 4, f);                                                        \
		} while (0)
#	define WITH_SHA __attribute__((target("sha,sse4.1")))

WITH_SHA static inline struct lane load_state(const uint32_t state[5])
{
	struct lane l = {0};
	__m128i abcd;
	memcpy(&abcd, state, sizeof(abcd));
	l.abcd = _mm_shuffle_epi32(abcd, 0x1b);
	l.e = _mm_set_epi32((int)state[4], 0, 0, 0);
	return l;
}

WITH_SHA static inline void store_state(const struct lane *l, uint32_t state[5])
{
	__m128i abcd = _mm_shuffle_epi32(l->abcd, 0x1b);
	memcpy(state, &abcd, sizeof(abcd));
	state[4] = (uint32_t)_mm_extract_epi32(l->e, 3);
}

WITH_SHA static inline __m128i load_words(const unsigned char *from)
{
	const __m128i big_endian = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
	return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)from), big_endian);
}

/* No loop: an array that is indexed by a variable would not be kept in registers. */
WITH_SHA static inline void load_block(struct lane *l, const unsigned char *block)
{
	l->w[0] = load_words(block);
	l->w[1] = load_words(block + 16);
	l->w[2] = load_words(block + 32);
	l->w[3] = load_words(block + 48);
}

WITH_SHA static inline void add_state(struct lane *l, __m128i abcd, __m128i e)
{
	l->e = _mm_sha1nexte_epu32(l->e, e);
	l->abcd = _mm_add_epi32(l->abcd, abcd);
}

WITH_SHA static void hash_two(uint32_t a[5], const unsigned char *from_a, uint32_t b[5],
	const unsigned char *from_b, size_t blocks)
{
	struct lane x = load_state(a);
	struct lane y = load_state(b);
	for (; blocks > 0; blocks--) {
		const __m128i x_abcd = x.abcd;
		const __m128i x_e = x.e;
		const __m128i y_abcd = y.abcd;
		const __m128i y_e = y.e;
		load_block(&x, from_a);
		load_block(&y, from_b);
		ROUNDS_5(0, 0);
		ROUNDS_5(5, 1);
		ROUNDS_5(10, 2);
		ROUNDS_5(15, 3);
		add_state(&x, x_abcd, x_e);
		add_state(&y, y_abcd, y_e);
		from_a += BLOCK_BYTES;
		from_b += BLOCK_BYTES;
	}
	store_state(&x, a);
	store_state(&y, b);
}
#else
static bool have_sha(void)
{
	return false;
}

static void hash_two(uint32_t a[5], const unsigned char *from_a, uint32_t b[5],
	const unsigned char *from_b, size_t blocks)
{
	(void)a, (void)from_a, (void)b, (void)from_b, (void)blocks;
	ing_must(false); /* have_sha() said so */
}
#endif

static void hash_one(struct stream *s, const unsigned char *from, size_t blocks)
{
	uint32_t beside[5];
	memcpy(beside, s->state, sizeof(beside));
	hash_two(s->state, from, beside, from, blocks);
}

static void add_to_one(struct stream *s, const unsigned char *from, size_t bytes)
{
	size_t fill = s->bytes % BLOCK_BYTES;
	s->bytes += bytes;
	if (fill > 0) {
		size_t step = ING_MIN(bytes, BLOCK_BYTES - fill);
		memcpy(s->part + fill, from, step);
		from += step;
		bytes -= step;
		if (fill + step < BLOCK_BYTES)
			return;
		hash_one(s, s->part, 1);
	}
	hash_one(s, from, bytes / BLOCK_BYTES);
	memcpy(s->part, from + bytes / BLOCK_BYTES * BLOCK_BYTES, bytes % BLOCK_BYTES);
}

static void restart_stream(struct stream *s)
{
	*s = (struct stream){.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
}

/* Padding as in FIPS 180-4, 5.1.1. */
static void finish_stream(struct stream *s, unsigned char ret[ING_SHA1_BYTES])
{
	const unsigned char padding[BLOCK_BYTES] = {0x80};
	unsigned char length[8];
	uint64_t bits = s->bytes * 8;
	for (unsigned i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	size_t fill = s->bytes % BLOCK_BYTES;
	size_t pad = (fill < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK_BYTES) - fill;
	add_to_one(s, padding, pad);
	add_to_one(s, length, sizeof(length));
	for (unsigned i = 0; i < ING_SHA1_BYTES; i++)
		ret[i] = (unsigned char)(s->state[i / 4] >> (24 - i % 4 * 8));
	restart_stream(s);
}

/* What is missing to the end of its block. */
static size_t to_border(const struct stream *s)
{
	return (BLOCK_BYTES - s->bytes % BLOCK_BYTES) % BLOCK_BYTES;
}

static void add_to_both(struct stream *a, struct stream *b, const unsigned char *from, size_t bytes)
{
	size_t a_at = ING_MIN(to_border(a), bytes);
	size_t b_at = ING_MIN(to_border(b), bytes);
	add_to_one(a, from, a_at);
	add_to_one(b, from, b_at);
	size_t blocks = (bytes - ING_MAX(a_at, b_at)) / BLOCK_BYTES;
	hash_two(a->state, from + a_at, b->state, from + b_at, blocks);
	a->bytes += blocks * BLOCK_BYTES;
	b->bytes += blocks * BLOCK_BYTES;
	a_at += blocks * BLOCK_BYTES;
	b_at += blocks * BLOCK_BYTES;
	add_to_one(a, from + a_at, bytes - a_at);
	add_to_one(b, from + b_at, bytes - b_at);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_sha1_pair *ing_sha1_pair_new(void)
{
	if (!have_sha())
		return ing_sha1_pair_new_portable();
	struct ing_sha1_pair *p = ing_alloc(sizeof(*p));
	restart_stream(&p->streams[0]);
	restart_stream(&p->streams[1]);
	return p;
}

struct ing_sha1_pair *ing_sha1_pair_new_portable(void)
{
	struct ing_sha1_pair *p = ing_alloc(sizeof(*p));
	p->portable[0] = ing_digester_new(ING_DIGEST_SHA1);
	p->portable[1] = ing_digester_new(ING_DIGEST_SHA1);
	return p;
}

void ing_sha1_pair_free(struct ing_sha1_pair *p)
{
	if (p == NULL)
		return;
	ing_digester_free(p->portable[0]);
	ing_digester_free(p->portable[1]);
	free(p);
}

void ing_sha1_pair_add_first(struct ing_sha1_pair *p, const void *data, size_t bytes)
{
	if (bytes == 0)
		return;
	if (p->portable[0] != NULL)
		ing_digester_add(p->portable[0], data, bytes);
	else
		add_to_one(&p->streams[0], data, bytes);
}

void ing_sha1_pair_add_both(struct ing_sha1_pair *p, const void *data, size_t bytes)
{
	if (bytes == 0)
		return;
	if (p->portable[0] == NULL) {
		add_to_both(&p->streams[0], &p->streams[1], data, bytes);
		return;
	}
	ing_digester_add(p->portable[0], data, bytes);
	ing_digester_add(p->portable[1], data, bytes);
}

void ing_sha1_pair_finish(struct ing_sha1_pair *p, unsigned char ret_first[ING_SHA1_BYTES],
	unsigned char ret_second[ING_SHA1_BYTES])
{
	unsigned char *ret[2] = {ret_first, ret_second};
	for (unsigned i = 0; i < 2; i++) {
		if (p->portable[i] == NULL) {
			finish_stream(&p->streams[i], ret[i]);
			continue;
		}
		struct ing_digests digests;
		ing_digester_finish(p->portable[i], &digests);
		memcpy(ret[i], digests.sha1, ING_SHA1_BYTES);
	}
}
