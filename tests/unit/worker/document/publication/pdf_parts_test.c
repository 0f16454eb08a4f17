/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What PDFs say of a publication: Info dictionary before XMP, and what programs write where nobody said
 * anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "found_helper.h"
#include "worker/document/publication/readers.h"
#include "worker/model/findings.h"

#define XMP(inner)                                                                                 \
	"<?xpacket begin='\xef\xbb\xbf' id='W5M0MpCehiHzreSzNTczkc9d'?>"                           \
	"<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF>" inner "</rdf:RDF></x:xmpmeta>\n  "         \
	"<?xpacket end='w'?>"
#define DC                                                                                         \
	"<rdf:Description><dc:title><rdf:Alt><rdf:li xml:lang='x-default'>XMP title</rdf:li>"      \
	"</rdf:Alt></dc:title><dc:subject><rdf:Bag><rdf:li>x1</rdf:li><rdf:li>x2, x3</rdf:li>"     \
	"</rdf:Bag></dc:subject><dc:description><rdf:Alt><rdf:li>XMP &amp;lt;i&amp;gt;abstract"    \
	"&amp;lt;/i&amp;gt;</rdf:li></rdf:Alt></dc:description>"                                   \
	"<pdf:Keywords>k1; k2</pdf:Keywords></rdf:Description>"

static const struct pdf {
	const char *name;
	const char *status, *info, *xmp, *text;
	enum ing_part_type type;
	const char *want;
} pdfs[] = {
	{"the Info dictionary first", "success",
		"{\"Title\":\"Info title\",\"Keywords\":\"a; b|c,, a\",\"Subject\":\"Info &amp; "
		"abstract\",\"Author\":\"A. B\"}",
		XMP(DC), "\n  page one\fpage two\f", ING_PART_TYPE_DOI,
		"title pdf_doi Info title\nkeywords pdf_doi a; b; c\n"
		"abstract pdf_doi Info & abstract\nfulltext pdf_doi page one\npage two\n"},
	{"XMP where it says nothing", "success", "{\"Title\":\" \",\"Keywords\":\"\"}", XMP(DC),
		NULL, ING_PART_TYPE_PDF_OADOI,
		"title pdf_oadoi XMP title\nkeywords pdf_oadoi x1; x2; x3\n"
		"abstract pdf_oadoi XMP abstract\n"},
	{"attributes of XMP, its keywords as text", "success", NULL,
		XMP("<rdf:Description dc:title='By attribute' pdf:Keywords='k1|k2'/>"), NULL,
		ING_PART_TYPE_LINK_CITATION,
		"title pdf_citation By attribute\nkeywords pdf_citation k1; k2\n"},
	{"a file's name is no title", "success", "{\"Title\":\"Microsoft Word - ms_final2.doc\"}",
		XMP("<rdf:Description><dc:title>nar-2016.indd</dc:title></rdf:Description>"), "x",
		ING_PART_TYPE_DOI, "fulltext pdf_doi x\n"},
	{"nor is a place holder; XMP's title is", "success", "{\"Title\":\"untitled\"}", XMP(DC),
		NULL, ING_PART_TYPE_DOI,
		"title pdf_doi XMP title\nkeywords pdf_doi x1; x2; x3\nabstract pdf_doi XMP abstract\n"},
	{"a title may begin with a word of these", "success",
		"{\"Title\":\"Untitled works of art\"}", NULL, NULL, ING_PART_TYPE_DOI,
		"title pdf_doi Untitled works of art\n"},
	{"one in another script", "success", "{\"Title\":\"\xe6\xb8\xac\xe5\xae\x9a\"}", NULL, NULL,
		ING_PART_TYPE_DOI, "title pdf_doi \xe6\xb8\xac\xe5\xae\x9a\n"},
	{"XMP that is cut counts to there", "success", NULL,
		"<x:xmpmeta><rdf:RDF><rdf:Description><dc:title>Half a title</dc:title><dc:subj",
		NULL, ING_PART_TYPE_DOI, "title pdf_doi Half a title\n"},
	{"Info that is no JSON", "success", "[1", NULL, "text", ING_PART_TYPE_DOI,
		"fulltext pdf_doi text\n"},
	{"one that cannot be read", "parse-error", NULL, NULL, NULL, ING_PART_TYPE_DOI,
		"bad-answer: PDF: parse-error: why\n"},
	{"one with too much text keeps its facts", "text-too-large", "{\"Title\":\"A long book\"}",
		NULL, NULL, ING_PART_TYPE_DOI,
		"too-large: PDF: text-too-large: why\ntitle pdf_doi A long book\n"},
};

static void open_pdf(const struct pdf *c, struct ing_pdf *pdf)
{
	*pdf = (struct ing_pdf){.status = ing_strdup(c->status), .error_msg = ing_strdup("why")};
	pdf->info_json = c->info != NULL ? ing_strdup(c->info) : NULL;
	pdf->meta_xml = c->xmp != NULL ? ing_strdup(c->xmp) : NULL;
	pdf->text = c->text != NULL ? ing_strdup(c->text) : NULL;
}

static void a_pdf_gives_its_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(pdfs); i++) {
		struct ing_pdf pdf;
		struct ing_publication_found found = {.citations = -1};
		const struct ing_publication_ask ask = {.type = pdfs[i].type};
		open_pdf(&pdfs[i], &pdf);
		const struct ing_publication_body body = {
			.mimetype = "application/pdf", .data = "", .pdf = &pdf};
		ing_publication_read(&ask, &body, &found);
		assert_found(pdfs[i].name, &found, pdfs[i].want);
		ing_publication_found_done(&found);
		ing_pdf_done(&pdf);
	}
}

static void parts_that_are_not_wanted_are_left_out(void **state)
{
	(void)state;
	struct ing_pdf pdf;
	struct ing_publication_found found = {.citations = -1};
	const struct ing_publication_ask ask = {
		.type = ING_PART_TYPE_DOI, .parts = 1u << ING_PART_FULLTEXT};
	open_pdf(&pdfs[0], &pdf);
	const struct ing_publication_body body = {
		.mimetype = "application/pdf", .data = "", .pdf = &pdf};
	ing_publication_read(&ask, &body, &found);
	assert_found("wanted", &found, "fulltext pdf_doi page one\npage two\n");
	ing_publication_found_done(&found);
	ing_pdf_done(&pdf);
}

static void a_pdf_is_a_web_page_too(void **state)
{
	(void)state;
	struct ing_pdf pdf;
	struct ing_webpage_found found = {0};
	open_pdf(&pdfs[0], &pdf);
	const struct ing_publication_body body = {
		.mimetype = "application/pdf", .data = "", .pdf = &pdf};
	ing_webpage_read(&body, &found);
	assert_true(found.read);
	assert_string_equal(found.title, "Info title");
	assert_string_equal(found.content, "page one\npage two");
	ing_webpage_found_done(&found);
	ing_pdf_done(&pdf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pdf_gives_its_parts),
		cmocka_unit_test(parts_that_are_not_wanted_are_left_out),
		cmocka_unit_test(a_pdf_is_a_web_page_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
