/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * regex_literals.h - private to regex*.c: texts of which every match of a pattern contains one, so
 * that a text without them need not be searched by PCRE2.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_literals;

/* `fold`: the pattern is compiled to match in any case; `utf`: by Unicode. Returns NULL when there
 * is nothing that every match must contain, or the pattern has syntax that is not looked into. */
struct ing_literals *ing_regex_literals(const char *pattern, size_t bytes, bool fold, bool utf);
