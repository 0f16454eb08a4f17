/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * XML documents: their statuses, and those that are made to cost more than they should.
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
#include "worker/document/xml/xml_document.h"

#define JATS "application/jats+xml"
#define HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"

static struct ing_xml_reader *reader;
static struct ing_xml_found found;

static void read_document(const char *xml, size_t bytes, const char *mimetype)
{
	ing_xml_found_done(&found);
	ing_xml_read(reader, xml, bytes, mimetype, NULL, &found);
}

static void tells_what_documents_are(void **state)
{
	static const struct {
		const char *xml, *mimetype, *status, *root, *jats_xml;
	} cases[] = {
		{"<article a='&eacute;'/>", JATS, "success", "article",
			HEAD "<article a=\"\xc3\xa9\"/>\n"},
		{"<Doc/>", "text/xml", "success", "Doc", NULL},
		{"<!--x--><tei:TEI/>", "application/tei+xml", "success", "tei:TEI", NULL},
		{"<article><p>a & b</p></article>", JATS, "xml-parse-error", "article", NULL},
		{"<article>", JATS, "xml-parse-error", "article", NULL},
		{"", "text/xml", "xml-parse-error", NULL, NULL},
		{"<a:b:c/>", JATS, "xml-parse-error", "a:b:c", NULL},
		/* Only a document that is written anew has to have namespaces. */
		{"<a:b:c/>", "text/xml", "success", "a:b:c", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].xml);
		read_document(cases[i].xml, strlen(cases[i].xml), cases[i].mimetype);
		assert_string_equal(found.status, cases[i].status);
		bool success = strcmp(cases[i].status, "success") == 0;
		assert_int_equal(found.error_msg == NULL, success);
		if (cases[i].jats_xml != NULL)
			assert_string_equal(found.jats_xml, cases[i].jats_xml);
		else
			assert_null(found.jats_xml);
		if (cases[i].root != NULL)
			assert_string_equal(ing_xml_reader_root(reader), cases[i].root);
		else
			assert_null(ing_xml_reader_root(reader));
		json_t *p = ing_xml_reader_publication(reader);
		assert_int_equal(p != NULL, success && strcmp(cases[i].mimetype, JATS) == 0);
		json_decref(p);
	}
}

/* `times` copies of a piece between two texts, and what becomes of them. */
static void read_repeated(const char *before, const char *piece, size_t times, const char *behind)
{
	struct ing_buf b;
	ing_buf_init(&b, (size_t)256 << 20);
	ing_buf_add_str(&b, before);
	for (size_t i = 0; i < times; i++)
		ing_buf_add_str(&b, piece);
	ing_buf_add_str(&b, behind);
	read_document(ing_buf_str(&b), b.len, JATS);
	ing_buf_done(&b);
}

static void a_million_references_stay_out_of_memory(void **state)
{
	(void)state;
	read_repeated("<article><front/><body><p>text</p></body><back><ref-list>",
		"<ref><mixed-citation><name/></mixed-citation></ref>", 400000,
		"</ref-list></back></article>");
	assert_string_equal(found.status, "success");
	assert_true(strlen(found.jats_xml) > 400000 * 40);
	json_t *p = ing_xml_reader_publication(reader);
	assert_non_null(p);
	json_decref(p);
}

static void hostile_documents_end_as_a_status(void **state)
{
	(void)state;
	read_repeated("<article>", "<sec>", 100000, "");
	assert_string_equal(found.status, "xml-parse-error");
	assert_non_null(strstr(found.error_msg, "deep"));
	read_repeated("<!DOCTYPE article [<!ENTITY a 'lol'><!ENTITY b '", "&a;", 1000,
		"'><!ENTITY c '&b;&b;&b;&b;&b;&b;&b;'>]><article>&c;&c;</article>");
	assert_string_equal(found.status, "success");
	assert_string_equal(found.jats_xml, HEAD "<article>\xef\xbf\xbd\xef\xbf\xbd</article>\n");
	read_repeated("<!DOCTYPE article SYSTEM 'file:///dev/zero' [<!ENTITY % p SYSTEM "
		      "'file:///dev/zero'> %p; ]><article",
		" ", 1, "/>");
	assert_string_equal(found.status, "success");
	assert_string_equal(found.jats_xml, HEAD "<article/>\n");
	/* Four times as long when it is escaped. */
	read_repeated("<article>", ">", ING_MAX_JATS_BYTES / 3, "</article>");
	assert_string_equal(found.status, "text-too-large");
	assert_null(found.jats_xml);
	read_repeated("<article", " a='1'", 2000, "/>");
	assert_string_equal(found.status, "text-too-large");
}

/* Contributors, notes and addresses that would be compared with one another. */
static void crowds_of_authors_are_not_compared(void **state)
{
	(void)state;
	struct ing_buf b;
	ing_buf_init(&b, (size_t)64 << 20);
	ing_buf_add_str(&b, "<article><front><article-meta><contrib-group>");
	for (int i = 0; i < 20000; i++)
		ing_buf_printf(&b,
			"<contrib><name><surname>Z%d</surname></name><xref rid='n%d'/></contrib>",
			i, i);
	ing_buf_add_str(&b, "</contrib-group><author-notes>");
	for (int i = 0; i < 20000; i++)
		ing_buf_printf(&b, "<corresp>a%d@b.example</corresp>", i);
	ing_buf_add_str(&b, "</author-notes></article-meta></front></article>");
	read_document(ing_buf_str(&b), b.len, JATS);
	ing_buf_done(&b);
	json_t *p = ing_xml_reader_publication(reader);
	assert_true(json_is_null(json_object_get(p, "corresp_author")));
	json_decref(p);
}

static int make_reader(void **state)
{
	(void)state;
	reader = ing_xml_reader_new();
	return 0;
}

static int free_reader(void **state)
{
	(void)state;
	ing_xml_found_done(&found);
	ing_xml_reader_free(reader);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_documents_are),
		cmocka_unit_test(a_million_references_stay_out_of_memory),
		cmocka_unit_test(hostile_documents_end_as_a_status),
		cmocka_unit_test(crowds_of_authors_are_not_compared),
	};
	return cmocka_run_group_tests(tests, make_reader, free_reader);
}
