/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is read of GROBID's answers: records, encodings, and what becomes of those that are broken
 * or too large.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/document/tei_header.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"

#define TEI(header, text)                                                                          \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                             \
	"<TEI xml:space=\"preserve\" xmlns=\"http://www.tei-c.org/ns/1.0\">\n"                     \
	"<teiHeader xml:lang=\"en\"><encodingDesc><appInfo>"                                       \
	"<application version=\"0.7.2\" ident=\"GROBID\" when=\"2022-01-02T03:04+0000\"/>"         \
	"</appInfo></encodingDesc>" header "</teiHeader>" text "</TEI>"
#define RECORD(record) TEI("<fileDesc><biblStruct>" record "</biblStruct></fileDesc>", "")
#define METADATA(biblio) "{\"biblio\":" biblio ",\"grobid_timestamp\":\"2022-01-02T03:04+0000\"}"

static struct ing_tei_found got;

static void look(const char *xml, const char *content_type)
{
	got = (struct ing_tei_found){0};
	ing_tei_read(xml, strlen(xml), content_type, &got);
}

static void assert_json(const char *name, const char *text, const char *want)
{
	json_t *a = ing_json_parse(text, strlen(text), &ing_json_own, NULL);
	json_t *b = ing_json_parse(want, strlen(want), &ing_json_own, NULL);
	if (a == NULL || b == NULL || !json_equal(a, b))
		fail_msg("%s:\n%s\nexpected\n%s", name, text, want);
	json_decref(a);
	json_decref(b);
}

static const struct {
	const char *name, *xml, *metadata;
} headers[] = {
	{"an article",
		TEI("<fileDesc><titleStmt><title level='a' type='main'>On\n  Tides</title></titleStmt>"
		    "<publicationStmt><publisher>Sea Press</publisher>"
		    "<date type='published' when='1998-03-12'>12 March 1998</date></publicationStmt>"
		    "<sourceDesc><biblStruct><analytic>"
		    "<author><persName><forename type='first'>Ada</forename>"
		    "<forename type='middle'>B</forename><surname>Möwe</surname></persName>"
		    "<email>ada@sea.example</email><idno type='ORCID'>0000-0001-2345-6789</idno>"
		    "<affiliation key='aff0'><orgName type='department'>Dept. of Waves</orgName>"
		    "<orgName type='institution'>University of the Sea</orgName>"
		    "<address><addrLine>1 Pier</addrLine><postCode>123</postCode>"
		    "<settlement>Port</settlement><country key='SE'>Sweden</country></address>"
		    "</affiliation></author>"
		    "<author><persName><forename type='middle'>Q</forename><surname>Li</surname>"
		    "</persName></author>"
		    "<author><affiliation><orgName type='institution'>Nobody's</orgName></affiliation>"
		    "</author>"
		    "<title level='a' type='main'>On Tides</title></analytic>"
		    "<monogr><title level='j' type='main'>J. Tides</title>"
		    "<idno type='ISSN'>1234-5678</idno><imprint>"
		    "<biblScope unit='volume'>7</biblScope><biblScope unit='issue'>2</biblScope>"
		    "</imprint></monogr><idno type='MD5'>ABC</idno><idno type='DOI'>10.5/X</idno>"
		    "<note type='submission'>now</note></biblStruct></sourceDesc></fileDesc>",
			"<text xml:lang='de'><body><p>Ebbe</p></body></text>"),
		"{\"biblio\":{\"title\":\"On Tides\",\"date\":\"1998-03-12\",\"doi\":\"10.5/X\","
		"\"authors\":["
		"{\"name\":\"Ada B Möwe\",\"given_name\":\"Ada\",\"surname\":\"Möwe\","
		"\"email\":\"ada@sea.example\",\"orcid\":\"0000-0001-2345-6789\","
		"\"affiliation\":{\"department\":\"Dept. of Waves\","
		"\"institution\":\"University of the Sea\",\"address\":{\"addr_line\":\"1 Pier\","
		"\"postCode\":\"123\",\"settlement\":\"Port\",\"country\":\"Sweden\"}}},"
		"{\"name\":\"Q Li\",\"given_name\":\"Q\",\"surname\":\"Li\"}],"
		"\"journal\":{\"name\":\"J. Tides\",\"publisher\":\"Sea Press\","
		"\"issn\":\"1234-5678\",\"volume\":\"7\",\"issue\":\"2\"}},"
		"\"grobid_timestamp\":\"2022-01-02T03:04+0000\",\"language_code\":\"de\"}"},
	{"nothing found", TEI("", ""), METADATA("{}")},
	{"a book, and its title is the record's",
		RECORD("<monogr><title level='m'>Waves</title></monogr>"),
		METADATA("{\"title\":\"Waves\"}")},
	{"a chapter: the book is where it is in",
		RECORD("<analytic><title type='main'>Foam</title></analytic>"
		       "<monogr><title level='m'>Waves</title></monogr>"),
		METADATA("{\"title\":\"Foam\",\"journal\":{\"name\":\"Waves\"}}")},
	{"a title with markup, an entity and white space",
		RECORD("<title type='main'> H<hi rend='sub'>2</hi>O&#160;&amp; <!--no-->  salt "
		       "<![CDATA[<i>]]></title>"),
		METADATA("{\"title\":\"H2O\u00a0& salt <i>\"}")},
	{"an empty date and name",
		RECORD("<date type='published' when=''/><author><persName/></author>"),
		METADATA("{}")},
	{"an address without an organisation",
		RECORD("<author><persName><surname>A</surname></persName><affiliation><address>"
		       "<country>Chad</country></address></affiliation></author>"),
		METADATA("{\"authors\":[{\"name\":\"A\",\"surname\":\"A\"}]}")},
	{"an author within an author",
		RECORD("<author><persName><surname>A</surname></persName><author><persName>"
		       "<surname>B</surname></persName></author></author>"),
		METADATA("{\"authors\":[{\"name\":\"A\",\"surname\":\"A\"}]}")},
	{"an undeclared encoding is UTF-8", TEI("<title type='main'>é</title>", ""),
		METADATA("{\"title\":\"é\"}")},
};

