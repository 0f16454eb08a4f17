/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of document types, and what is kept of findings for each of them.
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
#include "common/base/macros.h"
#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"
#include "worker/model/rows.h"

static void names_and_aliases_lead_to_types(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool known;
		enum ing_ingest_type type;
		const char *canonical;
	} cases[] = {
		{.name = "pdf", .known = true, .type = ING_INGEST_PDF, .canonical = "pdf"},
		{.name = "file", .known = true, .type = ING_INGEST_PDF, .canonical = "pdf"},
		{.name = "html", .known = true, .type = ING_INGEST_HTML, .canonical = "html"},
		{.name = "dataset",
			.known = true,
			.type = ING_INGEST_DATASET,
			.canonical = "dataset"},
		{.name = "PDF", .known = false},
		{.name = "", .known = false},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		enum ing_ingest_type type = ING_INGEST_TYPES_;
		assert_int_equal(ing_ingest_type_find(cases[i].name, &type), cases[i].known);
		if (!cases[i].known)
			continue;
		assert_int_equal(type, cases[i].type);
		assert_string_equal(ing_ingest_type_name(type), cases[i].canonical);
	}
}

static void rows_are_complete(void **state)
{
	(void)state;
	for (enum ing_ingest_type i = 0; i < ING_INGEST_TYPES_; i++) {
		const struct ing_artifact_type *type = ing_artifact_type(i);
		assert_non_null(type);
		assert_non_null(type->mimetypes);
		if (type->not_handled != NULL) {
			assert_non_null(strstr(type->not_handled, " pdf"));
			assert_null(strstr(type->not_handled, ing_ingest_type_name(i)));
			continue;
		}
		if (type->is_assembled) {
			assert_null(type->mimetypes[0]);
			assert_int_equal(type->link, ING_ARTIFACT_NO_LINK);
			assert_non_null(type->facts->shrink_result);
			continue;
		}
		assert_non_null(type->mimetypes[0]);
		assert_non_null(type->accept);
		assert_true((type->want & (ING_WANT_LINKS | ING_WANT_WALLS)) != 0);
		assert_in_range(type->link, 0, ING_ARTIFACT_NO_LINK);
		/* A page in place of a document is no success. */
		if (!ing_artifact_accepts(type, "text/html"))
			assert_int_not_equal(type->no_link_status, ING_STATUS_SUCCESS);
		if (type->facts != NULL) {
			assert_non_null(type->facts->keep);
			assert_non_null(type->facts->add_to_result);
		}
	}
}

