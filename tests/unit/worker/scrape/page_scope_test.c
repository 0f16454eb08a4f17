/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Platforms by what their pages say, and kinds of pages by address, platform and words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/macros.h"
#include "view_helper.h"
#include "worker/scrape/publication/page_scope.h"

#define PAGE "https://journal.example/article/1"
#define GENERATOR(s) "<meta name=Generator content='" s "'>"

static struct view_helper helper;

static int set_up(void **state)
{
	(void)state;
	view_helper_init(&helper);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	view_helper_done(&helper);
	return 0;
}

static const struct {
	const char *name, *page, *url, *want;
} platforms[] = {
	{"nothing", "<p>x", PAGE, NULL},
	{"OJS 3", GENERATOR("Open Journal Systems 3.3.0.8"), PAGE, "ojs3"},
	{"OJS 2", GENERATOR("OPEN Journal Systems 2.4"), PAGE, "ojs"},
	{"OJS, older", "<div id=developedBy><a>Open Journal Systems</a></div>", PAGE, "ojs"},
	{"a generator hides what developed it",
		GENERATOR("x") "<div id=developedBy>Open Journal Systems</div>", PAGE, NULL},
	{"an empty generator", "<meta name=generator>", PAGE, NULL},
	{"Plone", GENERATOR("Plone - http://plone.org"), PAGE, "plone"},
	{"WordPress", GENERATOR("WordPress 6.1"), PAGE, "wordpress"},
	{"Blogger", GENERATOR("blogger"), PAGE, "blogger"},
	{"DSpace", GENERATOR("DSpace 7.6"), PAGE, "dspace"},
	{"EPrints", GENERATOR("EPrints 3.4"), PAGE, "eprints"},
	{"EPrints by metas", "<meta name=eprints.title content=x>", PAGE, "eprints"},
	{"Digital Commons", "<meta name=bepress_citation_title content=x>", PAGE, "bepress"},
	{"Atypon", "<meta name=pbContext content=';page:string:x'>", PAGE, "atypon"},
	{"HighWire over Drupal", GENERATOR("Drupal 7") "<meta name=HW.identifier content=x>", PAGE,
		"highwire"},
	{"Drupal", GENERATOR("Drupal 10 (https://www.drupal.org)"), PAGE, "drupal"},
	{"Silverchair", "<script src=https://x.silverchair-cdn.com/a.js></script>", PAGE,
		"silverchair"},
	{"DSpace 7", "<ds-app></ds-app>", PAGE, "dspace"},
	{"Invenio", "<body data-invenio-config='{}'>", PAGE, "invenio"},
	{"body id", "<body id=pkp-common-openJournalSystems>", PAGE, "ojs"},
	{"body class", "<body class='pkp_page_article pkp_op_view'>", PAGE, "ojs3"},
	{"PKP footer", "<a href='http://pkp.sfu.ca/ojs/'>PKP</a>", PAGE, "ojs"},
	{"PubPub", "<img src=https://assets.pubpub.org/a.png>", PAGE, "pubpub"},
	{"ARPHA", "<span class=arphalogo>Powered by ARPHA</span>", PAGE, "arpha"},
	{"Galenos", "<p>Galenos Publishing House", PAGE, "galenos"},
	{"icon",
		"<link rel=stylesheet href=//journalssystem.com/x.css>"
		"<link rel='shortcut ICON' href=https://www.JournalsSystem.com/f.ico>",
		PAGE, "journalssystem.com"},
	{"icon, Index Copernicus", "<link rel=icon href=//journals.indexcopernicus.com/i.ico>",
		PAGE, "indexcopernicus"},
	{"icon of the site itself", "<link rel=icon href=/f.ico>",
		"https://www.x.journalssystem.com/1", "journalssystem.com"},
	{"an icon's path", "<link rel=icon href=/journalssystem.com.ico>", PAGE, NULL},
	{"OPS", GENERATOR("Open Preprint Systems 3.4") "<body class=pkp_page_preprint>", PAGE,
		"ops"},
	{"a link that is no icon", "<link rel=stylesheet href=//journalssystem.com/x.css>", PAGE,
		NULL},
	{"SciELO", "<p>x", "http://www.scielo.br/scielo.php?pid=1", "scielo"},
	{"no address", "<p>x", NULL, NULL},
};

