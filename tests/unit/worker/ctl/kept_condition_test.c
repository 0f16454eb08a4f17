/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Conditions as people write them, as SQL; and that no text of theirs is ever SQL.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "worker/ctl/publication/kept_condition.h"

static const struct {
	const char *text, *sql, *values; /* each value with | behind it */
} good[] = {
	{"abstract.size > 200", "coalesce(abstract_size > $1::bigint, false)", "200|"},
	{"journal = 'O''Neil'", "coalesce(journal = $1::text, false)", "O'Neil|"},
	{"journal = \"a 'b'\"", "coalesce(journal = $1::text, false)", "a 'b'|"},
	{"oa", "coalesce(oa, false)", ""},
	{"not oa", "NOT (coalesce(oa, false))", ""},
	{"oa != true", "NOT coalesce(oa = $1::boolean, false)", "true|"},
	{"abstract", "coalesce(coalesce(abstract_size > 0, false), false)", ""},
	{"pmid", "(pmid) IS NOT NULL", ""},
	{"pmid is null", "(pmid) IS NULL", ""},
	{"preprint IS NOT NULL", "(preprint) IS NOT NULL", ""},
	{"pub_date >= 2016-04", "coalesce(pub_date >= $1::text, false)", "2016-04|"},
	{"host = WWW.Nature.com",
		"coalesce(hosts @> ARRAY[regexp_replace(lower($1::text), '^www[.]', '')], false)",
		"WWW.Nature.com|"},
	{"host !~ 'nature'",
		"NOT coalesce(EXISTS (SELECT FROM unnest(hosts) AS host WHERE host ~ $1::text),"
		" false)",
		"nature|"},
	{"title ~* 'crab' and citations<5 or final",
		"coalesce(title ~* $1::text, false) AND coalesce(citations < $2::bigint, false)"
		" OR coalesce(final, false)",
		"crab|5|"},
	{"(oa or preprint) and not (final)",
		"(coalesce(oa, false) OR coalesce(preprint, false)) AND NOT ((coalesce(final,"
		" false)))",
		""},
	{"doi in ('10.1/A', 10.1/B)",
		"(coalesce(doi = $1::text, false) OR coalesce(doi = $2::text, false))",
		"10.1/A|10.1/B|"},
	{"fulltext.type = pdf_doi", "coalesce(fulltext_type = $1::text, false)", "pdf_doi|"},
	{"title.type better citation",
		"coalesce(title_type IN ('europepmc', 'europepmc_xml', 'europepmc_html',"
		" 'pubmed_xml', 'pubmed_html', 'pmc_xml', 'pmc_html', 'doi', 'link',"
		" 'link_oadoi'), false)",
		""},
	{"title.type worse webpage", "coalesce(title_type IN ('na'), false)", ""},
	{"title.type worse than webpage", "coalesce(title_type IN ('na'), false)", ""},
	{"title.type better doi", "coalesce(title_type IN (NULL), false)", ""},
	{"title.type worse na", "coalesce(title_type IN (NULL), false)", ""},
	{"title.usable", "coalesce((title_size >= 4), false)", ""},
	{"fulltext.usable",
		"coalesce((fulltext_size >= 2000 AND fulltext_type <> 'webpage'), false)", ""},
	{"pmid.final",
		"coalesce(((pmid IS NOT NULL) AND pmid_type IN ('europepmc', 'europepmc_xml',"
		" 'europepmc_html', 'pubmed_xml', 'pubmed_html', 'pmc_xml', 'pmc_html', 'doi',"
		" 'link', 'link_oadoi')), false)",
		""},
	{"keywords.content ~ 'tide'", "coalesce((record #>> '{keywords,list}') ~ $1::text, false)",
		"tide|"},
	{"fetch_time < '2026-01-01 10:00'",
		"coalesce(fetch_time_ms < (extract(epoch FROM $1::timestamptz) * 1000)::bigint,"
		" false)",
		"2026-01-01 10:00|"},
	{"site.type = pdf_doi",
		"coalesce(EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(visited_sites)"
		" WHEN 'array' THEN visited_sites ELSE '[]' END) AS site"
		" WHERE site ->> 'type' = $1::text), false)",
		"pdf_doi|"},
	{"licence like '%by%'", "coalesce(licence LIKE $1::text, false)", "%by%|"},
	{"journal = ''", "coalesce(journal = $1::text, false)", "|"},
	{"journal = 'x''); DROP TABLE publication; --'", "coalesce(journal = $1::text, false)",
		"x'); DROP TABLE publication; --|"},
};

