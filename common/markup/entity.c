/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A name is looked up by parsing a page that consists of "&name;".
 */
#include "common/markup/entity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/markup/html.h"

#define NAME_BYTES 40  /* the longest has 31 */
#define VALUE_BYTES 24 /* two characters; quoted, five bytes for one */
#define SLOTS 64       /* a document uses few names, many times; a power of two */

struct known {
	char name[NAME_BYTES];
	char value[VALUE_BYTES], quoted[VALUE_BYTES]; /* "": no such name */
};

struct ing_entities {
	struct ing_html *html;
	struct ing_tree *tree;
	struct known known[SLOTS];
};

static void quote_value(const char *s, char to[VALUE_BYTES])
{
	size_t n = 0;
	for (; *s != '\0' && n + 6 < VALUE_BYTES; s++) {
		if (*s == '&' || *s == '<')
			n += (size_t)snprintf(to + n, VALUE_BYTES - n, "&#%d;", *s);
		else
			to[n++] = *s;
	}
	to[n] = '\0';
}

static bool is_name(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t n = strspn(name, letters);
	return n > 0 && n < NAME_BYTES && name[n] == '\0';
}

static void look_up(struct ing_entities *e, struct known *k)
{
	static const struct ing_html_limits limits = {
		.open_elements = 16,
		.tag_attributes = 16,
		.names = 16,
		.tree_bytes = (size_t)16 << 20, /* mostly what lexbor takes to begin with */
		.cpu_ms = 1000,
	};
	char page[NAME_BYTES + 16];
	int n = snprintf(page, sizeof(page), "<body>&%s;", k->name);
	ing_html_parse(e->html, page, (size_t)n, "text/html; charset=utf-8", &limits);
	ing_html_fill(e->html, e->tree);
	ing_node text = ing_tree_first_child(e->tree, ing_tree_body(e->tree));
	k->value[0] = k->quoted[0] = '\0';
	if (text == ING_NODE_NONE || e->tree->nodes[text].kind != ING_NODE_TEXT)
		return;
	const char *s = e->tree->nodes[text].text.data;
	size_t bytes = e->tree->nodes[text].text.bytes;
	/* What is no name stays as it is; "&notit;" is "&not" with something behind it. */
	if (bytes >= VALUE_BYTES / 2 || (bytes > 1 && s[bytes - 1] == ';'))
		return;
	memcpy(k->value, s, bytes + 1);
	quote_value(k->value, k->quoted);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_entities *ing_entities_new(void)
{
	struct ing_entities *e = ing_alloc(sizeof(*e));
	e->html = ing_html_new();
	e->tree = ing_tree_new();
	return e;
}

void ing_entities_free(struct ing_entities *e)
{
	if (e == NULL)
		return;
	ing_tree_free(e->tree);
	ing_html_free(e->html);
	free(e);
}

const char *ing_entity(struct ing_entities *e, const char *name, bool quoted)
{
	if (!is_name(name))
		return NULL;
	unsigned hash = 0;
	for (const char *s = name; *s != '\0'; s++)
		hash = hash * 31 + (unsigned char)*s;
	struct known *k = &e->known[hash % SLOTS];
	if (strcmp(k->name, name) != 0) {
		snprintf(k->name, sizeof(k->name), "%s", name);
		look_up(e, k);
	}
	if (k->value[0] == '\0')
		return NULL;
	return quoted ? k->quoted : k->value;
}
