/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A link that belongs to another document by its words or place is out, whatever else it says. The
 * others get points. Two things can prove that a link is the page's own document: identity (its
 * file or words name the page's title, DOI or number) or, on a page that bears the record of an
 * article, words like "Download PDF". Without either nothing is taken, and neither is the better of
 * two that are nearly equal: a journal's contents have a "PDF" for every article.
 */
#include "worker/scrape/rules/links_guess.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/markup/link.h"
#include "common/net/url.h"
#include "worker/model/limits.h"
#include "worker/scrape/biblio/meta.h"
#include "worker/scrape/rules/link_words.h"

#define MAX_ANCHORS 2000      /* looked at */
#define MAX_CANDIDATES 64     /* of them, that look like links to a PDF; with more, none is taken */
#define MAX_WORDS_BYTES 400   /* of a link, a title or a heading */
#define MAX_FOLDED_BYTES 2000 /* of these, folded */
#define MAX_LEVELS 12         /* of ancestors */
#define MAX_NODES_BACK 400    /* to the heading above a link */
#define MIN_ID_BYTES 5        /* of a number that is no chance */
#define MIN_DOI_BYTES 6       /* of what follows a DOI's slash */
#define MIN_TITLE_WORD_BYTES 4 /* shorter words are in every title */
#define MAX_TITLE_WORDS 40

enum { /* points */
	IDENTITY = 5,
	LABEL_PDF = 3,
	LABEL_TEXT = 2,
	LABEL_DOWNLOAD = 1,
	RECORD = 2, /* the page has the record of an article */
	IN_MAIN = 1,
	IN_ASIDE = -1,
	ONLY_ONE = 1, /* on its page */
	ENOUGH = 5,
	LEAD = 2, /* over the next best */
};

struct ing_guess {
	const struct ing_view *v;
	const char *title;         /* folded; " " when unknown */
	const char *title_letters; /* the same without spaces */
	const char *ids[4];        /* letters and digits in lower case */
	size_t id_count;
	const char *doi;  /* what follows its slash, in the same form; NULL */
	bool has_record;  /* of an article, in <meta> elements or JSON-LD */
	bool is_contents; /* a list of documents, by its URL */
	ing_node heading; /* the page's <h1>, or NONE */
	ing_node main;    /* its <main> or <article>, or NONE */
};

/* What is known of one link. */
struct signs {
	bool identity;
	bool another; /* words of another document */
	bool exempt;  /* words of another document that the title has, too */
	enum ing_link_label label;
};

/* --- text --- */

static const char *fold(const struct ing_view *v, const char *s, size_t bytes)
{
	struct ing_buf out;
	ing_buf_init(&out, MAX_FOLDED_BYTES);
	ing_link_words_fold(s, ING_MIN(bytes, (size_t)MAX_WORDS_BYTES), &out);
	const char *folded = ing_arena_strdup(v->arena, ing_buf_str(&out));
	ing_buf_done(&out);
	return folded;
}

static const char *fold_node(const struct ing_view *v, ing_node n)
{
	const char *text = ing_view_text(v, n, MAX_WORDS_BYTES);
	return fold(v, text, strlen(text));
}

/* ASCII letters in lower case and digits of s. */
static const char *squeeze(const struct ing_view *v, const char *s, size_t bytes)
{
	char *out = ing_arena_alloc(v->arena, bytes + 1);
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)s[i];
		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'))
			out[n++] = (char)c;
		else if (c >= 'A' && c <= 'Z')
			out[n++] = (char)(c + 0x20);
	}
	return out;
}

static const char *without_spaces(const struct ing_view *v, const char *folded)
{
	char *out = ing_arena_alloc(v->arena, strlen(folded) + 1);
	size_t n = 0;
	for (const char *s = folded; *s != '\0'; s++)
		if (*s != ' ')
			out[n++] = *s;
	return out;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

/* Percent-escapes decoded. */
static const char *unescape(const struct ing_view *v, const char *s, size_t bytes)
{
	char *out = ing_arena_alloc(v->arena, bytes + 1);
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++) {
		bool escape = s[i] == '%' && i + 2 < bytes && hex_value(s[i + 1]) >= 0 &&
			      hex_value(s[i + 2]) >= 0;
		char c = escape ? (char)(hex_value(s[i + 1]) * 16 + hex_value(s[i + 2])) : s[i];
		i += escape ? 2 : 0;
		out[n++] = c != '\0' ? c : ' ';
	}
	return out;
}

/* --- a URL's parts, borrowed from it --- */

struct span {
	const char *s;
	size_t bytes;
};

