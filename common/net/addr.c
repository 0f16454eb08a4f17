/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Address classes. The tables are the registries with everything that is in them, also the few
 * blocks that are reachable from everywhere (AS112, AMT relays): name servers and tunnels, never
 * documents. One address more is in it: the public-looking one at which a large cloud serves every
 * machine its metadata and secrets; those of other clouds are in registered blocks. The most
 * specific block comes first only where that changes the words; a linear walk over some twenty
 * prefixes costs less than the look-up of anything cleverer, once per connection.
 *
 * IPv6 is judged the other way round as well: outside 2000::/3 nothing is global unicast (RFC
 * 4291 2.4, and IANA's IPv6 address space registry), so what the table does not name there is
 * refused too, including blocks that are allotted to special purposes after this was written.
 */
#include "common/net/addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct special_block {
	uint8_t family;
	uint8_t bytes[16];
	uint8_t prefix_bits;
	const char *name;
};

static const struct special_block special_blocks[] = {
	{4, {0}, 8, "this network, 0.0.0.0/8"},
	{4, {10}, 8, "private, 10.0.0.0/8"},
	{4, {100, 64}, 10, "shared by carriers, 100.64.0.0/10"},
	{4, {127}, 8, "loopback, 127.0.0.0/8"},
	{4, {168, 63, 129, 16}, 32, "a cloud's metadata service, 168.63.129.16"},
	{4, {169, 254}, 16, "link-local, 169.254.0.0/16"},
	{4, {172, 16}, 12, "private, 172.16.0.0/12"},
	{4, {192, 0, 0}, 24, "protocol assignments, 192.0.0.0/24"},
	{4, {192, 0, 2}, 24, "documentation, 192.0.2.0/24"},
	{4, {192, 31, 196}, 24, "AS112, 192.31.196.0/24"},
	{4, {192, 52, 193}, 24, "multicast tunnels, 192.52.193.0/24"},
	{4, {192, 88, 99}, 24, "former 6to4 relays, 192.88.99.0/24"},
	{4, {192, 168}, 16, "private, 192.168.0.0/16"},
	{4, {192, 175, 48}, 24, "AS112, 192.175.48.0/24"},
	{4, {198, 18}, 15, "benchmarking, 198.18.0.0/15"},
	{4, {198, 51, 100}, 24, "documentation, 198.51.100.0/24"},
	{4, {203, 0, 113}, 24, "documentation, 203.0.113.0/24"},
	{4, {224}, 4, "multicast, 224.0.0.0/4"},
	{4, {240}, 4, "reserved, 240.0.0.0/4"},
	{6, {0}, 128, "unspecified, ::"},
	{6, {[15] = 1}, 128, "loopback, ::1"},
	{6, {0, 0x64, 0xff, 0x9b, 0, 1}, 48, "local NAT64, 64:ff9b:1::/48"},
	{6, {1}, 64, "discard-only, 100::/64"},
	{6, {0x20, 0x01, 0x0d, 0xb8}, 32, "documentation, 2001:db8::/32"},
	{6, {0x20, 0x01}, 23, "protocol assignments, 2001::/23"},
	{6, {0x26, 0x20, 0x00, 0x4f, 0x80}, 48, "AS112, 2620:4f:8000::/48"},
	{6, {0x3f, 0xff}, 20, "documentation, 3fff::/20"},
	{6, {0x5f}, 16, "segment routing, 5f00::/16"},
	{6, {0xfc}, 7, "unique local, fc00::/7"},
	{6, {0xfe, 0x80}, 10, "link-local, fe80::/10"},
	{6, {0xfe, 0xc0}, 10, "site-local, fec0::/10"},
	{6, {0xff}, 8, "multicast, ff00::/8"},
};

static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff}; /* ::ffff:0:0/96 */
static const uint8_t nat64_prefix[12] = {0, 0x64, 0xff, 0x9b};       /* RFC 6052 2.1 */

static bool prefix_matches(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	if (memcmp(a, b, bits / 8) != 0)
		return false;
	unsigned rest = bits % 8;
	return rest == 0 || ((a[bits / 8] ^ b[bits / 8]) >> (8 - rest)) == 0;
}

