/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url_mask.h - texts without the passwords that are in their URLs. For rows, results and logs: what
 * a request is fetched under never has user information anyway (RFC 9110 4.2.4).
 *
 * User information (RFC 3986 3.2.1) as a whole becomes "***": "user:password" in front of '@', and
 * "token" as well, for a name alone is often the secret. Syntax decides, not whether the text is a
 * valid URL, for what is refused as a URL is stored, too. When in doubt more is masked. Pure
 * functions, of any bytes, in linear time; masking twice changes nothing.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_buf;

/* Append s, which is one URL or should be: what browsers read as one is found ("https:me:pw@host",
 * "https:\\me:pw@host", white space in front or inside), and then URLs within it ("?to=http://…").
 * True when something was masked. */
bool ing_url_mask(const char *s, size_t bytes, struct ing_buf *out);

/* Append s, which is words: URLs anywhere in it, "://" and what follows, each up to white space or
 * one of "<>. True when something was masked. */
bool ing_url_mask_text(const char *s, size_t bytes, struct ing_buf *out);
