/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the parts of a page: by the site's rules, or without them from the cleaned page, then by
 * the <meta> schemes.
 */
#include "worker/scrape/publication/publication.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/scrape/jsoup/text.h"
#include "common/net/url.h"
#include "worker/model/limits.h"
#include "worker/scrape/publication/clean.h"
#include "worker/scrape/publication/meta_schemes.h"
#include "worker/scrape/biblio/ident.h"
#include "worker/scrape/rules/link_identity.h"
#include "worker/scrape/rules/links.h"
#include "worker/scrape/publication/extract.h"
#include "worker/model/rule_hits.h"

struct publication_reader {
	const struct ing_view *v;
	const struct ing_journal_site *site;
	enum ing_part_type type;
	struct ing_publication_fields *fields;
};

static struct ing_extracted extract_texts(
	const struct publication_reader *r, enum ing_journal_key key, bool first)
{
	return ing_extract(r->v, ing_extraction_of_journal(r->site, key), ING_EXTRACT_TEXT, first);
}

typedef bool find_id_f(const char *s, size_t bytes, struct ing_buf *ret);

static bool find_doi(const char *s, size_t bytes, struct ing_buf *ret)
{
	struct ing_buf written;
	ing_buf_init(&written, ING_MAX_URL_BYTES);
	bool good = ing_ident_doi_in(s, bytes, &written) &&
		    ing_ident_doi(ing_buf_str(&written), written.len, true, ret);
	ing_buf_done(&written);
	return good;
}

static void read_id(const struct publication_reader *r, enum ing_journal_key key,
	enum ing_part_key part, find_id_f *find)
{
	struct ing_extracted extracted = extract_texts(r, key, true);
	if (extracted.count == 0)
		return;
	struct ing_buf id;
	ing_buf_init(&id, ING_MAX_URL_BYTES);
	if (find(extracted.items[0].text, extracted.items[0].bytes, &id))
		ing_parts_offer_id(
			&r->fields->parts, part, r->type, ing_buf_str(&id), id.len, r->v->url);
	ing_buf_done(&id);
}

/* Title and subtitle, "title : subtitle". */
static struct ing_text_value read_title(const struct publication_reader *r)
{
	struct ing_extracted title = extract_texts(r, ING_JOURNAL_TITLE, true);
	struct ing_extracted subtitle = extract_texts(r, ING_JOURNAL_SUBTITLE, true);
	if (title.count == 0)
		return (struct ing_text_value){.text = ""};
	if (subtitle.count == 0)
		return title.items[0];
	struct ing_text_value both[] = {title.items[0], subtitle.items[0]};
	return ing_extracted_join(r->v, (struct ing_extracted){.items = both, .count = 2}, " : ");
}

/* What follows a leading "Keywords:". */
static struct ing_text_value skip_keyword_label(struct ing_text_value v)
{
	static const char *const labels[] = {"keywords", "keyword", "key words"};
	ing_text_trim(&v.text, &v.bytes);
	for (size_t i = 0; i < ING_ARRAY_LEN(labels); i++) {
		size_t n = strlen(labels[i]);
		if (v.bytes < n || strncasecmp(v.text, labels[i], n) != 0)
			continue;
		if (v.bytes > n && strchr(" :,;|-.", v.text[n]) == NULL)
			continue; /* such as "keyword-based" or "keywordsearch" */
		if (v.bytes > n + 1 && v.text[n] == '-' && v.text[n + 1] != ' ')
			continue;
		n += strspn(v.text + n, " :-.");
		return (struct ing_text_value){.text = v.text + n, .bytes = v.bytes - n};
	}
	return v;
}

/* A list that is a sentence has a full stop, which is not its last keyword's: unless that has others. */
static size_t without_full_stop(const char *s, size_t bytes)
{
	while (bytes > 0 && s[bytes - 1] == ' ')
		bytes--;
	bool ends = bytes > 2 && s[bytes - 1] == '.' && memchr(s, '.', bytes) == s + bytes - 1;
	return ends ? bytes - 1 : bytes;
}

static void read_keywords_split(const struct publication_reader *r)
{
	struct ing_extracted extracted = extract_texts(r, ING_JOURNAL_KEYWORDS_SPLIT, false);
	struct ing_text_value list[ING_MAX_KEYWORDS];
	size_t count = 0;
	for (size_t i = 0; i < extracted.count; i++) {
		const char *s = skip_keyword_label(extracted.items[i]).text;
		while (count < ING_MAX_KEYWORDS && *s != '\0') {
			size_t n = strcspn(s, ",;|");
			size_t bytes = s[n] == '\0' ? without_full_stop(s, n) : n;
			if (bytes > 0)
				list[count++] = (struct ing_text_value){.text = s, .bytes = bytes};
			s += n + (s[n] != '\0');
		}
	}
	ing_parts_offer_list(&r->fields->parts, ING_PART_KEYWORDS, r->type, list, count);
}

/* The terms of buttons and links: "Term", "Term / qualifier", an asterisk at the end of a major
 * topic. One with several qualifiers stands there as often. */
