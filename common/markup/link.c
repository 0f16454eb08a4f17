/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The base URL is determined once a page and kept in the tree.
 */
#include "common/markup/link.h"

#include <stdlib.h>
#include <string.h>

#include "common/markup/tree_priv.h"
#include "common/net/url.h"

/* Heap copy without control characters; NULL when the value is too long to be a URL. */
static char *clean_value(const char *s, size_t bytes)
{
	ing_link_trim(&s, &bytes);
	if (bytes > ING_URL_MAX_BYTES)
		return NULL;
	char *clean = ing_alloc(bytes + 1);
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)s[i] >= ' ')
			clean[n++] = s[i];
	}
	return clean;
}

static char *resolve_value(const char *base, const char *s, size_t bytes)
{
	char *value = clean_value(s, bytes);
	if (value == NULL)
		return NULL;
	char *url = base != NULL ? ing_url_resolve(base, value) : NULL;
	if (url == NULL)
		url = ing_url_parse(value, strlen(value));
	free(value);
	return url;
}

/* HTML Standard, 4.2.3: these cannot be a base. */
static bool is_base(const char *url)
{
	return url != NULL && strncmp(url, "data:", 5) != 0 && strncmp(url, "javascript:", 11) != 0;
}

/* <base> means something in HTML only, which may have been read as XML. */
static bool has_base_elements(const struct ing_tree *t)
{
	if (!t->xml)
		return true;
	ing_node n = ing_tree_first_child(t, ING_NODE_DOCUMENT);
	while (n != ING_NODE_NONE && !ing_tree_is_element(t, n))
		n = ing_tree_next_sibling(t, n);
	return n != ING_NODE_NONE && ing_tree_is(t, n, "html");
}

static char *find_base(const struct ing_tree *t)
{
	if (!has_base_elements(t))
		return NULL;
	for (ing_node n = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "base");
		n != ING_NODE_NONE; n = ing_tree_next_named(t, n, ING_NODE_DOCUMENT, "base")) {
		size_t bytes;
		const char *href = ing_tree_attr(t, n, "href", &bytes);
		char *url = href != NULL ? resolve_value(t->url, href, bytes) : NULL;
		if (is_base(url))
			return url;
		free(url);
	}
	return NULL;
}

/* Bytes up to U+0020, as Java's String.trim() does. */
static void trim_controls(const char **s, size_t *bytes)
{
	while (*bytes > 0 && (unsigned char)(*s)[*bytes - 1] <= ' ')
		(*bytes)--;
	while (*bytes > 0 && (unsigned char)**s <= ' ') {
		(*s)++;
		(*bytes)--;
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_link_trim(const char **s, size_t *bytes)
{
	size_t before;
	do {
		before = *bytes;
		trim_controls(s, bytes);
		ing_url_trim(s, bytes);
	} while (*bytes < before);
}

const char *ing_link_base(struct ing_tree *t)
{
	struct ing_tree_priv *priv = t->priv;
	if (!priv->has_base) {
		priv->base = find_base(t);
		priv->has_base = true;
	}
	return priv->base != NULL ? priv->base : t->url;
}

char *ing_link_resolve(struct ing_tree *t, const char *value, size_t bytes)
{
	return resolve_value(ing_link_base(t), value, bytes);
}

char *ing_link_of_attr(struct ing_tree *t, ing_node n, const char *name)
{
	size_t bytes;
	const char *value = ing_tree_attr(t, n, name, &bytes);
	return value != NULL ? ing_link_resolve(t, value, bytes) : NULL;
}
