/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A publication from a page: by a site's rules, by the families of metas, and what of the two
 * stays. Rules are given here as a loader would: compiled selectors by key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "view_helper.h"
#include "worker/scrape/publication/meta_schemes.h"
#include "worker/scrape/publication/publication.h"

#define PAGE "https://journal.example/article/1"
#define META(name, value) "<meta name='" name "' content='" value "'>"

static struct view_helper helper;
static struct ing_matcher *matcher;

static int set_up(void **state)
{
	(void)state;
	view_helper_init(&helper);
	matcher = ing_matcher_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_matcher_free(matcher);
	view_helper_done(&helper);
	return 0;
}

struct rule {
	enum ing_journal_key key;
	const char *selector, *attr;
	unsigned parents;
};

#define MAX_RULES 6
#define SITE_RULE 99

/* A key given again is the alternative to what was given before. */
static struct ing_journal_rule *next_rule(
	struct ing_journal_site *site, enum ing_journal_key key, struct ing_journal_rule *room)
{
	struct ing_journal_rule *r = &site->keys[key];
	if (r->selector == NULL)
		return r;
	*room = (struct ing_journal_rule){0};
	r->otherwise = room;
	return room;
}

static void fill_site(struct ing_journal_site *site, const struct rule *rules)
{
	static struct ing_journal_rule rooms[MAX_RULES];
	struct ing_error err = {0};
	*site = (struct ing_journal_site){.name = "test", .rule = SITE_RULE};
	for (size_t i = 0; i < MAX_RULES && rules[i].selector != NULL; i++) {
		struct ing_journal_rule *r = next_rule(site, rules[i].key, &rooms[i]);
		struct ing_selector *s = NULL;
		if (ing_selector_compile(rules[i].selector, strlen(rules[i].selector), &s, &err) <
			0)
			fail_msg("%s: %s", rules[i].selector, err.msg);
		r->selector = s;
		r->attr = rules[i].attr;
		r->parents = rules[i].parents;
		r->rule = rules[i].key;
	}
}

static void empty_site(struct ing_journal_site *site)
{
	for (size_t i = 0; i < ING_JOURNAL_KEYS_; i++) {
		for (const struct ing_journal_rule *r = &site->keys[i]; r != NULL;
			r = r->otherwise) {
			struct ing_selector *s = NULL;
			memcpy(&s, &r->selector, sizeof(s)); /* ours, for all its const */
			ing_selector_free(s);
		}
	}
}

static json_t *read_publication(const char *page, size_t bytes, const char *url,
	const struct ing_journal_site *site, enum ing_part_type type, json_t **ret_links)
{
	view_helper_read(&helper, page, bytes, url);
	ing_matcher_bind(matcher, helper.view.tree, 0);
	helper.view.matcher = matcher;
	const struct ing_publication_fields *fields =
		ing_publication_fields_read(&helper.view, site, type, ING_METAS_ALL);
	*ret_links = ing_fulltext_links_json(&fields->links);
	return ing_publication_fields_json(fields);
}

/* The parts named in `want` are as they are there. */
static void assert_parts(const char *name, json_t *got, json_t *links, const char *want)
{
	json_t *w = json_loads(want, 0, NULL), *value = NULL;
	const char *key = NULL;
	if (w == NULL)
		fail_msg("%s: bad JSON in the case", name);
	json_object_foreach (w, key, value) {
		json_t *g = strcmp(key, "links") == 0 ? links : json_object_get(got, key);
		if (json_equal(g, value))
			continue;
		char *text = json_dumps(g, JSON_COMPACT | JSON_ENCODE_ANY);
		fail_msg("%s: %s: %s", name, key, text);
	}
	json_decref(w);
}