static void read_mesh(const struct publication_reader *r)
{
	struct ing_extracted extracted = extract_texts(r, ING_JOURNAL_MESH, false);
	size_t room = ING_MIN(extracted.count, (size_t)ING_MAX_KEYWORDS), count = 0;
	struct ing_text_value *terms = ing_arena_alloc(r->v->arena, (room + 1) * sizeof(*terms));
	bool *majors = ing_arena_alloc(r->v->arena, (room + 1) * sizeof(*majors));
	for (size_t i = 0; i < room; i++) {
		struct ing_text_value one = extracted.items[i];
		one.bytes = strcspn(one.text, "/");
		ing_text_trim(&one.text, &one.bytes);
		bool major = one.bytes > 0 && one.text[one.bytes - 1] == '*';
		one.bytes -= major ? 1 : 0;
		ing_text_trim(&one.text, &one.bytes);
		bool again = count > 0 && terms[count - 1].bytes == one.bytes &&
			     memcmp(terms[count - 1].text, one.text, one.bytes) == 0;
		if (again)
			majors[count - 1] = majors[count - 1] || major;
		if (one.bytes == 0 || again)
			continue;
		terms[count] = one;
		majors[count++] = major;
	}
	ing_parts_offer_mesh(&r->fields->parts, r->type, terms, majors, count);
}

/* Title, abstract and body of this page, even if better ones are known. */
static void read_fulltext(const struct publication_reader *r, struct ing_text_value title,
	struct ing_text_value abstract)
{
	struct ing_text_value body =
		ing_extracted_join(r->v, extract_texts(r, ING_JOURNAL_FULLTEXT, false), "\n\n");
	if (body.bytes == 0)
		return;
	struct ing_text_value texts[3];
	size_t count = 0;
	if (title.bytes > 0)
		texts[count++] = title;
	if (abstract.bytes > 0)
		texts[count++] = abstract;
	texts[count++] = body;
	struct ing_text_value all = ing_extracted_join(
		r->v, (struct ing_extracted){.items = texts, .count = count}, "\n\n");
	ing_parts_offer(&r->fields->parts, ING_PART_FULLTEXT, r->type, all.text, all.bytes);
}

/* Returns the page's URL rewritten, on the heap; NULL when that gives no other URL. */
static char *rewrite_url(const struct ing_view *v, const struct ing_journal_rewrite *w)
{
	const char *url = v->url;
	if (w->src == NULL || url == NULL)
		return NULL;
	struct ing_buf b;
	ing_buf_init(&b, ING_MAX_URL_BYTES);
	enum ing_regex_end end = ing_regex_replace_first(w->src, url, strlen(url), w->dst, &b);
	char *other = NULL;
	if (end == ING_REGEX_YES && !b.failed && b.len > 0 && strcmp(ing_buf_str(&b), url) != 0)
		other = ing_url_parse(ing_buf_str(&b), b.len);
	unsigned flags = ING_RULE_APPLIED;
	if (end == ING_REGEX_LIMIT || b.failed)
		flags |= ING_RULE_FAILED;
	else if (other != NULL)
		flags |= ING_RULE_MATCHED;
	ing_rule_hits_add(v->rule_hits, w->rule, flags);
	ing_buf_done(&b);
	return other;
}

static void read_rewrite(const struct publication_reader *r, const struct ing_journal_rewrite *w,
	enum ing_part_type type)
{
	char *url = rewrite_url(r->v, w);
	if (url != NULL)
		ing_fulltext_links_add(&r->fields->links, &r->fields->parts, url, type);
	free(url);
}

/* The first alternative knows the place of the page's own PDF; those behind it may select wider. */
static void read_links(
	const struct publication_reader *r, enum ing_journal_key key, enum ing_part_type type)
{
	struct ing_extracted links =
		ing_extract(r->v, ing_extraction_of_journal(r->site, key), ING_EXTRACT_LINK, false);
	bool doubt = ing_part_type_is_pdf(type) && links.alternative > 0;
	for (size_t i = 0; i < links.count && i < ING_MAX_FULLTEXT_LINKS; i++)
		if (!doubt || !ing_link_has_another_doi(r->v, links.items[i].text))
			ing_fulltext_links_add(
				&r->fields->links, &r->fields->parts, links.items[i].text, type);
}

