/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The <meta> links come first: publishers maintain them for scholarly search engines, and they are
 * the same on every site. Then the patterns in the order of links.yaml; most of them are about one
 * site or platform, and their filter `page` keeps them from being tried elsewhere.
 *
 * Every value, whatever it is from, becomes a link in resolve(), which also decides whether it is
 * valid.
 */
#include "worker/scrape/rules/links.h"

#include <stdlib.h>
#include <string.h>

#include "worker/scrape/jsoup/regex.h"
#include "common/markup/link.h"
#include "common/net/url.h"
#include "common/net/url_match.h"
#include "worker/model/limits.h"
#include "worker/rules/url_filter.h"
#include "worker/scrape/biblio/meta.h"
#include "worker/scrape/rules/link_identity.h"
#include "worker/scrape/rules/link_judge.h"
#include "worker/scrape/rules/read_selector.h"
#include "worker/model/rule_hits.h"

/* Pages repeat their PDF link a few times at most: so many values of a pattern are resolved. */
#define MAX_LINKS_TRIED 16
/* Of an element's text with `text: true`: a little more than the longest URL. */
#define MAX_TEXT_BYTES (ING_MAX_URL_BYTES + 1024)

struct meta_link {
	const char *name; /* of the <meta>, in lower case */
	enum ing_meta_key key;
	const char *technique;
};

/* In order of preference. */
static const struct meta_link pdf_meta_links[] = {
	{"citation_pdf_url", ING_META_NAME, "citation_pdf_url"},
	{"bepress_citation_pdf_url", ING_META_NAME, "bepress_citation_pdf_url"},
	{"citation_pdf_url", ING_META_PROPERTY, "citation_pdf_url-property"},
	{"eprints.document_url", ING_META_NAME, "eprints.document_url"},
};
static const struct meta_link html_meta_links[] = {
	{"citation_fulltext_html_url", ING_META_NAME, "citation_fulltext_html_url"},
	{"citation_full_html_url", ING_META_NAME, "citation_full_html_url"},
};
static const struct meta_link xml_meta_links[] = {
	{"citation_xml_url", ING_META_NAME, "citation_xml_url"},
	{"fulltext_xml", ING_META_NAME, "fulltext_xml"},
};

static const struct {
	const char *list; /* key in links.yaml */
	const struct meta_link *meta_links;
	size_t meta_link_count;
} kinds[ING_LINK_KINDS_] = {
	[ING_LINK_PDF] = {"pdf", pdf_meta_links, ING_ARRAY_LEN(pdf_meta_links)},
	[ING_LINK_HTML] = {"html", html_meta_links, ING_ARRAY_LEN(html_meta_links)},
	[ING_LINK_XML] = {"xml", xml_meta_links, ING_ARRAY_LEN(xml_meta_links)},
	[ING_LINK_COMPONENT] = {"component", NULL, 0},
};

/* Links that lead nowhere: back to the DOI resolver, to a frame around the PDF, or from a template
 * that was not filled in. Substrings of the absolute link, in any ASCII case. */
static const char *const ignored[] = {
	"://doi.org/",
	"://dx.doi.org/",
	"onlinelibrary.wiley.com/doi/pdf/",
	"{'embed': '",
	"%7b'embed':%20'",
};

struct pattern {
	struct pattern *next;
	const char *technique;
	struct ing_url_filter page;      /* not given: any page */
	struct ing_url_filter link;      /* not given: any link */
	struct ing_selector **selectors; /* heap; the first that gives a valid link counts */
	size_t selector_count;
	const char *attr; /* NULL: the element's text */
	bool refresh;
	bool judge;             /* of a selector's links, the one that is best by link_judge.h */
	struct ing_regex *trim; /* what is removed from the link; NULL */
	struct ing_regex *same; /* what page and link must have in common; NULL */
	uint32_t rule;
};

/* A list's patterns, in order. */
struct list {
	struct pattern *first, **end;
};

struct ing_links {
	struct list lists[ING_LINK_KINDS_];
	struct list mend; /* entries of `mend`: `link` and `trim` only */
	size_t count;
};

