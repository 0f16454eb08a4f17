/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A publication's article, from its head to the list of what was asked. What is not there is left out;
 * what it was read from, and how good that is, stands beneath each part and in a table at the end.
 */
#include "worker/ctl/publication/html.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/ctl/publication/fulltext_html.h"
#include "common/markup/html_page.h"
#include "worker/ctl/publication/words.h"

#define SHOWN_AUTHORS 12u /* more are folded */

struct page {
	struct ing_buf *out;
	const json_t *pub;
	size_t number;
};

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = ing_json_get_text(o, key);
	return s != NULL ? s : "";
}

static const char *content(const struct page *p, const char *part)
{
	return text_of(json_object_get(p->pub, part), "content");
}

static bool has_list(const struct page *p, const char *part)
{
	return json_array_size(json_object_get(json_object_get(p->pub, part), "list")) > 0;
}

static void add(const struct page *p, const char *markup)
{
	ing_buf_add_str(p->out, markup);
}

/* --- its head --- */

static void add_kicker(const struct page *p)
{
	const char *journal = text_of(p->pub, "journal_title");
	const char *publisher = text_of(p->pub, "publisher");
	const char *date = text_of(p->pub, "pub_date");
	const char *texts[] = {journal, strcmp(journal, publisher) != 0 ? publisher : "", date};
	const char *between = "";
	if (journal[0] == '\0' && publisher[0] == '\0' && date[0] == '\0')
		return;
	add(p, "<p class=\"kicker\">");
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		if (texts[i][0] == '\0')
			continue;
		ing_buf_printf(p->out, "%s<%s dir=\"auto\">", between, i == 0 ? "em" : "span");
		ing_html_add(p->out, texts[i]);
		ing_buf_printf(p->out, "</%s>", i == 0 ? "em" : "span");
		between = " · ";
	}
	add(p, "</p>\n");
}

static void add_title(const struct page *p)
{
	const char *title = content(p, "title");
	add(p, "<h1 dir=\"auto\">");
	size_t n = strlen(title);
	bool has_stop = n > 1 && title[n - 1] == '.' && title[n - 2] != '.';
	if (n > 0)
		ing_html_addn(p->out, title, n - has_stop);
	else
		add(p, "Without a title");
	add(p, "</h1>\n");
}

static void add_author(const struct page *p, const json_t *author)
{
	const char *orcid = ing_json_get_text(author, "orcid");
	add(p, "<li><span dir=\"auto\">");
	ing_html_add(p->out, text_of(author, "name"));
	add(p, "</span>");
	if (ing_json_get_true(author, "corresponding"))
		add(p, "<abbr title=\"corresponding author\">*</abbr>");
	if (orcid != NULL && strncmp(orcid, "https://orcid.org/", 18) == 0) {
		add(p, "<a class=\"orcid\" title=\"ORCID\" href=\"");
		ing_html_add(p->out, orcid);
		add(p, "\">iD</a>");
	}
	add(p, "</li>");
}

static void add_author_list(const struct page *p, const json_t *authors, size_t from, size_t to)
{
	add(p, "<ul>");
	for (size_t i = from; i < to; i++)
		add_author(p, json_array_get(authors, i));
	add(p, "</ul>\n");
}

/* The corresponding ones alone when no others are known: then they have a section, too. */
static void add_authors(const struct page *p)
{
	const json_t *authors = json_object_get(p->pub, "authors");
	size_t n = json_array_size(authors);
	if (n == 0)
		return;
	size_t shown = n > SHOWN_AUTHORS + 3 ? SHOWN_AUTHORS : n;
	add(p, "<div class=\"authors\">");
	add_author_list(p, authors, 0, shown);
	if (shown < n) {
		ing_buf_printf(p->out, "<details><summary>and %zu more</summary>", n - shown);
		add_author_list(p, authors, shown, n);
		add(p, "</details>\n");
	}
	add(p, "</div>\n");
}

static void add_badge(const struct page *p, const char *kind, const char *text)
{
	ing_buf_printf(p->out, "<li class=\"%s\">%s</li>", kind, text);
}

static void add_licence(const struct page *p)
{
	char words[64];
	const char *licence = text_of(p->pub, "licence");
	if (licence[0] == '\0')
		return;
	add(p, "<li dir=\"auto\">");
	ing_html_add_link(p->out, licence, ing_licence_words(licence, words, sizeof(words)));
	add(p, "</li>");
}

