/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Facts and text of small PDFs, good, odd and hostile (tests/data/make_pdf.py wrote them).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/json.h"
#include "worker/document/document.h"
#include "worker/document/words.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"

static void load(const char *name, struct ing_buf *to)
{
	char path[4096];
	snprintf(path, sizeof(path), ING_TEST_DATA "/pdf/%s", name);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	ing_buf_init(to, 1 << 20);
	void *room = ing_buf_reserve(to, 256 << 10);
	assert_non_null(room);
	ing_buf_commit(to, fread(room, 1, 256 << 10, f));
	fclose(f);
}

static void read_pdf(const char *name, struct ing_pdf *ret)
{
	struct ing_buf file;
	load(name, &file);
	*ret = (struct ing_pdf){0};
	ing_document_pdf(file.data, file.len, ret);
	ing_buf_done(&file);
	assert_non_null(ret->status);
}

/* clang-format off */
static const struct {
	const char *file, *status;
	int pages;
	uint32_t words;
	const char *text; /* somewhere in the text; NULL: there is no text */
	const char *error;
} cases[] = {
	{.file = "article.pdf", .status = "success", .pages = 2, .words = 16,
		.text = "The tide carries a buoy seven miles."},
	{.file = "junk_before.pdf", .status = "success", .pages = 2, .words = 16,
		.text = "Two words"},
	{.file = "scripts.pdf", .status = "success", .pages = 1, .words = 4, .text = "кириллица"},
	{.file = "permissions.pdf", .status = "success", .pages = 1, .words = 2,
		.text = "locked words"},
	{.file = "page_tree_loop.pdf", .status = "success", .pages = 9, .words = 1, .text = "once"},
	{.file = "object_loop.pdf", .status = "success", .pages = 1, .words = 1, .text = "seen"},
	{.file = "password.pdf", .status = "parse-error", .error = "encrypted"},
	{.file = "truncated.pdf", .status = "parse-error", .error = "damaged"},
	{.file = "header_only.pdf", .status = "parse-error", .error = "damaged"},
	{.file = "no_pages.pdf", .status = "empty-pdf", .error = "no pages"},
	{.file = "no_page0.pdf", .status = "empty-page0", .pages = 1, .error = "first page"},
	{.file = "text_bomb.pdf", .status = "text-too-large", .pages = 30,
		.error = "1000000 characters"},
	{.file = "renamed_zip.pdf", .status = "not-pdf"},
};
/* clang-format on */

static void says_how_it_went(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_pdf got;
		print_message("%s\n", cases[i].file);
		read_pdf(cases[i].file, &got);
		assert_string_equal(got.status, cases[i].status);
		assert_int_equal(got.page_count, cases[i].pages);
		assert_int_equal(got.word_count, cases[i].words);
		assert_int_equal(got.text != NULL, cases[i].text != NULL);
		assert_int_equal(got.error_msg != NULL, cases[i].error != NULL);
		if (got.text != NULL) {
			assert_non_null(strstr(got.text, cases[i].text));
			assert_true(ing_utf8_valid(got.text, strlen(got.text)));
		}
		if (got.error_msg != NULL)
			assert_non_null(strstr(got.error_msg, cases[i].error));
		ing_pdf_done(&got);
	}
}

static void assert_info(json_t *info, const char *key, const char *want)
{
	assert_string_equal(json_string_value(json_object_get(info, key)), want);
}

static void reads_facts(void **state)
{
	(void)state;
	struct ing_pdf got;
	read_pdf("article.pdf", &got);
	assert_true(got.page0_width == 595.0);
	assert_true(got.page0_height == 842.0);
	assert_string_equal(got.pdf_version, "1.5");
	assert_string_equal(got.permanent_id, "000102030405060708090a0b0c0d0e0f");
	assert_string_equal(got.update_id, "0f0e0d0c0b0a09080706050403020100");
	assert_string_equal(got.created, "2019-04-22T13:30:00+02:00");
	assert_non_null(strstr(got.meta_xml, "<x:xmpmeta"));
	json_t *info = json_loads(got.info_json, 0, NULL);
	assert_int_equal(json_object_size(info), 8);
	assert_info(info, "Title", "Über das Treiben von Bojen");
	assert_info(info, "Author", "Ada Quill");
	assert_info(info, "Subject", "Drift");
	assert_info(info, "Keywords", "buoy, tide");
	assert_info(info, "Creator", "make_pdf");
	assert_info(info, "Producer", "make_pdf 1");
	assert_info(info, "CreationDate", "2019-04-22T13:30:00+02:00");
	assert_info(info, "ModDate", "2019-04-23T08:09:10Z");
	json_decref(info);
	/* Each page ends in a form feed. */
	const char *end = strchr(got.text, '\f');
	assert_non_null(end);
	assert_non_null(strstr(end, "Two words"));
	assert_string_equal(strrchr(got.text, '\f'), "\f");
	ing_pdf_done(&got);
}

