/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * psl.h - the registered domain of a host, by the public suffix list (publicsuffix.org), through
 * libpsl, which only psl.c includes.
 *
 * The list is the one that libpsl was built with, or the system's when that has none; it is loaded
 * on first use and kept. Any thread.
 */
#pragma once
#include <stdbool.h>

/* The public suffix of a host and the label before it: "example.co.uk" of "a.b.example.co.uk".
 * host: in lower case and punycode, as ing_url_host() gives it; a closing dot does not matter.
 * Borrowed from host (a tail of it, which still has that dot). NULL when it has none: an address, a
 * public suffix itself, or no list on this system. */
const char *ing_psl_registered(const char *host);
