/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The guess at a page's document, measured on made pages: which of several links to PDFs it takes,
 * and above all where it takes none. A wrong one is worse than none, so every case of the second
 * kind must hold; of the first, each is there for one sign.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "view_helper.h"
#include "worker/scrape/rules/link_words.h"
#include "worker/scrape/rules/links_guess.h"

#define PAGE "https://journal.example/article/7"
#define META(name, value) "<meta name=\"" name "\" content=\"" value "\">"
/* The record of an article. */
#define RECORD                                                                                     \
	META("citation_title", "On the drift of small boats")                                      \
	META("citation_doi", "10.5555/boats.2019.0001") "<h1>On the drift of small boats</h1>"
#define H1 "<h1>On the drift of small boats</h1>"
#define AT(path) "https://journal.example" path

static struct view_helper helper;

struct guess_case {
	const char *name;
	const char *page;
	const char *url;  /* NULL: PAGE */
	const char *want; /* NULL: none */
};

static const struct guess_case taken[] = {
	/* By the record of an article and the link's words. */
	{"PDF", RECORD "<a href=/get/1.pdf>PDF</a>", NULL, AT("/get/1.pdf")},
	{"download", RECORD "<main><a href=/get/1.pdf>Download</a></main>", NULL, AT("/get/1.pdf")},
	{"size and format", RECORD "<a href=/get/1.pdf>Download PDF (1.2 MB)</a>", NULL,
		AT("/get/1.pdf")},
	{"where it opens", RECORD "<a href=/get/1.pdf>Open the article as PDF in a new window</a>",
		NULL, AT("/get/1.pdf")},
	{"no ending", RECORD "<a href=/get/1>Full text (PDF)</a>", NULL, AT("/get/1")},
	{"a type", RECORD "<a type=application/pdf href=/get/1>Article</a>", NULL, AT("/get/1")},
	{"an image's words", RECORD "<a href=/get/1.pdf><img alt='PDF' src=/p.png></a>", NULL,
		AT("/get/1.pdf")},
	{"an icon with a label", RECORD "<a aria-label='Download PDF' href=/1.pdf><i></i></a>",
		NULL, AT("/1.pdf")},
	{"JSON-LD",
		"<script type=application/ld+json>{\"@type\":\"ScholarlyArticle\"}</script>" H1
		"<a href=/get/1.pdf>PDF</a>",
		NULL, AT("/get/1.pdf")},
	{"Dublin Core", META("DC.Title", "On the drift of small boats") "<a href=/1.pdf>PDF</a>",
		NULL, AT("/1.pdf")},
	{"German", RECORD "<a href=/1.pdf>Volltext (PDF)</a>", NULL, AT("/1.pdf")},
	{"French",
		RECORD "<a href=/1.pdf>T\xc3\xa9l\xc3\xa9"
		       "charger le PDF</a>",
		NULL, AT("/1.pdf")},
	{"Spanish", RECORD "<a href=/1.pdf>Texto completo (PDF)</a>", NULL, AT("/1.pdf")},
	{"Portuguese", RECORD "<a href=/1.pdf>Baixar PDF</a>", NULL, AT("/1.pdf")},
	{"Italian", RECORD "<a href=/1.pdf>Scarica il PDF</a>", NULL, AT("/1.pdf")},
	{"Polish", RECORD "<a href=/1.pdf>Pobierz PDF</a>", NULL, AT("/1.pdf")},
	{"Russian", RECORD "<a href=/1.pdf>Скачать PDF</a>", NULL, AT("/1.pdf")},
	{"Turkish", RECORD "<a href=/1.pdf>PDF indir</a>", NULL, AT("/1.pdf")},
	{"Indonesian", RECORD "<a href=/1.pdf>Unduh PDF</a>", NULL, AT("/1.pdf")},
	{"Chinese", RECORD "<a href=/1.pdf>下载PDF</a>", NULL, AT("/1.pdf")},
	{"Japanese", RECORD "<a href=/1.pdf>本文ダウンロード PDF</a> <a href=/x>x</a>", NULL,
		AT("/1.pdf")},
	{"among others: guide, supplement, cover",
		RECORD "<a href=/guide.pdf>Guide for authors</a><a href=/s1.pdf>Supplement</a>"
		       "<a href=/cover.pdf>Cover</a><a href=/1.pdf>PDF</a>",
		NULL, AT("/1.pdf")},
	{"one link twice, in the menu too",
		RECORD "<nav><a href=/1.pdf>PDF</a></nav><p><a href=/1.pdf#page=1>PDF</a>", NULL,
		AT("/1.pdf")},
	{"files of a repository",
		RECORD "<h4>File allegati a questo prodotto</h4><a href=/1.pdf>PDF</a>", NULL,
		AT("/1.pdf")},
	{"the article beside its cover, and covers are its subject",
		META("citation_title",
			"Cover crops in northern maize fields") "<main><a href=/cover.pdf>Cover (PDF)</a> <a href=/1.pdf>PDF</a></main>",
		NULL, AT("/1.pdf")},
	{"a wrapper's name says nothing",
		"<div class='with nav'>" RECORD "<p><a href=/1.pdf>PDF</a></div>", NULL,
		AT("/1.pdf")},

	/* By identity, on any page. */
	{"title in the file's name", H1 "<a href=/f/On_the_drift_of_small_boats.pdf>here</a>", NULL,
		AT("/f/On_the_drift_of_small_boats.pdf")},
	{"most of the title, escaped", H1 "<a href=/f/Drift%20Small%20Boats%20final.pdf>x</a>",
		NULL, AT("/f/Drift%20Small%20Boats%20final.pdf")},
	{"title as the link's words", H1 "<a href=/f/a1.pdf>On the Drift of Small Boats</a>", NULL,
		AT("/f/a1.pdf")},
	{"title without marks in the name",
		"<h1>Über die Ströme kleiner Bäche</h1><a href=/f/uber-strome-kleiner-bache.pdf>x</a>",
		NULL, AT("/f/uber-strome-kleiner-bache.pdf")},
	{"Chinese title", "<h1>小船漂流的研究</h1><a href=/f/9.pdf>小船漂流的研究</a>", NULL,
		AT("/f/9.pdf")},
	{"DOI in the address",
		META("citation_doi", "10.5555/boats.2019.0001") H1
		"<a href=/pdf/10.5555/boats.2019.0001>PDF</a>",
		NULL, AT("/pdf/10.5555/boats.2019.0001")},
	{"the page's number is the file's", H1 "<a href=/files/20190117.pdf>PDF</a>",
		AT("/article/20190117.html"), AT("/files/20190117.pdf")},
	{"a guide is the title",
		"<h1>A field guide to northern ground beetles</h1>"
		"<a href=/field-guide-northern-ground-beetles.pdf>PDF</a>",
		NULL, AT("/field-guide-northern-ground-beetles.pdf")},
	{"the better of two",
		H1 "<a href=/f/drift-of-small-boats.pdf>PDF</a>"
		   "<a href=/f/wind-tables.pdf>PDF</a>",
		NULL, AT("/f/drift-of-small-boats.pdf")},
	{"an article in a numbered supplement", RECORD "<a href=/jes/3/Supplement_1/7.pdf>PDF</a>",
		NULL, AT("/jes/3/Supplement_1/7.pdf")},
};