static void add_badges(const struct page *p)
{
	const json_t *oa = json_object_get(p->pub, "oa");
	const json_t *cited = json_object_get(p->pub, "citationsCount");
	add(p, "<ul class=\"badges\">");
	if (json_is_true(oa))
		add_badge(p, "good", "Open access");
	else if (json_is_false(oa))
		add_badge(p, "", "Not open access");
	if (ing_json_get_true(p->pub, "preprint"))
		add_badge(p, "fair", "Preprint");
	add_licence(p);
	if (json_is_integer(cited) && json_integer_value(cited) >= 0) {
		add(p, "<li>Cited ");
		ing_html_add_count(p->out, (unsigned long long)json_integer_value(cited));
		add(p, json_integer_value(cited) == 1 ? " time</li>" : " times</li>");
	}
	if (ing_json_get_true(p->pub, "fetchException"))
		add_badge(p, "bad", "A source failed: something may be missing");
	add(p, "</ul>\n");
}

static void add_id(
	const struct page *p, const char *name, const char *base, const char *id, const char *url)
{
	if (id[0] == '\0')
		return;
	ing_buf_printf(p->out, "<div><dt>%s</dt><dd>", name);
	if (url == NULL) {
		char *joined = ing_id_url(base, id);
		ing_html_add_link(p->out, joined, id);
		free(joined);
	} else {
		ing_html_add_link(p->out, url, id);
	}
	add(p, "</dd></div>\n");
}

static void add_ids(const struct page *p)
{
	const char *openalex = text_of(p->pub, "openalex_id");
	const char *slash = strrchr(openalex, '/');
	add(p, "<dl class=\"ids\">\n");
	add_id(p, "PMID", "https://pubmed.ncbi.nlm.nih.gov/", content(p, "pmid"), NULL);
	add_id(p, "PMCID", "https://www.ncbi.nlm.nih.gov/pmc/articles/", content(p, "pmcid"), NULL);
	add_id(p, "DOI", "https://doi.org/", content(p, "doi"), NULL);
	if (slash != NULL)
		add_id(p, "OpenAlex", "", slash + 1, openalex);
	else
		add_id(p, "OpenAlex", "https://openalex.org/", openalex, NULL);
	add(p, "</dl>\n");
}

/* --- its parts --- */

static void begin_section(const struct page *p, const char *id, const char *title)
{
	ing_buf_printf(p->out, "<section id=\"p%zu-%s\">\n<h2>%s</h2>\n", p->number, id, title);
}

/* Where a part comes from, in a line beneath it. */
static void add_from(const struct page *p, enum ing_part_key key)
{
	const json_t *part = json_object_get(p->pub, ing_part_name(key));
	enum ing_part_quality quality = ing_part_quality(key, part);
	ing_buf_printf(p->out, "<p class=\"from\"><span class=\"dot %s\"></span>From ",
		ing_part_quality_name(quality));
	ing_html_add_link(
		p->out, ing_json_get_text(part, "url"), ing_part_source(text_of(part, "type")));
	add(p, ", ");
	ing_html_add_day(p->out, ing_json_get_text(part, "timestampHuman"));
	ing_buf_printf(p->out, ". %s.</p>\n", ing_part_quality_words(key, quality, part));
}

static void add_abstract(const struct page *p)
{
	const char *abstract = content(p, "abstract");
	if (abstract[0] == '\0')
		return;
	begin_section(p, "abstract", "Abstract");
	add(p, "<div class=\"read\">\n");
	ing_paragraphs_html(p->out, abstract);
	add(p, "</div>\n");
	add_from(p, ING_PART_ABSTRACT);
	add(p, "</section>\n");
}

static void add_keyword(const struct page *p, const json_t *term)
{
	ing_buf_add_str(p->out, "<li dir=\"auto\">");
	ing_html_add(p->out, json_is_string(term) ? json_string_value(term) : "");
	ing_buf_add_str(p->out, "</li>");
}

static void add_mesh_term(const struct page *p, const json_t *term)
{
	const char *id = text_of(term, "uniqueId");
	char *url =
		id[0] != '\0' ? ing_id_url("https://meshb.nlm.nih.gov/record/ui?ui=", id) : NULL;
	add(p, ing_json_get_true(term, "majorTopic") ? "<li class=\"major\" title=\"major topic\">"
						     : "<li>");
	ing_html_add_link(p->out, url, text_of(term, "term"));
	add(p, "</li>");
	free(url);
}

