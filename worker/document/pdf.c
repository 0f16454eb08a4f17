/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With pdf_thumbnail.c the only file that includes poppler. A PDF may make it hang, crash or fill
 * the memory, which is why it runs in a process of its own with limits. Bounded here is what it
 * returns: text, XMP, the Info dictionary. What matters most is read first.
 */
#include "worker/document/document.h"

#include <poppler.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/json.h"
#include "common/data/sniff.h"
#include "worker/document/pdf.h"
#include "worker/document/pdf_info.h"
#include "worker/document/pdf_thumbnail.h"
#include "worker/document/words.h"
#include "worker/model/findings.h"
#include "worker/model/limits.h"

/* A code point is at most four bytes; the page that goes over the limit is read whole. */
#define MAX_TEXT_BYTES (ING_MAX_PDF_TEXT_CHARS * (size_t)4 + ((size_t)4 << 20))
#define MAX_MISSING_PAGES 64 /* a page tree that promises more than it has */
#define MAX_ERROR_CHARS ((size_t)500)

/* A page of text without a cross-reference table (poppler rebuilds it): what it loads stays. */
static const char warm_pdf[] =
	"%PDF-1.4\n"
	"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
	"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]/Contents 4 0 R"
	"/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
	"4 0 obj<</Length 27>>stream\nBT/F 9 Tf 9 9 Td(warm)Tj ET\nendstream endobj\n"
	"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
	"trailer<</Root 1 0 R/Size 6>>\n";

static PopplerDocument *warm_doc; /* kept: poppler drops its globals with the last document */

/* Valid UTF-8 on our heap out of poppler's, which is freed; NULL stays NULL. */
static char *take_text(char *s, size_t max_bytes)
{
	if (s == NULL)
		return NULL;
	size_t bytes = ing_utf8_cut(s, strlen(s), max_bytes);
	char *clean = ing_utf8_clean(s, bytes, NULL);
	ing_must(clean != NULL);
	g_free(s);
	return clean;
}

/* RFC 3339, the offset as the document has it; NULL for a year that the notation does not have. */
static char *take_date(GDateTime *t)
{
	if (t == NULL)
		return NULL;
	bool utc = g_date_time_get_utc_offset(t) == 0;
	char *s = g_date_time_format(t, utc ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%dT%H:%M:%S%:z");
	g_date_time_unref(t);
	char *copy = NULL;
	if (s != NULL && strlen(s) >= 20 && s[4] == '-') /* %Y does not pad */
		copy = ing_strdup(s);
	g_free(s);
	return copy;
}

static void add_info(json_t *info, const char *key, const char *value)
{
	if (value != NULL)
		ing_json_set_text(info, key, value);
}

/* What poppler knows of it: new reference. */
static json_t *known_info(PopplerDocument *doc, struct ing_pdf *ret)
{
	static const struct {
		const char *key;
		char *(*get)(PopplerDocument *);
	} strings[] = {
		{"Title", poppler_document_get_title},
		{"Author", poppler_document_get_author},
		{"Subject", poppler_document_get_subject},
		{"Keywords", poppler_document_get_keywords},
		{"Creator", poppler_document_get_creator},
		{"Producer", poppler_document_get_producer},
	};
	json_t *info = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(strings); i++) {
		char *value = take_text(strings[i].get(doc), ING_MAX_PDF_INFO_BYTES);
		add_info(info, strings[i].key, value);
		free(value);
	}
	ret->created = take_date(poppler_document_get_creation_date_time(doc));
	char *modified = take_date(poppler_document_get_modification_date_time(doc));
	add_info(info, "CreationDate", ret->created);
	add_info(info, "ModDate", modified);
	free(modified);
	return info;
}

/* poppler gives 32 hex digits without a NUL, or NULL. */
static char *take_id(char *id)
{
	char *copy = id != NULL ? ing_strndup(id, 32) : NULL;
	g_free(id);
	return copy;
}