static void bodies_are_documents_by_their_mimetype(void **state)
{
	(void)state;
	static const struct {
		enum ing_ingest_type type;
		const char *mimetype;
		bool accepted;
	} cases[] = {
		{.type = ING_INGEST_PDF, .mimetype = "application/pdf", .accepted = true},
		{.type = ING_INGEST_PDF, .mimetype = "text/html"},
		{.type = ING_INGEST_HTML, .mimetype = "text/html", .accepted = true},
		{.type = ING_INGEST_HTML, .mimetype = "application/xhtml+xml", .accepted = true},
		{.type = ING_INGEST_HTML, .mimetype = "application/xml"},
		{.type = ING_INGEST_HTML, .mimetype = "application/pdf"},
		{.type = ING_INGEST_DATASET, .mimetype = "application/pdf"},
		{.type = ING_INGEST_SRC, .mimetype = "text/x-tex", .accepted = true},
		{.type = ING_INGEST_SRC, .mimetype = "application/gzip", .accepted = true},
		{.type = ING_INGEST_SRC, .mimetype = "application/pdf"},
		{.type = ING_INGEST_SRC, .mimetype = "text/plain"},
		{.type = ING_INGEST_XML, .mimetype = "application/xml", .accepted = true},
		{.type = ING_INGEST_XML, .mimetype = "text/xml", .accepted = true},
		{.type = ING_INGEST_XML, .mimetype = "application/jats+xml", .accepted = true},
		{.type = ING_INGEST_XML, .mimetype = "application/tei+xml", .accepted = true},
		{.type = ING_INGEST_XML, .mimetype = "application/xhtml+xml"},
		{.type = ING_INGEST_XML, .mimetype = "text/html"},
		{.type = ING_INGEST_COMPONENT, .mimetype = "image/png", .accepted = true},
		{.type = ING_INGEST_COMPONENT, .mimetype = "application/pdf", .accepted = true},
		{.type = ING_INGEST_COMPONENT, .mimetype = "text/xml", .accepted = true},
		{.type = ING_INGEST_COMPONENT, .mimetype = "application/zip", .accepted = true},
		{.type = ING_INGEST_COMPONENT, .mimetype = "application/x-rar", .accepted = true},
		{.type = ING_INGEST_COMPONENT, .mimetype = "text/html"},
		{.type = ING_INGEST_WEBPAGE, .mimetype = "text/html", .accepted = true},
		{.type = ING_INGEST_WEBPAGE, .mimetype = "application/pdf", .accepted = true},
		{.type = ING_INGEST_WEBPAGE, .mimetype = "image/png"},
		{.type = ING_INGEST_PUBLICATION, .mimetype = "text/html"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_artifact_type *type = ing_artifact_type(cases[i].type);
		if (ing_artifact_accepts(type, cases[i].mimetype) != cases[i].accepted)
			fail_msg("case %zu: %s", i, cases[i].mimetype);
	}
}

static char direct[] = "https://h.example/direct";
static char by_rule[] = "https://h.example/by-rule";

static void where_pages_lead(void **state)
{
	(void)state;
	static const struct {
		enum ing_ingest_type type;
		enum ing_link_kind kind; /* of the page's link to direct */
		bool self, next;         /* which is its own; a site's rule has by_rule */
		const char *url;
	} cases[] = {
		{.type = ING_INGEST_PDF, .kind = ING_LINK_PDF, .next = true, .url = direct},
		{.type = ING_INGEST_PDF, .kind = ING_LINK_PDF, .self = true, .url = direct},
		{.type = ING_INGEST_PDF,
			.kind = ING_LINK_PDF,
			.self = true,
			.next = true,
			.url = by_rule},
		{.type = ING_INGEST_PDF, .kind = ING_LINK_HTML, .next = true, .url = by_rule},
		{.type = ING_INGEST_PDF, .kind = ING_LINK_HTML},
		{.type = ING_INGEST_HTML, .kind = ING_LINK_HTML, .url = direct},
		{.type = ING_INGEST_HTML, .kind = ING_LINK_PDF, .next = true},
		{.type = ING_INGEST_XML, .kind = ING_LINK_XML, .url = direct},
		{.type = ING_INGEST_XML, .kind = ING_LINK_PDF, .next = true},
		{.type = ING_INGEST_SRC, .kind = ING_LINK_PDF, .next = true},
		{.type = ING_INGEST_COMPONENT, .kind = ING_LINK_COMPONENT, .url = direct},
		{.type = ING_INGEST_COMPONENT, .kind = ING_LINK_PDF, .next = true},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_page page = {0};
		page.links[cases[i].kind] =
			(struct ing_page_link){.url = direct, .self = cases[i].self};
		if (cases[i].next)
			page.next.url = by_rule;
		const struct ing_page_link *link =
			ing_artifact_link(ing_artifact_type(cases[i].type), &page);
		const char *url = link != NULL ? link->url : NULL;
		if (url != cases[i].url)
			fail_msg("case %zu: %s", i, url != NULL ? url : "nowhere");
	}
}

/* Findings of a page with the record's own title, the page's, both or none. */
static struct ing_findings page_findings(const char *own, const char *page_title)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.exam = ING_EXAM_OK;
	strncpy(f.file.mimetype, "text/html", sizeof(f.file.mimetype) - 1);
	f.page.platform = ing_strdup(page_title != NULL ? page_title : own);
	f.page.title = page_title != NULL ? ing_strdup(page_title) : NULL;
	if (own != NULL) {
		json_t *record = json_pack("{s:s}", "title", own);
		f.page.biblio_json = json_dumps(record, 0);
		json_decref(record);
	}
	return f;
}

struct page_titles {
	const char *own, *page;
};