/* --- the loader --- */

static const char *const pattern_keys[] = {"technique", "page", "selector", "attr", "text", "link",
	"refresh", "trim", "judge", "same", ING_ENTRY_KEYS};
static const char *const mend_keys[] = {"technique", "page", "link", "trim", ING_ENTRY_KEYS};

struct loader {
	struct ing_links *links;
	struct ing_rules *rules;
	const struct ing_rule_file *file;
	struct ing_rule_reader rd;
};

static struct pattern *add_pattern(
	struct loader *l, struct list *list, const char *name, const struct ing_yaml_node *entry)
{
	const char *technique = ing_rule_read_required_text(&l->rd, entry, "an entry", "technique");
	struct pattern *p = ing_arena_alloc(&l->rules->arena, sizeof(*p));
	p->technique = technique != NULL ? technique : "?";
	p->rule = ing_rules_add(l->rules, NULL, "links.yaml %s/%s", name, p->technique);
	ing_rules_read_tests(l->rules, p->rule, l->file, entry, l->rd.report);
	ing_url_filter_read(&l->rd, entry, "page", &p->page);
	ing_url_filter_read(&l->rd, entry, "link", &p->link);
	p->trim = ing_rule_read_regex(&l->rd, entry, "trim", ING_REGEX_BYTES);
	*list->end = p;
	list->end = &p->next;
	l->links->count++;
	return p;
}

static void add_selector(struct pattern *p, struct ing_selector *selector)
{
	if (selector == NULL)
		return;
	p->selectors = ing_realloc(p->selectors, (p->selector_count + 1) * sizeof(*p->selectors));
	p->selectors[p->selector_count++] = selector;
}

/* One selector, or a list of them. */
static void read_selectors(struct loader *l, const struct ing_yaml_node *entry, struct pattern *p)
{
	const struct ing_yaml_node *value = ing_yaml_get(entry, "selector");
	if (value == NULL)
		ing_rule_read_error(&l->rd, entry, "an entry needs a selector");
	else if (value->kind != ING_YAML_LIST)
		add_selector(p, ing_rule_read_selector(&l->rd, entry, "selector"));
	else if (value->first == NULL)
		ing_rule_read_error(&l->rd, value, "the list of selectors is empty");
	else
		for (const struct ing_yaml_node *n = value->first; n != NULL; n = n->next)
			add_selector(p, ing_rule_read_selector_at(&l->rd, n));
}

static void read_pattern(
	struct loader *l, enum ing_link_kind kind, const struct ing_yaml_node *entry)
{
	if (entry->kind != ING_YAML_MAP) {
		ing_rule_read_error(
			&l->rd, entry, "an entry must be a map, not %s", ing_yaml_kind_name(entry));
		return;
	}
	ing_rule_read_keys(&l->rd, entry, "an entry", pattern_keys, ING_ARRAY_LEN(pattern_keys));
	struct pattern *p = add_pattern(l, &l->links->lists[kind], kinds[kind].list, entry);
	const char *attr = ing_rule_read_text(&l->rd, entry, "attr");
	bool text = ing_rule_read_bool(&l->rd, entry, "text", false);
	p->refresh = ing_rule_read_bool(&l->rd, entry, "refresh", false);
	if (text && attr != NULL)
		ing_rule_read_error(
			&l->rd, ing_yaml_get(entry, "attr"), "an entry has attr or text, not both");
	if (!text)
		p->attr = attr != NULL ? attr : "href";
	p->judge = ing_rule_read_bool(&l->rd, entry, "judge", false);
	p->same = ing_rule_read_regex(&l->rd, entry, "same", ING_REGEX_BYTES);
	if (p->same != NULL && ing_regex_group_number(p->same, "id") < 0)
		ing_rule_read_error(
			&l->rd, ing_yaml_get(entry, "same"), "same needs a group named id");
	read_selectors(l, entry, p);
}

