/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Options of a selection: what they become, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/ctl/requests/selection_options.h"

static int set(struct ing_selection_options *o, const char *name, const char *value)
{
	struct ing_error err = {0};
	int rc = ing_selection_set(o, name, value, &err);
	if (rc != 0) {
		print_message("%s\n", err.msg);
		assert_memory_equal(err.msg, name, strlen(name)); /* whose fault it is */
	}
	return rc;
}

/* Words with a comma behind each. Caller frees. */
static char *join(const struct ing_words *words)
{
	struct ing_buf out;
	ing_buf_init(&out, 1 << 20);
	for (size_t i = 0; i < words->count; i++)
		ing_buf_printf(&out, "%s,", words->words[i]);
	return ing_buf_steal(&out);
}

static void words_take_the_form_of_the_tables(void **state)
{
	(void)state;
	static const struct {
		const char *name, *value, *want;
	} cases[] = {
		{"list", "a, b", "a, b,"}, /* a name may have a comma */
		{"list", "'; DROP TABLE x; --", "'; DROP TABLE x; --,"},
		{"type", "pdf,file,html", "pdf,pdf,html,"},
		{"source", "unpaywall,doaj", "unpaywall,doaj,"},
		{"link-source", "doi", "doi,"},
		{"status", "success,no-pdf-link", "success,no-pdf-link,"},
		{"terminal-status", "404,429", "404,429,"},
		{"host", "WWW.Example.ORG,x.org", "example.org,x.org,"},
		{"host", "exämple.org", "xn--exmple-cua.org,"},
		{"host", "[::1]", "[::1],"},
		{"domain", "Org", "org,"},
		{"doi-prefix", "10.1234,10.55/,doi:10.6", "10.1234,10.55,10.6,"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_selection_options o;
		ing_selection_options_init(&o);
		assert_int_equal(set(&o, cases[i].name, cases[i].value), 0);
		const struct ing_selection *s = &o.selection;
		const struct ing_words *const all[] = {&s->lists, &s->types, &s->sources,
			&s->link_sources, &s->statuses, &s->terminal_codes, &s->hosts, &s->domains,
			&s->doi_prefixes};
		for (size_t k = 0; k < ING_ARRAY_LEN(all); k++) {
			if (all[k]->count == 0)
				continue;
			char *got = join(all[k]);
			assert_string_equal(got, cases[i].want);
			free(got);
		}
		ing_selection_options_done(&o);
	}
}

static void words_of_several_options_add_up(void **state)
{
	(void)state;
	struct ing_selection_options o;
	ing_selection_options_init(&o);
	for (int i = 0; i < 100; i++) {
		char word[16];
		snprintf(word, sizeof(word), "s%d,t%d", i, i);
		assert_int_equal(set(&o, "source", word), 0);
	}
	assert_int_equal(o.selection.sources.count, 200);
	assert_string_equal(o.selection.sources.words[199], "t99");
	assert_int_equal(set(&o, "class", "hit"), 0);
	assert_int_equal(set(&o, "class", "queued,retry-due"), 0);
	assert_int_equal(
		o.selection.classes, ING_CLASS_HIT | ING_CLASS_QUEUED | ING_CLASS_RETRY_DUE);
	ing_selection_options_done(&o);
}

static void numbers_and_times_are_read(void **state)
{
	(void)state;
	struct ing_selection_options o;
	const struct ing_selection *s = &o.selection;
	ing_selection_options_init(&o);
	assert_int_equal(set(&o, "new", NULL), 0);
	assert_int_equal(set(&o, "limit", "60000000000"), 0);
	assert_int_equal(set(&o, "per-host", "10"), 0);
	assert_int_equal(set(&o, "share", "8.5"), 0);
	assert_int_equal(set(&o, "slice", "3/8"), 0);
	assert_int_equal(set(&o, "random", "18446744073709551615"), 0);
	assert_int_equal(set(&o, "attempts-below", "5"), 0);
	assert_true(s->only_new && s->limit == UINT64_C(60000000000) && s->per_host == 10);
	assert_true(s->share > 8.49 && s->share < 8.51 && s->slice == 3 && s->slices == 8);
	assert_true(s->random && s->seed == UINT64_MAX && s->attempts_below == 5);
	assert_int_equal(set(&o, "random", "0"), 0);
	assert_true(s->random && s->seed == 0);
	assert_int_equal(set(&o, "share", "100%"), 0);
	assert_int_equal(set(&o, "since", "2026-11-23"), 0);
	assert_int_equal(set(&o, "until", "2026-11-23T04:05:06Z"), 0);
	assert_int_equal(s->created_from_ms, INT64_C(1795392000000));
	assert_int_equal(s->created_to_ms, INT64_C(1795406706000));
	assert_int_equal(set(&o, "since", "1970-01-01"), 0);
	assert_int_equal(s->created_from_ms, 1); /* 0 would be no condition */
	assert_int_equal(set(&o, "since", "2d"), 0);
	int64_t ago_s = (int64_t)ing_wall_now().tv_sec - s->created_from_ms / 1000;
	assert_in_range(ago_s, 2 * 86400, 2 * 86400 + 60);
	ing_selection_options_done(&o);
}

static void ages_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *value;
		int64_t from_s, to_s;
	} cases[] = {
		{"8h..8d", 28800, 691200},
		{"8h..", 28800, 0},
		{"..1h30m", 0, 5400},
		{"0s..90s", 0, 90},
	};
	struct ing_selection_options o;
	ing_selection_options_init(&o);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		assert_int_equal(set(&o, "request-age", cases[i].value), 0);
		assert_int_equal(set(&o, "result-age", cases[i].value), 0);
		assert_int_equal(o.selection.request_age_from_s, cases[i].from_s);
		assert_int_equal(o.selection.request_age_to_s, cases[i].to_s);
		assert_int_equal(o.selection.result_age_from_s, cases[i].from_s);
		assert_int_equal(o.selection.result_age_to_s, cases[i].to_s);
	}
	ing_selection_options_done(&o);
}

