/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cookies.h - what this room needs of a cookie jar beside the functions in fetch.h. Loop thread.
 */
#pragma once
#include "worker/fetch/fetch.h"

/* Returns the CURLSH; void so that not every file needs curl. */
void *ing_cookies_share(struct ing_cookies *jar);
/* Hashes a line of Netscape's cookie file, as curl writes it, without the expiry. Returns 0 for a cookie
 * that has expired by `now`. */
uint64_t ing_cookies_hash_line(const char *line, time_t now);
/* Updates the version after an answer that set a cookie; the share must still be attached to the
 * handle. */
void ing_cookies_refresh(struct ing_cookies *jar, void *easy);