static const struct guess_case refused[] = {
	{"no link", RECORD, NULL, NULL},
	{"nothing proves it", H1 "<main><a href=/get/1.pdf>Download PDF</a></main>", NULL, NULL},
	{"words of any kind", RECORD "<a href=/get/1.pdf>Click me now</a>", NULL, NULL},
	{"PDF among other words",
		META("DC.title",
			"The town in figures") "<main><a href=/b.pdf>Budget 2019 (PDF)</a></main>",
		NULL, NULL},
	{"two alike", RECORD "<a href=/1.pdf>PDF</a><a href=/2.pdf>PDF</a>", NULL, NULL},
	{"an issue's contents", RECORD "<a href=/1.pdf>PDF</a>", AT("/issue/12"), NULL},
	{"a search", RECORD "<a href=/1.pdf>PDF</a>", AT("/search?q=boats"), NULL},
	{"a journal's only PDF", "<h1>Journal of Boats</h1><a href=/about.pdf>Download PDF</a>",
		"https://journal.example/", NULL},
	{"a chance number", H1 "<a href=/f/7.pdf>PDF</a>", NULL, NULL},
	{"another file", RECORD "<a href=/1.epub>PDF</a><a href=/1.ris>Download</a>", NULL, NULL},
	{"no address", RECORD "<a href='javascript:get(1)'>PDF</a><a>PDF</a>", NULL, NULL},
	{"the resolver", RECORD "<a href=https://doi.org/10.5555/1.pdf>PDF</a>", NULL, NULL},
	{"itself", RECORD "<a href=" PAGE ">PDF</a>", NULL, NULL},

	/* Words. */
	{"guide for authors", RECORD "<a href=/a.pdf>Guide for authors (PDF)</a>", NULL, NULL},
	{"by the file's name", RECORD "<a href=/GuideForAuthors.pdf>PDF</a>", NULL, NULL},
	{"by the folder", RECORD "<a href=/templates/1.pdf>PDF</a>", NULL, NULL},
	{"by the title of the icon", RECORD "<a href=/1.pdf title='Author guidelines'><i></i></a>",
		NULL, NULL},
	{"instructions", RECORD "<a href=/a.pdf>Instructions to authors PDF</a>", NULL, NULL},
	{"submission form", RECORD "<a href=/a.pdf>Submission form PDF</a>", NULL, NULL},
	{"copyright", RECORD "<a href=/a.pdf>PDF copyright transfer</a>", NULL, NULL},
	{"supplement", RECORD "<a href=/a.pdf>Supplementary PDF</a>", NULL, NULL},
	{"supplement by name", RECORD "<a href=/drift_suppl1.pdf>PDF</a>", NULL, NULL},
	{"supplement of the title's name", H1 "<a href=/drift-small-boats-supplement.pdf>PDF</a>",
		NULL, NULL},
	{"appendix", RECORD "<a href=/a.pdf>Appendix A (PDF)</a>", NULL, NULL},
	{"cover", RECORD "<a href=/a.pdf>Cover PDF</a>", NULL, NULL},
	{"cover letter by name", RECORD "<a href=/CoverLetter.pdf>PDF</a>", NULL, NULL},
	{"a cover in the title",
		META("citation_title",
			"Cover crops in northern maize fields") "<main><a href=/cover.pdf>Cover (PDF)</a></main>",
		NULL, NULL},
	{"contents", RECORD "<a href=/a.pdf>Table of contents (PDF)</a>", NULL, NULL},
	{"full issue", RECORD "<a href=/a.pdf>Full issue PDF</a>", NULL, NULL},
	{"CV", RECORD "<a href=/cv_smith.pdf>PDF</a>", NULL, NULL},
	{"curriculum vitae", RECORD "<a href=/a.pdf>Curriculum vitae (PDF)</a>", NULL, NULL},
	{"licence", RECORD "<a href=/a.pdf>Licence (PDF)</a>", NULL, NULL},
	{"license by name", RECORD "<a href=/license.pdf>Download</a>", NULL, NULL},
	{"abstract", RECORD "<a href=/a.pdf>Abstract (PDF)</a>", NULL, NULL},
	{"figure", RECORD "<a href=/fig3.pdf>PDF</a>", NULL, NULL},
	{"erratum", RECORD "<a href=/a.pdf>Erratum (PDF)</a>", NULL, NULL},
	{"review", RECORD "<a href=/a.pdf>Peer review file (PDF)</a>", NULL, NULL},
	{"slides", H1 "<a href=/drift-small-boats-slides.pdf>PDF</a>", NULL, NULL},
	{"German guide", RECORD "<a href=/a.pdf>Hinweise für Autoren (PDF)</a>", NULL, NULL},
	{"German contents", RECORD "<a href=/Inhaltsverzeichnis.pdf>PDF</a>", NULL, NULL},
	{"German CV", RECORD "<a href=/a.pdf>Lebenslauf (PDF)</a>", NULL, NULL},
	{"French guide", RECORD "<a href=/a.pdf>Consignes aux auteurs (PDF)</a>", NULL, NULL},
	{"French cover", RECORD "<a href=/couverture.pdf>PDF</a>", NULL, NULL},
	{"French contents", RECORD "<a href=/a.pdf>Table des matières (PDF)</a>", NULL, NULL},
	{"Spanish guide", RECORD "<a href=/a.pdf>Guía para autores (PDF)</a>", NULL, NULL},
	{"Spanish cover", RECORD "<a href=/portada.pdf>PDF</a>", NULL, NULL},
	{"Portuguese guide", RECORD "<a href=/a.pdf>Diretrizes para autores (PDF)</a>", NULL, NULL},
	{"Portuguese cover", RECORD "<a href=/capa.pdf>PDF</a>", NULL, NULL},
	{"Italian contents", RECORD "<a href=/a.pdf>Indice (PDF)</a>", NULL, NULL},
	{"Italian annex", RECORD "<a href=/a.pdf>Allegato 1 (PDF)</a>", NULL, NULL},
	{"Dutch annex", RECORD "<a href=/a.pdf>Bijlage 2 (PDF)</a>", NULL, NULL},
	{"Swedish annex", RECORD "<a href=/a.pdf>Bilaga 1 (PDF)</a>", NULL, NULL},
	{"Polish contents", RECORD "<a href=/a.pdf>Spis treści (PDF)</a>", NULL, NULL},
	{"Polish annex", RECORD "<a href=/a.pdf>Załącznik (PDF)</a>", NULL, NULL},
	{"Turkish guide", RECORD "<a href=/a.pdf>Yazım Kuralları (PDF)</a>", NULL, NULL},
	{"Indonesian guide", RECORD "<a href=/a.pdf>Panduan penulis (PDF)</a>", NULL, NULL},
	{"Russian guide", RECORD "<a href=/a.pdf>Правила для авторов (PDF)</a>", NULL, NULL},
	{"Russian contents", RECORD "<a href=/a.pdf>Содержание (PDF)</a>", NULL, NULL},
	{"Russian cover", RECORD "<a href=/a.pdf>Обложка PDF</a>", NULL, NULL},
	{"Arabic guide", RECORD "<a href=/a.pdf>دليل المؤلفين PDF</a>", NULL, NULL},
	{"Chinese guide", RECORD "<a href=/a.pdf>投稿须知PDF</a>", NULL, NULL},
	{"Chinese cover", RECORD "<a href=/a.pdf>封面 PDF</a>", NULL, NULL},
	{"Japanese contents", RECORD "<a href=/a.pdf>目次 (PDF)</a>", NULL, NULL},
	{"Korean guide", RECORD "<a href=/a.pdf>투고 규정 (PDF)</a>", NULL, NULL},
	{"one name is enough", RECORD "<a href=/a.pdf>PDF</a><a href=/a.pdf>Author guidelines</a>",
		NULL, NULL},
	{"under references", RECORD "<h2>References</h2><ol><li>Tides. <a href=/1.pdf>PDF</a></ol>",
		NULL, NULL},
	{"under related articles", RECORD "<h3>You may also like</h3><p><a href=/1.pdf>PDF</a>",
		NULL, NULL},
	{"under related articles in Spanish",
		RECORD "<h3>Art\xc3\xad\x63ulos relacionados</h3><p><a href=/1.pdf>PDF</a>", NULL,
		NULL},
	{"under related articles in Chinese",
		RECORD
		"<h3>\xe7\x9b\xb8\xe5\x85\xb3\xe6\x96\x87\xe7\xab\xa0</h3><p><a href=/1.pdf>PDF</a>",
		NULL, NULL},
	{"the next number of the folder", RECORD "<a href=/article/8.pdf>PDF</a>", NULL, NULL},
	{"another DOI", RECORD "<a href=/pdf/10.5555/boats.2019.0002>PDF</a>", NULL, NULL},
	{"under a heading", RECORD "<h3>Supplementary material</h3><p>x<p><a href=/1.pdf>PDF</a>",
		NULL, NULL},
	{"under a heading for authors", RECORD "<h4>For authors</h4><ul><li><a href=/1.pdf>PDF</a>",
		NULL, NULL},

	/* Places. */
	{"navigation", RECORD "<nav><a href=/1.pdf>PDF</a></nav>", NULL, NULL},
	{"a menu by its class", RECORD "<ul class=main-menu><li><a href=/1.pdf>PDF</a></ul>", NULL,
		NULL},
	{"a role", RECORD "<div role=navigation><a href=/1.pdf>PDF</a></div>", NULL, NULL},
	{"footer", RECORD "<footer><p><a href=/1.pdf>PDF</a></footer>", NULL, NULL},
	{"a footer by its id", RECORD "<div id=pageFooter><a href=/1.pdf>PDF</a></div>", NULL,
		NULL},
	{"references", RECORD "<ol class=references><li><a href=/1.pdf>PDF</a></ol>", NULL, NULL},
	{"related articles", RECORD "<div class=related-articles><a href=/1.pdf>PDF</a></div>",
		NULL, NULL},
	{"supplements by class", RECORD "<a class='galley supplementary' href=/1.pdf>PDF</a>", NULL,
		NULL},
	{"the site's header",
		META("citation_title", "Drift") "<header><a href=/1.pdf>Download</a></header>",
		NULL, NULL},
};

