/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Copies lexbor's tree to the flat one. As this is done for every page, names are looked up by
 * lexbor's number: a table for those it knows, a small cache by pointer for the others.
 */
#include "common/markup/html_fill.h"

#include <stdlib.h>
#include <string.h>
#include <lexbor/dom/dom.h>
#include <lexbor/html/html.h>
#include <lexbor/html/interfaces/template_element.h>

#include "common/base/utf8.h"

#define CACHE_SLOTS 256 /* names unknown to lexbor: data-…, custom elements; a power of two */

struct cached_name {
	uintptr_t id; /* a pointer of lexbor's; 0: free */
	uint32_t name;
};

struct ing_html_filler {
	struct ing_tree *t;
	lexbor_hash_t *attrs;
	lxb_dom_node_t *top;
	const lxb_dom_node_t *at; /* open in the flat tree; its children come next */
	bool full;
	/* <html> and <body> in both trees; lexbor's are NULL while nothing was moved. */
	const lxb_dom_node_t *html, *body;
	ing_node html_node, body_node;
	uint32_t tags[LXB_TAG__LAST_ENTRY]; /* name + 1, or 0 */
	uint32_t known_attrs[LXB_DOM_ATTR__LAST_ENTRY];
	struct cached_name cache[CACHE_SLOTS]; /* of attributes */
};

static uint32_t tag_name(struct ing_html_filler *f, lxb_tag_id_t id)
{
	if (id < LXB_TAG__LAST_ENTRY && f->tags[id] != 0)
		return f->tags[id] - 1;
	size_t bytes = 0;
	const lxb_char_t *s = lxb_tag_name_by_id(id, &bytes);
	uint32_t name = ing_tree_intern(f->t, s != NULL ? (const char *)s : "", bytes);
	if (id < LXB_TAG__LAST_ENTRY)
		f->tags[id] = name + 1;
	return name;
}

static uint32_t attr_name(struct ing_html_filler *f, lxb_dom_attr_id_t id)
{
	struct cached_name *c = &f->cache[(id ^ id >> 12) / 8 % CACHE_SLOTS];
	if (id < LXB_DOM_ATTR__LAST_ENTRY) {
		if (f->known_attrs[id] != 0)
			return f->known_attrs[id] - 1;
	} else if (c->id == id) {
		return c->name;
	}
	const lxb_dom_attr_data_t *data = lxb_dom_attr_data_by_id(f->attrs, id);
	uint32_t name = data != NULL ? ing_tree_intern(f->t,
					       (const char *)lexbor_hash_entry_str(&data->entry),
					       data->entry.length)
				     : ing_tree_intern(f->t, "", 0);
	if (id < LXB_DOM_ATTR__LAST_ENTRY)
		f->known_attrs[id] = name + 1;
	else
		*c = (struct cached_name){id, name};
	return name;
}

static bool add_attr(struct ing_html_filler *f, ing_node to, const lxb_dom_attr_t *a)
{
	/* With its prefix: the qualified name is there only where it differs. */
	uint32_t name =
		attr_name(f, a->qualified_name != 0 ? a->qualified_name : a->node.local_name);
	const lexbor_str_t *v = a->value;
	bool empty = v == NULL || v->data == NULL;
	return ing_tree_add_attr_to(
		f->t, to, name, empty ? "" : (const char *)v->data, empty ? 0 : v->length, true);
}

static bool add_element(struct ing_html_filler *f, const lxb_dom_node_t *n)
{
	ing_node to = f->t->count;
	if (!ing_tree_open(f->t, tag_name(f, n->local_name)))
		return false;
	if (n->parent == f->top)
		f->html_node = to;
	else if (n->local_name == LXB_TAG_BODY && n->parent->parent == f->top)
		f->body_node = to;
	const lxb_dom_element_t *e = (const void *)n;
	for (const lxb_dom_attr_t *a = e->first_attr; a != NULL; a = a->next) {
		if (!add_attr(f, to, a))
			return false;
	}
	return true;
}

/* What later tags of the same name have added since the element was copied. */
static void add_late_attrs(struct ing_html_filler *f, const lxb_dom_node_t *n, ing_node to)
{
	const lxb_dom_element_t *e = (const void *)n;
	unsigned known = n != NULL ? f->t->nodes[to].attr_count : 0;
	for (const lxb_dom_attr_t *a = n != NULL ? e->first_attr : NULL; a != NULL; a = a->next) {
		if (known > 0)
			known--;
		else if (!add_attr(f, to, a))
			return;
	}
}

