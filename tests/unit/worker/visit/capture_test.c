/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Captures as index lines and rows: which have one, and whose digest it names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "worker/visit/capture.h"
#include "worker/visit/originals.h"

/* SHA-1 of nothing */
#define SENT_B32 "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
#define SENT_HEX "da39a3ee5e6b4b0d3255bfef95601890afd80709"
#define DECODED_HEX "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct ing_capture capture_of(int http_status)
{
	return (struct ing_capture){
		.url = "https://a.example/p.pdf",
		.datetime = "20261121110000",
		.mimetype = "application/pdf",
		.http_status = http_status,
		.archive = {.warc_name = "T-1.warc.gz",
			.payload_sha1b32 = SENT_B32,
			.offset = 101,
			.csize = 10},
	};
}

static void an_index_line_points_to_the_response(void **state)
{
	(void)state;
	struct ing_capture c = capture_of(404);
	struct ing_buf surt;
	struct ing_cdx line;
	ing_buf_init(&surt, 10000);
	assert_true(ing_capture_line(&c, &surt, &line));
	assert_string_equal(line.surt, "example,a)/p.pdf");
	assert_string_equal(line.sha1b32, SENT_B32);
	assert_int_equal(line.offset, 101);
	assert_int_equal(line.status, 404);
	c.archive.warc_name[0] = '\0';
	assert_false(ing_capture_line(&c, &surt, &line));
	ing_buf_done(&surt);
}

/* What an examiner says is believed only of what could be decoded. */
static void a_row_names_the_decoded_body(void **state)
{
	/* clang-format off */
	static const struct {
		int http_status;
		bool coded, gzip;
		const char *body_sha1hex;
		const char *sha1hex, *cdx_sha1hex; /* sha1hex NULL: there is no row */
	} cases[] = {
		{.http_status = 200, .sha1hex = SENT_HEX},
		{.http_status = 226, .sha1hex = SENT_HEX},
		{.http_status = 404},
		{.http_status = 302},
		{.http_status = 200, .coded = true, .body_sha1hex = DECODED_HEX,
			.sha1hex = DECODED_HEX, .cdx_sha1hex = SENT_HEX},
		{.http_status = 200, .gzip = true, .body_sha1hex = DECODED_HEX,
			.sha1hex = DECODED_HEX, .cdx_sha1hex = SENT_HEX},
		{.http_status = 200, .body_sha1hex = DECODED_HEX, .sha1hex = SENT_HEX},
		{.http_status = 200, .coded = true, .body_sha1hex = SENT_HEX, .sha1hex = SENT_HEX},
		{.http_status = 200, .coded = true, .sha1hex = SENT_HEX},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_capture c = capture_of(cases[i].http_status);
		struct ing_row_cdx row;
		char hex[ING_SHA1_HEX_BYTES];
		c.coded = cases[i].coded;
		c.archive.gzip = cases[i].gzip;
		c.body_sha1hex = cases[i].body_sha1hex;
		assert_int_equal(ing_capture_row(&c, hex, &row), cases[i].sha1hex != NULL);
		if (cases[i].sha1hex == NULL)
			continue;
		assert_string_equal(row.sha1hex, cases[i].sha1hex);
		assert_string_equal(row.cdx_sha1hex != NULL ? row.cdx_sha1hex : "",
			cases[i].cdx_sha1hex != NULL ? cases[i].cdx_sha1hex : "");
		assert_string_equal(row.warc_path, "T-1.warc.gz");
	}
}

static void what_is_in_no_file_has_no_row(void **state)
{
	(void)state;
	struct ing_capture c = capture_of(200);
	struct ing_row_cdx row;
	char hex[ING_SHA1_HEX_BYTES];
	c.archive.payload_sha1b32[0] = '\0';
	assert_false(ing_capture_row(&c, hex, &row));
	c = capture_of(200);
	c.archive.warc_name[0] = '\0';
	assert_false(ing_capture_row(&c, hex, &row));
}

static const struct ing_original original = {
	.record = {.url = "https://a.example/p.pdf"},
	.row = {.url = "https://a.example/p.pdf",
		.datetime = "20261001110000",
		.mimetype = "application/pdf",
		.warc_path = "T-0.warc.gz",
		.warc_csize = 9000,
		.warc_offset = 11,
		.record_id = "01234567-89ab-4def-8123-456789abcdef",
		.record_date = "2026-10-01T11:00:00.123456Z"},
};

static void a_revisit_is_called_so_and_brings_its_original(void **state)
{
	(void)state;
	struct ing_capture c = capture_of(200);
	struct ing_buf surt;
	struct ing_cdx line;
	struct ing_row_cdx rows[ING_CAPTURE_ROWS];
	char hex[ING_SHA1_HEX_BYTES];
	size_t count = 0;
	c.original = &original;
	c.coded = true;
	c.body_sha1hex = DECODED_HEX;
	ing_buf_init(&surt, 10000);
	assert_true(ing_capture_line(&c, &surt, &line));
	assert_string_equal(line.mimetype, "warc/revisit");
	assert_int_equal(line.status, 200);
	assert_int_equal(line.offset, 101);
	ing_buf_done(&surt);
	ing_capture_add_rows(&c, hex, rows, &count);
	assert_int_equal(count, 2);
	assert_string_equal(rows[0].datetime, "20261001110000");
	assert_string_equal(rows[0].mimetype, "application/pdf");
	assert_string_equal(rows[0].warc_path, "T-0.warc.gz");
	assert_string_equal(rows[0].record_id, original.row.record_id);
	assert_string_equal(rows[1].mimetype, "warc/revisit");
	assert_string_equal(rows[1].warc_path, "T-1.warc.gz");
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(rows[i].sha1hex, DECODED_HEX);
		assert_string_equal(rows[i].cdx_sha1hex, SENT_HEX);
	}
	/* One that the table has already is left alone. */
	struct ing_original known = original;
	known.indexed = true;
	c.original = &known;
	count = 0;
	ing_capture_add_rows(&c, hex, rows, &count);
	assert_int_equal(count, 1);
	assert_string_equal(rows[0].mimetype, "warc/revisit");
	/* What has no row itself brings none. */
	c.http_status = 404;
	c.original = &original;
	count = 0;
	ing_capture_add_rows(&c, hex, rows, &count);
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_index_line_points_to_the_response),
		cmocka_unit_test(a_row_names_the_decoded_body),
		cmocka_unit_test(what_is_in_no_file_has_no_row),
		cmocka_unit_test(a_revisit_is_called_so_and_brings_its_original),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
