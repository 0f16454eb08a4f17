/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where objects are is a contract with their readers, who make the paths themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/macros.h"
#include "worker/model/derived.h"

#define SHA1 "da39a3ee5e6b4b0d3255bfef95601890afd80709"

static void objects_are_where_their_readers_look(void **state)
{
	(void)state;
	static const struct {
		enum ing_derived_kind kind;
		const char *path, *content_type;
	} cases[] = {
		{ING_DERIVED_PDF_TEXT, "text/da/39/" SHA1 ".txt", "text/plain; charset=utf-8"},
		{ING_DERIVED_THUMBNAIL, "pdf/da/39/" SHA1 ".180px.jpg", "image/jpeg"},
		{ING_DERIVED_JATS, "xml_doc/da/39/" SHA1 ".jats.xml", "application/xml"},
		{ING_DERIVED_HTML_TEI, "html_body/da/39/" SHA1 ".tei.xml", "application/xml"},
		{ING_DERIVED_GROBID_TEI, "grobid/da/39/" SHA1 ".tei.xml", "application/xml"},
	};
	assert_int_equal(ING_ARRAY_LEN(cases), ING_DERIVED_);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char path[ING_DERIVED_PATH_BYTES];
		ing_derived_path(cases[i].kind, SHA1, path);
		assert_string_equal(path, cases[i].path);
		assert_string_equal(
			ing_derived_row(cases[i].kind)->content_type, cases[i].content_type);
	}
}

static void setting_frees_what_there_was(void **state)
{
	(void)state;
	struct ing_derived d = {0};
	ing_derived_set(&d, ing_strdup("first"), 5);
	ing_derived_set(&d, ing_strdup("second"), 6);
	assert_string_equal(d.data, "second");
	ing_derived_done(&d);
	assert_null(d.data);
	assert_int_equal(d.bytes, 0);
	ing_derived_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_where_their_readers_look),
		cmocka_unit_test(setting_frees_what_there_was),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
