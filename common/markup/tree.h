/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tree.h - a page as a flat tree: the one type that HTML and XML are parsed into, and that
 * selectors, text functions and scraping work on.
 *
 * All nodes are in one array in document order: a subtree is a range of indexes, "is an ancestor"
 * two comparisons, every walk a loop; nothing recurses. The tree owns its nodes, names and strings;
 * a parser (html.h, xml.h) fills it through the building functions, and its memory is kept from
 * page to page. All text is valid UTF-8 without NUL.
 *
 * Nothing is inserted once a page is parsed. The only change is :matchText
 * (worker/scrape/jsoup/selector.h), which makes a text node a pseudo element (`pseudo` is set):
 * from then on it counts as an element with its parent's name and attributes, and its text is its
 * own.
 *
 * One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t ing_node; /* index into nodes */
#define ING_NODE_NONE UINT32_MAX
#define ING_NODE_DOCUMENT ((ing_node)0) /* always there, named "#root" */

enum ing_node_kind {
	ING_NODE_ELEMENT, /* the document too */
	ING_NODE_TEXT,
	ING_NODE_CDATA, /* CDATA section of XML or of foreign content */
	ING_NODE_DATA,  /* what is inside <script> and <style> of HTML */
	ING_NODE_COMMENT,
	ING_NODE_OTHER, /* doctype, processing instruction: no text */
};

struct ing_tree_node {
	ing_node parent; /* NONE: of the document */
	ing_node end;    /* first node behind the subtree */
	ing_node prev;   /* previous sibling of any kind, or NONE */
	uint8_t kind;
	uint8_t pseudo; /* a TEXT or CDATA node that :matchText made an element */
	uint16_t attr_count;
	union {
		struct {
			uint32_t name;    /* into names, in lower case */
			uint32_t written; /* the name as written (XML keeps its case) */
			uint32_t attrs;   /* first of attr_count in attrs */
			uint32_t ordinal; /* place among all elements; the document's is 0 */
		} el;
		struct {
			const char *data; /* NUL-terminated */
			uint32_t bytes;
		} text;
	};
};

struct ing_tree_attr {
	const char *value; /* NUL-terminated */
	uint32_t bytes;
	uint32_t name; /* into names, in lower case */
};

/* Properties of an element's name for the text functions, from jsoup 1.16.1's tables, for HTML and
 * XML alike. */
enum ing_name_flag {
	ING_NAME_BLOCK = 1,    /* separates the text before and after it */
	ING_NAME_INLINE = 2,   /* "format as inline": a space after a block before it */
	ING_NAME_PRESERVE = 4, /* white space in it is kept */
	ING_NAME_BREAK = 8,    /* <br> */
	/* For formatted text: an empty line around it; white space kept (not in <title>). */
	ING_NAME_MARGIN = 16,
	ING_NAME_VERBATIM = 32,
};

struct ing_tree_name {
	const char *text;
	uint32_t bytes;
	uint32_t flags; /* enum ing_name_flag */
	uint32_t lower; /* the same name in lower case; itself, if it is */
};

struct ing_tree {
	struct ing_tree_node *nodes;
	struct ing_tree_attr *attrs;
	struct ing_tree_name *names;
	uint32_t count, attr_count, name_count;
	uint32_t element_count;     /* ordinals given, the document's included */
	bool xml;                   /* read as XML */
	bool has_pseudo;            /* :matchText has made a pseudo element */
	const char *encoding;       /* by which the page was read; static */
	const char *url;            /* the page's own address as set, or NULL */
	struct ing_tree_priv *priv; /* memory, intern table */
};

struct ing_tree *ing_tree_new(void);
void ing_tree_free(struct ing_tree *t); /* NULL is fine */
/* Remove all nodes but the document; keeps a few megabytes of memory at most. */
void ing_tree_clear(struct ing_tree *t);
/* Bytes the tree holds, for measurements and limits. */
size_t ing_tree_bytes(const struct ing_tree *t);

/* Address of the page, from which links are read (link.h). Copied; NULL: unknown. */
void ing_tree_set_url(struct ing_tree *t, const char *url);