/* From behind the host to the query. */
static struct span path_of(const char *url)
{
	const char *host = strstr(url, "://");
	const char *s = host != NULL ? host + 3 + strcspn(host + 3, "/?#") : url;
	return (struct span){s, strcspn(s, "?#")};
}

/* The last part of the path that is not empty. */
static struct span file_of(const char *url)
{
	struct span p = path_of(url);
	while (p.bytes > 0 && p.s[p.bytes - 1] == '/')
		p.bytes--;
	size_t from = p.bytes;
	while (from > 0 && p.s[from - 1] != '/')
		from--;
	return (struct span){p.s + from, p.bytes - from};
}

static struct span query_of(const char *url)
{
	struct span p = path_of(url);
	const char *s = p.s + p.bytes;
	return (struct span){s, strcspn(s, "#")};
}

/* A file name without what follows its last dot, if that is short enough to be an ending. */
static struct span stem_of(struct span file)
{
	for (size_t i = file.bytes; i > 1 && file.bytes - i < 6; i--)
		if (file.s[i - 1] == '.')
			return (struct span){file.s, i - 1};
	return file;
}

static bool ends_with(struct span s, const char *lower)
{
	size_t bytes = strlen(lower);
	return s.bytes >= bytes && strncasecmp(s.s + s.bytes - bytes, lower, bytes) == 0;
}

/* --- the page --- */

static const char *meta_content(const struct ing_view *v, const char *name)
{
	const struct ing_meta *m = ing_metas_find_dotted(v, NULL, name);
	return m != NULL && m->content != NULL && m->content[0] != '\0' ? m->content : NULL;
}

/* By <meta> elements that only pages of works have. */
static const char *record_title(const struct ing_view *v)
{
	static const char *const names[] = {"citation_title", "bepress_citation_title",
		"eprints.title", "prism.title", "dc.title", "dcterms.title", "wkhealth_title"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		const char *title = meta_content(v, names[i]);
		if (title != NULL)
			return title;
	}
	return NULL;
}

static void read_title(struct ing_guess *g)
{
	static const char scholarly[] = "ScholarlyArticle";
	const struct ing_view *v = g->v;
	const char *title = record_title(v);
	g->has_record = title != NULL || ing_view_source_has(v, scholarly, sizeof(scholarly) - 1);
	if (title == NULL && g->heading != ING_NODE_NONE)
		title = ing_view_text(v, g->heading, MAX_WORDS_BYTES);
	if (title == NULL || title[0] == '\0')
		title = v->title != NULL ? v->title : "";
	g->title = fold(v, title, strlen(title));
	g->title_letters = without_spaces(v, g->title);
}

static void add_id(struct ing_guess *g, const char *s, size_t bytes)
{
	const char *id = squeeze(g->v, s, bytes);
	bool has_digit = strpbrk(id, "0123456789") != NULL;
	if (has_digit && strlen(id) >= MIN_ID_BYTES && g->id_count < ING_ARRAY_LEN(g->ids))
		g->ids[g->id_count++] = id;
}

/* The DOI among the page's <meta> elements, and the number at the end of its own URL. */
static void read_ids(struct ing_guess *g)
{
	static const char *const names[] = {"citation_doi", "bepress_citation_doi", "prism.doi",
		"dc.identifier", "dc.identifier.doi", "dcterms.identifier", "eprints.id_number"};
	const struct ing_view *v = g->v;
	for (size_t i = 0; i < ING_ARRAY_LEN(names) && g->doi == NULL; i++) {
		const char *value = meta_content(v, names[i]);
		const char *doi = value != NULL ? strstr(value, "10.") : NULL;
		const char *slash = doi != NULL ? strchr(doi, '/') : NULL;
		const char *id = slash != NULL ? squeeze(v, slash, strlen(slash)) : "";
		g->doi = strlen(id) >= MIN_DOI_BYTES ? id : NULL;
	}
	static const char *const numbers[] = {
		"citation_pmcid", "citation_arxiv_id", "eprints.eprintid"};
	for (size_t i = 0; i < ING_ARRAY_LEN(numbers); i++) {
		const char *value = meta_content(v, numbers[i]);
		if (value != NULL)
			add_id(g, value, ING_MIN(strlen(value), (size_t)MAX_WORDS_BYTES));
	}
	if (v->url == NULL)
		return;
	struct span stem = stem_of(file_of(v->url));
	add_id(g, stem.s, stem.bytes);
}

