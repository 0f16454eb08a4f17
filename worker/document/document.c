/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an examiner does with every body, in order: decode, digest, sniff, and read a page. The
 * digester and the HTML parser are made once and kept, because making them costs as much as a
 * small page.
 */
#include "worker/document/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/utf8.h"
#include "common/data/base32.h"
#include "common/data/decode.h"
#include "common/data/digest.h"
#include "common/data/sniff.h"
#include "common/markup/html.h"
#include "worker/document/pdf.h"
#include "worker/examine/findings.h"
#include "worker/limits.h"
#include "worker/scrape/page.h"

static struct ing_digester *digester;
static struct ing_html *page;

static const struct ing_html_limits page_limits = {
	.open_elements = ING_MAX_OPEN_ELEMENTS,
	.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
	.names = ING_MAX_MARKUP_NAMES,
	.tree_bytes = ING_MAX_TREE_BYTES,
	.cpu_ms = ING_MAX_PAGE_CPU_MS,
};

static void make_tools(void)
{
	if (digester == NULL)
		digester = ing_digester_new(ING_DIGEST_ALL);
	if (page == NULL)
		page = ing_html_new();
}

/* Media types that a file compressed on purpose is not served with. */
static bool is_document_type(const char *content_type)
{
	static const char *const types[] = {"text/", "application/pdf", "application/xml",
		"application/xhtml+xml", "application/jats+xml"};
	if (content_type == NULL)
		return false;
	content_type += strspn(content_type, " \t");
	for (size_t i = 0; i < ING_ARRAY_LEN(types); i++) {
		if (strncasecmp(content_type, types[i], strlen(types[i])) == 0)
			return true;
	}
	return false;
}

/* Take the codings off. 0 and *ret, or a failure. */
static int decode(const struct ing_question *q, const char *codings, const void *data, size_t bytes,
	struct ing_body *ret, struct ing_error *err)
{
	struct ing_buf out;
	ing_buf_init(&out, (size_t)ING_MIN(q->max_body_bytes, SIZE_MAX / 8));
	int rc = ing_decode(codings, data, bytes, &out, err);
	if (rc < 0) {
		ing_buf_done(&out);
		return rc;
	}
	ret->bytes = out.len;
	ret->data = (uint8_t *)ing_buf_steal(&out);
	ret->owned = true;
	return 0;
}

/* Some servers send gzip without saying so: a page or PDF by its header, gzip by its bytes. What
 * does not decode is then left as it is. */
static bool decode_unsaid(
	const struct ing_question *q, const void *data, size_t bytes, struct ing_body *ret)
{
	bool gzip = bytes >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0;
	return gzip && is_document_type(q->content_type) &&
	       decode(q, "gzip", data, bytes, ret, NULL) == 0;
}

static int take_body(const struct ing_question *q, const void *data, size_t bytes,
	struct ing_body *ret, struct ing_error *err)
{
	if (ing_decode_needed(q->content_encoding))
		return decode(q, q->content_encoding, data, bytes, ret, err);
	if (decode_unsaid(q, data, bytes, ret))
		return 0;
	if (bytes > q->max_body_bytes)
		return ing_error_set(err, ING_FAIL_TOO_BIG, "body over the limit of %llu bytes",
			(unsigned long long)q->max_body_bytes);
	*ret = (struct ing_body){.data = data, .bytes = bytes};
	return 0;
}

static void identify(const struct ing_body *body, struct ing_file_meta *ret)
{
	struct ing_digests d;
	ing_digester_add(digester, body->data, body->bytes);
	ing_digester_finish(digester, &d);
	ret->size_bytes = body->bytes;
	ing_hex_encode(d.md5, sizeof(d.md5), ret->md5hex);
	ing_hex_encode(d.sha1, sizeof(d.sha1), ret->sha1hex);
	ing_hex_encode(d.sha256, sizeof(d.sha256), ret->sha256hex);
	ing_sniff(body->data, body->bytes, ret->mimetype);
}

static void read_page(
	const struct ing_question *q, const struct ing_body *body, struct ing_page *ret)
{
	if (body->bytes > q->max_scrape_bytes) {
		ret->status = ING_PAGE_TOO_LARGE;
		return;
	}
	enum ing_html_end end =
		ing_html_parse(page, body->data, body->bytes, q->content_type, &page_limits);
	ret->status = end == ING_HTML_WHOLE ? ING_PAGE_PARSED : ING_PAGE_TOO_DEEP;
	ing_scrape_page(page, q->url, ret);
	ing_html_clear(page);
}

/* -------------------------------------------------------------------------------------------- */

void ing_document_examine(const struct ing_question *q, const void *data, size_t bytes,
	struct ing_body *ret_body, struct ing_findings *ret)
{
	make_tools();
	*ret_body = (struct ing_body){0};
	struct ing_error err = {0};
	int rc = take_body(q, data, bytes, ret_body, &err);
	if (rc < 0) {
		ret->exam = rc == -ING_FAIL_TOO_BIG ? ING_EXAM_TOO_LARGE : ING_EXAM_BAD_ENCODING;
		char *clean = ing_utf8_clean(err.msg, strlen(err.msg), NULL);
		ret->detail = clean;
		return;
	}
	ret->exam = ING_EXAM_OK;
	identify(ret_body, &ret->file);
	if ((q->want & ING_WANT_LINKS) != 0 && ing_sniff_is_html(ret->file.mimetype))
		read_page(q, ret_body, &ret->page);
}

void ing_document_body_done(struct ing_body *b)
{
	if (b->owned)
		free((void *)(uintptr_t)b->data);
	*b = (struct ing_body){0};
}

void ing_document_warm(void)
{
	static const char html[] = "<!doctype html><title>warm</title><p>warm";
	make_tools();
	ing_sniff_warm();
	ing_html_parse(page, html, sizeof(html) - 1, NULL, &page_limits);
	ing_html_clear(page);
	ing_document_warm_pdf();
}
