/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The row of a request: what has a column, what is kept beside, and that the row makes the same request again.
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
#include "common/data/json.h"
#include "worker/model/request.h"
#include "worker/model/request_row.h"

static struct ing_request *parse(const char *json)
{
	struct ing_error err = {0};
	struct ing_request *r = NULL;
	if (ing_request_parse(json, strlen(json), &r, &err) != 0)
		fail_msg("%s: %s", json, err.msg);
	return r;
}

static void columns_and_the_rest(void **state)
{
	(void)state;
	struct ing_arena ar;
	struct ing_row_request row;
	ing_arena_init(&ar);
	struct ing_request *r = parse(
		"{\"ingest_type\":\"pdf\",\"base_url\":\"https://www.A.example/x?a@b\","
		"\"link_source\":\"doi\",\"link_source_id\":\"10.1234/x\",\"release_stage\":\"\","
		"\"ingest_request_source\":\"me\",\"created\":\"2020-01-01T00:00:00Z\",\"rel\":null,"
		"\"ext_ids\":{\"doi\":\"10.1234/x\"},\"expect_mimetypes\":[\"a/b\"],"
		"\"force_recrawl\":true,\"fatcat\":{\"release_ident\":\"http://me:hush@x\"},"
		"\"of nobody http://me:hush@x/\":[1.5]}");
	ing_request_row(r, &ar, &row);
	assert_true(row.present);
	assert_string_equal(row.link_source, "doi");
	assert_string_equal(row.link_source_id, "10.1234/x");
	assert_string_equal(row.ingest_type, "pdf");
	assert_string_equal(row.base_url, "https://www.A.example/x?a@b");
	assert_string_equal(row.ingest_request_source, "me");
	assert_string_equal(row.release_stage, "");
	assert_string_equal(row.host, "a.example");
	assert_string_equal(row.doi_prefix, "10.1234");
	assert_string_equal(row.request_json,
		"{\"ext_ids\":{\"doi\":\"10.1234/x\"},\"expect_mimetypes\":[\"a/b\"],"
		"\"force_recrawl\":true,\"fatcat\":{\"release_ident\":\"http://***@x\"},"
		"\"of nobody http://***@x/\":[1.5],\"release_ident\":\"http://***@x\"}");
	char key[42];
	snprintf(key, sizeof(key), "%.8s%.4s%.4s%.4s%.12s", row.request_id, row.request_id + 9,
		row.request_id + 14, row.request_id + 19, row.request_id + 24);
	assert_int_equal(strlen(row.request_id), 36);
	assert_memory_equal(key, r->key, 32);
	ing_request_free(r);
	ing_arena_done(&ar);
}

static void what_is_absent_has_no_value(void **state)
{
	(void)state;
	struct ing_arena ar;
	struct ing_row_request row;
	ing_arena_init(&ar);
	struct ing_request *r = parse("{\"ingest_type\":\"html\",\"base_url\":\"no url\"}");
	ing_request_row(r, &ar, &row);
	assert_false(row.present);
	assert_null(row.link_source);
	assert_null(row.link_source_id);
	assert_null(row.host);
	assert_null(row.doi_prefix);
	assert_string_equal(row.request_json, "{}");
	assert_non_null(row.document);
	ing_request_free(r);
	ing_arena_done(&ar);
}

static const char *const identities[] = {
	"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\"}",
	"{\"ingest_type\":\"pdf\",\"base_url\":\"https://a.example/\",\"link_source\":\"a\"}",
	"{\"ingest_type\":\"file\",\"base_url\":\"https://a.example/\",\"link_source\":\"a\","
	"\"link_source_id\":\"b\"}",
	"{\"ingest_type\":\"pdf\",\"ext_ids\":{\"doi\":\"10.1234/x\"},\"link_source_id\":\"b\"}",
	"{\"ingest_type\":\"pdf\",\"base_url\":null,\"ext_ids\":{\"arxiv\":\"1234.5678\"}}",
	"{\"ingest_type\":\"pdf\",\"base_url\":\"https://doi.org/10.1234/x\","
	"\"ext_ids\":{\"doi\":\"10.1234/x\"}}",
	"{\"ingest_type\":\"publication\",\"ext_ids\":{\"pmid\":\"1\"},\"parts\":[\"title\"]}",
};

/* The columns, and over them the members of `request`. */
static char *line_of(const struct ing_row_request *row)
{
	json_t *o = json_object();
	ing_json_set_text(o, "ingest_type", row->ingest_type);
	ing_json_set_text(o, "base_url", row->base_url);
	ing_json_set_text(o, "link_source", row->link_source);
	ing_json_set_text(o, "link_source_id", row->link_source_id);
	json_t *rest = json_loads(row->request_json, 0, NULL);
	assert_int_equal(json_object_update(o, rest), 0);
	json_decref(rest);
	char *line = ing_json_dump(o, NULL);
	json_decref(o);
	return line;
}

static void a_row_makes_the_same_request_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(identities); i++) {
		struct ing_arena ar;
		struct ing_row_request row, again;
		ing_arena_init(&ar);
		struct ing_request *r = parse(identities[i]);
		ing_request_row(r, &ar, &row);
		char *line = line_of(&row);
		struct ing_request *other = parse(line);
		ing_request_row(other, &ar, &again);
		assert_string_equal(other->key, r->key);
		assert_string_equal(again.request_id, row.request_id);
		assert_string_equal(again.document, row.document);
		assert_string_equal(again.base_url, row.base_url);
		assert_string_equal(again.request_json, row.request_json);
		ing_request_free(r);
		ing_request_free(other);
		free(line);
		ing_arena_done(&ar);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_and_the_rest),
		cmocka_unit_test(what_is_absent_has_no_value),
		cmocka_unit_test(a_row_makes_the_same_request_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
