/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is main text, an idea a table: names of elements, the container, title, links, captions,
 * phrases, lead and tail, scholarly pages, languages; rules' choices; pages of any shape.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/markup/html.h"
#include "worker/document/text/main_text.h"
#include "worker/document/text/plain.h"

static struct ing_html *html;
static struct ing_tree *tree;
static struct ing_main_text *main_text;
static struct ing_buf text;

static int set_up(void **state)
{
	(void)state;
	html = ing_html_new();
	tree = ing_tree_new();
	main_text = ing_main_text_new();
	ing_buf_init(&text, (size_t)64 << 20);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ing_buf_done(&text);
	ing_main_text_free(main_text);
	ing_tree_free(tree);
	ing_html_free(html);
	return 0;
}

static void parse(const char *page, size_t bytes)
{
	static const struct ing_html_limits limits = {.open_elements = 512,
		.tag_attributes = 256,
		.names = 10000,
		.tree_bytes = (size_t)1 << 30,
		.cpu_ms = 60000};
	ing_html_parse(html, page, bytes, "text/html; charset=utf-8", &limits);
	ing_html_fill(html, tree);
}

static const char *read_page(
	const char *page, size_t bytes, const struct ing_main_text_hints *hints)
{
	parse(page, bytes);
	ing_main_text_select(main_text, tree, hints);
	ing_buf_clear(&text);
	ing_main_text_plain(main_text, tree, &text);
	return ing_buf_str(&text);
}

/* Paragraphs of an article. */
#define ONE                                                                                        \
	"The river rose through the night, and by the morning its water stood in the lower "       \
	"streets of the town, where nobody had seen it for thirty years."
#define TWO                                                                                        \
	"Boats were brought from the lake, and those who lived near the bridge were asked to "     \
	"leave their houses before the evening, which most of them did."
#define THREE                                                                                      \
	"By the weekend, engineers said, the dam upstream will have been lowered by a metre; "     \
	"until then the schools stay closed and trains go round the valley."
#define P(x) "<p>" x "</p>"
#define LINE(x) x "\n"
#define ARTICLE LINE(ONE) LINE(TWO) LINE(THREE)

struct page {
	const char *name, *html, *want;
};

