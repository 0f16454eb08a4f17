/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A text as a date and as each identifier. A date that is found exists, and written down it reads
 * as itself; an identifier that is found is one.
 */
#include "tests/fuzz/target.h"

#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"
#include "worker/scrape/biblio/date.h"
#include "worker/scrape/biblio/ident.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 500, .heap_kb = 20, .heap_byte = 5);

static void check_date(const char *s, size_t bytes)
{
	struct ing_date date, again;
	char text[32];
	if (!ing_date_parse(s, bytes, &date))
		return;
	ing_must(date.year >= 1000 && date.year <= 2200);
	ing_must(date.month >= 0 && date.month <= 12 && date.day >= 0 && date.day <= 31);
	ing_must(date.month > 0 || date.day == 0);
	int n = snprintf(text, sizeof(text), "%04d-%02d-%02d", date.year, date.month, date.day);
	ing_must(ing_date_parse(text, (size_t)n, &again));
	ing_must(memcmp(&date, &again, sizeof(date)) == 0);
}

static bool find_doi(const char *s, size_t bytes, struct ing_buf *ret)
{
	return ing_ident_doi(s, bytes, false, ret);
}

static bool find_doi_upper(const char *s, size_t bytes, struct ing_buf *ret)
{
	return ing_ident_doi(s, bytes, true, ret);
}

typedef bool find_f(const char *s, size_t bytes, struct ing_buf *ret);

/* `find` in the text; what it gives is whole by `check`, which gives it back unchanged. */
static void check_ident(find_f *find, find_f *check, const char *s, size_t bytes)
{
	struct ing_buf id, again;
	ing_buf_init(&id, 4096);
	ing_buf_init(&again, 4096);
	if (find(s, bytes, &id)) {
		ing_must(id.len > 0 && ing_utf8_valid(id.data, id.len));
		ing_must(check(id.data, id.len, &again));
		ing_must(again.len == id.len && memcmp(again.data, id.data, id.len) == 0);
	} else {
		ing_must(id.len == 0);
	}
	ing_buf_done(&id);
	ing_buf_done(&again);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	check_date(s, size);
	check_ident(find_doi, find_doi, s, size);
	check_ident(find_doi_upper, find_doi_upper, s, size);
	check_ident(ing_ident_doi_in, find_doi, s, size);
	check_ident(ing_ident_pmid, ing_ident_pmid, s, size);
	check_ident(ing_ident_pmid_in, ing_ident_pmid, s, size);
	check_ident(ing_ident_pmcid, ing_ident_pmcid, s, size);
	check_ident(ing_ident_pmcid_in, ing_ident_pmcid, s, size);
	check_ident(ing_ident_issn, ing_ident_issn, s, size);
	check_ident(ing_ident_isbn13, ing_ident_isbn13, s, size);
	check_ident(ing_ident_orcid, ing_ident_orcid, s, size);
}
