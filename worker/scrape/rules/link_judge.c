/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A link that belongs to another document by its words or place is out, whatever else it says. The
 * others get points, of which those for identity count most: that the file or the words name the
 * page's title, DOI or number.
 */
#include "worker/scrape/rules/link_judge.h"

#include <string.h>

#include "worker/scrape/biblio/meta.h"
#include "worker/scrape/rules/link_identity.h"
#include "worker/scrape/rules/link_names.h"

#define MAX_LEVELS 12          /* of ancestors */
#define MAX_NODES_BACK 400     /* to the heading above a link */
#define MIN_ID_BYTES 5         /* of a number that is no chance */
#define MIN_DOI_BYTES 6        /* of what follows a DOI's slash */
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
	DOUBTFUL = -3,
};

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

static void read_title(struct ing_link_judge *j)
{
	static const char scholarly[] = "ScholarlyArticle";
	const struct ing_view *v = j->v;
	const char *title = record_title(v);
	j->has_record = title != NULL || ing_view_source_has(v, scholarly, sizeof(scholarly) - 1);
	if (title == NULL && j->heading != ING_NODE_NONE)
		j->title = ing_link_fold_node(v, j->heading);
	if (title == NULL)
		title = v->title != NULL ? v->title : "";
	if (j->title == NULL || j->title[1] == '\0')
		j->title = ing_link_fold(v, title, strlen(title));
	j->title_letters = ing_link_without_spaces(v, j->title);
}

static void add_id(struct ing_link_judge *j, const char *s, size_t bytes)
{
	const char *id = ing_link_squeeze(j->v, s, bytes);
	bool has_digit = strpbrk(id, "0123456789") != NULL;
	if (has_digit && strlen(id) >= MIN_ID_BYTES && j->id_count < ING_ARRAY_LEN(j->ids))
		j->ids[j->id_count++] = id;
}

/* The DOI among the page's <meta> elements, and the number at the end of its own URL. */
static void read_ids(struct ing_link_judge *j)
{
	static const char *const names[] = {"citation_doi", "bepress_citation_doi", "prism.doi",
		"dc.identifier", "dc.identifier.doi", "dcterms.identifier", "eprints.id_number"};
	const struct ing_view *v = j->v;
	for (size_t i = 0; i < ING_ARRAY_LEN(names) && j->doi == NULL; i++) {
		const char *value = meta_content(v, names[i]);
		const char *doi = value != NULL ? strstr(value, "10.") : NULL;
		const char *slash = doi != NULL ? strchr(doi, '/') : NULL;
		const char *id = slash != NULL ? ing_link_squeeze(v, slash, strlen(slash)) : "";
		j->doi = strlen(id) >= MIN_DOI_BYTES ? id : NULL;
	}
	static const char *const numbers[] = {
		"citation_pmcid", "citation_arxiv_id", "eprints.eprintid"};
	for (size_t i = 0; i < ING_ARRAY_LEN(numbers); i++) {
		const char *value = meta_content(v, numbers[i]);
		if (value != NULL)
			add_id(j, value, ING_MIN(strlen(value), (size_t)ING_LINK_MAX_WORDS_BYTES));
	}
	if (v->url == NULL)
		return;
	struct ing_span stem = ing_link_stem(ing_link_file(v->url));
	add_id(j, stem.s, stem.bytes);
}

/* Whether the URL is that of a list of documents: an issue's contents, a search. */
static bool is_contents(const struct ing_view *v)
{
	static const char *const folders[] = {"/issue/", "/issues/", "/toc/", "/search", "/browse",
		"/author/", "/authors/", "/for-authors", "/current"};
	if (v->url == NULL)
		return false;
	struct ing_span path = ing_link_path(v->url);
	for (size_t i = 0; i < ING_ARRAY_LEN(folders); i++)
		if (memmem(path.s, path.bytes, folders[i], strlen(folders[i])) != NULL)
			return true;
	return false;
}

/* --- words and names --- */

