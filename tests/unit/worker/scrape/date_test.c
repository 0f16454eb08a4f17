/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dates as pages write them: the forms, the languages, what is only a year, and what is no date.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/scrape/biblio/date.h"

static const struct {
	const char *text;
	const char *want; /* "Y-M-D", zero for what is not said; NULL: no date */
} cases[] = {
	/* numbers */
	{"2020/09/10", "2020-9-10"},
	{"2020-09-10", "2020-9-10"},
	{" 2020-9-1 ", "2020-9-1"},
	{"2020.09.10", "2020-9-10"},
	{"2020. 9. 10.", "2020-9-10"},
	{"2020 09 10", "2020-9-10"},
	{"2020\xe2\x80\x93"
	 "09\xe2\x80\x93"
	 "10",
		"2020-9-10"},
	{"10/11/2012", "2012-10-11"},
	{"13/11/2012", "2012-11-13"},
	{"11/13/2012", "2012-11-13"},
	{"10-11-2012", "2012-10-11"},
	{"31.12.2012", "2012-12-31"},
	{"1/2/2012", "2012-1-2"},
	{"2019-04-22T10:15:30Z", "2019-4-22"},
	{"2019-04-22T00:00:00.000+02:00", "2019-4-22"},
	{"2019-04-22 10:15", "2019-4-22"},
	{"20190422", "2019-4-22"},
	{"20190422T101500Z", "2019-4-22"},
	{"20190422101500", "2019-4-22"},
	{"Published online 2019-04-22 (received 3 March 2018)", "2019-4-22"},
	{"(2019-04-22)", "2019-4-22"},
	{"\xef\xbc\x92\xef\xbc\x90\xef\xbc\x91\xef\xbc\x99/04/22", "2019-4-22"},
	{"2020-02-29", "2020-2-29"},
	{"2000-02-29", "2000-2-29"},

	/* months by name */
	{"Apr 22, 2019", "2019-4-22"},
	{"April 22 2019", "2019-4-22"},
	{"APRIL 22nd, 2019", "2019-4-22"},
	{"22nd of April, 2019", "2019-4-22"},
	{"Monday, 22 April 2019", "2019-4-22"},
	{"Mon Apr 22 2019 10:00:00 GMT+0200 (CEST)", "2019-4-22"},
	{"Mon, 22 Apr 2019 10:00:00 +1000", "2019-4-22"},
	{"10:30 April 22, 2019", "2019-4-22"},
	{"22-Apr-2019", "2019-4-22"},
	{"22Apr2019", "2019-4-22"},
	{"22/Apr/2019", "2019-4-22"},
	{"2019 Apr 22", "2019-4-22"},
	{"2019 Apr 22;14(4):e0213978", "2019-4-22"},
	{"2019-Apr-22", "2019-4-22"},
	{"Sept. 3, 2010", "2010-9-3"},
	{"12 mars 2015", "2015-3-12"},
	{"1er ao\xc3\xbbt 2014", "2014-8-1"},
	{"22 d\xe2\x80\x99"
	 "avril 2019",
		"2019-4-22"},
	{"mar. 22 avr. 2019", "2019-4-22"},
	{"mar 22 abr 2019", "2019-4-22"},
	{"22. M\xc3\xa4rz 2019", "2019-3-22"},
	{"22. M\xc3\x84RZ 2019", "2019-3-22"},
	{"3. J\xc3\xa4nner 2019", "2019-1-3"},
	{"22 de abril de 2019", "2019-4-22"},
	{"1\xc2\xba de mar\xc3\xa7o de 2019", "2019-3-1"},
	{"22 de setiembre del 2019", "2019-9-22"},
	{"15 maggio 2018", "2018-5-15"},
	{"15 mei 2018", "2018-5-15"},
	{"15 maart 2018", "2018-3-15"},
	{"15 pa\xc5\xba"
	 "dziernika 2018",
		"2018-10-15"},
	{"15 listopada 2018", "2018-11-15"},
	{"22 \xd0\x90\xd0\xbf\xd1\x80\xd0\xb5\xd0\xbb\xd1\x8f 2019 \xd0\xb3.", "2019-4-22"},
	{"3 \xd0\xbc\xd0\xb0\xd1\x8f 2019", "2019-5-3"},
	{"22 \xd0\xba\xd0\xb2\xd1\x96\xd1\x82\xd0\xbd\xd1\x8f 2019", "2019-4-22"},
	{"22 A\xc4\x9fustos 2019", "2019-8-22"},
	{"22 \xc5\x9eUBAT 2019", "2019-2-22"},
	{"22 Kas\xc4\xb1m 2019", "2019-11-22"},
	{"22 Agustus 2019", "2019-8-22"},
	{"22 Desember 2019", "2019-12-22"},
	{"22. \xc5\x99\xc3\xadjna 2019", "2019-10-22"},
	{"22. z\xc3\xa1\xc5\x99\xc3\xad 2019", "2019-9-22"},
	{"22 maj 2019", "2019-5-22"},
	{"22. tammikuuta 2019", "2019-1-22"},
	{"2019. m\xc3\xa1rcius 22.", "2019-3-22"},
	{"22 \xce\x91\xcf\x80\xcf\x81\xce\xb9\xce\xbb\xce\xaf\xce\xbf\xcf\x85 2019", "2019-4-22"},
	{"22 \xd8\xa3\xd8\xa8\xd8\xb1\xd9\x8a\xd9\x84 2019", "2019-4-22"},
	{"2019\xe5\xb9\xb4"
	 "4\xe6\x9c\x88"
	 "22\xe6\x97\xa5",
		"2019-4-22"},
	{"2019 \xe5\xb9\xb4 4 \xe6\x9c\x88 22 \xe6\x97\xa5", "2019-4-22"},
	{"2019\xe5\xb9\xb4"
	 "4\xe6\x9c\x88",
		"2019-4-0"},
	{"2019\xeb\x85\x84 4\xec\x9b\x94 22\xec\x9d\xbc", "2019-4-22"},

	/* no day, no month: none is made up */
	{"2003", "2003-0-0"},
	{"2003-05", "2003-5-0"},
	{"2003/05", "2003-5-0"},
	{"05/2003", "2003-5-0"},
	{"May 2003", "2003-5-0"},
	{"2003 May", "2003-5-0"},
	{"201904", "2019-4-0"},
	{"2020-00-00", "2020-0-0"},
	{"2020-04-00", "2020-4-0"},
	{"20200000", "2020-0-0"},
	{"Spring 2010", "2010-0-0"},
	{"2009-2010", "2009-0-0"},
	{"2010-15", "2010-0-0"},
	{"March-April 2010", "2010-0-0"},
	{"Mar/Apr 2010", "2010-0-0"},
	{"28 Feb - 2 Mar 2015", "2015-0-0"},
	{"12-15 March 2015", "2015-3-0"},
	{"March 12\xe2\x80\x93"
	 "15, 2015",
		"2015-3-0"},
	{"Vol. 5, No 3, March 2015", "2015-3-0"},
	{"12, 2003", "2003-0-0"},
	{"\xc2\xa9 2017 The Authors", "2017-0-0"},
	{"2018;14(4)", "2018-0-0"},
	{"no. 1234, 2010", "2010-0-0"},

	/* a day that there is not: the year is certain */
	{"2020-02-30", "2020-0-0"},
	{"2019-02-29", "2019-0-0"},
	{"1900-02-29", "1900-0-0"},
	{"29/02/2019", "2019-0-0"},
	{"13/13/2012", "2012-0-0"},
	{"2020-13-01", "2020-0-0"},
	{"2020-13-00", "2020-0-0"},
	{"2020-00-12", "2020-0-0"},
	{"20200931", "2020-0-0"},
	{"20200931101500", "2020-0-0"},
	{"31 April 2019", "2019-0-0"},
	{"Feb 30, 2019", "2019-0-0"},
	{"2019\xe5\xb9\xb4"
	 "2\xe6\x9c\x88"
	 "30\xe6\x97\xa5",
		"2019-0-0"},

	/* two dates: the first */
	{"2019-04-22/2019-05-01", "2019-4-22"},
	{"2019-04-22T10:00:00Z/2019-05-01T10:00:00Z", "2019-4-22"},
	{"2019-04-22/25", "2019-4-22"},
	{"2019-04/2019-05", "2019-4-0"},
	{"2019-04-22 - 2019-05-01", "2019-4-22"},
	{"22 April 2019 - 1 May 2019", "2019-4-22"},
	{"2020-02-30/2020-03-02", "2020-0-0"},

	/* none */
	{"", NULL},
	{"   ", NULL},
	{"today", NULL},
	{"10/11/12", NULL},
	{"12 mars 15", NULL},
	{"May", NULL},
	{"0000-00-00", NULL},
	{"99999999", NULL},
	{"20191301", NULL},
	{"20191232", NULL},
	{"12345678", NULL},
	{"0999", NULL},
	{"2201", NULL},
	{"123456789012345678901234567890", NULL},
	{"\xff\xfe\xc3", NULL},
	{"\xf0\x9f\x93\x85", NULL},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_date d;
		char got[64] = "none";
		const char *want = cases[i].want == NULL ? "none" : cases[i].want;
		if (ing_date_parse(cases[i].text, strlen(cases[i].text), &d))
			snprintf(got, sizeof(got), "%d-%d-%d", d.year, d.month, d.day);
		if (strcmp(got, want) != 0)
			fail_msg("\"%s\": %s, not %s", cases[i].text, got, want);
	}
}

