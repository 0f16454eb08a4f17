/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One walk over the elements collects the title, the base and every signal's values; only then are
 * links resolved, in the order of the signals, and only until one is good. Signals here are those
 * that hold on any site; what only some publisher does is the business of rules.
 */
#include "worker/scrape/page.h"

#include <stdlib.h>
#include <string.h>

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

/* What the walk saw; borrowed from the tree. */
struct seen {
	const struct ing_dom_node *title;
	const char *base;
	const char *values[ING_ARRAY_LEN(signals)][MAX_LINKS_TRIED];
	unsigned counts[ING_ARRAY_LEN(signals)];
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

static bool matches(const struct signal *s, const char *name, const struct ing_dom_node *n)
{
	return strcmp(name, s->element) == 0 && ing_dom_attr_is(n, s->key, s->value) &&
	       (s->rel == NULL || ing_dom_attr_has_word(n, "rel", s->rel));
}

static void note_signals(struct seen *seen, const char *name, const struct ing_dom_node *n)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(signals); i++) {
		if (seen->counts[i] == MAX_LINKS_TRIED || !matches(&signals[i], name, n))
			continue;
		const char *value = ing_dom_attr(n, signals[i].link, NULL);
		if (value != NULL)
			seen->values[i][seen->counts[i]++] = value;
	}
}

static void walk(const struct ing_dom_node *root, struct seen *seen)
{
	const struct ing_dom_node *n = ing_dom_next_element(root, root);
	for (; n != NULL; n = ing_dom_next_element(n, root)) {
		const char *name = ing_dom_name(n);
		/* Almost all elements are none of ours: their first letter tells. */
		if (strchr("belmt", name[0]) == NULL || !ing_dom_is_html(n, name))
			continue;
		if (strcmp(name, "title") == 0)
			seen->title = seen->title != NULL ? seen->title : n;
		else if (strcmp(name, "base") == 0)
			seen->base =
				seen->base != NULL ? seen->base : ing_dom_attr(n, "href", NULL);
		else
			note_signals(seen, name, n);
	}
}

/* What links are relative to: the first <base> with an href, if that is a web address, else the
 * page (HTML Standard, 2.4.3). NULL: neither is known. */
static char *base_of(const struct seen *seen, const char *page_url)
{
	char *base = NULL;
	if (seen->base != NULL)
		base = page_url != NULL ? ing_url_resolve(page_url, seen->base)
					: ing_url_parse(seen->base, strlen(seen->base));
	if (base != NULL && ing_url_is_web(base))
		return base;
	free(base);
	return page_url != NULL ? ing_strdup(page_url) : NULL;
}

static bool is_page_itself(const char *page_url, const char *link)
{
	if (page_url == NULL)
		return false;
	char *bare = ing_url_without_fragment(link);
	bool same = ing_url_fuzzy_equal(bare, page_url);
	free(bare);
	return same;
}

/* The first good link of a signal but the page itself, which goes to *self if that is empty. */
static char *first_link(
	const struct seen *seen, size_t signal, const char *page_url, const char *base, char **self)
{
	for (unsigned i = 0; i < seen->counts[signal]; i++) {
		char *link = resolve(base, seen->values[signal][i]);
		if (link == NULL)
			continue;
		if (!is_page_itself(page_url, link))
			return link;
		if (*self == NULL)
			*self = ING_TAKE(link);
		free(link);
	}
	return NULL;
}

static void find_next(const struct seen *seen, const char *url, struct ing_page *ret)
{
	char *page_url = url != NULL && ing_url_is_web(url) ? ing_url_without_fragment(url) : NULL;
	char *base = base_of(seen, page_url);
	char *self = NULL;
	const char *self_technique = NULL;
	struct ing_page_link *link = &ret->links[ING_LINK_PDF];
	link->rule = ING_NO_RULE;
	for (size_t i = 0; i < ING_ARRAY_LEN(signals) && link->url == NULL; i++) {
		link->url = first_link(seen, i, page_url, base, &self);
		if (link->url != NULL)
			link->technique = ing_strdup(signals[i].technique);
		if (self != NULL && self_technique == NULL)
			self_technique = signals[i].technique;
	}
	if (link->url == NULL && self != NULL) {
		link->url = ING_TAKE(self);
		link->technique = ing_strdup(self_technique);
		link->self = true;
	}
	free(self);
	free(base);
	free(page_url);
}

/* The text of the <title> with white space folded; NULL when there is none. */
static char *title_of(const struct ing_dom_node *n)
{
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
	struct seen seen = {0};
	walk(ing_html_document(doc), &seen);
	ret->title = title_of(seen.title);
	find_next(&seen, url, ret);
}