/* How many of the title's longer words a folded text has; *ret_of: of how many. */
static size_t count_title_words(const struct ing_link_judge *j, const char *folded, size_t *ret_of)
{
	size_t found = 0, count = 0;
	char word[ING_LINK_MAX_WORDS_BYTES];
	for (const char *s = j->title; s[0] == ' ' && s[1] != '\0' && count < MAX_TITLE_WORDS;) {
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
static bool names_title(const struct ing_link_judge *j, const char *folded)
{
	size_t of;
	size_t found = count_title_words(j, folded, &of);
	if (found >= 3 && found * 2 >= of)
		return true;
	if (found >= 2 && found == of)
		return true;
	const char *letters = ing_link_without_spaces(j->v, folded);
	size_t bytes = strlen(j->title_letters);
	return bytes >= 12 && strstr(letters, j->title_letters) != NULL;
}

static bool names_id(const struct ing_link_judge *j, const char *url, struct ing_span file)
{
	struct ing_span path = ing_link_path(url), query = ing_link_query(url);
	const char *whole = ing_link_squeeze(j->v, path.s, path.bytes + query.bytes);
	if (j->doi != NULL && strstr(whole, j->doi) != NULL)
		return true;
	const char *name = ing_link_squeeze(j->v, file.s, file.bytes + query.bytes);
	for (size_t i = 0; i < j->id_count; i++)
		if (strstr(name, j->ids[i]) != NULL)
			return true;
	return false;
}

/* Whether folded words are of another document. Those that the title has, too, are noted. */
static bool is_another(
	const struct ing_link_judge *j, const char *folded, enum ing_link_words_of of, bool *exempt)
{
	if (!ing_link_words_are_of_another(folded, of, ""))
		return false;
	if (ing_link_words_are_of_another(folded, of, j->title))
		return true;
	*exempt = true;
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
static ing_node heading_of(const struct ing_link_judge *j, ing_node n)
{
	const struct ing_tree *t = j->v->tree;
	for (size_t i = 0; i < MAX_NODES_BACK && n > 0; i++) {
		n--;
		if (n == j->heading)
			return ING_NODE_NONE;
		if (is_heading(t, n))
			return n;
	}
	return ING_NODE_NONE;
}

static bool has_words_of_another_place(const struct ing_link_judge *j, ing_node n)
{
	static const char *const attrs[] = {"class", "id", "role"};
	for (size_t i = 0; i < ING_ARRAY_LEN(attrs); i++) {
		const char *value = ing_tree_attr(j->v->tree, n, attrs[i], NULL);
		if (value == NULL || value[0] == '\0')
			continue;
		const char *folded = ing_link_fold(j->v, value, strlen(value));
		if (ing_link_words_are_of_another(folded, ING_LINK_WORDS_PLACE, ""))
			return true;
	}
	return false;
}

/* Whether an element holds the page's own content beside other things, so that what it is called
 * says nothing about a link in it. */
static bool is_wrapper(const struct ing_link_judge *j, ing_node n)
{
	const struct ing_tree *t = j->v->tree;
	return (j->heading != ING_NODE_NONE && ing_tree_contains(t, n, j->heading)) ||
	       (j->main != ING_NODE_NONE && (n == j->main || ing_tree_contains(t, n, j->main))) ||
	       ing_tree_is(t, n, "body") || ing_tree_is(t, n, "html");
}

/* Points of the place where a link stands; NEVER in navigation, footers, lists of references. */
static int place_score(const struct ing_link_judge *j, ing_node n)
{
	const struct ing_tree *t = j->v->tree;
	bool aside = false, main = j->main != ING_NODE_NONE && ing_tree_contains(t, j->main, n);
	ing_node at = t->nodes[n].parent;
	for (size_t i = 0; i < MAX_LEVELS && at != ING_NODE_NONE && at != ING_NODE_DOCUMENT; i++) {
		if (is_wrapper(j, at))
			break;
		if (ing_tree_is(t, at, "nav") || ing_tree_is(t, at, "footer") ||
			has_words_of_another_place(j, at))
			return ING_LINK_NEVER;
		aside |= ing_tree_is(t, at, "aside") || (!main && ing_tree_is(t, at, "header"));
		at = t->nodes[at].parent;
	}
	return (main ? IN_MAIN : 0) + (aside ? IN_ASIDE : 0);
}

/* --- the whole --- */

static bool is_of_another_document(const struct ing_link_judge *j, ing_node n, const char *url,
	const char *label, const char *name, bool *exempt)
{
	struct ing_span path = ing_link_path(url), file = ing_link_file(url);
	size_t folder_bytes = (size_t)(file.s - path.s);
	const char *folders = ing_link_fold(j->v, path.s, folder_bytes);
	const char *class = ing_tree_attr(j->v->tree, n, "class", NULL);
	const char *classes = class != NULL ? ing_link_fold(j->v, class, strlen(class)) : " ";
	ing_node heading = heading_of(j, n);
	return is_another(j, label, ING_LINK_WORDS_NAME, exempt) ||
	       is_another(j, name, ING_LINK_WORDS_NAME, exempt) ||
	       is_another(j, folders, ING_LINK_WORDS_FOLDER, exempt) ||
	       strstr(classes, " supplement") != NULL ||
	       (heading != ING_NODE_NONE && is_another(j, ing_link_fold_node(j->v, heading),
						    ING_LINK_WORDS_HEADING, exempt));
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_link_judge *ing_link_judge_new(const struct ing_view *v)
{
	struct ing_link_judge *j = ing_arena_alloc(v->arena, sizeof(*j));
	const struct ing_tree *t = v->tree;
	j->v = v;
	j->heading = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "h1");
	j->main = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "main");
	if (j->main == ING_NODE_NONE)
		j->main = ing_tree_next_named(t, ING_NODE_DOCUMENT, ING_NODE_DOCUMENT, "article");
	read_title(j);
	read_ids(j);
	j->is_contents = is_contents(v);
	return j;
}

struct ing_link_judgement ing_link_judge(
	const struct ing_link_judge *j, ing_node n, const char *url)
{
	static const int label_points[] = {[ING_LINK_LABEL_OTHER] = 0,
		[ING_LINK_LABEL_DOWNLOAD] = LABEL_DOWNLOAD,
		[ING_LINK_LABEL_TEXT] = LABEL_TEXT,
		[ING_LINK_LABEL_PDF] = LABEL_PDF};
	struct ing_span file = ing_link_file(url);
	const char *stem = ing_link_unescape(j->v, ing_link_stem(file));
	const char *name = ing_link_fold(j->v, stem, strlen(stem));
	const char *label = ing_link_label(j, n);
	struct ing_link_judgement ret = {
		.score = ING_LINK_NEVER, .label = ing_link_words_label(label)};
	bool exempt = false;
	ret.another = ing_link_has_another_doi(j->v, url) ||
		      ing_link_has_another_number(j->v, url) ||
		      is_of_another_document(j, n, url, label, name, &exempt);
	if (ret.another)
		return ret;
	int place = place_score(j, n);
	if (place == ING_LINK_NEVER)
		return ret;
	bool title = names_title(j, name) || names_title(j, label);
	ret.doubtful = exempt && !title;
	ret.identity = title || names_id(j, url, file);
	ret.score = place + label_points[ret.label] + (ret.identity ? IDENTITY : 0) +
		    (j->has_record ? RECORD : 0) + (ret.doubtful ? DOUBTFUL : 0);
	return ret;
}

const char *ing_link_label(const struct ing_link_judge *j, ing_node n)
{
	static const char *const attrs[] = {"aria-label", "title", "alt"};
	const struct ing_tree *t = j->v->tree;
	const char *folded = ing_link_fold_node(j->v, n);
	for (size_t i = 0; i < 2 && folded[1] == '\0'; i++) {
		const char *value = ing_tree_attr(t, n, attrs[i], NULL);
		if (value != NULL)
			folded = ing_link_fold(j->v, value, strlen(value));
	}
	ing_node img = folded[1] == '\0' ? ing_tree_next_named(t, n, n, "img") : ING_NODE_NONE;
	const char *alt = img != ING_NODE_NONE ? ing_tree_attr(t, img, "alt", NULL) : NULL;
	return alt != NULL ? ing_link_fold(j->v, alt, strlen(alt)) : folded;
}
