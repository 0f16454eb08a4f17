/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xml.h - XML to a tree (tree.h), on libxml2, which only xml.c includes.
 *
 * Strict: what is not well-formed is an error with its position. No network, no files, no external
 * DTD; of an internal DTD nothing is kept, so that no entity expands. Known entities are the five
 * predefined ones and HTML's names for characters (which JATS uses too), whatever a DOCTYPE
 * declares; other names are U+FFFD where there is a DOCTYPE, else an error. Names keep their case;
 * prefixes stay part of the name ("xlink:href") and need no declaration. Encoding: byte order mark,
 * charset of the header, declaration, UTF-8; ill-formed bytes are an error in UTF-8, U+FFFD in
 * others. At most 1,024 attributes of a tag. One thread at a time.
 */
#pragma once
#include "common/base/error.h"
#include "common/markup/tree.h"

struct ing_buf;
struct ing_charset;

struct ing_xml_limits {
	unsigned open_elements; /* nesting; deeper is an error */
	size_t tree_bytes;      /* memory of the tree; more is an error */
	unsigned cpu_ms;        /* of this thread; more is an error */
};

/* The encoding of a document, as above; never NULL. content_type: as below. */
const struct ing_charset *ing_xml_charset(const void *data, size_t bytes, const char *content_type);

/* Parse into t, which is cleared first. Returns 0, -SYNTAX (line and column in err), -TOO_DEEP,
 * -TOO_BIG or -TIMEOUT; on failure t has what came before the error. content_type: a Content-Type
 * value or NULL. */
int ing_xml_parse(struct ing_tree *t, const void *data, size_t bytes, const char *content_type,
	const struct ing_xml_limits *limits, struct ing_error *err) ING_MUST_CHECK;

/* More to do with the document in the same pass. */
struct ing_xml_uses {
	/* The same document, re-serialised as UTF-8 without DOCTYPE, comments and processing
	 * instructions, entities and CDATA being text (xml_writer.h); empty on failure. NULL: not
	 * wanted. Its ceiling is the caller's. */
	struct ing_buf *rewritten;
	/* Names of elements of which the tree gets nothing but themselves: it stays small where
	 * nobody looks into them. NULL-terminated, or NULL. */
	const char *const *hollow;
	/* Names of elements in the tree (and in `hollow`) go without the root's prefix: <j:article> is
	 * an article, whatever prefix its writer has chosen. */
	bool no_root_prefix;
};

/* The same with more uses. A document that is well-formed but cannot be rewritten is parsed; err has
 * the reason and the return value is that of ing_xml_writer_finish(). */
int ing_xml_parse_for(struct ing_tree *t, const void *data, size_t bytes, const char *content_type,
	const struct ing_xml_limits *limits, const struct ing_xml_uses *uses,
	struct ing_error *err) ING_MUST_CHECK;