static void test_platforms(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(platforms); i++) {
		const char *page = platforms[i].page;
		const char *got = ing_page_platform(
			view_helper_read(&helper, page, strlen(page), platforms[i].url));
		const char *want = platforms[i].want;
		if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0))
			fail_msg("%s: %s", platforms[i].name, got == NULL ? "none" : got);
	}
}

#define H(...)                                                                                     \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define FORBIDDEN                                                                                  \
	"<html><head><title>403 Forbidden</title></head><body>"                                    \
	"<center><h1>403 Forbidden</h1></center><hr><center>nginx</center>"

static const struct {
	const char *name, *url;
	uint32_t words;
	struct ing_page_scope_input input;
	const char *want, *page;
} scopes[] = {
	{"cookies", "https://x.example/action/cookieAbsent", 9, H(0), "blocked-cookie", NULL},
	{"cookies in a query", "https://x.example/cookieAbsent?x", 9, H(0), "stub", NULL},
	{"first page", "https://page-one.live.cf.public.springer.com/pdf/preview/10.1007/x", 900,
		H(0), "article-sample", NULL},
	{"SciELO abstract", "http://www.scielo.br/scielo.php?script=sci_abstract&pid=1", 9000, H(0),
		"landingpage", NULL},
	{"SciELO text", "http://www.scielo.br/scielo.php?script=sci_arttext&pid=1", 9, H(0),
		"article-fulltext", NULL},
	{"captcha", "https://x.example/showcaptcha.asp?u=1", 900, H(0), "blocked-captcha", NULL},
	{"home", "https://x.example/", 5000, H(0), "homepage-domain", NULL},
	{"home without slash", "https://x.example", 5000, H(0), "homepage-domain", NULL},
	{"home with fragment", "https://x.example/#a", 5000, H(0), "homepage-domain", NULL},
	{"a query is a page", "https://x.example/?p=7", 5000, H(0), "article-fulltext", NULL},
	{"names itself as full text", PAGE, 9,
		H(.html_url = "http://www.journal.example/article/1/"), "article-fulltext", NULL},
	{"names another", PAGE, 9000, H(.html_url = PAGE "/full"), "landingpage", NULL},
	{"OJS, long", PAGE, 1201, H(.platform = "ojs", .has_title = true), "article-fulltext",
		NULL},
	{"OJS, short", PAGE, 1200, H(.platform = "ojs3", .has_title = true), "landingpage", NULL},
	{"OJS view", "https://x.example/article/view/1/2", 601, H(.platform = "ojs3"),
		"article-fulltext", NULL},
	{"OJS view, short", "https://x.example/article/view/1/2", 600, H(.platform = "ojs3"),
		"other", NULL},
	{"OJS, not a view", "https://x.example/issue/1", 9000, H(.platform = "ojs"), "other", NULL},
	{"journals system", PAGE, 999, H(.platform = "journalssystem.com", .pdf_url = "x"),
		"landingpage", NULL},
	{"journals system, long", PAGE, 1300, H(.platform = "journalssystem.com", .pdf_url = "x"),
		"article-fulltext", NULL},
	{"Karger", "https://www.karger.com/Article/Abstract/1", 9000, H(0), "landingpage", NULL},
	{"DergiPark", "http://dergipark.gov.tr/x/issue/1", 9000, H(0), "other", NULL},
	{"DergiPark file", "http://dergipark.gov.tr/download/article-file/1", 9000, H(0),
		"article-fulltext", NULL},
	{"journals system's own host", "https://www.x.journalssystem.com/1", 30, H(.pdf_url = "x"),
		"landingpage", NULL},
	{"DergiPark today", "https://dergipark.org.tr/x/issue/1", 9000, H(0), "other", NULL},
	{"forbidden", PAGE, 5, H(0), "blocked-forbidden", FORBIDDEN},
	{"stub", PAGE, 19, H(0), "stub", NULL},
	{"unknown", PAGE, 20, H(0), "unknown", NULL},
	{"unknown, 1200", PAGE, 1200, H(0), "unknown", NULL},
	{"long", PAGE, 1201, H(0), "article-fulltext", NULL},
	{"blog", PAGE, 501, H(.platform = "wordpress"), "article-fulltext", NULL},
	{"blog, short", PAGE, 500, H(.platform = "blogger"), "unknown", NULL},
	{"no address", NULL, 5, H(0), "stub", NULL},
	{"an error", PAGE, 30, H(0), "errorpage", "<title>404 Not Found</title><p>x"},
	{"an error in its heading", PAGE, 30, H(.platform = "ojs3"), "errorpage",
		"<title>J</title><h1>Sorry, the page could not be found</h1>"},
	{"an error in German", PAGE, 30, H(0), "errorpage", "<title>Seite nicht gefunden</title>"},
	{"an article about errors", PAGE, 9000, H(0), "article-fulltext",
		"<title>404 and other errors</title>"},
	{"a record with a title like an error", PAGE, 100, H(.has_title = true), "unknown",
		"<title>Not found: the lost tide</title>"},
	{"a login", PAGE, 60, H(.platform = "ojs"), "blocked-login",
		"<title>Login | J</title><form><input type=PASSWORD></form>"},
	{"a login in a corner", PAGE, 60, H(0), "unknown",
		"<title>Tides</title><form><input type=password></form>"},
	{"a login without a field", PAGE, 60, H(0), "unknown", "<title>Login | J</title>"},
	{"a paywall", PAGE, 300, H(.has_title = true), "blocked-paywall",
		"<h1>Tides</h1><p>Abstract.<button>Access through your institution</button>"},
	{"a paywall that names itself", PAGE, 300, H(.has_title = true, .html_url = PAGE),
		"blocked-paywall", "<p>You do not have access to this content."},
	{"words of a paywall in an article", PAGE, 9000, H(.has_title = true), "article-fulltext",
		"<p>Subscribe to read"},
	{"words of a paywall in a script", PAGE, 300, H(.has_title = true), "unknown",
		"<p>x<script>'Subscribe to read'</script>"},
	{"an abstract", PAGE, 250, H(.has_title = true), "article-abstract",
		"<h2>Abstract:</h2><p>x"},
	{"an abstract by its address", "https://j.example/1/abstract?x", 250, H(.has_title = true),
		"article-abstract", NULL},
	{"an abstract with a body", PAGE, 250, H(.has_title = true), "unknown",
		"<h2>Abstract</h2><h2>1. Introduction</h2>"},
	{"an abstract without a record", PAGE, 250, H(0), "unknown", "<h2>Abstract</h2>"},
	{"an issue", "https://j.example/issue/view/3", 3001, H(0), "issue-fulltext", NULL},
	{"an article of an issue", "https://j.example/issue/3", 3001, H(.has_title = true),
		"article-fulltext", NULL},
	{"a supplement", "https://j.example/doi/suppl/10.1/x", 90, H(.has_title = true),
		"supplement", NULL},
	{"a supplement by title", PAGE, 90, H(0), "supplement",
		"<title>Supplementary material for Tides</title>"},
	{"an article in a supplement of a journal", "https://j.example/content/62/suppl_1/a9", 90,
		H(.has_title = true, .html_url = "https://j.example/content/62/suppl_1/a9"),
		"article-fulltext", NULL},
	{"the same with slashes", "https://j.example/116/Supplement/3/S9", 90, H(0), "unknown",
		NULL},
	{"a supplement of such an article", "https://j.example/62/suppl_1/a9/suppl/DC1", 90, H(0),
		"supplement", NULL},
	{"no supplement", "https://j.example/supplies/1", 90, H(0), "unknown", NULL},
	{"a figure", "https://www.nature.com/articles/s1/figures/2", 90, H(0), "component", NULL},
	{"a table", "https://j.example/content/1/2/T3.expansion.html", 90, H(0), "component", NULL},
	{"a figure by title", PAGE, 90, H(0), "component", "<title>Fig. 2 | Tides</title>"},
	{"an article about figures", PAGE, 1500, H(0), "article-fulltext",
		"<title>Figure 1 and others</title>"},
};

static void test_scopes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(scopes); i++) {
		const char *page = scopes[i].page == NULL ? "<p>x" : scopes[i].page;
		view_helper_read(&helper, page, strlen(page), scopes[i].url);
		helper.view.word_count = scopes[i].words;
		const char *got = ing_page_scope(&helper.view, &scopes[i].input);
		if (strcmp(got, scopes[i].want) != 0)
			fail_msg("%s: %s", scopes[i].name, got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_platforms),
		cmocka_unit_test(test_scopes),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
