/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines of lists as rows, dealt out to streams and sorted.
 */
#include "worker/store/requests/load_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/store/requests/load_line.h"

#define STREAMS 4

/* A load that goes on with another version of the program must find its rows where they were. */
static void streams_of_keys_stay_as_they_are(void **state)
{
	(void)state;
	static const struct {
		const char *key;
		unsigned streams, want;
	} cases[] = {
		{"", 16, 14},
		{"doi\00010.1/a\0pdf\0https://a.example/", 16, 11},
		{"doi\00010.1/b\0pdf\0https://a.example/", 16, 6},
		{"doi\00010.1/b\0pdf\0https://a.example/", 1, 0},
		{"doi\00010.1/b\0pdf\0https://a.example/", 3, 1},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		size_t bytes = i == 0 ? 0 : sizeof("doi\00010.1/a\0pdf\0https://a.example/") - 1;
		assert_int_equal(
			ing_load_stream_of(cases[i].key, bytes, cases[i].streams), cases[i].want);
	}
}

static void streams_get_about_the_same(void **state)
{
	(void)state;
	unsigned rows[STREAMS] = {0};
	for (unsigned i = 0; i < 10000; i++) {
		char key[64];
		int n = snprintf(key, sizeof(key), "https://a.example/%u", i);
		rows[ing_load_stream_of(key, (size_t)n, STREAMS)]++;
	}
	for (unsigned i = 0; i < STREAMS; i++)
		assert_in_range(rows[i], 2300, 2700);
}

static int load(const char *line, struct ing_load_share *share, struct ing_error *err)
{
	*err = (struct ing_error){0};
	return ing_load_line(line, strlen(line), "2026-01-02T03:04:05Z", share, 1, err);
}

#define LINE(source, id, url)                                                                      \
	"{\"ingest_type\":\"pdf\",\"link_source\":\"" source "\",\"link_source_id\":\"" id         \
	"\",\"base_url\":\"" url "\"}"

static void a_batch_has_each_key_once_in_order(void **state)
{
	(void)state;
	/* As COLLATE "C" orders columns one after the other: a shorter first column comes before all longer ones. */
	static const char *const lines[] = {LINE("b", "1", "https://a.example/first"),
		LINE("a", "\xc3\xa4", "https://a.example/"), LINE("a", "z", "https://a.example/"),
		LINE("ab", "", "https://a.example/"), LINE("a", "zz", "https://a.example/"),
		LINE("b", "1", "https://a.example/"), LINE("b", "1", "https://a.example/first")};
	static const unsigned want[] = {2, 4, 1, 3, 5, 0};
	struct ing_load_share shares[2] = {{.count = 0}};
	struct ing_load_batch batch = {0};
	struct ing_error err;
	for (size_t i = 0; i < ING_ARRAY_LEN(lines); i++)
		assert_int_equal(load(lines[i], &shares[i / 3 > 0], &err), 0);
	ing_load_batch_add(&batch, &shares[0]);
	ing_load_batch_add(&batch, &shares[1]);
	ing_load_batch_sort(&batch);
	assert_int_equal(batch.count, ING_ARRAY_LEN(want));
	assert_int_equal(batch.repeated, 1);
	for (size_t i = 0; i < ING_ARRAY_LEN(want); i++)
		assert_int_equal(batch.refs[i].seq, want[i]);
	ing_load_batch_clear(&batch);
	ing_load_batch_sort(&batch);
	assert_int_equal(batch.count, 0);
	ing_load_batch_done(&batch);
	ing_load_share_done(&shares[0]);
	ing_load_share_done(&shares[1]);
}

static void a_line_is_a_row_of_the_columns(void **state)
{
	(void)state;
	struct ing_load_share share = {0};
	struct ing_buf columns;
	struct ing_error err;
	ing_buf_init(&columns, 4096);
	ing_load_columns(&columns);
	assert_string_equal(ing_buf_str(&columns),
		"link_source, link_source_id, ingest_type, base_url, ingest_request_source, release_stage, request,"
		" request_id, document, host, doi_prefix, created");
	assert_int_equal(load("{\"ingest_type\":\"file\",\"base_url\":\"https://WWW.a.example/\"}",
				 &share, &err),
		0);
	assert_int_equal(load("{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\","
			      "\"created\":\"2020-01-01T00:00:00Z\"}",
				 &share, &err),
		0);
	assert_int_equal(share.count, 2);
	const struct ing_load_row *row = &share.rows[0];
	const char *line = share.text.data + row->line;
	assert_memory_equal(line,
		"\t\tpdf\thttps://WWW.a.example/\t\\N\t\\N\t{\"ingest_type\":\"file\"}\t", 55);
	const char *tail = "\ta.example\t\\N\t2026-01-02T03:04:05Z\n";
	assert_memory_equal(line + row->line_bytes - strlen(tail), tail, strlen(tail));
	row = &share.rows[1];
	tail = "\ta.example\t\\N\t2020-01-01T00:00:00Z\n";
	assert_memory_equal(
		share.text.data + row->line + row->line_bytes - strlen(tail), tail, strlen(tail));
	ing_buf_done(&columns);
	ing_load_share_done(&share);
}

static void what_cannot_be_stored_as_it_is_is_bad(void **state)
{
	(void)state;
	static const struct {
		const char *line, *words;
	} cases[] = {
		{LINE("a", "1", "https://u:p@a.example/"), "base_url: has a user name or password"},
		{LINE("https://u:p@a.example/", "1", "https://a.example/"),
			"link_source: has a user"},
		{LINE("a", "https://u:p@a.example/", "https://a.example/"),
			"link_source_id: has a user"},
		{"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\",\"created\":5}",
			"created: "},
		{"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\",\"created\":\"2020-02-30T00:00:00Z\"}",
			"created: "},
		{"{\"ingest_type\":\"pdf\"}", "base_url: missing"},
		{"{", "request: "},
	};
	struct ing_load_share share = {0};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_error err;
		assert_int_not_equal(load(cases[i].line, &share, &err), 0);
		assert_memory_equal(err.msg, cases[i].words, strlen(cases[i].words));
	}
	assert_int_equal(share.count, 0);
	ing_load_share_done(&share);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_of_keys_stay_as_they_are),
		cmocka_unit_test(streams_get_about_the_same),
		cmocka_unit_test(a_batch_has_each_key_once_in_order),
		cmocka_unit_test(a_line_is_a_row_of_the_columns),
		cmocka_unit_test(what_cannot_be_stored_as_it_is_is_bad),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
