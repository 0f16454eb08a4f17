/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Address classification: sixteen bytes as an IPv6 address and its beginning as an IPv4 one, and
 * the rest as text of an address or a block.
 */
#include "tests/fuzz/target.h"

#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/addr.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 20, .heap_kb = 20, .heap_byte = 5);

/* What is written is read back as the same, and comes out of a socket's address as the same. */
static void check_text(const struct ing_addr *a)
{
	char text[ING_ADDR_TEXT_BYTES];
	struct ing_addr again;
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr_in in = {.sin_family = AF_INET};
	ing_addr_format(a, text);
	ing_must(ing_addr_parse(text, &again) && ing_addr_equal(a, &again));
	memcpy(&in6.sin6_addr, a->bytes, 16);
	memcpy(&in.sin_addr, a->bytes, 4);
	const void *sa = a->family == 4 ? (const void *)&in : (const void *)&in6;
	ing_must(ing_addr_from_sockaddr(sa, &again) && ing_addr_equal(a, &again));
}

/* More exemptions never refuse more, and exempting everything refuses nothing. */
static void check_monotonic(const struct ing_addr *a, const struct ing_cidr *block)
{
	struct ing_cidr blocks[3] = {*block, {.addr.family = 4}, {.addr.family = 6}};
	const char *least = ing_addr_refusal(a, NULL, NULL);
	for (size_t count = 0; count <= 3; count++) {
		struct ing_cidr_list allow = {.blocks = blocks, .count = count};
		bool refused = ing_addr_refusal(a, &allow, NULL) != NULL;
		ing_must(!refused || least != NULL);
		if (count == 0)
			ing_must(refused == (least != NULL));
		if (!refused)
			least = NULL;
	}
	ing_must(least == NULL);
	/* What is denied is refused, whatever is exempt. */
	struct ing_cidr_list all = {.blocks = blocks, .count = 3};
	struct ing_cidr_list deny = {.blocks = blocks, .count = 1};
	ing_must(!ing_cidr_contains(block, a) || ing_addr_refusal(a, &all, &deny) != NULL);
}

/* The prefixes that lead to an IPv4 address, with it inside, are refused at least as often. */
static void check_embeddings(const struct ing_addr *v4)
{
	static const struct {
		uint8_t prefix[12];
		unsigned at;
		bool own; /* refused for its own sake, too */
	} ways[] = {{{[10] = 0xff, [11] = 0xff}, 12, false}, {{0, 0x64, 0xff, 0x9b}, 12, false},
		{{0x20, 0x02}, 2, false}, {{0x20, 0x01}, 4, true}, {{0}, 12, true}};
	const char *refusal = ing_addr_refusal(v4, NULL, NULL);
	for (size_t i = 0; i < ING_ARRAY_LEN(ways); i++) {
		struct ing_addr outer = {.family = 6};
		struct ing_addr inner;
		memcpy(outer.bytes, ways[i].prefix, sizeof(ways[i].prefix));
		memcpy(outer.bytes + ways[i].at, v4->bytes, 4);
		const char *got = ing_addr_refusal(&outer, NULL, NULL);
		ing_must(ways[i].own ? got != NULL : got == refusal);
		if (i < 4)
			ing_must(
				ing_addr_embedded(&outer, 0, &inner) && ing_addr_equal(&inner, v4));
	}
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_addr v6 = {.family = 6};
	struct ing_addr v4 = {.family = 4};
	struct ing_addr said;
	struct ing_cidr block = {.addr = {.family = 4, .bytes = {127}}, .prefix_bits = 8};
	if (size < 16)
		return;
	memcpy(v6.bytes, data, 16);
	memcpy(v4.bytes, data, 4);
	char *text = ing_strndup((const char *)data + 16, size - 16);
	if (ing_addr_parse(text, &said)) {
		check_text(&said);
		check_monotonic(&said, &block);
	}
	if (ing_cidr_parse(text, &block, NULL) == 0)
		ing_must(ing_cidr_contains(&block, &block.addr));
	check_text(&v6);
	check_text(&v4);
	check_embeddings(&v4);
	check_monotonic(&v6, &block);
	check_monotonic(&v4, &block);
	free(text);
}
