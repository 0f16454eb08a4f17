/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs the parts of the scraping on one page, in the order of their dependencies: walls and scope
 * need the word count, sites.yaml is used only when no link was found. Rules with :matchText add
 * pseudo elements to the tree; these are removed between the parts, so that no part depends on
 * another.
 */
#include "worker/scrape/scrape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/markup/html.h"
#include "worker/scrape/jsoup/text.h"
#include "common/markup/xml.h"
#include "common/net/url.h"
#include "common/net/url_match.h"
#include "worker/model/limits.h"
#include "worker/scrape/biblio/biblio.h"
#include "worker/scrape/publication/clean.h"
#include "worker/scrape/publication/page_scope.h"
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/rules/links_guess.h"
#include "worker/scrape/biblio/meta.h"
#include "worker/scrape/publication/meta_schemes.h"
#include "worker/scrape/publication/publication.h"
#include "worker/scrape/publication/text_nodes.h"
#include "worker/scrape/rules/webpages.h"

#define MAX_TITLE_BYTES 1000
#define BOTH_TEXTS (ING_SCRAPE_PUBLICATION | ING_SCRAPE_WEBPAGE)

struct ing_scraper {
	const struct ing_rules *rules; /* borrowed, or own_rules */
	struct ing_rules *own_rules;   /* an empty set, when there was none */
	struct ing_html *html;
	struct ing_tree *tree;
	struct ing_matcher *matcher;
	/* Of the page at hand: */
	struct ing_view view;
	struct ing_arena arena;
	struct ing_rule_hits rule_hits;
	struct ing_url_target *target;
	const struct ing_journal_site *site; /* NULL: the page's URL belongs to none */
	struct ing_error error;              /* of XML: its message outlives the page's reading */
	json_t *biblio;
	struct ing_webpage_fields webpage;
};

static const struct ing_html_limits html_limits = {
	.open_elements = ING_MAX_OPEN_ELEMENTS,
	.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
	.names = ING_MAX_MARKUP_NAMES,
	.tree_bytes = ING_MAX_TREE_BYTES,
	.cpu_ms = ING_MAX_PAGE_CPU_MS,
};

static const struct ing_xml_limits xml_limits = {
	.open_elements = ING_MAX_OPEN_ELEMENTS,
	.tree_bytes = ING_MAX_XML_TREE_BYTES,
	.cpu_ms = ING_MAX_PAGE_CPU_MS,
};

static void read_html(
	struct ing_scraper *s, const struct ing_scrape_input *in, struct ing_scraped *ret)
{
	enum ing_html_end end = ing_html_read(
		s->html, s->tree, in->data, in->bytes, in->content_type, &html_limits);
	if (end == ING_HTML_COSTLY) {
		ret->end = ING_SCRAPE_PART;
		ret->detail = "the page is too costly to parse; only its beginning was read";
	}
}

static void read_xml(
	struct ing_scraper *s, const struct ing_scrape_input *in, struct ing_scraped *ret)
{
	if (ing_xml_parse(s->tree, in->data, in->bytes, in->content_type, &xml_limits, &s->error) ==
		0)
		return;
	ret->end = ING_SCRAPE_PART;
	ret->detail = s->error.msg;
}

/* Returns the text of the first <title> that is not inside SVG, folded; NULL when it is blank. */
static const char *title_of(const struct ing_view *v)
{
	const struct ing_tree *t = v->tree;
	ing_node n = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "title");
	while (n != ING_NODE_NONE && ing_tree_is(t, t->nodes[n].parent, "svg"))
		n = ing_tree_next_named(t, n, ING_NODE_DOCUMENT, "title");
	if (n == ING_NODE_NONE)
		return NULL;
	struct ing_buf raw;
	struct ing_buf folded;
	ing_buf_init(&raw, ING_MAX_TREE_BYTES);
	ing_buf_init(&folded, ING_MAX_TREE_BYTES);
	ing_text_whole(t, n, &raw);
	ing_text_normalise(ing_buf_str(&raw), raw.len, true, &folded);
	const char *s = ing_buf_str(&folded);
	size_t bytes = folded.len;
	ing_text_trim(&s, &bytes);
	const char *title = NULL;
	if (bytes > 0)
		title = ing_arena_strndup(v->arena, s, ing_utf8_cut(s, bytes, MAX_TITLE_BYTES));
	ing_buf_done(&raw);
	ing_buf_done(&folded);
	return title;
}

