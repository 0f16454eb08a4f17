/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lexbor's nodes take 5 to 16 times a page's bytes. Most of them are never looked at again once
 * they are closed: they are copied to the flat tree while the page is read, and their memory is
 * used for the next ones.
 *
 * That is done between two tokens, and only where the tree builder can do nothing but append to
 * elements that are open: in <body>, which is certain to stay; all formatting elements closed (an
 * end tag in the wrong place moves what is in them); no <table> open (text is put in front of it),
 * no <select> (options are copied), no <template>, nothing foreign; no text at the end (more would
 * be joined with it). Where a page leaves a formatting element or a table open it goes on as if
 * there were no window.
 *
 * Then the open elements, each the last child of the one before, are copied to another pool without
 * children and, as they are in the flat tree already, without attributes. <html> and <body> keep
 * theirs: a later tag of the same name adds what is missing. All pointers to elements that the tree
 * builder keeps are set to the copies: its stack, <head>, <body>, the open <form>, the document's.
 */
#include "common/markup/html_window.h"

#include <stdlib.h>
#include <string.h>
#include <lexbor/dom/dom.h>
#include <lexbor/html/html.h>
#include <lexbor/html/tree.h>
#include <lexbor/html/tree/insertion_mode.h>
#include <lexbor/html/tree/template_insertion.h>

#include "common/base/macros.h"
#include "common/markup/html_fill.h"

#define POOL_CHUNK ((size_t)32 << 10) /* lexbor's own size */
#define MAX_OPEN 64
#define TOKENS_TO_RETRY 16

struct ing_html_window {
	lxb_html_document_t *doc;
	lexbor_mraw_t *spare; /* an empty pool */
	size_t bytes;         /* of nodes, past which they are copied */
	unsigned wait;        /* tokens until it is looked at again */
};

static size_t used_bytes(const lexbor_mraw_t *pool)
{
	return pool->mem->chunk_length * pool->mem->chunk_min_size;
}

static bool may_stay_open(const lxb_dom_node_t *n)
{
	if (n->ns != LXB_NS_HTML)
		return false;
	switch (n->local_name) {
	case LXB_TAG_TABLE:
	case LXB_TAG_SELECT:
	case LXB_TAG_TEMPLATE:
	case LXB_TAG_FRAMESET:
		return false;
	default:
		return true;
	}
}

/* Whether each open element is the last child of the one before. */
static bool is_chain(const lxb_html_tree_t *tree)
{
	const lxb_dom_node_t *parent = lxb_dom_interface_node(tree->document);
	void **open = tree->open_elements->list;
	bool has_form = tree->form == NULL;
	for (size_t i = 0; i < tree->open_elements->length; i++) {
		const lxb_dom_node_t *n = open[i];
		if (n->parent != parent || n->next != NULL || !may_stay_open(n))
			return false;
		has_form = has_form || n == (const void *)tree->form;
		parent = n;
	}
	return has_form && (const void *)tree->document->body == open[1] &&
	       (const void *)tree->document->dom_document.element == open[0];
}

static bool can_move(const lxb_html_tree_t *tree)
{
	const lexbor_array_t *open = tree->open_elements;
	if (tree->mode != lxb_html_tree_insertion_mode_in_body || tree->frameset_ok ||
		tree->foster_parenting || tree->fragment != NULL || open->length < 2 ||
		open->length > MAX_OPEN || tree->active_formatting->length != 0 ||
		lexbor_array_obj_length(tree->template_insertion_modes) != 0)
		return false;
	const lxb_dom_node_t *current = open->list[open->length - 1];
	return (current->last_child == NULL ||
		       current->last_child->type == LXB_DOM_NODE_TYPE_ELEMENT) &&
	       is_chain(tree);
}

static void *copy(lexbor_mraw_t *to, const void *from, size_t bytes)
{
	void *data = lexbor_mraw_dup(to, from, bytes);
	ing_must(data != NULL);
	return data;
}