static const struct {
	const char *name, *page, *want;
	struct rule rules[MAX_RULES]; /* none: no site */
	const char *url;              /* NULL: PAGE */
	enum ing_part_type type;      /* 0: ING_PART_TYPE_DOI */
} cases[] = {
	{.name = "nothing, by the page",
		.page = "",
		.want = "{\"pmid\":null,\"pmcid\":null,\"doi\":null,\"title\":null,"
			"\"keywords\":null,\"abstract\":null,\"fulltext\":null,\"mesh\":null,"
			"\"efo\":null,\"go\":null,\"corresp_author\":null,"
			"\"journal_title\":null,\"pub_date\":null,\"oa\":null,\"preprint\":null,"
			"\"links\":[]}"},
	{.name = "nothing, by rules",
		.page = "<title>t</title><p>x",
		.rules = {{ING_JOURNAL_TITLE, "h1", NULL, 0},
			{ING_JOURNAL_FULLTEXT, "div", NULL, 0}},
		.want = "{\"title\":null,\"fulltext\":null,\"corresp_author\":null}"},
	{.name = "the page",
		.page = "<title>The  page</title><nav>n</nav><p>text<p class=refs>r",
		.want = "{\"title\":{\"content\":\"The page\",\"type\":\"webpage\"},"
			"\"fulltext\":{\"content\":\"text\",\"type\":\"webpage\"}}"},

	/* --- rules --- */
	{.name = "identifiers",
		.page = "<i id=a>PMID: 123</i><i id=b>pmc77</i><i id=c>PMCID: pmc77</i>"
			"<i id=d>doi:10.1/abc</i>",
		.rules = {{ING_JOURNAL_PMID, "#a", NULL, 0}, {ING_JOURNAL_PMCID, "#c", NULL, 0},
			{ING_JOURNAL_DOI, "#d", NULL, 0}},
		.want = "{\"pmid\":{\"content\":\"123\",\"type\":\"doi\"},"
			"\"pmcid\":{\"content\":\"PMC77\",\"type\":\"doi\"},"
			"\"doi\":{\"content\":\"10.1/ABC\",\"type\":\"doi\"}}"},
	{.name = "text nodes as elements",
		.page = "<p><b>DOI</b> 10.1/q <i>x</i></p>",
		.rules = {{ING_JOURNAL_DOI, "p:matchText:contains(10)", NULL, 0}},
		.want = "{\"doi\":{\"content\":\"10.1/Q\",\"type\":\"doi\"}}"},
	{.name = "an identifier from an attribute",
		.page = "<a class=d href='https://doi.org/10.1/x-y'>DOI</a>",
		.rules = {{ING_JOURNAL_DOI, "a.d", "href", 0}},
		.want = "{\"doi\":{\"content\":\"10.1/X-Y\",\"type\":\"doi\"}}"},
	{.name = "an identifier that is none",
		.page = "<i>soon</i>",
		.rules = {{ING_JOURNAL_DOI, "i", NULL, 0}, {ING_JOURNAL_PMID, "i", NULL, 0}},
		.want = "{\"doi\":null,\"pmid\":null}"},
	{.name = "title and subtitle, the first of each",
		.page = "<h1>One</h1><h1>Two</h1><h2> and <b>more</b></h2><h2>x</h2>",
		.rules = {{ING_JOURNAL_TITLE, "h1", NULL, 0},
			{ING_JOURNAL_SUBTITLE, "h2", NULL, 0}},
		.want = "{\"title\":{\"content\":\"One : and more\",\"type\":\"doi\"}}"},
	{.name = "a subtitle alone is no title",
		.page = "<h2>sub</h2>",
		.rules = {{ING_JOURNAL_TITLE, "h1", NULL, 0},
			{ING_JOURNAL_SUBTITLE, "h2", NULL, 0}},
		.want = "{\"title\":null}"},
	{.name = "keywords",
		.page = "<i>a</i><i> b </i><i></i><i>a</i><i>&nbsp;</i>",
		.rules = {{ING_JOURNAL_KEYWORDS, "i", NULL, 0}},
		.want = "{\"keywords\":{\"list\":[\"a\",\"b\"],\"type\":\"doi\"}}"},
	{.name = "keywords to be split",
		.page = "<p>KeyWords : a, b;c | d,,</p><p>Keyword-based search</p>",
		.rules = {{ING_JOURNAL_KEYWORDS_SPLIT, "p", NULL, 0}},
		.want = "{\"keywords\":{\"list\":[\"a\",\"b\",\"c\",\"d\","
			"\"Keyword-based search\"],\"type\":\"doi\"}}"},
	{.name = "the full stop of a list is not its last keyword's",
		.page = "<p>a. b; c.</p><p>in the U.S.</p><p>d. .</p>",
		.rules = {{ING_JOURNAL_KEYWORDS_SPLIT, "p", NULL, 0}},
		.want = "{\"keywords\":{\"list\":[\"a. b\",\"c\",\"in the U.S.\",\"d. .\"],"
			"\"type\":\"doi\"}}"},
	{.name = "keywords first, split ones when there is one only",
		.page = "<i>a, b</i><p>Keywords</p>",
		.rules = {{ING_JOURNAL_KEYWORDS, "i", NULL, 0},
			{ING_JOURNAL_KEYWORDS_SPLIT, "i", NULL, 0}},
		.want = "{\"keywords\":{\"list\":[\"a\",\"b\"],\"type\":\"doi\"}}"},
	{.name = "MeSH terms, an asterisk for a major topic, qualifiers left out",
		.page = "<b>Algorithms*</b><b> Proteins / genetics* </b><b>Proteins / metabolism</b>"
			"<b>Humans</b><b>/</b><b>Mice *</b><b>Mice</b>",
		.rules = {{ING_JOURNAL_MESH, "b", NULL, 0}},
		.want = "{\"mesh\":{\"list\":["
			"{\"term\":\"Algorithms\",\"majorTopic\":true,\"uniqueId\":null},"
			"{\"term\":\"Proteins\",\"majorTopic\":false,\"uniqueId\":null},"
			"{\"term\":\"Humans\",\"majorTopic\":false,\"uniqueId\":null},"
			"{\"term\":\"Mice\",\"majorTopic\":true,\"uniqueId\":null}],"
			"\"type\":\"doi\"}}"},
	{.name = "abstract: elements with text",
		.page = "<p>a<p><p>&nbsp;<p>b <i>c</i>",
		.rules = {{ING_JOURNAL_ABSTRACT, "p", NULL, 0}},
		.want = "{\"abstract\":{\"content\":\"a\\n\\nb c\",\"type\":\"doi\"}}"},
	{.name = "tags written out in an abstract",
		.page = "<p>&lt;h4>Aim&lt;/h4>To&lt;H2>&lt;/h2&gt; x &lt;i>y&lt;/i>&lt;h7>&lt;h",
		.rules = {{ING_JOURNAL_ABSTRACT, "p", NULL, 0}},
		.want = "{\"abstract\":{\"content\":\"Aim. To .  x <i>y</i><h7><h\","
			"\"type\":\"doi\"}}"},
	{.name = "full text with title and abstract in front",
		.page = "<h1>T</h1><div>A</div><p>one<p>two",
		.rules = {{ING_JOURNAL_TITLE, "h1", NULL, 0},
			{ING_JOURNAL_ABSTRACT, "div", NULL, 0},
			{ING_JOURNAL_FULLTEXT, "p", NULL, 0}},
		.want = "{\"fulltext\":{\"content\":\"T\\n\\nA\\n\\none\\n\\ntwo\","
			"\"type\":\"doi\"}}"},
	{.name = "full text without them",
		.page = "<p>one",
		.rules = {{ING_JOURNAL_FULLTEXT, "p", NULL, 0}},
		.want = "{\"fulltext\":{\"content\":\"one\",\"type\":\"doi\"}}"},
	{.name = "no full text without a body",
		.page = "<h1>Title</h1>",
		.rules = {{ING_JOURNAL_TITLE, "h1", NULL, 0}, {ING_JOURNAL_FULLTEXT, "p", NULL, 0}},
		.want = "{\"fulltext\":null}"},
	{.name = "links",
		.page = "<a class=h href=full#s>h</a><a class=h>x</a><a class=p href=/1.pdf>p</a>"
			"<a class=p href=/1.pdf#page=2>p</a>",
		.rules = {{ING_JOURNAL_FULLTEXT_A, "a.h", NULL, 0},
			{ING_JOURNAL_PDF_A, "a.p", NULL, 0}},
		.want = "{\"links\":[{\"url\":\"https://journal.example/article/full#s\","
			"\"type\":\"doi\"},{\"url\":\"https://journal.example/1.pdf\","
			"\"type\":\"pdf_doi\"}]}"},
	{.name = "links that are empty",
		.page = "<a href>1</a><a href=' '>2</a>" META("citation_pdf_url", " "),
		.rules = {{ING_JOURNAL_PDF_A, "a", NULL, 0}},
		.want = "{\"links\":[]}"},
	{.name = "a link from another attribute",
		.page = "<button data-pdf=/2.pdf>p</button>",
		.rules = {{ING_JOURNAL_PDF_A, "button", "Data-PDF", 0}},
		.want = "{\"links\":[{\"url\":\"https://journal.example/2.pdf\","
			"\"type\":\"pdf_doi\"}]}"},
	{.name = "a link from its icon's parent",
		.page = "<a href=/3.pdf><b><i class=pdf></i></b></a>",
		.rules = {{ING_JOURNAL_PDF_A, "i.pdf", NULL, 2}},
		.want = "{\"links\":[{\"url\":\"https://journal.example/3.pdf\","
			"\"type\":\"pdf_doi\"}]}"},
	{.name = "parents once each, in order, none above the root",
		.page = "<html><div>a<i></i><p>b<i></i><i></i></p></div>",
		.rules = {{ING_JOURNAL_ABSTRACT, "i, html", NULL, 1}},
		.want = "{\"abstract\":{\"content\":\"a b\\n\\nb\",\"type\":\"doi\"}}"},
	{.name = "corresponding authors",
		.page = "<b>Ada</b><a href='mailto:ada%40x.org?subject=1'>m</a><b>Bo</b>"
			"<a href=mailto:bo@x.org>m</a>",
		.rules = {{ING_JOURNAL_CORRESP_AUTHOR_NAMES, "b", NULL, 0},
			{ING_JOURNAL_CORRESP_AUTHOR_EMAILS, "a", NULL, 0}},
		.want = "{\"corresp_author\":[{\"name\":\"Ada\",\"orcid\":null,"
			"\"email\":\"ada@x.org\",\"phone\":null,\"uri\":null},{\"name\":\"Bo\","
			"\"orcid\":null,\"email\":\"bo@x.org\",\"phone\":null,\"uri\":null}]}"},
	{.name = "an address from an attribute",
		.page = "<b data-email=ada@x.org>Ada</b>",
		.rules = {{ING_JOURNAL_CORRESP_AUTHOR_NAMES, "b", NULL, 0},
			{ING_JOURNAL_CORRESP_AUTHOR_EMAILS, "b", "data-email", 0}},
		.want = "{\"corresp_author\":[{\"name\":\"Ada\",\"orcid\":null,"
			"\"email\":\"ada@x.org\",\"phone\":null,\"uri\":null}]}"},
	{.name = "an alternative is for pages where the first finds nothing",
		.page = "<h1>Other</h1><h2>Title</h2><p>one<div>two</div>"
			"<meta name=doi content=10.1/x>",
		.rules = {{ING_JOURNAL_TITLE, "h2", NULL, 0}, {ING_JOURNAL_TITLE, "h1", NULL, 0},
			{ING_JOURNAL_ABSTRACT, "p > b", NULL, 0},
			{ING_JOURNAL_ABSTRACT, "div", NULL, 0}, {ING_JOURNAL_DOI, "#doi", NULL, 0},
			{ING_JOURNAL_DOI, "meta[name=doi]", "content", 0}},
		.want = "{\"title\":{\"content\":\"Title\",\"type\":\"doi\"},"
			"\"abstract\":{\"content\":\"two\",\"type\":\"doi\"},"
			"\"doi\":{\"content\":\"10.1/X\",\"type\":\"doi\"}}"},
	{.name = "elements without text are nothing",
		.page = "<h2> </h2><h1>Title</h1>",
		.rules = {{ING_JOURNAL_TITLE, "h2", NULL, 0}, {ING_JOURNAL_TITLE, "h1", NULL, 0}},
		.want = "{\"title\":{\"content\":\"Title\",\"type\":\"doi\"}}"},
	{.name = "names with the addresses of an alternative, as many as there are",
		.page = "<b>Ada</b><a href=mailto:ada@x.org>m</a>",
		.rules = {{ING_JOURNAL_CORRESP_AUTHOR_NAMES, "b", NULL, 0},
			{ING_JOURNAL_CORRESP_AUTHOR_EMAILS, "b a", NULL, 0},
			{ING_JOURNAL_CORRESP_AUTHOR_EMAILS, "a", NULL, 0}},
		.want = "{\"corresp_author\":[{\"name\":\"Ada\",\"orcid\":null,"
			"\"email\":\"ada@x.org\",\"phone\":null,\"uri\":null}]}"},
	{.name = "names stay where an alternative has more addresses",
		.page = "<b>Ada</b><a href=mailto:ada@x.org>m</a><a href=mailto:bo@x.org>m</a>",
		.rules = {{ING_JOURNAL_CORRESP_AUTHOR_NAMES, "b", NULL, 0},
			{ING_JOURNAL_CORRESP_AUTHOR_EMAILS, "b a", NULL, 0},
			{ING_JOURNAL_CORRESP_AUTHOR_EMAILS, "a", NULL, 0}},
		.want = "{\"corresp_author\":[{\"name\":\"Ada\",\"orcid\":null,\"email\":null,"
			"\"phone\":null,\"uri\":null}]}"},

	/* --- metas --- */
	{.name = "every family's identifiers",
		.page = META("dc.identifier", "https://doi.org/10.1/dc") META("citation_doi",
			"doi:10.1/c") META("citation_pmid", "x") META("citation_pmid", "12")
			META("eprints.pubmed_id", "13") META("citation_pmcid", "PMC5"),
		.want = "{\"doi\":{\"content\":\"10.1/C\",\"type\":\"citation\"},"
			"\"pmid\":{\"content\":\"12\",\"type\":\"citation\"},"
			"\"pmcid\":{\"content\":\"PMC5\",\"type\":\"citation\"}}"},
	{.name = "what is no DOI is passed over",
		.page = META("dc.identifier", "http://h/1") META("DC:identifier", " 10.1/y "),
		.want = "{\"doi\":{\"content\":\"10.1/Y\",\"type\":\"dc\"}}"},
	{.name = "families in order",
		.page = META("title", "generic") META("og:title", "open graph")
			META("dc.title", "dublin") META("citation_title", "highwire"),
		.want = "{\"title\":{\"content\":\"highwire\",\"type\":\"citation\"}}"},
	{.name = "a property, with a colon",
		.page = "<meta property=og:title content=OG><meta name=twitter:title content=tw>",
		.want = "{\"title\":{\"content\":\"OG\",\"type\":\"og\"}}"},
	{.name = "the first title only, even empty",
		.page = "<title>page</title>" META("citation_title", "")
			META("citation_title", "two") META("dc.title", "dublin"),
		.want = "{\"title\":{\"content\":\"dublin\",\"type\":\"dc\"}}"},
	{.name = "bepress and EPrints",
		.page = META("bepress_citation_title", "bee") META("eprints.title", "prints")
			META("bepress_citation_doi", "10.1/b"),
		.want = "{\"title\":{\"content\":\"prints\",\"type\":\"eprints\"},"
			"\"doi\":{\"content\":\"10.1/B\",\"type\":\"bepress\"}}"},
	{.name = "plain text",
		.page = META(
			"citation_title", "A &amp;amp; B: &lt;i>E. coli&lt;/i>&amp;nbsp;x &lt; y"),
		.want = "{\"title\":{\"content\":\"A & B: E. coli x < y\","
			"\"type\":\"citation\"}}"},
	{.name = "keywords of all elements, in the page's order",
		.page = META("citation_keyword", "a; b") META("citation_keywords", "c|b,d")
			META("dc.subject", "x, y, z"),
		.want = "{\"keywords\":{\"list\":[\"a\",\"b\",\"c\",\"d\"],"
			"\"type\":\"citation\"}}"},
	{.name = "a character reference does not divide keywords",
		.page = META("keywords", "R&amp;amp;D, x"),
		.want = "{\"keywords\":{\"list\":[\"R&D\",\"x\"],\"type\":\"meta\"}}"},
	{.name = "abstracts joined",
		.page = META("dc.description", "one") META("dc.description", " ")
			META("dc.description.abstract", "&lt;p>two&lt;/p>"),
		.want = "{\"abstract\":{\"content\":\"one\\n\\ntwo\",\"type\":\"dc\"}}"},
	{.name = "links of metas",
		.page = META("citation_pdf_url", "/1.pdf") META("citation_fulltext_html_url", "/1")
			META("fulltext_pdf", "/1.pdf") META("eprints.document_url", "/e.pdf")
				META("bepress_citation_pdf_url", "/b")
					META("citation_full_html_url", "https://doi.org/10.1/x"),
		.want = "{\"links\":[{\"url\":\"https://journal.example/1\","
			"\"type\":\"link_citation\"},{\"url\":\"https://journal.example/e.pdf\","
			"\"type\":\"link_eprints\"},{\"url\":\"https://journal.example/1.pdf\","
			"\"type\":\"pdf_citation\"},{\"url\":\"https://journal.example/b\","
			"\"type\":\"pdf_bepress\"}]}"},
	{.name = "a link of a PMC page is its identifier",
		.page = META("citation_fulltext_html_url",
			"https://www.ncbi.nlm.nih.gov/pmc/articles/PMC42/"),
		.want = "{\"links\":[],\"pmcid\":{\"content\":\"PMC42\","
			"\"type\":\"link_citation\"}}"},
	{.name = "addresses of metas",
		.page = META("citation_author_email", "a@x.org") META("citation_author_email", "")
			META("citation_author_email", "mailto:b@x.org"),
		.want = "{\"corresp_author\":[{\"name\":null,\"orcid\":null,\"email\":\"a@x.org\","
			"\"phone\":null,\"uri\":null},{\"name\":null,\"orcid\":null,"
			"\"email\":\"b@x.org\",\"phone\":null,\"uri\":null}]}"},
	{.name = "journal and date",
		.page = META("citation_journal_title", "J &amp;amp; K")
			META("citation_publication_date", "2021")
				META("citation_online_date", "2020/05/17"),
		.want = "{\"journal_title\":\"J & K\",\"pub_date\":\"2020-05-17\"}"},
	{.name = "a date without day is none",
		.page = META("dc.date", "2021-03"),
		.want = "{\"pub_date\":null}"},
	{.name = "open access as HighWire says it",
		.page = META("citation_fulltext_world_readable", ""),
		.want = "{\"oa\":true,\"preprint\":null}"},

	/* --- both --- */
	{.name = "a rule's title stays",
		.page = META("citation_title", "meta title") "<h1>rule's</h1>",
		.rules = {{ING_JOURNAL_TITLE, "h1", NULL, 0}},
		.want = "{\"title\":{\"content\":\"rule's\",\"type\":\"doi\"}}"},
	{.name = "metas fill what rules do not give",
		.page = META("citation_title", "meta title") META("dc.subject", "a,b") "<h1>r</h1>",
		.rules = {{ING_JOURNAL_TITLE, "h2", NULL, 0}},
		.want = "{\"title\":{\"content\":\"meta title\",\"type\":\"citation\"},"
			"\"keywords\":{\"list\":[\"a\",\"b\"],\"type\":\"dc\"},\"fulltext\":null}"},
	{.name = "a rule's authors stay",
		.page = META("citation_author_email", "a@x.org") "<b>Ada</b>",
		.rules = {{ING_JOURNAL_CORRESP_AUTHOR_NAMES, "b", NULL, 0}},
		.want = "{\"corresp_author\":[{\"name\":\"Ada\",\"orcid\":null,\"email\":null,"
			"\"phone\":null,\"uri\":null}]}"},
	{.name = "no type is better than the page's",
		.page = META("citation_title", "meta title") META("citation_pdf_url", "/1.pdf")
			META("dc.subject", "a,b"),
		.type = ING_PART_TYPE_LINK_META,
		.want = "{\"title\":{\"content\":\"meta title\",\"type\":\"link_meta\"},"
			"\"keywords\":{\"list\":[\"a\",\"b\"],\"type\":\"link_meta\"},"
			"\"links\":[{\"url\":\"https://journal.example/1.pdf\","
			"\"type\":\"pdf_citation\"}]}"},
	{.name = "the PDF type of a link's page",
		.page = "<a href=/1.pdf>p</a>",
		.rules = {{ING_JOURNAL_PDF_A, "a", NULL, 0}},
		.type = ING_PART_TYPE_LINK_CITATION,
		.want = "{\"links\":[{\"url\":\"https://journal.example/1.pdf\","
			"\"type\":\"pdf_citation\"}]}"},
	{.name = "keywords of Unpaywall's copies are the repository's",
		.page = META("citation_keywords", "a,b") META("citation_title", "meta title"),
		.type = ING_PART_TYPE_LINK_OADOI,
		.want = "{\"keywords\":null,\"title\":{\"content\":\"meta title\","
			"\"type\":\"citation\"}}"},

	/* --- sites whose metas are not what they say --- */
	{.name = "Science",
		.page = META("dc.description", "teaser") META("og:description", "teaser")
			META("description", "generic"),
		.url = "https://www.science.org/doi/10.1126/x",
		.want = "{\"abstract\":{\"content\":\"generic\",\"type\":\"meta\"}}"},
	{.name = "Nature",
		.page = META("dc.description", "teaser") META("description", "generic")
			META("dc.title", "title"),
		.url = "https://www.nature.com/articles/x",
		.want = "{\"abstract\":null,\"title\":{\"content\":\"title\",\"type\":\"dc\"}}"},
	{.name = "another site ending alike",
		.page = META("dc.description", "teaser"),
		.url = "https://www.signature.com/articles/x",
		.want = "{\"abstract\":{\"content\":\"teaser\",\"type\":\"dc\"}}"},
	{.name = "BMC",
		.page = META("dc.subject", "a,b") META("keywords", "c"),
		.url = "https://bmcbiol.biomedcentral.com/articles/x",
		.want = "{\"keywords\":{\"list\":[\"c\"],\"type\":\"meta\"}}"},
	{.name = "Wiley, also below a society's name",
		.page = META("og:description", "teaser"),
		.url = "https://agupubs.onlinelibrary.wiley.com/doi/x",
		.want = "{\"abstract\":null}"},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_journal_site site;
		json_t *links = NULL;
		fill_site(&site, cases[i].rules);
		json_t *got = read_publication(cases[i].page, strlen(cases[i].page),
			cases[i].url == NULL ? PAGE : cases[i].url,
			cases[i].rules[0].selector == NULL ? NULL : &site,
			cases[i].type == 0 ? ING_PART_TYPE_DOI : cases[i].type, &links);
		assert_parts(cases[i].name, got, links, cases[i].want);
		json_decref(got);
		json_decref(links);
		empty_site(&site);
	}
}