static void read_mend(struct loader *l, const struct ing_yaml_node *entry)
{
	if (entry->kind != ING_YAML_MAP) {
		ing_rule_read_error(
			&l->rd, entry, "an entry must be a map, not %s", ing_yaml_kind_name(entry));
		return;
	}
	ing_rule_read_keys(&l->rd, entry, "an entry", mend_keys, ING_ARRAY_LEN(mend_keys));
	add_pattern(l, &l->links->mend, "mend", entry);
	if (ing_yaml_get(entry, "link") == NULL || ing_yaml_get(entry, "trim") == NULL)
		ing_rule_read_error(&l->rd, entry, "an entry of mend needs a link and a trim");
}

static void read_lists(struct loader *l, const struct ing_yaml_node *root)
{
	static const char *const known[] = {"pdf", "html", "xml", "component", "mend"};
	if (ing_yaml_is_null(root) ||
		!ing_rule_read_keys(&l->rd, root, "the file", known, ING_ARRAY_LEN(known)))
		return;
	for (unsigned kind = 0; kind < ING_LINK_KINDS_; kind++) {
		const struct ing_yaml_node *list =
			ing_rule_read_node(&l->rd, root, kinds[kind].list, ING_YAML_LIST);
		for (const struct ing_yaml_node *e = list != NULL ? list->first : NULL; e != NULL;
			e = e->next)
			read_pattern(l, (enum ing_link_kind)kind, e);
	}
	const struct ing_yaml_node *mend = ing_rule_read_node(&l->rd, root, "mend", ING_YAML_LIST);
	for (const struct ing_yaml_node *e = mend != NULL ? mend->first : NULL; e != NULL;
		e = e->next)
		read_mend(l, e);
}

static void free_list(struct list *list)
{
	for (struct pattern *p = list->first; p != NULL; p = p->next) {
		for (size_t i = 0; i < p->selector_count; i++)
			ing_selector_free(p->selectors[i]);
		free(p->selectors);
		ing_regex_free(p->trim);
		ing_regex_free(p->same);
	}
}

/* --- the search --- */

/* State of the search for one page's link of one kind. */
struct search {
	const struct ing_links *links;
	const struct ing_view *v;
	struct ing_link self;               /* the first link to the page itself */
	const struct ing_link_judge *judge; /* made for the first entry that needs it */
};

/* Remove the first match of the expression from the link, which is changed in place and returned.
 * *failed is set when the expression met its limit. */
static char *trim_link(char *link, const struct ing_regex *trim, bool *failed)
{
	size_t from, to;
	size_t bytes = strlen(link);
	enum ing_regex_end end = ing_regex_groups(trim, link, bytes, 1, &from, &to);
	*failed = end == ING_REGEX_LIMIT;
	if (end == ING_REGEX_YES)
		memmove(link + from, link + to, bytes - to + 1);
	return link;
}

/* Apply the entries of `mend` whose filters match. Changes link in place and returns it. */
static char *mend_link(const struct search *s, char *link)
{
	for (const struct pattern *p = s->links->mend.first; p != NULL; p = p->next) {
		bool failed = false;
		if (p->trim == NULL || !ing_url_filter_matches(&p->page, s->v->target) ||
			!ing_url_filter_matches_url(&p->link, link))
			continue;
		size_t bytes = strlen(link);
		link = trim_link(link, p->trim, &failed);
		ing_rule_hits_add(s->v->rule_hits, p->rule,
			ING_RULE_APPLIED | (failed ? ING_RULE_FAILED : 0) |
				(strlen(link) != bytes ? ING_RULE_MATCHED : 0));
	}
	return link;
}

/* Returns the URL of a meta refresh (HTML Standard, 4.2.4.3) without quotes and white space around
 * it, on the heap; NULL when there is none. */
static char *parse_refresh(const char *value)
{
	const char *at = strcasestr(value, "url");
	if (at == NULL)
		return NULL;
	at += 3;
	at += strspn(at, "\t\n\f\r ");
	if (*at != '=')
		return NULL;
	at++;
	at += strspn(at, "\t\n\f\r ");
	size_t bytes = strlen(at);
	if (*at == '"' || *at == '\'') {
		bytes = strcspn(at + 1, *at == '"' ? "\"" : "'");
		at++;
	}
	return ing_strndup(at, bytes);
}

