/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counting by size. The bounds are the same wherever such a thing is measured, so that queries over
 * several stages need no care.
 */
#include <stdatomic.h>

#include "common/base/macros.h"
#include "worker/model/metrics.h"

#define MS UINT64_C(1000)
#define S (1000 * MS)
#define MIN (60 * S)
#define HOUR (60 * MIN)
#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static const uint64_t durations_us[] = {1 * MS, 2500, 5 * MS, 10 * MS, 25 * MS, 50 * MS, 100 * MS,
	250 * MS, 500 * MS, 1 * S, 2500 * MS, 5 * S, 10 * S, 30 * S, 1 * MIN, 5 * MIN, 15 * MIN,
	1 * HOUR, 6 * HOUR, 24 * HOUR};
static const uint64_t sizes_bytes[] = {1 * KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, 1 * MIB,
	4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB};
_Static_assert(ING_ARRAY_LEN(durations_us) + 1 == ING_METRIC_COUNT_DURATION, "a bound a bucket");
_Static_assert(ING_ARRAY_LEN(sizes_bytes) + 1 == ING_METRIC_COUNT_SIZE, "a bound a bucket");

static unsigned bits_of(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

static unsigned first_that_holds(const uint64_t *bounds, unsigned count, uint64_t value)
{
	unsigned i = 0;
	while (i < count && value > bounds[i])
		i++;
	return i;
}

static unsigned count_of(enum ing_metric_set bounds)
{
	if (bounds == ING_METRIC_DURATION)
		return ING_METRIC_COUNT_DURATION;
	return bounds == ING_METRIC_SIZE ? ING_METRIC_COUNT_SIZE : ING_METRIC_COUNT_TURN_TIME;
}

static unsigned bucket_of(enum ing_metric_set bounds, uint64_t value)
{
	unsigned last = count_of(bounds) - 1;
	if (bounds == ING_METRIC_DURATION)
		return first_that_holds(durations_us, last, value);
	if (bounds == ING_METRIC_SIZE)
		return first_that_holds(sizes_bytes, last, value);
	ing_must(bounds == ING_METRIC_TURN_TIME);
	return ING_MIN(bits_of(value), last);
}

/* -------------------------------------------------------------------------------------------- */

void ing_histogram_add(uint64_t *histogram, enum ing_metric_set bounds, uint64_t value)
{
	histogram[bucket_of(bounds, value)]++;
	histogram[count_of(bounds)] += value;
}

void ing_histogram_add_shared(
	_Atomic uint64_t *histogram, enum ing_metric_set bounds, uint64_t value)
{
	atomic_fetch_add_explicit(&histogram[bucket_of(bounds, value)], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&histogram[count_of(bounds)], value, memory_order_relaxed);
}

void ing_histogram_read_shared(
	uint64_t *ret, const _Atomic uint64_t *histogram, enum ing_metric_set bounds)
{
	for (unsigned i = 0; i <= count_of(bounds); i++)
		ret[i] = atomic_load_explicit(&histogram[i], memory_order_relaxed);
}

uint64_t ing_histogram_bound(enum ing_metric_set bounds, unsigned i)
{
	if (bounds == ING_METRIC_DURATION)
		return durations_us[i];
	return bounds == ING_METRIC_SIZE ? sizes_bytes[i] : (UINT64_C(1) << i) - 1;
}