/* Returns the Info dictionary, as far as poppler knows it: new reference. */
static json_t *read_facts(PopplerDocument *doc, PopplerPage *page0, struct ing_pdf *ret)
{
	char *permanent = NULL;
	char *update = NULL;
	if (poppler_document_get_id(doc, &permanent, &update)) {
		ret->permanent_id = take_id(permanent);
		ret->update_id = take_id(update);
	}
	guint major = 0;
	guint minor = 0;
	poppler_document_get_pdf_version(doc, &major, &minor);
	char version[32];
	snprintf(version, sizeof(version), "%u.%u", major, minor);
	ret->pdf_version = ing_strdup(version);
	poppler_page_get_size(page0, &ret->page0_width, &ret->page0_height);
	json_t *info = known_info(doc, ret);
	ret->info_json = ing_json_dump(info, NULL);
	return info;
}

/* Returns false when the text is over its limit. */
static bool add_page(struct ing_buf *text, size_t *chars, PopplerPage *page)
{
	char *s = poppler_page_get_text(page);
	size_t bytes = s != NULL ? ing_words_join_lines(s, strlen(s)) : 0;
	if (bytes > 0)
		ing_buf_add(text, s, bytes);
	*chars += ing_words_chars(s, bytes);
	g_free(s);
	/* Pages end in a form feed, as poppler's own tools have it. */
	ing_buf_add_char(text, '\f');
	*chars += 1;
	return !text->failed && *chars <= ING_MAX_PDF_TEXT_CHARS;
}

static bool read_text(PopplerDocument *doc, PopplerPage *page0, struct ing_pdf *ret)
{
	struct ing_buf text;
	ing_buf_init(&text, MAX_TEXT_BYTES);
	size_t chars = 0;
	int missing = 0;
	bool fits = add_page(&text, &chars, page0);
	for (int i = 1; i < ret->page_count && fits && missing < MAX_MISSING_PAGES; i++) {
		PopplerPage *page = poppler_document_get_page(doc, i);
		if (page == NULL) {
			missing++;
			continue;
		}
		fits = add_page(&text, &chars, page);
		g_object_unref(page);
	}
	if (fits) {
		ret->text = ing_utf8_clean(ing_buf_str(&text), text.len, NULL);
		ing_must(ret->text != NULL);
		ret->word_count = ing_words_count(ret->text);
	}
	ing_buf_done(&text);
	return fits;
}

static void set_status(struct ing_pdf *ret, const char *status, const char *msg)
{
	ret->status = ing_strdup(status);
	if (msg == NULL)
		return;
	char *clean = ing_utf8_clean(msg, strlen(msg), NULL);
	ing_must(clean != NULL);
	clean[ing_words_cut(clean, MAX_ERROR_CHARS)] = '\0';
	ret->error_msg = clean;
}

static void read_xmp_and_text(PopplerDocument *doc, PopplerPage *page0, struct ing_pdf *ret)
{
	ret->meta_xml = take_text(poppler_document_get_metadata(doc), SIZE_MAX);
	bool fits = ret->meta_xml == NULL ||
		    ing_words_chars(ret->meta_xml, strlen(ret->meta_xml)) <= ING_MAX_PDF_TEXT_CHARS;
	if (fits && read_text(doc, page0, ret)) {
		set_status(ret, "success", NULL);
		return;
	}
	char msg[80];
	snprintf(msg, sizeof(msg), "%s over %d characters", fits ? "text" : "XMP metadata",
		ING_MAX_PDF_TEXT_CHARS);
	set_status(ret, "text-too-large", msg);
	free(ret->meta_xml);
	ret->meta_xml = NULL;
}

/* Whatever status the text has led to, unless it has none, stays. */
static void read_whole_info(const void *data, size_t bytes, json_t *info, struct ing_pdf *ret)
{
	char *undecodable = ing_pdf_info_add(data, bytes, info);
	free(ret->info_json);
	ret->info_json = ing_json_dump(info, NULL);
	if (undecodable != NULL && strcmp(ret->status, "success") == 0) {
		char msg[300];
		snprintf(msg, sizeof(msg), "the Info dictionary's %.200s cannot be decoded",
			undecodable);
		free(ret->status);
		set_status(ret, "bad-unicode", msg);
	}
	free(undecodable);
}

