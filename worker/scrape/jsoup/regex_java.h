/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * regex_java.h - private to regex.c: which expressions mean something else to Java than to PCRE2.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

/* 0 when PCRE2 reads the pattern as Java does, or knows something Java does not; else -SYNTAX or
 * -UNSUPPORTED with column (characters, 1-based) and words that say what to write instead. The
 * pattern is valid UTF-8, or `bytes_only`. */
int ing_regex_check_java(
	const char *pattern, size_t bytes, bool bytes_only, struct ing_error *err) ING_MUST_CHECK;
/* Characters of pattern before byte `at`, plus 1. */
int ing_regex_column(const char *pattern, size_t at, bool bytes_only);