static void check(const struct page *pages, size_t count)
{
	unsigned wrong = 0;
	for (size_t i = 0; i < count; i++) {
		const char *got = read_page(pages[i].html, strlen(pages[i].html), NULL);
		if (strcmp(got, pages[i].want) == 0)
			continue;
		print_error(
			"%s:\n  got  \"%s\"\n  want \"%s\"\n", pages[i].name, got, pages[i].want);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

#define CHECK(...)                                                                                 \
	do {                                                                                       \
		static const struct page pages[] = {__VA_ARGS__};                                  \
		check(pages, sizeof(pages) / sizeof(pages[0]));                                    \
	} while (0)

/* An article with something else beside it. */
#define BESIDE(x) "<div>" P(ONE) P(TWO) P(THREE) x "</div>", ARTICLE

static void boilerplate_is_dropped_by_its_names(void **state)
{
	(void)state;
	CHECK({"element", BESIDE("<nav><p>Reading about rivers is easy with us, they say.</nav>")},
		{"role", BESIDE("<div role=complementary>" P(
				 "Reading is easy with us, they say.") "</div>")},
		{"class", BESIDE("<div class='x post-comments'>" P(
				  "I was there; it was worse, they say.") "</div>")},
		{"id", BESIDE("<div id=relatedPosts>" P(
			       "Reading is easy with us, they say to all.") "</div>")},
		{"style", BESIDE("<div style='color:red; DISPLAY : none'>" P(
				  "Hidden is this sentence from all of you.") "</div>")},
		{"hidden", BESIDE("<div hidden>" P(
				   "Hidden is this sentence from all of you.") "</div>")},
		{"aria-hidden", BESIDE("<div aria-hidden=true>" P(
					"Hidden is this sentence from all of you.") "</div>")},
		{"within a line",
			"<div><p>" ONE "<span class=credit> dpa</span></p>" P(TWO)
				P(THREE) "</div>",
			ARTICLE},
		{"script and button",
			BESIDE("<script>var x = 1</script><button>Buy</button><select><option>a</select>")});
}

static void names_that_mislead_drop_nothing(void **state)
{
	(void)state;
	CHECK({"of most of the page",
		      "<div class=sidebar-content><h1>x</h1>" P(ONE) P(TWO) P(THREE) "</div>",
		      ARTICLE},
		{"has", "<div class=has-sidebar>" P(ONE) P(TWO) "</div>" P(THREE), ARTICLE},
		{"layout", "<div class=sidebar-layout>" P(ONE) P(TWO) "</div>" P(THREE), ARTICLE},
		{"body", "<body class='modal comments'>" P(ONE) P(TWO) P(THREE), ARTICLE},
		{"utility class",
			P(ONE) "<div class='md:hidden Mend(30px)--modalWidth'>" P(TWO) "</div>" P(
				THREE),
			ARTICLE},
		{"modifier", P(ONE) "<div class=section--ads>" P(TWO) "</div>" P(THREE), ARTICLE},
		{"anchor",
			P(ONE) "<div id=sharing-with-a-single-developer>" P(TWO) "</div>" P(THREE),
			ARTICLE},
		{"hidden until a script runs",
			"<div style='display:none'>" P(ONE) P(TWO) P(THREE) "</div>", ARTICLE},
		{"an open span at the beginning",
			"<p><span class=dateline>Town</span> " ONE "<p>" TWO "<p>" THREE,
			LINE("Town " ONE) LINE(TWO) LINE(THREE)},
		{"formula",
			P(ONE) "<p>" TWO
			       " <span class='MathJax CtxtMenu_Attached_0'><math><mi>x</mi></math></span></p>",
			LINE(ONE) LINE(TWO " x")});
}

#define LONG ONE " " TWO " " THREE " " ONE " " TWO " " THREE
#define TEASER(x)                                                                                  \
	"<li><h3><a href=/" x ">Another story " x "</a></h3><p>" x " is another story, which has " \
	"happened elsewhere and on another day, with a text of its own.</p></li>"

static void the_container_has_the_sentences(void **state)
{
	(void)state;
	CHECK({"beside links",
		      "<div><a href=/a>Home of all the news</a> <a href=/b>Weather of today</a></div>"
		      "<div>" P(ONE) P(TWO) P(
			      THREE) "</div>"
				     "<div><a href=/c>Terms of the publisher</a> <a href=/d>Privacy of readers</a></div>",
		      ARTICLE},
		{"teasers",
			"<div>" P(ONE) P(TWO) P(THREE) P(LONG) "</div><ul>" TEASER("a") TEASER("b")
				TEASER("c") TEASER("d") TEASER("e") "</ul>",
			ARTICLE LINE(LONG)},
		{"by name",
			"<div><div>" P(
				"Something longer, which is not the article, stands before it here, and "
				"says nothing of the river.") "</div>"
							      "<div itemprop=articleBody>" P(ONE) P(
								      TWO) P(THREE) "</div></div>",
			ARTICLE},
		{"in two parts",
			"<main><div class=story-body-1>" P(ONE) "</div><div>Continue</div>"
								"<div class=story-body-2>" P(TWO)
									P(THREE) "</div></main>",
			LINE(ONE) LINE("Continue") LINE(TWO) LINE(THREE)},
		{"headline apart",
			"<title>River in the town</title><header><h1>River in the town</h1></header><div class=entry-content><p>A short text it is, "
			"which says little of the river.</p><ul><li><a href=/a>A story of the lake and its dam</a><li><a href=/b>A story of the dam and its lake</a>"
			"<li><a href=/c>A story of the boats at the bridge</a></ul></div>",
			LINE("A short text it is, which says little of the river.")},
		{"articles one after the other",
			"<title>River in the town</title><main><article><h1>River in the town</h1>" P(
				LONG) P(LONG) "</article>"
					      "<article><h1>Another thing</h1>" P(LONG)
						      P(ONE) "</article></main>",
			LINE(LONG) LINE(LONG)},
		{"articles as sections",
			"<title>River in the town</title><main><article><h1>River in the town</h1>" P(
				LONG) P(LONG) "</article>"
					      "<article>" P(LONG) P(ONE) "</article></main>",
			LINE(LONG) LINE(LONG) LINE(LONG) LINE(ONE)},
		{"no block element", "<html><body>" ONE "<br><br>" TWO "<br>" THREE,
			LINE(ONE) LINE(TWO) LINE(THREE)},
		{"all tables",
			"<table><tr><td><table><tr><td><a href=/a>Home</a><td><a href=/b>News</a></table>"
			"<tr><td>" ONE "<br><br>" TWO "<tr><td>" THREE "</table>",
			ARTICLE},
		{"a few words", "<title>Title</title><p>abc</p><p>def</p>", "abc\ndef\n"},
		{"a link", "<p><a href=/x>abc</a>", "abc\n"}, {"nothing", "<p> </p>", ""});
}

static void title_and_lead(void **state)
{
	(void)state;
	CHECK({"title",
		      "<title>River in the town - News</title><div><h1>River in the town</h1>" P(
			      ONE) P(TWO) "</div>",
		      LINE(ONE) LINE(TWO)},
		{"a heading that links to itself",
			"<div>" P(ONE) "<h2><a href='#next'>What comes next</a></h2><p>A dam.</p>" P(
				TWO) "</div>",
			LINE(ONE) LINE("What comes next") LINE("A dam.") LINE(TWO)},
		{"another heading",
			"<title>News</title><div>" P(ONE) "<h2>What comes next</h2>" P(
				TWO) "</div>",
			LINE(ONE) LINE("What comes next") LINE(TWO)},
		{"byline and date",
			"<div><h1>River</h1><p>Jane Doe</p><p>12 March 2020, 10:15</p>" P(ONE)
				P(TWO) "</div>",
			LINE(ONE) LINE(TWO)},
		{"lead outside",
			"<title>River in the town</title><header><h1>River in the town</h1><p>The water is where "
			"nobody has seen it for thirty years.</p></header><article class=post-content>" P(
				ONE) P(TWO) "</article>",
			LINE("The water is where nobody has seen it for thirty years.") LINE(ONE)
				LINE(TWO)});
}

static void links_and_lists(void **state)
{
	(void)state;
	CHECK({"links", BESIDE("<p><a href=/a>Read our story about the lake</a></p>")},
		{"a link in a sentence", P(ONE) "<p>" TWO " <a href=/a>More about it</a>.</p>",
			LINE(ONE) LINE(TWO " More about it.")},
		{"a list of links",
			"<div>" P(ONE) P(TWO) P(
				THREE) "<ul><li><a href=/a>A story of the lake</a><li><a href=/b>A story of the dam</a></ul></div>",
			ARTICLE},
		{"a link in a list of words",
			"<div>" P(ONE) "<ul><li><a href=/a>Sugar</a><li>flour and salt<li>two eggs</ul>" P(
				TWO) "</div>",
			LINE(ONE) LINE("Sugar") LINE("flour and salt") LINE("two eggs") LINE(TWO)},
		{"table",
			"<div>" P(ONE) "<table><tr><th>Year<th>Metres<tr><td>1990<td>4.2</table>" P(
				TWO) "</div>",
			LINE(ONE) LINE("Year\tMetres") LINE("1990\t4.2") LINE(TWO)},
		{"code", "<div>" P(ONE) "<pre>a = 1\n  b = 2\n</pre>" P(TWO) "</div>",
			LINE(ONE) LINE("a = 1\n  b = 2") LINE(TWO)});
}

static void captions(void **state)
{
	(void)state;
	CHECK({"of a picture",
		      "<div>" P(ONE) "<figure><img src=a><figcaption>The bridge on Friday. Photo: J. Doe</figcaption></figure>" P(
			      TWO) "</div>",
		      LINE(ONE) LINE(TWO)},
		{"of a figure",
			"<div>" P(ONE) "<figure><img src=a><figcaption>Fig. 2. Level of the river.</figcaption></figure>" P(
				TWO) "</div>",
			LINE(ONE) LINE("Fig. 2. Level of the river.") LINE(TWO)},
		{"above the text",
			"<title>River in the town</title><header><h1>River in the town</h1><figure><figcaption>The bridge over the river is closed since Friday.</figcaption></figure></header><article class=post-content>" P(
				ONE) P(TWO) "</article>",
			LINE(ONE) LINE(TWO)},
		{"of a figure in Chinese",
			"<div>" P(ONE) "<figure><img src=a><figcaption>\xe8\xa1\xa8"
				       "1 x</figcaption></figure>" P(TWO) "</div>",
			LINE(ONE) LINE("\xe8\xa1\xa8"
				       "1 x") LINE(TWO)});
}

static void what_follows_an_article(void **state)
{
	(void)state;
	CHECK({"recommendations", BESIDE("<h3>Related articles</h3>" P(
					  "The lake has been full for a week, they say."))},
		{"in German", BESIDE("<h3>Das k\xc3\xb6nnte Sie auch interessieren</h3>" P(
				      "Der See ist seit einer Woche voll, sagen sie."))},
		{"in Chinese", BESIDE("<p>\xe7\x9b\xb8\xe5\x85\xb3\xe9\x98\x85\xe8\xaf\xbb</p>" P(
				       "The lake has been full for a week, they say."))},
		{"in Arabic",
			BESIDE("<p>\xd8\xa7\xd9\x82\xd8\xb1\xd8\xa3 \xd8\xa3\xd9\x8a\xd8\xb6\xd8\xa7</p>" P(
				"The lake has been full for a week, they say."))},
		{"in a cell",
			"<div>" P(
				ONE) "<table><tr><td>Comments<td>3<tr><td>Pages<td>4</table></div>",
			LINE(ONE) LINE("3") LINE("Pages\t4")},
		{"before most of it",
			"<div>" P(ONE) "<h3>Related work</h3>" P(TWO) P(THREE) "</div>", ARTICLE},
		{"share bar", BESIDE("<p>Share</p>")},
		{"networks",
			BESIDE("<p>Our newspaper is on Facebook, Twitter and Instagram every day.</p>")},
		{"one network is text",
			BESIDE("<p>The first pictures were seen on Facebook before the evening.</p>")
				LINE("The first pictures were seen on Facebook before the evening.")},
		{"closing", BESIDE("<p>Follow us on all the networks that there are today.</p>")},
		{"lines", BESIDE("<p>Jane Doe</p><p>14:30</p>")},
		{"a heading of nothing", BESIDE("<h2>Gallery</h2>")},
		{"a heading of links",
			"<div>" P(ONE) "<h2>Elsewhere</h2><p><a href=/a>A story of the lake</a><p><a href=/b>A story of the dam</a>" P(
				TWO) "</div>",
			LINE(ONE) LINE(TWO)});
}

#define REFERENCE_TEXT                                                                             \
	"Doe J. Rivers and lakes of the north, their floods and what they cost. Water 1:2, 2001."
#define REFERENCE "<li>" REFERENCE_TEXT

static void scholarly_pages_keep_sections_and_lose_references(void **state)
{
	(void)state;
	CHECK({"article",
		      "<head><title>Floods of rivers | Journal</title><meta name=citation_title content='Floods of rivers'></head><body>"
		      "<div id=cookie-banner><p>We use cookies, and ask you to agree with that.</p></div>"
		      "<nav><a href=/>Journal</a></nav><article><h1>Floods of rivers</h1><ul class=author-list><li>J. Doe<li>A. Roe</ul>"
		      "<section><h2>Abstract</h2>" P(
			      ONE) "</section>"
				   "<section><h2>1. Results</h2>" P(
					   TWO) "<figure><img src=1><figcaption><b>Figure 1.</b> Level of the river, by day.</figcaption></figure>"
						"<table><caption>Table 1: Levels</caption><tr><td>May<td>3</table></section>"
						"<section><h2>References</h2><ol><li>Doe J. Rivers and lakes of the north, their floods and what they cost. J Water 1:2, 2001."
						"<li>Roe A. Dams of the south, their builders and those who paid for them. J Water 2:3, 2002.</ol></section>"
						"<section><h2>Acknowledgements</h2>" P(
							THREE) "</section></article>",
		      LINE("Abstract") LINE(ONE) LINE("1. Results") LINE(TWO)
			      LINE("Figure 1. Level of the river, by day.") LINE("Table 1: Levels")
				      LINE("May\t3") LINE("Acknowledgements") LINE(THREE)},
		{"landing page",
			"<div><h1>Floods</h1><div class='abstract author'><h2>Abstract</h2>" P(
				ONE) P(TWO) P(THREE)
				P(LONG) "</div>"
					"<div><h2>References</h2><ol>" REFERENCE REFERENCE REFERENCE
						REFERENCE REFERENCE REFERENCE REFERENCE REFERENCE
							REFERENCE REFERENCE REFERENCE REFERENCE
								REFERENCE
					"</ol></div></div><div><h3>Funding</h3></div>",
			LINE("Abstract") ARTICLE LINE(LONG)},
		{"a section on related work",
			"<div>" P(ONE) "<h2>Related work</h2>" P(LONG) "<h2>Results</h2>" P(
				TWO) "</div>",
			LINE(ONE) LINE("Related work") LINE(LONG) LINE("Results") LINE(TWO)},
		{"a page about its references",
			"<h1>Reading list</h1><h2>References</h2><ol>" REFERENCE REFERENCE "</ol>",
			LINE("References") LINE(REFERENCE_TEXT) LINE(REFERENCE_TEXT)},
		{"references by name",
			"<div>" P(ONE) P(TWO) P(
				THREE) "<div id=references><ol><li>Doe J. Rivers and lakes of the north.</ol></div></div>",
			ARTICLE});
}

static void other_scripts(void **state)
{
	(void)state;
	CHECK({"Hebrew",
		      "<html dir=rtl><div><a href=/>\xd7\x91\xd7\x99\xd7\xaa</a></div><div><p>\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d, \xd7\xa2\xd7\x95\xd7\x9c\xd7\x9d: "
		      "\xd7\x96\xd7\x94 \xd7\x98\xd7\xa7\xd7\xa1\xd7\x98 \xd7\x90\xd7\xa8\xd7\x95\xd7\x9a \xd7\xa9\xd7\x9c \xd7\x9e\xd7\x90\xd7\x9e\xd7\xa8 \xd7\x90\xd7\x97\xd7\x93.</p></div>",
		      "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d, \xd7\xa2\xd7\x95\xd7\x9c\xd7\x9d: \xd7\x96\xd7\x94 \xd7\x98\xd7\xa7\xd7\xa1\xd7\x98 "
		      "\xd7\x90\xd7\xa8\xd7\x95\xd7\x9a \xd7\xa9\xd7\x9c \xd7\x9e\xd7\x90\xd7\x9e\xd7\xa8 \xd7\x90\xd7\x97\xd7\x93.\n"},
		{"Japanese",
			"<div><a href=/>\xe5\xae\xb6</a></div><div><p>\xe5\xb7\x9d\xe3\x81\xaf\xe5\xa4\x9c\xe3\x81\xae\xe3\x81\x86\xe3\x81\xa1\xe3\x81\xab\xe5\xa2\x97\xe6\xb0\xb4\xe3\x81\x97\xe3\x81\x9f\xe3\x80\x82</p></div>",
			"\xe5\xb7\x9d\xe3\x81\xaf\xe5\xa4\x9c\xe3\x81\xae\xe3\x81\x86\xe3\x81\xa1\xe3\x81\xab\xe5\xa2\x97\xe6\xb0\xb4\xe3\x81\x97\xe3\x81\x9f\xe3\x80\x82\n"});
}

static void plain_text_folds_and_divides(void **state)
{
	(void)state;
	CHECK({"white space", "<p>a\n\t b\xc2\xa0 c", "a b c\n"},
		{"inline markup", "<p>H<sub>2</sub>O<b>x</b>", "H2Ox\n"},
		{"break", "<p>a<br>b", "a\nb\n"},
		{"soft hyphen",
			"<p>a\xc2\xad"
			"b",
			"ab\n"},
		{"zero width space",
			"<p>a\xe2\x80\x8b"
			"b",
			"ab\n"});
}

static void what_a_rule_selects_wins(void **state)
{
	static const char page[] = "<div>" P(ONE) P(TWO)
		P(THREE) "</div><div class=comments id=x>Short <script>no</script>"
			 "<a href=/a>link</a></div><p id=y>Last";
	(void)state;
	parse(page, sizeof(page) - 1);
	ing_node div = ing_tree_next_named(tree, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "div");
	div = ing_tree_next_named(tree, div, ING_NODE_DOCUMENT, "div");
	ing_node chosen[] = {div, ING_NODE_NONE};
	for (ing_node n = div; n != ING_NODE_NONE;
		n = ing_tree_next_named(tree, n, ING_NODE_DOCUMENT, "p"))
		chosen[1] = n;
	struct ing_main_text_hints hints = {.chosen = chosen, .chosen_count = 2};
	assert_string_equal(read_page(page, sizeof(page) - 1, &hints), "Short link\nLast\n");
	hints.chosen_count = 0;
	assert_string_equal(read_page(page, sizeof(page) - 1, &hints), ARTICLE);
	assert_string_equal(ing_tree_name(tree, ing_main_text_top(main_text)), "div");
}

static void references_in_what_a_rule_selects_are_left_out(void **state)
{
	static const char page[] =
		"<div><h2>Results</h2><p>Short.</p><div class=share>Share it</div>" P(ONE) P(TWO)
			P(THREE) "<h2>References</h2><ol>" REFERENCE REFERENCE
				 "</ol></div><p>Outside";
	(void)state;
	parse(page, sizeof(page) - 1);
	ing_node div = ing_tree_next_named(tree, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "div");
	const struct ing_main_text_hints hints = {.chosen = &div, .chosen_count = 1};
	assert_string_equal(
		read_page(page, sizeof(page) - 1, &hints), LINE("Results") LINE("Short.") ARTICLE);
}

/* `count` times open, text, close. */
static void check_shape(const char *open, const char *inner, const char *close, size_t count)
{
	struct ing_buf page;
	ing_buf_init(&page, (size_t)64 << 20);
	for (size_t i = 0; i < count; i++) {
		ing_buf_add_str(&page, open);
		ing_buf_add_str(&page, inner);
	}
	for (size_t i = 0; i < count; i++)
		ing_buf_add_str(&page, close);
	read_page(ing_buf_str(&page), page.len, NULL);
	ing_node top = ing_main_text_top(main_text);
	for (ing_node n = 0; n < tree->count; n++) {
		if (ing_main_text_keeps(main_text, n))
			assert_true(top != ING_NODE_NONE && ing_tree_contains(tree, top, n));
	}
	ing_buf_done(&page);
}

static void pages_of_any_shape_are_read(void **state)
{
	(void)state;
	check_shape("<div class=comments>", "x ", "</div>", 600);
	check_shape("<p>", "Short one.", "", 200000);
	check_shape("<h2>", "Title of it</h2>", "", 200000);
	check_shape("<ul><li>", "<a href=x>y</a>", "", 100000);
	check_shape("<b>", "x", "", 100000);
	check_shape("<br>", "x", "", 200000);
	check_shape("<table><tr><td>", "x", "", 20000);
	assert_string_equal(read_page("<p>small again", 14, NULL), "small again\n");
}

/* A description with an articleBody. */
#define LD(type, body)                                                                             \
	"<script type='application/ld+json'>{\"@type\": \"" type "\", \"articleBody\": \"" body    \
	"\"}</script>"
#define ALL ONE " " TWO " " THREE
#define SHOWN P(ONE) "<div class=comments>" P(TWO) "</div>" P(THREE)
#define FOUR                                                                                       \
	"Farmers of the plain below have moved their cattle to the hills, as their fathers did; "  \
	"the harvest of this year is lost, and that of the next one may be, says the head of "     \
	"their union, who has seen such water once before in all of his life."
#define LONG_BODY ONE "\\n" TWO "\\r\\n" THREE "<p class=x>" FOUR "</p>"
#define HIDDEN LINE(ONE) LINE(TWO) LINE(THREE) LINE(FOUR)
#define OPEN P(ONE)

static void the_stated_text_decides_where_the_page_has_it(void **state)
{
	(void)state;
	CHECK({"a paragraph with a bad name", LD("NewsArticle", ALL) "<div>" SHOWN "</div>",
		      ARTICLE},
		{"none without it", "<div>" SHOWN "</div>", LINE(ONE) LINE(THREE)},
		{"of another type", LD("Product", ALL) "<div>" SHOWN "</div>",
			LINE(ONE) LINE(THREE)},
		{"too short to say anything", LD("Article", TWO) "<div>" SHOWN "</div>",
			LINE(ONE) LINE(THREE)},
		{"what is behind its end",
			LD("ScholarlyArticle", ALL) "<div>" P(ONE) P(TWO) P(THREE) P(FOUR) "</div>",
			ARTICLE},
		{"but not behind the end of a beginning",
			LD("Article", ONE " " TWO " By the weekend engineers") "<div>" P(ONE) P(TWO)
				P(THREE) P(FOUR) "</div>",
			HIDDEN},
		{"a twin stays out",
			LD("Article", ALL) "<div>" P(ONE) P(TWO)
				P(THREE) "<div class=comments>" P(TWO) "</div></div>",
			ARTICLE});
}

static void the_stated_text_takes_the_place_of_one_that_is_not_there(void **state)
{
	(void)state;
	CHECK({"lines and tags", LD("BlogPosting", LONG_BODY) OPEN, HIDDEN},
		{"no page", LD("Article", LONG_BODY), HIDDEN},
		{"in a graph of lists",
			"<script type='application/ld+json; charset=utf-8'>[{\"@graph\": [1, {\"@type\": "
			"[\"Thing\", \"http://schema.org/Article\"], \"articleBody\": \"" LONG_BODY
			"\"}]}]</script>" OPEN,
			HIDDEN},
		{"broken JSON", LD("Article", LONG_BODY "\"") OPEN, LINE(ONE)},
		{"of two", LD("Article", LONG_BODY) LD("Article", "x" LONG_BODY) OPEN, LINE(ONE)},
		{"twice the same", LD("Article", LONG_BODY) LD("Article", LONG_BODY) OPEN, HIDDEN},
		{"short", LD("Article", ONE " " TWO) P(FOUR), LINE(FOUR)});
	read_page(LD("Article", LONG_BODY), strlen(LD("Article", LONG_BODY)), NULL);
	size_t bytes = 0;
	assert_non_null(ing_main_text_article(main_text, &bytes));
	assert_int_equal(bytes, strlen(HIDDEN));
	read_page(OPEN, strlen(OPEN), NULL);
	assert_null(ing_main_text_article(main_text, &bytes));
}

static void descriptions_of_any_size_are_read_or_refused(void **state)
{
	(void)state;
	static const struct {
		const char *part;
		size_t times;
	} cases[] = {{"Word by word goes it on. ", 30}, /* the same groups again and again */
		{"<", 900000}, {"a ", 600000}, {"&lt;b&gt;", 100000}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ing_buf page;
		size_t bytes;
		ing_buf_init(&page, (size_t)8 << 20);
		ing_buf_add_str(&page, "<script type='application/ld+json'>{\"@type\":\"Article\","
				       "\"articleBody\":\"");
		for (size_t k = 0; k < cases[i].times; k++)
			ing_buf_add_str(&page, cases[i].part);
		ing_buf_add_str(&page, "\"}</script>" P(ONE));
		assert_string_equal(read_page(page.data, page.len, NULL), LINE(ONE));
		assert_null(ing_main_text_article(main_text, &bytes));
		ing_buf_done(&page);
	}
	struct ing_buf deep;
	ing_buf_init(&deep, (size_t)8 << 20);
	ing_buf_add_str(&deep, "<script type='application/ld+json'>");
	for (int k = 0; k < 100; k++)
		ing_buf_add_str(&deep, "[");
	ing_buf_add_str(&deep, "{\"@type\":\"Article\",\"articleBody\":\"" LONG_BODY "\"}");
	for (int k = 0; k < 100; k++)
		ing_buf_add_str(&deep, "]");
	ing_buf_add_str(&deep, "</script>" P(ONE));
	assert_string_equal(read_page(deep.data, deep.len, NULL), LINE(ONE));
	ing_buf_done(&deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boilerplate_is_dropped_by_its_names),
		cmocka_unit_test(names_that_mislead_drop_nothing),
		cmocka_unit_test(the_container_has_the_sentences),
		cmocka_unit_test(title_and_lead),
		cmocka_unit_test(links_and_lists),
		cmocka_unit_test(captions),
		cmocka_unit_test(what_follows_an_article),
		cmocka_unit_test(scholarly_pages_keep_sections_and_lose_references),
		cmocka_unit_test(other_scripts),
		cmocka_unit_test(plain_text_folds_and_divides),
		cmocka_unit_test(what_a_rule_selects_wins),
		cmocka_unit_test(references_in_what_a_rule_selects_are_left_out),
		cmocka_unit_test(pages_of_any_shape_are_read),
		cmocka_unit_test(the_stated_text_decides_where_the_page_has_it),
		cmocka_unit_test(the_stated_text_takes_the_place_of_one_that_is_not_there),
		cmocka_unit_test(descriptions_of_any_size_are_read_or_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
