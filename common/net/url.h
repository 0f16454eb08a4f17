/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * url.h - URLs as browsers read them (the WHATWG URL Standard), on lexbor's URL module.
 *
 * Input may be any bytes, NUL and invalid UTF-8 included, up to ING_URL_MAX_BYTES; what is longer
 * is not a URL. Strings returned are NUL-terminated ASCII on the heap and the caller's to free,
 * unless said otherwise; NULL means that the input is not a URL. Any thread: each has a parser of
 * its own, made on first use and freed with the thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/macros.h"

struct ing_buf;

/* Of input; browsers differ, servers stop at 8 to 16 KiB. */
#define ING_URL_MAX_BYTES ((size_t)64 << 10)
/* A DNS name of 253 bytes, a trailing dot, NUL: fits ing_url_host() */
#define ING_URL_HOST_BYTES 256

/* The parsed URL written out again ("href" of the standard's API). */
char *ing_url_parse(const char *s, size_t bytes) ING_MUST_CHECK;

/* ref as seen from base, fragment kept. NULL also when base is not a URL, even if ref is absolute:
 * as the standard has it. */
char *ing_url_resolve(const char *base, const char *ref) ING_MUST_CHECK;

/* Drop white space at both ends: Unicode's, and ASCII's separators. Of UTF-8 or any bytes. */
void ing_url_trim(const char **s, size_t *bytes);

/* The cleaned form under which a URL is fetched (user information, which is in it, is not sent):
 * ing_url_trim(), then ing_url_parse(). What is not
 * an absolute URL comes back unchanged but for that white space, up to its first NUL; so the result
 * may hold any bytes but NUL. Never NULL. */
char *ing_url_clean(const char *s, size_t bytes) ING_MUST_CHECK;

/* A copy of a serialised URL up to its '#'. Never NULL. */
char *ing_url_without_fragment(const char *href) ING_MUST_CHECK;

/* An absolute http or https URL, which then has a host, one that ing_url_host() can give: the
 * standard knows no limit, DNS does. */
bool ing_url_is_web(const char *url);

/* The members of the standard's URL interface: protocol ends in ':', search and hash start with '?'
 * and '#' or are empty. All set, "" when absent. */
struct ing_url_parts {
	char *href;
	char *protocol;
	char *username;
	char *password;
	char *hostname;
	char *port;
	char *pathname;
	char *search;
	char *hash;
};

/* Parse s, against base unless that is NULL. On success *ret is to be released with
 * ing_url_parts_done(); otherwise it is all NULL. */
bool ing_url_parts(
	const char *s, size_t bytes, const char *base, struct ing_url_parts *ret) ING_MUST_CHECK;
void ing_url_parts_done(struct ing_url_parts *parts); /* zero-initialised or done before is fine */

/* Host name in lower case and punycode, IPv4 in dotted decimal, IPv6 in brackets; no port. False,
 * and *ret "", when the input is no URL, has no host, or the host does not fit. */
bool ing_url_host(const char *url, char *ret, size_t ret_bytes);

/* The port that a connection would use: the one written, else the scheme's (ftp, http, https, ws,
 * wss). 0: none. */
unsigned ing_url_port(const char *url);

/* Append a host name in UTF-8 as the older IDNA (sharp s is "ss", joiners vanish) writes it in
 * ASCII; bytes that are not UTF-8 are dropped, and a NUL is a character. Only for keys that must
 * match old ones. False when there is no such form; *out is then in any state. */
bool ing_url_host_to_ascii(const char *host, size_t bytes, struct ing_buf *out) ING_MUST_CHECK;

/* Whether two URLs very likely name one page: after cleaning, the same but for scheme, a leading
 * "www." of the host, port 80 or the scheme's own, and one slash at the end. What is not a URL is
 * compared as text, less one slash at the end. */
bool ing_url_fuzzy_equal(const char *a, const char *b);
