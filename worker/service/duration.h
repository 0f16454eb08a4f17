/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * duration.h - a time for people, in words. Pure.
 */
#pragma once
#include <stdint.h>

struct ing_buf;

/* Append "850 ms", "42 s", "12 min", "2 h 30 min", "3 d 4 h". */
void ing_duration_add(uint64_t ms, struct ing_buf *out);
