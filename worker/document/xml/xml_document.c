/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One pass of the parser makes the tree and, of JATS, the document written anew.
 */
#include "worker/document/xml/xml_document.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "common/markup/xml.h"
#include "worker/document/xml/jats.h"
#include "worker/model/limits.h"

#define JATS "application/jats+xml"

struct ing_xml_reader {
	struct ing_tree *tree;
	struct ing_arena arena;
	bool is_jats; /* and well-formed */
};

static const char *status_of(int fail)
{
	if (fail == -ING_FAIL_TOO_BIG)
		return "text-too-large";
	return fail == 0 ? "success" : "xml-parse-error";
}

static const char *const *hollow_of(bool jats)
{
	return jats ? ing_jats_hollow : NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_xml_reader *ing_xml_reader_new(void)
{
	struct ing_xml_reader *r = ing_alloc(sizeof(*r));
	r->tree = ing_tree_new();
	ing_arena_init(&r->arena);
	return r;
}

void ing_xml_reader_free(struct ing_xml_reader *r)
{
	if (r == NULL)
		return;
	ing_tree_free(r->tree);
	ing_arena_done(&r->arena);
	free(r);
}

void ing_xml_read(struct ing_xml_reader *r, const void *data, size_t bytes, const char *mimetype,
	const char *content_type, struct ing_xml_found *ret)
{
	static const struct ing_xml_limits limits = {
		.open_elements = ING_MAX_OPEN_ELEMENTS,
		.tree_bytes = ING_MAX_XML_TREE_BYTES,
		.cpu_ms = ING_MAX_XML_CPU_MS,
	};
	bool jats = strcmp(mimetype, JATS) == 0;
	struct ing_buf rewritten;
	ing_buf_init(&rewritten, ING_MAX_JATS_BYTES);
	const struct ing_xml_uses uses = {.rewritten = jats ? &rewritten : NULL,
		.hollow = hollow_of(jats),
		.no_root_prefix = jats};
	struct ing_error err = {0};
	ing_xml_reader_clear(r);
	int fail = ing_xml_parse_for(r->tree, data, bytes, content_type, &limits, &uses, &err);
	r->is_jats = jats && fail == 0;
	ret->status = ing_strdup(status_of(fail));
	if (fail != 0)
		ret->error_msg = ing_utf8_clean(err.msg, strlen(err.msg), NULL);
	else if (jats)
		ret->jats_xml = ing_buf_steal(&rewritten);
	ing_buf_done(&rewritten);
}

const char *ing_xml_reader_root(const struct ing_xml_reader *r)
{
	const struct ing_tree *t = r->tree;
	for (ing_node n = 1; n < t->count; n++)
		if (t->nodes[n].kind == ING_NODE_ELEMENT)
			return t->names[t->nodes[n].el.written].text;
	return NULL;
}

json_t *ing_xml_reader_publication(struct ing_xml_reader *r)
{
	return r->is_jats ? ing_jats_publication(r->tree, ING_PART_TYPE_LINK, &r->arena) : NULL;
}

void ing_xml_reader_clear(struct ing_xml_reader *r)
{
	ing_tree_clear(r->tree);
	ing_arena_done(&r->arena);
	ing_arena_init(&r->arena);
	r->is_jats = false;
}

bool ing_xml_is_document_type(const char *mimetype)
{
	static const char *const types[] = {
		"application/xml", "text/xml", JATS, "application/tei+xml"};
	for (size_t i = 0; i < ING_ARRAY_LEN(types); i++)
		if (strcmp(mimetype, types[i]) == 0)
			return true;
	return false;
}
