/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The tables as data: rows of items, and the SQL that follows from the tables.
 */
#include "worker/store/table.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schemas/migrations.h"
#include "worker/model/limits.h"
#include "worker/model/rows.h"

#define SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"

static char *repeat(char c, size_t n)
{
	char *s = malloc(n + 1);
	assert_non_null(s);
	memset(s, c, n);
	s[n] = '\0';
	return s;
}

static const struct ing_table *table_named(const char *name)
{
	for (size_t i = 0; i < ING_TABLES; i++) {
		if (strcmp(ing_tables[i].name, name) == 0)
			return &ing_tables[i];
	}
	fail_msg("no table %s", name);
	abort(); /* not reached, which the compiler does not know */
}

static void sql_of_a_table(void **state)
{
	(void)state;
	struct ing_buf out;
	ing_buf_init(&out, 16384);
	const struct ing_table *t = table_named("file_meta");
	ing_table_session_sql(t, &out);
	assert_string_equal(ing_buf_str(&out),
		"CREATE TEMP TABLE stage_file_meta ON COMMIT DELETE ROWS AS SELECT sha1hex, sha256hex, "
		"md5hex, size_bytes, mimetype, contains, 0 AS seq FROM file_meta WITH NO DATA; "
		"PREPARE put_file_meta AS INSERT INTO file_meta AS t (sha1hex, sha256hex, md5hex, "
		"size_bytes, mimetype, contains) SELECT DISTINCT ON (sha1hex) sha1hex, sha256hex, "
		"md5hex, size_bytes, mimetype, contains FROM stage_file_meta "
		"ORDER BY sha1hex, contains IS NULL, seq ON CONFLICT (sha1hex) DO "
		"UPDATE SET contains = excluded.contains "
		"WHERE t.contains IS NULL AND excluded.contains IS NOT NULL");
	ing_buf_clear(&out);
	ing_table_copy_sql(t, &out);
	assert_string_equal(ing_buf_str(&out),
		"COPY stage_file_meta (sha1hex, sha256hex, md5hex, size_bytes, mimetype, contains, "
		"seq) FROM STDIN");
	ing_buf_clear(&out);
	ing_table_upsert_sql(t, &out);
	assert_string_equal(ing_buf_str(&out), "EXECUTE put_file_meta");
	ing_buf_done(&out);
}

static void sql_of_every_table_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_TABLES; i++) {
		struct ing_buf out;
		ing_buf_init(&out, 16384);
		ing_table_session_sql(&ing_tables[i], &out);
		ing_table_copy_sql(&ing_tables[i], &out);
		assert_false(out.failed);
		assert_in_range(ing_tables[i].column_count, 1, ING_MAX_COLUMNS);
		/* What the conflict rule sets is a column that a row brings. */
		for (size_t k = 0; k < ing_tables[i].column_count; k++)
			assert_non_null(strstr(ing_buf_str(&out), ing_tables[i].columns[k].name));
		ing_buf_done(&out);
	}
}

static void rows_of_an_item(void **state)
{
	(void)state;
	const struct ing_row_cdx cdx[2] = {
		{.url = "https://a.example/",
			.datetime = "20261121110000",
			.sha1hex = SHA1,
			.warc_path = "w.warc.gz",
			.warc_csize = 5,
			.warc_offset = 0,
			.record_id = "01234567-89ab-4def-8123-456789abcdef",
			.record_date = "2026-11-21T11:00:00.123456Z"},
		{.url = "https://b.example/",
			.datetime = "20261121110001",
			.sha1hex = SHA1,
			.warc_csize = UINT64_MAX},
	};
	const struct ing_rows rows = {
		.result = {.present = true,
			.ingest_type = "pdf",
			.base_url = "https://a.example/\t",
			.status = "success",
			.hit = true,
			.terminal_status_code = 0},
		.cdx = cdx,
		.cdx_count = 2,
	};
	struct ing_buf out;
	ing_buf_init(&out, 16384);
	assert_int_equal(table_named("ingest_request")->count(&rows), 0);
	assert_int_equal(table_named("cdx")->count(&rows), 2);
	assert_true(ing_table_row(table_named("ingest_file_result"), &rows, 0, 7, &out));
	assert_string_equal(ing_buf_str(&out),
		"pdf\thttps://a.example/\\t\tt\tsuccess\t\\N\t\\N\t\\N\t\\N"
		"\t\\N\t\\N\t\\N\t\\N\t\\N\t7\n");
	ing_buf_clear(&out);
	assert_true(ing_table_row(table_named("cdx"), &rows, 0, 0, &out));
	assert_true(ing_table_row(table_named("cdx"), &rows, 1, 1, &out));
	assert_string_equal(ing_buf_str(&out),
		"https://a.example/\t20261121110000\t" SHA1 "\t\\N\t\\N\tw.warc.gz\t5\t0\t"
		"01234567-89ab-4def-8123-456789abcdef\t2026-11-21T11:00:00.123456Z\t0\n"
		"https://b.example/\t20261121110001\t" SHA1
		"\t\\N\t\\N\t\\N\t\\N\t0\t\\N\t\\N\t1\n");
	ing_buf_done(&out);
}

