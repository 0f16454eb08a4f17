/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The failure table made from fail.def, and the error structure's few operations.
 */
#include "common/base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISPOSITION_RETRY ING_RETRY
#define DISPOSITION_REJECT ING_REJECT
#define DISPOSITION_FATAL ING_FATAL

static const struct {
	enum ing_disposition disposition;
	const char *label;
} fails[ING_FAIL_COUNT_] = {
	[ING_FAIL_NONE] = {ING_RETRY, "none"},
#define FAIL(name, disposition, label) [ING_FAIL_##name] = {DISPOSITION_##disposition, label},
#include "common/base/fail.def"
#undef FAIL
};

static size_t fail_index(int fail)
{
	int i = abs(fail);
	ing_must(i < ING_FAIL_COUNT_);
	return (size_t)i;
}

ING_PRINTF(5, 0)
static void set_message(struct ing_error *err, enum ing_fail code, int line, int column,
	const char *fmt, va_list ap)
{
	if (err == NULL || err->code != ING_FAIL_NONE)
		return;
	err->code = code;
	err->line = line;
	err->column = column;
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
}

static enum ing_fail fail_of(int errnum)
{
	if (errnum == ENOSPC || errnum == EDQUOT)
		return ING_FAIL_NO_SPACE;
	return errnum == EMFILE || errnum == ENFILE ? ING_FAIL_NO_DESCRIPTOR : ING_FAIL_SYSTEM;
}

/* -------------------------------------------------------------------------------------------- */

int ing_error_set(struct ing_error *err, enum ing_fail code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	set_message(err, code, 0, 0, fmt, ap);
	va_end(ap);
	return -(int)code;
}

int ing_error_at(
	struct ing_error *err, enum ing_fail code, int line, int column, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	set_message(err, code, line, column, fmt, ap);
	va_end(ap);
	return -(int)code;
}

int ing_error_sys(struct ing_error *err, int errnum, const char *fmt, ...)
{
	enum ing_fail code = fail_of(errnum);
	bool first = err != NULL && err->code == ING_FAIL_NONE;
	va_list ap;
	va_start(ap, fmt);
	set_message(err, code, 0, 0, fmt, ap);
	va_end(ap);
	if (first) {
		size_t used = strlen(err->msg);
		snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", strerror(errnum));
	}
	return -(int)code;
}

void ing_error_context(struct ing_error *err, const char *fmt, ...)
{
	if (err == NULL || err->code == ING_FAIL_NONE)
		return;
	char prefix[200];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	char old[sizeof(err->msg)];
	memcpy(old, err->msg, sizeof(old));
	snprintf(err->msg, sizeof(err->msg), "%s: %.*s", prefix,
		(int)(sizeof(err->msg) - sizeof(prefix) - 3), old);
}

void ing_error_clear(struct ing_error *err)
{
	if (err == NULL)
		return;
	err->code = ING_FAIL_NONE;
	err->line = err->column = 0;
	err->msg[0] = '\0';
}

const char *ing_fail_label(int fail)
{
	return fails[fail_index(fail)].label;
}

enum ing_disposition ing_fail_disposition(int fail)
{
	return fails[fail_index(fail)].disposition;
}
