/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With html_depth.c and html_fill.c the only file that includes lexbor's HTML module.
 *
 * Limits are kept between tokenizer and tree builder: lexbor calls a function of ours for every
 * token, which makes room for it on the tree builder's stacks, passes it on and checks what was
 * built. Returning NULL with a status stops the tokenizer at once. The tokenizer is told to keep
 * duplicate attributes, because its own search for them is quadratic; they are dropped here, up to
 * the number allowed.
 */
#include "common/markup/html.h"

#include <stdlib.h>
#include <string.h>
#include <lexbor/html/encoding.h>
#include <lexbor/html/html.h>

#include "common/base/clock.h"
#include "common/markup/charset.h"
#include "common/markup/html_fill.h"
#include "common/markup/html_priv.h"
#include "common/markup/html_window.h"

#define SLICE_BYTES ((size_t)16 << 10)
#define PRESCAN_BYTES ((size_t)1024)
#define TOKENS_PER_LOOK 1024
#define TREE_PER_PAGE 64 /* bytes of tree for a byte of the page: <p> takes 50 */

struct ing_html {
	lxb_html_document_t *doc;
	struct ing_html_filler *filler;
	struct ing_html_window *window;
	lxb_html_encoding_t prescan;
	lxb_html_tokenizer_token_f build; /* lexbor's tree builder */
	void *build_ctx;
	const char *encoding;
	/* Of the page being parsed: */
	struct ing_html_limits limits;
	struct ing_tree *tree; /* filled as the page is parsed; NULL: not */
	size_t max_tree_bytes;
	uint64_t cpu_end_ns;
	unsigned tokens;
	bool dirty; /* stopped in the middle */
	enum ing_html_end end;
};

static size_t pool_bytes(const lexbor_mraw_t *mraw)
{
	return mraw->mem->chunk_length * mraw->mem->chunk_min_size;
}

static bool is_costly(const struct ing_html *h)
{
	const lxb_dom_document_t *dom = &h->doc->dom_document;
	size_t names = lexbor_dobject_allocated(dom->tags->entries) +
		       lexbor_dobject_allocated(dom->attrs->entries);
	size_t bytes = ing_html_bytes(h);
	if (h->tree != NULL)
		bytes += h->tree->count * sizeof(*h->tree->nodes) +
			 h->tree->attr_count * sizeof(*h->tree->attrs);
	return names > h->limits.names || ing_thread_cpu_ns() > h->cpu_end_ns ||
	       bytes > h->max_tree_bytes;
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
	bool tag =
		token->tag_id > LXB_TAG__EM_DOCTYPE; /* not the things that HTML calls tokens too */
	if (tag && token->attr_first != token->attr_last)
		thin_attributes(h, token);
	if (h->tree != NULL)
		ing_html_window_look(h->window, tkz->tree, h->filler);
	ing_html_limit_depth(tkz->tree, token, h->limits.open_elements);
	token = h->build(tkz, token, h->build_ctx);
	if (++h->tokens % TOKENS_PER_LOOK == 0 && is_costly(h))
		h->end = ING_HTML_COSTLY;
	if (h->end == ING_HTML_WHOLE)
		return token;
	tkz->status = LXB_STATUS_STOPPED;
	return NULL;
}

/* lexbor records every parse error of a page, 64 bytes each; they are not used. */
static void forget_mistakes(struct ing_html *h)
{
	const lxb_html_parser_t *parser = h->doc->dom_document.parser;
	lexbor_array_obj_clean(parser->tkz->parse_errors);
	lexbor_array_obj_clean(parser->tree->parse_errors);
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
		forget_mistakes(h);
		data += n;
		bytes -= n;
	}
	return true;
}

static bool feed_decoded(void *ctx, const char *utf8, size_t bytes)
{
	return feed_utf8(ctx, (const lxb_char_t *)utf8, bytes);
}

