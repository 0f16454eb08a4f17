/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Events of documents, cut into pieces of every length; what is hostile; memory that does not grow.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/markup/xml_events.h"

static void on_open(void *ctx, const char *name, const char *const *attributes)
{
	ing_buf_printf(ctx, "<%s", name);
	for (; attributes != NULL && *attributes != NULL; attributes += 2)
		ing_buf_printf(ctx, " %s=%s", attributes[0], attributes[1]);
	ing_buf_add_char(ctx, '>');
}

static void on_text(void *ctx, const char *text, size_t bytes)
{
	ing_buf_add(ctx, text, bytes);
}

static void on_close(void *ctx, const char *name)
{
	ing_buf_printf(ctx, "</%s>", name);
}

static const struct ing_xml_events_user user = {on_open, on_text, on_close};

#define DBLP                                                                                       \
	"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!DOCTYPE dblp SYSTEM \"dblp.dtd\">\n"
#define BOMB                                                                                       \
	"<!DOCTYPE a [<!ENTITY x \"ha\"><!ENTITY y \"&x;&x;&x;&x;\"><!ENTITY z \"&y;&y;&y;\">]>"
#define XXE                                                                                        \
	"<!DOCTYPE a [<!ENTITY f SYSTEM \"file:///etc/passwd\"><!ENTITY % p SYSTEM \"http://a.example/\">"

/* clang-format off */
static const struct {
	const char *name, *input, *want;
	int fail;
	int line;
} cases[] = {
	{"nothing", "", "", 0, 0},
	{"white space", " \r\n", "", 0, 0},
	{"a document", "<a b=\"1\" c='2'>x<d/>y</a>", "<a b=1 c=2>x<d></d>y</a>", 0, 0},
	{"prefixes stay", "<o:a xmlns:o=\"http://o/\" o:b=\"1\"/>", "<o:a xmlns:o=http://o/ o:b=1></o:a>", 0, 0},
	{"CDATA, comments, instructions", "<a><![CDATA[<b>&amp;]]><!-- no --><?no no?></a>", "<a><b>&amp;</a>", 0, 0},
	{"references", "<a b=\"&lt;&#233;&eacute;&amp;\">&lt;&#x41;&gt;</a>", "<a b=<\xc3\xa9\xc3\xa9&><A></a>", 0, 0},
	{"names of dblp's DTD, which is not there", DBLP "<dblp><author>J&uuml;rg &Aacute;</author></dblp>",
		"<dblp><author>J\xc3\xbcrg \xc3\x81</author></dblp>", 0, 0},
	{"ISO 8859-1", DBLP "<a>\xfc</a>", "<a>\xc3\xbc</a>", 0, 0},
	{"UTF-8 with a mark", "\xef\xbb\xbf<a>\xc3\xbc</a>", "<a>\xc3\xbc</a>", 0, 0},
	{"a name that nobody knows", DBLP "<a>&nobody;</a>", "<a>\xef\xbf\xbd</a>", 0, 0},
	{"a name without a DOCTYPE", "<a>&nobody;</a>", "<a>", ING_FAIL_SYNTAX, 1},
	{"entities of entities are not expanded", BOMB "<a>&z;</a>", "<a>\xef\xbf\xbd</a>", 0, 0},
	{"nothing is fetched", XXE "]><a>&f;</a>", "<a>\xef\xbf\xbd</a>", 0, 0},
	{"not even what a declaration includes", XXE "%p;]><a/>", "", ING_FAIL_SYNTAX, 1},
	{"two documents", "<?xml version=\"1.0\"?>\n<a>1</a>\n<?xml version=\"1.0\"?><b>2</b>\n", "<a>1</a><b>2</b>", 0, 0},
	{"three documents with a DOCTYPE", DBLP "<a/>" DBLP "<b/>" DBLP "<c/>", "<a></a><b></b><c></c>", 0, 0},
	{"a declaration in CDATA", "<a><![CDATA[<?xml version=\"1.0\"?><?x]]></a>", "<a><?xml version=\"1.0\"?><?x</a>", 0, 0},
	{"a second root without a declaration", "<a/>\n<b/>", "<a></a>", ING_FAIL_SYNTAX, 2},
	{"no XML", "http://a.example/\n", "", ING_FAIL_SYNTAX, 1},
	{"a tag that ends another", "<a>\n<b></a>", "<a>\n<b>", ING_FAIL_SYNTAX, 2},
	{"cut", "<a><b>", "<a><b>", ING_FAIL_TRUNCATED, 1},
	{"cut in a tag", "<a>\n<b", "<a>\n", ING_FAIL_TRUNCATED, 2},
	{"cut in a declaration", "<a/><?xm", "<a></a>", ING_FAIL_SYNTAX, 1},
	{"the second document is cut", "<a/>\n<?xml version=\"1.0\"?>\n<b>", "<a></a><b>", ING_FAIL_TRUNCATED, 3},
	{"a byte that is not UTF-8", "<a>x\n\xff</a>", "<a>x\n", ING_FAIL_SYNTAX, 2},
	{"repeated attributes", "<a b='1' b='2'/>", "", ING_FAIL_SYNTAX, 1},
};
/* clang-format on */

static int read_pieces(
	const char *input, size_t bytes, size_t step, struct ing_buf *out, struct ing_error *err)
{
	struct ing_xml_events *x = ing_xml_events_new(&user, out);
	int rc = 0;
	for (size_t at = 0; at < bytes && rc == 0; at += step) {
		size_t n = ING_MIN(step, bytes - at);
		char *piece = malloc(n);
		assert_non_null(piece);
		memcpy(piece, input + at, n);
		rc = ing_xml_events_feed(x, piece, n, err);
		free(piece);
	}
	if (rc == 0)
		rc = ing_xml_events_end(x, err);
	ing_xml_events_free(x);
	return rc;
}