/* src and dst on the page's address. */
static void test_rewrites(void **state)
{
	/* clang-format off */
	static const struct {
		const char *name, *url, *src, *dst, *want;
		unsigned flags;
	} rewrites[] = {
		{.name = "a link", .url = PAGE, .src = "/article/(\\d+)$", .dst = "/pdf/$1.pdf",
			.want = "{\"links\":[{\"url\":\"https://journal.example/pdf/1.pdf\","
				"\"type\":\"pdf_doi\"}]}",
			.flags = ING_RULE_APPLIED | ING_RULE_MATCHED},
		{.name = "no match", .url = PAGE, .src = "/paper/", .dst = "/pdf/",
			.want = "{\"links\":[]}", .flags = ING_RULE_APPLIED},
		{.name = "the same", .url = PAGE, .src = "/article/", .dst = "/article/",
			.want = "{\"links\":[]}", .flags = ING_RULE_APPLIED},
		{.name = "nothing is left", .url = PAGE, .src = ".*", .dst = "",
			.want = "{\"links\":[]}", .flags = ING_RULE_APPLIED},
		{.name = "no address", .url = PAGE, .src = "^https://", .dst = "",
			.want = "{\"links\":[]}", .flags = ING_RULE_APPLIED},
		{.name = "no page's address", .src = "a", .dst = "b", .want = "{\"links\":[]}"},
		{.name = "too costly",
			.url = "https://journal.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
			.src = "/((a|aa)+)+$", .dst = "b", .want = "{\"links\":[]}",
			.flags = ING_RULE_APPLIED | ING_RULE_FAILED},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(rewrites); i++) {
		struct ing_regex *src = NULL;
		struct ing_error err = {0};
		json_t *links = NULL;
		assert_int_equal(
			ing_regex_compile(rewrites[i].src, strlen(rewrites[i].src), 0, &src, &err),
			0);
		struct ing_journal_site site = {
			.name = "test", .pdf = {.src = src, .dst = rewrites[i].dst, .rule = 7}};
		json_t *got = read_publication(
			"<p>x", 4, rewrites[i].url, &site, ING_PART_TYPE_DOI, &links);
		assert_parts(rewrites[i].name, got, links, rewrites[i].want);
		unsigned flags = 0;
		for (size_t j = 0; j < helper.rule_hits.count; j++)
			if (helper.rule_hits.items[j].rule == 7)
				flags = helper.rule_hits.items[j].flags;
		if (flags != rewrites[i].flags)
			fail_msg("%s: used %u", rewrites[i].name, flags);
		json_decref(got);
		json_decref(links);
		ing_regex_free(src);
	}
}

