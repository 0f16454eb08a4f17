/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every source that is installed makes of its samples what its file says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/report.h"
#include "worker/seeds/samples.h"

#define DIR ING_SOURCE_DIR "/deploy/seedlists"

static void installed_sources_convert_their_samples(void **state)
{
	(void)state;
	struct ing_error err = {0};
	char **names = ing_seed_source_names(DIR, &err);
	assert_non_null(names);
	size_t sources = 0;
	bool good = true;
	for (char **name = names; *name != NULL; name++) {
		struct ing_report report = {0};
		size_t count, failed;
		int rc = ing_seed_samples_check(DIR, *name, stderr, &count, &failed, &report, &err);
		ing_report_print_errors(&report, stderr);
		if (rc != 0 || failed > 0 || count == 0 || report.errors > 0) {
			print_error("%s: %d, %zu of %zu samples failed: %s\n", *name, rc, failed,
				count, err.msg);
			good = false;
		}
		ing_report_done(&report);
		sources++;
	}
	free(names);
	assert_true(good);
	assert_true(sources >= 16);
}

static void a_sample_that_differs_is_found(void **state)
{
	(void)state;
	static const char text[] =
		"about: a\nshape: b\nformat: lines\nfields: {base_url: {path: line}, ingest_type: pdf}\n"
		"tests:\n"
		"  - {input: 'http://a.example/', want: '{\"base_url\":\"http://b.example/\"}'}\n"
		"  - {input: 'http://a.example/', want: \"{\\\"base_url\\\":\\\"http://a.example/\\\",\\\"ingest_type\\\":\\\"pdf\\\"}\\n\"}\n"
		"  - {input: 'x', left_out: {no-url: 1}}\n"
		"  - {input: \"http://a.example/\\xff\", want: ''}\n";
	char path[] = "/tmp/seedsXXXXXX.yaml";
	int fd = mkstemps(path, 5);
	assert_true(fd >= 0);
	FILE *f = fdopen(fd, "w");
	fwrite(text, 1, sizeof(text) - 1, f);
	fclose(f);
	struct ing_report report = {0};
	struct ing_error err = {0};
	size_t count, failed;
	FILE *null = fopen("/dev/null", "w");
	assert_int_equal(
		ing_seed_samples_check(DIR, path, null, &count, &failed, &report, &err), 0);
	fclose(null);
	remove(path);
	assert_int_equal(count, 4);
	assert_int_equal(failed, 3);
	ing_report_done(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(installed_sources_convert_their_samples),
		cmocka_unit_test(a_sample_that_differs_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
