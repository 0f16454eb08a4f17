/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * side_by_side.h - cmocka tests that mostly wait, each in a process of its own, all at once.
 *
 * The in-process broker makes every new group wait three seconds and a changed one longer; one
 * after the other, that is minutes in which nothing is done.
 */
#pragma once
#include <stddef.h>

struct CMUnitTest;

/* Forks, so that it must come before any thread is made. What a test prints appears in one piece,
 * in the order of the table. Only those with `part` in their name run. Returns how many tests
 * failed, for main() to return. */
int run_side_by_side(const struct CMUnitTest *tests, size_t count, const char *part);