static unsigned use_of(unsigned rule)
{
	for (size_t i = 0; i < helper.rule_hits.count; i++)
		if (helper.rule_hits.items[i].rule == rule)
			return helper.rule_hits.items[i].flags;
	return 0;
}

static void test_uses(void **state)
{
	static const struct rule rules[MAX_RULES] = {
		{.key = ING_JOURNAL_TITLE, .selector = "h1"},
		{.key = ING_JOURNAL_ABSTRACT, .selector = ".abstract"},
		{.key = ING_JOURNAL_KEYWORDS, .selector = "p"},
		{.key = ING_JOURNAL_FULLTEXT, .selector = "p:matches(^(a+)+$)"},
	};
	static const char page[] = "<h1>Title</h1><p> "
				   "<p>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
	struct ing_journal_site site;
	json_t *links = NULL;
	(void)state;
	fill_site(&site, rules);
	json_t *got =
		read_publication(page, sizeof(page) - 1, PAGE, &site, ING_PART_TYPE_DOI, &links);
	assert_int_equal(use_of(ING_JOURNAL_TITLE), ING_RULE_APPLIED | ING_RULE_MATCHED);
	assert_int_equal(use_of(ING_JOURNAL_ABSTRACT), ING_RULE_APPLIED);
	assert_int_equal(use_of(ING_JOURNAL_KEYWORDS), ING_RULE_APPLIED | ING_RULE_MATCHED);
	/* Its limit is its own failure: the rest of the page is read. */
	assert_int_equal(use_of(ING_JOURNAL_FULLTEXT), ING_RULE_APPLIED | ING_RULE_FAILED);
	assert_int_equal(use_of(ING_JOURNAL_SUBTITLE), 0); /* there is no such rule */
	assert_int_equal(use_of(SITE_RULE), ING_RULE_APPLIED | ING_RULE_MATCHED);
	assert_parts("rule hits", got, links,
		"{\"title\":{\"content\":\"Title\",\"type\":\"doi\"},\"fulltext\":null}");
	json_decref(got);
	json_decref(links);
	empty_site(&site);
}

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Pages made to cost: all of a rule's elements within each other, a hundred thousand metas, texts
 * that are larger than what is kept. */
