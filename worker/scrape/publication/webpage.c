/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A web page that is not an article: title, content, licence and language, by its rule, or by what
 * is common to all pages.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/markup/link.h"
#include "worker/scrape/jsoup/text.h"
#include "worker/scrape/publication/clean.h"
#include "worker/scrape/biblio/meta.h"
#include "worker/scrape/publication/extract.h"
#include "worker/scrape/publication/publication.h"
#include "worker/model/rule_hits.h"

#define CC_MARK "creativecommons.org/"
#define MAX_LANGUAGE_BYTES 64 /* RFC 5646 tags are 35 at most in practice */

static const struct ing_text_value nothing = {NULL, 0};

/* In the arena; an empty one is nothing. */
static struct ing_text_value copy_text(const struct ing_view *v, const char *s, size_t bytes)
{
	if (bytes == 0)
		return nothing;
	return (struct ing_text_value){ing_arena_strndup(v->arena, s, bytes), bytes};
}

/* Sets *ret to the value of a rule's key. Returns false when the rule has no such key. */
static bool read_by_rule(const struct ing_view *v, const struct ing_webpage_rule *rule,
	enum ing_webpage_key key, struct ing_text_value *ret)
{
	static const struct {
		enum ing_extract_style style;
		bool first;
		const char *between;
	} how[] = {
		[ING_WEBPAGE_TITLE] = {ING_EXTRACT_FORMATTED, true, ""},
		[ING_WEBPAGE_CONTENT] = {ING_EXTRACT_FORMATTED, false, "\n\n"},
		[ING_WEBPAGE_LICENSE] = {ING_EXTRACT_TEXT, true, ""},
		[ING_WEBPAGE_LANGUAGE] = {ING_EXTRACT_TEXT, false, ", "},
	};
	if (rule == NULL || !rule->keys[key].given)
		return false;
	const struct ing_webpage_value *value = &rule->keys[key];
	if (value->selector == NULL) {
		*ret = (struct ing_text_value){"", 0};
		return true;
	}
	struct ing_extracted extracted =
		ing_extract(v, ing_extraction_of_webpage(value), how[key].style, how[key].first);
	*ret = ing_extracted_join(v, extracted, how[key].between);
	if (ret->bytes == 0)
		*ret = nothing;
	return true;
}

static struct ing_text_value read_title(const struct ing_view *v)
{
	struct ing_text_value title = ing_extract_title(v);
	return title.bytes == 0 ? nothing : title;
}

static struct ing_text_value read_content(const struct ing_view *v)
{
	struct ing_buf text;
	ing_buf_init(&text, ING_CLEAN_MAX_TEXT_BYTES);
	ing_clean_text(v, false, &text);
	struct ing_text_value content = copy_text(v, ing_buf_str(&text), text.len);
	ing_buf_done(&text);
	return content;
}

/* Returns the URL of a Creative Commons licence in a text, up to white space or punctuation. */
static struct ing_text_value find_cc(const struct ing_view *v, const char *s, size_t bytes)
{
	const char *end = s + bytes;
	const char *mark = memmem(s, bytes, CC_MARK, sizeof(CC_MARK) - 1);
	if (mark == NULL)
		return nothing;
	const char *from = mark, *to = mark;
	while (from > s && strchr(" \t\r\n\"'<>()", from[-1]) == NULL)
		from--;
	while (to < end && strchr(" \t\r\n\"'<>(),;", *to) == NULL)
		to++;
	while (to > mark && to[-1] == '.')
		to--;
	return strncmp(from, "http", 4) == 0 ? copy_text(v, from, (size_t)(to - from)) : nothing;
}

/* Sets *ret to the address of the first <link>, else of the first <a>, with rel=license. Returns false when there is
 * none. */
static bool find_linked_license(const struct ing_view *v, struct ing_text_value *ret)
{
	static const char *const elements[] = {"link", "a"};
	static const char word[] = "license";
	const struct ing_tree *t = v->tree;
	uint32_t rel = ing_tree_find_name(t, "rel", 3);
	for (size_t i = 0; i < ING_ARRAY_LEN(elements) && rel != UINT32_MAX; i++) {
		uint32_t count = 0;
		uint32_t name = ing_tree_find_name(t, elements[i], strlen(elements[i]));
		const ing_node *list = ing_tree_named(t, name, &count);
		for (uint32_t k = 0; k < count; k++) {
			const struct ing_tree_attr *a = ing_tree_attr_of(t, list[k], rel);
			if (a == NULL || a->bytes < sizeof(word) - 1 ||
				!ing_tree_attr_has_word(t, list[k], "rel", word))
				continue;
			char *url = ing_link_of_attr(v->tree, list[k], "href");
			if (url == NULL)
				continue;
			*ret = copy_text(v, url, strlen(url));
			free(url);
			return true;
		}
	}
	return false;
}

/* rel=license, as the HTML Standard has it; then <meta> elements for licences; then those for
 * rights, if they contain the URL of a Creative Commons licence. */