/* --- building: for html.c and xml.c. Names are interned (any case), strings copied into the tree
 * unless `borrowed` (then they outlive the tree's page). Nodes are added in document order;
 * ing_tree_close() closes the element opened last. False: too many nodes or attributes
 * (2^31), or no memory. --- */
uint32_t ing_tree_intern(struct ing_tree *t, const char *name, size_t bytes);
bool ing_tree_open(struct ing_tree *t, uint32_t name);
bool ing_tree_add_attr(
	struct ing_tree *t, uint32_t name, const char *value, size_t bytes, bool borrowed);
/* The same to any element: at another one than the last, its attributes are moved. */
bool ing_tree_add_attr_to(struct ing_tree *t, ing_node element, uint32_t name, const char *value,
	size_t bytes, bool borrowed);
bool ing_tree_add_text(
	struct ing_tree *t, enum ing_node_kind kind, const char *data, size_t bytes, bool borrowed);
void ing_tree_close(struct ing_tree *t);
void ing_tree_finish(struct ing_tree *t); /* closes what is open; the tree is ready */

/* --- reading --- */

static inline bool ing_tree_is_element(const struct ing_tree *t, ing_node n)
{
	return t->nodes[n].kind == ING_NODE_ELEMENT || t->nodes[n].pseudo;
}

/* The node that has the name and attributes of n: n itself, or the parent of a pseudo element. */
static inline ing_node ing_tree_attr_owner(const struct ing_tree *t, ing_node n)
{
	return t->nodes[n].pseudo ? t->nodes[n].parent : n;
}

static inline ing_node ing_tree_first_child(const struct ing_tree *t, ing_node n)
{
	return t->nodes[n].end > n + 1 ? n + 1 : ING_NODE_NONE;
}

static inline ing_node ing_tree_next_sibling(const struct ing_tree *t, ing_node n)
{
	ing_node parent = t->nodes[n].parent;
	return parent != ING_NODE_NONE && t->nodes[n].end < t->nodes[parent].end ? t->nodes[n].end
										 : ING_NODE_NONE;
}

static inline bool ing_tree_contains(const struct ing_tree *t, ing_node ancestor, ing_node n)
{
	return n > ancestor && n < t->nodes[ancestor].end;
}

/* Returns the name in lower case ("#root" for the document) of an element or pseudo element; "" of
 * other nodes. */
const char *ing_tree_name(const struct ing_tree *t, ing_node n);
/* Whether n is an element, not pseudo, with that name (in lower case). */
bool ing_tree_is(const struct ing_tree *t, ing_node n, const char *name);
/* Returns the id of a name in lower case, or UINT32_MAX when the page has no such name. */
uint32_t ing_tree_find_name(const struct ing_tree *t, const char *lower, size_t bytes);

/* Returns the value of an attribute (name in lower case), "" when it has none, NULL when there is
 * no such attribute. ret_bytes may be NULL. */
const char *ing_tree_attr(
	const struct ing_tree *t, ing_node n, const char *name, size_t *ret_bytes);
/* The same by the name's id. */
const struct ing_tree_attr *ing_tree_attr_of(const struct ing_tree *t, ing_node n, uint32_t name);
/* Whether the value, a list separated by HTML white space, contains `lower` in any ASCII case. */
bool ing_tree_attr_has_word(
	const struct ing_tree *t, ing_node n, const char *name, const char *lower);

/* Returns the next element, not pseudo, after n in root's subtree with this name, in document
 * order, or NONE; start with n == root. Uses an index by name: a walk over all elements of a name
 * is linear in their number. */
ing_node ing_tree_next_named(
	const struct ing_tree *t, ing_node n, ing_node root, const char *lower);

/* Returns all elements, not pseudo, of the name with that id, in document order, borrowed until the
 * tree is cleared; NULL and 0 when there are none. */
const ing_node *ing_tree_named(const struct ing_tree *t, uint32_t name, uint32_t *ret_count);

/* Returns the first <body>, or the document. */
ing_node ing_tree_body(const struct ing_tree *t);