static void the_page_that_describes_the_work_gives_the_record(void **state)
{
	(void)state;
	static const struct {
		enum ing_ingest_type type;
		struct page_titles first, second;
		const char *title;
	} cases[] = {
		{.type = ING_INGEST_PDF,
			.first = {.own = "1"},
			.second = {.own = "2"},
			.title = "1"},
		{.type = ING_INGEST_PDF,
			.first = {.page = "1"},
			.second = {.own = "2"},
			.title = "2"},
		{.type = ING_INGEST_PDF,
			.first = {.page = "1"},
			.second = {.page = "2"},
			.title = "1"},
		{.type = ING_INGEST_HTML,
			.first = {.own = "1"},
			.second = {.own = "2"},
			.title = "2"},
		{.type = ING_INGEST_HTML,
			.first = {.own = "1"},
			.second = {.page = "2"},
			.title = "1"},
		{.type = ING_INGEST_HTML,
			.first = {.page = "1"},
			.second = {.page = "2"},
			.title = "2"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_artifact_type *type = ing_artifact_type(cases[i].type);
		struct ing_artifact a = {0};
		struct ing_findings first = page_findings(cases[i].first.own, cases[i].first.page);
		struct ing_findings second =
			page_findings(cases[i].second.own, cases[i].second.page);
		ing_artifact_keep(&a, type, &first);
		ing_artifact_keep(&a, type, &second);
		ing_findings_done(&first);
		ing_findings_done(&second);
		const char *title = json_string_value(json_object_get(a.biblio, "title"));
		if (strcmp(title, cases[i].title) != 0)
			fail_msg("case %zu: %s", i, title);
		assert_string_equal(a.platform, "2");
		ing_artifact_done(&a);
	}
}

static struct ing_findings pdf_findings(const char *mimetype)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.exam = ING_EXAM_OK;
	strncpy(f.file.mimetype, mimetype, sizeof(f.file.mimetype) - 1);
	f.pdf.status = ing_strdup("success");
	f.pdf.text = ing_strdup("words");
	return f;
}

