/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of markers: the content of <meta name=generator>, <meta> elements that only one software
 * writes, and fragments of source that only its pages have. These are looked for in one pass over the
 * page's bytes, which is only made when nothing cheaper has matched.
 */
#include "worker/scrape/publication/page_scope.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/needles.h"
#include "common/markup/link.h"
#include "common/net/url.h"
#include "worker/scrape/biblio/meta.h"
#include "worker/scrape/publication/page_signs.h"

#define MAX_GENERATOR_BYTES 1000
#define MAX_ICON_LINKS 100 /* <link> elements looked at for an icon */

struct marker {
	const char *text, *platform;
};

/* Substrings of the generator in lower case; the first that matches counts. */
static const struct marker generators[] = {
	{"open journal systems 3", "ojs3"},
	{"open journal systems", "ojs"},
	{"open preprint systems", "ops"}, /* ours; before OJS 3, whose body it shares */
	{"open monograph press", "omp"},
	{"plone", "plone"},
	{"wordpress", "wordpress"},
	{"blogger", "blogger"},
};

/* Ours, tried when none of the older markers matches. */
static const struct marker more_generators[] = {
	{"dspace", "dspace"},
	{"eprints", "eprints"},
	{"invenio", "invenio"},
	{"pubpub", "pubpub"},
	{"dataverse", "dataverse"},
	{"janeway", "janeway"},
	{"joomla", "joomla"},
	{"mediawiki", "mediawiki"},
};

/* Names of <meta> elements in lower case; prefixes if they end in '_' or '.'. */
static const struct marker metas[] = {
	{"bepress_citation_", "bepress"},
	{"eprints.", "eprints"},
	{"pbcontext", "atypon"},
	{"hw.", "highwire"},
};

/* Fragments of source; the first EARLY_FRAGMENTS count before an icon, a <meta> element or a name. */
static const struct marker fragments[] = {
	{"pkp.sfu.ca/ojs", "ojs"},
	{"assets.pubpub.org", "pubpub"},
	{"://www.pubpub.org", "pubpub"},
	{"arphahub.com", "arpha"},
	{"arphalogo", "arpha"},
	{"Galenos Publishing House", "galenos"},
	{"silverchair-cdn.com", "silverchair"},
	{"/modules/highwire/", "highwire"},
};
#define EARLY_FRAGMENTS 6

/* Names of elements and attributes that only one software uses. */
static const struct marker names[] = {
	{"data-invenio-config", "invenio"},
	{"ds-app", "dspace"},
};

static const struct marker icon_hosts[] = {
	{"journalssystem.com", "journalssystem.com"},
	{"indexcopernicus", "indexcopernicus"},
};

static const char *find_marker(const struct marker *markers, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strcasestr(text, markers[i].text) != NULL)
			return markers[i].platform;
	return NULL;
}

/* Returns the numbers of the fragments that the page's bytes have, as bits. */
static uint64_t find_fragments(const struct ing_view *v)
{
	const char *texts[ING_ARRAY_LEN(fragments)];
	for (size_t i = 0; i < ING_ARRAY_LEN(fragments); i++)
		texts[i] = fragments[i].text;
	return v->data == NULL ? 0 : ing_needles_in(v->data, v->bytes, texts, ING_ARRAY_LEN(texts));
}

/* Of the first fragment that was found; NULL when there is none. */
static const char *platform_of_fragments(uint64_t found)
{
	return found == 0 ? NULL : fragments[__builtin_ctzll(found)].platform;
}

/* The element with an id, or NONE. */
static ing_node find_id(const struct ing_tree *t, const char *id)
{
	uint32_t name = ing_tree_find_name(t, "id", 2);
	size_t bytes = strlen(id);
	for (ing_node n = 0; name != UINT32_MAX && n < t->count; n++) {
		if (t->nodes[n].kind != ING_NODE_ELEMENT)
			continue;
		const struct ing_tree_attr *a = ing_tree_attr_of(t, n, name);
		if (a != NULL && a->bytes == bytes && strcasecmp(a->value, id) == 0)
			return n;
	}
	return ING_NODE_NONE;
}

