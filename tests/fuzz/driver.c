/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs a target on an input and aborts when that cost more than the target's budget. CPU time is
 * the thread's own, so that a busy machine changes little; an input that seems too slow is run
 * once more, for the first run may have loaded something. Heap is seen by the sanitizer's
 * allocator only.
 */
#include "tests/fuzz/target.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef ING_SANITIZED
/* From <sanitizer/allocator_interface.h>, which gcc has not. */
int __sanitizer_install_malloc_and_free_hooks(
	void (*on_malloc)(const volatile void *, size_t), void (*on_free)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *p);
#endif

/* How much slower than what ships: unoptimized and sanitized; with coverage counted besides. */
#if defined(ING_FUZZING)
#	define SLOWER 60
#elif defined(ING_SANITIZED)
#	define SLOWER 30
#else
#	define SLOWER 1
#endif
/* What the sanitizer puts around small allocations. */
#define HEAP_ROOM 2

static struct fuzz_cost cost;
static _Thread_local bool measuring;

#ifdef ING_SANITIZED
static int64_t heap_now;

static void count_malloc(const volatile void *p, size_t bytes)
{
	(void)p;
	if (!measuring)
		return;
	heap_now += (int64_t)bytes;
	if (heap_now > (int64_t)cost.heap_bytes)
		cost.heap_bytes = (size_t)heap_now;
}

static void count_free(const volatile void *p)
{
	if (measuring && p != NULL)
		heap_now -= (int64_t)__sanitizer_get_allocated_size(p);
}

static void begin_heap(void)
{
	static bool installed;
	if (!installed)
		installed =
			__sanitizer_install_malloc_and_free_hooks(count_malloc, count_free) != 0;
	heap_now = 0;
}
#else
static void begin_heap(void)
{
}
#endif

static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void run(const uint8_t *data, size_t size)
{
	cost = (struct fuzz_cost){0};
	begin_heap();
	uint64_t started = cpu_ns();
	measuring = true;
	fuzz_target(data, size);
	measuring = false;
	cost.cpu_ns = cpu_ns() - started;
}

static bool over(const char *what, uint64_t used, uint64_t allowed, size_t size, bool say)
{
	if (used <= allowed)
		return false;
	if (say)
		fprintf(stderr, "%zu bytes of input: %s %" PRIu64 ", at most %" PRIu64 "\n", size,
			what, used, allowed);
	return true;
}

static bool over_budget(size_t size, bool say)
{
	const struct fuzz_budget *b = &fuzz_budget;
	uint64_t us = SLOWER * (b->cpu_us + (uint64_t)b->cpu_byte_ns * size / 1000);
	uint64_t heap = HEAP_ROOM * ((uint64_t)b->heap_kb * 1024 + (uint64_t)b->heap_byte * size);
	uint64_t out = b->out_bytes + (uint64_t)b->out_byte * size;
	bool slow = over("us of CPU time", cost.cpu_ns / 1000, us, size, say);
	bool large = over("bytes of heap", cost.heap_bytes, heap, size, say);
	return over("bytes written", cost.out_bytes, out, size, say) || slow || large;
}

/* -------------------------------------------------------------------------------------------- */

void fuzz_wrote(size_t bytes)
{
	cost.out_bytes += bytes;
}

struct fuzz_cost fuzz_last_cost(void)
{
	return cost;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run(data, size);
	if (!over_budget(size, false))
		return 0;
	run(data, size);
	if (over_budget(size, true))
		abort();
	return 0;
}
