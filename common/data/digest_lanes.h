/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * digest_lanes.h - the compression functions of MD5, SHA-1 and SHA-256 for several streams at once.
 *
 * Owns: all code for particular instructions (AVX-512, AVX2, SHA) and the choice among it by what the
 * CPU has, made once a process. Padding, lengths and which stream goes where are digest_many's. Pure
 * functions.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

#define ING_DIGEST_LANES 16
#define ING_DIGEST_BLOCK_BYTES 64
#define ING_DIGEST_MAX_WORDS 8

/* Take `blocks` blocks of every lane into its state: state[i] and at[i] for each of the lanes, the
 * words of a state as the standards name them (a, b, c, …), blocks one after the other from at[i]. A
 * lane may be given twice the same at[i], but not the same state[i]. */
typedef void ing_digest_kernel_run(
	uint32_t *const state[], const uint8_t *const at[], size_t blocks);

struct ing_digest_kernel {
	ing_digest_kernel_run *run; /* NULL: end of the list */
	size_t lanes;
	size_t min; /* with fewer streams than that, the next of the list is faster */
};

/* For one algorithm of enum ing_digest_which: the widest first, the last for a single stream. NULL:
 * this CPU has none that is worth it. */
const struct ing_digest_kernel *ing_digest_kernels(unsigned algorithm);
/* All three of one stream in the time of MD5: state[0], [1] and [2] are those of MD5, SHA-1 and SHA-256. */
typedef void ing_digest_all_run(
	uint32_t state[3][ING_DIGEST_MAX_WORDS], const uint8_t *at, size_t blocks);
/* NULL: not on this CPU. With more streams than *ret_most it is faster to use ing_digest_kernels(). */
ing_digest_all_run *ing_digest_all(size_t *ret_most);
/* Which instructions are used: "AVX-512, SHA", "AVX2", "none". */
const char *ing_digest_lanes_how(void);

enum ing_digest_cpu {
	ING_DIGEST_CPU_SHA = 1,
	ING_DIGEST_CPU_AVX2 = 2,
	ING_DIGEST_CPU_AVX512 = 4,
};

/* For tests and measurements: use no instructions but these, as far as the CPU has them. No digest
 * may be under way. Returns those that are used from now on. */
unsigned ing_digest_lanes_restrict(unsigned cpu);