/* The day is the same in the months of every language that has a line for it. */
static void test_all_months(void **state)
{
	static const char *const names[][12] = {
		{"january", "february", "march", "april", "may", "june", "july", "august",
			"september", "october", "november", "december"},
		{"janvier", "f\xc3\xa9vrier", "mars", "avril", "mai", "juin", "juillet",
			"ao\xc3\xbbt", "septembre", "octobre", "novembre",
			"d\xc3\xa9"
			"cembre"},
		{"Januar", "Februar", "M\xc3\xa4rz", "April", "Mai", "Juni", "Juli", "August",
			"September", "Oktober", "November", "Dezember"},
		{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto",
			"septiembre", "octubre", "noviembre", "diciembre"},
		{"janeiro", "fevereiro", "mar\xc3\xa7o", "abril", "maio", "junho", "julho",
			"agosto", "setembro", "outubro", "novembro", "dezembro"},
		{"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto",
			"settembre", "ottobre", "novembre", "dicembre"},
		{"januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus",
			"september", "oktober", "november", "december"},
		{"stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca", "sierpnia",
			"wrze\xc5\x9bnia",
			"pa\xc5\xba"
			"dziernika",
			"listopada", "grudnia"},
		{"Ocak", "\xc5\x9eubat", "Mart", "Nisan", "May\xc4\xb1s", "Haziran", "Temmuz",
			"A\xc4\x9fustos", "Eyl\xc3\xbcl", "Ekim", "Kas\xc4\xb1m", "Aral\xc4\xb1k"},
		{"Januari", "Februari", "Maret", "April", "Mei", "Juni", "Juli", "Agustus",
			"September", "Oktober", "November", "Desember"},
		{"ledna", "\xc3\xbanora",
			"b\xc5\x99"
			"ezna",
			"dubna", "kv\xc4\x9btna",
			"\xc4\x8d"
			"ervna",
			"\xc4\x8d"
			"ervence",
			"srpna", "z\xc3\xa1\xc5\x99\xc3\xad", "\xc5\x99\xc3\xadjna", "listopadu",
			"prosince"},
		{"januari", "februari", "mars", "april", "maj", "juni", "juli", "augusti",
			"september", "oktober", "november", "december"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		for (int month = 0; month < 12; month++) {
			char text[64];
			struct ing_date d = {0};
			int n = snprintf(text, sizeof(text), "17 %s 2011", names[i][month]);
			assert_true(ing_date_parse(text, (size_t)n, &d));
			if (d.year != 2011 || d.month != month + 1 || d.day != 17)
				fail_msg("%s: %d-%d-%d", text, d.year, d.month, d.day);
		}
	}
}

/* Only the front of a long text is looked at, and its cost is bounded. */
static void test_long(void **state)
{
	static char text[1 << 20];
	struct ing_date d;
	(void)state;
	memset(text, '1', sizeof(text));
	assert_false(ing_date_parse(text, sizeof(text), &d));
	memset(text, ' ', sizeof(text));
	memcpy(text, "2019-04-22", 10);
	assert_true(ing_date_parse(text, sizeof(text), &d));
	assert_int_equal(d.day, 22);
	for (size_t i = 0; i + 2 <= sizeof(text); i += 2)
		memcpy(text + i, "1-", 2);
	assert_false(ing_date_parse(text, sizeof(text), &d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_all_months),
		cmocka_unit_test(test_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