/* Whether the URL is that of a list of documents: an issue's contents, a search. */
static bool is_contents(const struct ing_view *v)
{
	static const char *const folders[] = {"/issue/", "/issues/", "/toc/", "/search", "/browse",
		"/author/", "/authors/", "/for-authors", "/current"};
	if (v->url == NULL)
		return false;
	struct span path = path_of(v->url);
	for (size_t i = 0; i < ING_ARRAY_LEN(folders); i++)
		if (memmem(path.s, path.bytes, folders[i], strlen(folders[i])) != NULL)
			return true;
	return false;
}

/* --- words and names --- */

/* How many of the title's longer words a folded text has; *ret_of: of how many. */
static size_t count_title_words(const struct ing_guess *g, const char *folded, size_t *ret_of)
{
	size_t found = 0, count = 0;
	char word[MAX_WORDS_BYTES];
	for (const char *s = g->title; s[0] == ' ' && s[1] != '\0' && count < MAX_TITLE_WORDS;) {
		size_t bytes = strcspn(s + 1, " ");
		if (bytes >= MIN_TITLE_WORD_BYTES && bytes + 3 <= sizeof(word)) {
			memcpy(word, s, bytes + 2);
			word[bytes + 2] = '\0';
			count++;
			found += strstr(folded, word) != NULL;
		}
		s += bytes + 1;
	}
	*ret_of = count;
	return found;
}

/* Whether a name has most words of the title, or all of its letters in their order. */
static bool names_title(const struct ing_guess *g, const char *folded)
{
	size_t of;
	size_t found = count_title_words(g, folded, &of);
	if (found >= 3 && found * 2 >= of)
		return true;
	if (found >= 2 && found == of)
		return true;
	const char *letters = without_spaces(g->v, folded);
	size_t bytes = strlen(g->title_letters);
	return bytes >= 12 && strstr(letters, g->title_letters) != NULL;
}

static bool names_id(const struct ing_guess *g, const char *url, struct span file)
{
	struct span path = path_of(url), query = query_of(url);
	const char *whole = squeeze(g->v, path.s, path.bytes + query.bytes);
	if (g->doi != NULL && strstr(whole, g->doi) != NULL)
		return true;
	const char *name = squeeze(g->v, file.s, file.bytes + query.bytes);
	for (size_t i = 0; i < g->id_count; i++)
		if (strstr(name, g->ids[i]) != NULL)
			return true;
	return false;
}

/* The words of a link: its text, or what stands for it. */
static const char *label_of(const struct ing_guess *g, ing_node n)
{
	static const char *const attrs[] = {"aria-label", "title", "alt"};
	const struct ing_tree *t = g->v->tree;
	const char *folded = fold_node(g->v, n);
	for (size_t i = 0; i < 2 && folded[1] == '\0'; i++) {
		const char *value = ing_tree_attr(t, n, attrs[i], NULL);
		if (value != NULL)
			folded = fold(g->v, value, strlen(value));
	}
	ing_node img = folded[1] == '\0' ? ing_tree_next_named(t, n, n, "img") : ING_NODE_NONE;
	const char *alt = img != ING_NODE_NONE ? ing_tree_attr(t, img, "alt", NULL) : NULL;
	return alt != NULL ? fold(g->v, alt, strlen(alt)) : folded;
}

/* Whether folded words are of another document. Those that the title has, too, are noted. */
static bool is_another(const struct ing_guess *g, const char *folded, enum ing_link_words_of of,
	struct signs *signs)
{
	if (!ing_link_words_are_of_another(folded, of, ""))
		return false;
	if (ing_link_words_are_of_another(folded, of, g->title))
		return true;
	signs->exempt = true;
	return false;
}

/* --- place --- */

static bool is_heading(const struct ing_tree *t, ing_node n)
{
	static const char *const names[] = {
		"h2", "h3", "h4", "h5", "h6", "dt", "legend", "summary"};
	if (t->nodes[n].kind != ING_NODE_ELEMENT)
		return false;
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++)
		if (ing_tree_is(t, n, names[i]))
			return true;
	return false;
}

/* The heading that a link stands under; NONE: there is none near. */
static ing_node heading_of(const struct ing_guess *g, ing_node n)
{
	const struct ing_tree *t = g->v->tree;
	for (size_t i = 0; i < MAX_NODES_BACK && n > 0; i++) {
		n--;
		if (n == g->heading)
			return ING_NODE_NONE;
		if (is_heading(t, n))
			return n;
	}
	return ING_NODE_NONE;
}

