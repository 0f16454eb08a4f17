/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * idna.h - domain names in ASCII, as the URL Standard wants them: UTS #46 with its rules for
 * joiners and right-to-left labels, without those for hyphens and lengths. For url_preprocess.c only;
 * pure function.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/macros.h"

struct ing_buf;

/* Append the ASCII form of a domain in UTF-8. A domain that is ASCII already is only lower-cased,
 * whatever its labels hold. Returns false, with *out in any state, when it has no such form: invalid
 * UTF-8, characters that no domain may hold, over 4,096 of them. */
bool ing_idna_to_ascii(struct ing_buf *out, const char *s, size_t bytes) ING_MUST_CHECK;

/* The same as tools of the older IDNA do it, which do not check labels. Returns false also for a
 * non-ASCII label that begins with "xn--". */
bool ing_idna_to_ascii_unchecked(struct ing_buf *out, const char *s, size_t bytes) ING_MUST_CHECK;
