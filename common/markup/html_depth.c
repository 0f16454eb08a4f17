/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Limits the depth of lexbor's tree: what would be deeper becomes a sibling of the deepest element,
 * as in browsers. Called before a token is passed to the tree builder.
 *
 * An element is closed as its end tag would close it: with its entry among the active formatting
 * elements (otherwise it would be opened again at the next text), its marker there, its template
 * insertion mode, and the insertion mode it stands for. The tree builder relies on these agreeing
 * with its stack; one left over is an endless loop or a dangling pointer. <html> and its children
 * (<head>, <body>, <frameset>) always stay.
 */
#include "common/markup/html_priv.h"

#include <lexbor/dom/dom.h>
#include <lexbor/html/html.h>
#include <lexbor/html/tree.h>
#include <lexbor/html/tree/active_formatting.h>
#include <lexbor/html/tree/insertion_mode.h>
#include <lexbor/html/tree/open_elements.h>
#include <lexbor/html/tree/template_insertion.h>

#include "common/base/macros.h"

#define NEVER_CLOSED 2
#define LEAST_LIMIT 16

static lxb_dom_node_t *parent_of(const lxb_dom_node_t *n)
{
	lxb_dom_node_t *parent = n->parent;
	if (parent != NULL && parent->type == LXB_DOM_NODE_TYPE_DOCUMENT_FRAGMENT)
		parent = &((lxb_dom_document_fragment_t *)(void *)parent)->host->node;
	return parent;
}

/* Elements from the current one to <html>. */
static size_t depth_of_current(lxb_html_tree_t *tree)
{
	size_t depth = 0;
	const lxb_dom_node_t *n = lxb_html_tree_current_node(tree);
	while (n != NULL && n->type == LXB_DOM_NODE_TYPE_ELEMENT) {
		depth++;
		n = parent_of(n);
	}
	return depth;
}

/* Elements can leave the stack from its middle (</form>, a second <a> within <svg>), never two for
 * each that stays above them: the tree is at most twice as deep as the stack. */
static bool is_full(lxb_html_tree_t *tree, size_t limit)
{
	size_t open = tree->open_elements->length;
	return open >= limit || (open >= limit / 2 && depth_of_current(tree) >= limit);
}

static bool is_marker(const void *entry)
{
	return entry == (const void *)lxb_html_tree_active_formatting_marker();
}

/* Before the last marker it is left: nothing opens it again while the marker stands. */
static void forget_formatting(lxb_html_tree_t *tree, const lxb_dom_node_t *n)
{
	lexbor_array_t *active = tree->active_formatting;
	for (size_t i = active->length; i > 0 && !is_marker(active->list[i - 1]); i--) {
		if (active->list[i - 1] == n) {
			lexbor_array_delete(active, i - 1, 1);
			return;
		}
	}
}

/* True: the insertion mode stood for it. */
static bool close_current(lxb_html_tree_t *tree)
{
	const lxb_dom_node_t *n = lxb_html_tree_open_elements_pop(tree);
	if (n->ns != LXB_NS_HTML)
		return false;
	if ((const void *)n == tree->form)
		tree->form = NULL;
	switch (n->local_name) {
	case LXB_TAG_TEMPLATE:
		lxb_html_tree_template_insertion_pop(tree);
		lxb_html_tree_active_formatting_up_to_last_marker(tree);
		return true;
	case LXB_TAG_CAPTION:
	case LXB_TAG_TD:
	case LXB_TAG_TH:
		lxb_html_tree_active_formatting_up_to_last_marker(tree);
		return true;
	case LXB_TAG_APPLET:
	case LXB_TAG_MARQUEE:
	case LXB_TAG_OBJECT:
		lxb_html_tree_active_formatting_up_to_last_marker(tree);
		return false;
	case LXB_TAG_COLGROUP:
	case LXB_TAG_FRAMESET:
	case LXB_TAG_SELECT:
	case LXB_TAG_TABLE:
	case LXB_TAG_TBODY:
	case LXB_TAG_TFOOT:
	case LXB_TAG_THEAD:
	case LXB_TAG_TR:
		return true;
	default:
		if (lxb_html_tag_is_category(
			    n->local_name, n->ns, LXB_HTML_TAG_CATEGORY_FORMATTING))
			forget_formatting(tree, n);
		return false;
	}
}

