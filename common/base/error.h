/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * error.h - the error of a function that failed.
 *
 * Fallible functions return 0 or -ING_FAIL_x. Where the caller may want a message, the last
 * parameter is a struct ing_error: the first error set wins; callers may put context in front of
 * it, but do not replace it. Messages begin with the object they are about. Plain data, any thread; nothing to
 * free.
 */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include "common/base/macros.h"

enum ing_fail {
	ING_FAIL_NONE,
#define FAIL(name, disposition, label) ING_FAIL_##name,
#include "common/base/fail.def"
#undef FAIL
	ING_FAIL_COUNT_
};

enum ing_disposition { ING_RETRY, ING_REJECT, ING_FATAL };

struct ing_error {
	enum ing_fail code;
	int line; /* 1-based position in the source the message is about; 0 = none */
	int column;
	char msg[600];
};

/* Set *err (NULL is fine) unless it already holds an error. Returns -code, for `return
 * ing_error_set(...)`. */
int ing_error_set(struct ing_error *err, enum ing_fail code, const char *fmt, ...) ING_PRINTF(3, 4);
/* The same with a source position (1-based). */
int ing_error_at(struct ing_error *err, enum ing_fail code, int line, int column, const char *fmt,
	...) ING_PRINTF(5, 6);
/* The same with strerror(errnum) after the message; ENOSPC and EDQUOT become ING_FAIL_NO_SPACE,
 * EMFILE and ENFILE ING_FAIL_NO_DESCRIPTOR. */
int ing_error_sys(struct ing_error *err, int errnum, const char *fmt, ...) ING_PRINTF(3, 4);
/* Put "text: " in front of the message. */
void ing_error_context(struct ing_error *err, const char *fmt, ...) ING_PRINTF(2, 3);
void ing_error_clear(struct ing_error *err);

/* Label and disposition of a failure; `fail` may be given negative. Never NULL. */
const char *ing_fail_label(int fail);
enum ing_disposition ing_fail_disposition(int fail);