static void add_mined_term(const struct page *p, const json_t *term)
{
	int64_t count = ing_json_get_number(term, "count");
	add(p, "<li>");
	ing_html_add_link(p->out, ing_json_get_text(term, "uri"), text_of(term, "term"));
	if (count > 1)
		ing_buf_printf(p->out, " <small>%" PRId64 "×</small>", count);
	add(p, "</li>");
}

static const struct {
	enum ing_part_key key;
	const char *title;
	void (*add)(const struct page *p, const json_t *term);
} lists[] = {
	{ING_PART_KEYWORDS, "Keywords", add_keyword},
	{ING_PART_MESH, "MeSH terms", add_mesh_term},
	{ING_PART_EFO, "Experimental methods found in the text (EFO)", add_mined_term},
	{ING_PART_GO, "Gene Ontology terms found in the text", add_mined_term},
};

static bool has_terms(const struct page *p)
{
	bool has = false;
	for (size_t i = 0; i < ING_ARRAY_LEN(lists); i++)
		has |= has_list(p, ing_part_name(lists[i].key));
	return has;
}

static void add_terms(const struct page *p)
{
	if (!has_terms(p))
		return;
	begin_section(p, "terms", "Subjects");
	for (size_t i = 0; i < ING_ARRAY_LEN(lists); i++) {
		const char *name = ing_part_name(lists[i].key);
		size_t k;
		json_t *term;
		if (!has_list(p, name))
			continue;
		ing_buf_printf(p->out, "<h3 class=\"minor\">%s</h3>\n<ul class=\"terms\">",
			lists[i].title);
		json_array_foreach (
			json_object_get(json_object_get(p->pub, name), "list"), k, term) {
			lists[i].add(p, term);
		}
		add(p, "</ul>\n");
		add_from(p, lists[i].key);
	}
	add(p, "</section>\n");
}

/* Corresponding authors, with the ways to reach them. */
static void add_correspondence(const struct page *p)
{
	size_t i;
	json_t *author;
	const json_t *authors = json_object_get(p->pub, "corresp_author");
	if (json_array_size(authors) == 0)
		return;
	begin_section(p, "correspondence", "Correspondence");
	json_array_foreach (authors, i, author) {
		const char *keys[] = {"orcid", "email", "phone", "uri"};
		add(p, "<p dir=\"auto\">");
		ing_html_add(p->out, text_of(author, "name"));
		for (size_t k = 0; k < ING_ARRAY_LEN(keys); k++) {
			const char *s = text_of(author, keys[k]);
			if (s[0] == '\0')
				continue;
			add(p, k > 0 || text_of(author, "name")[0] != '\0' ? " · " : "");
			if (strcmp(keys[k], "email") == 0)
				ing_html_add_email(p->out, s);
			else
				ing_html_add_link(p->out, s, s);
		}
		add(p, "</p>\n");
	}
	add(p, "</section>\n");
}

/* What was compared speaks against it. */
static void add_mismatch(const struct page *p)
{
	size_t i;
	json_t *reason;
	const json_t *match = json_object_get(p->pub, "match");
	const json_t *score = json_object_get(match, "score");
	if (!json_is_number(score) || json_number_value(score) >= 0.5)
		return;
	add(p, "<p class=\"nothing\">This may be the text of another work:");
	json_array_foreach (json_object_get(match, "reasons"), i, reason) {
		add(p, i > 0 ? ", " : " ");
		ing_html_add(p->out, json_is_string(reason) ? json_string_value(reason) : "");
	}
	add(p, ".</p>\n");
}

static void add_fulltext(const struct page *p)
{
	const char *text = content(p, "fulltext");
	if (text[0] == '\0')
		return;
	const char *type = text_of(json_object_get(p->pub, "fulltext"), "type");
	enum ing_part_type t = ing_part_type_of_name(type);
	bool is_pdf = t != ING_PART_TYPES_ && ing_part_type_is_pdf(t);
	char *reflowed = is_pdf ? ing_fulltext_reflowed(text) : NULL;
	begin_section(p, "fulltext", "Full text");
	add(p, "<div class=\"read\">\n");
	bool is_less = ing_fulltext_html(
		p->out, is_pdf ? reflowed : text, content(p, "title"), content(p, "abstract"));
	free(reflowed);
	add(p, "</div>\n");
	if (is_less)
		add(p, "<p class=\"note\">Title and abstract, with which it begins, stand "
		       "above.</p>\n");
	add_mismatch(p);
	add_from(p, ING_PART_FULLTEXT);
	add(p, "</section>\n");
}