static bool has_words_of_another_place(const struct ing_guess *g, ing_node n)
{
	static const char *const attrs[] = {"class", "id", "role"};
	for (size_t i = 0; i < ING_ARRAY_LEN(attrs); i++) {
		const char *value = ing_tree_attr(g->v->tree, n, attrs[i], NULL);
		if (value == NULL || value[0] == '\0')
			continue;
		const char *folded = fold(g->v, value, strlen(value));
		if (ing_link_words_are_of_another(folded, ING_LINK_WORDS_PLACE, ""))
			return true;
	}
	return false;
}

/* Whether an element holds the page's own content beside other things, so that what it is called
 * says nothing about a link in it. */
static bool is_wrapper(const struct ing_guess *g, ing_node n)
{
	const struct ing_tree *t = g->v->tree;
	return (g->heading != ING_NODE_NONE && ing_tree_contains(t, n, g->heading)) ||
	       (g->main != ING_NODE_NONE && (n == g->main || ing_tree_contains(t, n, g->main))) ||
	       ing_tree_is(t, n, "body") || ing_tree_is(t, n, "html");
}

/* Points of the place where a link stands; NEVER in navigation, footers, lists of references. */
static int place_score(const struct ing_guess *g, ing_node n)
{
	const struct ing_tree *t = g->v->tree;
	bool aside = false, main = g->main != ING_NODE_NONE && ing_tree_contains(t, g->main, n);
	ing_node at = t->nodes[n].parent;
	for (size_t i = 0; i < MAX_LEVELS && at != ING_NODE_NONE && at != ING_NODE_DOCUMENT; i++) {
		if (is_wrapper(g, at))
			break;
		if (ing_tree_is(t, at, "nav") || ing_tree_is(t, at, "footer") ||
			has_words_of_another_place(g, at))
			return ING_GUESS_NEVER;
		aside |= ing_tree_is(t, at, "aside") || (!main && ing_tree_is(t, at, "header"));
		at = t->nodes[at].parent;
	}
	return (main ? IN_MAIN : 0) + (aside ? IN_ASIDE : 0);
}

/* --- the whole --- */

static bool is_of_another_document(const struct ing_guess *g, ing_node n, const char *url,
	const char *label, const char *name, struct signs *signs)
{
	struct span path = path_of(url), file = file_of(url);
	size_t folder_bytes = (size_t)(file.s - path.s);
	const char *folders = fold(g->v, path.s, folder_bytes);
	const char *class = ing_tree_attr(g->v->tree, n, "class", NULL);
	const char *classes = class != NULL ? fold(g->v, class, strlen(class)) : " ";
	ing_node heading = heading_of(g, n);
	return is_another(g, label, ING_LINK_WORDS_NAME, signs) ||
	       is_another(g, name, ING_LINK_WORDS_NAME, signs) ||
	       is_another(g, folders, ING_LINK_WORDS_FOLDER, signs) ||
	       strstr(classes, " supplement") != NULL ||
	       (heading != ING_NODE_NONE &&
		       is_another(g, fold_node(g->v, heading), ING_LINK_WORDS_HEADING, signs));
}

static int score(const struct ing_guess *g, ing_node n, const char *url, struct signs *signs)
{
	static const int label_points[] = {[ING_LINK_LABEL_OTHER] = 0,
		[ING_LINK_LABEL_DOWNLOAD] = LABEL_DOWNLOAD,
		[ING_LINK_LABEL_TEXT] = LABEL_TEXT,
		[ING_LINK_LABEL_PDF] = LABEL_PDF};
	struct span file = file_of(url);
	struct span stem = stem_of(file);
	const char *stem_text = unescape(g->v, stem.s, stem.bytes);
	const char *name = fold(g->v, stem_text, strlen(stem_text));
	const char *label = label_of(g, n);
	*signs = (struct signs){.label = ing_link_words_label(label)};
	signs->another = is_of_another_document(g, n, url, label, name, signs);
	if (signs->another)
		return ING_GUESS_NEVER;
	int place = place_score(g, n);
	if (place == ING_GUESS_NEVER)
		return ING_GUESS_NEVER;
	bool title = names_title(g, name) || names_title(g, label);
	if (signs->exempt && !title)
		return ING_GUESS_NEVER;
	signs->identity = title || names_id(g, url, file);
	return place + label_points[signs->label] + (signs->identity ? IDENTITY : 0) +
	       (g->has_record ? RECORD : 0);
}

