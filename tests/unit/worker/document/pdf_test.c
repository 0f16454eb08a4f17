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
	ing_document_pdf(file.data, file.len, NULL, NULL, ret);
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
	{.file = "password.pdf", .status = "parse-error", .error = "without a password"},
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

static void reads_all_of_the_info_dictionary(void **state)
{
	(void)state;
	struct ing_pdf got;
	read_pdf("odd_info.pdf", &got);
	assert_string_equal(got.status, "success");
	assert_null(got.created);
	json_t *info = json_loads(got.info_json, 0, NULL);
	assert_info(info, "Title", "— “quoted” € 5 über");
	assert_info(info, "Author", "Zoë Řezníček");
	assert_info(info, "Subject", "ü");
	assert_info(info, "Keywords", "bü");
	assert_info(info, "Creator", "A𝒳");
	assert_info(info, "Producer", "tab\there");
	assert_info(info, "CreationDate", "spring of 2019");
	assert_info(info, "ModDate", "2019-01-01T00:00:00Z");
	assert_info(info, "SourceModified", "2019-04-22T13:30:00+02:00");
	assert_info(info, "doi", "10.1234/tides.41");
	assert_info(info, "Two words", "3");
	assert_info(info, "Trapped", "False");
	assert_info(info, "Copies", "3");
	assert_info(info, "Ratio", "1.5");
	assert_info(info, "Signed", "true");
	assert_int_equal(json_object_size(info), 15);
	json_decref(info);
	ing_pdf_done(&got);
}

static void takes_so_many_info_keys_and_the_wanted_ones(void **state)
{
	(void)state;
	struct ing_pdf got;
	read_pdf("many_keys.pdf", &got);
	json_t *info = json_loads(got.info_json, 0, NULL);
	assert_int_equal(json_object_size(info), ING_MAX_PDF_INFO_KEYS);
	assert_info(info, "Title", "Found");
	assert_info(info, "doi", "10.1234/5");
	json_decref(info);
	ing_pdf_done(&got);
}

/* The text and what can be decoded are there all the same. */
static void undecodable_info_is_a_status(void **state)
{
	(void)state;
	struct ing_pdf got;
	read_pdf("bad_unicode.pdf", &got);
	assert_string_equal(got.status, "bad-unicode");
	assert_non_null(strstr(got.error_msg, "Title"));
	assert_non_null(strstr(got.text, "some words"));
	assert_string_equal(got.info_json, "{\"Author\":\"Ada Quill\",\"Title\":\"A\uFFFDB\"}");
	ing_pdf_done(&got);
	read_pdf("bad_key.pdf", &got);
	assert_string_equal(got.status, "bad-unicode");
	assert_string_equal(got.info_json, "{\"Titl\uFFFD\":\"Tides\"}");
	ing_pdf_done(&got);
}

/* The two bytes big-endian at `at` of a JPEG's frame header. */
static int frame_field(const struct ing_pdf_thumbnail *t, size_t at)
{
	const unsigned char *sof = memmem(t->data, t->bytes, "\xff\xc0\x00\x11\x08", 5);
	assert_non_null(sof);
	return sof[at] << 8 | sof[at + 1];
}

/* clang-format off */
static const struct {
	const char *file;
	int width, height; /* 0: no thumbnail */
} pictures[] = {
	{"article.pdf", 180, 255}, /* 595 x 842 points */
	{"tall.pdf", 30, 300},
	{"wide.pdf", 180, 18},
	{"small.pdf", 90, 60}, /* is not made larger */
	{"rotated.pdf", 150, 300},
	{"huge_page.pdf", 180, 180},
	{"flat_page.pdf", 180, 1},
	{"text_bomb.pdf", 180, 180},
	{"permissions.pdf", 180, 255},
	{"password.pdf", 0, 0},
	{"no_page0.pdf", 0, 0},
};
/* clang-format on */

static void draws_the_first_page(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(pictures); i++) {
		struct ing_pdf got;
		print_message("%s\n", pictures[i].file);
		read_pdf(pictures[i].file, &got);
		const struct ing_pdf_thumbnail *t = &got.thumbnail;
		assert_int_equal(got.has_page0_thumbnail, pictures[i].width > 0);
		assert_int_equal(t->data != NULL, pictures[i].width > 0);
		if (t->data != NULL) {
			assert_memory_equal(t->data, "\xff\xd8\xff", 3);
			assert_int_equal(frame_field(t, 7), pictures[i].width);
			assert_int_equal(frame_field(t, 5), pictures[i].height);
			assert_true(t->bytes < 40000);
		}
		ing_pdf_done(&got);
	}
}

