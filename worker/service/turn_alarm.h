/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * turn_alarm.h - for tests: names on stderr what runs when a turn of the loop takes too long
 * (turn.h). Other files of this folder only.
 *
 * Owns: a timer on the CPU clock of the loop's thread, a thread that looks whether the loop's is
 * blocked, and the signal SIGRTMIN + 5, by which both have the loop's thread write its own stack.
 * One at a time in a process.
 */
#pragma once
#include "common/base/error.h"

struct uv_loop_s;
struct ing_turn_alarm;

/* On the loop's thread. */
int ing_turn_alarm_new(struct uv_loop_s *loop, unsigned limit_ms, struct ing_turn_alarm **ret,
	struct ing_error *err) ING_MUST_CHECK;
void ing_turn_alarm_begin(struct ing_turn_alarm *a);
void ing_turn_alarm_next(struct ing_turn_alarm *a); /* a turn ends, the next one begins */
void ing_turn_alarm_end(struct ing_turn_alarm *a);
void ing_turn_alarm_free(struct ing_turn_alarm *a); /* NULL is fine; after end */