static void headers_become_metadata(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(headers); i++) {
		look(headers[i].xml, NULL);
		if (got.error_msg != NULL)
			fail_msg("%s: %s", headers[i].name, got.error_msg);
		assert_string_equal(got.status, "success");
		assert_string_equal(got.version, "0.7.2");
		assert_string_equal(got.text, headers[i].xml);
		assert_null(got.fatcat_release);
		assert_json(headers[i].name, got.metadata_json, headers[i].metadata);
		ing_tei_found_done(&got);
	}
}

/* Marks of encodings without a document behind them. */
static void nothing_in_utf16_is_no_document(void **state)
{
	static const char *const marks[] = {"\xff\xfe", "\xfe\xff", ""};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(marks); i++) {
		look(marks[i], NULL);
		assert_string_equal(got.status, "bad-grobid-xml");
		ing_tei_found_done(&got);
		look("", "application/xml; charset=utf-16le");
		assert_string_equal(got.status, "bad-grobid-xml");
		ing_tei_found_done(&got);
	}
}

static void a_release_is_26_characters(void **state)
{
	(void)state;
	look(RECORD("<idno type='fatcat'>TOOSHORT</idno>"
		    "<idno type='fatcat'>abcdefghijklmnopqrstuvwx27</idno>"),
		NULL);
	assert_string_equal(got.fatcat_release, "abcdefghijklmnopqrstuvwx27");
	ing_tei_found_done(&got);
}

static const struct {
	const char *name, *xml, *words;
} broken[] = {
	{"nothing", "", "XML"},
	{"no XML", "Internal Server Error", "XML"},
	{"cut", "<TEI><teiHeader><encodingDesc>", "XML"},
	{"other XML", "<html><body/></html>", "no teiHeader"},
	{"a header of nobody", "<TEI><teiHeader/></TEI>", "version"},
	{"an empty version",
		"<TEI><teiHeader><appInfo><application version=' '/></appInfo></teiHeader></TEI>",
		"version"},
	{"an application outside of appInfo",
		"<TEI><teiHeader><application version='1'/></teiHeader></TEI>", "version"},
};

static void what_is_no_tei_is_bad_grobid_xml(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(broken); i++) {
		look(broken[i].xml, "application/xml");
		if (strcmp(got.status, "bad-grobid-xml") != 0 ||
			strstr(got.error_msg, broken[i].words) == NULL)
			fail_msg("%s: %s, %s", broken[i].name, got.status, got.error_msg);
		assert_true(strlen(got.error_msg) <= ING_MAX_GROBID_ERROR_CHARS);
		assert_null(got.text);
		assert_null(got.metadata_json);
		assert_null(got.version);
		ing_tei_found_done(&got);
	}
}

