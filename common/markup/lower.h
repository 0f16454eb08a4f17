/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lower.h - lower case of UTF-8 text by Unicode's simple and special mappings, without locale. Any
 * thread.
 */
#pragma once
#include <stddef.h>
#include "common/base/buf.h"

/* Append s in lower case; ill-formed bytes stay as they are. */
void ing_lower(const char *s, size_t bytes, struct ing_buf *out);