/* Whether a pattern's link may lead to the page's own document, by the two URLs. */
static bool may_be_own(const struct search *s, const struct pattern *p, const char *link)
{
	if (!ing_url_filter_matches_url(&p->link, link) || ing_link_has_another_doi(s->v, link))
		return false;
	bool failed = false;
	bool same = p->same == NULL || ing_link_has_same(s->v, link, p->same, &failed);
	if (failed)
		ing_rule_hits_add(s->v->rule_hits, p->rule, ING_RULE_FAILED);
	return same;
}

/* Returns the absolute http(s) URL of a value, on the heap, or NULL when it is not valid. p: its
 * pattern; NULL for a <meta> link. */
static char *resolve(const struct search *s, const struct pattern *p, const char *value)
{
	char *target = p != NULL && p->refresh ? parse_refresh(value) : NULL;
	if (p != NULL && p->refresh && target == NULL)
		return NULL;
	const char *from = target != NULL ? target : value;
	size_t bytes = strlen(from);
	ing_link_trim(&from, &bytes);
	char *link = bytes > 0 ? ing_link_resolve(s->v->tree, from, bytes) : NULL;
	free(target);
	bool failed = false;
	if (link != NULL && p != NULL && p->trim != NULL) {
		link = trim_link(link, p->trim, &failed);
		if (failed)
			ing_rule_hits_add(s->v->rule_hits, p->rule, ING_RULE_FAILED);
	}
	if (link != NULL)
		link = mend_link(s, link);
	if (link == NULL || !ing_url_is_web(link) || strlen(link) > ING_MAX_URL_BYTES ||
		ing_link_is_ignored(link) || (p != NULL && !may_be_own(s, p, link))) {
		free(link);
		return NULL;
	}
	return link;
}

/* Returns true and sets *ret when a value gives a valid link to another page. The first link to the
 * page itself is kept in s->self. */
static bool try_value(struct search *s, const struct pattern *p, const char *technique,
	const char *value, struct ing_link *ret)
{
	char *link = resolve(s, p, value);
	if (link == NULL)
		return false;
	bool self = ing_link_is_self(s->v, link);
	if (!self || s->self.url == NULL) {
		struct ing_link *to = self ? &s->self : ret;
		*to = (struct ing_link){
			.url = ing_arena_strdup(s->v->arena, link),
			.technique = technique,
			.self = self,
			.rule = p != NULL ? p->rule : UINT32_MAX,
		};
	}
	free(link);
	return !self;
}

static bool try_meta_link(struct search *s, const struct meta_link *meta_link, struct ing_link *ret)
{
	const struct ing_meta *m = NULL;
	for (unsigned tried = 0; tried < MAX_LINKS_TRIED; tried++) {
		m = ing_metas_find(s->v, m, meta_link->key, meta_link->name);
		if (m == NULL)
			return false;
		if (m->content != NULL && try_value(s, NULL, meta_link->technique, m->content, ret))
			return true;
	}
	return false;
}

/* Returns the attribute or text that a pattern reads from an element, or NULL. */
static const char *value_of(const struct search *s, const struct pattern *p, ing_node n)
{
	if (p->attr != NULL)
		return ing_tree_attr(s->v->tree, n, p->attr, NULL);
	const char *text = ing_view_text(s->v, n, MAX_TEXT_BYTES);
	return strstr(text, "://") != NULL ? text : NULL;
}

/* The first of the elements found that gives a valid link. */
static bool try_elements(struct search *s, const struct pattern *p, const struct ing_matches *found,
	struct ing_link *ret)
{
	for (size_t i = 0; i < found->count && i < MAX_LINKS_TRIED; i++) {
		const char *value = value_of(s, p, found->nodes[i]);
		if (value != NULL && try_value(s, p, p->technique, value, ret))
			return true;
	}
	return false;
}

