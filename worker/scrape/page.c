/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One walk over the elements collects, for every signal, the best link seen so far; the order of
 * the signals decides at the end. Signals here are those that hold on any site; what only some
 * publisher does is the business of rules.
 */
#include "worker/scrape/page.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/utf8.h"
#include "common/markup/html.h"
#include "common/net/url.h"
#include "worker/examine/findings.h"
#include "worker/limits.h"

/* A page repeats its PDF link a few times at most; this many of a signal are resolved, then no
 * more. */
#define MAX_LINKS_TRIED 16

#define SPACE "\t\n\f\r "

struct signal {
	const char *technique;
	const char *element;
	const char *key; /* attribute that must be `value`, ASCII case aside */
	const char *value;
	const char *rel; /* word that the rel attribute must hold, or NULL */
	const char *link;
};

/* In the order of trust: publishers maintain citation_pdf_url for scholarly search engines. */
static const struct signal signals[] = {
	{"citation_pdf_url", "meta", "name", "citation_pdf_url", NULL, "content"},
	{"bepress_citation_pdf_url", "meta", "name", "bepress_citation_pdf_url", NULL, "content"},
	{"citation_pdf_url-property", "meta", "property", "citation_pdf_url", NULL, "content"},
	{"eprints.document_url", "meta", "name", "eprints.document_url", NULL, "content"},
	{"embed", "embed", "type", "application/pdf", NULL, "src"},
	{"link-alternate", "link", "type", "application/pdf", "alternate", "href"},
};

/* Links that sites put there although they lead nowhere new: back to the resolver that brought us
 * here, to a frame around the PDF, or out of a template that was not filled in. Compared with the
 * absolute link in lower case. */
static const char *const refused[] = {
	"://doi.org/",
	"://dx.doi.org/",
	"onlinelibrary.wiley.com/doi/pdf/",
	"{'embed': '",
	"%7b'embed':%20'",
};

struct search {
	char *page_url; /* without fragment; NULL: not known */
	char *base_url; /* what links are relative to, or NULL */
	unsigned tried[ING_ARRAY_LEN(signals)];
	char *found[ING_ARRAY_LEN(signals)];
	char *self; /* a link to the page itself, and the signal it came from */
	size_t self_signal;
};

static bool is_refused(const char *link)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(refused); i++) {
		if (strcasestr(link, refused[i]) != NULL)
			return true;
	}
	return false;
}

/* The absolute web address that a value means, or NULL. White space around it is dropped. */
static char *resolve(const char *base, const char *value)
{
	char *trimmed = ing_url_clean(value, strlen(value));
	char *link = NULL;
	if (trimmed[0] != '\0')
		link = base != NULL ? ing_url_resolve(base, trimmed)
				    : ing_url_parse(trimmed, strlen(trimmed));
	free(trimmed);
	if (link == NULL || !ing_url_is_web(link) || strlen(link) > ING_MAX_URL_BYTES ||
		is_refused(link)) {
		free(link);
		return NULL;
	}
	return link;
}

static bool matches(const struct signal *s, const struct ing_dom_node *n)
{
	return ing_dom_is_html(n, s->element) && ing_dom_attr_is(n, s->key, s->value) &&
	       (s->rel == NULL || ing_dom_attr_has_word(n, "rel", s->rel));
}

/* Almost all elements of a page are none of these: one look at the first letter saves the rest. */
static bool may_match(const struct ing_dom_node *n)
{
	return strchr("mel", ing_dom_name(n)[0]) != NULL;
}

static bool is_page_itself(const struct search *search, const char *link)
{
	if (search->page_url == NULL)
		return false;
	char *bare = ing_url_without_fragment(link);
	bool same = ing_url_fuzzy_equal(bare, search->page_url);
	free(bare);
	return same;
}