static void open_view(struct ing_scraper *s, const struct ing_scrape_input *in)
{
	struct ing_view *v = &s->view;
	char *url = in->url != NULL && ing_url_is_web(in->url) ? ing_url_without_fragment(in->url)
							       : NULL;
	*v = (struct ing_view){.tree = s->tree,
		.matcher = s->matcher,
		.url = ing_arena_strdup(&s->arena, url),
		.data = in->data,
		.bytes = in->bytes,
		.arena = &s->arena,
		.cleaned = ing_clean_page_new(&s->arena, (in->want & BOTH_TEXTS) == BOTH_TEXTS),
		.rule_hits = &s->rule_hits};
	free(url);
	ing_tree_set_url(s->tree, v->url);
	s->site = NULL;
	if (v->url != NULL) {
		s->target = ing_url_target_new(v->url);
		s->site = ing_journals_site(s->rules->journals, v->url, v->rule_hits);
	}
	const struct ing_journal_site *named =
		in->site != NULL ? ing_journals_named(s->rules->journals, in->site) : NULL;
	if (named != NULL)
		s->site = named;
	v->target = s->target;
	ing_matcher_bind(s->matcher, s->tree, ING_MAX_RULES_CPU_MS);
	ing_metas_read(v);
	v->title = title_of(v);
}

/* Make pseudo elements text nodes again. */
static void reset_pseudo(struct ing_scraper *s)
{
	struct ing_tree *t = s->tree;
	if (!t->has_pseudo)
		return;
	for (ing_node n = 0; n < t->count; n++)
		t->nodes[n].pseudo = 0;
	t->has_pseudo = false;
	ing_matcher_bind(s->matcher, t, ING_MAX_RULES_CPU_MS);
}

static const char *journal_technique(struct ing_scraper *s)
{
	char name[200];
	snprintf(name, sizeof(name), "journal:%.180s", s->site->name);
	return ing_arena_strndup(
		&s->arena, name, ing_utf8_cut(name, strlen(name), sizeof(name) - 1));
}

/* The best of the page's links that look like links to a PDF, where no rule knows one. A wall's are
 * never the document. */
static void guess_link(struct ing_scraper *s, struct ing_scraped *ret)
{
	struct ing_link guess = {0};
	if (ret->wall.wall == ING_WALL_NONE)
		guess = ing_links_guess(&s->view);
	if (guess.url != NULL)
		ret->links[ING_LINK_PDF] = guess;
}

/* The links of the page; without a PDF link the URL built by sites.yaml; without one the PDF link
 * of the site's entry in journals.yaml; without one a guess. */
static void find_links(struct ing_scraper *s, struct ing_scraped *ret)
{
	for (unsigned kind = 0; kind < ING_LINK_KINDS_; kind++)
		ret->links[kind] =
			ing_links_find(s->rules->links, &s->view, (enum ing_link_kind)kind);
	const struct ing_link *pdf = &ret->links[ING_LINK_PDF];
	if (pdf->url != NULL && !pdf->self)
		return;
	ret->next = ing_sites_find(s->rules->sites, &s->view);
	if (ret->next.url == NULL && s->site != NULL) {
		ret->next.url = ing_publication_pdf_url(&s->view, s->site, &ret->next.rule);
		ret->next.is_pdf = true;
		ret->next.technique = journal_technique(s);
	}
	if (ret->next.url == NULL)
		guess_link(s, ret);
}