static const struct {
	const char *name, *before, *letter, *content_type, *declared, *want;
} encodings[] = {
	{"none said", "", "\xc3\xa9", NULL, "", "é"},
	{"XML without charset is no ISO-8859-1", "", "\xc3\xa9", "text/xml", "", "é"},
	{"charset of the header", "", "\xe9", "application/xml;charset=ISO-8859-1", "", "é"},
	{"the header wins over the document", "", "\xc3\xa9", "text/xml; charset=UTF-8",
		"<?xml version=\"1.0\" encoding=\"latin1\"?>", "é"},
	{"of the document", "", "\xe9", "text/xml", "<?xml version=\"1.0\" encoding=\"latin1\"?>",
		"é"},
	{"a byte order mark", "\xef\xbb\xbf", "\xc3\xa9", "text/xml; charset=latin1", "", "é"},
	{"ill-formed", "", "\xe9", "text/xml; charset=utf-8", "", "\xef\xbf\xbd"},
};

/* The text is UTF-8 and does not declare to be something else. */
static void answers_are_decoded_as_xml_says(void **state)
{
	static const char front[] = "<TEI><teiHeader><appInfo><application version='1'/></appInfo>"
				    "<title type='main'>";
	static const char back[] = "</title></teiHeader></TEI>";
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(encodings); i++) {
		struct ing_buf xml, text;
		ing_buf_init(&xml, 4096);
		ing_buf_printf(&xml, "%s%s%s%s%s", encodings[i].before, encodings[i].declared,
			front, encodings[i].letter, back);
		ing_buf_init(&text, 4096);
		ing_buf_printf(&text, "%s%s%s", front, encodings[i].want, back);
		look(xml.data, encodings[i].content_type);
		if (strcmp(got.status, "success") != 0)
			fail_msg("%s: %s", encodings[i].name, got.error_msg);
		if (strcmp(got.text, text.data) != 0)
			fail_msg("%s: %s", encodings[i].name, got.text);
		ing_buf_done(&xml);
		ing_buf_done(&text);
		ing_tei_found_done(&got);
	}
}

/* --- what is large --- */

static void look_at(struct ing_buf *xml)
{
	got = (struct ing_tei_found){0};
	assert_false(xml->failed);
	ing_tei_read(xml->data, xml->len, NULL, &got);
	ing_buf_done(xml);
}

static void add_many(struct ing_buf *b, const char *s, size_t times)
{
	for (size_t i = 0; i < times; i++)
		ing_buf_add_str(b, s);
}

static void assert_end(const char *status, const char *words)
{
	assert_string_equal(got.status, status);
	if (words != NULL && strstr(got.error_msg, words) == NULL)
		fail_msg("%s", got.error_msg);
	ing_tei_found_done(&got);
}

static void more_characters_than_an_article_has_are_an_error(void **state)
{
	static const char front[] = TEI("", "<text><body>");
	struct ing_buf xml;
	(void)state;
	for (int over = 0; over < 2; over++) {
		ing_buf_init(&xml, (size_t)128 << 20);
		ing_buf_add(&xml, front, strlen(front) - strlen("</TEI>"));
		size_t rest = ING_MAX_GROBID_CHARS - xml.len - strlen("</body></text></TEI>");
		add_many(&xml, "é", rest + (size_t)over);
		ing_buf_add_str(&xml, "</body></text></TEI>");
		look_at(&xml);
		assert_end(over ? "error" : "success", over ? "response XML too large" : NULL);
	}
	ing_buf_init(&xml, (size_t)128 << 20); /* fewer, of three bytes each */
	add_many(&xml, "水", ING_MAX_GROBID_BYTES / 3 + 1);
	look_at(&xml);
	assert_end("error", "response XML too large");
}