/* --- where it comes from --- */

static void add_size(const struct page *p, enum ing_part_key key, const json_t *part)
{
	int64_t size = ing_json_get_number(part, "size");
	add(p, "<td class=\"n\">");
	if (key > ING_PART_DOI && size > 0) {
		ing_html_add_count(p->out, (unsigned long long)size);
		add(p, !ing_part_is_list(key) ? " chars" : size == 1 ? " term" : " terms");
	}
	add(p, "</td>");
}

static void add_part_row(const struct page *p, enum ing_part_key key)
{
	const json_t *part = json_object_get(p->pub, ing_part_name(key));
	enum ing_part_quality quality = ing_part_quality(key, part);
	ing_buf_printf(p->out, "<tr><td class=\"t\">%s</td>", ing_part_title(key));
	if (quality == ING_QUALITY_NONE) {
		add(p, "<td class=\"n\"></td><td colspan=\"3\" class=\"note\">not found</td></tr>\n");
		return;
	}
	add_size(p, key, part);
	ing_buf_printf(p->out, "<td><span class=\"dot %s\"></span>%s</td><td>",
		ing_part_quality_name(quality), ing_part_quality_words(key, quality, part));
	ing_html_add_link(
		p->out, ing_json_get_text(part, "url"), ing_part_source(text_of(part, "type")));
	add(p, "</td><td class=\"t\">");
	ing_html_add_day(p->out, ing_json_get_text(part, "timestampHuman"));
	add(p, "</td></tr>\n");
}

static void add_field_row(const struct page *p, const char *title, const json_t *field)
{
	int64_t ms = ing_json_get_number(field, "timestamp");
	char time[40];
	if (!json_is_object(field))
		return;
	ing_buf_printf(
		p->out, "<tr><td class=\"t\">%s</td><td class=\"n\"></td><td></td><td>", title);
	ing_html_add_link(
		p->out, ing_json_get_text(field, "url"), ing_part_source(text_of(field, "type")));
	add(p, "</td><td class=\"t\">");
	ing_html_add_day(p->out, ing_words_time(ms, time, sizeof(time)));
	add(p, "</td></tr>\n");
}

static void add_sources(const struct page *p)
{
	static const struct {
		const char *key, *title;
	} fields[] = {{"journal_title", "Journal"}, {"pub_date", "Date"}, {"oa", "Open access"},
		{"licence", "Licence"}, {"citationsCount", "Citations"}};
	const json_t *of = json_object_get(p->pub, "fields");
	begin_section(p, "sources", "Where it comes from");
	add(p, "<div class=\"wide\"><table>\n<tr><th>Part</th><th>Size</th><th>Quality</th>"
	       "<th>Source</th><th>Fetched</th></tr>\n");
	for (unsigned k = 0; k < ING_PARTS_; k++)
		add_part_row(p, (enum ing_part_key)k);
	for (size_t i = 0; i < ING_ARRAY_LEN(fields); i++)
		add_field_row(p, fields[i].title, json_object_get(of, fields[i].key));
	add(p, "</table></div>\n");
}

static void add_visited(const struct page *p)
{
	size_t i;
	json_t *site;
	const json_t *sites = json_object_get(p->pub, "visitedSites");
	if (json_array_size(sites) == 0)
		return;
	ing_buf_printf(p->out,
		"<details><summary>Pages with this publication (%zu)</summary>\n"
		"<div class=\"wide\"><table>\n",
		json_array_size(sites));
	json_array_foreach (sites, i, site) {
		const char *url = text_of(site, "url");
		add(p, "<tr><td>");
		ing_html_add_link(p->out, url, url);
		ing_buf_printf(
			p->out, "</td><td>%s</td></tr>\n", ing_part_source(text_of(site, "type")));
	}
	add(p, "</table></div></details>\n");
}

static void add_resource_row(const struct page *p, const json_t *r)
{
	const char *status = text_of(r, "status");
	const char *url = text_of(r, "url");
	bool is_good = strcmp(status, "success") == 0;
	int64_t http = ing_json_get_number(r, "http_status");
	add(p, "<tr><td class=\"t\">");
	ing_html_add(p->out, text_of(r, "resource"));
	ing_buf_printf(p->out, "</td><td class=\"t%s\">", is_good ? "" : " b");
	ing_html_add(p->out, status);
	if (http != 0 && !is_good)
		ing_buf_printf(p->out, " (%" PRId64 ")", http);
	add(p, "</td><td>");
	ing_html_add_link(p->out, url, url);
	if (text_of(r, "detail")[0] != '\0') {
		add(p, "<br><span class=\"note\">");
		ing_html_add(p->out, text_of(r, "detail"));
		add(p, "</span>");
	}
	add(p, "</td></tr>\n");
}