static void events_are_those_of_the_document_however_it_is_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		size_t bytes = strlen(cases[i].input);
		for (size_t step = 1; step <= bytes + 1; step++) {
			struct ing_buf out;
			struct ing_error err = {0};
			ing_buf_init(&out, 10000);
			int rc = read_pieces(cases[i].input, bytes, step, &out, &err);
			if (rc != -cases[i].fail || strcmp(ing_buf_str(&out), cases[i].want) != 0)
				print_message("%s, in steps of %zu: %d %s\n", cases[i].name, step,
					rc, err.msg);
			assert_int_equal(rc, -cases[i].fail);
			assert_string_equal(ing_buf_str(&out), cases[i].want);
			assert_int_equal(err.line, cases[i].line);
			ing_buf_done(&out);
		}
	}
}

static void utf_16_is_read(void **state)
{
	(void)state;
	static const char text[] = "<?xml version='1.0'?><a>x</a>";
	char wide[2 * sizeof(text)];
	size_t n = 0;
	wide[n++] = '\xff';
	wide[n++] = '\xfe';
	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		wide[n++] = text[i];
		wide[n++] = '\0';
	}
	for (size_t step = 1; step < 20; step++) {
		struct ing_buf out;
		struct ing_error err = {0};
		ing_buf_init(&out, 10000);
		assert_int_equal(read_pieces(wide, n, step, &out, &err), 0);
		assert_string_equal(ing_buf_str(&out), "<a>x</a>");
		ing_buf_done(&out);
	}
}

/* Cut anywhere, half a surrogate is damage. */
static void what_cannot_be_decoded_is_an_error(void **state)
{
	(void)state;
	static const char wide[] = "\xff\xfe<\0a\0>\0x\0\0\xd8x\0<\0/\0a\0>";
	for (size_t step = 1; step <= sizeof(wide); step++) {
		struct ing_buf out;
		struct ing_error err = {0};
		ing_buf_init(&out, 10000);
		/* Or it is waited for the other half until the end. */
		int rc = read_pieces(wide, sizeof(wide), step, &out, &err);
		assert_true(rc == -ING_FAIL_SYNTAX || rc == -ING_FAIL_TRUNCATED);
		ing_buf_done(&out);
	}
}

static int feed_many(
	struct ing_xml_events *x, const char *piece, size_t times, struct ing_error *err)
{
	int rc = 0;
	for (size_t i = 0; i < times && rc == 0; i++)
		rc = ing_xml_events_feed(x, piece, strlen(piece), err);
	return rc;
}

static void ignore_open(void *ctx, const char *name, const char *const *attributes)
{
	(void)ctx, (void)name, (void)attributes;
}

static void ignore_text(void *ctx, const char *text, size_t bytes)
{
	(void)ctx, (void)text, (void)bytes;
}

static void ignore_close(void *ctx, const char *name)
{
	(void)ctx, (void)name;
}

static const struct ing_xml_events_user nobody = {ignore_open, ignore_text, ignore_close};

/* What grows without an end is refused long before it is much. */
static void markup_and_depth_have_ceilings(void **state)
{
	(void)state;
	static const struct {
		const char *front, *piece;
		int fail;
	} endless[] = {
		{"<a", " b", ING_FAIL_SYNTAX},
		{"<a b='", "0123456789", ING_FAIL_TOO_BIG},
		{"<a><!-- ", "0123456789", ING_FAIL_TOO_BIG},
		{"<!DOCTYPE a [", "<!ENTITY x 'y'>", ING_FAIL_TOO_BIG},
		{"<a><", "bcdefghi", ING_FAIL_TOO_BIG},
		{"<a>", "<a>", ING_FAIL_TOO_DEEP},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(endless); i++) {
		struct ing_error err = {0};
		struct ing_xml_events *x = ing_xml_events_new(&nobody, NULL);
		int rc = feed_many(x, endless[i].front, 1, &err);
		if (rc == 0)
			rc = feed_many(x, endless[i].piece, 1000000, &err);
		print_message("%s %s: %d %s\n", endless[i].front, endless[i].piece, rc, err.msg);
		assert_true(
			rc == -endless[i].fail || (rc != 0 && endless[i].fail == ING_FAIL_SYNTAX));
		struct ing_error again = {0};
		assert_int_equal(ing_xml_events_feed(x, "x", 1, &again), rc);
		assert_string_equal(again.msg, err.msg);
		ing_xml_events_free(x);
	}
}

/* Three million elements. A text that has no end, too. */
static void memory_is_flat(void **state)
{
	(void)state;
	struct ing_error err = {0};
	struct ing_xml_events *x = ing_xml_events_new(&nobody, NULL);
	assert_int_equal(feed_many(x, "<a>", 1, &err), 0);
	assert_int_equal(feed_many(x, "<b c='d'>text &amp; <i>more</i></b>\n", 1000, &err), 0);
	size_t before = mallinfo2().uordblks;
	assert_int_equal(feed_many(x, "<b c='d'>text &amp; <i>more</i></b>\n", 300000, &err), 0);
	assert_int_equal(feed_many(x, "0123456789", 1000000, &err), 0);
	assert_true(mallinfo2().uordblks < before + 100000);
	assert_int_equal(feed_many(x, "</a>", 1, &err), 0);
	assert_int_equal(ing_xml_events_end(x, &err), 0);
	ing_xml_events_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_those_of_the_document_however_it_is_cut),
		cmocka_unit_test(utf_16_is_read),
		cmocka_unit_test(what_cannot_be_decoded_is_an_error),
		cmocka_unit_test(markup_and_depth_have_ceilings),
		cmocka_unit_test(memory_is_flat),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
