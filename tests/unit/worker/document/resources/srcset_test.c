/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table of srcset attributes and their URLs, by blanks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/document/resources/srcset.h"

static const struct srcset_case {
	const char *name, *value, *want;
} cases[] = {
	{"nothing", "", ""},
	{"only separators", " ,, ,\t", ""},
	{"one", "a.jpg", "a.jpg"},
	{"densities", "a.jpg 1x, b.jpg 2x", "a.jpg b.jpg"},
	{"widths without blanks", "a 100w,b 200w", "a b"},
	{"a comma ends a URL", "a.jpg, b.jpg,", "a.jpg b.jpg"},
	{"a comma in a URL", "w_1,h_2/a.jpg 1x, data:image/png;base64,AA== 2x",
		"w_1,h_2/a.jpg data:image/png;base64,AA=="},
	{"no blank behind the comma: one URL", "a.jpg,b.jpg", "a.jpg,b.jpg"},
	{"commas at the end", "a,,, b", "a b"},
	{"newlines", "\n  a.jpg 1x,\n  b.jpg 2x\n", "a.jpg b.jpg"},
	{"brackets in a descriptor", "a foo(1, 2) 1x, b", "a b"},
	{"a bracket left open", "a foo(1, b 2x", "a"},
	{"a descriptor that is none", "a what, b 1y", "a b"},
};

static void candidates(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ing_srcset s;
		struct ing_buf out;
		const char *url;
		size_t bytes;
		ing_buf_init(&out, 1000);
		ing_srcset_init(&s, cases[i].value, strlen(cases[i].value));
		while (ing_srcset_next(&s, &url, &bytes)) {
			if (out.len > 0)
				ing_buf_add_char(&out, ' ');
			ing_buf_add(&out, url, bytes);
		}
		if (strcmp(ing_buf_str(&out), cases[i].want) != 0)
			fail_msg("%s: %s, not %s", cases[i].name, ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(candidates)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