/* An examiner may say what nobody has asked it. */
static void facts_of_a_pdf_are_those_of_a_type_that_has_them(void **state)
{
	(void)state;
	static const struct {
		enum ing_ingest_type type;
		const char *mimetype;
		bool kept;
	} cases[] = {
		{.type = ING_INGEST_PDF, .mimetype = "application/pdf", .kept = true},
		{.type = ING_INGEST_PDF, .mimetype = "text/html"},
		{.type = ING_INGEST_HTML, .mimetype = "application/pdf"},
		{.type = ING_INGEST_COMPONENT, .mimetype = "application/pdf", .kept = true},
		{.type = ING_INGEST_COMPONENT, .mimetype = "image/png"},
		{.type = ING_INGEST_SRC, .mimetype = "application/pdf", .kept = true},
		{.type = ING_INGEST_SRC, .mimetype = "application/gzip"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_artifact_type *type = ing_artifact_type(cases[i].type);
		struct ing_artifact a = {0};
		struct ing_findings f = pdf_findings(cases[i].mimetype);
		ing_artifact_keep(&a, type, &f);
		ing_findings_done(&f);
		assert_int_equal(ing_artifact_derived_bytes(&a), cases[i].kept ? 5 : 0);
		json_t *result = json_object();
		ing_artifact_add_facts(&a, type, result);
		assert_int_equal(json_object_get(result, "pdf_meta") != NULL, cases[i].kept);
		json_decref(result);
		ing_artifact_forget_document(&a);
		assert_int_equal(ing_artifact_derived_bytes(&a), 0);
		ing_artifact_done(&a);
	}
}

/* The value is the file itself; what does not fit is left out, and no text without one is made. */
static void the_message_of_a_thumbnail_is_the_picture(void **state)
{
	(void)state;
	const struct ing_artifact_facts *facts = ing_artifact_type(ING_INGEST_PDF)->facts;
	struct ing_artifact a = {.pdf.status = ing_strdup("success")};
	size_t bytes = 0;
	assert_null(facts->message(&a, ING_DERIVED_THUMBNAIL, NULL, 100, &bytes));
	ing_derived_set(&a.derived[ING_DERIVED_THUMBNAIL], ing_strndup("\xff\xd8\0\xff", 4), 4);
	assert_null(facts->message(&a, ING_DERIVED_THUMBNAIL, NULL, 3, &bytes));
	assert_string_equal(a.pdf.status, "success");
	char *value = facts->message(&a, ING_DERIVED_THUMBNAIL, NULL, 4, &bytes);
	assert_int_equal(bytes, 4);
	assert_memory_equal(value, "\xff\xd8\0\xff", 4);
	free(value);
	assert_null(facts->message(&a, ING_DERIVED_PDF_TEXT, NULL, 100, &bytes));
	assert_int_equal(ing_artifact_derived_bytes(&a), 4);
	ing_artifact_done(&a);
}

/* Findings of an XML document; jats_xml NULL: it is none of JATS, or not well-formed. */
static struct ing_findings xml_findings(const char *status, const char *jats_xml)
{
	struct ing_findings f;
	ing_findings_init(&f);
	f.exam = ING_EXAM_OK;
	snprintf(f.file.mimetype, sizeof(f.file.mimetype), "text/xml");
	memset(f.file.sha1hex, 'a', 40);
	f.xml.status = ing_strdup(status);
	if (strcmp(status, "success") != 0)
		f.xml.error_msg = ing_strdup("line 3");
	f.xml.jats_xml = jats_xml != NULL ? ing_strdup(jats_xml) : NULL;
	return f;
}

static json_t *result_of(const struct ing_artifact *a, const struct ing_artifact_type *type)
{
	json_t *result = json_object();
	ing_artifact_add_pages(a, type, result);
	ing_artifact_add_facts(a, type, result);
	return result;
}

static void jats_has_a_message_if_it_fits(void **state)
{
	(void)state;
	const struct ing_artifact_type *type = ing_artifact_type(ING_INGEST_XML);
	struct ing_findings f = xml_findings("success", "<a b=\"1\">\xc3\xa9</a>");
	struct ing_artifact a = {0};
	ing_artifact_keep(&a, type, &f);
	ing_findings_done(&f);
	size_t bytes = 0;
	char *value = type->facts->message(&a, ING_DERIVED_JATS, NULL, 200, &bytes);
	assert_string_equal(value,
		"{\"sha1hex\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\","
		"\"status\":\"success\",\"jats_xml\":\"<a b=\\\"1\\\">\xc3\xa9</a>\"}");
	assert_int_equal(bytes, strlen(value));
	assert_null(type->facts->message(&a, ING_DERIVED_PDF_TEXT, NULL, 200, &bytes));
	json_t *result = result_of(&a, type);
	json_t *meta = json_object_get(result, "xml_meta");
	assert_string_equal(json_string_value(json_object_get(meta, "status")), "success");
	assert_int_equal(json_object_size(meta), 1);
	assert_false(type->facts->shrink_result(result));
	json_decref(result);

	assert_null(type->facts->message(&a, ING_DERIVED_JATS, NULL, strlen(value) - 1, &bytes));
	result = result_of(&a, type);
	meta = json_object_get(result, "xml_meta");
	assert_string_equal(json_string_value(json_object_get(meta, "status")), "text-too-large");
	assert_true(type->facts->shrink_result(result));
	assert_int_equal(json_object_size(meta), 1);
	json_decref(result);
	free(value);
	/* It is still there for an object store. */
	assert_string_equal(a.derived[ING_DERIVED_JATS].data, "<a b=\"1\">\xc3\xa9</a>");
	ing_artifact_forget_document(&a);
	assert_null(a.xml.status);
	ing_artifact_done(&a);
}

/* XML may be a page by its type; the landing page's link is not forgotten for it. */
static void an_xml_document_is_not_the_page_that_led_to_it(void **state)
{
	(void)state;
	const struct ing_artifact_type *type = ing_artifact_type(ING_INGEST_XML);
	struct ing_artifact a = {0};
	struct ing_findings page = page_findings("A title", NULL);
	page.page.status = ING_PAGE_PARSED;
	page.page.links[ING_LINK_XML] = (struct ing_page_link){
		.url = ing_strdup("https://h.example/1.xml"), .technique = ing_strdup("scielo")};
	ing_artifact_keep(&a, type, &page);
	ing_findings_done(&page);
	struct ing_findings f = xml_findings("xml-parse-error", NULL);
	ing_artifact_keep(&a, type, &f);
	ing_findings_done(&f);
	size_t bytes = 0;
	assert_null(type->facts->message(&a, ING_DERIVED_JATS, NULL, 200, &bytes));
	json_t *result = result_of(&a, type);
	json_t *link = json_object_get(result, "extract_next_hop");
	assert_string_equal(
		json_string_value(json_object_get(link, "url")), "https://h.example/1.xml");
	assert_non_null(json_object_get(result, "platform"));
	json_t *meta = json_object_get(result, "xml_meta");
	assert_string_equal(json_string_value(json_object_get(meta, "error_msg")), "line 3");
	json_decref(result);
	ing_artifact_done(&a);
	/* In place of a PDF it is a page that leads nowhere. */
	f = xml_findings("success", NULL);
	ing_artifact_keep(&a, ing_artifact_type(ING_INGEST_PDF), &f);
	ing_findings_done(&f);
	assert_true(a.saw_page);
	assert_null(a.xml.status);
	ing_artifact_done(&a);
}

static void what_an_archive_holds_is_a_list(void **state)
{
	(void)state;
	struct ing_file_meta file = {.contains = "text/x-tex,image/png"};
	json_t *o = ing_file_meta_json(&file);
	char *text = json_dumps(json_object_get(o, "contains"), JSON_COMPACT);
	assert_string_equal(text, "[\"text/x-tex\",\"image/png\"]");
	free(text);
	json_decref(o);
	file.contains[0] = '\0';
	o = ing_file_meta_json(&file);
	assert_null(json_object_get(o, "contains"));
	json_decref(o);
}

static struct ing_findings text_findings(const char *scope)
{
	struct ing_findings f = page_findings("Tides", NULL);
	memcpy(f.file.sha1hex, "aa00000000000000000000000000000000000000", 41);
	f.page.scope = ing_strdup(scope);
	f.text.status = ing_strdup("success");
	f.text.tei_xml = ing_strdup("<TEI>\"a\"</TEI>");
	f.text.language = ing_strdup("en");
	f.text.word_count = 7;
	return f;
}

/* Its TEI is for readers of articles, and in the message only. */
static void the_text_of_a_page_goes_with_its_scope(void **state)
{
	(void)state;
	static const struct {
		const char *scope, *status;
		bool derived;
	} cases[] = {
		{"article-fulltext", "success", true},
		{"unknown", "unknown-scope", true},
		{"landingpage", "wrong-scope", false},
		{"blocked-paywall", "blocked-paywall", false},
	};
	const struct ing_artifact_type *type = ing_artifact_type(ING_INGEST_HTML);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_artifact a = {0};
		struct ing_arena ar = {0};
		struct ing_rows rows = {0};
		struct ing_findings f = text_findings(cases[i].scope);
		ing_arena_init(&ar);
		ing_artifact_keep(&a, type, &f);
		ing_findings_done(&f);
		json_t *result = json_object();
		ing_artifact_add_facts(&a, type, result);
		const json_t *body = json_object_get(result, "html_body");
		assert_string_equal(ing_json_get_text(body, "status"), "success");
		assert_int_equal(ing_json_get_number(body, "word_count"), 7);
		assert_null(json_object_get(body, "tei_xml"));
		json_decref(result);
		ing_artifact_fill_rows(&a, type, &ar, &rows);
		assert_true(rows.html_meta.present);
		assert_string_equal(rows.html_meta.sha1hex, a.file.sha1hex);
		assert_string_equal(rows.html_meta.status, cases[i].status);
		assert_string_equal(rows.html_meta.scope, cases[i].scope);
		assert_int_equal(rows.html_meta.has_teixml, cases[i].derived);
		assert_int_equal(rows.html_meta.word_count, 7);
		assert_string_equal(rows.html_meta.biblio_json, "{\"title\":\"Tides\"}");
		size_t bytes = 0;
		char *value = type->facts->message(&a, ING_DERIVED_HTML_TEI, NULL, 1000, &bytes);
		assert_int_equal(value != NULL, cases[i].derived);
		if (value != NULL) {
			json_t *message = ing_json_parse(value, bytes, &ing_json_own, NULL);
			assert_string_equal(
				ing_json_get_text(message, "tei_xml"), "<TEI>\"a\"</TEI>");
			assert_string_equal(ing_json_get_text(message, "key"), a.file.sha1hex);
			json_decref(message);
		}
		free(value);
		ing_artifact_done(&a);
		ing_arena_done(&ar);
	}
}

