/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * regex_priv.h - what regex.c and regex_steps.c share: PCRE2 with our options.
 */
#pragma once
#define PCRE2_CODE_UNIT_WIDTH 8
#include <stddef.h>
#include <stdint.h>
#include <pcre2.h>

struct ing_error;

/* NULL, with an error, when the pattern is none. `options`: PCRE2's, besides those of the flags. */
pcre2_code *ing_regex_compile_code(
	const char *pattern, size_t bytes, unsigned flags, uint32_t options, struct ing_error *err);
/* The limits of one match. */
pcre2_match_context *ing_regex_make_limits(void);
