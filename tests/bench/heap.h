/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * heap.h - what a bench program has allocated, now and at most. Its malloc() and the like are in
 * front of the C library's. One thread.
 */
#pragma once
#include <stddef.h>

/* Count from here: bytes allocated before do not count, those of them that are freed are subtracted. */
void heap_count(void);
/* Stop; what is allocated now, and the most that was at once, beyond what was before. */
void heap_stop(size_t *ret_now, size_t *ret_peak);
