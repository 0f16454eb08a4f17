/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Walks over the children of an element and the elements of a name.
 */
#include "worker/document/xml/elements.h"

#include <string.h>
#include <strings.h>

#include "worker/scrape/jsoup/text.h"

ing_node ing_element_sibling(const struct ing_tree *t, ing_node n, const char *name)
{
	while ((n = ing_tree_next_sibling(t, n)) != ING_NODE_NONE)
		if (ing_tree_is(t, n, name))
			return n;
	return ING_NODE_NONE;
}

ing_node ing_element_child(const struct ing_tree *t, ing_node parent, const char *name)
{
	ing_node n = parent != ING_NODE_NONE ? ing_tree_first_child(t, parent) : ING_NODE_NONE;
	return n == ING_NODE_NONE || ing_tree_is(t, n, name) ? n : ing_element_sibling(t, n, name);
}

ing_node ing_element_below(const struct ing_tree *t, ing_node n, const char *name)
{
	return n != ING_NODE_NONE ? ing_tree_next_named(t, n, n, name) : ING_NODE_NONE;
}

bool ing_element_attr_is(const struct ing_tree *t, ing_node n, const char *name, const char *value)
{
	const char *v = ing_tree_attr(t, n, name, NULL);
	return v != NULL && strcasecmp(v, value) == 0;
}

bool ing_element_text(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	struct ing_buf text;
	ing_buf_init(&text, out->max - out->len);
	ing_text(t, n, &text);
	size_t before = out->len;
	ing_text_normalise(ing_buf_str(&text), text.len, true, out);
	if (out->len > before && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	ing_buf_done(&text);
	return out->len > before;
}

const char *ing_element_text_dup(
	const struct ing_tree *t, ing_node n, struct ing_arena *ar, size_t max_bytes)
{
	if (n == ING_NODE_NONE)
		return NULL;
	struct ing_buf text;
	ing_buf_init(&text, max_bytes);
	bool any = ing_element_text(t, n, &text);
	const char *copy = any ? ing_arena_strndup(ar, ing_buf_str(&text), text.len) : NULL;
	ing_buf_done(&text);
	return copy;
}
