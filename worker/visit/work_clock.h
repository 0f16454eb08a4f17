/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * work_clock.h - how much work a request may still cost: job.deadline_ms counts transfers and
 * examinations, not the polite waiting between them.
 *
 * The clock runs while at least one thing works; several at once use it up no faster than one.
 * Times are handed in (ing_now_ms()). Pure.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ing_work_clock {
	uint64_t left_ms; /* while nothing works */
	uint64_t end_ms;  /* while something does */
	unsigned working;
};

void ing_work_clock_init(struct ing_work_clock *c, uint64_t ms);
/* Something begins to work, or has ended. */
void ing_work_clock_start(struct ing_work_clock *c, uint64_t now_ms);
void ing_work_clock_stop(struct ing_work_clock *c, uint64_t now_ms);
uint64_t ing_work_clock_left(const struct ing_work_clock *c, uint64_t now_ms);
