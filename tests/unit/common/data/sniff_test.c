/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Types of small bodies: what is decided without libmagic, what refines its answer, and what is its
 * own to say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/sniff.h"

#define XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define BYTES(s) s, sizeof(s) - 1

static const struct {
	const char *name;
	const char *data;
	size_t bytes;
	const char *want;
} cases[] = {
	{"nothing", BYTES(""), "application/x-empty"},
	{"text", BYTES("A line of words.\nAnd another.\n"), "text/plain"},
	{"noise", BYTES("\x01\x80\xfe\xf3\x02\x99\x01\x80"), "application/octet-stream"},

	{"PDF", BYTES("%PDF-1.4\n%\xe2\xe3\n"), "application/pdf"},
	{"PDF behind a blank line", BYTES("\r\n\r\n%PDF-1.7\n"), "application/pdf"},
	{"PDF behind binary junk", BYTES("\x01\x02\x03\xff\xfe%PDF-1.3\n"), "application/pdf"},
	{"PDF without the dash", BYTES("%PDF SOME JUNK"), "text/plain"},
	{"a page about PDF", BYTES("<!doctype html><p>%PDF-1.4 is how a file begins"), "text/html"},

	{"doctype", BYTES("<!DOCTYPE html><title>x</title>"), "text/html"},
	{"doctype of old", BYTES("<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 3.2//EN\">"),
		"text/html"},
	{"white space first", BYTES("\n \t\r\n<hTmL lang=en>"), "text/html"},
	{"byte order mark first", BYTES("\xef\xbb\xbf<!doctype html>"), "text/html"},
	{"comments first", BYTES("<!-- a --> <!-- b -- > --><html>"), "text/html"},
	{"script first", BYTES("<!doctype html><script>var a = 1; function b() {}</script>"),
		"text/html"},
	{"XHTML 1 without an XML declaration",
		BYTES("<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"x\">"
		      "<html xmlns=\"http://www.w3.org/1999/xhtml\">"),
		"text/html"},
	{"a paragraph", BYTES("<p>Moved.</p>\n"), "text/html"},
	{"a link", BYTES("<a href=x>here</a>"), "text/html"},
	{"comment and text", BYTES("<!-- hello --> there"), "text/html"},
	{"head", BYTES("<head><meta charset=utf-8>"), "text/html"},
	{"a word that begins like a tag", BYTES("<people> are words too"), "text/plain"},
	{"a longer name", BYTES("<htmlx>"), "text/plain"},

	{"XML", BYTES(XML "<doc/>"), "text/xml"},
	{"XHTML", BYTES(XML "<html xmlns=\"http://www.w3.org/1999/xhtml\"><head/></html>"),
		"application/xhtml+xml"},
	{"HTML as XML", BYTES(XML "<html><head/></html>"), "text/html"},
	{"JATS", BYTES(XML "<article article-type=\"research-article\"><front/></article>"),
		"application/jats+xml"},
	{"an article of another kind", BYTES(XML "<article><front/></article>"), "text/xml"},
	{"JATS by its document type",
		BYTES(XML "<!DOCTYPE article PUBLIC \"-//NLM//DTD JATS (Z39.96) Journal Archiving "
			  "and Interchange DTD v1.0 20120330//EN\" \"x\">\n<article>"),
		"application/jats+xml"},
	{"NLM",
		BYTES(XML "<!DOCTYPE article PUBLIC \"-//NLM//DTD Journal Publishing DTD v2.3 "
			  "20070202//EN\" \"x\">\n<article>"),
		"application/jats+xml"},
	{"JATS by its parts", BYTES(XML "<article>\n<front><journal-meta/></front></article>"),
		"application/jats+xml"},
	{"JATS without an XML declaration",
		BYTES("<article xml:lang=\"en\"\n dtd-version='1.2'><front/></article>"),
		"application/jats+xml"},
	{"JATS behind a licence",
		BYTES(XML "<!-- <html> is mentioned > here -->\n<?style a?>\n<article>"
			  "<front><article-meta>"),
		"application/jats+xml"},
	{"JATS of a DTD with a subset",
		BYTES(XML "<!DOCTYPE article SYSTEM \"JATS-archivearticle1.dtd\" [\n<!-- ] -->"
			  "<!ENTITY a \"]>\">\n]>\n<article>"),
		"application/jats+xml"},
	{"JATS with a prefix", BYTES(XML "<j:article xmlns:j=\"https://jats.nlm.nih.gov/ns/1\"/>"),
		"application/jats+xml"},
	{"JATS whose first tag is cut", BYTES(XML "<article article-type=\"x\" "),
		"application/jats+xml"},
	{"JATS in UTF-16",
		BYTES("\xff\xfe<\0?\0x\0m\0l\0 \0?\0>\0<\0a\0r\0t\0i\0c\0l\0e\0>\0"
		      "<\0f\0r\0o\0n\0t\0>\0<\0a\0r\0t\0i\0c\0l\0e\0-\0m\0e\0t\0a\0/\0>\0"),
		"application/jats+xml"},
	{"articles of PMC", BYTES(XML "<pmc-articleset><article>"), "application/jats+xml"},
	{"DocBook",
		BYTES(XML "<!DOCTYPE article PUBLIC \"-//OASIS//DTD DocBook XML V4.5//EN\" \"x\">"
			  "<article lang=\"en\" xmlns:xlink=\"x\"><title>"),
		"text/xml"},
	{"DocBook 5", BYTES(XML "<article xmlns='http://docbook.org/ns/docbook' xmlns:xlink='x'>"),
		"text/xml"},
	{"an article within something else", BYTES(XML "<rss><article article-type=\"x\"/></rss>"),
		"text/xml"},
	{"TEI", BYTES(XML "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader/>"),
		"application/tei+xml"},
	{"TEI without a declaration", BYTES("<TEI.2 id=\"a\"><teiHeader>"), "application/tei+xml"},
	{"PubMed", BYTES("<PubmedArticleSet><PubmedArticle>"), "text/xml"},
	{"XML that speaks of pages", BYTES(XML "<doc>\n<title>x</title><h1><html><p>"), "text/xml"},
	{"XML in UTF-16", BYTES("\xfe\xff\0<\0?\0x\0m\0l\0 \0?\0>\0<\0a\0>\0b\0<\0/\0a\0>"),
		"text/xml"},
	{"an article of a page", BYTES("<article class=\"post\"><h1>"), "text/plain"},
	{"SVG", BYTES("<svg xmlns=\"http://www.w3.org/2000/svg\"/>"), "image/svg+xml"},

	{"gzip", BYTES("\x1f\x8b\x08\0\0\0\0\0\0\3"), "application/gzip"},
	{"zip",
		BYTES("PK\3\4\24\0\0\0\0\0\0\0\0\0" /* version, flags, stored, time, date */
		      "\0\0\0\0\0\0\0\0\0\0\0\0"    /* checksum, sizes */
		      "\5\0\0\0a.txt"
		      "0123456789abcdef"),
		"application/zip"},
	{"PNG", BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0"), "image/png"},
	{"JSON", BYTES("{\"a\": 1}"), "application/json"},
};

static void knows_small_bodies(void **state)
{
	(void)state;
	assert_true(ing_sniff_warm());
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		char type[ING_MEDIA_TYPE_BYTES];
		print_message("%s\n", cases[i].name);
		/* Without the literal's NUL, so that reading past the end is seen. */
		char *copy = malloc(cases[i].bytes + (cases[i].bytes == 0));
		assert_non_null(copy);
		memcpy(copy, cases[i].data, cases[i].bytes);
		ing_sniff(copy, cases[i].bytes, type);
		assert_string_equal(type, cases[i].want);
		free(copy);
	}
}

