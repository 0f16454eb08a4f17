/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * charset.h - bytes in any encoding of the Encoding Standard to UTF-8, on lexbor.
 *
 * Encodings are constant and shared; a decoding keeps nothing behind. Any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_charset; /* an encoding; static */

const struct ing_charset *ing_charset_utf8(void);
/* By byte order mark; by the charset of a Content-Type value (NULL is fine); by a label such as
 * "latin1". NULL when there is none, or none that is known. */
const struct ing_charset *ing_charset_of_bom(const void *data, size_t bytes);
const struct ing_charset *ing_charset_of_content_type(const char *content_type);
const struct ing_charset *ing_charset_of_label(const char *label, size_t bytes);

/* The standard's name, "UTF-8" and so on. Static. */
const char *ing_charset_name(const struct ing_charset *c);
/* Labels of encodings that the standard reads as one U+FFFD, for safety. */
bool ing_charset_is_replacement(const struct ing_charset *c);

/* Step over the encoding's own byte order mark. */
void ing_charset_skip_bom(const struct ing_charset *c, const void **data, size_t *bytes);
/* The bytes are already the UTF-8 that decoding would give: well-formed UTF-8 in UTF-8, nothing but
 * ASCII in an encoding that contains ASCII. */
bool ing_charset_is_plain(const struct ing_charset *c, const void *data, size_t bytes);

/* Takes a piece of UTF-8, whole characters; false stops the decoding. */
typedef bool ing_charset_sink_f(void *ctx, const char *utf8, size_t bytes);
/* Decode; what is ill-formed becomes U+FFFD. False when the sink stopped it. */
bool ing_charset_decode(const struct ing_charset *c, const void *data, size_t bytes,
	ing_charset_sink_f *sink, void *ctx);