/* HTML Standard, 13.2.3.2. */
static const struct ing_charset *charset_of_meta(
	struct ing_html *h, const lxb_char_t *data, size_t bytes)
{
	size_t length = 0;
	if (bytes == 0)
		return NULL;
	lxb_html_encoding_clean(&h->prescan);
	const lxb_char_t *name = lxb_html_encoding_prescan(
		&h->prescan, data, data + ING_MIN(bytes, PRESCAN_BYTES), &length);
	return name != NULL ? ing_charset_of_label((const char *)name, length) : NULL;
}

static const struct ing_charset *charset_of_page(
	struct ing_html *h, const void *data, size_t bytes, const char *content_type)
{
	const struct ing_charset *c = ing_charset_of_bom(data, bytes);
	if (c != NULL)
		return c;
	c = ing_charset_of_content_type(content_type);
	if (c == NULL)
		c = charset_of_meta(h, data, bytes);
	return c != NULL && !ing_charset_is_replacement(c) ? c : ing_charset_utf8();
}

/* Install the callback in front of the tree builder. The parser exists once a page was begun. */
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

static enum ing_html_end parse(struct ing_html *h, const void *data, size_t bytes,
	const char *content_type, const struct ing_html_limits *limits)
{
	h->limits = *limits;
	h->max_tree_bytes = tree_limit(limits, bytes);
	h->cpu_end_ns = ing_thread_cpu_ns() + (uint64_t)limits->cpu_ms * 1000000;
	h->tokens = 0;
	h->end = ING_HTML_WHOLE;
	ing_must(lxb_html_document_parse_chunk_begin(h->doc) == LXB_STATUS_OK);
	intercept(h);

	const struct ing_charset *c = charset_of_page(h, data, bytes, content_type);
	h->encoding = ing_charset_name(c);
	ing_charset_skip_bom(c, &data, &bytes);
	bool whole = ing_charset_is_plain(c, data, bytes)
			     ? feed_utf8(h, data, bytes)
			     : ing_charset_decode(c, data, bytes, feed_decoded, h);
	h->dirty = !whole || lxb_html_document_parse_chunk_end(h->doc) != LXB_STATUS_OK;
	return h->end;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_html *ing_html_new(void)
{
	struct ing_html *h = ing_alloc(sizeof(*h));
	h->doc = lxb_html_document_create();
	ing_must(h->doc != NULL);
	lxb_html_document_dom_opt_set(h->doc, LXB_DOM_DOCUMENT_OPT_WO_EVENTS);
	ing_must(lxb_html_encoding_init(&h->prescan) == LXB_STATUS_OK);
	h->filler = ing_html_filler_new();
	h->window = ing_html_window_new(h->doc);
	h->encoding = "UTF-8";
	return h;
}

void ing_html_free(struct ing_html *h)
{
	if (h == NULL)
		return;
	lxb_html_encoding_destroy(&h->prescan, false);
	ing_html_filler_free(h->filler);
	ing_html_window_free(h->window);
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
	ing_html_clear(h);
	h->tree = NULL;
	return parse(h, data, bytes, content_type, limits);
}

enum ing_html_end ing_html_read(struct ing_html *h, struct ing_tree *t, const void *data,
	size_t bytes, const char *content_type, const struct ing_html_limits *limits)
{
	ing_html_clear(h);
	h->tree = t;
	ing_html_filler_start(h->filler, h->doc, t);
	enum ing_html_end end = parse(h, data, bytes, content_type, limits);
	ing_html_filler_finish(h->filler);
	t->encoding = h->encoding;
	return end;
}

void ing_html_fill(struct ing_html *h, struct ing_tree *t)
{
	ing_html_filler_start(h->filler, h->doc, t);
	ing_html_filler_finish(h->filler);
	t->encoding = h->encoding;
}

size_t ing_html_bytes(const struct ing_html *h)
{
	const lxb_dom_document_t *dom = &h->doc->dom_document;
	return pool_bytes(dom->mraw) + pool_bytes(dom->text);
}

void ing_html_set_window(struct ing_html *h, size_t bytes)
{
	ing_html_window_set(h->window, bytes);
}

const char *ing_html_encoding(const struct ing_html *h)
{
	return h->encoding;
}