static void find_parts(
	struct ing_scraper *s, const struct ing_scrape_input *in, struct ing_scraped *ret)
{
	const struct ing_webpage_rule *webpage = NULL;
	if (s->view.url != NULL)
		webpage = ing_webpages_find(s->rules->webpages, s->view.url, s->view.rule_hits);
	ret->webpage_rule = webpage != NULL ? webpage->pattern : NULL;
	if ((in->want & ING_SCRAPE_PUBLICATION) != 0) {
		ret->publication =
			ing_publication_fields_read(&s->view, s->site, in->page_type, in->metas);
		reset_pseudo(s);
	}
	if ((in->want & ING_SCRAPE_WEBPAGE) != 0) {
		s->webpage = ing_webpage_fields_read(&s->view, webpage);
		ret->webpage = &s->webpage;
	}
}

static void guess_scope(struct ing_scraper *s, struct ing_scraped *ret)
{
	const struct ing_page_scope_input input = {.platform = ret->platform,
		.html_url = ret->links[ING_LINK_HTML].url,
		.pdf_url = ret->links[ING_LINK_PDF].url,
		.has_title = json_is_string(json_object_get(s->biblio, "title"))};
	ret->scope = ing_page_scope(&s->view, &input);
}

static void scrape_view(
	struct ing_scraper *s, const struct ing_scrape_input *in, struct ing_scraped *ret)
{
	struct ing_view *v = &s->view;
	unsigned want = in->want;
	ret->title = v->title;
	ret->site = s->site != NULL ? s->site->name : NULL;
	if ((want & (ING_SCRAPE_SCOPE | ING_SCRAPE_WALLS)) != 0)
		v->word_count = ing_clean_word_count(v);
	ret->word_count = v->word_count;
	if ((want & ING_SCRAPE_WALLS) != 0) {
		ret->wall = ing_wall_signatures_find(s->rules->wall_signatures, v);
		reset_pseudo(s);
	}
	if ((want & ING_SCRAPE_BIBLIO) != 0)
		ret->biblio = s->biblio = ing_biblio_json(v, &ret->has_biblio);
	if ((want & ING_SCRAPE_LINKS) != 0) {
		find_links(s, ret);
		reset_pseudo(s);
	}
	if ((want & ING_SCRAPE_SCOPE) != 0) {
		ret->platform = ing_page_platform(v);
		guess_scope(s, ret);
	}
	if ((want & BOTH_TEXTS) != 0)
		find_parts(s, in, ret);
}

static json_t *link_json(const struct ing_link *link)
{
	if (link->url == NULL)
		return json_null();
	return json_pack("{s:s, s:s}", "url", link->url, "technique", link->technique);
}

static json_t *next_json(const struct ing_site_next *next)
{
	if (next->url == NULL)
		return json_null();
	json_t *o = json_pack("{s:s, s:s}", next->is_pdf ? "pdf_url" : "next_url", next->url,
		"technique", next->technique);
	if (next->stage != NULL)
		ing_json_set_text(o, "release_stage", next->stage);
	return o;
}

static json_t *wall_json(const struct ing_wall_match *wall)
{
	if (wall->wall == ING_WALL_NONE)
		return json_null();
	return json_pack("{s:s, s:s, s:s}", "wall", ing_wall_name(wall->wall), "technique",
		wall->name, "why", wall->detail);
}

