/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Registered domains of hosts, those that have none included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "common/net/psl.h"

static const struct {
	const char *host, *domain;
} cases[] = {
	{"example.org", "example.org"},
	{"www.example.org", "example.org"},
	{"a.b.c.example.co.uk", "example.co.uk"},
	{"example.org.", "example.org."},
	{"a.example.org.", "example.org."},
	/* whoever publishes on a platform is a site of its own */
	{"someone.github.io", "someone.github.io"},
	{"deep.someone.github.io", "someone.github.io"},
	/* a top-level domain nobody knows is a suffix of one label */
	{"a.b.notatopleveldomain", "b.notatopleveldomain"},
	{"journal.xn--p1ai", "journal.xn--p1ai"},
	{"www.journal.xn--p1ai", "journal.xn--p1ai"},
	{"org", NULL},
	{"co.uk", NULL},
	{"github.io", NULL},
	{"localhost", NULL},
	{"192.0.2.1", NULL},
	{"[2001:db8::1]", NULL},
	{"", NULL},
	{".", NULL},
};

static void check_cases(void)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const char *got = ing_psl_registered(cases[i].host);
		if (cases[i].domain == NULL && got == NULL)
			continue;
		if (cases[i].domain == NULL || got == NULL || strcmp(got, cases[i].domain) != 0)
			fail_msg("%s: %s", cases[i].host, got ? got : "(none)");
	}
}

static void registered_domains(void **state)
{
	(void)state;
	check_cases();
}

/* More hosts than are remembered, each asked for again at once and later; their domains begin elsewhere. */
static void an_answer_is_that_of_its_host(void **state)
{
	char host[100];
	(void)state;
	for (unsigned i = 0; i < 6000; i++) {
		unsigned n = i % 3000, sub = n % 7;
		snprintf(host, sizeof(host), "%.*sname%u.example", (int)(2 * sub), "a.a.a.a.a.a.a.",
			n);
		assert_string_equal(ing_psl_registered(host), host + 2 * sub);
		assert_string_equal(ing_psl_registered(host), host + 2 * sub);
	}
	check_cases();
	check_cases();
}

static void a_host_of_any_length(void **state)
{
	(void)state;
	char host[5000];
	memset(host, 'a', sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	assert_null(ing_psl_registered(host));
	for (size_t i = 1; i < sizeof(host) - 1; i += 2)
		host[i] = '.';
	assert_null(ing_psl_registered(host));
	for (size_t bytes = 201; bytes > 3; bytes -= 2) {
		host[bytes] = '\0';
		assert_string_equal(ing_psl_registered(host), host + bytes - 3);
		assert_string_equal(ing_psl_registered(host), host + bytes - 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registered_domains),
		cmocka_unit_test(an_answer_is_that_of_its_host),
		cmocka_unit_test(a_host_of_any_length),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