static void copy_attributes(lexbor_mraw_t *to, const lxb_dom_element_t *from, lxb_dom_element_t *e)
{
	e->first_attr = e->last_attr = e->attr_id = e->attr_class = NULL;
	for (const lxb_dom_attr_t *a = from->first_attr; a != NULL; a = a->next) {
		lxb_dom_attr_t *b = copy(to, a, sizeof(*a));
		if (a->value != NULL)
			b->value = copy(to, a->value, sizeof(*a->value));
		if (a->node.parent == &from->node)
			b->node.parent = &e->node;
		b->owner = e;
		b->prev = e->last_attr;
		b->next = NULL;
		*(e->last_attr != NULL ? &e->last_attr->next : &e->first_attr) = b;
		e->last_attr = b;
		if (a == from->attr_id)
			e->attr_id = b;
		if (a == from->attr_class)
			e->attr_class = b;
	}
}

/* The element alone. */
static lxb_dom_node_t *copy_element(lexbor_mraw_t *to, lxb_dom_node_t *from, bool attributes)
{
	lxb_dom_element_t *e = copy(to, from, lexbor_mraw_data_size(from));
	lxb_dom_node_t *n = &e->node;
	n->next = n->prev = n->parent = n->first_child = n->last_child = NULL;
	if (attributes)
		copy_attributes(to, (const lxb_dom_element_t *)(const void *)from, e);
	else
		e->first_attr = e->last_attr = e->attr_id = e->attr_class = NULL;
	return n;
}

/* The open elements as copies, each the only child of the one before. */
static void copy_open(lxb_html_tree_t *tree, lexbor_mraw_t *to)
{
	lxb_html_document_t *doc = tree->document;
	lxb_dom_node_t *parent = lxb_dom_interface_node(doc);
	lexbor_array_t *open = tree->open_elements;
	const void *form = tree->form;
	if (doc->head != NULL)
		doc->head = (void *)copy_element(to, lxb_dom_interface_node(doc->head), false);
	for (size_t i = 0; i < open->length; i++) {
		lxb_dom_node_t *n = copy_element(to, open->list[i], i < 2);
		if (open->list[i] == form)
			tree->form = (void *)n;
		open->list[i] = n;
		n->parent = parent;
		parent->first_child = parent->last_child = n;
		parent = n;
	}
	doc->dom_document.element = open->list[0];
	doc->dom_document.doctype = NULL;
	doc->body = open->list[1];
}

static void move(struct ing_html_window *w, lxb_html_tree_t *tree, struct ing_html_filler *f)
{
	lexbor_array_t *open = tree->open_elements;
	if (!ing_html_filler_go(f, open->list[open->length - 1]))
		return;
	lxb_dom_document_t *dom = &w->doc->dom_document;
	lexbor_mraw_t *full = dom->mraw;
	copy_open(tree, w->spare);
	ing_html_filler_moved(f, open->list[open->length - 1], open->list[0], open->list[1]);
	dom->mraw = w->spare;
	w->spare = full;
	lexbor_mraw_clean(full);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_html_window *ing_html_window_new(struct lxb_html_document *doc)
{
	struct ing_html_window *w = ing_alloc(sizeof(*w));
	w->doc = doc;
	w->spare = lexbor_mraw_create();
	w->bytes = ING_HTML_WINDOW_BYTES;
	ing_must(lexbor_mraw_init(w->spare, POOL_CHUNK) == LXB_STATUS_OK);
	return w;
}

void ing_html_window_free(struct ing_html_window *w)
{
	if (w == NULL)
		return;
	lexbor_mraw_destroy(w->spare, true);
	free(w);
}

void ing_html_window_set(struct ing_html_window *w, size_t bytes)
{
	w->bytes = bytes;
}

void ing_html_window_look(
	struct ing_html_window *w, struct lxb_html_tree *tree, struct ing_html_filler *f)
{
	if (used_bytes(w->doc->dom_document.mraw) < w->bytes)
		return;
	if (w->wait > 0 && w->bytes > 0) {
		w->wait--;
		return;
	}
	if (can_move(tree))
		move(w, tree, f);
	w->wait = TOKENS_TO_RETRY;
}
