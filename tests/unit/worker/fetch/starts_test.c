/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How many transfers are started a second, by what they cost the loop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
/* cmocka wants the above */
#include <cmocka.h>
#include "common/base/macros.h"
#include "worker/fetch/starts.h"

/* Starts in a second of turns of `turn_us`, each of which costs the loop `cost_us`, with no end of
 * transfers to start; *most: in one turn. */
static unsigned in_a_second(struct ing_starts *p, uint64_t *now_us, uint64_t *cpu_ns,
	uint64_t turn_us, uint64_t cost_us, unsigned *most)
{
	unsigned total = 0;
	*most = 0;
	for (uint64_t until = *now_us + 1000000; *now_us < until; *now_us += turn_us) {
		unsigned now = ing_starts_allow(p, *now_us, *cpu_ns);
		for (unsigned i = 0; i < now; i++)
			ing_starts_take(p);
		*cpu_ns += now * cost_us * 1000;
		total += now;
		*most = ING_MAX(*most, now);
	}
	return total;
}

static void as_many_as_the_loop_can_bear(void **state)
{
	(void)state;
	static const struct {
		uint64_t turn_us, cost_us;
		unsigned least, most, at_once;
	} cases[] = {
		{2000, 1000, 990, 1010, 2}, {2000, 400, 2450, 2550, 5}, {100, 400, 2450, 2550, 1},
		{2000, 100, 9800, 10100, 20},
		{20000, 400, 980, 1010, 20}, /* turns longer than the burst */
		{2000, 1, 19500, 20200, 40}, /* as if it were nothing */
		{2000, 30000, 990, 1010, 2}, /* long bodies: still a thousand */
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_starts p;
		uint64_t now_us = 5000000;
		uint64_t cpu_ns = 7000000;
		unsigned most;
		ing_starts_init(&p, now_us, cpu_ns);
		in_a_second(&p, &now_us, &cpu_ns, cases[i].turn_us, cases[i].cost_us, &most);
		in_a_second(&p, &now_us, &cpu_ns, cases[i].turn_us, cases[i].cost_us, &most);
		unsigned count = in_a_second(
			&p, &now_us, &cpu_ns, cases[i].turn_us, cases[i].cost_us, &most);
		if (count < cases[i].least || count > cases[i].most || most > cases[i].at_once)
			fail_msg("case %zu: %u starts, %u at once", i, count, most);
	}
}

/* Five hundred that come after a pause do not start at once, whatever was measured. */
static void pauses_are_not_saved_up(void **state)
{
	(void)state;
	struct ing_starts p;
	uint64_t now_us = 0;
	uint64_t cpu_ns = 0;
	unsigned most;
	ing_starts_init(&p, now_us, cpu_ns);
	assert_int_equal(ing_starts_allow(&p, now_us, cpu_ns), 8);
	in_a_second(&p, &now_us, &cpu_ns, 2000, 400, &most);
	now_us += 3600000000;
	assert_in_range(ing_starts_allow(&p, now_us, cpu_ns), 18, 21);
}

/* Handshakes that become expensive again are met by fewer starts. */
static void cost_is_measured_anew(void **state)
{
	(void)state;
	struct ing_starts p;
	uint64_t now_us = 0;
	uint64_t cpu_ns = 0;
	unsigned most;
	ing_starts_init(&p, now_us, cpu_ns);
	in_a_second(&p, &now_us, &cpu_ns, 2000, 100, &most);
	assert_true(p.cost_us < 110);
	in_a_second(&p, &now_us, &cpu_ns, 2000, 800, &most);
	unsigned count = in_a_second(&p, &now_us, &cpu_ns, 2000, 800, &most);
	assert_in_range(count, 1200, 1280);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_the_loop_can_bear),
		cmocka_unit_test(pauses_are_not_saved_up),
		cmocka_unit_test(cost_is_measured_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
