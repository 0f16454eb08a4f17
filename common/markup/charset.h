/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * charset.h - decodes any encoding of the Encoding Standard to UTF-8, on lexbor.
 *
 * Encodings are constants. Any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_charset; /* an encoding; static */

const struct ing_charset *ing_charset_utf8(void);
/* Return the encoding of a byte order mark, of the charset of a Content-Type value (NULL is fine),
 * of a label such as "latin1"; NULL when there is none or it is unknown. */
const struct ing_charset *ing_charset_of_bom(const void *data, size_t bytes);
const struct ing_charset *ing_charset_of_content_type(const char *content_type);
const struct ing_charset *ing_charset_of_label(const char *label, size_t bytes);

/* Returns the standard's name, such as "UTF-8". Static. */
const char *ing_charset_name(const struct ing_charset *c);
/* Whether the standard decodes it as a single U+FFFD, for safety. */
bool ing_charset_is_replacement(const struct ing_charset *c);

/* Skip the encoding's byte order mark. */
void ing_charset_skip_bom(const struct ing_charset *c, const void **data, size_t *bytes);
/* Whether decoding would change nothing: well-formed UTF-8 in UTF-8, only ASCII in an encoding that
 * contains ASCII. */
bool ing_charset_is_plain(const struct ing_charset *c, const void *data, size_t bytes);

/* Gets a piece of UTF-8 of whole characters; returns false to stop. */
typedef bool ing_charset_sink_f(void *ctx, const char *utf8, size_t bytes);
/* Decode; ill-formed bytes become U+FFFD. Returns false when the sink has stopped it. */
bool ing_charset_decode(const struct ing_charset *c, const void *data, size_t bytes,
	ing_charset_sink_f *sink, void *ctx);
