/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * regex_java.h - private to regex.c: finds syntax that has another meaning in Java than in PCRE2.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

/* Returns 0 when PCRE2 reads the pattern as Java does, or has syntax that Java does not have; else
 * -SYNTAX or -UNSUPPORTED, with the column (characters, from 1) and what to write instead. The
 * pattern is valid UTF-8 unless `bytes_only`. */
int ing_regex_check_java(
	const char *pattern, size_t bytes, bool bytes_only, struct ing_error *err) ING_MUST_CHECK;
/* Characters of pattern before byte `at`, plus 1. */
int ing_regex_column(const char *pattern, size_t at, bool bytes_only);
