/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Copies of rows: every string is the arena's own, and every other member is as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/arena.h"
#include "worker/model/rows.h"

#define STRING(row, member) offsetof(struct ing_rows, row.member)

/* Every string of the rows of which there is one each. */
static const size_t strings[] = {
	offsetof(struct ing_rows, answers),
	STRING(request, link_source),
	STRING(request, link_source_id),
	STRING(request, ingest_type),
	STRING(request, base_url),
	STRING(request, ingest_request_source),
	STRING(request, release_stage),
	STRING(request, request_json),
	STRING(request, request_id),
	STRING(request, document),
	STRING(request, host),
	STRING(request, doi_prefix),
	STRING(result, ingest_type),
	STRING(result, base_url),
	STRING(result, status),
	STRING(result, terminal_url),
	STRING(result, terminal_dt),
	STRING(result, terminal_sha1hex),
	STRING(result, error_message),
	STRING(result, host),
	STRING(result, document),
	STRING(result, visits),
	STRING(file_meta, sha1hex),
	STRING(file_meta, sha256hex),
	STRING(file_meta, md5hex),
	STRING(file_meta, mimetype),
	STRING(file_meta, contains),
	STRING(pdf_meta, sha1hex),
	STRING(pdf_meta, status),
	STRING(pdf_meta, permanent_id),
	STRING(pdf_meta, update_id),
	STRING(pdf_meta, pdf_created),
	STRING(pdf_meta, pdf_version),
	STRING(pdf_meta, metadata_json),
	STRING(html_meta, sha1hex),
	STRING(html_meta, status),
	STRING(html_meta, scope),
	STRING(html_meta, biblio_json),
	STRING(html_meta, resources_json),
	STRING(grobid, sha1hex),
	STRING(grobid, grobid_version),
	STRING(grobid, status),
	STRING(grobid, fatcat_release),
	STRING(grobid, metadata_json),
	STRING(publication, url),
	STRING(publication, record_json),
	STRING(webpage, url),
	STRING(webpage, record_json),
};

static const char **string_at(struct ing_rows *rows, size_t i)
{
	return (const char **)(void *)((char *)rows + strings[i]);
}

static void a_copy_has_all_strings_of_its_own(void **state)
{
	(void)state;
	char texts[ING_ARRAY_LEN(strings)][16];
	char cdx_texts[2][8][16];
	char list_texts[2][7][16];
	struct ing_row_cdx cdx[2];
	struct ing_row_crossref crossref[2];
	struct ing_row_grobid_refs refs[2];
	struct ing_rows from = {
		.request.present = true,
		.result = {.present = true, .hit = true, .terminal_status_code = 226},
		.file_meta = {.present = true, .size_bytes = 7},
		.pdf_meta = {.present = true, .page_count = 3, .word_count = -1, .page0_width = 2},
		.html_meta = {.present = true, .has_teixml = true, .word_count = 5},
		.grobid = {.present = true, .status_code = -4},
		.cdx = cdx,
		.cdx_count = 2,
		.crossref = crossref,
		.crossref_count = 2,
		.grobid_refs = refs,
		.grobid_refs_count = 2,
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(strings); i++) {
		snprintf(texts[i], sizeof(texts[i]), "text %zu", i);
		*string_at(&from, i) = texts[i];
	}
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < 8; k++)
			snprintf(cdx_texts[i][k], sizeof(cdx_texts[i][k]), "cdx %zu %zu", i, k);
		cdx[i] = (struct ing_row_cdx){
			.url = cdx_texts[i][0],
			.datetime = cdx_texts[i][1],
			.sha1hex = cdx_texts[i][2],
			.cdx_sha1hex = cdx_texts[i][3],
			.mimetype = cdx_texts[i][4],
			.warc_path = cdx_texts[i][5],
			.record_id = cdx_texts[i][6],
			.record_date = cdx_texts[i][7],
			.warc_csize = 10 + i,
			.warc_offset = 20 + i,
		};
		for (size_t k = 0; k < 7; k++)
			snprintf(list_texts[i][k], sizeof(list_texts[i][k]), "list %zu %zu", i, k);
		crossref[i] = (struct ing_row_crossref){
			list_texts[i][0], list_texts[i][1], list_texts[i][2]};
		refs[i] = (struct ing_row_grobid_refs){
			list_texts[i][3], list_texts[i][4], list_texts[i][5], list_texts[i][6]};
	}
	struct ing_arena ar;
	struct ing_rows copy;
	ing_arena_init(&ar);
	ing_rows_copy(&ar, &from, &copy);
	memset(texts, 'x', sizeof(texts));
	memset(cdx_texts, 'x', sizeof(cdx_texts));
	memset(cdx, 'x', sizeof(cdx));
	memset(list_texts, 'x', sizeof(list_texts));
	memset(crossref, 'x', sizeof(crossref));
	memset(refs, 'x', sizeof(refs));
	for (size_t i = 0; i < ING_ARRAY_LEN(strings); i++) {
		char want[16];
		snprintf(want, sizeof(want), "text %zu", i);
		assert_string_equal(*string_at(&copy, i), want);
	}
	assert_int_equal(copy.cdx_count, 2);
	assert_string_equal(copy.cdx[0].url, "cdx 0 0");
	assert_string_equal(copy.cdx[1].url, "cdx 1 0");
	assert_string_equal(copy.cdx[1].datetime, "cdx 1 1");
	assert_string_equal(copy.cdx[1].sha1hex, "cdx 1 2");
	assert_string_equal(copy.cdx[1].cdx_sha1hex, "cdx 1 3");
	assert_string_equal(copy.cdx[1].mimetype, "cdx 1 4");
	assert_string_equal(copy.cdx[1].warc_path, "cdx 1 5");
	assert_string_equal(copy.cdx[1].record_id, "cdx 1 6");
	assert_string_equal(copy.cdx[1].record_date, "cdx 1 7");
	assert_int_equal(copy.cdx[1].warc_csize, 11);
	assert_int_equal(copy.cdx[1].warc_offset, 21);
	assert_int_equal(copy.crossref_count, 2);
	assert_int_equal(copy.grobid_refs_count, 2);
	assert_string_equal(copy.crossref[1].doi, "list 1 0");
	assert_string_equal(copy.crossref[1].indexed, "list 1 1");
	assert_string_equal(copy.crossref[1].record_json, "list 1 2");
	assert_string_equal(copy.grobid_refs[0].source, "list 0 3");
	assert_string_equal(copy.grobid_refs[1].source, "list 1 3");
	assert_string_equal(copy.grobid_refs[1].source_id, "list 1 4");
	assert_string_equal(copy.grobid_refs[1].source_ts, "list 1 5");
	assert_string_equal(copy.grobid_refs[1].refs_json, "list 1 6");
	assert_true(copy.html_meta.has_teixml);
	assert_int_equal(copy.html_meta.word_count, 5);
	assert_int_equal(copy.grobid.status_code, -4);
	assert_true(copy.request.present && copy.result.present && copy.result.hit);
	assert_int_equal(copy.result.terminal_status_code, 226);
	assert_int_equal(copy.file_meta.size_bytes, 7);
	assert_int_equal(copy.pdf_meta.page_count, 3);
	assert_int_equal(copy.pdf_meta.word_count, -1);
	ing_arena_done(&ar);
}