static void add_asked(const struct page *p)
{
	size_t i;
	json_t *resource;
	const json_t *resources = json_object_get(p->pub, "resources");
	if (json_array_size(resources) == 0)
		return;
	ing_buf_printf(p->out,
		"<details%s><summary>All that was asked (%zu)</summary>\n"
		"<div class=\"wide\"><table>\n",
		ing_json_get_true(p->pub, "empty") ? " open" : "", json_array_size(resources));
	json_array_foreach (resources, i, resource) {
		add_resource_row(p, resource);
	}
	add(p, "</table></div></details>\n");
}

static void add_footer(const struct page *p)
{
	const char *time = ing_json_get_text(p->pub, "fetchTimeHuman");
	add_visited(p);
	add_asked(p);
	if (time != NULL) {
		add(p, "<p class=\"from\">Put together ");
		ing_html_add_day(p->out, time);
		add(p, ".</p>\n");
	}
	add(p, "</section>\n");
}

static void add_contents(const struct page *p)
{
	const struct {
		const char *id, *title;
		bool is_there;
	} sections[] = {{"abstract", "Abstract", content(p, "abstract")[0] != '\0'},
		{"terms", "Subjects", has_terms(p)},
		{"correspondence", "Correspondence",
			json_array_size(json_object_get(p->pub, "corresp_author")) > 0},
		{"fulltext", "Full text", content(p, "fulltext")[0] != '\0'},
		{"sources", "Sources", true}};
	add(p, "<nav>");
	for (size_t i = 0; i < ING_ARRAY_LEN(sections); i++)
		if (sections[i].is_there)
			ing_buf_printf(p->out, "<a href=\"#p%zu-%s\">%s</a>", p->number,
				sections[i].id, sections[i].title);
	add(p, "</nav>\n");
}

static const char *name_of(const json_t *pub)
{
	static const char *const parts[] = {"title", "doi", "pmid", "pmcid"};
	const char *name = "";
	for (size_t i = 0; i < ING_ARRAY_LEN(parts) && name[0] == '\0'; i++)
		name = text_of(json_object_get(pub, parts[i]), "content");
	return name[0] != '\0' ? name : "Publication";
}

static void add_papers(struct ing_buf *out, json_t *const publications[], size_t n)
{
	ing_buf_add_str(out, "<nav class=\"papers\"><ol>\n");
	for (size_t i = 0; i < n; i++) {
		ing_buf_printf(out, "<li><a href=\"#p%zu\" dir=\"auto\">", i + 1);
		ing_html_add(out, name_of(publications[i]));
		ing_buf_add_str(out, "</a> <small dir=\"auto\">");
		ing_html_add(out, text_of(publications[i], "journal_title"));
		ing_buf_add_str(out, "</small></li>\n");
	}
	ing_buf_add_str(out, "</ol></nav>\n");
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_html_add(struct ing_buf *out, const json_t *publication, size_t number)
{
	const struct page p = {out, publication, number};
	ing_buf_printf(out, "<article id=\"p%zu\">\n<header>\n", number);
	add_kicker(&p);
	add_title(&p);
	add_authors(&p);
	add_badges(&p);
	add_ids(&p);
	add_contents(&p);
	ing_buf_add_str(out, "</header>\n");
	if (ing_json_get_true(publication, "empty"))
		ing_buf_add_str(
			out, "<p class=\"nothing\">Nothing was found but what is above.</p>\n");
	add_abstract(&p);
	add_terms(&p);
	add_correspondence(&p);
	add_fulltext(&p);
	add_sources(&p);
	add_footer(&p);
	ing_buf_add_str(out, "</article>\n");
}

void ing_publication_html(json_t *const publications[], size_t n, struct ing_buf *out)
{
	char count[40];
	snprintf(count, sizeof(count), "%zu publications", n);
	ing_html_page_begin(out, n == 1 ? name_of(publications[0]) : count);
	if (n > 1)
		add_papers(out, publications, n);
	for (size_t i = 0; i < n; i++)
		ing_publication_html_add(out, publications[i], i + 1);
	ing_html_page_end(out);
}