/* RFC 4291 2.5.5.1: "IPv4-compatible", long gone, but stacks may still translate. :: and ::1 are
 * not. */
static bool is_v4_compatible(const struct ing_addr *a)
{
	static const uint8_t zeros[15];
	return memcmp(a->bytes, zeros, 12) == 0 &&
	       (memcmp(a->bytes, zeros, 15) != 0 || a->bytes[15] > 1);
}

static bool carries_v4_last(const struct ing_addr *a)
{
	return memcmp(a->bytes, mapped_prefix, sizeof(mapped_prefix)) == 0 ||
	       memcmp(a->bytes, nat64_prefix, sizeof(nat64_prefix)) == 0;
}

/* The block of this address alone, not of what it carries. */
static const char *special_name(const struct ing_addr *a)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(special_blocks); i++) {
		const struct special_block *sb = &special_blocks[i];
		if (sb->family == a->family && prefix_matches(a->bytes, sb->bytes, sb->prefix_bits))
			return sb->name;
	}
	if (a->family == 6 && (a->bytes[0] & 0xe0) != 0x20 && !carries_v4_last(a))
		return "not global unicast, outside 2000::/3";
	return NULL;
}

/* Of this address alone, not of what it carries. */
static const char *refusal_of(const struct ing_addr *a, const struct ing_cidr_list *allow,
	const struct ing_cidr_list *deny)
{
	if (deny != NULL && ing_cidr_list_contains(deny, a))
		return "in a block that the configuration denies";
	const char *name = special_name(a);
	return allow != NULL && ing_cidr_list_contains(allow, a) ? NULL : name;
}

/* Length of the prefix behind the slash: decimal digits only, at most max. */
static bool parse_prefix_bits(const char *text, unsigned max, unsigned *ret)
{
	unsigned value = 0;
	size_t len = strlen(text);
	if (len == 0 || len > 3 || (len > 1 && text[0] == '0'))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	if (value > max)
		return false;
	*ret = value;
	return true;
}

static bool bits_behind_are_zero(const struct ing_addr *a, unsigned bits)
{
	for (unsigned i = bits; i < (a->family == 4 ? 32u : 128u); i++)
		if (a->bytes[i / 8] & (0x80u >> (i % 8)))
			return false;
	return true;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_addr_parse(const char *text, struct ing_addr *ret)
{
	struct ing_addr a = {.family = 4};
	char inner[ING_ADDR_TEXT_BYTES];
	size_t len = strlen(text);
	if (inet_pton(AF_INET, text, a.bytes) == 1) {
		*ret = a;
		return true;
	}
	if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
		if (len - 2 >= sizeof(inner))
			return false;
		memcpy(inner, text + 1, len - 2);
		inner[len - 2] = '\0';
		text = inner;
	}
	a = (struct ing_addr){.family = 6};
	if (inet_pton(AF_INET6, text, a.bytes) != 1)
		return false;
	*ret = a;
	return true;
}

bool ing_addr_from_sockaddr(const struct sockaddr *sa, struct ing_addr *ret)
{
	struct ing_addr a = {0};
	if (sa->sa_family == AF_INET) {
		struct sockaddr_in in;
		memcpy(&in, sa, sizeof(in));
		a.family = 4;
		memcpy(a.bytes, &in.sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;
		memcpy(&in6, sa, sizeof(in6));
		a.family = 6;
		memcpy(a.bytes, &in6.sin6_addr, 16);
	} else {
		return false;
	}
	*ret = a;
	return true;
}

void ing_addr_format(const struct ing_addr *a, char ret_text[ING_ADDR_TEXT_BYTES])
{
	ing_must(inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->bytes, ret_text,
			 ING_ADDR_TEXT_BYTES) != NULL);
}

bool ing_addr_is_loopback(const struct ing_addr *a)
{
	static const uint8_t loopback6[16] = {[15] = 1};
	return a->family == 4 ? a->bytes[0] == 127
			      : memcmp(a->bytes, loopback6, sizeof(loopback6)) == 0;
}

bool ing_addr_equal(const struct ing_addr *a, const struct ing_addr *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, a->family == 4 ? 4 : 16) == 0;
}