static void test_hostile(void **state)
{
	static const struct rule rules[MAX_RULES] = {
		{.key = ING_JOURNAL_TITLE, .selector = "div"},
		{.key = ING_JOURNAL_KEYWORDS, .selector = "div"},
		{.key = ING_JOURNAL_FULLTEXT, .selector = "div"},
		{.key = ING_JOURNAL_PDF_A, .selector = "a"},
		{.key = ING_JOURNAL_CORRESP_AUTHOR_NAMES, .selector = "div"},
	};
	/* clang-format off */
	static const struct {
		const char *name, *before, *unit;
		size_t before_count, count;
	} pages[] = {
		{.name = "text read again and again", .before = "<div>", .unit = "<i>word </i>",
			.before_count = 400, .count = 50000},
		{.name = "elements without text", .before = "<div>", .unit = "<i></i>",
			.before_count = 400, .count = 100000},
		{.name = "metas", .before = "",
			.unit = "<meta name=citation_keywords content='a,b,c'>", .count = 50000},
		{.name = "metas of abstracts", .before = "",
			.unit = "<meta name=citation_abstract content='a b c'>", .count = 50000},
		{.name = "metas of links", .before = "",
			.unit = "<meta name=citation_pdf_url content=x>", .count = 50000},
		{.name = "links", .before = "", .unit = "<a href=x>x</a>", .count = 50000},
		{.name = "keywords", .before = "", .unit = "<div>x</div>", .count = 50000},
	};
	/* clang-format on */
	struct ing_journal_site site;
	(void)state;
	fill_site(&site, rules);
	for (size_t i = 0; i < ING_ARRAY_LEN(pages); i++) {
		struct ing_buf page;
		json_t *links = NULL;
		ing_buf_init(&page, (size_t)16 << 20);
		for (size_t j = 0; j < pages[i].before_count; j++)
			ing_buf_add_str(&page, pages[i].before);
		for (size_t j = 0; j < pages[i].count; j++)
			ing_buf_add_str(&page, pages[i].unit);
		double start = now_ms();
		json_t *got = read_publication(
			ing_buf_str(&page), page.len, PAGE, &site, ING_PART_TYPE_DOI, &links);
		double ms = now_ms() - start;
		/* Under sanitizers, with the parsing of the page. */
		if (ms > 8000)
			fail_msg("%s: %.0f ms", pages[i].name, ms);
		json_decref(got);
		json_decref(links);
		got = read_publication(
			ing_buf_str(&page), page.len, PAGE, NULL, ING_PART_TYPE_DOI, &links);
		json_decref(got);
		json_decref(links);
		ing_buf_done(&page);
	}
	empty_site(&site);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_rewrites),
		cmocka_unit_test(test_uses),
		cmocka_unit_test(test_hostile),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
