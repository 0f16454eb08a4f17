/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A hash of one stream cannot use wide registers, because each step needs the result of the one before.
 * Here every lane of a register is another stream: 16 with AVX-512, 8 with AVX2. The SHA instructions
 * are for one stream, but a second one fits into the time that the first waits for them, and so does
 * the MD5 of the same stream.
 *
 * The functions are compiled for their instructions by attributes and called only where CPUID says
 * that CPU and system have them. Elsewhere than on x86-64 there are none.
 */
#include "common/data/digest_lanes.h"

#include <pthread.h>
#include <stddef.h>

#include "common/data/digest.h"

#if defined(__x86_64__)
#	include <cpuid.h>
#	include <immintrin.h>
#	include <string.h>

#	define ROL(v, n) ((v) << (n) | (v) >> (32 - (n)))

/* RFC 1321 3.4 */
static const uint32_t md5_k[64] = {0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf,
	0x4787c62a, 0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
	0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51,
	0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6,
	0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942,
	0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
	0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8,
	0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
	0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82,
	0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

/* FIPS 180-4 4.2.2 */
static const uint32_t sha256_k[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6,
	0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
	0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
	0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585,
	0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
	0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static const unsigned char *block_at(const uint8_t *at, size_t n)
{
	return at + n * ING_DIGEST_BLOCK_BYTES;
}

/* ---- one stream, without particular instructions ---- */

static void load_plain(uint32_t w[16], const uint8_t *const at[], size_t n)
{
	memcpy(w, block_at(at[0], n), ING_DIGEST_BLOCK_BYTES);
}

#	define VECTOR uint32_t
#	define LANES 1
#	define NAME(x) x##_plain
#	define KEEP(v) __asm__("" : "+r"(v))
#	define TARGET
#	define LOAD load_plain
#	define SWAP(v) __builtin_bswap32(v)
#	define CHOOSE(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))
#	define MAJORITY(x, y, z) (((x) & (y)) | ((z) & ((x) | (y))))
#	define XOR3(x, y, z) ((x) ^ (y) ^ (z))
#	define MD5_I(x, y, z) ((y) ^ ((x) | ~(z)))
#	include "common/data/digest_lanes.def"
#	undef VECTOR
#	undef LANES
#	undef NAME
#	undef TARGET
#	undef LOAD
#	undef SWAP
#	undef KEEP

/* ---- AVX2 ---- */

typedef uint32_t vector8 __attribute__((vector_size(32)));

#	define WITH_AVX2 __attribute__((target("avx2")))

WITH_AVX2 static vector8 swap8(vector8 v)
{
	const __m256i order =
		_mm256_broadcastsi128_si256(_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
	return (vector8)_mm256_shuffle_epi8((__m256i)v, order);
}

/* Eight words of eight lanes, from rows to columns. */
WITH_AVX2 static void load_half8(vector8 w[8], const uint8_t *const at[], size_t n, size_t half)
{
	__m256i r[8], t[8];
#	pragma GCC unroll 16
	for (size_t i = 0; i < 8; i++)
		r[i] = _mm256_loadu_si256(
			(const __m256i *)(const void *)(block_at(at[i], n) + half * 32));
#	pragma GCC unroll 16
	for (size_t i = 0; i < 8; i += 2) {
		t[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
		t[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
	}
#	pragma GCC unroll 16
	for (size_t i = 0; i < 8; i += 4) {
		r[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
		r[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
		r[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
		r[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
	}
#	pragma GCC unroll 16
	for (size_t i = 0; i < 4; i++) {
		w[i] = (vector8)_mm256_permute2x128_si256(r[i], r[i + 4], 0x20);
		w[i + 4] = (vector8)_mm256_permute2x128_si256(r[i], r[i + 4], 0x31);
	}
}

WITH_AVX2 static void load8(vector8 w[16], const uint8_t *const at[], size_t n)
{
	load_half8(w, at, n, 0);
	load_half8(w + 8, at, n, 1);
}

#	define VECTOR vector8
#	define LANES 8
#	define NAME(x) x##_avx2
#	define KEEP(v) __asm__("" : "+x"(v))
#	define TARGET WITH_AVX2
#	define LOAD load8
#	define SWAP swap8
#	include "common/data/digest_lanes.def"
#	undef VECTOR
#	undef LANES
#	undef NAME
#	undef TARGET
#	undef LOAD
#	undef SWAP
#	undef KEEP
#	undef CHOOSE
#	undef MAJORITY
#	undef XOR3
#	undef MD5_I

/* ---- AVX-512 ---- */

/* Aligned to less than its size, because GCC 12 places variables of a sanitized function no better (its
 * bug 110027). Costs nothing: what is aligned is moved as fast. */
typedef uint32_t vector16 __attribute__((vector_size(64), aligned(32)));
typedef __m512i row16 __attribute__((aligned(32)));

#	define WITH_AVX512 __attribute__((target("avx512f,avx512bw")))

WITH_AVX512 static vector16 swap16(vector16 v)
{
	const __m512i order =
		_mm512_broadcast_i32x4(_mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
	return (vector16)_mm512_shuffle_epi8((__m512i)v, order);
}

/* Sixteen words of sixteen lanes, from rows to columns. */
WITH_AVX512 static void load16(vector16 w[16], const uint8_t *const at[], size_t n)
{
	row16 r[16], t[16];
#	pragma GCC unroll 16
	for (size_t i = 0; i < 16; i++)
		r[i] = _mm512_loadu_si512(block_at(at[i], n));
#	pragma GCC unroll 16
	for (size_t i = 0; i < 16; i += 2) {
		t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
		t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
	}
	/* r[i + k]: of each quarter q, word 4 q + k of lanes i to i + 3 */
#	pragma GCC unroll 16
	for (size_t i = 0; i < 16; i += 4) {
		r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
		r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
		r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
		r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
	}
#	pragma GCC unroll 16
	for (size_t k = 0; k < 4; k++) {
		__m512i low01 = _mm512_shuffle_i32x4(r[k], r[4 + k], 0x44);
		__m512i low23 = _mm512_shuffle_i32x4(r[k], r[4 + k], 0xee);
		__m512i high01 = _mm512_shuffle_i32x4(r[8 + k], r[12 + k], 0x44);
		__m512i high23 = _mm512_shuffle_i32x4(r[8 + k], r[12 + k], 0xee);
		w[k] = (vector16)_mm512_shuffle_i32x4(low01, high01, 0x88);
		w[4 + k] = (vector16)_mm512_shuffle_i32x4(low01, high01, 0xdd);
		w[8 + k] = (vector16)_mm512_shuffle_i32x4(low23, high23, 0x88);
		w[12 + k] = (vector16)_mm512_shuffle_i32x4(low23, high23, 0xdd);
	}
}

#	define TERNARY(x, y, z, table)                                                            \
		((vector16)_mm512_ternarylogic_epi32(                                              \
			(__m512i)(x), (__m512i)(y), (__m512i)(z), table))
#	define VECTOR vector16
#	define LANES 16
#	define NAME(x) x##_avx512
#	define KEEP(v) __asm__("" : "+v"(v))
#	define TARGET WITH_AVX512
#	define LOAD load16
#	define SWAP swap16
#	define CHOOSE(x, y, z) TERNARY(x, y, z, 0xca)
#	define MAJORITY(x, y, z) TERNARY(x, y, z, 0xe8)
#	define XOR3(x, y, z) TERNARY(x, y, z, 0x96)
#	define MD5_I(x, y, z) TERNARY(x, y, z, 0x39)
#	include "common/data/digest_lanes.def"

/* ---- SHA instructions ---- */

#	define WITH_SHA __attribute__((target("sha,sse4.1")))
#	define SHA_LANES 2

struct sha1_regs {
	__m128i abcd, e, old_abcd, old_e;
	__m128i m[4]; /* the sixteen words that the schedule goes on from */
};

struct sha256_regs {
	__m128i abef, cdgh, old_abef, old_cdgh;
	__m128i m[4];
};

WITH_SHA static __m128i load_bytes(const void *from)
{
	return _mm_loadu_si128((const __m128i *)from);
}

WITH_SHA static void store_bytes(void *to, __m128i v)
{
	_mm_storeu_si128((__m128i *)to, v);
}

/* The last argument of the instruction is part of it. */
WITH_SHA static inline __attribute__((always_inline)) __m128i sha1_rounds4(
	__m128i abcd, __m128i e, unsigned t)
{
	switch (t / 5) {
	case 0:
		return _mm_sha1rnds4_epu32(abcd, e, 0);
	case 1:
		return _mm_sha1rnds4_epu32(abcd, e, 1);
	case 2:
		return _mm_sha1rnds4_epu32(abcd, e, 2);
	default:
		return _mm_sha1rnds4_epu32(abcd, e, 3);
	}
}

/* Rounds 4 t to 4 t + 3. */
WITH_SHA static inline __attribute__((always_inline)) void sha1_step(
	struct sha1_regs *r, unsigned t)
{
	__m128i *m = r->m;
	__m128i e = t == 0 ? _mm_add_epi32(r->e, m[0]) : _mm_sha1nexte_epu32(r->e, m[t % 4]);
	r->e = r->abcd;
	r->abcd = sha1_rounds4(r->abcd, e, t);
	if (t < 16)
		m[t % 4] = _mm_sha1msg2_epu32(
			_mm_xor_si128(_mm_sha1msg1_epu32(m[t % 4], m[(t + 1) % 4]), m[(t + 2) % 4]),
			m[(t + 3) % 4]);
}

WITH_SHA static inline __attribute__((always_inline)) struct sha1_regs load_sha1(
	const uint32_t *state)
{
	return (struct sha1_regs){.abcd = _mm_shuffle_epi32(load_bytes(state), 0x1b),
		.e = _mm_set_epi32((int)state[4], 0, 0, 0)};
}

WITH_SHA static inline __attribute__((always_inline)) void begin_sha1(
	struct sha1_regs *r, const unsigned char *block)
{
	const __m128i order = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
	r->old_abcd = r->abcd;
	r->old_e = r->e;
	for (size_t k = 0; k < 4; k++)
		r->m[k] = _mm_shuffle_epi8(load_bytes(block + k * 16), order);
}

WITH_SHA static inline __attribute__((always_inline)) void end_sha1(struct sha1_regs *r)
{
	r->e = _mm_sha1nexte_epu32(r->e, r->old_e);
	r->abcd = _mm_add_epi32(r->abcd, r->old_abcd);
}

WITH_SHA static inline __attribute__((always_inline)) void store_sha1(
	const struct sha1_regs *r, uint32_t *state)
{
	store_bytes(state, _mm_shuffle_epi32(r->abcd, 0x1b));
	state[4] = (uint32_t)_mm_extract_epi32(r->e, 3);
}

WITH_SHA static inline __attribute__((always_inline)) void sha1_streams(
	uint32_t *const state[], const uint8_t *const at[], size_t blocks, const size_t count)
{
	struct sha1_regs r[SHA_LANES];
	for (size_t i = 0; i < count; i++)
		r[i] = load_sha1(state[i]);
	for (size_t n = 0; n < blocks; n++) {
		for (size_t i = 0; i < count; i++)
			begin_sha1(&r[i], block_at(at[i], n));
#	pragma GCC unroll 20
		for (unsigned t = 0; t < 20; t++) {
#	pragma GCC unroll 2
			for (size_t i = 0; i < count; i++)
				sha1_step(&r[i], t);
		}
		for (size_t i = 0; i < count; i++)
			end_sha1(&r[i]);
	}
	for (size_t i = 0; i < count; i++)
		store_sha1(&r[i], state[i]);
}

/* Rounds 4 t to 4 t + 3. */
WITH_SHA static inline __attribute__((always_inline)) void sha256_step(
	struct sha256_regs *r, unsigned t)
{
	__m128i *m = r->m;
	__m128i wk = _mm_add_epi32(m[t % 4], load_bytes(sha256_k + 4 * t));
	r->cdgh = _mm_sha256rnds2_epu32(r->cdgh, r->abef, wk);
	r->abef = _mm_sha256rnds2_epu32(r->abef, r->cdgh, _mm_shuffle_epi32(wk, 0x0e));
	if (t < 12)
		m[t % 4] = _mm_sha256msg2_epu32(
			_mm_add_epi32(_mm_sha256msg1_epu32(m[t % 4], m[(t + 1) % 4]),
				_mm_alignr_epi8(m[(t + 3) % 4], m[(t + 2) % 4], 4)),
			m[(t + 3) % 4]);
}

WITH_SHA static inline __attribute__((always_inline)) struct sha256_regs load_sha256(
	const uint32_t *state)
{
	__m128i cdab = _mm_shuffle_epi32(load_bytes(state), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(load_bytes(state + 4), 0x1b);
	return (struct sha256_regs){
		.abef = _mm_alignr_epi8(cdab, efgh, 8), .cdgh = _mm_blend_epi16(efgh, cdab, 0xf0)};
}

WITH_SHA static inline __attribute__((always_inline)) void begin_sha256(
	struct sha256_regs *r, const unsigned char *block)
{
	const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	r->old_abef = r->abef;
	r->old_cdgh = r->cdgh;
	for (size_t k = 0; k < 4; k++)
		r->m[k] = _mm_shuffle_epi8(load_bytes(block + k * 16), order);
}

WITH_SHA static inline __attribute__((always_inline)) void end_sha256(struct sha256_regs *r)
{
	r->abef = _mm_add_epi32(r->abef, r->old_abef);
	r->cdgh = _mm_add_epi32(r->cdgh, r->old_cdgh);
}

WITH_SHA static inline __attribute__((always_inline)) void store_sha256(
	const struct sha256_regs *r, uint32_t *state)
{
	__m128i feba = _mm_shuffle_epi32(r->abef, 0x1b);
	__m128i dchg = _mm_shuffle_epi32(r->cdgh, 0xb1);
	store_bytes(state, _mm_blend_epi16(feba, dchg, 0xf0));
	store_bytes(state + 4, _mm_alignr_epi8(dchg, feba, 8));
}

WITH_SHA static inline __attribute__((always_inline)) void sha256_streams(
	uint32_t *const state[], const uint8_t *const at[], size_t blocks, const size_t count)
{
	struct sha256_regs r[SHA_LANES];
	for (size_t i = 0; i < count; i++)
		r[i] = load_sha256(state[i]);
	for (size_t n = 0; n < blocks; n++) {
		for (size_t i = 0; i < count; i++)
			begin_sha256(&r[i], block_at(at[i], n));
#	pragma GCC unroll 16
		for (unsigned t = 0; t < 16; t++) {
#	pragma GCC unroll 2
			for (size_t i = 0; i < count; i++)
				sha256_step(&r[i], t);
		}
		for (size_t i = 0; i < count; i++)
			end_sha256(&r[i]);
	}
	for (size_t i = 0; i < count; i++)
		store_sha256(&r[i], state[i]);
}

#	define DEFINE_SHA(count)                                                                  \
		WITH_SHA static void sha1_##count(                                                 \
			uint32_t *const state[], const uint8_t *const at[], size_t blocks)         \
		{                                                                                  \
			sha1_streams(state, at, blocks, count);                                    \
		}                                                                                  \
		WITH_SHA static void sha256_##count(                                               \
			uint32_t *const state[], const uint8_t *const at[], size_t blocks)         \
		{                                                                                  \
			sha256_streams(state, at, blocks, count);                                  \
		}

DEFINE_SHA(1)
DEFINE_SHA(2)

/* All three of one stream: the CPU computes one while it waits for the others' results. */

/* Steps 4 t to 4 t + 3. */
static inline __attribute__((always_inline)) void md5_step(
	uint32_t h[4], const uint32_t w[16], unsigned t)
{
	static const unsigned char turns[4][4] = {
		{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
#	pragma GCC unroll 4
	for (unsigned i = 0; i < 4; i++) {
		const uint32_t b = h[1];
		const uint32_t c = h[2];
		const uint32_t d = h[3];
		const unsigned step = 4 * t + i;
		const unsigned word = t < 4    ? step
				      : t < 8  ? 5 * step + 1
				      : t < 12 ? 3 * step + 5
					       : 7 * step;
		const uint32_t f = t < 4    ? d ^ (b & (c ^ d))
				   : t < 8  ? (d & b) + (~d & c)
				   : t < 12 ? b ^ c ^ d
					    : c ^ (b | ~d);
		uint32_t sum = h[0] + w[word % 16] + md5_k[step];
		__asm__("" : "+r"(sum)); /* as KEEP of digest_lanes.def */
		sum += f;
		h[0] = d;
		h[3] = c;
		h[2] = b;
		h[1] = b + ROL(sum, turns[t / 4][i]);
	}
}

WITH_SHA static void all_of_one(
	uint32_t state[3][ING_DIGEST_MAX_WORDS], const uint8_t *at, size_t blocks)
{
	uint32_t *md5 = state[0];
	struct sha1_regs sha1 = load_sha1(state[1]);
	struct sha256_regs sha256 = load_sha256(state[2]);
	for (size_t n = 0; n < blocks; n++) {
		uint32_t w[16];
		uint32_t h[4];
		memcpy(w, block_at(at, n), sizeof(w));
		memcpy(h, md5, sizeof(h));
		begin_sha1(&sha1, block_at(at, n));
		begin_sha256(&sha256, block_at(at, n));
#	pragma GCC unroll 20
		for (unsigned t = 0; t < 20; t++) {
			sha1_step(&sha1, t);
			if (t < 16) {
				sha256_step(&sha256, t);
				md5_step(h, w, t);
			}
		}
		end_sha1(&sha1);
		end_sha256(&sha256);
		for (size_t i = 0; i < 4; i++)
			md5[i] += h[i];
	}
	store_sha1(&sha1, state[1]);
	store_sha256(&sha256, state[2]);
}

/* ---- which of them ---- */

/* In order of preference. The smallest numbers of streams are where bench-digest found the next list
 * entry to become faster. */
static const struct choice {
	unsigned algorithm;
	unsigned cpu; /* what it needs */
	struct ing_digest_kernel kernels[4];
} choices[] = {
	{ING_DIGEST_MD5, ING_DIGEST_CPU_AVX512, {{md5_avx512, 16, 2}, {md5_plain, 1, 1}}},
	{ING_DIGEST_MD5, ING_DIGEST_CPU_AVX2, {{md5_avx2, 8, 3}, {md5_plain, 1, 1}}},
	{ING_DIGEST_SHA1, ING_DIGEST_CPU_AVX512 | ING_DIGEST_CPU_SHA,
		{{sha1_avx512, 16, 7}, {sha1_2, 2, 2}, {sha1_1, 1, 1}}},
	{ING_DIGEST_SHA1, ING_DIGEST_CPU_SHA, {{sha1_2, 2, 2}, {sha1_1, 1, 1}}},
	{ING_DIGEST_SHA1, ING_DIGEST_CPU_AVX512, {{sha1_avx512, 16, 2}, {sha1_plain, 1, 1}}},
	{ING_DIGEST_SHA1, ING_DIGEST_CPU_AVX2, {{sha1_avx2, 8, 3}, {sha1_plain, 1, 1}}},
	{ING_DIGEST_SHA256, ING_DIGEST_CPU_AVX512 | ING_DIGEST_CPU_SHA,
		{{sha256_avx512, 16, 10}, {sha256_2, 2, 2}, {sha256_1, 1, 1}}},
	{ING_DIGEST_SHA256, ING_DIGEST_CPU_SHA, {{sha256_2, 2, 2}, {sha256_1, 1, 1}}},
	{ING_DIGEST_SHA256, ING_DIGEST_CPU_AVX512, {{sha256_avx512, 16, 2}, {sha256_plain, 1, 1}}},
	{ING_DIGEST_SHA256, ING_DIGEST_CPU_AVX2, {{sha256_avx2, 8, 3}, {sha256_plain, 1, 1}}},
};

static unsigned read_cpu(void)
{
	unsigned cpu = 0;
	unsigned a, b, c, d;
	/* These two ask whether the system keeps the registers, too. */
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
		cpu |= ING_DIGEST_CPU_AVX512;
	if (__builtin_cpu_supports("avx2"))
		cpu |= ING_DIGEST_CPU_AVX2;
	if (__builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
		(b & bit_SHA) != 0)
		cpu |= ING_DIGEST_CPU_SHA;
	return cpu;
}

#else

static const struct choice {
	unsigned algorithm;
	unsigned cpu;
	struct ing_digest_kernel kernels[1];
} choices[1];

#	define all_of_one NULL

static unsigned read_cpu(void)
{
	return 0;
}

#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned usable;

static void set_usable(void)
{
	usable = read_cpu();
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_digest_kernel *ing_digest_kernels(unsigned algorithm)
{
	pthread_once(&once, set_usable);
	for (size_t i = 0; i < ING_ARRAY_LEN(choices); i++) {
		const struct choice *choice = &choices[i];
		if (choice->algorithm == algorithm && (choice->cpu & ~usable) == 0)
			return choice->kernels;
	}
	return NULL;
}

ing_digest_all_run *ing_digest_all(size_t *ret_most)
{
	pthread_once(&once, set_usable);
	if ((usable & ING_DIGEST_CPU_SHA) == 0)
		return NULL;
	/* Where bench-digest found the lines to cross. */
	*ret_most = (usable & ING_DIGEST_CPU_AVX512) != 0 ? 3
		    : (usable & ING_DIGEST_CPU_AVX2) != 0 ? 5
							  : SIZE_MAX;
	return all_of_one;
}

const char *ing_digest_lanes_how(void)
{
	pthread_once(&once, set_usable);
	bool sha = (usable & ING_DIGEST_CPU_SHA) != 0;
	if ((usable & ING_DIGEST_CPU_AVX512) != 0)
		return sha ? "AVX-512, SHA instructions" : "AVX-512";
	if ((usable & ING_DIGEST_CPU_AVX2) != 0)
		return sha ? "AVX2, SHA instructions" : "AVX2";
	return sha ? "SHA instructions" : NULL;
}

unsigned ing_digest_lanes_restrict(unsigned cpu)
{
	pthread_once(&once, set_usable);
	usable = read_cpu() & cpu;
	return usable;
}