/* The best of the elements found by its words and place; of equals, the first. */
static bool judge_elements(struct search *s, const struct pattern *p,
	const struct ing_matches *found, struct ing_link *ret)
{
	int best = ING_LINK_NEVER;
	if (s->judge == NULL)
		s->judge = ing_link_judge_new(s->v);
	if (s->judge->is_contents)
		return false;
	for (size_t i = 0; i < found->count && i < MAX_LINKS_TRIED; i++) {
		struct ing_link link;
		const char *value = value_of(s, p, found->nodes[i]);
		if (value == NULL || !try_value(s, p, p->technique, value, &link))
			continue;
		int score = ing_link_judge(s->judge, found->nodes[i], link.url).score;
		if (score > best) {
			best = score;
			*ret = link;
		}
	}
	return best != ING_LINK_NEVER;
}

static bool try_pattern(struct search *s, const struct pattern *p, struct ing_link *ret)
{
	if (p->selector_count == 0 || !ing_url_filter_matches(&p->page, s->v->target))
		return false;
	ing_rule_hits_add(s->v->rule_hits, p->rule, ING_RULE_APPLIED);
	for (size_t i = 0; i < p->selector_count; i++) {
		struct ing_matches found = {0};
		struct ing_error err = {0};
		if (ing_select(s->v->matcher, p->selectors[i], ING_NODE_DOCUMENT, &found, &err) !=
			0) {
			ing_rule_hits_add(s->v->rule_hits, p->rule, ING_RULE_FAILED);
			return false;
		}
		if (p->judge ? judge_elements(s, p, &found, ret) : try_elements(s, p, &found, ret))
			return true;
	}
	return false;
}

static struct ing_link find_link(struct search *s, enum ing_link_kind kind)
{
	struct ing_link link = {.rule = UINT32_MAX};
	for (size_t i = 0; i < kinds[kind].meta_link_count; i++) {
		if (try_meta_link(s, &kinds[kind].meta_links[i], &link))
			return link;
	}
	for (const struct pattern *p = s->links->lists[kind].first; p != NULL; p = p->next) {
		if (try_pattern(s, p, &link))
			return link;
	}
	if (s->self.url != NULL)
		link = s->self;
	return link;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_links *ing_links_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report)
{
	struct ing_links *links = ing_alloc(sizeof(*links));
	for (unsigned kind = 0; kind < ING_LINK_KINDS_; kind++)
		links->lists[kind].end = &links->lists[kind].first;
	links->mend.end = &links->mend.first;
	for (size_t i = 0; i < files->count; i++) {
		const struct ing_rule_file *file = &files->items[i];
		const struct ing_yaml *doc =
			file->kind == ING_RULES_LINKS ? ing_rules_read(rules, file, report) : NULL;
		if (doc == NULL)
			continue;
		struct loader l = {
			links, rules, file, {file->path, report, &rules->arena, rules->slow}};
		const struct ing_yaml_node *root = ing_rule_read_root(&l.rd, doc);
		if (root != NULL)
			read_lists(&l, root);
	}
	return links;
}

void ing_links_free(struct ing_links *l)
{
	if (l == NULL)
		return;
	for (unsigned kind = 0; kind < ING_LINK_KINDS_; kind++)
		free_list(&l->lists[kind]);
	free_list(&l->mend);
	free(l);
}

size_t ing_links_count(const struct ing_links *l)
{
	return l != NULL ? l->count : 0;
}

struct ing_link ing_links_find(
	const struct ing_links *l, const struct ing_view *v, enum ing_link_kind kind)
{
	struct search s = {.links = l, .v = v};
	struct ing_link link = find_link(&s, kind);
	if (link.rule != UINT32_MAX)
		ing_rule_hits_add(v->rule_hits, link.rule, ING_RULE_MATCHED);
	return link;
}

bool ing_link_is_ignored(const char *url)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(ignored); i++) {
		if (strcasestr(url, ignored[i]) != NULL)
			return true;
	}
	return false;
}

bool ing_link_is_self(const struct ing_view *v, const char *url)
{
	if (v->url == NULL)
		return false;
	char *bare = ing_url_without_fragment(url);
	bool same = ing_url_fuzzy_equal(bare, v->url);
	free(bare);
	return same;
}
