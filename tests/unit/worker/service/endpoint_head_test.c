/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/service/endpoint_head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/macros.h"

#define OM "application/openmetrics-text"

static void test_openmetrics_is_for_those_who_prefer_it(void **state)
{
	(void)state;
	static const struct {
		const char *accept;
		bool want;
	} cases[] = {
		{NULL, false},
		{"", false},
		{"*/*", false},
		{"text/plain", false},
		{OM, true},
		{"Application/OpenMetrics-Text", true},
		{OM ";version=1.0.0", true},
		{OM "; version=1.0.0 ; charset=utf-8", true},
		{OM ";version=0.0.1", false},
		{OM ";version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.1", true},
		/* of Prometheus 2 and 3 */
		{OM ";version=1.0.0," OM
		    ";version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
			true},
		{OM ";version=1.0.0;escaping=allow-utf-8;q=0.6," OM
		    ";version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.3,*/*;q=0.2",
			true},
		{OM ";q=0.3,text/plain", false},
		{OM ";q=0.30,text/plain;q=0.299", true},
		{OM ";q=0", false},
		{OM ";q=0.0,*/*;q=0", false},
		{OM ";q=0.000, text/plain;q=0", false},
		{OM ";q=1.5", true},
		{OM ";q=", true},
		{"application/json," OM, true},
		{"," OM ",", true},
		{";;;,,;q=," OM ";;;", true},
		{OM "x", false},
		{"x" OM, false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		if (ing_endpoint_wants_openmetrics(cases[i].accept) != cases[i].want)
			fail_msg("%s: not %d", cases[i].accept, cases[i].want);
}

static void test_a_host_is_this_machine_or_it_is_not(void **state)
{
	(void)state;
	static const struct {
		const char *host;
		bool want;
	} cases[] = {
		{NULL, true},
		{"localhost", true},
		{"LocalHost:9108", true},
		{"127.0.0.1", true},
		{"127.0.0.1:9108", true},
		{"127.8.9.10:1", true},
		{"[::1]:9108", true},
		{"[::1]", true},
		{"", false},
		{":9108", false},
		{"::1", false},
		{"[127.0.0.1]", false},
		{"[::1", false},
		{"[::1]x", false},
		{"[::ffff:127.0.0.1]", false},
		{"128.0.0.1", false},
		{"127.1", false},
		{"0x7f000001", false},
		{"localhost.", false},
		{"localhost.attacker.example", false},
		{"127.0.0.1.attacker.example:9108", false},
		{"127.0.0.1:9108x", false},
		{"127.0.0.1:", true},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		if (ing_endpoint_is_local_host(cases[i].host) != cases[i].want)
			fail_msg("%s: not %d", cases[i].host, cases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openmetrics_is_for_those_who_prefer_it),
		cmocka_unit_test(test_a_host_is_this_machine_or_it_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