/* Returns the software named by the page; "" when there is none. */
static const char *read_generator(const struct ing_view *v)
{
	const struct ing_meta *m = ing_metas_find(v, NULL, ING_META_NAME, "generator");
	if (m != NULL)
		return m->content == NULL ? "" : m->content;
	ing_node n = find_id(v->tree, "developedby");
	return n == ING_NODE_NONE ? "" : ing_view_text(v, n, MAX_GENERATOR_BYTES);
}

/* Bodies of the Public Knowledge Project's software say so by id (version 2) and class (3). */
static const char *platform_of_body(const struct ing_view *v)
{
	size_t bytes = 0;
	ing_node body = ing_tree_body(v->tree);
	const char *id = ing_tree_attr(v->tree, body, "id", &bytes);
	if (id != NULL && strncasecmp(id, "pkp-", 4) == 0)
		return "ojs";
	const char *class = ing_tree_attr(v->tree, body, "class", &bytes);
	return class != NULL && strstr(class, "pkp_page_") != NULL ? "ojs3" : NULL;
}

/* The host of the page's icon. */
static const char *platform_of_icon(const struct ing_view *v)
{
	ing_node n = ING_NODE_DOCUMENT;
	const char *found = NULL;
	for (size_t i = 0; i < MAX_ICON_LINKS && found == NULL; i++) {
		n = ing_tree_next_named(v->tree, n, ING_NODE_DOCUMENT, "link");
		if (n == ING_NODE_NONE)
			return NULL;
		if (!ing_tree_attr_has_word(v->tree, n, "rel", "icon"))
			continue;
		char host[ING_URL_HOST_BYTES];
		char *url = ing_link_of_attr(v->tree, n, "href");
		if (url != NULL && ing_url_host(url, host, sizeof(host)))
			found = find_marker(icon_hosts, ING_ARRAY_LEN(icon_hosts), host);
		free(url);
	}
	return found;
}

static const char *platform_of_metas(const struct ing_view *v)
{
	for (const struct ing_meta *m = ing_metas_first(v); m != NULL; m = m->next) {
		if (m->name == NULL)
			continue;
		for (size_t i = 0; i < ING_ARRAY_LEN(metas); i++) {
			size_t n = strlen(metas[i].text);
			bool prefix = strchr("_.", metas[i].text[n - 1]) != NULL;
			if (prefix ? strncmp(m->name, metas[i].text, n) == 0
				   : strcmp(m->name, metas[i].text) == 0)
				return metas[i].platform;
		}
	}
	return NULL;
}

static const char *platform_of_names(const struct ing_view *v)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if (ing_tree_find_name(v->tree, names[i].text, strlen(names[i].text)) != UINT32_MAX)
			return names[i].platform;
	return NULL;
}

static bool has(const char *s, const char *part)
{
	return strstr(s, part) != NULL;
}

static bool is_platform(const struct ing_page_scope_input *in, const char *name)
{
	return in->platform != NULL && strcmp(in->platform, name) == 0;
}

/* A host's front page: no path and no query. */
static bool is_homepage(const char *url)
{
	const char *host = strstr(url, "://");
	if (host == NULL)
		return false;
	const char *rest = host + 3 + strcspn(host + 3, "/?#");
	rest += *rest == '/';
	return *rest == '\0' || *rest == '#';
}

/* Returns the scope that the URL alone tells, or NULL. */
static const char *scope_of_url(const char *url)
{
	static const char cookie[] = "/cookieAbsent";
	size_t bytes = strlen(url);
	if (bytes >= sizeof(cookie) - 1 && strcmp(url + bytes - sizeof(cookie) + 1, cookie) == 0)
		return "blocked-cookie";
	if (has(url, "://page-one.") && has(url, ".springer.com"))
		return "article-sample";
	if (has(url, "scielo") && has(url, "sci_abstract"))
		return "landingpage";
	if (has(url, "scielo") && has(url, "sci_arttext"))
		return "article-fulltext";
	if (has(url, "showcaptcha.asp"))
		return "blocked-captcha";
	return is_homepage(url) ? "homepage-domain" : NULL;
}