static void absent_facts_are_absent(void **state)
{
	(void)state;
	struct ing_pdf got;
	read_pdf("page_tree_loop.pdf", &got);
	assert_null(got.created);
	assert_null(got.meta_xml);
	assert_string_equal(got.info_json, "{}");
	ing_pdf_done(&got);
	read_pdf("permissions.pdf", &got); /* the user's password is empty: opened and decrypted */
	assert_string_equal(got.info_json, "{\"Title\":\"Locked\"}");
	ing_pdf_done(&got);
}

static void reads_every_script(void **state)
{
	static const char *const words[] = {"Ελληνικά", "кириллица", "漢字", "𝒳"};
	(void)state;
	struct ing_pdf got;
	read_pdf("scripts.pdf", &got);
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++)
		assert_non_null(strstr(got.text, words[i]));
	ing_pdf_done(&got);
}

static void facts_stay_when_the_text_is_too_large(void **state)
{
	(void)state;
	struct ing_pdf got;
	read_pdf("text_bomb.pdf", &got);
	assert_string_equal(got.pdf_version, "1.7");
	assert_true(got.page0_width == 2000.0);
	assert_null(got.text);
	assert_null(got.meta_xml);
	ing_pdf_done(&got);
}

/* Every prefix and every file with one byte changed is some status, and no crash. */
static void damage_is_a_status(void **state)
{
	(void)state;
	struct ing_buf file;
	load("article.pdf", &file);
	for (size_t n = 0; n < file.len; n += 37) {
		struct ing_pdf got = {0};
		ing_document_pdf(file.data, n, &got);
		assert_non_null(got.status);
		ing_pdf_done(&got);
		file.data[n] ^= 0x15;
		ing_document_pdf(file.data, file.len, &got);
		assert_non_null(got.status);
		ing_pdf_done(&got);
		file.data[n] ^= 0x15;
	}
	ing_buf_done(&file);
}

/* clang-format off */
static const struct {
	const char *text;
	uint32_t words;
	size_t chars;
} counted[] = {
	{.text = ""},
	{.text = " \t\n\f ", .chars = 5},
	{.text = "one", .words = 1, .chars = 3},
	{.text = " one  two\n", .words = 2, .chars = 10},
	{.text = "ein\u00a0Wort\u3000mehr", .words = 3, .chars = 13},
	{.text = "a\u2003" "b\u200a" "c\u2028d\xc2\x85" "e", .words = 5, .chars = 9},
	{.text = "a\u200b" "b", .words = 1, .chars = 3}, /* zero width space is no white space */
	{.text = "漢字", .words = 1, .chars = 2},
};
/* clang-format on */

static void counts_words_and_characters(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(counted); i++) {
		assert_int_equal(ing_words_count(counted[i].text), counted[i].words);
		assert_int_equal(ing_words_chars(counted[i].text, strlen(counted[i].text)),
			counted[i].chars);
	}
	assert_int_equal(ing_words_cut("äöü", 2), 4);
	assert_int_equal(ing_words_cut("äöü", 0), 0);
	assert_int_equal(ing_words_cut("äöü", 9), 6);
}

static int warm(void **state)
{
	(void)state;
	ing_document_warm();
	ing_document_warm();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_how_it_went),
		cmocka_unit_test(reads_facts),
		cmocka_unit_test(absent_facts_are_absent),
		cmocka_unit_test(reads_every_script),
		cmocka_unit_test(facts_stay_when_the_text_is_too_large),
		cmocka_unit_test(damage_is_a_status),
		cmocka_unit_test(counts_words_and_characters),
	};
	return cmocka_run_group_tests(tests, warm, NULL);
}
