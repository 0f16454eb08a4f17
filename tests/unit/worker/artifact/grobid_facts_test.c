/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What GROBID says of a PDF, in the result, the row and the message of its request.
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
#include "worker/artifact/grobid.h"
#include "worker/model/rows.h"

#define SHA1 "0123456789abcdef0123456789abcdef01234567"
#define METADATA "{\"biblio\":{\"title\":\"https://u:secret@h/\"},\"language_code\":\"en\"}"
#define MASKED "{\"biblio\":{\"title\":\"https://***@h/\"},\"language_code\":\"en\"}"

static struct ing_artifact a;
static struct ing_arena ar;

static void begin(const char *status, int code, const char *words)
{
	char *text = words == NULL ? ing_strdup("<TEI>\"é\"</TEI>") : NULL;
	a = (struct ing_artifact){0};
	memcpy(a.file.sha1hex, SHA1, sizeof(SHA1));
	memcpy(a.file.mimetype, "application/pdf", sizeof("application/pdf"));
	ing_arena_init(&ar);
	struct ing_grobid_facts facts = {.status = ing_strdup(status),
		.status_code = code,
		.error_msg = words != NULL ? ing_strdup(words) : NULL,
		.version = words == NULL ? ing_strdup("0.7.2") : NULL,
		.metadata_json = words == NULL ? ing_strdup(METADATA) : NULL};
	ing_artifact_keep_grobid(&a, &facts, &text, text != NULL ? strlen(text) : 0);
	assert_null(facts.status);
	assert_null(text);
}

static void end(void)
{
	ing_artifact_done(&a);
	ing_arena_done(&ar);
}

static void expect_json(json_t *o, const char *want)
{
	char *text = ing_json_dump(o, NULL);
	json_t *w = json_loads(want, 0, NULL);
	assert_non_null(w);
	if (!json_equal(o, w))
		fail_msg("%s\nexpected\n%s", text, want);
	free(text);
	json_decref(w);
	json_decref(o);
}

static json_t *result(void)
{
	json_t *o = json_object();
	ing_artifact_grobid_add_to_result(&a, o);
	return o;
}

static json_t *message(size_t max_bytes)
{
	size_t bytes = 0;
	json_t *source = json_object();
	char *text = ing_artifact_grobid_message(&a, source, max_bytes, &bytes);
	json_decref(source);
	if (text == NULL)
		return NULL;
	assert_int_equal(strlen(text), bytes);
	json_t *o = json_loads(text, 0, NULL);
	assert_non_null(o);
	free(text);
	json_object_del(o, "file_meta");
	return o;
}

static struct ing_row_grobid row(void)
{
	struct ing_rows rows = {0};
	ing_artifact_grobid_fill_row(&a, &ar, &rows);
	return rows.grobid;
}

static void a_success_is_told_in_all_three(void **state)
{
	(void)state;
	begin("success", 200, NULL);
	assert_int_equal(ing_artifact_derived_bytes(&a), strlen("<TEI>\"é\"</TEI>"));
	expect_json(result(),
		"{\"grobid\":{\"status\":\"success\",\"status_code\":200,\"grobid_version\":\"0.7.2\","
		"\"fatcat_release\":null,\"metadata\":" MASKED "}}");
	expect_json(message(10000),
		"{\"status\":\"success\",\"status_code\":200,\"grobid_version\":\"0.7.2\","
		"\"key\":\"" SHA1 "\",\"source\":{},\"tei_xml\":\"<TEI>\\\"é\\\"</TEI>\"}");
	struct ing_row_grobid r = row();
	assert_true(r.present);
	assert_string_equal(r.sha1hex, SHA1);
	assert_string_equal(r.status, "success");
	assert_int_equal(r.status_code, 200);
	assert_string_equal(r.grobid_version, "0.7.2");
	expect_json(json_loads(r.metadata_json, 0, NULL), MASKED);
	/* What does not fit into a message is nowhere else changed. */
	assert_null(message(150));
	assert_string_equal(a.grobid.status, "success");
	assert_non_null(a.derived[ING_DERIVED_GROBID_TEI].data);
	end();
}

static void a_failure_is_told_in_all_three(void **state)
{
	(void)state;
	begin("error", 500, "see https://u:secret@h/");
	expect_json(result(), "{\"grobid\":{\"status\":\"error\",\"status_code\":500,"
			      "\"error_msg\":\"see https://***@h/\",\"fatcat_release\":null}}");
	expect_json(message(10000),
		"{\"status\":\"error\",\"status_code\":500,"
		"\"error_msg\":\"see https://***@h/\",\"key\":\"" SHA1 "\",\"source\":{}}");
	struct ing_row_grobid r = row();
	assert_true(r.present);
	assert_int_equal(r.status_code, 500);
	assert_null(r.grobid_version);
	expect_json(json_loads(r.metadata_json, 0, NULL), "{\"error_msg\":\"see https://***@h/\"}");
	end();
	begin("bad-grobid-xml", 200, "words");
	expect_json(result(), "{\"grobid\":{\"status\":\"bad-grobid-xml\",\"status_code\":200,"
			      "\"error_msg\":\"words\",\"fatcat_release\":null,"
			      "\"metadata\":{\"error_msg\":\"words\"}}}");
	end();
}

