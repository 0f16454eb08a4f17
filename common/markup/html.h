/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html.h - HTML to a tree, by the HTML Standard, on lexbor.
 *
 * Owns a parser and one document, whose memory is kept from page to page. One thread at a time.
 *
 * The standard lets a small page cost a great deal: time quadratic in nesting, in the attributes of
 * a tag and in the number of unknown names, and trees a thousand times the page from formatting
 * elements left open. Nesting is therefore limited: what would be deeper becomes a sibling of the
 * deepest element. Everything else is checked as tokens come, and parsing stops at a limit; the
 * tree has what was read until then.
 */
#pragma once
#include "common/base/macros.h"
#include "common/markup/tree.h"

struct ing_html;

struct ing_html_limits {
	unsigned open_elements;  /* nesting, at least 16; deeper becomes a sibling */
	unsigned tag_attributes; /* further attributes of one tag are dropped */
	unsigned names;    /* distinct names outside HTML's own, tags and attributes; more stops */
	size_t tree_bytes; /* memory of the tree beside 64 times the page; more stops */
	unsigned cpu_ms;   /* of this thread, looked at every 16 KiB and 1,024 tokens; more stops */
};

enum ing_html_end {
	ING_HTML_WHOLE,  /* also when flattened */
	ING_HTML_COSTLY, /* stopped at names, tree_bytes or cpu_ms */
};

struct ing_html *ing_html_new(void);
void ing_html_free(struct ing_html *h);  /* NULL is fine */
void ing_html_clear(struct ing_html *h); /* empty document; keeps a little memory */

/* Parse a page. Its encoding is, in this order: byte order mark, charset of content_type (a
 * Content-Type value or NULL), <meta> in the first 1,024 bytes, UTF-8; ill-formed bytes become
 * U+FFFD. The labels that the Encoding Standard maps to "replacement" are
 * read as UTF-8, because markup is ASCII in them too. Scripting is off: <noscript> has elements. */
enum ing_html_end ing_html_parse(struct ing_html *h, const void *data, size_t bytes,
	const char *content_type, const struct ing_html_limits *limits);

/* Parse a page into t, which is cleared first and then has no URL. The same as ing_html_parse() and
 * ing_html_fill(), with a quarter of the memory: nodes are copied to t as they are finished. */
enum ing_html_end ing_html_read(struct ing_html *h, struct ing_tree *t, const void *data,
	size_t bytes, const char *content_type, const struct ing_html_limits *limits);
/* Bytes of lexbor's nodes and strings, beside the tree's own. */
size_t ing_html_bytes(const struct ing_html *h);
/* For tests: nodes of lexbor's in memory, past which finished ones are copied. 0: whenever possible. */
void ing_html_set_window(struct ing_html *h, size_t bytes);

/* Returns the name of the encoding that was used, such as "UTF-8". Static. */
const char *ing_html_encoding(const struct ing_html *h);

/* Copy the page into t, which is cleared first and then has no URL. Strings are borrowed from h: t
 * is valid until the next parse, clear or free of h. The contents of <template> are its children;
 * those of <script> and <style> are ING_NODE_DATA; names are in lower case. At the tree's ceiling
 * the rest of the page is left out. */
void ing_html_fill(struct ing_html *h, struct ing_tree *t);