static struct ing_text_value read_license(const struct ing_view *v)
{
	static const char *const licenses[] = {
		"dcterms.license", "dc.rights.license", "citation_license", "dc.rights.uri"};
	static const char *const rights[] = {
		"dc.rights", "dcterms.rights", "dcterms.accessrights", "copyright"};
	struct ing_text_value linked;
	if (find_linked_license(v, &linked))
		return linked;
	for (size_t i = 0; i < ING_ARRAY_LEN(licenses); i++) {
		const struct ing_meta *m = ing_metas_find_dotted(v, NULL, licenses[i]);
		const char *s = m == NULL || m->content == NULL ? "" : m->content;
		size_t bytes = m == NULL || m->content == NULL ? 0 : m->content_bytes;
		ing_text_trim(&s, &bytes);
		if (bytes > 0)
			return copy_text(v, s, bytes);
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(rights); i++) {
		const struct ing_meta *m = NULL;
		while ((m = ing_metas_find_dotted(v, m, rights[i])) != NULL) {
			struct ing_text_value license = nothing;
			if (m->content != NULL)
				license = find_cc(v, m->content, m->content_bytes);
			if (license.text != NULL)
				return license;
		}
	}
	return nothing;
}

/* A value that looks like a language tag: letters, digits, '-' or '_'. */
static struct ing_text_value language_tag(const struct ing_view *v, const char *s, size_t bytes)
{
	if (s == NULL)
		return nothing;
	ing_text_trim(&s, &bytes);
	if (bytes < 2 || bytes > MAX_LANGUAGE_BYTES)
		return nothing;
	for (size_t i = 0; i < bytes; i++) {
		char lower = (char)(s[i] | 0x20);
		if (!(lower >= 'a' && lower <= 'z') && !(s[i] >= '0' && s[i] <= '9') &&
			s[i] != '-' && s[i] != '_')
			return nothing;
	}
	return copy_text(v, s, bytes);
}

static struct ing_text_value read_language(const struct ing_view *v)
{
	static const char *const attrs[] = {"lang", "xml:lang"};
	static const char *const metas[] = {"citation_language", "dc.language", "dcterms.language"};
	struct ing_text_value tag = nothing;
	/* The root element; text of XML may stand before it. */
	ing_node root = ing_tree_first_child(v->tree, ING_NODE_DOCUMENT);
	while (root != ING_NODE_NONE && v->tree->nodes[root].kind != ING_NODE_ELEMENT)
		root = ing_tree_next_sibling(v->tree, root);
	for (size_t i = 0; i < ING_ARRAY_LEN(attrs) && root != ING_NODE_NONE && tag.text == NULL;
		i++) {
		size_t bytes = 0;
		const char *s = ing_tree_attr(v->tree, root, attrs[i], &bytes);
		tag = language_tag(v, s, bytes);
	}
	const struct ing_meta *m = ing_metas_find(v, NULL, ING_META_HTTP_EQUIV, "content-language");
	if (tag.text == NULL && m != NULL)
		tag = language_tag(v, m->content, m->content_bytes);
	for (size_t i = 0; i < ING_ARRAY_LEN(metas) && tag.text == NULL; i++) {
		m = ing_metas_find_dotted(v, NULL, metas[i]);
		if (m != NULL)
			tag = language_tag(v, m->content, m->content_bytes);
	}
	return tag;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_webpage_fields ing_webpage_fields_read(
	const struct ing_view *v, const struct ing_webpage_rule *rule)
{
	struct ing_webpage_fields fields = {nothing, nothing, nothing, nothing};
	const struct {
		enum ing_webpage_key key;
		struct ing_text_value *value;
		struct ing_text_value (*otherwise)(const struct ing_view *v);
	} parts[] = {
		{ING_WEBPAGE_TITLE, &fields.title, read_title},
		{ING_WEBPAGE_CONTENT, &fields.content, read_content},
		{ING_WEBPAGE_LICENSE, &fields.license, read_license},
		{ING_WEBPAGE_LANGUAGE, &fields.language, read_language},
	};
	bool found_any = false;
	bool asked = false; /* an entry that selects nothing, on purpose, cannot be outdated */
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++) {
		asked = asked || (rule != NULL && rule->keys[parts[i].key].selector != NULL);
		if (!read_by_rule(v, rule, parts[i].key, parts[i].value))
			*parts[i].value = parts[i].otherwise(v);
		else
			found_any = found_any || parts[i].value->bytes > 0;
	}
	if (rule != NULL)
		ing_rule_hits_add(v->rule_hits, rule->rule,
			ING_RULE_APPLIED | (found_any || !asked ? ING_RULE_MATCHED : 0));
	return fields;
}

json_t *ing_webpage_fields_json(const struct ing_webpage_fields *fields)
{
	json_t *j = json_object();
	ing_json_set(j, "title", ing_text_value_json(fields->title.text, fields->title.bytes));
	ing_json_set(
		j, "content", ing_text_value_json(fields->content.text, fields->content.bytes));
	ing_json_set(
		j, "license", ing_text_value_json(fields->license.text, fields->license.bytes));
	ing_json_set(
		j, "language", ing_text_value_json(fields->language.text, fields->language.bytes));
	return j;
}

const char *ing_webpage_license(const struct ing_view *v)
{
	return read_license(v).text;
}

const char *ing_webpage_language(const struct ing_view *v)
{
	return read_language(v).text;
}