/* What is on the page is in the picture: it differs from the empty page's. */
static void the_picture_shows_the_page(void **state)
{
	(void)state;
	struct ing_pdf square;
	struct ing_pdf empty;
	struct ing_buf file;
	load("small.pdf", &file);
	square = (struct ing_pdf){0};
	ing_document_pdf(file.data, file.len, NULL, NULL, &square);
	char *paint = memmem(file.data, file.len, " re f", 5);
	assert_non_null(paint);
	memcpy(paint, " re n", 5);
	empty = (struct ing_pdf){0};
	ing_document_pdf(file.data, file.len, NULL, NULL, &empty);
	assert_true(square.has_page0_thumbnail && empty.has_page0_thumbnail);
	assert_true(square.thumbnail.bytes > empty.thumbnail.bytes);
	ing_buf_done(&file);
	ing_pdf_done(&square);
	ing_pdf_done(&empty);
}

static void note_part(void *ctx, enum ing_pdf_part part, const struct ing_pdf *pdf)
{
	struct ing_buf *parts = ctx;
	ing_buf_printf(parts, "%d%s%s ", (int)part, pdf->text != NULL ? "t" : "",
		pdf->has_page0_thumbnail ? "p" : "");
}

static void tells_each_part_as_it_is_known(void **state)
{
	static const struct {
		const char *file, *parts;
	} all[] = {{"article.pdf", "0t 1t 2tp "}, {"text_bomb.pdf", "0 1 2p "},
		{"password.pdf", "0 "}, {"renamed_zip.pdf", "0 "}};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(all); i++) {
		struct ing_buf file;
		struct ing_buf parts;
		struct ing_pdf got = {0};
		load(all[i].file, &file);
		ing_buf_init(&parts, 1000);
		ing_document_pdf(file.data, file.len, note_part, &parts, &got);
		assert_string_equal(ing_buf_str(&parts), all[i].parts);
		ing_buf_done(&file);
		ing_buf_done(&parts);
		ing_pdf_done(&got);
	}
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
		ing_document_pdf(file.data, n, NULL, NULL, &got);
		assert_non_null(got.status);
		ing_pdf_done(&got);
		file.data[n] ^= 0x15;
		ing_document_pdf(file.data, file.len, NULL, NULL, &got);
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

/* clang-format off */
static const struct {
	const char *lines, *want;
} divided[] = {
	{"", ""},
	{"one\ntwo", "one\ntwo"},
	{"exam-\nple, it is", "example,\nit is"},
	{"exam-\nple\nit is", "example\nit is"},
	{"exam-\nple", "example"},
	{"inter-\nnation-\nally so", "internationally\nso"},
	{"Bei\u00adspiel bei\u00ad\nspiel \u00fcb\u2010\n\u00fcben", "Bei\u00adspiel beispiel\n\u00fcb\u00fcben"},
	{"поез-\nда ушли", "поезда\nушли"},
	{"COVID-\nrelated", "COVID-\nrelated"},
	{"well-\nKnown", "well-\nKnown"},
	{"1990-\n1994 a -\nb -\n", "1990-\n1994 a -\nb -\n"},
	{"-\nb", "-\nb"},
	{"a-", "a-"},
	{"a-\n", "a-\n"},
	{"\xff-\nb", "\xff-\nb"},
	{"\x80\x80\x80\x80\x80-\nb", "\x80\x80\x80\x80\x80-\nb"},
};
/* clang-format on */

static void joins_words_that_lines_divide(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(divided); i++) {
		char *s = ing_strdup(divided[i].lines);
		size_t bytes = ing_words_join_lines(s, strlen(s));
		assert_string_equal(s, divided[i].want);
		assert_int_equal(bytes, strlen(divided[i].want));
		free(s);
	}
}

/* Two columns, drawn one after the other, and row by row across both. */
static void reads_columns_in_their_order(void **state)
{
	static const char *const files[] = {"columns.pdf", "rows.pdf"};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(files); i++) {
		struct ing_pdf got;
		read_pdf(files[i], &got);
		const char *left = strstr(got.text, "the last line of the left one");
		const char *right = strstr(got.text, "Here begins the right column");
		assert_true(left != NULL && right != NULL && left < right);
		assert_non_null(strstr(got.text, "its lines are divided\nhere"));
		ing_pdf_done(&got);
	}
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
		cmocka_unit_test(reads_all_of_the_info_dictionary),
		cmocka_unit_test(takes_so_many_info_keys_and_the_wanted_ones),
		cmocka_unit_test(undecodable_info_is_a_status),
		cmocka_unit_test(draws_the_first_page),
		cmocka_unit_test(the_picture_shows_the_page),
		cmocka_unit_test(tells_each_part_as_it_is_known),
		cmocka_unit_test(reads_every_script),
		cmocka_unit_test(facts_stay_when_the_text_is_too_large),
		cmocka_unit_test(damage_is_a_status),
		cmocka_unit_test(counts_words_and_characters),
		cmocka_unit_test(joins_words_that_lines_divide),
		cmocka_unit_test(reads_columns_in_their_order),
	};
	return cmocka_run_group_tests(tests, warm, NULL);
}