static const char *end_name(enum ing_scrape_end end)
{
	switch (end) {
	case ING_SCRAPE_WHOLE:
		return "success";
	case ING_SCRAPE_PART:
		return "partial";
	case ING_SCRAPE_TOO_LARGE:
		return "too-large";
	}
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_scraper *ing_scraper_new(const struct ing_rules *rules)
{
	struct ing_scraper *s = ing_alloc(sizeof(*s));
	if (rules == NULL) {
		struct ing_rule_files none;
		struct ing_report report;
		ing_rule_files_init(&none);
		ing_report_init(&report);
		s->own_rules = ing_rules_load(&none, &report);
		ing_must(s->own_rules != NULL);
		ing_report_done(&report);
		ing_rule_files_done(&none);
		rules = s->own_rules;
	}
	s->rules = rules;
	s->html = ing_html_new();
	s->tree = ing_tree_new();
	s->matcher = ing_matcher_new();
	ing_arena_init(&s->arena);
	return s;
}

void ing_scraper_clear(struct ing_scraper *s)
{
	json_decref(ING_TAKE(s->biblio));
	ing_url_target_free(ING_TAKE(s->target));
	ing_tree_clear(s->tree);
	ing_html_clear(s->html);
	ing_arena_done(&s->arena);
	ing_arena_init(&s->arena);
	s->rule_hits.count = 0;
	s->error = (struct ing_error){0};
}

void ing_scraper_free(struct ing_scraper *s)
{
	if (s == NULL)
		return;
	ing_scraper_clear(s);
	ing_matcher_free(s->matcher);
	ing_tree_free(s->tree);
	ing_html_free(s->html);
	ing_arena_done(&s->arena);
	ing_rules_free(s->own_rules);
	free(s);
}

void ing_scrape(struct ing_scraper *s, const struct ing_scrape_input *in, struct ing_scraped *ret)
{
	ing_scraper_clear(s);
	*ret = (struct ing_scraped){.rule_hits = &s->rule_hits};
	if (in->bytes > ING_MAX_SCRAPE_BYTES) {
		ret->end = ING_SCRAPE_TOO_LARGE;
		ret->detail = "the page is too large to be read";
		return;
	}
	if (in->xml)
		read_xml(s, in, ret);
	else
		read_html(s, in, ret);
	open_view(s, in);
	scrape_view(s, in, ret);
}

struct ing_tree *ing_scraper_tree(struct ing_scraper *s)
{
	return s->tree;
}

const ing_node *ing_scraper_text_nodes(struct ing_scraper *s, size_t *ret_count)
{
	const struct ing_view *v = &s->view;
	const struct ing_webpage_rule *webpage = NULL;
	if (s->site == NULL && v->url != NULL)
		webpage = ing_webpages_find(s->rules->webpages, v->url, v->rule_hits);
	const ing_node *nodes = ing_text_nodes(v, s->site, webpage, ret_count);
	reset_pseudo(s);
	return nodes;
}

const char *ing_scraper_language(struct ing_scraper *s)
{
	return ing_webpage_language(&s->view);
}

void ing_scraper_settle_scope(
	struct ing_scraper *s, uint32_t main_text_words, struct ing_scraped *found)
{
	s->view.word_count = main_text_words;
	guess_scope(s, found);
}

json_t *ing_scraped_json(const struct ing_scraped *r, const char *url)
{
	json_t *links = json_object();
	ing_json_set(links, "pdf", link_json(&r->links[ING_LINK_PDF]));
	ing_json_set(links, "html", link_json(&r->links[ING_LINK_HTML]));
	ing_json_set(links, "xml", link_json(&r->links[ING_LINK_XML]));
	ing_json_set(links, "component", link_json(&r->links[ING_LINK_COMPONENT]));

	json_t *o = json_object();
	ing_json_set_text(o, "url", url);
	ing_json_set_text(o, "status", end_name(r->end));
	ing_json_set_text(o, "error_message", r->detail);
	ing_json_set_text(o, "title", r->title);
	ing_json_set_text(o, "site", r->site);
	ing_json_set_text(o, "webpage_rule", r->webpage_rule);
	ing_json_set(o, "biblio", ing_json_ref(r->biblio));
	ing_json_set(o, "links", links);
	ing_json_set(o, "next", next_json(&r->next));
	ing_json_set(o, "blocked", wall_json(&r->wall));
	ing_json_set_text(o, "platform", r->platform);
	ing_json_set_text(o, "scope", r->scope);
	const struct ing_publication_fields *p = r->publication;
	ing_json_set(o, "publication", p != NULL ? ing_publication_fields_json(p) : NULL);
	ing_json_set(o, "page_links", p != NULL ? ing_fulltext_links_json(&p->links) : NULL);
	ing_json_set(o, "webpage", r->webpage != NULL ? ing_webpage_fields_json(r->webpage) : NULL);
	ing_json_set_number(o, "word_count", (int64_t)r->word_count);
	return o;
}