struct listener {
	ing_document_part_f *on_part; /* may be NULL */
	void *ctx;
};

static void tell(const struct listener *l, enum ing_pdf_part part, const struct ing_pdf *pdf)
{
	if (l->on_part != NULL)
		l->on_part(l->ctx, part, pdf);
}

static void read_document(PopplerDocument *doc, PopplerPage *page0, const void *data, size_t bytes,
	const struct listener *l, struct ing_pdf *ret)
{
	json_t *info = read_facts(doc, page0, ret);
	read_xmp_and_text(doc, page0, ret);
	tell(l, ING_PDF_TEXT, ret);
	read_whole_info(data, bytes, info, ret);
	json_decref(info);
	tell(l, ING_PDF_INFO, ret);
	ret->has_page0_thumbnail = ing_pdf_thumbnail_draw(page0, &ret->thumbnail);
	tell(l, ING_PDF_THUMBNAIL, ret);
}

/* What its error says is clear but where it is about encryption. */
static void set_unreadable(struct ing_pdf *ret, const GError *err)
{
	if (g_error_matches(err, POPPLER_ERROR, POPPLER_ERROR_ENCRYPTED))
		set_status(ret, "parse-error", "encrypted: cannot be opened without a password");
	else
		set_status(ret, "parse-error", err != NULL ? err->message : "unreadable");
}

static PopplerDocument *open_document(const void *data, size_t bytes, GError **err)
{
	GBytes *view = g_bytes_new_static(data, bytes);
	PopplerDocument *doc = poppler_document_new_from_bytes(view, NULL, err);
	g_bytes_unref(view);
	return doc;
}

/* Returns the first page, or NULL with the status set. */
static PopplerPage *open_page0(PopplerDocument *doc, struct ing_pdf *ret)
{
	ret->page_count = poppler_document_get_n_pages(doc);
	if (ret->page_count <= 0) {
		ret->page_count = 0;
		set_status(ret, "empty-pdf", "no pages");
		return NULL;
	}
	PopplerPage *page0 = poppler_document_get_page(doc, 0);
	if (page0 == NULL)
		set_status(ret, "empty-page0", "the first page cannot be created");
	return page0;
}

/* -------------------------------------------------------------------------------------------- */

void ing_document_pdf(const void *data, size_t bytes, ing_document_part_f *on_part, void *ctx,
	struct ing_pdf *ret)
{
	const struct listener l = {.on_part = on_part, .ctx = ctx};
	GError *err = NULL;
	PopplerDocument *doc = NULL;
	PopplerPage *page0 = NULL;
	if (!ing_sniff_is_pdf(data, bytes)) {
		set_status(ret, "not-pdf", NULL);
	} else {
		doc = open_document(data, bytes, &err);
		if (doc == NULL)
			set_unreadable(ret, err);
		else
			page0 = open_page0(doc, ret);
	}
	if (page0 != NULL)
		read_document(doc, page0, data, bytes, &l, ret);
	else
		tell(&l, ING_PDF_TEXT, ret);
	g_clear_error(&err);
	g_clear_object(&page0);
	g_clear_object(&doc);
}

void ing_document_warm_pdf(void)
{
	if (warm_doc != NULL)
		return;
	warm_doc = open_document(warm_pdf, sizeof(warm_pdf) - 1, NULL);
	PopplerPage *page = warm_doc != NULL ? poppler_document_get_page(warm_doc, 0) : NULL;
	if (page == NULL)
		return;
	struct ing_pdf_thumbnail thumbnail = {0};
	g_free(poppler_page_get_text(page));
	if (ing_pdf_thumbnail_draw(page, &thumbnail)) /* fonts */
		free(thumbnail.data);
	g_object_unref(page);
}
