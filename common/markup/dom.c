/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A thin skin over lexbor's nodes, the one tree type of the project.
 */
#include "common/markup/dom.h"

#include <string.h>
#include <strings.h>
#include <lexbor/dom/dom.h>

#define SPACE "\t\n\f\r "

/* lexbor takes non-const nodes also where it only reads. */
static lxb_dom_node_t *raw(const struct ing_dom_node *n)
{
	return (lxb_dom_node_t *)(uintptr_t)n;
}

static const struct ing_dom_node *wrap(const lxb_dom_node_t *n)
{
	return (const struct ing_dom_node *)(const void *)n;
}

static lxb_dom_element_t *element(const struct ing_dom_node *n)
{
	return lxb_dom_interface_element(raw(n));
}

static bool word_is(const char *word, size_t bytes, const char *lower)
{
	return strlen(lower) == bytes && strncasecmp(word, lower, bytes) == 0;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_dom_node *ing_dom_parent(const struct ing_dom_node *n)
{
	return wrap(raw(n)->parent);
}

const struct ing_dom_node *ing_dom_first_child(const struct ing_dom_node *n)
{
	return wrap(raw(n)->first_child);
}

const struct ing_dom_node *ing_dom_next_sibling(const struct ing_dom_node *n)
{
	return wrap(raw(n)->next);
}

const struct ing_dom_node *ing_dom_next(
	const struct ing_dom_node *n, const struct ing_dom_node *root)
{
	const lxb_dom_node_t *at = raw(n);
	const lxb_dom_node_t *top = raw(root);
	if (at->first_child != NULL)
		return wrap(at->first_child);
	while (at != top && at->next == NULL)
		at = at->parent;
	return at != top ? wrap(at->next) : NULL;
}

const struct ing_dom_node *ing_dom_next_element(
	const struct ing_dom_node *n, const struct ing_dom_node *root)
{
	for (n = ing_dom_next(n, root); n != NULL; n = ing_dom_next(n, root)) {
		if (ing_dom_is_element(n))
			return n;
	}
	return NULL;
}

const struct ing_dom_node *ing_dom_first(const struct ing_dom_node *root, const char *name)
{
	const struct ing_dom_node *n = ing_dom_next_element(root, root);
	while (n != NULL && !ing_dom_is_html(n, name))
		n = ing_dom_next_element(n, root);
	return n;
}

bool ing_dom_is_element(const struct ing_dom_node *n)
{
	return raw(n)->type == LXB_DOM_NODE_TYPE_ELEMENT;
}

bool ing_dom_is_html(const struct ing_dom_node *n, const char *name)
{
	return raw(n)->ns == LXB_NS_HTML && strcmp(ing_dom_name(n), name) == 0;
}

const char *ing_dom_name(const struct ing_dom_node *n)
{
	if (!ing_dom_is_element(n))
		return "";
	const char *name = (const char *)lxb_dom_element_local_name(element(n), NULL);
	return name != NULL ? name : "";
}

const char *ing_dom_attr(const struct ing_dom_node *n, const char *name, size_t *ret_bytes)
{
	if (!ing_dom_is_element(n))
		return NULL;
	lxb_dom_attr_t *attr =
		lxb_dom_element_attr_by_name(element(n), (const lxb_char_t *)name, strlen(name));
	if (attr == NULL)
		return NULL;
	size_t bytes = 0;
	const char *value = (const char *)lxb_dom_attr_value(attr, &bytes);
	if (ret_bytes != NULL)
		*ret_bytes = value != NULL ? bytes : 0;
	return value != NULL ? value : "";
}

bool ing_dom_attr_is(const struct ing_dom_node *n, const char *name, const char *lower)
{
	size_t bytes;
	const char *value = ing_dom_attr(n, name, &bytes);
	if (value == NULL)
		return false;
	size_t lead = strspn(value, SPACE);
	while (bytes > lead && strchr(SPACE, value[bytes - 1]) != NULL)
		bytes--;
	return word_is(value + lead, bytes - lead, lower);
}

bool ing_dom_attr_has_word(const struct ing_dom_node *n, const char *name, const char *lower)
{
	const char *value = ing_dom_attr(n, name, NULL);
	while (value != NULL && *value != '\0') {
		value += strspn(value, SPACE);
		size_t bytes = strcspn(value, SPACE);
		if (bytes > 0 && word_is(value, bytes, lower))
			return true;
		value += bytes;
	}
	return false;
}

bool ing_dom_text(const struct ing_dom_node *n, struct ing_buf *out)
{
	for (const struct ing_dom_node *at = n; at != NULL; at = ing_dom_next(at, n)) {
		lxb_dom_node_type_t type = raw(at)->type;
		if (type != LXB_DOM_NODE_TYPE_TEXT && type != LXB_DOM_NODE_TYPE_CDATA_SECTION)
			continue;
		const lexbor_str_t *s = &lxb_dom_interface_character_data(raw(at))->data;
		if (s->data != NULL && !ing_buf_add(out, s->data, s->length))
			return false;
	}
	return true;
}