static void a_text_that_does_not_fit_stays_an_object(void **state)
{
	(void)state;
	const struct ing_artifact_type *type = ing_artifact_type(ING_INGEST_HTML);
	struct ing_artifact a = {0};
	struct ing_findings f = text_findings("article-fulltext");
	ing_artifact_keep(&a, type, &f);
	ing_findings_done(&f);
	size_t bytes = 0;
	assert_null(type->facts->message(&a, ING_DERIVED_HTML_TEI, NULL, 20, &bytes));
	assert_string_equal(a.text.status, "text-too-large");
	assert_int_equal(ing_artifact_derived_bytes(&a), 14);
	ing_artifact_forget_document(&a);
	assert_null(a.text.status);
	assert_int_equal(ing_artifact_derived_bytes(&a), 0);
	ing_artifact_done(&a);
}

/* The rows of an earlier request give the same facts, as far as they have them. */
static void an_earlier_page_has_its_facts(void **state)
{
	(void)state;
	const struct ing_artifact_facts *facts = ing_artifact_type(ING_INGEST_HTML)->facts;
	const struct ing_rows none = {0};
	const struct ing_rows rows = {.html_meta = {.present = true,
					      .sha1hex = "aa",
					      .status = "success",
					      .scope = "article-fulltext",
					      .has_teixml = true,
					      .word_count = -1,
					      .biblio_json = "{\"title\":\"Tides\"}"}};
	json_t *result = json_object();
	facts->add_earlier(&none, result);
	assert_int_equal(json_object_size(result), 0);
	facts->add_earlier(&rows, result);
	assert_string_equal(ing_json_get_text(result, "scope"), "article-fulltext");
	const json_t *body = json_object_get(result, "html_body");
	assert_string_equal(ing_json_get_text(body, "status"), "success");
	assert_null(json_object_get(body, "word_count"));
	assert_string_equal(
		ing_json_get_text(json_object_get(result, "html_biblio"), "title"), "Tides");
	json_decref(result);
}

