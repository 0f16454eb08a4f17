/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * addr.h - which IP addresses belong to the public web, and lists of CIDR blocks.
 *
 * The registries are IANA's special-purpose address registries (RFC 6890 and its successors) and
 * the multicast and reserved space around them. An IPv6 address that carries an IPv4 address
 * (mapped, compatible, NAT64, 6to4, Teredo) reaches that one, so it is checked too. Pure functions,
 * any thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct sockaddr;

#define ING_ADDR_TEXT_BYTES 46 /* longest IPv6 text and NUL (RFC 4291 2.2) */

struct ing_addr {
	uint8_t family;    /* 4 or 6 */
	uint8_t bytes[16]; /* network order; the first 4 for IPv4, the rest zero */
};

/* The four-part decimal or the RFC 4291 form, with or without brackets around IPv6, and nothing
 * else: older spellings (127.1, 0x7f.1, 2130706433) are names here, which the URL parser has
 * already turned into the usual form. */
bool ing_addr_parse(const char *text, struct ing_addr *ret);
/* AF_INET and AF_INET6; false for anything else. */
bool ing_addr_from_sockaddr(const struct sockaddr *sa, struct ing_addr *ret);
void ing_addr_format(const struct ing_addr *a, char ret_text[ING_ADDR_TEXT_BYTES]);
bool ing_addr_is_loopback(const struct ing_addr *a); /* 127.0.0.0/8, ::1 */
bool ing_addr_equal(const struct ing_addr *a, const struct ing_addr *b);
/* The IPv4 address inside an IPv6 one; a Teredo address has two, its server (index 0) and its
 * client (1). */
bool ing_addr_embedded(const struct ing_addr *a, unsigned index, struct ing_addr *ret);

struct ing_cidr {
	struct ing_addr addr;
	unsigned prefix_bits;
};

/* "10.0.0.0/8", "fd00::/8", or a single address. Bits set behind the prefix are an error
 * (-ING_FAIL_SYNTAX), because then one of the two numbers is a mistake. */
int ing_cidr_parse(const char *text, struct ing_cidr *ret, struct ing_error *err) ING_MUST_CHECK;
bool ing_cidr_contains(const struct ing_cidr *block, const struct ing_addr *a);

struct ing_cidr_list {
	struct ing_cidr *blocks; /* heap */
	size_t count;
};

/* texts: NULL-terminated, or NULL for an empty list. On failure the list is empty. */
int ing_cidr_list_init(
	struct ing_cidr_list *l, char *const *texts, struct ing_error *err) ING_MUST_CHECK;
void ing_cidr_list_done(struct ing_cidr_list *l); /* zero-initialised is fine */
bool ing_cidr_list_contains(const struct ing_cidr_list *l, const struct ing_addr *a);

/* Why no connection may be made to this address: a static name of the block that it, or an address
 * inside it, belongs to; or NULL when there is no such block, or the address, and each address
 * inside it, is in `allow`. An address that is in `deny`, itself or by an address inside it, is
 * refused whatever `allow` says. Both may be NULL. */
const char *ing_addr_refusal(const struct ing_addr *a, const struct ing_cidr_list *allow,
	const struct ing_cidr_list *deny);
