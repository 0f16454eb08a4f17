/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * log.h - one line per event on stderr; under journald with the <N> priority in front
 * (sd-daemon(3)).
 *
 * Any thread; a line is one write(2). Control bytes and invalid UTF-8 in a message are escaped as
 * \xHH, so untrusted text may be logged. common/ logs at debug only.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

enum ing_log_level {
	ING_LOG_ERROR = 3,   /* an operator must act */
	ING_LOG_WARNING = 4, /* degraded, recovers by itself */
	ING_LOG_INFO = 6,    /* state changes */
	ING_LOG_DEBUG = 7,
};

void ing_log_init(enum ing_log_level max_level); /* before threads start; default INFO */
bool ing_log_wants(enum ing_log_level level);
void ing_log(enum ing_log_level level, const char *fmt, ...) ING_PRINTF(2, 3);

/* Throttle repeated lines: returns true for the first event and then at most every `every_ms`;
 * *ret_suppressed (may be NULL) is how many were left out in between. Zero-initialise; one thread. */
struct ing_log_throttle {
	uint64_t next_ms;
	unsigned suppressed;
};
bool ing_log_throttle_pass(
	struct ing_log_throttle *gate, uint64_t every_ms, unsigned *ret_suppressed);