static const char *scope_of_ojs(
	const struct ing_view *v, const struct ing_page_scope_input *in, const char *url)
{
	if (in->has_title)
		return v->word_count > 1200 ? "article-fulltext" : "landingpage";
	return has(url, "/article/view/") && v->word_count > 600 ? "article-fulltext" : "other";
}

/* <center><h1>403 Forbidden</h1></center>, as servers write it. */
static bool is_forbidden(const struct ing_view *v)
{
	ing_node center =
		ing_tree_next_named(v->tree, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "center");
	if (center == ING_NODE_NONE)
		return false;
	ing_node heading = ing_tree_next_named(v->tree, center, center, "h1");
	return heading != ING_NODE_NONE &&
	       strcmp(ing_view_text(v, heading, 32), "403 Forbidden") == 0;
}

static const char *scope_of_word_count(
	const struct ing_view *v, const struct ing_page_scope_input *in)
{
	if (v->word_count < 20)
		return "stub";
	if (v->word_count > 500 && (is_platform(in, "wordpress") || is_platform(in, "blogger")))
		return "article-fulltext";
	return v->word_count > 1200 ? "article-fulltext" : "unknown";
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_page_platform(const struct ing_view *v)
{
	const char *generator = read_generator(v);
	const char *found = find_marker(generators, ING_ARRAY_LEN(generators), generator);
	if (found == NULL)
		found = platform_of_body(v);
	uint64_t in_source = found == NULL ? find_fragments(v) : 0;
	if (found == NULL)
		found = platform_of_fragments(in_source & ((UINT64_C(1) << EARLY_FRAGMENTS) - 1));
	if (found == NULL)
		found = platform_of_icon(v);
	if (found == NULL && v->url != NULL && strcasestr(v->url, "scielo") != NULL)
		found = "scielo";
	if (found == NULL)
		found = find_marker(more_generators, ING_ARRAY_LEN(more_generators), generator);
	if (found == NULL)
		found = platform_of_metas(v);
	if (found == NULL)
		found = platform_of_names(v);
	if (found == NULL)
		found = platform_of_fragments(in_source);
	if (found == NULL && strcasestr(generator, "drupal") != NULL)
		found = "drupal"; /* last: publishers' platforms are built on it */
	return found;
}

const char *ing_page_scope(const struct ing_view *v, const struct ing_page_scope_input *in)
{
	const char *url = v->url == NULL ? "" : v->url;
	const char *found = scope_of_url(url);
	if (found == NULL && is_forbidden(v))
		found = "blocked-forbidden";
	if (found == NULL)
		found = ing_page_sign(v, in);
	if (found == NULL && ing_page_is_paywall(v, in))
		found = "blocked-paywall";
	if (found != NULL)
		return found;
	if (in->html_url != NULL)
		return v->url != NULL && ing_url_fuzzy_equal(in->html_url, url) ? "article-fulltext"
										: "landingpage";
	if (is_platform(in, "ojs") || is_platform(in, "ojs3"))
		return scope_of_ojs(v, in, url);
	if ((is_platform(in, "journalssystem.com") || has(url, "journalssystem.com")) &&
		in->pdf_url != NULL && v->word_count < 1000)
		return "landingpage";
	if (has(url, "://www.karger.com/Article/Abstract"))
		return "landingpage";
	if ((has(url, "://dergipark.gov.tr/") || has(url, "://dergipark.org.tr/")) &&
		!has(url, "/download/"))
		return "other";
	found = ing_page_part_sign(v, in);
	return found != NULL ? found : scope_of_word_count(v, in);
}
