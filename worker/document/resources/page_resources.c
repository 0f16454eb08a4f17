/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One walk over the nodes of a page. Which attributes have URLs is a table; style sheets in the page are
 * read on the way.
 *
 * What surprises: a <template> is inert, so what is in it is skipped, unless it declares a shadow tree.
 * The contents of <noscript> are elements, for a reader without scripts.
 */
#include "worker/document/resources/resources.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/markup/link.h"
#include "worker/document/resources/css.h"
#include "worker/document/resources/resource_set.h"
#include "worker/document/resources/srcset.h"

enum form {
	A_URL,
	A_SRCSET,
	LINKS,        /* of <link>: by its rel */
	LINKS_SRCSET, /* imagesrcset of the same */
	INPUT,        /* only of <input type=image> */
};

struct place {
	const char *element, *attr;
	enum form form;
	enum ing_resource_type type;
};

static const struct place places[] = {
	{"script", "src", A_URL, ING_RESOURCE_SCRIPT},
	{"script", "href", A_URL, ING_RESOURCE_SCRIPT}, /* in SVG */
	{"script", "xlink:href", A_URL, ING_RESOURCE_SCRIPT},
	{"link", "href", LINKS, ING_RESOURCE_OTHER},
	{"link", "imagesrcset", LINKS_SRCSET, ING_RESOURCE_IMAGE},
	{"img", "src", A_URL, ING_RESOURCE_IMAGE},
	{"img", "srcset", A_SRCSET, ING_RESOURCE_IMAGE},
	{"image", "href", A_URL, ING_RESOURCE_IMAGE}, /* in SVG, with the next two */
	{"image", "xlink:href", A_URL, ING_RESOURCE_IMAGE},
	{"feimage", "href", A_URL, ING_RESOURCE_IMAGE},
	{"use", "href", A_URL, ING_RESOURCE_IMAGE},
	{"use", "xlink:href", A_URL, ING_RESOURCE_IMAGE},
	{"input", "src", INPUT, ING_RESOURCE_IMAGE},
	{"audio", "src", A_URL, ING_RESOURCE_MEDIA},
	{"video", "src", A_URL, ING_RESOURCE_MEDIA},
	{"video", "poster", A_URL, ING_RESOURCE_IMAGE},
	{"source", "src", A_URL, ING_RESOURCE_MEDIA},
	{"source", "srcset", A_SRCSET, ING_RESOURCE_IMAGE}, /* in <picture> */
	{"track", "src", A_URL, ING_RESOURCE_MEDIA},
	{"embed", "src", A_URL, ING_RESOURCE_MEDIA},
	{"object", "data", A_URL, ING_RESOURCE_MEDIA},
	{"iframe", "src", A_URL, ING_RESOURCE_SUBDOCUMENT},
	{"frame", "src", A_URL, ING_RESOURCE_SUBDOCUMENT},
	{"body", "background", A_URL, ING_RESOURCE_IMAGE},
	{"table", "background", A_URL, ING_RESOURCE_IMAGE},
	{"td", "background", A_URL, ING_RESOURCE_IMAGE},
	{"th", "background", A_URL, ING_RESOURCE_IMAGE},
};

struct walk {
	struct ing_tree *t;
	struct ing_resource_set *set;
	uint8_t *first_place; /* of a name's id: 1 + the first of its rows; 0: none */
	uint32_t style_attr, style_element, template_element; /* names' ids, or UINT32_MAX */
	bool over;                                            /* nothing more is looked at */
};

static char *resolve(void *ctx, const char *value, size_t bytes)
{
	struct walk *w = ctx;
	return ing_link_resolve(w->t, value, bytes);
}

static void add(struct walk *w, enum ing_resource_type type, const char *value, size_t bytes)
{
	w->over = !ing_resource_set_add(w->set, type, value, bytes, resolve, w);
}

static bool take_css(void *ctx, enum ing_css_use use, const char *url, size_t bytes)
{
	static const enum ing_resource_type types[] = {
		[ING_CSS_IMPORT] = ING_RESOURCE_STYLESHEET,
		[ING_CSS_FONT] = ING_RESOURCE_FONT,
		[ING_CSS_IMAGE] = ING_RESOURCE_IMAGE,
	};
	struct walk *w = ctx;
	add(w, types[use], url, bytes);
	return !w->over;
}

static void add_srcset(struct walk *w, const char *value, size_t bytes)
{
	struct ing_srcset s;
	const char *url;
	ing_srcset_init(&s, value, bytes);
	while (!w->over && ing_srcset_next(&s, &url, &bytes))
		add(w, ING_RESOURCE_IMAGE, url, bytes);
}

/* The type of what a <link> with rel=preload loads. */
static enum ing_resource_type type_as(const struct ing_tree *t, ing_node n)
{
	static const struct {
		const char *as;
		enum ing_resource_type type;
	} kinds[] = {
		{"script", ING_RESOURCE_SCRIPT},
		{"style", ING_RESOURCE_STYLESHEET},
		{"image", ING_RESOURCE_IMAGE},
		{"font", ING_RESOURCE_FONT},
		{"audio", ING_RESOURCE_MEDIA},
		{"video", ING_RESOURCE_MEDIA},
		{"track", ING_RESOURCE_MEDIA},
		{"document", ING_RESOURCE_SUBDOCUMENT},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++)
		if (ing_tree_attr_has_word(t, n, "as", kinds[i].as))
			return kinds[i].type;
	return ING_RESOURCE_OTHER;
}