/* Parts of a table are only inside one another, at most <tbody>, <tr> and one more, so they do not
 * count, nor does what else comes there. Text between the parts waits for the next token and the
 * former mode. Void elements do not count either; in <svg> and <math> the same names stay open. */
static bool needs_room(lxb_html_tree_t *tree, const lxb_html_token_t *token)
{
	if (token->tag_id <= LXB_TAG__EM_DOCTYPE ||
		(token->type & LXB_HTML_TOKEN_TYPE_CLOSE) != 0 ||
		tree->mode == lxb_html_tree_insertion_mode_in_table_text ||
		tree->mode == lxb_html_tree_insertion_mode_text)
		return false;
	const lxb_dom_node_t *current = lxb_html_tree_current_node(tree);
	if (current->ns != LXB_NS_HTML)
		return true;
	switch (current->local_name) {
	case LXB_TAG_TABLE:
	case LXB_TAG_TBODY:
	case LXB_TAG_TFOOT:
	case LXB_TAG_THEAD:
	case LXB_TAG_TR:
		return false;
	default:
		return !lxb_html_tag_is_void(token->tag_id);
	}
}

static void make_room(lxb_html_tree_t *tree, size_t limit)
{
	bool reset = false;
	while (tree->open_elements->length > NEVER_CLOSED && is_full(tree, limit))
		reset |= close_current(tree);
	if (reset)
		lxb_html_tree_reset_insertion_mode_appropriately(tree);
}

/* The first of the active formatting elements that the next word opens again. These are those after
 * the last that is open or a marker. Elements that are open are marked while we look: the user
 * field of a node is ours. */
static size_t first_to_reopen(lxb_html_tree_t *tree)
{
	const lexbor_array_t *open = tree->open_elements, *active = tree->active_formatting;
	for (size_t i = 0; i < open->length; i++)
		((lxb_dom_node_t *)open->list[i])->user = tree;
	size_t first = active->length;
	while (first > 0 && !is_marker(active->list[first - 1]) &&
		((const lxb_dom_node_t *)active->list[first - 1])->user == NULL)
		first--;
	for (size_t i = 0; i < open->length; i++)
		((lxb_dom_node_t *)open->list[i])->user = NULL;
	return first;
}

/* Of the formatting elements that are to be opened again, the inner ones that have no room stay
 * closed. */
static void limit_reopening(lxb_html_tree_t *tree, size_t limit)
{
	lexbor_array_t *active = tree->active_formatting;
	size_t open = tree->open_elements->length, n = active->length;
	if (n == 0 || open + n < limit / 2 || is_marker(active->list[n - 1]) ||
		lxb_html_tree_open_elements_find_by_node_reverse(tree, active->list[n - 1], NULL))
		return;
	size_t first = first_to_reopen(tree);
	if (open + (n - first) < limit / 2)
		return;
	size_t depth = ING_MAX(open, depth_of_current(tree));
	size_t room = depth + 1 < limit ? limit - 1 - depth : 0;
	if (n - first > room)
		lexbor_array_delete(active, first + room, n - first - room);
}

/* -------------------------------------------------------------------------------------------- */

void ing_html_limit_depth(
	lxb_html_tree_t *tree, const lxb_html_token_t *token, size_t open_elements)
{
	size_t limit = ING_MAX(open_elements, (size_t)LEAST_LIMIT);
	if (tree->open_elements->length <= NEVER_CLOSED)
		return;
	if (needs_room(tree, token))
		make_room(tree, limit);
	limit_reopening(tree, limit);
}
