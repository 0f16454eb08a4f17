/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only file that includes lexbor's encoding module, and its HTML module but for html_fill.c.
 *
 * The limits are kept by standing between tokenizer and tree builder: lexbor calls us for every
 * token, we hand it on and then look at the tree builder's stacks. Returning NULL with a status
 * stops the tokenizer at once, in mid-chunk. The tokenizer is told to keep duplicate attributes,
 * because its own search for them is quadratic; we drop them, up to the number we allow, ourselves.
 */
#include "common/markup/html.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <lexbor/encoding/encoding.h>
#include <lexbor/html/encoding.h>
#include <lexbor/html/html.h>

#include "common/base/utf8.h"

#define SLICE_BYTES ((size_t)16 << 10)
#define PRESCAN_BYTES ((size_t)1024) /* HTML Standard, 13.2.3.2 */
#define TOKENS_PER_LOOK 1024
#define TREE_PER_PAGE 64 /* bytes of tree that a byte of an honest page may make: <p> makes 50 */

struct ing_html {
	lxb_html_document_t *doc;
	lxb_html_encoding_t prescan;
	lxb_html_tokenizer_token_f build; /* lexbor's tree builder */
	void *build_ctx;
	const char *encoding;
	/* Of the page being parsed: */
	struct ing_html_limits limits;
	size_t max_tree_bytes;
	int64_t cpu_end_us;
	unsigned tokens;
	bool dirty; /* stopped in the middle */
	enum ing_html_end end;
};