/* A pointer that is added to a row must be copied, too: the list above has to have it. */
static void no_string_is_forgotten(void **state)
{
	(void)state;
	const size_t not_strings =
		sizeof(struct ing_rows) - ING_ARRAY_LEN(strings) * sizeof(const char *);
	/* present of six rows, hit, status code and retry_after, size, three flags and five numbers of a PDF, a flag and a
	 * number of a page, a code, with padding; of two records present, how, and five numbers; three arrays
	 * and their lengths. */
	assert_int_equal(not_strings, 8 + 32 + 16 + 40 + 24 + 16 + 2 * 56 + 3 * 16);
	assert_int_equal(sizeof(struct ing_row_cdx), 10 * sizeof(uint64_t));
	assert_int_equal(sizeof(struct ing_row_crossref), 3 * sizeof(uint64_t));
	assert_int_equal(sizeof(struct ing_row_grobid_refs), 4 * sizeof(uint64_t));
}

static void what_is_absent_stays_absent(void **state)
{
	(void)state;
	struct ing_arena ar;
	struct ing_rows copy;
	static const struct ing_rows none;
	ing_arena_init(&ar);
	ing_rows_copy(&ar, &none, &copy);
	assert_memory_equal(&copy, &none, sizeof(none));
	assert_false(ing_rows_any(&copy));
	assert_true(ing_rows_any(&(struct ing_rows){.result.present = true}));
	assert_true(ing_rows_any(&(struct ing_rows){.cdx_count = 1}));
	assert_true(ing_rows_any(&(struct ing_rows){.html_meta.present = true}));
	assert_true(ing_rows_any(&(struct ing_rows){.grobid.present = true}));
	assert_true(ing_rows_any(&(struct ing_rows){.publication.present = true}));
	assert_true(ing_rows_any(&(struct ing_rows){.webpage.present = true}));
	assert_true(ing_rows_any(&(struct ing_rows){.crossref_count = 1}));
	assert_true(ing_rows_any(&(struct ing_rows){.grobid_refs_count = 1}));
	ing_arena_done(&ar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_has_all_strings_of_its_own),
		cmocka_unit_test(no_string_is_forgotten),
		cmocka_unit_test(what_is_absent_stays_absent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