static void what_is_not_understood_is_refused(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"list", ""},
		{"list", "\xff"},
		{"source", "a,,b"},
		{"source", ""},
		{"type", "word"},
		{"type", "pdf,"},
		{"status", "sucess"},
		{"status", "%"},
		{"class", "new"},
		{"class", ""},
		{"terminal-status", "4xx"},
		{"terminal-status", "99"},
		{"terminal-status", "1000"},
		{"host", "http://x.org/"},
		{"host", "x.org/a"},
		{"host", "x.org:80"},
		{"host", "a b"},
		{"host", "*.x.org"},
		{"host", "%"},
		{"host", "x.org?"},
		{"host", "u@x.org"},
		{"host", ".x.org"},
		{"domain", ""},
		{"domain", "%.org"},
		{"doi-prefix", "10"},
		{"doi-prefix", "11.5"},
		{"doi-prefix", "10.5/a"},
		{"doi-prefix", "%"},
		{"limit", "0"},
		{"limit", "-1"},
		{"limit", "1e6"},
		{"limit", "18446744073709551615"},
		{"per-host", "x"},
		{"share", "0"},
		{"share", "100.1"},
		{"share", "nan"},
		{"share", "inf"},
		{"share", "0x10"},
		{"share", "1e1"},
		{"share", "-5"},
		{"share", ".5"},
		{"share", ""},
		{"share", "5 "},
		{"slice", "0/4"},
		{"slice", "5/4"},
		{"slice", "1"},
		{"slice", "1/0"},
		{"slice", "1/2/3"},
		{"slice", "/2"},
		{"slice", "1/-2"},
		{"random", ""},
		{"random", "-1"},
		{"random", "18446744073709551616"},
		{"random", "x"},
		{"since", "yesterday"},
		{"since", "2026-02-30"},
		{"since", ""},
		{"until", "2026"},
		{"request-age", "8h"},
		{"request-age", ".."},
		{"request-age", "8d..8h"},
		{"request-age", "8h..8h"},
		{"request-age", "8h...9h"},
		{"request-age", "2026-11-01.."},
		{"result-age", ""},
		{"result-age", "..8y"},
		{"attempts-below", "0"},
		{"exclude-large", "/nowhere/at/all"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_selection_options o;
		ing_selection_options_init(&o);
		if (set(&o, cases[i][0], cases[i][1]) == 0)
			fail_msg("--%s \"%s\" was taken", cases[i][0], cases[i][1]);
		ing_selection_options_done(&o);
	}
	struct ing_selection_options o;
	struct ing_error err = {0};
	ing_selection_options_init(&o);
	assert_int_equal(ing_selection_set(&o, "limits", "1", &err), -ING_FAIL_NOT_FOUND);
	ing_error_clear(&err);
	assert_int_not_equal(ing_selection_set(&o, "status", "sucess", &err), 0);
	assert_string_equal(
		err.msg, "status: there is no status \"sucess\"; did you mean \"success\"?");
	ing_selection_options_done(&o);
}

static void large_hosts_are_read_from_a_file(void **state)
{
	(void)state;
	static const struct {
		const char *file, *want; /* NULL: refused */
	} cases[] = {
		{"", ""},
		{"Example.org\n\n# big ones\n  www.x.org  # why\ny.net\r\nz.net 1200",
			"example.org,x.org,y.net,z.net,"},
		{"x.org\nhttp://y.org/\n", NULL},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char path[] = "/tmp/selection-options-XXXXXX";
		int fd = mkstemp(path);
		struct ing_selection_options o;
		struct ing_error err = {0};
		assert_int_equal(write(fd, cases[i].file, strlen(cases[i].file)),
			(ssize_t)strlen(cases[i].file));
		close(fd);
		ing_selection_options_init(&o);
		int rc = ing_selection_set(&o, "exclude-large", path, &err);
		assert_int_equal(rc != 0, cases[i].want == NULL);
		if (rc != 0)
			assert_non_null(strstr(err.msg, ":2: \"http://y.org/\" is no host"));
		if (rc == 0) {
			char *got = join(&o.selection.without_hosts);
			assert_string_equal(got, cases[i].want);
			free(got);
		}
		ing_selection_options_done(&o);
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_take_the_form_of_the_tables),
		cmocka_unit_test(words_of_several_options_add_up),
		cmocka_unit_test(numbers_and_times_are_read),
		cmocka_unit_test(ages_are_read),
		cmocka_unit_test(what_is_not_understood_is_refused),
		cmocka_unit_test(large_hosts_are_read_from_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
