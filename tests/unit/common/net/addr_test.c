/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Address classes: the first and last address of every block, and the neighbours on both sides.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the three above first */
#include <cmocka.h>
#include "common/net/addr.h"

static struct ing_addr addr_of(const char *text)
{
	struct ing_addr a;
	if (!ing_addr_parse(text, &a))
		fail_msg("%s: not an address", text);
	return a;
}

/* NULL: may be connected to; otherwise a part of the words. */
static const struct {
	const char *text;
	const char *refusal;
} class_cases[] = {
	{"0.0.0.0", "this network"},
	{"0.255.255.255", "this network"},
	{"1.0.0.0", NULL},
	{"9.255.255.255", NULL},
	{"10.0.0.0", "private"},
	{"10.255.255.255", "private"},
	{"11.0.0.0", NULL},
	{"100.63.255.255", NULL},
	{"100.64.0.0", "carriers"},
	{"100.127.255.255", "carriers"},
	{"100.128.0.0", NULL},
	{"126.255.255.255", NULL},
	{"127.0.0.0", "loopback"},
	{"127.255.255.255", "loopback"},
	{"128.0.0.0", NULL},
	{"168.63.129.15", NULL},
	{"168.63.129.16", "metadata"},
	{"168.63.129.17", NULL},
	{"::ffff:168.63.129.16", "metadata"},
	{"64:ff9b::168.63.129.16", "metadata"},
	{"169.253.255.255", NULL},
	{"169.254.0.0", "link-local"},
	{"169.254.169.254", "link-local"},
	{"169.254.255.255", "link-local"},
	{"169.255.0.0", NULL},
	{"172.15.255.255", NULL},
	{"172.16.0.0", "private"},
	{"172.31.255.255", "private"},
	{"172.32.0.0", NULL},
	{"191.255.255.255", NULL},
	{"192.0.0.0", "protocol"},
	{"192.0.0.255", "protocol"},
	{"192.0.1.0", NULL},
	{"192.0.1.255", NULL},
	{"192.0.2.0", "documentation"},
	{"192.0.2.255", "documentation"},
	{"192.0.3.0", NULL},
	{"192.88.98.255", NULL},
	{"192.88.99.0", "6to4"},
	{"192.88.99.255", "6to4"},
	{"192.88.100.0", NULL},
	{"192.167.255.255", NULL},
	{"192.168.0.0", "private"},
	{"192.168.255.255", "private"},
	{"192.169.0.0", NULL},
	{"198.17.255.255", NULL},
	{"198.18.0.0", "benchmarking"},
	{"198.19.255.255", "benchmarking"},
	{"198.20.0.0", NULL},
	{"198.51.99.255", NULL},
	{"198.51.100.0", "documentation"},
	{"198.51.100.255", "documentation"},
	{"198.51.101.0", NULL},
	{"203.0.112.255", NULL},
	{"203.0.113.0", "documentation"},
	{"203.0.113.255", "documentation"},
	{"203.0.114.0", NULL},
	{"223.255.255.255", NULL},
	{"224.0.0.0", "multicast"},
	{"239.255.255.255", "multicast"},
	{"240.0.0.0", "reserved"},
	{"255.255.255.255", "reserved"},

	{"::", "unspecified"},
	{"::1", "loopback"},
	{"::2", "global unicast"},
	{"::127.0.0.1", "global unicast"},
	{"::8.8.8.8", "global unicast"},
	{"::fffe:ffff:ffff", "global unicast"},
	{"::1:0:0:0", "global unicast"},
	{"192.31.195.255", NULL},
	{"192.31.196.1", "AS112"},
	{"192.31.197.0", NULL},
	{"192.52.193.1", "multicast tunnels"},
	{"192.175.48.6", "AS112"},
	{"2620:4f:7fff:ffff::1", NULL},
	{"2620:4f:8000::6", "AS112"},
	{"2620:4f:8001::", NULL},
	{"2002:c034:c101::1", "multicast tunnels"},
	/* mapped: the address inside decides */
	{"::ffff:0.0.0.0", "this network"},
	{"::ffff:127.0.0.1", "loopback"},
	{"::ffff:10.1.2.3", "private"},
	{"::ffff:8.8.8.8", NULL},
	{"::ffff:255.255.255.255", "reserved"},
	/* NAT64 */
	{"64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", "global unicast"},
	{"64:ff9b::127.0.0.1", "loopback"},
	{"64:ff9b::169.254.169.254", "link-local"},
	{"64:ff9b::8.8.8.8", NULL},
	{"64:ff9b::1:0:0", "global unicast"},
	{"64:ff9b:1::", "NAT64"},
	{"64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "NAT64"},
	{"64:ff9b:2::", "global unicast"},
	{"ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "global unicast"},
	{"100::", "discard"},
	{"100::ffff:ffff:ffff:ffff", "discard"},
	{"100:0:0:1::", "global unicast"},
	{"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "global unicast"},
	{"2000::", NULL},
	{"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
	{"2001::", "protocol"},
	{"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "protocol"},
	{"2001:200::", NULL},
	{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
	{"2001:db8::", "documentation"},
	{"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
	{"2001:db9::", NULL},
	/* 6to4 */
	{"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
	{"2002:7f00:1::", "loopback"},
	{"2002:c0a8:101::1", "private"},
	{"2002:a9fe:a9fe::", "link-local"},
	{"2002:808:808::1", NULL},
	{"2002:ffff:ffff::", "reserved"},
	{"2003::", NULL},
	{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
	{"3fff::", "documentation"},
	{"3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
	{"3fff:1000::", NULL},
	{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL},
	{"4000::", "global unicast"},
	{"5eff::", "global unicast"},
	{"5f00::", "segment routing"},
	{"5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "segment routing"},
	{"5f01::", "global unicast"},
	{"fbff:ffff::", "global unicast"},
	{"fc00::", "unique local"},
	{"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "unique local"},
	{"fe00::", "global unicast"},
	{"fe7f:ffff::", "global unicast"},
	{"fe80::", "link-local"},
	{"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"},
	{"fec0::", "site-local"},
	{"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"},
	{"ff00::", "multicast"},
	{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"},
};

static void classes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(class_cases); i++) {
		struct ing_addr a = addr_of(class_cases[i].text);
		const char *got = ing_addr_refusal(&a, NULL, NULL);
		const char *want = class_cases[i].refusal;
		if ((got == NULL) != (want == NULL) || (got != NULL && strstr(got, want) == NULL))
			fail_msg("%s: got %s, want %s", class_cases[i].text, got ? got : "none",
				want ? want : "none");
	}
}

static const struct {
	const char *addr;
	const char *allow[3];
	bool refused;
} allow_cases[] = {
	{.addr = "127.0.0.1", .allow = {"127.0.0.0/8"}},
	{.addr = "127.0.0.1", .allow = {"127.0.0.1"}},
	{.addr = "127.0.0.2", .allow = {"127.0.0.1"}, .refused = true},
	{.addr = "127.0.0.2", .allow = {"10.0.0.0/8", "127.0.0.2/31"}},
	{.addr = "10.0.0.1", .allow = {"127.0.0.0/8"}, .refused = true},
	{.addr = "10.0.0.1", .allow = {"0.0.0.0/0"}},
	{.addr = "::1", .allow = {"127.0.0.0/8"}, .refused = true},
	{.addr = "::1", .allow = {"::1"}},
	{.addr = "::1", .allow = {"::/0"}},
	/* the address inside needs its own leave */
	{.addr = "::ffff:127.0.0.1", .allow = {"127.0.0.0/8"}},
	{.addr = "::ffff:127.0.0.1", .allow = {"::/0"}, .refused = true},
	{.addr = "64:ff9b::10.0.0.1", .allow = {"10.0.0.0/8"}},
	{.addr = "64:ff9b::10.0.0.1", .allow = {"64:ff9b::/96"}, .refused = true},
	{.addr = "2002:7f00:1::", .allow = {"2002::/16"}, .refused = true},
	{.addr = "2002:7f00:1::", .allow = {"127.0.0.1/32"}},
	/* Teredo: server 8.8.8.8, client 10.0.0.1; then server 10.0.0.1, client 8.8.8.8 */
	{.addr = "2001:0:808:808:0:0:f5ff:fffe", .allow = {"2001::/32"}, .refused = true},
	{.addr = "2001:0:808:808:0:0:f5ff:fffe", .allow = {"2001::/32", "10.0.0.0/8"}},
	{.addr = "2001:0:a00:1:0:0:f7f7:f7f7", .allow = {"2001::/32"}, .refused = true},
	{.addr = "2001:0:808:808:0:0:f7f7:f7f7", .allow = {"2001::/32"}},
};

static void allow_lists(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(allow_cases); i++) {
		char *texts[3] = {NULL, NULL, NULL};
		struct ing_cidr_list list;
		for (size_t j = 0; j < 2 && allow_cases[i].allow[j] != NULL; j++)
			texts[j] = ing_strdup(allow_cases[i].allow[j]);
		assert_int_equal(ing_cidr_list_init(&list, texts, NULL), 0);
		struct ing_addr a = addr_of(allow_cases[i].addr);
		if ((ing_addr_refusal(&a, &list, NULL) != NULL) != allow_cases[i].refused)
			fail_msg("case %zu: %s", i, allow_cases[i].addr);
		ing_cidr_list_done(&list);
		free(texts[0]);
		free(texts[1]);
	}
}

/* Everything is exempt, and still these are refused. */
static void denied_blocks_win_over_exempt_ones(void **state)
{
	(void)state;
	static const struct {
		const char *addr, *deny;
		bool refused;
	} cases[] = {
		{.addr = "8.8.8.8", .deny = "8.8.8.0/24", .refused = true},
		{.addr = "8.8.9.8", .deny = "8.8.8.0/24"},
		{.addr = "127.0.0.1", .deny = "127.0.0.0/8", .refused = true},
		{.addr = "2001:200::1", .deny = "2001:200::/32", .refused = true},
		{.addr = "2001:201::1", .deny = "2001:200::/32"},
		{.addr = "::ffff:8.8.8.8", .deny = "8.8.8.8", .refused = true},
		{.addr = "64:ff9b::8.8.8.8", .deny = "8.8.8.8", .refused = true},
		{.addr = "2002:808:808::1", .deny = "8.8.8.8", .refused = true},
		{.addr = "::ffff:8.8.8.8", .deny = "::/0", .refused = true},
		{.addr = "8.8.8.8", .deny = "::/0"},
	};
	char every4[] = "0.0.0.0/0";
	char every6[] = "::/0";
	char *everything[] = {every4, every6, NULL};
	struct ing_cidr_list allow;
	assert_int_equal(ing_cidr_list_init(&allow, everything, NULL), 0);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char *texts[] = {ing_strdup(cases[i].deny), NULL};
		struct ing_cidr_list deny;
		assert_int_equal(ing_cidr_list_init(&deny, texts, NULL), 0);
		struct ing_addr a = addr_of(cases[i].addr);
		assert_null(ing_addr_refusal(&a, &allow, NULL));
		if ((ing_addr_refusal(&a, &allow, &deny) != NULL) != cases[i].refused)
			fail_msg("%s, denied %s", cases[i].addr, cases[i].deny);
		ing_cidr_list_done(&deny);
		free(texts[0]);
	}
	ing_cidr_list_done(&allow);
}

static void parses_addresses(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *want; /* NULL: no address */
	} cases[] = {
		{"1.2.3.4", "1.2.3.4"},
		{"::1", "::1"},
		{"[::1]", "::1"},
		{"[2001:DB8::A]", "2001:db8::a"},
		{"::ffff:1.2.3.4", "::ffff:1.2.3.4"},
		{"", NULL},
		{"127.1", NULL},
		{"0x7f.0.0.1", NULL},
		{"2130706433", NULL},
		{"1.2.3.4.5", NULL},
		{"1.2.3.256", NULL},
		{"01.2.3.4", NULL},
		{"[1.2.3.4]", NULL},
		{"[::1", NULL},
		{"::1]", NULL},
		{"[]", NULL},
		{"fe80::1%eth0", NULL},
		{"localhost", NULL},
		{" 1.2.3.4", NULL},
		{"[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc]", NULL},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_addr a;
		char text[ING_ADDR_TEXT_BYTES];
		bool ok = ing_addr_parse(cases[i].text, &a);
		if (ok != (cases[i].want != NULL))
			fail_msg("%s", cases[i].text);
		if (!ok)
			continue;
		ing_addr_format(&a, text);
		assert_string_equal(text, cases[i].want);
	}
}

static void parses_blocks(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *in,
			*out; /* an address in the block and one that is not; in NULL: refused */
	} cases[] = {
		{.text = "10.0.0.0/8", .in = "10.255.255.255", .out = "11.0.0.0"},
		{.text = "0.0.0.0/0", .in = "255.255.255.255", .out = "::1"},
		{.text = "::/0", .in = "ff::", .out = "1.2.3.4"},
		{.text = "192.168.4.0/22", .in = "192.168.7.255", .out = "192.168.8.0"},
		{.text = "1.2.3.4", .in = "1.2.3.4", .out = "1.2.3.5"},
		{.text = "2001:db8::/33", .in = "2001:db8:7fff::", .out = "2001:db8:8000::"},
		{.text = "::1/128", .in = "::1", .out = "::2"},
		{.text = ""},
		{.text = "/8"},
		{.text = "10.0.0.0/"},
		{.text = "10.0.0.0/33"},
		{.text = "::/129"},
		{.text = "10.0.0.0/-1"},
		{.text = "10.0.0.0/8x"},
		{.text = "10.0.0.0/08"},
		{.text = "10.0.0.1/8"},
		{.text = "10/8"},
		{.text = "[::1]/128"},
		{.text = "10.0.0.0/8/8"},
		{.text = "example.org/8"},
		{.text = "10.0.0.0/99999999999999999999"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_cidr block;
		struct ing_error err = {0};
		int rc = ing_cidr_parse(cases[i].text, &block, &err);
		if (cases[i].in == NULL) {
			if (rc != -ING_FAIL_SYNTAX || err.msg[0] == '\0')
				fail_msg("%s: rc %d", cases[i].text, rc);
			continue;
		}
		if (rc != 0)
			fail_msg("%s: %s", cases[i].text, err.msg);
		struct ing_addr in = addr_of(cases[i].in);
		struct ing_addr out = addr_of(cases[i].out);
		if (!ing_cidr_contains(&block, &in) || ing_cidr_contains(&block, &out))
			fail_msg("%s", cases[i].text);
	}
}

static void reads_sockaddrs(void **state)
{
	(void)state;
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr local = {.sa_family = AF_UNIX};
	struct ing_addr a, want;
	inet_pton(AF_INET, "10.9.8.7", &in.sin_addr);
	inet_pton(AF_INET6, "fe80::7", &in6.sin6_addr);
	assert_true(ing_addr_from_sockaddr((struct sockaddr *)&in, &a));
	want = addr_of("10.9.8.7");
	assert_true(ing_addr_equal(&a, &want));
	assert_true(ing_addr_from_sockaddr((struct sockaddr *)&in6, &a));
	assert_false(ing_addr_equal(&a, &want));
	want = addr_of("fe80::7");
	assert_true(ing_addr_equal(&a, &want));
	assert_false(ing_addr_from_sockaddr(&local, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
		cmocka_unit_test(allow_lists),
		cmocka_unit_test(denied_blocks_win_over_exempt_ones),
		cmocka_unit_test(parses_addresses),
		cmocka_unit_test(parses_blocks),
		cmocka_unit_test(reads_sockaddrs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