static int64_t cpu_now_us(void)
{
	struct timespec t;
	ing_must(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static size_t pool_bytes(const lexbor_mraw_t *mraw)
{
	return mraw->mem->chunk_length * mraw->mem->chunk_min_size;
}

static bool is_costly(const struct ing_html *h)
{
	const lxb_dom_document_t *dom = &h->doc->dom_document;
	size_t names = lexbor_dobject_allocated(dom->tags->entries) +
		       lexbor_dobject_allocated(dom->attrs->entries);
	return names > h->limits.names || cpu_now_us() > h->cpu_end_us ||
	       pool_bytes(dom->mraw) + pool_bytes(dom->text) > h->max_tree_bytes;
}

/* Forget attributes past the limit and those whose name the tag had before (names are unique
 * pointers). */
static void thin_attributes(struct ing_html *h, lxb_html_token_t *token)
{
	unsigned n = 0;
	for (lxb_html_token_attr_t *a = token->attr_first, *next; a != NULL; a = next) {
		next = a->next;
		if (n == h->limits.tag_attributes) {
			token->attr_last = a->prev;
			token->attr_last->next = NULL;
			return;
		}
		const lxb_html_token_attr_t *b = token->attr_first;
		while (b != a && b->name != a->name)
			b = b->next;
		if (b != a)
			lxb_html_token_attr_remove(token, a);
		else
			n++;
	}
}

static lxb_html_token_t *take_token(lxb_html_tokenizer_t *tkz, lxb_html_token_t *token, void *ctx)
{
	struct ing_html *h = ctx;
	const lxb_html_tree_t *tree = tkz->tree;
	bool tag =
		token->tag_id > LXB_TAG__EM_DOCTYPE; /* not the things that HTML calls tokens too */
	if (tag && token->attr_first != token->attr_last)
		thin_attributes(h, token);
	token = h->build(tkz, token, h->build_ctx);
	if (tree->open_elements->length > h->limits.open_elements)
		h->end = ING_HTML_DEEP;
	else if (++h->tokens % TOKENS_PER_LOOK == 0 && is_costly(h))
		h->end = ING_HTML_COSTLY;
	if (h->end == ING_HTML_WHOLE)
		return token;
	tkz->status = LXB_STATUS_STOPPED;
	return NULL;
}

/* False when parsing is over. */
static bool feed_utf8(struct ing_html *h, const lxb_char_t *data, size_t bytes)
{
	while (bytes > 0) {
		size_t n = ING_MIN(bytes, SLICE_BYTES);
		lxb_status_t status = lxb_html_document_parse_chunk(h->doc, data, n);
		ing_must(status != LXB_STATUS_ERROR_MEMORY_ALLOCATION);
		if (h->end == ING_HTML_WHOLE && (status != LXB_STATUS_OK || is_costly(h)))
			h->end = ING_HTML_COSTLY;
		if (h->end != ING_HTML_WHOLE)
			return false;
		data += n;
		bytes -= n;
	}
	return true;
}

/* Encodings in which bytes below 0x80 are always ASCII; markup in them often is nothing else. */
static bool is_ascii_superset(lxb_encoding_t e)
{
	return e != LXB_ENCODING_UTF_16LE && e != LXB_ENCODING_UTF_16BE &&
	       e != LXB_ENCODING_ISO_2022_JP;
}

/* Bytes at the front that are ASCII, found eight at a time, so it may be up to seven fewer. */
static size_t ascii_run(const lxb_char_t *data, size_t bytes)
{
	size_t i = 0;
	for (; bytes - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
		uint64_t eight;
		memcpy(&eight, data + i, sizeof(eight));
		if ((eight & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	return i;
}

/* Well-formed UTF-8 (of which ASCII is a part); with `ascii`, nothing but ASCII. */
static bool is_utf8(const lxb_char_t *data, size_t bytes, bool ascii)
{
	for (size_t i = ascii_run(data, bytes); i < bytes; i += ascii_run(data + i, bytes - i)) {
		size_t n = ing_utf8_sequence((const char *)data + i, bytes - i);
		if (n == 0 || (n > 1 && ascii))
			return false;
		i += n;
	}
	return true;
}

/* Write a code point as UTF-8 (RFC 3629); what is none becomes U+FFFD. */
static size_t put_point(lxb_char_t *to, lxb_codepoint_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		c = LXB_ENCODING_REPLACEMENT_CODEPOINT;
	if (c < 0x80) {
		to[0] = (lxb_char_t)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (lxb_char_t)(0xc0 | c >> 6);
		to[1] = (lxb_char_t)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (lxb_char_t)(0xe0 | c >> 12);
		to[1] = (lxb_char_t)(0x80 | (c >> 6 & 0x3f));
		to[2] = (lxb_char_t)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (lxb_char_t)(0xf0 | c >> 18);
	to[1] = (lxb_char_t)(0x80 | (c >> 12 & 0x3f));
	to[2] = (lxb_char_t)(0x80 | (c >> 6 & 0x3f));
	to[3] = (lxb_char_t)(0x80 | (c & 0x3f));
	return 4;
}

static bool feed_points(struct ing_html *h, const lxb_codepoint_t *points, size_t n)
{
	lxb_char_t utf8[SLICE_BYTES];
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		used += put_point(utf8 + used, points[i]);
		if (used > sizeof(utf8) - 4 || i + 1 == n) {
			if (!feed_utf8(h, utf8, used))
				return false;
			used = 0;
		}
	}
	return true;
}

static bool feed_decoded(struct ing_html *h, const lxb_encoding_data_t *encoding,
	const lxb_char_t *data, size_t bytes)
{
	static const lxb_codepoint_t replacement = LXB_ENCODING_REPLACEMENT_CODEPOINT;
	lxb_codepoint_t points[4096];
	lxb_encoding_decode_t decode = {0};
	lxb_encoding_decode_init(&decode, encoding, points, ING_ARRAY_LEN(points));
	lxb_encoding_decode_replace_set(&decode, &replacement, 1);
	const lxb_char_t *end = data + bytes;
	lxb_status_t status = LXB_STATUS_SMALL_BUFFER;
	while (status == LXB_STATUS_SMALL_BUFFER) {
		status = encoding->decode(&decode, &data, end);
		if (!feed_points(h, points, lxb_encoding_decode_buf_used(&decode)))
			return false;
		lxb_encoding_decode_buf_used_set(&decode, 0);
	}
	lxb_encoding_decode_finish(&decode); /* U+FFFD for a character that was cut */
	return feed_points(h, points, lxb_encoding_decode_buf_used(&decode));
}

static const lxb_encoding_data_t *encoding_of(
	struct ing_html *h, const lxb_char_t *data, size_t bytes, const char *content_type)
{
	lxb_encoding_t bom = lxb_encoding_bom_sniff(data, bytes);
	if (bom != LXB_ENCODING_DEFAULT)
		return lxb_encoding_data(bom);
	const lxb_encoding_data_t *found = NULL;
	if (content_type != NULL) {
		const lxb_char_t *field = (const lxb_char_t *)content_type;
		const lxb_char_t *end = NULL;
		const lxb_char_t *name =
			lxb_html_encoding_content(field, field + strlen(content_type), &end);
		if (name != NULL)
			found = lxb_encoding_data_by_pre_name(name, (size_t)(end - name));
	}
	if (found == NULL && bytes > 0) {
		size_t length = 0;
		lxb_html_encoding_clean(&h->prescan);
		const lxb_char_t *name = lxb_html_encoding_prescan(
			&h->prescan, data, data + ING_MIN(bytes, PRESCAN_BYTES), &length);
		if (name != NULL)
			found = lxb_encoding_data_by_pre_name(name, length);
	}
	if (found == NULL || found->encoding == LXB_ENCODING_REPLACEMENT)
		found = lxb_encoding_data(LXB_ENCODING_UTF_8);
	return found;
}

/* Put ourselves in front of the tree builder. The parser exists once a page was begun. */
static void intercept(struct ing_html *h)
{
	lxb_html_parser_t *parser = h->doc->dom_document.parser;
	lxb_html_tokenizer_t *tkz = lxb_html_parser_tokenizer(parser);
	if (tkz->callback_token_done == take_token)
		return;
	h->build = tkz->callback_token_done;
	h->build_ctx = tkz->callback_token_ctx;
	lxb_html_tokenizer_callback_token_done_set(tkz, take_token, h);
	lxb_html_tokenizer_keep_duplicate_set(tkz, true);
}

static size_t tree_limit(const struct ing_html_limits *limits, size_t page_bytes)
{
	return page_bytes > (SIZE_MAX - limits->tree_bytes) / TREE_PER_PAGE
		       ? SIZE_MAX
		       : limits->tree_bytes + page_bytes * TREE_PER_PAGE;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_html *ing_html_new(void)
{
	struct ing_html *h = ing_alloc(sizeof(*h));
	h->doc = lxb_html_document_create();
	ing_must(h->doc != NULL);
	lxb_html_document_dom_opt_set(h->doc, LXB_DOM_DOCUMENT_OPT_WO_EVENTS);
	ing_must(lxb_html_encoding_init(&h->prescan) == LXB_STATUS_OK);
	h->encoding = "UTF-8";
	return h;
}

void ing_html_free(struct ing_html *h)
{
	if (h == NULL)
		return;
	lxb_html_encoding_destroy(&h->prescan, false);
	lxb_html_document_destroy(h->doc);
	free(h);
}

void ing_html_clear(struct ing_html *h)
{
	if (h->dirty)
		lxb_html_parser_clean(h->doc->dom_document.parser);
	h->dirty = false;
	lxb_html_document_clean(h->doc);
	/* lexbor leaves it at what the last page was. */
	h->doc->dom_document.compat_mode = LXB_DOM_DOCUMENT_CMODE_NO_QUIRKS;
}

enum ing_html_end ing_html_parse(struct ing_html *h, const void *data, size_t bytes,
	const char *content_type, const struct ing_html_limits *limits)
{
	const lxb_char_t *at = data;
	ing_html_clear(h);
	h->limits = *limits;
	h->max_tree_bytes = tree_limit(limits, bytes);
	h->cpu_end_us = cpu_now_us() + (int64_t)limits->cpu_ms * 1000;
	h->tokens = 0;
	h->end = ING_HTML_WHOLE;
	ing_must(lxb_html_document_parse_chunk_begin(h->doc) == LXB_STATUS_OK);
	intercept(h);

	const lxb_encoding_data_t *encoding = encoding_of(h, at, bytes, content_type);
	h->encoding = (const char *)encoding->name;
	bool utf8 = encoding->encoding == LXB_ENCODING_UTF_8;
	if (utf8)
		lxb_encoding_utf_8_skip_bom(&at, &bytes);
	else if (encoding->encoding == LXB_ENCODING_UTF_16BE)
		lxb_encoding_utf_16be_skip_bom(&at, &bytes);
	else if (encoding->encoding == LXB_ENCODING_UTF_16LE)
		lxb_encoding_utf_16le_skip_bom(&at, &bytes);
	bool ascii = !utf8;
	bool as_it_is =
		(utf8 || is_ascii_superset(encoding->encoding)) && is_utf8(at, bytes, ascii);
	bool whole = as_it_is ? feed_utf8(h, at, bytes) : feed_decoded(h, encoding, at, bytes);
	h->dirty = !whole || lxb_html_document_parse_chunk_end(h->doc) != LXB_STATUS_OK;
	return h->end;
}

const struct ing_dom_node *ing_html_document(const struct ing_html *h)
{
	return (const struct ing_dom_node *)(const void *)lxb_dom_interface_node(h->doc);
}

const char *ing_html_encoding(const struct ing_html *h)
{
	return h->encoding;
}
