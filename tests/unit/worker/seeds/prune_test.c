/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is kept of a JSON text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/report.h"
#include "worker/seeds/prune.h"
#include "worker/seeds/source_priv.h"

static const char yaml[] =
	"about: a\nshape: b\nformat: jsonl\neach: {path: l, as: i}\n"
	"skip: [{reason: r, path: r, present: true}]\n"
	"fields: {base_url: {path: [i, i.u]}, ingest_type: pdf, rel: {parts: [{path: p}, {path: q}]},\n"
	"  title: {path: 'a[t=x].b'}}\n";

static const struct {
	const char *text, *want; /* want NULL: false */
} cases[] = {
	{"{}", "{}"},
	{" { } ", "{}"},
	{"{\"z\":1,\"p\":2}", "{\"p\":2}"},
	{"{\"p\":2,\"z\":[{\"p\":1}]}", "{\"p\":2}"},
	{"{\"p\" : 2 , \"q\":[ 1, {\"z\" : 2}]\t}", "{\"p\":2,\"q\":[ 1, {\"z\" : 2}]}"},
	{"{\"a\":{\"t\":1,\"b\":2,\"c\":3},\"r\":null}", "{\"a\":{\"t\":1,\"b\":2},\"r\":null}"},
	{"{\"a\":[{\"b\":2,\"c\":3}, [] ,[[{\"c\":1}]],\"s\"]}",
		"{\"a\":[{\"b\":2},[],[[{}]],\"s\"]}"},
	{"{\"l\":[{\"v\":[1,2]}]}", "{\"l\":[{\"v\":[1,2]}]}"},
	{"{\"\\u0070\":1,\"z\":\"\\\"\",\"y\":\"\\\\\",\"x\":\"\\\\\\\"}\"}", "{\"\\u0070\":1}"},
	{"{\"z\":{\"}\":\"]\"},\"p\":[\"]\"]}", "{\"p\":[\"]\"]}"},
	{"{\"p\":1,\"p\":2}", "{\"p\":1,\"p\":2}"},
	{"{\"p\":}", NULL},
	{"{\"p\"1}", NULL},
	{"{\"p\":1,}", NULL},
	{"{\"a\":[1,]}", NULL},
	{"{\"a\":[1 2]}", NULL},
	{"{\"p\":1", NULL},
	{"{\"p\":\"1", NULL},
	{"{\"z\":[1", NULL},
	{"{\"z\":\"\\\"}", NULL},
	{"{p:1}", NULL},
	{"{}{}", NULL},
	{"[]", NULL},
	{"", NULL},
	{"1", NULL},
};

static void what_is_read_is_kept(void **state)
{
	(void)state;
	struct ing_seed_source *s = NULL;
	struct ing_report report = {0};
	assert_int_equal(
		ing_seed_source_parse("x", yaml, sizeof(yaml) - 1, NULL, &s, &report, NULL), 0);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		size_t bytes = strlen(cases[i].text);
		char *text = ing_alloc(bytes + 1); /* its own: nothing behind it may be read */
		memcpy(text, cases[i].text, bytes);
		text = ing_realloc(text, bytes > 0 ? bytes : 1);
		struct ing_buf got;
		ing_buf_init(&got, 1000);
		bool has = ing_seed_prune(s->members, text, bytes, &got);
		if (has != (cases[i].want != NULL) ||
			(has && strcmp(ing_buf_str(&got), cases[i].want) != 0))
			fail_msg("%s: %s", cases[i].text, has ? ing_buf_str(&got) : "refused");
		ing_buf_done(&got);
		free(text);
	}
	ing_seed_source_free(s);
	ing_report_done(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