static void a_web_page_is_told_with_its_way(void **state)
{
	(void)state;
	static const struct {
		const char *title, *content;
		bool read;
		const char *want; /* of `webpage`, without the way; NULL: none */
	} cases[] = {
		{NULL, NULL, false, NULL},
		{NULL, NULL, true,
			"{\"title\":null,\"content\":null,\"titleLength\":0,\"contentLength\":0,"
			"\"empty\":true,\"usable\":false,\"final\":false}"},
		{"A \U0001f9ec tool", "What it does.", true,
			"{\"title\":\"A \U0001f9ec tool\",\"content\":\"What it does.\",\"titleLength\":9,"
			"\"contentLength\":13,\"empty\":false,\"usable\":false,\"final\":false}"},
		{"Tool", "What it does, said in so many words that there are fifty.", true,
			"{\"titleLength\":4,\"contentLength\":57,\"empty\":false,\"usable\":true,"
			"\"final\":true}"},
		{"A title of fifty characters and of one or two more..", NULL, true,
			"{\"titleLength\":52,\"contentLength\":0,\"empty\":false,\"usable\":true,"
			"\"final\":false}"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_artifact_type *type = ing_artifact_type(ING_INGEST_WEBPAGE);
		struct ing_artifact a = {0};
		struct ing_findings f = page_findings("x", NULL);
		json_t *result = json_pack("{s:[s,s], s:{s:s,s:i,s:s}, s:{s:s}}", "hops",
			"https://a.example/", "https://b.example/", "terminal", "terminal_url",
			"https://b.example/", "terminal_status_code", 200, "terminal_dt",
			"20261121110000", "cdx", "mimetype", "text/html");
		f.webpage.read = cases[i].read;
		f.webpage.title = cases[i].title != NULL ? ing_strdup(cases[i].title) : NULL;
		f.webpage.content = cases[i].content != NULL ? ing_strdup(cases[i].content) : NULL;
		ing_artifact_keep(&a, type, &f);
		ing_findings_done(&f);
		ing_artifact_add_facts(&a, type, result);
		const json_t *got = json_object_get(result, "webpage");
		assert_int_equal(got != NULL, cases[i].want != NULL);
		if (got != NULL) {
			json_t *want = json_loads(cases[i].want, 0, NULL);
			const char *key;
			json_t *value;
			json_object_foreach (want, key, value)
				if (!json_equal(json_object_get(got, key), value))
					fail_msg("case %zu: %s", i, key);
			json_decref(want);
			assert_string_equal(
				ing_json_get_text(got, "startUrl"), "https://a.example/");
			assert_string_equal(
				ing_json_get_text(got, "finalUrl"), "https://b.example/");
			assert_string_equal(ing_json_get_text(got, "contentType"), "text/html");
			assert_int_equal(ing_json_get_number(got, "statusCode"), 200);
			assert_int_equal(ing_json_get_number(got, "fetchTime"), 1795258800000);
			assert_string_equal(
				ing_json_get_text(got, "contentTimeHuman"), "2026-11-21T11:00:00Z");
		}
		bool had_content = cases[i].content != NULL;
		assert_int_equal(ing_artifact_shrink_result(type, result), had_content);
		if (had_content) {
			assert_true(json_is_null(json_object_get(got, "content")));
			assert_true(ing_json_get_true(got, "content_dropped"));
			assert_false(ing_artifact_shrink_result(type, result));
		}
		json_decref(result);
		ing_artifact_done(&a);
	}
}

static void the_full_text_of_a_publication_goes_first(void **state)
{
	(void)state;
	const struct ing_artifact_type *type = ing_artifact_type(ING_INGEST_PUBLICATION);
	json_t *result = json_pack("{s:{s:{s:s}, s:{s:s}, s:n, s:[], s:{s:s}}}", "publication",
		"title", "content", "t", "fulltext", "content", "long", "mesh", "authors",
		"abstract", "content", "short");
	const json_t *publication = json_object_get(result, "publication");
	assert_true(ing_artifact_shrink_result(type, result));
	assert_true(json_is_null(json_object_get(publication, "fulltext")));
	assert_true(ing_json_get_true(publication, "fulltext_dropped"));
	assert_true(json_is_object(json_object_get(publication, "abstract")));
	assert_true(ing_artifact_shrink_result(type, result));
	assert_true(json_is_null(json_object_get(publication, "abstract")));
	assert_false(ing_artifact_shrink_result(type, result));
	assert_true(json_is_object(json_object_get(publication, "title")));
	json_decref(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_web_page_is_told_with_its_way),
		cmocka_unit_test(the_full_text_of_a_publication_goes_first),
		cmocka_unit_test(names_and_aliases_lead_to_types),
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(bodies_are_documents_by_their_mimetype),
		cmocka_unit_test(where_pages_lead),
		cmocka_unit_test(the_page_that_describes_the_work_gives_the_record),
		cmocka_unit_test(the_message_of_a_thumbnail_is_the_picture),
		cmocka_unit_test(facts_of_a_pdf_are_those_of_a_type_that_has_them),
		cmocka_unit_test(jats_has_a_message_if_it_fits),
		cmocka_unit_test(an_xml_document_is_not_the_page_that_led_to_it),
		cmocka_unit_test(what_an_archive_holds_is_a_list),
		cmocka_unit_test(the_text_of_a_page_goes_with_its_scope),
		cmocka_unit_test(a_text_that_does_not_fit_stays_an_object),
		cmocka_unit_test(an_earlier_page_has_its_facts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