static void conditions_become_sql_with_parameters(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(good); i++) {
		struct ing_condition c;
		struct ing_error err = {0};
		char want[1024];
		char values[256] = "";
		ing_condition_init(&c, ING_TABLE_PUBLICATION);
		if (ing_condition_add(&c, good[i].text, &err) != 0)
			fail_msg("%s: %s", good[i].text, err.msg);
		snprintf(want, sizeof(want), "true AND (%s)", good[i].sql);
		assert_string_equal(ing_buf_str(&c.sql), want);
		for (int k = 0; k < c.value_count; k++)
			snprintf(values + strlen(values), sizeof(values) - strlen(values), "%s|",
				c.values[k]);
		assert_string_equal(values, good[i].values);
		ing_condition_done(&c);
	}
}

static const struct {
	const char *text, *words;
} bad[] = {
	{"", "a name is expected"},
	{"abstract.siz > 3", "no such name (did you mean abstract?)"},
	{"jurnal = x", "did you mean journal?"},
	{"pmid.size > 3", "no such name"},
	{"title_type = x", "no such name"},
	{"record = x", "no such name"},
	{"1 = 1", "no such name"},
	{"pg_sleep(1)", "no such name"},
	{"oa and", "a name is expected at its end"},
	{"oa oa", "and, or, or the end is expected"},
	{"(oa", ") is expected"},
	{"oa)", "and, or, or the end"},
	{"oa = maybe", "true or false is expected"},
	{"oa > true", "cannot be compared like that"},
	{"citations > many", "a number is expected"},
	{"citations > 1e3", "a number is expected"},
	{"citations ~ 3", "cannot be compared like that"},
	{"citations > 9999999999999999999", "a number is expected"},
	{"pub_date > 16-04", "a day is expected"},
	{"pub_date > 2016-4", "a day is expected"},
	{"title.type = paper", "no such type"},
	{"title.type better", "a value is expected"},
	{"journal better doi", "cannot be compared like that"},
	{"host > 'a'", "cannot be compared like that"},
	{"journal = 'x", "a quote without its end"},
	{"journal =", "a value is expected"},
	{"journal in x", "( is expected"},
	{"journal in (x", ") is expected"},
	{"oa is nul", "null is expected"},
	{"journal = x; drop table publication", "and, or, or the end"},
	{"((((((((((((((((((((((((((((((((((((((((((oa))))))))))))))))))))))))))))))))))))))))))",
		"nested too deep"},
	{"pmid in (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31)",
		"too many values"},
};

static void what_is_not_understood_is_said_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(bad); i++) {
		struct ing_condition c;
		struct ing_error err = {0};
		ing_condition_init(&c, ING_TABLE_PUBLICATION);
		if (ing_condition_add(&c, bad[i].text, &err) == 0)
			fail_msg("%s: is understood", bad[i].text);
		if (strstr(err.msg, bad[i].words) == NULL)
			fail_msg("%s: %s", bad[i].text, err.msg);
		ing_condition_done(&c);
	}
}

static void several_conditions_hold_together(void **state)
{
	(void)state;
	struct ing_condition c;
	struct ing_error err = {0};
	ing_condition_init(&c, ING_TABLE_WEBPAGE);
	assert_int_equal(ing_condition_add(&c, "broken or empty", &err), 0);
	assert_int_equal(ing_condition_add_value(&c, "host", "=", "a' or 1", &err), 0);
	assert_string_equal(ing_buf_str(&c.sql),
		"true AND (coalesce(broken, false) OR coalesce(empty, false)) AND coalesce(host ="
		" $1::text, false)");
	assert_string_equal(c.values[0], "a' or 1");
	ing_condition_done(&c);
}

static const struct {
	const char *text, *sql; /* NULL: refused */
} orders[] = {
	{"citations:desc,pub_date", "citations DESC NULLS LAST, pub_date NULLS LAST, id"},
	{"fulltext.size:asc", "fulltext_size NULLS LAST, id"},
	{"", "id"},
	{"site.url", NULL},
	{"citations:down", NULL},
	{"citations desc", NULL},
	{"1; drop table publication", NULL},
};

static void order_is_by_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(orders); i++) {
		struct ing_buf out;
		struct ing_error err = {0};
		ing_buf_init(&out, 4096);
		int rc = ing_condition_order(ING_TABLE_PUBLICATION, orders[i].text, &out, &err);
		assert_int_equal(rc == 0, orders[i].sql != NULL);
		if (rc == 0)
			assert_string_equal(ing_buf_str(&out), orders[i].sql);
		ing_buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_become_sql_with_parameters),
		cmocka_unit_test(what_is_not_understood_is_said_with_its_place),
		cmocka_unit_test(several_conditions_hold_together),
		cmocka_unit_test(order_is_by_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
