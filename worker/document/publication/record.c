/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records in XML.
 */
#include "worker/document/publication/record.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/markup/xml.h"
#include "worker/document/publication/plain.h"
#include "worker/document/xml/contacts.h"
#include "worker/document/xml/elements.h"
#include "worker/model/limits.h"
#include "worker/scrape/jsoup/text.h"

static struct ing_tree *tree;
static struct ing_arena arena;

static bool is_known(struct ing_publication_term *const *list, size_t count, const char *term)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp((*list)[i].term, term) == 0)
			return true;
	return false;
}

static char *copy_or_null(const char *s)
{
	return s != NULL ? ing_strdup(s) : NULL;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_record_open(struct ing_record *r, const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, const char *const *hollow,
	struct ing_publication_found *found)
{
	static const struct ing_xml_limits limits = {
		.open_elements = ING_MAX_OPEN_ELEMENTS,
		.tree_bytes = ING_MAX_XML_TREE_BYTES,
		.cpu_ms = ING_MAX_XML_CPU_MS,
	};
	const struct ing_xml_uses uses = {.hollow = hollow, .no_root_prefix = true};
	struct ing_error err = {0};
	if (tree == NULL)
		tree = ing_tree_new();
	ing_record_clear();
	*r = (struct ing_record){.ask = ask, .found = found, .tree = tree, .arena = &arena};
	int fail = ing_xml_parse_for(
		tree, body->data, body->bytes, body->content_type, &limits, &uses, &err);
	if (fail == 0)
		return true;
	bool cut = (fail == -ING_FAIL_TOO_BIG || fail == -ING_FAIL_TIMEOUT) && tree->count > 1;
	ing_publication_fail(found, cut ? "too-large" : "bad-answer", "%s", err.msg);
	return cut;
}

void ing_record_clear(void)
{
	if (tree != NULL)
		ing_tree_clear(tree);
	ing_arena_done(&arena);
	ing_arena_init(&arena);
}

ing_node ing_record_root(const struct ing_record *r)
{
	ing_node n = 1;
	while (n < r->tree->count && r->tree->nodes[n].kind != ING_NODE_ELEMENT)
		n++;
	return n < r->tree->count ? n : ING_NODE_DOCUMENT;
}

const char *ing_record_text(const struct ing_record *r, ing_node n)
{
	const char *text = ing_element_text_dup(r->tree, n, r->arena, ING_MAX_RECORD_FIELD_BYTES);
	return text != NULL ? ing_publication_plain(r->arena, text, strlen(text)) : NULL;
}

const char *ing_record_child_text(const struct ing_record *r, ing_node n, const char *name)
{
	return ing_record_text(r, ing_element_child(r->tree, n, name));
}

char *ing_record_field(const struct ing_record *r, ing_node n, const char *name)
{
	return copy_or_null(ing_record_child_text(r, n, name));
}

bool ing_record_child_is(const struct ing_record *r, ing_node n, const char *name, const char *text)
{
	const char *s = ing_record_child_text(r, n, name);
	return s != NULL && strcasecmp(s, text) == 0;
}

void ing_record_offer(const struct ing_record *r, enum ing_part_key part, ing_node n)
{
	const char *text = ing_record_text(r, n);
	if (text != NULL)
		ing_publication_offer_text(r->found, part, r->ask->type, text, strlen(text));
}

void ing_record_offer_blocks(const struct ing_record *r, enum ing_part_key part, ing_node n)
{
	if (n == ING_NODE_NONE)
		return;
	struct ing_buf all;
	ing_buf_init(&all, ING_MAX_PUBLICATION_TEXT_BYTES);
	ing_text_formatted(r->tree, n, NULL, &all);
	const char *text = ing_publication_plain_blocks(r->arena, ing_buf_str(&all), all.len);
	ing_buf_done(&all);
	if (text != NULL)
		ing_publication_offer_text(r->found, part, r->ask->type, text, strlen(text));
}

void ing_record_offer_list(
	const struct ing_record *r, enum ing_part_key part, ing_node n, const char *name)
{
	const ing_node root = n;
	if (n == ING_NODE_NONE)
		return;
	struct ing_publication_term *terms = ing_alloc(ING_MAX_PUBLICATION_TERMS * sizeof(*terms));
	uint32_t count = 0;
	while (count < ING_MAX_PUBLICATION_TERMS &&
		(n = ing_tree_next_named(r->tree, n, root, name)) != ING_NODE_NONE) {
		const char *text = ing_record_text(r, n);
		if (text != NULL && !is_known(&terms, count, text))
			terms[count++] = (struct ing_publication_term){.term = ing_strdup(text)};
	}
	ing_publication_offer_list(r->found, part, r->ask->type, terms, count);
}

void ing_record_add_author(const struct ing_record *r, ing_node n, const char *given,
	const char *family, const char *other, const char *orcid)
{
	struct ing_buf name;
	ing_buf_init(&name, 2 * ING_MAX_RECORD_FIELD_BYTES + 2);
	ing_buf_printf(&name, "%s%s%s", given != NULL && family != NULL ? given : "",
		given != NULL && family != NULL ? " " : "",
		family != NULL  ? family
		: other != NULL ? other
				: "");
	const char *email = NULL;
	ing_node at = n;
	while (family != NULL && email == NULL &&
		(at = ing_tree_next_named(r->tree, at, n, "affiliation")) != ING_NODE_NONE) {
		const char *text = ing_record_text(r, at);
		if (text != NULL)
			email = ing_contact_email(r->arena, &text);
	}
	if (name.len > 0)
		ing_publication_add_author(r->found,
			(struct ing_publication_author){
				.name = ing_strdup(ing_buf_str(&name)),
				.orcid = orcid != NULL
						 ? copy_or_null(ing_contact_orcid(r->arena, orcid))
						 : NULL,
				.email = copy_or_null(email),
				.corresponding = email != NULL,
			});
	ing_buf_done(&name);
}