bool ing_addr_embedded(const struct ing_addr *a, unsigned index, struct ing_addr *ret)
{
	static const uint8_t teredo_prefix[4] = {0x20, 0x01};
	struct ing_addr inner = {.family = 4};
	if (a->family != 6)
		return false;
	if (memcmp(a->bytes, teredo_prefix, sizeof(teredo_prefix)) == 0 && index < 2) {
		/* RFC 4380 4: the server plain, the client's address with every bit turned over */
		for (size_t i = 0; i < 4; i++)
			inner.bytes[i] =
				index == 0 ? a->bytes[4 + i] : (uint8_t)(a->bytes[12 + i] ^ 0xff);
	} else if (index == 0 && (carries_v4_last(a) || is_v4_compatible(a))) {
		memcpy(inner.bytes, a->bytes + 12, 4);
	} else if (index == 0 && a->bytes[0] == 0x20 && a->bytes[1] == 0x02) {
		memcpy(inner.bytes, a->bytes + 2, 4); /* 6to4, RFC 3056 2 */
	} else {
		return false;
	}
	*ret = inner;
	return true;
}

int ing_cidr_parse(const char *text, struct ing_cidr *ret, struct ing_error *err)
{
	struct ing_cidr block = {0};
	char addr_text[ING_ADDR_TEXT_BYTES];
	const char *slash = strchr(text, '/');
	size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
	if (len >= sizeof(addr_text))
		return ing_error_set(err, ING_FAIL_SYNTAX, "%.80s: not a CIDR block", text);
	memcpy(addr_text, text, len);
	addr_text[len] = '\0';
	if (addr_text[0] == '[' || !ing_addr_parse(addr_text, &block.addr))
		return ing_error_set(err, ING_FAIL_SYNTAX,
			"%.80s: not a CIDR block (ADDRESS/BITS, or an address)", text);
	unsigned max = block.addr.family == 4 ? 32 : 128;
	block.prefix_bits = max;
	if (slash != NULL && !parse_prefix_bits(slash + 1, max, &block.prefix_bits))
		return ing_error_set(err, ING_FAIL_SYNTAX,
			"%.80s: the prefix length must be a number from 0 to %u", text, max);
	if (!bits_behind_are_zero(&block.addr, block.prefix_bits))
		return ing_error_set(err, ING_FAIL_SYNTAX,
			"%.80s: the address has bits set behind its prefix of %u bits", text,
			block.prefix_bits);
	*ret = block;
	return 0;
}

bool ing_cidr_contains(const struct ing_cidr *block, const struct ing_addr *a)
{
	return block->addr.family == a->family &&
	       prefix_matches(block->addr.bytes, a->bytes, block->prefix_bits);
}

int ing_cidr_list_init(struct ing_cidr_list *l, char *const *texts, struct ing_error *err)
{
	size_t count = 0;
	*l = (struct ing_cidr_list){0};
	while (texts != NULL && texts[count] != NULL)
		count++;
	if (count == 0)
		return 0;
	struct ing_cidr *blocks = ing_alloc(count * sizeof(*blocks));
	for (size_t i = 0; i < count; i++) {
		int rc = ing_cidr_parse(texts[i], &blocks[i], err);
		if (rc != 0) {
			free(blocks);
			return rc;
		}
	}
	*l = (struct ing_cidr_list){.blocks = blocks, .count = count};
	return 0;
}

void ing_cidr_list_done(struct ing_cidr_list *l)
{
	free(l->blocks);
	*l = (struct ing_cidr_list){0};
}

bool ing_cidr_list_contains(const struct ing_cidr_list *l, const struct ing_addr *a)
{
	for (size_t i = 0; i < l->count; i++)
		if (ing_cidr_contains(&l->blocks[i], a))
			return true;
	return false;
}

const char *ing_addr_refusal(const struct ing_addr *a, const struct ing_cidr_list *allow,
	const struct ing_cidr_list *deny)
{
	struct ing_addr inner;
	const char *refusal = refusal_of(a, allow, deny);
	for (unsigned i = 0; refusal == NULL && ing_addr_embedded(a, i, &inner); i++)
		refusal = refusal_of(&inner, allow, deny);
	return refusal;
}