static struct ing_link guess(const struct guess_case *c)
{
	const char *url = c->url != NULL ? c->url : PAGE;
	return ing_links_guess(view_helper_read(&helper, c->page, strlen(c->page), url));
}

static void takes_the_document(void **state)
{
	(void)state;
	unsigned wrong = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(taken); i++) {
		struct ing_link got = guess(&taken[i]);
		if (got.url == NULL || strcmp(got.url, taken[i].want) != 0) {
			print_error("%s: %s\n", taken[i].name, got.url != NULL ? got.url : "none");
			wrong++;
			continue;
		}
		assert_string_equal(got.technique, "guess");
		assert_int_equal(got.rule, UINT32_MAX);
		assert_false(got.self);
	}
	assert_int_equal(wrong, 0);
}

static void takes_nothing_else(void **state)
{
	(void)state;
	unsigned wrong = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(refused); i++) {
		struct ing_link got = guess(&refused[i]);
		if (got.url != NULL) {
			print_error("%s: %s\n", refused[i].name, got.url);
			wrong++;
		}
	}
	assert_int_equal(wrong, 0);
}

/* The same pages in which the other link would be right without its words, its place or its
 * heading: what the cases above refuse, they refuse for that alone. */
static void a_refused_link_is_not_refused_for_another_reason(void **state)
{
	static const struct guess_case plain[] = {
		{"words", RECORD "<a href=/a.pdf>PDF</a>", NULL, AT("/a.pdf")},
		{"heading", RECORD "<h3>Material</h3><p>x<p><a href=/1.pdf>PDF</a>", NULL,
			AT("/1.pdf")},
		{"place", RECORD "<div><a href=/1.pdf>PDF</a></div>", NULL, AT("/1.pdf")},
		{"list", RECORD "<ol class=files><li><a href=/1.pdf>PDF</a></ol>", NULL,
			AT("/1.pdf")},
		{"class", RECORD "<a class=galley href=/1.pdf>PDF</a>", NULL, AT("/1.pdf")},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(plain); i++) {
		print_message("%s\n", plain[i].name);
		struct ing_link got = guess(&plain[i]);
		assert_non_null(got.url);
		assert_string_equal(got.url, plain[i].want);
	}
}

