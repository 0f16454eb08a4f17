/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cookies.h - the inside of a request's cookie jar (the outside is in fetch.h). Loop thread.
 */
#pragma once
#include "worker/fetch/fetch.h"

/* A CURLSH and a CURL, without making every reader include curl. */
void *ing_cookies_share(struct ing_cookies *jar);
/* Of one line of Netscape's cookie file as curl writes it, but any text will do: the same for the
 * same cookie whatever its expiry, 0 for one that is over by `now`. */
uint64_t ing_cookies_hash_line(const char *line, time_t now);
/* Look at the jar again after an answer that set a cookie, through a handle that the share is still
 * attached to. */
void ing_cookies_refresh(struct ing_cookies *jar, void *easy);