static void bombs_end_as_bad_xml(void **state)
{
	struct ing_buf xml;
	(void)state;
	ing_buf_init(&xml, 8 << 20);
	add_many(&xml, "<a>", 100000);
	look_at(&xml);
	assert_end("bad-grobid-xml", "deep");
	ing_buf_init(&xml, 8 << 20);
	ing_buf_add_str(&xml, "<a");
	for (int i = 0; i < 100000; i++)
		ing_buf_printf(&xml, " a%d='x'", i);
	ing_buf_add_str(&xml, "/>");
	look_at(&xml);
	assert_end("bad-grobid-xml", NULL);
	/* Entities of entities: none expands. */
	ing_buf_init(&xml, 8 << 20);
	ing_buf_add_str(&xml, "<!DOCTYPE TEI [<!ENTITY a \"boom\">");
	for (int i = 'b'; i <= 'z'; i++)
		ing_buf_printf(&xml, "<!ENTITY %c \"&%c;&%c;&%c;&%c;&%c;&%c;&%c;&%c;\">", i, i - 1,
			i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	ing_buf_add_str(&xml, "]>");
	ing_buf_add_str(&xml, strstr(RECORD("<title type='main'>&z;</title>"), "<TEI"));
	look_at(&xml);
	assert_json("bomb", got.metadata_json, METADATA("{\"title\":\"\xef\xbf\xbd\"}"));
	assert_end("success", NULL);
}

/* A list that would not fit is cut; the rest of the record is there. */
static void assert_authors_are_cut(const char *name, size_t repeated, size_t times, size_t least)
{
	struct ing_buf xml;
	ing_buf_init(&xml, (size_t)128 << 20);
	const char *whole = RECORD("<title type='main'>T</title>");
	const char *at = strstr(whole, "</biblStruct>");
	ing_buf_add(&xml, whole, (size_t)(at - whole));
	for (size_t i = 0; i < times; i++) {
		ing_buf_add_str(&xml, "<author><persName><surname>");
		add_many(&xml, name, repeated);
		ing_buf_add_str(&xml, "</surname></persName></author>");
	}
	ing_buf_add_str(&xml, at);
	look_at(&xml);
	assert_string_equal(got.status, "success");
	assert_true(strlen(got.metadata_json) <= ING_MAX_BIBLIO_BYTES);
	json_t *o =
		ing_json_parse(got.metadata_json, strlen(got.metadata_json), &ing_json_own, NULL);
	json_t *biblio = json_object_get(o, "biblio");
	assert_string_equal(ing_json_get_text(biblio, "title"), "T");
	size_t count = json_array_size(json_object_get(biblio, "authors"));
	assert_true(count >= least && count < times);
	json_decref(o);
	ing_tei_found_done(&got);
}

static void too_many_authors_are_cut(void **state)
{
	(void)state;
	assert_authors_are_cut("A", 1, 150000, 5000);
	assert_authors_are_cut("\"\\", 4096, 1000, 10); /* twice as long in JSON */
}

/* A field of any length is cut between characters. */
static void a_long_title_is_cut(void **state)
{
	struct ing_buf xml;
	(void)state;
	ing_buf_init(&xml, (size_t)128 << 20);
	const char *whole = RECORD("<title type='main'>x</title>");
	const char *at = strstr(whole, "</title>");
	ing_buf_add(&xml, whole, (size_t)(at - whole));
	add_many(&xml, "水", 100000);
	ing_buf_add_str(&xml, at);
	look_at(&xml);
	json_t *o =
		ing_json_parse(got.metadata_json, strlen(got.metadata_json), &ing_json_own, NULL);
	assert_non_null(o);
	const char *title = ing_json_get_text(json_object_get(o, "biblio"), "title");
	assert_true(strlen(title) % 3 == 1 && strlen(title) > 8000 && strlen(title) <= 8192);
	json_decref(o);
	ing_tei_found_done(&got);
}

/* Of what is said beside the record, so that the metadata stay as short as they may be. */
static void long_attributes_are_none(void **state)
{
	static const char text[] = "<TEI><teiHeader><appInfo><application version='1' when='";
	struct ing_buf xml;
	(void)state;
	ing_buf_init(&xml, (size_t)128 << 20);
	ing_buf_add_str(&xml, text);
	add_many(&xml, "2", 2000000);
	ing_buf_add_str(&xml, "'/></appInfo></teiHeader><text xml:lang='");
	add_many(&xml, "e", 2000000);
	ing_buf_add_str(&xml, "'/></TEI>");
	look_at(&xml);
	assert_json("long", got.metadata_json, "{\"biblio\":{}}");
	assert_end("success", NULL);
	ing_buf_init(&xml, (size_t)128 << 20);
	ing_buf_add(&xml, text, strlen("<TEI><teiHeader><appInfo><application version='"));
	add_many(&xml, "1", 65);
	ing_buf_add_str(&xml, "'/></appInfo></teiHeader></TEI>");
	look_at(&xml);
	assert_end("bad-grobid-xml", "version");
}

/* --- references --- */

#define LIST(records)                                                                                  \
	"<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader/><text><back><div><listBibl>\n" records \
	"</listBibl></div></back></text></TEI>"

static const struct {
	const char *name, *xml, *want; /* want NULL: refused */
} lists[] = {
	{"none", LIST(""), "[]"},
	{"an article, and one that says nothing",
		LIST("<biblStruct xml:id='b0'><analytic><title level='a' type='main'>A</title>"
		     "<author><persName><forename type='first'>W</forename>"
		     "<forename type='middle'>V O</forename><surname>Quine</surname></persName>"
		     "</author><idno type='DOI'>10.1/a</idno><idno type='arXiv'>arXiv:1901.1</idno>"
		     "<idno type='PMID'>1</idno><idno type='PMCID'>PMC2</idno>"
		     "<ptr target='https://doi.org/10.1/a'/></analytic>"
		     "<monogr><title level='j' type='abbrev'>J. A.</title>"
		     "<editor><persName><surname>E</surname></persName><persName><surname>F</surname>"
		     "</persName></editor><editor>Bare Name</editor><editor>X</editor><imprint>"
		     "<publisher>P</publisher><biblScope unit='page' from='1' to='9'/>"
		     "<date type='published' when='1976'>1976b</date></imprint></monogr>"
		     "<note type='raw_reference'>Quine,\n W. V. O.</note></biblStruct><biblStruct/>"),
		"[{\"authors\":[{\"full_name\":\"W V O Quine\",\"given_name\":\"W\","
		"\"middle_name\":\"V O\",\"surname\":\"Quine\"}],\"title\":\"A\","
		"\"journal\":\"J. A.\",\"journal_abbrev\":\"J. A.\",\"editors\":["
		"{\"full_name\":\"E\",\"surname\":\"E\"},{\"full_name\":\"F\",\"surname\":\"F\"},"
		"{\"full_name\":\"Bare Name\"}],\"publisher\":\"P\",\"pages\":\"1-9\","
		"\"first_page\":\"1\",\"last_page\":\"9\",\"date\":\"1976\",\"doi\":\"10.1/a\","
		"\"arxiv_id\":\"1901.1\",\"pmid\":\"1\",\"pmcid\":\"PMC2\","
		"\"unstructured\":\"Quine, W. V. O.\"},{\"authors\":[]}]"},
	{"a book with a note and a link",
		LIST("<biblStruct><monogr><title level='m' type='main'>B</title>"
		     "<imprint><biblScope unit='page'>7</biblScope></imprint></monogr>"
		     "<note>2nd ed.</note><ptr target=' &lt;http://b.example/.Lastaccessed'/>"
		     "</biblStruct>"),
		"[{\"authors\":[],\"title\":\"B\",\"pages\":\"7\",\"note\":\"2nd ed.\","
		"\"url\":\"http://b.example/\"}]"},
	{"one within another",
		LIST("<biblStruct><note>1</note><biblStruct><note>2</note></biblStruct></biblStruct>"
		     "<biblStruct><note>3</note></biblStruct>"),
		"[{\"authors\":[],\"note\":\"1\"},{\"authors\":[],\"note\":\"3\"}]"},
	{"broken", "<TEI><listBibl>", NULL},
	{"no XML", "busy", NULL},
};

static void references_become_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(lists); i++) {
		struct ing_error err = {0};
		json_t *list = ing_tei_read_references(
			lists[i].xml, strlen(lists[i].xml), "application/xml", &err);
		if ((list == NULL) != (lists[i].want == NULL) ||
			(list == NULL) != (err.msg[0] != '\0'))
			fail_msg("%s: %s", lists[i].name, err.msg);
		if (list == NULL)
			continue;
		char *text = ing_json_dump(list, NULL);
		assert_json(lists[i].name, text, lists[i].want);
		free(text);
		json_decref(list);
	}
}