static void pdf_may_start_within_1024_bytes(void **state)
{
	(void)state;
	char data[2048];
	char type[ING_MEDIA_TYPE_BYTES];
	for (size_t at = 0; at < sizeof(data) - 16; at += 101) {
		memset(data, '\x90', sizeof(data));
		memcpy(data + at, "%PDF-1.5\n", 9);
		ing_sniff(data, sizeof(data), type);
		assert_int_equal(
			strcmp(type, "application/pdf") == 0, at + strlen("%PDF-") <= 1024);
		assert_int_equal(ing_sniff_is_pdf(data, sizeof(data)), at + 5 <= 1024);
	}
}

static void only_the_first_mebibyte_counts(void **state)
{
	(void)state;
	size_t bytes = ING_SNIFF_BYTES + 4096;
	char *data = malloc(bytes);
	char type[ING_MEDIA_TYPE_BYTES];
	assert_non_null(data);
	memset(data, 'a', bytes);
	memset(data + ING_SNIFF_BYTES, '\0', 4096); /* no longer text, if it were looked at */
	ing_sniff(data, bytes, type);
	assert_string_equal(type, "text/plain");
	free(data);
}

static void tells_pages(void **state)
{
	(void)state;
	assert_true(ing_sniff_is_html("text/html"));
	assert_true(ing_sniff_is_html("application/xhtml+xml"));
	assert_false(ing_sniff_is_html("text/plain"));
	assert_false(ing_sniff_is_html(""));
}

static int let_go(void **state)
{
	(void)state;
	ing_sniff_done();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_small_bodies),
		cmocka_unit_test(pdf_may_start_within_1024_bytes),
		cmocka_unit_test(only_the_first_mebibyte_counts),
		cmocka_unit_test(tells_pages),
	};
	return cmocka_run_group_tests(tests, NULL, let_go);
}
