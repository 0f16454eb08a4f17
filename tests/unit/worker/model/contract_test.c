/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What schemas/ promises is what the code does: the statuses of its table, in schema and
 * documentation, and the samples of requests, judged by the parser as by the schema.
 * ING_UPDATE_GOLDEN=1 rewrites schemas/STATUSES.md.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "worker/model/findings.h"
#include "worker/model/request.h"
#include "worker/model/status.h"

#define SCHEMAS ING_SOURCE_DIR "/schemas"

static void read_file(const char *path, struct ing_buf *ret_text)
{
	FILE *f = fopen(path, "r");
	if (f == NULL)
		fail_msg("%s: %s", path, strerror(errno));
	ing_buf_init(ret_text, 4 << 20);
	char piece[8192];
	size_t n;
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		ing_buf_add(ret_text, piece, n);
	fclose(f);
}

static json_t *load(const char *path)
{
	json_error_t err;
	json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &err);
	if (json == NULL)
		fail_msg("%s:%d: %s", path, err.line, err.text);
	return json;
}

/* --- statuses --- */

static void add_when(enum ing_status st, struct ing_buf *out)
{
	static const char *const words[] = {[ING_STATUS_NEVER] = "never",
		[ING_STATUS_LATER] = "later",
		[ING_STATUS_SOON] = "soon"};
	unsigned after = ing_status_retry_after_s(st);
	ing_buf_add_str(out, words[ing_status_retry(st)]);
	if (after == 0)
		return;
	if (after % 86400 == 0)
		ing_buf_printf(out, ", after %u d", after / 86400);
	else
		ing_buf_printf(out, ", after %u h", after / 3600);
}

static void write_document(struct ing_buf *out)
{
	ing_buf_init(out, 1 << 20);
	ing_buf_add_str(out,
		"# Statuses\n\n"
		"Made from `worker/model/status.def`; do not edit. *Again*: whether asking again is worth it. Never: the\n"
		"answer will not change. Later: the web may have changed by then. Soon: a transient error. *Tries*: how often\n"
		"one URL is asked for within a request, at most, before the request ends so; only what may pass by itself is\n"
		"tried again (`worker/job/README.md`).\n\n"
		"| status | means | again | tries |\n| --- | --- | --- | --- |\n");
	for (enum ing_status st = 0; st < ING_STATUS_COUNT_; st++) {
		ing_buf_printf(out, "| `%s` | %s | ", ing_status_slug(st), ing_status_meaning(st));
		add_when(st, out);
		ing_buf_printf(out, " | %u |\n", ing_status_tries(st));
	}
	assert_false(out->failed);
}

static void the_document_has_every_status(void **state)
{
	(void)state;
	const char *path = SCHEMAS "/STATUSES.md";
	struct ing_buf want;
	struct ing_buf have;
	write_document(&want);
	if (getenv("ING_UPDATE_GOLDEN") != NULL) {
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		assert_int_equal(fwrite(want.data, 1, want.len, f), want.len);
		assert_int_equal(fclose(f), 0);
	}
	read_file(path, &have);
	if (strcmp(ing_buf_str(&have), ing_buf_str(&want)) != 0)
		fail_msg("%s is not what status.def says: run this test with ING_UPDATE_GOLDEN=1",
			path);
	ing_buf_done(&want);
	ing_buf_done(&have);
}

/* Both ways round: every word is in the schema's list, and nothing else is. */
static void expect_enum(json_t *list, const char *const *words, size_t count)
{
	assert_true(json_is_array(list));
	for (size_t i = 0; i < count; i++) {
		bool found = false;
		for (size_t k = 0; k < json_array_size(list); k++)
			found |= strcmp(json_string_value(json_array_get(list, k)), words[i]) == 0;
		if (!found)
			fail_msg("the schema lacks \"%s\"", words[i]);
	}
	assert_int_equal(json_array_size(list), count);
}

static json_t *enum_of(json_t *schema, const char *object, const char *property)
{
	json_t *properties = json_object_get(schema, "properties");
	if (object != NULL)
		properties = json_object_get(json_object_get(properties, object), "properties");
	return json_object_get(json_object_get(properties, property), "enum");
}

static void the_schemas_have_every_status(void **state)
{
	(void)state;
	const char *slugs[ING_STATUS_COUNT_];
	static const char *const pdf[] = {ING_PDF_STATUSES};
	for (enum ing_status st = 0; st < ING_STATUS_COUNT_; st++)
		slugs[st] = ing_status_slug(st);
	json_t *result = load(SCHEMAS "/ingest-result.schema.json");
	json_t *text = load(SCHEMAS "/pdf-text.schema.json");
	expect_enum(enum_of(result, NULL, "status"), slugs, ING_STATUS_COUNT_);
	expect_enum(enum_of(result, "pdf_meta", "status"), pdf, ING_ARRAY_LEN(pdf));
	expect_enum(enum_of(text, NULL, "status"), pdf, ING_ARRAY_LEN(pdf));
	json_decref(result);
	json_decref(text);
}

static void slugs_lead_back_to_their_status(void **state)
{
	(void)state;
	for (enum ing_status st = 0; st < ING_STATUS_COUNT_; st++) {
		assert_int_equal(ing_status_from_slug(ing_status_slug(st)), st);
		/* Labels of metrics and words of an enum: lower-case words joined by hyphens. */
		assert_int_equal(
			strspn(ing_status_slug(st), "abcdefghijklmnopqrstuvwxyz0123456789-"),
			strlen(ing_status_slug(st)));
		bool never = ing_status_retry(st) == ING_STATUS_NEVER;
		assert_int_equal(never, ing_status_retry_after_s(st) == 0);
		assert_int_equal(ing_status_retry_after_s(st) % 3600, 0);
		/* What will never change is not tried again within a request either. */
		assert_in_range(ing_status_tries(st), 1, never ? 1 : 10);
	}
	assert_int_equal(ing_status_from_slug("no-such-status"), -1);
	assert_int_equal(ing_status_from_slug(""), -1);
	assert_int_equal(ing_status_from_slug("Success"), -1);
}

/* --- requests --- */

static void judge_samples(const char *kind, bool want)
{
	char folder[512];
	snprintf(folder, sizeof(folder), SCHEMAS "/%s/ingest-request", kind);
	DIR *dir = opendir(folder);
	assert_non_null(dir);
	unsigned count = 0;
	for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
		if (strstr(e->d_name, ".json") == NULL)
			continue;
		char path[1024];
		struct ing_buf text;
		struct ing_request *r = NULL;
		struct ing_error err = {0};
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		read_file(path, &text);
		int rc = ing_request_parse(ing_buf_str(&text), text.len, &r, &err);
		if ((rc == 0) != want)
			fail_msg("%s: the parser says: %s", path, rc == 0 ? "fine" : err.msg);
		ing_request_free(r);
		ing_buf_done(&text);
		count++;
	}
	closedir(dir);
	assert_in_range(count, 5, 1000);
}

static void the_parser_accepts_what_the_schema_does(void **state)
{
	(void)state;
	judge_samples("valid", true);
}

static void the_parser_refuses_what_the_schema_does(void **state)
{
	(void)state;
	judge_samples("invalid", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_has_every_status),
		cmocka_unit_test(the_schemas_have_every_status),
		cmocka_unit_test(slugs_lead_back_to_their_status),
		cmocka_unit_test(the_parser_accepts_what_the_schema_does),
		cmocka_unit_test(the_parser_refuses_what_the_schema_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