static void try_link(struct search *search, size_t i, const struct ing_dom_node *n)
{
	const char *value = ing_dom_attr(n, signals[i].link, NULL);
	if (value == NULL || search->tried[i] == MAX_LINKS_TRIED)
		return;
	search->tried[i]++;
	char *link = resolve(search->base_url, value);
	if (link == NULL)
		return;
	if (!is_page_itself(search, link)) {
		search->found[i] = link;
	} else if (search->self == NULL || i < search->self_signal) {
		free(search->self);
		search->self = link;
		search->self_signal = i;
	} else {
		free(link);
	}
}

static void look_at(struct search *search, const struct ing_dom_node *n)
{
	if (!may_match(n))
		return;
	for (size_t i = 0; i < ING_ARRAY_LEN(signals); i++) {
		if (search->found[i] == NULL && matches(&signals[i], n))
			try_link(search, i, n);
	}
}

static char *resolve_base(const char *page_url, const char *href)
{
	char *base = page_url != NULL ? ing_url_resolve(page_url, href)
				      : ing_url_parse(href, strlen(href));
	if (base != NULL && ing_url_is_web(base))
		return base;
	free(base);
	return NULL;
}

/* What links are relative to: the first <base> with an href, if that is a web address, else the
 * page (HTML Standard, 2.4.3). */
static char *base_of(const struct ing_dom_node *root, const char *page_url)
{
	const struct ing_dom_node *n = ing_dom_next_element(root, root);
	for (; n != NULL; n = ing_dom_next_element(n, root)) {
		const char *href =
			ing_dom_is_html(n, "base") ? ing_dom_attr(n, "href", NULL) : NULL;
		if (href == NULL)
			continue;
		char *base = resolve_base(page_url, href);
		if (base != NULL)
			return base;
		break;
	}
	return page_url != NULL ? ing_strdup(page_url) : NULL;
}

static void find_next(const struct ing_dom_node *root, const char *url, struct ing_page *ret)
{
	struct search search = {0};
	if (url != NULL && ing_url_is_web(url))
		search.page_url = ing_url_without_fragment(url);
	search.base_url = base_of(root, search.page_url);
	const struct ing_dom_node *n = ing_dom_next_element(root, root);
	for (; n != NULL && search.found[0] == NULL; n = ing_dom_next_element(n, root))
		look_at(&search, n);
	for (size_t i = 0; i < ING_ARRAY_LEN(signals); i++) {
		if (search.found[i] != NULL && ret->next_url == NULL) {
			ret->next_url = ING_TAKE(search.found[i]);
			ret->next_technique = ing_strdup(signals[i].technique);
		}
		free(search.found[i]);
	}
	if (search.self != NULL && ret->next_url == NULL) {
		ret->next_url = ING_TAKE(search.self);
		ret->next_technique = ing_strdup(signals[search.self_signal].technique);
	}
	free(search.self);
	free(search.page_url);
	free(search.base_url);
}

/* The text of the first <title> with white space folded; NULL when there is none. */
static char *title_of(const struct ing_dom_node *root)
{
	const struct ing_dom_node *n = ing_dom_first(root, "title");
	if (n == NULL)
		return NULL;
	struct ing_buf raw, folded;
	ing_buf_init(&raw, (size_t)1 << 20);
	ing_buf_init(&folded, (size_t)1 << 20);
	ing_dom_text(n, &raw);
	const char *at = ing_buf_str(&raw);
	for (at += strspn(at, SPACE); *at != '\0'; at += strspn(at, SPACE)) {
		size_t word = strcspn(at, SPACE);
		if (folded.len > 0)
			ing_buf_add_char(&folded, ' ');
		ing_buf_add(&folded, at, word);
		at += word;
	}
	char *title = NULL;
	if (folded.len > 0)
		title = ing_strndup(ing_buf_str(&folded),
			ing_utf8_cut(ing_buf_str(&folded), folded.len, ING_MAX_TITLE_BYTES));
	ing_buf_done(&raw);
	ing_buf_done(&folded);
	return title;
}

/* -------------------------------------------------------------------------------------------- */

void ing_scrape_page(struct ing_html *doc, const char *url, struct ing_page *ret)
{
	const struct ing_dom_node *root = ing_html_document(doc);
	ret->title = title_of(root);
	find_next(root, url, ret);
}