static void rows_that_an_item_has_many_of(void **state)
{
	(void)state;
	const struct ing_row_crossref crossref[3] = {
		{"10.1234/ABC\xc3\x84", "2026-11-21T11:00:00Z", "{\"a\":1}"},
		{"10.1234/d", "2026-11-21", "{}"}, /* no moment */
		{"10.", "2026-11-21T11:00:00Z", "{}"},
	};
	const struct ing_row_grobid_refs refs[2] = {
		{"crossref", "10.1234/abc", NULL, "[]"},
		{"crossref", "10.1234/d", "2026-11-21T11:00:00Z", NULL},
	};
	const struct ing_rows rows = {
		.crossref = crossref,
		.crossref_count = 3,
		.grobid_refs = refs,
		.grobid_refs_count = 2,
	};
	struct ing_buf out;
	ing_buf_init(&out, 16384);
	const struct ing_table *t = table_named("crossref");
	assert_int_equal(t->count(&rows), 3);
	assert_true(ing_table_row(t, &rows, 0, 0, &out));
	assert_string_equal(
		ing_buf_str(&out), "10.1234/abc\xc3\x84\t2026-11-21T11:00:00Z\t{\"a\":1}\t0\n");
	ing_buf_clear(&out);
	assert_false(ing_table_row(t, &rows, 1, 1, &out));
	assert_false(ing_table_row(t, &rows, 2, 1, &out));
	t = table_named("grobid_refs");
	assert_int_equal(t->count(&rows), 2);
	assert_true(ing_table_row(t, &rows, 0, 1, &out));
	assert_string_equal(ing_buf_str(&out), "crossref\t10.1234/abc\t\\N\t[]\t1\n");
	assert_false(ing_table_row(t, &rows, 1, 2, &out));
	ing_buf_done(&out);
}

static void overlong_keys_drop_the_row_and_nothing_else(void **state)
{
	(void)state;
	char *fits = repeat('u', ING_MAX_BASE_URL_BYTES);
	char *over = repeat('u', ING_MAX_BASE_URL_BYTES + 1);
	char *terminal = repeat('t', ING_MAX_TERMINAL_URL_BYTES + 1);
	struct ing_rows rows = {
		.result = {.present = true,
			.ingest_type = "pdf",
			.base_url = over,
			.status = "timeout",
			.terminal_url = terminal},
	};
	const struct ing_table *t = table_named("ingest_file_result");
	struct ing_buf out;
	ing_buf_init(&out, 16384);
	ing_buf_add_str(&out, "before\n");
	assert_false(ing_table_row(t, &rows, 0, 0, &out));
	assert_string_equal(ing_buf_str(&out), "before\n");
	rows.result.base_url = fits;
	assert_true(ing_table_row(t, &rows, 0, 0, &out));
	assert_null(strstr(ing_buf_str(&out), "ttt"));
	ing_buf_done(&out);
	free(fits);
	free(over);
	free(terminal);
}

static void a_row_past_the_ceiling_leaves_the_buffer_usable(void **state)
{
	(void)state;
	const struct ing_rows rows = {.file_meta = {.present = true, .sha1hex = SHA1}};
	struct ing_buf out;
	ing_buf_init(&out, 65);
	assert_true(ing_table_row(table_named("file_meta"), &rows, 0, 0, &out));
	size_t before = out.len;
	assert_false(ing_table_row(table_named("file_meta"), &rows, 0, 0, &out));
	assert_int_equal(out.len, before);
	assert_true(ing_buf_add_char(&out, 'x'));
	ing_buf_done(&out);
}

/* The build names its migrations one by one; a file that it does not name would be forgotten
 * silently. */
static void every_migration_is_compiled_in(void **state)
{
	(void)state;
	glob_t files;
	assert_int_equal(glob(ING_SOURCE_DIR "/schemas/sql/*.sql", 0, NULL, &files), 0);
	assert_int_equal(files.gl_pathc, ing_migration_count);
	for (int i = 0; i < ing_migration_count; i++) {
		assert_int_equal(ing_migrations[i].version, i + 1);
		assert_non_null(strstr(files.gl_pathv[i], ing_migrations[i].name));
		FILE *f = fopen(files.gl_pathv[i], "r");
		assert_non_null(f);
		struct ing_buf text;
		ing_buf_init(&text, 1 << 20);
		char piece[4096];
		size_t n;
		while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
			ing_buf_add(&text, piece, n);
		fclose(f);
		assert_string_equal(ing_buf_str(&text), ing_migrations[i].sql);
		ing_buf_done(&text);
	}
	globfree(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sql_of_a_table),
		cmocka_unit_test(sql_of_every_table_is_whole),
		cmocka_unit_test(rows_of_an_item),
		cmocka_unit_test(rows_that_an_item_has_many_of),
		cmocka_unit_test(overlong_keys_drop_the_row_and_nothing_else),
		cmocka_unit_test(a_row_past_the_ceiling_leaves_the_buffer_usable),
		cmocka_unit_test(every_migration_is_compiled_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
