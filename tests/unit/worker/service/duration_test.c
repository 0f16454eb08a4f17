/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Times in words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/service/duration.h"

static void times_have_two_units_at_most(void **state)
{
	(void)state;
	static const struct {
		uint64_t ms;
		const char *want;
	} cases[] = {
		{0, "0 ms"},
		{999, "999 ms"},
		{1000, "1 s"},
		{119999, "119 s"},
		{120000, "2 min"},
		{7199999, "119 min"},
		{9000000, "2 h 30 min"},
		{172800000, "2 d 0 h"},
		{UINT64_C(8640000000), "100 d 0 h"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 100);
		ing_duration_add(cases[i].ms, &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_two_units_at_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
