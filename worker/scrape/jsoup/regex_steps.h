/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * regex_steps.h - what it costs to look for an expression in a text, counted instead of timed: the
 * same on every machine. For those who write rules; it is slower than looking.
 *
 * Pure functions, any thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Steps of ing_regex_find(): parts of the pattern that PCRE2 tries, and bytes that it moves over
 * within one try. One takes 1 to 30 ns. 0 when the text lacks what every match contains. Stops when
 * there are more than `max`, and returns max + 1. The pattern compiles with these flags (regex.h);
 * text as ing_regex_find() wants it. */
uint64_t ing_regex_steps(const char *pattern, size_t pattern_bytes, unsigned flags,
	const char *text, size_t bytes, uint64_t max);