static void none_of_very_many(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, (size_t)8 << 20);
	ing_buf_add_str(&page, RECORD "<a href=/drift-of-small-boats.pdf>PDF</a>");
	for (unsigned i = 0; i < 50000; i++)
		ing_buf_printf(&page, "<a href=/%u.pdf>%u</a>", i, i);
	const struct ing_view *v = view_helper_read(&helper, ing_buf_str(&page), page.len, PAGE);
	assert_null(ing_links_guess(v).url);
	ing_buf_done(&page);
}

/* Elements of SVG hold one another, so that each has the text of all that follow. */
static void a_page_of_nested_links_is_judged_within_bounds(void **state)
{
	(void)state;
	struct ing_buf page;
	ing_buf_init(&page, (size_t)8 << 20);
	ing_buf_add_str(&page, RECORD "<a href=/1.pdf>PDF</a><svg>");
	for (unsigned i = 0; i < 2500; i++)
		ing_buf_add_str(&page, "<a href=/x>");
	for (unsigned i = 0; i < 400000; i++)
		ing_buf_add_str(&page, "words ");
	const struct ing_view *v = view_helper_read(&helper, ing_buf_str(&page), page.len, PAGE);
	assert_string_equal(ing_links_guess(v).url, AT("/1.pdf"));
	assert_true(helper.arena.used_bytes < ((size_t)32 << 20));
	ing_buf_done(&page);
}

static void words_are_folded(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", " "},
		{" - ", " "},
		{"Guide for Authors", " guide for authors "},
		{"GuideForAuthors", " guide for authors "},
		{"drift_suppl1", " drift suppl 1 "},
		{"Änderung ß", " anderung ß "},
		{"De\xcc\x81"
		 "ja",
			" deja "},
		{"下载PDF", " 下载 pdf "},
		{"PDF", " pdf "},
		{"a\xff"
		 "b",
			" a b "},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_buf out;
		ing_buf_init(&out, 1000);
		ing_link_words_fold(cases[i].text, strlen(cases[i].text), &out);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
	}
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_document),
		cmocka_unit_test(takes_nothing_else),
		cmocka_unit_test(a_refused_link_is_not_refused_for_another_reason),
		cmocka_unit_test(none_of_very_many),
		cmocka_unit_test(a_page_of_nested_links_is_judged_within_bounds),
		cmocka_unit_test(words_are_folded),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
