/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines of indexes in every form.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/record/cdx_line.h"

/* want: the values in the order of the columns, "|" behind each, "" for an absent one; "no capture", or the
 * reason why a line is bad. Lines of a case are read one after the other by one reader; want is of the
 * last. */
/* clang-format off */
static const struct {
	const char *name, *lines, *want;
} cases[] = {
	{"eleven fields",
		"org,a)/x 20200102030405 http://a.org/x application/pdf 200 AAAA - - 10 20 f.warc.gz",
		"org,a)/x|20200102030405|http://a.org/x|application/pdf|200|AAAA|||10|20|f.warc.gz|"},
	{"more than eleven", "s 20200102030405 http://a.org/ m 200 K r M 1 2 f g h",
		"s|20200102030405|http://a.org/|m|200|K|r|M|1|2|f|"},
	{"nine fields", "s 20200102030405 http://a.org/ m 200 K - 2 f",
		"s|20200102030405|http://a.org/|m|200|K||||2|f|"},
	{"ten fields", "s 20200102030405 http://a.org/ m 200 K - A 2 f",
		"s|20200102030405|http://a.org/|m|200|K||A||2|f|"},
	{"seven, as a CDX server answers", "s 20200102030405 http://a.org/ m 200 K 77",
		"s|20200102030405|http://a.org/|m|200|K|||77|||"},
	{"absent fields", "s 20200102030405 http://a.org/ - - - - - - - -",
		"s|20200102030405|http://a.org/|||||||||"},
	{"a header line", " CDX N b a m s k r M S V g", "no capture"},
	{"other fields in the header", " CDX a b x S\nhttp://a.org/ 2020 ? 5", "|2020|http://a.org/||||||5|||"},
	{"another delimiter", "\tCDX\tN\tb\ta\ns\t20200102030405\thttp://a.org/ x", "s|20200102030405|http://a.org/ x|||||||||"},
	{"lines with more fields than the header", " CDX N b a\ns 2020 http://a.org/ 4", "s|2020|http://a.org/|||||||||"},
	{"lines of another file behind a header", " CDX N b a m s k r M S V g\ns 2020 http://a.org/ m 200 K - 2 f",
		"s|2020|http://a.org/|m|200|K||||2|f|"},
	{"CDXJ", "org,a)/x 20200102030405 {\"url\":\"http://a.org/x\",\"mime\":\"text/html\",\"status\":\"200\",\"digest\":\"sha1:K\",\"length\":\"5\",\"offset\":6,\"filename\":\"f\"}",
		"org,a)/x|20200102030405|http://a.org/x|text/html|200|sha1:K|||5|6|f|"},
	{"CDXJ without most", "s 2020 {\"url\":\"http://a.org/\",\"mime\":\"-\",\"status\":null}", "s|2020|http://a.org/|||||||||"},
	{"CDXJ without a key", " 2020 {\"url\":\"http://a.org/\"}", "|2020|http://a.org/|||||||||"},
	{"CDXJ without a date", "s - {\"url\":\"http://a.org/\"}", "no date"},
	{"data about a CDXJ file", "!meta 0 {\"format\":\"x\"}", "no capture"},
	{"both in one file", "s 2020 {\"url\":\"http://a.org/\"}\nt 2021 http://b.org/ m 200 K - 2 f",
		"t|2021|http://b.org/|m|200|K||||2|f|"},
	{"CDXJ cut", "s 2020 {\"url\":\"http://a.o", "the JSON of the line cannot be read"},
	{"CDXJ without a URL", "s 2020 {\"mime\":\"x\"}", "no URL"},
	{"no URL", "s 20200102030405 - m 200 K - 2 f", "no URL"},
	{"a date that is none", "s 2020-01-02 http://a.org/ m 200 K - 2 f", "the date is no number"},
	{"no date", "s - http://a.org/ m 200 K - 2 f", "no date"},
	{"a URL alone", "http://a.org/", "not as many fields as a CDX line has (11, 9, 7)"},
	{"blanks alone", "          ", "no date"},
	{"nothing", "", "no capture"},
};
/* clang-format on */

static void check(const char *name, const char *lines, const char *want)
{
	struct ing_cdx_reader *r = ing_cdx_reader_new();
	struct ing_buf got;
	ing_buf_init(&got, 10000);
	for (const char *s = lines;; s++) {
		size_t n = strcspn(s, "\n");
		char *line = malloc(n + 1); /* so that nobody reads behind it */
		assert_non_null(line);
		memcpy(line, s, n);
		struct ing_cdx_cell cells[ING_CDX_COLUMNS_];
		const char *why;
		ing_buf_clear(&got);
		switch (ing_cdx_read_line(r, line, n, cells, &why)) {
		case ING_CDX_NO_CAPTURE:
			ing_buf_add_str(&got, "no capture");
			break;
		case ING_CDX_BAD:
			ing_buf_add_str(&got, why);
			break;
		case ING_CDX_CAPTURE:
			for (int i = 0; i < ING_CDX_COLUMNS_; i++) {
				ing_buf_add(&got, cells[i].text, cells[i].bytes);
				ing_buf_add_char(&got, '|');
			}
		}
		free(line);
		s += n;
		if (*s == '\0')
			break;
	}
	if (strcmp(ing_buf_str(&got), want) != 0)
		print_message("%s\n", name);
	assert_string_equal(ing_buf_str(&got), want);
	ing_buf_done(&got);
	ing_cdx_reader_free(r);
}

static void lines_of_every_form_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		check(cases[i].name, cases[i].lines, cases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lines_of_every_form_are_read)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