/* A row of 500 characters, not bytes. */
static void the_words_of_a_row_are_cut(void **state)
{
	struct ing_buf words;
	(void)state;
	ing_buf_init(&words, 10000);
	for (int i = 0; i < 600; i++)
		ing_buf_add_str(&words, "é");
	begin("error", 500, words.data);
	json_t *o = json_loads(row().metadata_json, 0, NULL);
	assert_int_equal(strlen(ing_json_get_text(o, "error_msg")), 1000);
	json_decref(o);
	ing_buf_done(&words);
	end();
}

static void what_the_tables_have_is_not_written_again(void **state)
{
	(void)state;
	begin("success", 200, NULL);
	a.grobid.reused = true;
	assert_false(row().present);
	assert_null(message(10000));
	json_t *o = result();
	assert_non_null(json_object_get(o, "grobid"));
	json_decref(o);
	end();
}

static void without_grobid_there_is_nothing(void **state)
{
	(void)state;
	a = (struct ing_artifact){0};
	ing_arena_init(&ar);
	expect_json(result(), "{}");
	assert_false(row().present);
	assert_null(message(10000));
	struct ing_rows none = {0};
	json_t *o = json_object();
	ing_artifact_grobid_add_earlier(&none, o);
	expect_json(o, "{}");
	end();
}

static void an_earlier_row_is_told(void **state)
{
	(void)state;
	const struct ing_rows rows = {.grobid = {.present = true,
					      .sha1hex = SHA1,
					      .status_code = 200,
					      .status = "success",
					      .grobid_version = "0.7.2",
					      .metadata_json = METADATA}};
	json_t *o = json_object();
	ing_artifact_grobid_add_earlier(&rows, o);
	expect_json(o,
		"{\"grobid\":{\"status\":\"success\",\"status_code\":200,"
		"\"grobid_version\":\"0.7.2\",\"fatcat_release\":null,\"metadata\":" MASKED "}}");
}

/* Results say why there is nothing, whoever wrote the row. */
static void an_earlier_failure_has_words(void **state)
{
	static const struct {
		struct ing_row_grobid row;
		const char *status, *words;
	} cases[] = {
		{{.status_code = 500, .status = "error", .metadata_json = "{\"error_msg\":\"w\"}"},
			"error", "w"},
		{{.status_code = -4, .status = "error-timeout"}, "error-timeout", ""},
		{{.status_code = 200, .status = "bad-grobid-xml", .metadata_json = "[]"},
			"bad-grobid-xml", ""},
		{{.status_code = 500}, "error", ""},
		{{.status_code = 200, .status = "success"}, "error", ""},
		{{.status_code = 200, .status = "something-else", .grobid_version = "0.7"}, "error",
			""},
		{{.status_code = 200, .grobid_version = "0.7"}, "success", NULL},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_rows rows = {.grobid = cases[i].row};
		rows.grobid.present = true;
		rows.grobid.sha1hex = SHA1;
		json_t *result = json_object();
		ing_artifact_grobid_add_earlier(&rows, result);
		const json_t *o = json_object_get(result, "grobid");
		assert_string_equal(ing_json_get_text(o, "status"), cases[i].status);
		if (cases[i].words != NULL)
			assert_string_equal(ing_json_get_text(o, "error_msg"), cases[i].words);
		else
			assert_null(json_object_get(o, "error_msg"));
		json_decref(result);
	}
}

/* Of a process that read hostile bytes, or of another program's row: what would keep the loop busy is as
 * none. */
static void metadata_of_too_many_values_is_none(void **state)
{
	static const struct {
		const char *unit;
		int count;
		bool good;
	} cases[] = {{"[],", 15000, true}, {"[],", 300000, false}, {"[", 17, false}};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf text;
		ing_buf_init(&text, 1 << 20);
		ing_buf_add_str(&text, "{\"biblio\":{},\"x\":[");
		for (int k = 0; k < cases[i].count; k++)
			ing_buf_add_str(&text, cases[i].unit);
		ing_buf_add_str(&text, "0");
		for (int k = 0; k < cases[i].count && strcmp(cases[i].unit, "[") == 0; k++)
			ing_buf_add_char(&text, ']');
		ing_buf_add_str(&text, "]}");
		begin("success", 200, NULL);
		free(a.grobid.metadata_json);
		a.grobid.metadata_json = ing_strdup(ing_buf_str(&text));
		json_t *o = result();
		json_t *grobid = json_object_get(o, "grobid");
		assert_int_equal(json_object_get(grobid, "metadata") != NULL, cases[i].good);
		assert_int_equal(row().metadata_json != NULL, cases[i].good);
		json_decref(o);
		ing_buf_done(&text);
		end();
	}
}

static void a_result_may_do_without_metadata(void **state)
{
	(void)state;
	begin("success", 200, NULL);
	json_t *o = result();
	assert_true(ing_artifact_grobid_shrink(o));
	assert_false(ing_artifact_grobid_shrink(o));
	expect_json(o, "{\"grobid\":{\"status\":\"success\",\"status_code\":200,"
		       "\"grobid_version\":\"0.7.2\",\"fatcat_release\":null}}");
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_success_is_told_in_all_three),
		cmocka_unit_test(a_failure_is_told_in_all_three),
		cmocka_unit_test(the_words_of_a_row_are_cut),
		cmocka_unit_test(what_the_tables_have_is_not_written_again),
		cmocka_unit_test(without_grobid_there_is_nothing),
		cmocka_unit_test(an_earlier_row_is_told),
		cmocka_unit_test(an_earlier_failure_has_words),
		cmocka_unit_test(metadata_of_too_many_values_is_none),
		cmocka_unit_test(a_result_may_do_without_metadata),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