/* --- as an examiner asks for it --- */

static void an_examination_has_the_header(void **state)
{
	const struct ing_exam_request q = {.url = "",
		.content_type = "text/xml; charset=latin1",
		.want = ING_WANT_TEI,
		.max_body_bytes = 1};
	struct ing_findings f;
	(void)state;
	ing_findings_init(&f);
	ing_document_tei(&q, "<a>\xe9", 4, &f);
	assert_int_equal(f.exam, ING_EXAM_OK);
	assert_string_equal(f.tei.status, "bad-grobid-xml");
	assert_true(f.file.mimetype[0] != '\0' && !f.file.decoded && f.file.size_bytes == 4);
	ing_findings_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_become_metadata),
		cmocka_unit_test(nothing_in_utf16_is_no_document),
		cmocka_unit_test(a_release_is_26_characters),
		cmocka_unit_test(what_is_no_tei_is_bad_grobid_xml),
		cmocka_unit_test(answers_are_decoded_as_xml_says),
		cmocka_unit_test(more_characters_than_an_article_has_are_an_error),
		cmocka_unit_test(bombs_end_as_bad_xml),
		cmocka_unit_test(too_many_authors_are_cut),
		cmocka_unit_test(a_long_title_is_cut),
		cmocka_unit_test(long_attributes_are_none),
		cmocka_unit_test(references_become_records),
		cmocka_unit_test(an_examination_has_the_header),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