/* False when the link is to nothing that the page is made of. */
static bool link_type(const struct ing_tree *t, ing_node n, enum ing_resource_type *ret)
{
	static const struct {
		const char *rel;
		enum ing_resource_type type;
	} kinds[] = {
		{"stylesheet", ING_RESOURCE_STYLESHEET},
		{"icon", ING_RESOURCE_IMAGE},
		{"apple-touch-icon", ING_RESOURCE_IMAGE},
		{"apple-touch-icon-precomposed", ING_RESOURCE_IMAGE},
		{"apple-touch-startup-image", ING_RESOURCE_IMAGE},
		{"mask-icon", ING_RESOURCE_IMAGE},
		{"modulepreload", ING_RESOURCE_SCRIPT},
		{"manifest", ING_RESOURCE_OTHER},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++) {
		if (ing_tree_attr_has_word(t, n, "rel", kinds[i].rel)) {
			*ret = kinds[i].type;
			return true;
		}
	}
	*ret = type_as(t, n);
	return ing_tree_attr_has_word(t, n, "rel", "preload");
}

static void add_place(struct walk *w, ing_node n, const struct place *place)
{
	size_t bytes;
	const char *value = ing_tree_attr(w->t, n, place->attr, &bytes);
	enum ing_resource_type type = place->type;
	if (value == NULL || bytes == 0)
		return;
	if ((place->form == LINKS || place->form == LINKS_SRCSET) && !link_type(w->t, n, &type))
		return;
	if (place->form == INPUT && !ing_tree_attr_has_word(w->t, n, "type", "image"))
		return;
	if (place->form == A_SRCSET || place->form == LINKS_SRCSET)
		add_srcset(w, value, bytes);
	else
		add(w, type, value, bytes);
}

static void add_style_attr(struct walk *w, ing_node n)
{
	const struct ing_tree_attr *attr = ing_tree_attr_of(w->t, n, w->style_attr);
	if (attr != NULL && memchr(attr->value, '(', attr->bytes) != NULL)
		ing_css_references(attr->value, attr->bytes, ING_CSS_DECLARATIONS, take_css, w);
}

static void add_style_element(struct walk *w, ing_node n)
{
	const struct ing_tree_node *nodes = w->t->nodes;
	for (ing_node i = n + 1; i < nodes[n].end && !w->over; i++) {
		if (nodes[i].kind == ING_NODE_DATA || nodes[i].kind == ING_NODE_TEXT ||
			nodes[i].kind == ING_NODE_CDATA)
			ing_css_references(nodes[i].text.data, nodes[i].text.bytes, ING_CSS_SHEET,
				take_css, w);
	}
}

static void add_element(struct walk *w, ing_node n)
{
	uint32_t name = w->t->nodes[n].el.name;
	unsigned i = w->first_place[name];
	for (; i > 0 && i <= ING_ARRAY_LEN(places) && !w->over; i++) {
		if (strcmp(places[i - 1].element, w->t->names[name].text) != 0)
			break;
		add_place(w, n, &places[i - 1]);
	}
	if (!w->over && w->style_attr != UINT32_MAX)
		add_style_attr(w, n);
	if (!w->over && name == w->style_element)
		add_style_element(w, n);
}

static bool is_inert(const struct walk *w, ing_node n)
{
	return w->t->nodes[n].el.name == w->template_element &&
	       ing_tree_attr(w->t, n, "shadowrootmode", NULL) == NULL;
}

static uint32_t name_of(const struct ing_tree *t, const char *lower)
{
	return ing_tree_find_name(t, lower, strlen(lower));
}

static void find_names(struct walk *w)
{
	w->first_place = ing_alloc(w->t->name_count);
	for (size_t i = ING_ARRAY_LEN(places); i-- > 0;) {
		uint32_t name = name_of(w->t, places[i].element);
		if (name != UINT32_MAX)
			w->first_place[name] = (uint8_t)(i + 1);
	}
	w->style_attr = w->style_element = name_of(w->t, "style");
	w->template_element = name_of(w->t, "template");
}

static void walk_page(struct walk *w)
{
	const struct ing_tree *t = w->t;
	ing_node n = ING_NODE_DOCUMENT + 1;
	while (n < t->count && !w->over) {
		bool is_element = t->nodes[n].kind == ING_NODE_ELEMENT;
		if (is_element && is_inert(w, n)) {
			n = t->nodes[n].end;
			continue;
		}
		if (is_element)
			add_element(w, n);
		n++;
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_resources_of_page(
	struct ing_tree *t, const struct ing_filters *filters, struct ing_resources_found *ret)
{
	struct walk w = {.t = t, .set = ing_resource_set_new(t->url, filters)};
	find_names(&w);
	walk_page(&w);
	ing_resource_set_take(w.set, ret);
	ing_resource_set_free(w.set);
	free(w.first_place);
}