static enum ing_node_kind kind_of(const lxb_dom_node_t *n)
{
	switch (n->type) {
	case LXB_DOM_NODE_TYPE_TEXT: {
		lxb_tag_id_t in = n->parent != NULL ? n->parent->local_name : LXB_TAG__UNDEF;
		return in == LXB_TAG_SCRIPT || in == LXB_TAG_STYLE ? ING_NODE_DATA : ING_NODE_TEXT;
	}
	case LXB_DOM_NODE_TYPE_CDATA_SECTION:
		return ING_NODE_CDATA;
	case LXB_DOM_NODE_TYPE_COMMENT:
		return ING_NODE_COMMENT;
	default:
		return ING_NODE_OTHER;
	}
}

static bool add_node(struct ing_html_filler *f, const lxb_dom_node_t *n)
{
	if (n->type == LXB_DOM_NODE_TYPE_ELEMENT)
		return add_element(f, n);
	enum ing_node_kind kind = kind_of(n);
	if (kind == ING_NODE_OTHER)
		return ing_tree_add_text(f->t, kind, "", 0, true);
	const lexbor_str_t *s = &((const lxb_dom_character_data_t *)(const void *)n)->data;
	const char *data = s->data != NULL ? (const char *)s->data : "";
	size_t bytes = s->data != NULL ? s->length : 0;
	/* A comment begun at the end of the page can be what lexbor had in its buffer before. */
	if (kind == ING_NODE_COMMENT) {
		bytes = strnlen(data, bytes);
		if (!ing_utf8_valid(data, bytes)) {
			data = "";
			bytes = 0;
		}
	}
	/* Between <frameset>s lexbor drops words without ending the white space that it keeps. */
	return ing_tree_add_text(f->t, kind, data, bytes, data[bytes] == '\0');
}

/* A template's children are in a document of their own. */
static const lxb_dom_node_t *first_child(const lxb_dom_node_t *n)
{
	if (n->type != LXB_DOM_NODE_TYPE_ELEMENT)
		return n->type == LXB_DOM_NODE_TYPE_DOCUMENT ? n->first_child : NULL;
	if (n->local_name == LXB_TAG_TEMPLATE && n->ns == LXB_NS_HTML) {
		const lxb_dom_document_fragment_t *content =
			((const lxb_html_template_element_t *)(const void *)n)->content;
		if (content != NULL && content->node.first_child != NULL)
			return content->node.first_child;
	}
	return n->first_child;
}

/* The element that was opened when its child n was reached, or the document. */
static const lxb_dom_node_t *parent_of(const lxb_dom_node_t *n)
{
	const lxb_dom_node_t *parent = n->parent;
	if (parent != NULL && parent->type == LXB_DOM_NODE_TYPE_DOCUMENT_FRAGMENT)
		parent = &((const lxb_dom_document_fragment_t *)(const void *)parent)->host->node;
	return parent;
}

/* The first node behind n's subtree, within that of `last`; what ends before it is closed. NULL: there
 * is none. */
static const lxb_dom_node_t *next_behind(
	struct ing_html_filler *f, const lxb_dom_node_t *n, const lxb_dom_node_t *last)
{
	while (n != NULL && n != last) {
		if (n->type == LXB_DOM_NODE_TYPE_ELEMENT)
			ing_tree_close(f->t);
		if (n->next != NULL)
			return n->next;
		n = parent_of(n);
	}
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_html_filler *ing_html_filler_new(void)
{
	return ing_alloc(sizeof(struct ing_html_filler));
}

void ing_html_filler_free(struct ing_html_filler *f)
{
	free(f);
}

void ing_html_filler_start(
	struct ing_html_filler *f, struct lxb_html_document *doc, struct ing_tree *t)
{
	lxb_dom_node_t *top = lxb_dom_interface_node(doc);
	*f = (struct ing_html_filler){
		.t = t, .attrs = doc->dom_document.attrs, .top = top, .at = top};
	ing_tree_clear(t);
}

bool ing_html_filler_go(struct ing_html_filler *f, struct lxb_dom_node *last)
{
	const lxb_dom_node_t *n = f->at;
	while (!f->full) {
		const lxb_dom_node_t *next = first_child(n);
		if (next == NULL)
			next = next_behind(f, n, last);
		if (next == NULL)
			break;
		f->full = !add_node(f, next);
		n = next;
	}
	f->at = last;
	return !f->full;
}

void ing_html_filler_moved(struct ing_html_filler *f, const struct lxb_dom_node *last,
	const struct lxb_dom_node *html, const struct lxb_dom_node *body)
{
	f->at = last;
	f->html = html;
	f->body = body;
}

void ing_html_filler_finish(struct ing_html_filler *f)
{
	ing_html_filler_go(f, f->top);
	add_late_attrs(f, f->html, f->html_node);
	add_late_attrs(f, f->body, f->body_node);
	ing_tree_finish(f->t);
}