/* Whether a link may lead to a PDF, by its URL, its declared type or its words. */
static bool looks_like_pdf(const struct ing_guess *g, ing_node n, const char *url)
{
	static const char *const other_files[] = {".html", ".htm", ".xml", ".epub", ".ris", ".bib",
		".enw", ".jpg", ".jpeg", ".png", ".gif", ".svg", ".zip", ".gz", ".doc", ".docx",
		".ppt", ".pptx", ".xls", ".xlsx", ".csv", ".txt", ".mp3", ".mp4", ".tex", ".ps"};
	struct span file = file_of(url);
	if (ends_with(file, ".pdf"))
		return true;
	for (size_t i = 0; i < ING_ARRAY_LEN(other_files); i++)
		if (ends_with(file, other_files[i]))
			return false;
	const char *type = ing_tree_attr(g->v->tree, n, "type", NULL);
	if (type != NULL && strcasecmp(type, "application/pdf") == 0)
		return true;
	return ing_link_words_label(label_of(g, n)) == ING_LINK_LABEL_PDF;
}

struct candidate {
	const char *url;
	int score;
	struct signs signs;
};

/* Add a link, or what it says of a URL that is there already: a document that is called another one
 * anywhere is, and of several places the best counts. */
static void add_candidate(struct candidate *items, size_t *count, const struct candidate *c)
{
	size_t i = 0;
	while (i < *count && strcmp(items[i].url, c->url) != 0)
		i++;
	if (i == *count) {
		if (*count < MAX_CANDIDATES)
			items[*count] = *c;
		(*count)++;
	} else if (!items[i].signs.another && (c->signs.another || c->score > items[i].score)) {
		items[i] = *c;
	}
}

/* Returns how many candidates there are, MAX_CANDIDATES + 1 for more. */
static size_t find_candidates(const struct ing_guess *g, struct candidate *items)
{
	const struct ing_tree *t = g->v->tree;
	size_t count = 0;
	ing_node n = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "a");
	for (size_t i = 0; i < MAX_ANCHORS && n != ING_NODE_NONE && count <= MAX_CANDIDATES; i++) {
		char *url = ing_link_of_attr(g->v->tree, n, "href");
		char *bare =
			url != NULL && ing_url_is_web(url) ? ing_url_without_fragment(url) : NULL;
		if (bare != NULL && strlen(bare) <= ING_MAX_URL_BYTES &&
			!ing_link_is_ignored(bare) && !ing_link_is_self(g->v, bare) &&
			looks_like_pdf(g, n, bare)) {
			struct candidate c = {.url = ing_arena_strdup(g->v->arena, bare)};
			c.score = score(g, n, c.url, &c.signs);
			add_candidate(items, &count, &c);
		}
		free(bare);
		free(url);
		n = ing_tree_next_named(t, n, ING_NODE_DOCUMENT, "a");
	}
	return count;
}

static bool is_proved(const struct ing_guess *g, const struct candidate *c)
{
	return c->signs.identity || (g->has_record && c->signs.label != ING_LINK_LABEL_OTHER);
}

/* The best candidate, if it is good enough; NULL otherwise. */
static const struct candidate *choose(
	const struct ing_guess *g, const struct candidate *items, size_t count)
{
	const struct candidate *best = NULL;
	int next = ING_GUESS_NEVER;
	size_t possible = 0;
	for (size_t i = 0; i < count; i++) {
		possible += items[i].score != ING_GUESS_NEVER;
		if (best == NULL || items[i].score > best->score) {
			next = best != NULL ? best->score : next;
			best = &items[i];
		} else if (items[i].score > next) {
			next = items[i].score;
		}
	}
	if (possible == 0 || !is_proved(g, best))
		return NULL;
	if (best->score + (possible == 1 ? ONLY_ONE : 0) < ENOUGH)
		return NULL;
	return next == ING_GUESS_NEVER || best->score - next >= LEAD ? best : NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_guess *ing_guess_new(const struct ing_view *v)
{
	struct ing_guess *g = ing_arena_alloc(v->arena, sizeof(*g));
	const struct ing_tree *t = v->tree;
	g->v = v;
	g->heading = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "h1");
	g->main = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "main");
	if (g->main == ING_NODE_NONE)
		g->main = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "article");
	read_title(g);
	read_ids(g);
	g->is_contents = is_contents(v);
	return g;
}

int ing_guess_score(const struct ing_guess *g, ing_node n, const char *url)
{
	struct signs signs;
	return score(g, n, url, &signs);
}

struct ing_link ing_links_guess(const struct ing_view *v)
{
	struct ing_link link = {.rule = UINT32_MAX};
	struct candidate items[MAX_CANDIDATES];
	const struct ing_guess *g = ing_guess_new(v);
	size_t count = g->is_contents ? 0 : find_candidates(g, items);
	if (count == 0 || count > MAX_CANDIDATES)
		return link;
	const struct candidate *best = choose(g, items, count);
	if (best != NULL) {
		link.url = best->url;
		link.technique = "guess";
	}
	return link;
}
