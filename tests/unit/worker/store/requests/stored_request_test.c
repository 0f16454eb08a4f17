/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows as lines: known ones, and back through the parser to the row and the identity that they came from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "worker/model/request.h"
#include "worker/model/request_row.h"
#include "worker/store/requests/selection.h"

static void known_lines(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		struct ing_stored_request row;
		bool force, created;
		const char *want;
	} cases[] = {
		{"least",
			{.ingest_type = "pdf",
				.base_url = "u",
				.link_source = "",
				.link_source_id = "",
				.request_json = "{}"},
			false, false, "{\"ingest_type\":\"pdf\",\"base_url\":\"u\"}"},
		{"a row of before",
			{.ingest_type = "pdf",
				.base_url = "u",
				.link_source = "doi",
				.link_source_id = "1"},
			false, false,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"u\",\"link_source\":\"doi\",\"link_source_id\":\"1\"}"},
		{"all",
			{.ingest_type = "pdf",
				.base_url = "u",
				.link_source = "s",
				.link_source_id = "i",
				.ingest_request_source = "r",
				.release_stage = "published",
				.created = "2026-11-23T00:00:00Z",
				.request_json =
					"{\"rel\": \"x\", \"ext_ids\": {\"doi\": \"10.1/a,}\\\"\", \"l\": [1, {\"a\": []}]}}"},
			true, true,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"u\",\"link_source\":\"s\",\"link_source_id\":\"i\","
			"\"ingest_request_source\":\"r\",\"release_stage\":\"published\",\"rel\":\"x\","
			"\"ext_ids\":{\"doi\": \"10.1/a,}\\\"\", \"l\": [1, {\"a\": []}]},"
			"\"force_recrawl\":true,\"created\":\"2026-11-23T00:00:00Z\"}"},
		{"escapes", {.ingest_type = "pdf", .base_url = "http://x/\\a\"b\tc\nd\x01é"}, false,
			false,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"http://x/\\\\a\\\"b\\tc\\nd\\u0001é\"}"},
		{"numbers stay as they are",
			{.ingest_type = "pdf",
				.base_url = "u",
				.request_json =
					"{\"n\": 123456789012345678901234567890.000000000000000000010, \"m\": -0.0}"},
			false, false,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"u\","
			"\"n\":123456789012345678901234567890.000000000000000000010,\"m\":-0.0}"},
		{"a derived URL is not given",
			{.ingest_type = "pdf",
				.base_url = "https://doi.org/10.1/a",
				.request_json =
					"{\"ext_ids\": {\"doi\": \"10.1/a\"}, \"base_url\": null}"},
			false, false,
			"{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\": \"10.1/a\"}}"},
		{"an alias of the type",
			{.ingest_type = "pdf",
				.base_url = "u",
				.request_json = "{\"ingest_type\": \"file\"}"},
			false, false, "{\"base_url\":\"u\",\"ingest_type\":\"file\"}"},
		{"what was taken from another member",
			{.ingest_type = "pdf",
				.base_url = "u",
				.request_json =
					"{\"fatcat\": {\"release_ident\": \"r\"}, \"release_ident\": \"r\"}"},
			false, false,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"u\",\"fatcat\":{\"release_ident\": \"r\"}}"},
		{"what was not",
			{.ingest_type = "pdf",
				.base_url = "u",
				.request_json = "{\"release_ident\": \"r\"}"},
			false, false,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"u\",\"release_ident\":\"r\"}"},
		{"no member twice",
			{.ingest_type = "pdf",
				.base_url = "u",
				.created = "c",
				.request_json =
					"{\"created\": 1, \"base_url\": \"v\", \"force_recrawl\": false, \"link_source\": 2}"},
			true, true,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"u\",\"force_recrawl\":true,\"created\":\"c\"}"},
		{"its own",
			{.ingest_type = "pdf",
				.base_url = "u",
				.request_json = "{\"force_recrawl\": true}"},
			false, false,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"u\",\"force_recrawl\":true}"},
		{"names with escapes",
			{.ingest_type = "pdf",
				.base_url = "u",
				.request_json = "{\"a\\\"b\": \"\\\\\", \"c\": 1}"},
			false, false,
			"{\"ingest_type\":\"pdf\",\"base_url\":\"u\",\"a\\\"b\":\"\\\\\",\"c\":1}"},
		{"a list in place of members",
			{.ingest_type = "pdf", .base_url = "u", .request_json = "[1, 2]"}, false,
			false, "{\"ingest_type\":\"pdf\",\"base_url\":\"u\"}"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 1 << 20);
		assert_true(ing_stored_request_line(
			&cases[i].row, cases[i].force, cases[i].created, &out));
		if (strcmp(ing_buf_str(&out), cases[i].want) != 0)
			fail_msg("%s: %s, not %s", cases[i].name, ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
	}
}

static struct ing_request *parse(const char *line)
{
	struct ing_request *r = NULL;
	struct ing_error err = {0};
	if (ing_request_parse(line, strlen(line), &r, &err) != 0)
		fail_msg("%s: %s", line, err.msg);
	return r;
}

static void a_line_makes_the_request_that_was_stored(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"{\"ingest_type\":\"pdf\",\"base_url\":\"http://x.org/\\\\a\\\\tb\\t\\n\"}",
		"{\"ingest_type\":\"file\",\"base_url\":\"http://x.org/\",\"link_source\":\"\"}",
		"{\"ingest_type\":\"dataset\",\"base_url\":\"http://x.org/\",\"link_source_id\":\"\\\\N\"}",
		"{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"10.1/a b\"},\"link_source\":\"doi\",\"link_source_id\":\"10.1/a b\"}",
		"{\"ingest_type\":\"file\",\"ext_ids\":{\"doi\":null,\"arxiv\":\"2001.00001\"},\"fatcat\":{\"release_ident\":\"abc\"}}",
		"{\"ingest_type\":\"html\",\"base_url\":null,\"ext_ids\":{\"pmcid\":\"PMC1\"},\"expect_mimetypes\":[\"text/html\"]}",
		"{\"ingest_type\":\"publication\",\"ext_ids\":{\"pmid\":\"1\"},\"parts\":[\"title\"],\"quick\":true}",
		"{\"ingest_type\":\"pdf\",\"base_url\":\"u\",\"edit_extra\":{\"n\":[1.5,{\"a\":\"\\u0001\\\"\"}]},\"force_recrawl\":true}",
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(lines); i++) {
		struct ing_arena ar;
		struct ing_row_request row;
		struct ing_row_request again;
		struct ing_buf line;
		ing_arena_init(&ar);
		ing_buf_init(&line, 1 << 20);
		struct ing_request *r = parse(lines[i]);
		ing_request_row(r, &ar, &row);
		const struct ing_stored_request stored = {.ingest_type = row.ingest_type,
			.base_url = row.base_url,
			.link_source = row.link_source,
			.link_source_id = row.link_source_id,
			.request_json = row.request_json};
		assert_true(ing_stored_request_line(&stored, false, false, &line));
		struct ing_request *back = parse(ing_buf_str(&line));
		ing_request_row(back, &ar, &again);
		assert_string_equal(r->key, back->key);
		assert_string_equal(row.request_id, again.request_id);
		assert_string_equal(row.document, again.document);
		assert_string_equal(row.request_json, again.request_json);
		ing_request_free(r);
		ing_request_free(back);
		ing_buf_done(&line);
		ing_arena_done(&ar);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_lines),
		cmocka_unit_test(a_line_makes_the_request_that_was_stored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
