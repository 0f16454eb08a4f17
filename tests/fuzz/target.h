/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * target.h - what a fuzz target consists of: fuzz_target(), which must hold for any input, and
 * FUZZ_BUDGET, which says what an input may cost. driver.c runs the one and checks the other.
 *
 * The budget is what the program as it ships needs for the worst input that is known, times three
 * or four; a sanitized or fuzzed build gets more (driver.c). It is a bound on the work per byte:
 * what is quadratic in its input breaks it, as soon as a fuzzer, a seed or --pump (replay.c) makes
 * the input long enough.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct fuzz_budget {
	unsigned cpu_us;      /* CPU time of an input, */
	unsigned cpu_byte_ns; /* and for each of its bytes */
	unsigned heap_kb;     /* heap at its fullest, beyond what was in use before, */
	unsigned heap_byte;   /* and bytes for each byte of input */
	unsigned out_bytes;   /* what fuzz_wrote() may be told, */
	unsigned out_byte;    /* and for each byte of input */
};

#define FUZZ_BUDGET(...) const struct fuzz_budget fuzz_budget = {__VA_ARGS__}
extern const struct fuzz_budget fuzz_budget;

/* The target's own. What it keeps from one input to the next must not grow. */
void fuzz_target(const uint8_t *data, size_t size);

/* For targets whose code writes something for others to keep or to send: so many bytes more. */
void fuzz_wrote(size_t bytes);

/* --- for replay.c --- */

struct fuzz_cost {
	uint64_t cpu_ns;
	size_t heap_bytes; /* 0 in a build that is not sanitized */
	size_t out_bytes;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
struct fuzz_cost fuzz_last_cost(void);