static void read_site(const struct publication_reader *r)
{
	struct ing_parts *ps = &r->fields->parts;
	read_id(r, ING_JOURNAL_PMID, ING_PART_PMID, ing_ident_pmid_in);
	read_id(r, ING_JOURNAL_PMCID, ING_PART_PMCID, ing_ident_pmcid_in);
	read_id(r, ING_JOURNAL_DOI, ING_PART_DOI, find_doi);
	struct ing_text_value title = read_title(r);
	ing_parts_offer(ps, ING_PART_TITLE, r->type, title.text, title.bytes);
	struct ing_extracted keywords = extract_texts(r, ING_JOURNAL_KEYWORDS, false);
	ing_parts_offer_list(ps, ING_PART_KEYWORDS, r->type, keywords.items, keywords.count);
	read_keywords_split(r);
	read_mesh(r);
	struct ing_text_value abstract =
		ing_extracted_join(r->v, extract_texts(r, ING_JOURNAL_ABSTRACT, false), "\n\n");
	ing_parts_offer(ps, ING_PART_ABSTRACT, r->type, abstract.text, abstract.bytes);
	read_fulltext(r, title, abstract);
	read_rewrite(r, &r->site->fulltext, r->type);
	read_links(r, ING_JOURNAL_FULLTEXT_A, r->type);
	read_rewrite(r, &r->site->pdf, ing_part_type_pdf(r->type));
	read_links(r, ING_JOURNAL_PDF_A, ing_part_type_pdf(r->type));
	r->fields->authors = ing_authors_of_journal(r->v, r->site);
	/* The site's entry has matched when any of its rules has. */
	bool found_any = r->fields->links.count > 0 || r->fields->authors.count > 0;
	for (size_t i = 0; i < ING_PARTS_; i++)
		found_any = found_any || ps->items[i].size > 0;
	ing_rule_hits_add(r->v->rule_hits, r->site->rule,
		ING_RULE_APPLIED | (found_any ? ING_RULE_MATCHED : 0));
}

/* Without rules: what any web page gives. */
static void read_page(const struct publication_reader *r)
{
	struct ing_text_value title = ing_extract_title(r->v);
	ing_parts_offer(
		&r->fields->parts, ING_PART_TITLE, ING_PART_TYPE_WEBPAGE, title.text, title.bytes);
	struct ing_buf text;
	ing_buf_init(&text, ING_CLEAN_MAX_TEXT_BYTES);
	ing_clean_text(r->v, true, &text);
	ing_parts_offer(&r->fields->parts, ING_PART_FULLTEXT, ING_PART_TYPE_WEBPAGE,
		ing_buf_str(&text), text.len);
	ing_buf_done(&text);
}

/* Whether it is an http(s) URL other than the page's own that may be followed to its document. */
static bool leads_elsewhere(const struct ing_view *v, const char *url)
{
	return ing_url_is_web(url) && strlen(url) <= ING_MAX_URL_BYTES &&
	       !ing_link_is_ignored(url) && !ing_link_is_self(v, url) &&
	       !ing_link_has_another_doi(v, url);
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_publication_fields_json(const struct ing_publication_fields *fields)
{
	static const struct {
		const char *name;
		enum ing_part_key key;
	} parts[] = {
		{"pmid", ING_PART_PMID},
		{"pmcid", ING_PART_PMCID},
		{"doi", ING_PART_DOI},
		{"title", ING_PART_TITLE},
		{"keywords", ING_PART_KEYWORDS},
		{"mesh", ING_PART_MESH},
		{"efo", ING_PARTS_}, /* only services have these, no page */
		{"go", ING_PARTS_},
		{"abstract", ING_PART_ABSTRACT},
		{"fulltext", ING_PART_FULLTEXT},
	};
	json_t *j = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++)
		json_object_set_new(j, parts[i].name,
			parts[i].key == ING_PARTS_ ? json_null()
						   : ing_part_json(&fields->parts, parts[i].key));
	json_object_set_new(j, "corresp_author", ing_authors_json(fields->authors));
	json_object_set_new(j, "journal_title",
		ing_text_value_json(fields->journal_title,
			fields->journal_title == NULL ? 0 : strlen(fields->journal_title)));
	json_object_set_new(j, "pub_date",
		ing_text_value_json(
			fields->pub_date, fields->pub_date == NULL ? 0 : strlen(fields->pub_date)));
	json_object_set_new(j, "oa", fields->oa ? json_true() : json_null());
	json_object_set_new(j, "preprint", json_null());
	return j;
}

const struct ing_publication_fields *ing_publication_fields_read(const struct ing_view *v,
	const struct ing_journal_site *site, enum ing_part_type type, enum ing_metas_use metas)
{
	struct ing_publication_fields *fields = ing_arena_alloc(v->arena, sizeof(*fields));
	struct publication_reader r = {.v = v, .site = site, .type = type, .fields = fields};
	ing_parts_init(&fields->parts, v->arena);
	if (site != NULL)
		read_site(&r);
	else
		read_page(&r);
	ing_meta_schemes_read(v, type, metas, fields);
	fields->licence = ing_webpage_license(v);
	return fields;
}

const char *ing_publication_pdf_url(
	const struct ing_view *v, const struct ing_journal_site *site, uint32_t *ret_rule)
{
	struct ing_extracted links = ing_extract(
		v, ing_extraction_of_journal(site, ING_JOURNAL_PDF_A), ING_EXTRACT_LINK, false);
	for (size_t i = 0; i < links.count; i++) {
		if (!leads_elsewhere(v, links.items[i].text))
			continue;
		*ret_rule = site->keys[ING_JOURNAL_PDF_A].rule;
		return links.items[i].text;
	}
	char *rewritten = rewrite_url(v, &site->pdf);
	const char *url = NULL;
	if (rewritten != NULL && leads_elsewhere(v, rewritten)) {
		*ret_rule = site->pdf.rule;
		url = ing_arena_strdup(v->arena, rewritten);
	}
	free(rewritten);
	return url;
}
