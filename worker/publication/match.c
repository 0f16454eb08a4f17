/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reasons have weights, which are added up as logarithms of odds are. Texts are compared by their
 * letters alone, without case and accents, so that hyphens, ligatures and line ends do not matter.
 */
#include "worker/publication/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "common/data/unicode.h"
#include "worker/publication/identifiers.h"
#include "worker/scrape/biblio/ident.h"

#define TEXT_BYTES ((size_t)24 << 10) /* of a document: some pages, with the first after a cover */
#define FRONT_BYTES ((size_t)3 << 10) /* where a document has its own DOI, and no reference */
#define HEAD_LETTERS 400u             /* where it says what kind of document it is */
#define MIN_TEXT_LETTERS 300u         /* fewer are a scan with a stamp */
#define MIN_TITLE_LETTERS 14u         /* shorter titles are in too many texts */
#define MIN_WORD_LETTERS 4u
#define MAX_NAMES 50u
#define MAX_REASONS 16u

enum reason {
	DOI,
	OTHER_DOI,
	ARXIV,
	PMCID,
	TITLE,
	TITLE_WORDS,
	NO_TITLE,
	AUTHORS,
	NO_AUTHOR,
	PAGES,
	TOO_FEW_PAGES,
	TOO_MANY_PAGES,
	SUPPLEMENT,
	GUIDE,
	PAGE_IDS,
	PAGE_OTHER_IDS,
	PAGE_TITLE,
	PAGE_OTHER_TITLE,
	REASONS_
};

static const struct {
	const char *name;
	double weight;
} reasons[REASONS_] = {
	[DOI] = {"doi", 3},
	[OTHER_DOI] = {"other-doi", -2},
	[ARXIV] = {"arxiv", 3},
	[PMCID] = {"pmcid", 1},
	[TITLE] = {"title", 2.5},
	[TITLE_WORDS] = {"title-words", 1},
	[NO_TITLE] = {"no-title", -2},
	[AUTHORS] = {"authors", 1},
	[NO_AUTHOR] = {"no-author", -1},
	[PAGES] = {"pages", 0.5},
	[TOO_FEW_PAGES] = {"too-few-pages", -1.5},
	[TOO_MANY_PAGES] = {"too-many-pages", -1},
	[SUPPLEMENT] = {"supplement", -2.5},
	[GUIDE] = {"guide", -4},
	[PAGE_IDS] = {"landing-page-ids", 1},
	[PAGE_OTHER_IDS] = {"landing-page-other-ids", -2},
	[PAGE_TITLE] = {"landing-page-title", 0.5},
	[PAGE_OTHER_TITLE] = {"landing-page-other-title", -1.5},
};

struct ing_match {
	unsigned found; /* bits 1 << enum reason */
};

static void add(struct ing_match *m, enum reason r)
{
	m->found |= 1u << r;
}

static bool has(const struct ing_match *m, enum reason r)
{
	return (m->found >> r & 1) != 0;
}

/* --- texts --- */

/* Appends the letters of a text. The library reads 4,096 bytes at a time. */
static void add_letters(struct ing_buf *out, const char *s, size_t bytes)
{
	while (bytes > 0) {
		size_t n = ing_utf8_cut(s, bytes, 4000);
		if (n == 0)
			n = 1; /* no UTF-8 */
		ing_unicode_letters(s, n, out);
		s += n;
		bytes -= n;
	}
}

/* Appends the beginning of a document without its markup. */
static void add_text(struct ing_buf *out, const struct ing_match_document *d)
{
	bool in_tag = false;
	size_t bytes = d->is_markup ? ING_MIN(d->text_bytes, TEXT_BYTES * 4)
				    : ing_utf8_cut(d->text, d->text_bytes, TEXT_BYTES);
	if (!d->is_markup) {
		ing_buf_add(out, d->text, bytes);
		return;
	}
	for (size_t i = 0; i < bytes && out->len < TEXT_BYTES; i++) {
		bool opens = d->text[i] == '<', closes = d->text[i] == '>';
		if (!in_tag && !opens)
			ing_buf_add_char(out, d->text[i]);
		else if (closes)
			ing_buf_add_char(out, ' ');
		in_tag = (in_tag || opens) && !closes;
	}
}

static bool has_letters(const struct ing_buf *all, const struct ing_buf *part)
{
	return all->len > 0 && part->len > 0 &&
	       memmem(all->data, all->len, part->data, part->len) != NULL;
}

/* How many of the longer words of a title are in a text, of how many. */
static unsigned count_words(const char *title, const struct ing_buf *letters, unsigned *ret_of)
{
	unsigned count = 0, of = 0;
	struct ing_buf word;
	ing_buf_init(&word, 4096);
	while (*title != '\0' && of < 40) {
		size_t n = strcspn(title, " \t\n\r-/:,.;()");
		ing_buf_clear(&word);
		add_letters(&word, title, ING_MIN(n, (size_t)200));
		if (word.len >= MIN_WORD_LETTERS) {
			of++;
			count += has_letters(letters, &word);
		}
		title += n + (title[n] != '\0');
	}
	ing_buf_done(&word);
	*ret_of = of;
	return count;
}

enum likeness { UNLIKE, MAYBE, WORDS, SAME };

/* Whether a title is in a text of letters. */
static enum likeness find_title(const char *title, const struct ing_buf *letters)
{
	struct ing_buf wanted;
	ing_buf_init(&wanted, 8192);
	add_letters(&wanted, title, ing_utf8_cut(title, strlen(title), 1000));
	bool is_short = wanted.len < MIN_TITLE_LETTERS, found = has_letters(letters, &wanted);
	ing_buf_done(&wanted);
	unsigned of, count = count_words(title, letters, &of);
	if (is_short || of == 0)
		return MAYBE;
	if (found)
		return SAME;
	if (of >= 4 && count * 10 >= of * 8)
		return WORDS;
	return of >= 3 && count * 10 <= of * 4 ? UNLIKE : MAYBE;
}

/* --- identifiers --- */

/* Appends a DOI in its normal form; false: it is none. */
static bool normal_doi(const char *s, size_t bytes, struct ing_buf *ret)
{
	return ing_identifier_normal(ING_PART_DOI, s, bytes, ret);
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether an identifier may end here: no more of it follows but a version. */
static bool ends_here(const char *s)
{
	if (*s == '\0' || (!is_alnum(*s) && (strchr("./-_", *s) == NULL || !is_alnum(s[1]))))
		return true;
	if (is_alnum(*s))
		return false;
	s += s[1] == 'v' || s[1] == 'V' ? 2 : 1;
	size_t digits = strspn(s, "0123456789");
	return digits > 0 && digits < 4 && !is_alnum(s[digits]);
}

/* Whether an identifier stands in a text, and not as the beginning of a longer one. */
static bool stands_in(const struct ing_buf *text, const char *id)
{
	for (const char *s = ing_buf_str(text); (s = strcasestr(s, id)) != NULL; s++)
		if (ends_here(s + strlen(id)))
			return true;
	return false;
}

/* Appends the DOI that a document has itself: as it says, or the first in its text. */
static bool own_doi(
	const struct ing_match_document *d, const struct ing_buf *text, struct ing_buf *ret)
{
	if (d->doi != NULL && normal_doi(d->doi, strlen(d->doi), ret))
		return true;
	struct ing_buf first;
	ing_buf_init(&first, ING_MAX_PUBLICATION_ID_BYTES);
	bool found = ing_ident_doi_in(ing_buf_str(text), ING_MIN(text->len, FRONT_BYTES), &first) &&
		     normal_doi(ing_buf_str(&first), first.len, ret);
	ing_buf_done(&first);
	return found;
}

static void judge_doi(struct ing_match *m, const struct ing_match_work *w,
	const struct ing_match_document *d, const struct ing_buf *text)
{
	struct ing_buf wanted, own;
	ing_buf_init(&wanted, ING_MAX_PUBLICATION_ID_BYTES);
	ing_buf_init(&own, ING_MAX_PUBLICATION_ID_BYTES);
	if (w->doi != NULL && normal_doi(w->doi, strlen(w->doi), &wanted)) {
		bool has_own = own_doi(d, text, &own);
		const char *a = ing_buf_str(&wanted), *b = ing_buf_str(&own);
		bool same = has_own && (strcmp(a, b) == 0 || ing_identifier_same_work(a, b, NULL));
		/* Lines end within DOIs, and words follow them without a space. */
		bool is_part = has_own && strncmp(a, b, ING_MIN(wanted.len, own.len)) == 0;
		if (same || stands_in(text, a))
			add(m, DOI);
		else if (has_own && !is_part)
			add(m, OTHER_DOI);
	}
	ing_buf_done(&wanted);
	ing_buf_done(&own);
}

static void judge_ids(struct ing_match *m, const struct ing_match_work *w,
	const struct ing_match_document *d, const struct ing_buf *text)
{
	judge_doi(m, w, d, text);
	if (w->pmcid != NULL && *w->pmcid != '\0' && stands_in(text, w->pmcid))
		add(m, PMCID);
	if (w->arxiv == NULL || *w->arxiv == '\0')
		return;
	struct ing_buf stamp;
	size_t bytes = strlen(w->arxiv), version = bytes;
	while (version > 0 && w->arxiv[version - 1] >= '0' && w->arxiv[version - 1] <= '9')
		version--;
	if (version > 1 && version < bytes && w->arxiv[version - 1] == 'v')
		bytes = version - 1;
	ing_buf_init(&stamp, 300);
	ing_buf_printf(&stamp, "arXiv:%.*s", (int)ING_MIN(bytes, (size_t)200), w->arxiv);
	if (strcasestr(ing_buf_str(text), ing_buf_str(&stamp)) != NULL)
		add(m, ARXIV);
	ing_buf_done(&stamp);
}

/* --- the rest --- */

static void judge_title(struct ing_match *m, const struct ing_match_work *w,
	const struct ing_match_document *d, const struct ing_buf *letters)
{
	if (w->title == NULL)
		return;
	struct ing_buf own;
	ing_buf_init(&own, 8192);
	if (d->title != NULL)
		add_letters(&own, d->title, ing_utf8_cut(d->title, strlen(d->title), 1000));
	/* What a PDF's Info dictionary says is often not its title: that does not speak against. */
	enum likeness of_own = find_title(w->title, &own), of_text = UNLIKE;
	bool has_text = letters->len >= MIN_TEXT_LETTERS;
	if (has_text)
		of_text = find_title(w->title, letters);
	if (of_own == SAME || of_text == SAME)
		add(m, TITLE);
	else if (of_text == WORDS || of_own == WORDS)
		add(m, TITLE_WORDS);
	else if ((has_text || (d->text == NULL && own.len >= MIN_TITLE_LETTERS)) &&
		 of_text == UNLIKE && of_own == UNLIKE)
		add(m, NO_TITLE);
	ing_buf_done(&own);
}

/* The family name of "Given Family" and of "Family, Given". */
static void add_family_name(struct ing_buf *out, const char *name)
{
	const char *comma = strchr(name, ',');
	size_t bytes = comma != NULL ? (size_t)(comma - name) : strlen(name);
	size_t from = bytes;
	while (comma == NULL && from > 0 && name[from - 1] != ' ')
		from--;
	if (comma != NULL)
		from = 0;
	add_letters(out, name + from, ING_MIN(bytes - from, (size_t)200));
}

static void judge_authors(
	struct ing_match *m, const struct ing_match_work *w, const struct ing_buf *letters)
{
	unsigned found = 0, of = 0;
	size_t i;
	json_t *one;
	struct ing_buf name;
	ing_buf_init(&name, 2048);
	json_array_foreach (w->authors, i, one) {
		ing_buf_clear(&name);
		if (of < MAX_NAMES && json_is_string(one))
			add_family_name(&name, json_string_value(one));
		if (name.len < MIN_WORD_LETTERS)
			continue;
		of++;
		found += has_letters(letters, &name);
	}
	ing_buf_done(&name);
	if (of == 0 || letters->len < MIN_TEXT_LETTERS)
		return;
	if (found * 2 >= of)
		add(m, AUTHORS);
	else if (found == 0)
		add(m, NO_AUTHOR);
}

/* A cover page, or two, and an appendix may be there; a single page of many is a preview. */
static void judge_pages(struct ing_match *m, int wanted, int got)
{
	if (wanted <= 0 || got <= 0)
		return;
	if (got >= wanted && got <= wanted + 3)
		add(m, PAGES);
	else if (wanted >= 4 && got * 3 <= wanted)
		add(m, TOO_FEW_PAGES);
	else if (got > wanted * 4 + 20)
		add(m, TOO_MANY_PAGES);
}

/* What a document says at its beginning that it is. */
static void judge_kind(
	struct ing_match *m, const struct ing_match_work *w, const struct ing_buf *letters)
{
	static const struct {
		const char *words;
		enum reason reason;
	} kinds[] = {{"supplementarymaterial", SUPPLEMENT},
		{"supplementaryinformation", SUPPLEMENT}, {"supplementarydata", SUPPLEMENT},
		{"supplementalmaterial", SUPPLEMENT}, {"supplementalinformation", SUPPLEMENT},
		{"supportinginformation", SUPPLEMENT}, {"onlinesupplement", SUPPLEMENT},
		{"guideforauthors", GUIDE}, {"guidelinesforauthors", GUIDE},
		{"instructionsforauthors", GUIDE}, {"instructionstoauthors", GUIDE},
		{"authorguidelines", GUIDE}, {"submissionguidelines", GUIDE},
		{"copyrighttransfer", GUIDE}};
	struct ing_buf head = *letters, title;
	head.len = ING_MIN(letters->len, HEAD_LETTERS);
	ing_buf_init(&title, 8192);
	if (w->title != NULL)
		add_letters(&title, w->title, ing_utf8_cut(w->title, strlen(w->title), 1000));
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++) {
		size_t n = strlen(kinds[i].words);
		bool is_kind = head.len > 0 && memmem(head.data, head.len, kinds[i].words, n);
		bool is_work = title.len > 0 && memmem(title.data, title.len, kinds[i].words, n);
		if (is_kind && !is_work)
			add(m, kinds[i].reason);
	}
	ing_buf_done(&title);
}

/* Returns -1, 0 or 1: they differ, one is unknown, they are the same. */
static int compare_ids(enum ing_part_key key, const char *a, const char *b)
{
	struct ing_buf x, y;
	int ret = 0;
	ing_buf_init(&x, ING_MAX_PUBLICATION_ID_BYTES);
	ing_buf_init(&y, ING_MAX_PUBLICATION_ID_BYTES);
	if (a != NULL && b != NULL && ing_identifier_normal(key, a, strlen(a), &x) &&
		ing_identifier_normal(key, b, strlen(b), &y)) {
		bool same = strcmp(ing_buf_str(&x), ing_buf_str(&y)) == 0 ||
			    (key == ING_PART_DOI && ing_identifier_same_work(ing_buf_str(&x),
							    ing_buf_str(&y), NULL));
		ret = same ? 1 : -1;
	}
	ing_buf_done(&x);
	ing_buf_done(&y);
	return ret;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_match *ing_match_new(void)
{
	return ing_alloc(sizeof(struct ing_match));
}

void ing_match_free(struct ing_match *m)
{
	free(m);
}

void ing_match_document(struct ing_match *m, const struct ing_match_work *work,
	const struct ing_match_document *document)
{
	struct ing_buf text, letters;
	ing_buf_init(&text, TEXT_BYTES + ING_UTF8_BYTES);
	ing_buf_init(&letters, TEXT_BYTES * 4);
	if (document->text != NULL)
		add_text(&text, document);
	add_letters(&letters, ing_buf_str(&text), text.len);
	judge_ids(m, work, document, &text);
	judge_title(m, work, document, &letters);
	judge_authors(m, work, &letters);
	judge_pages(m, work->page_count, document->page_count);
	judge_kind(m, work, &letters);
	ing_buf_done(&text);
	ing_buf_done(&letters);
}

void ing_match_page(struct ing_match *m, const struct ing_match_work *work, const json_t *record)
{
	int doi = compare_ids(ING_PART_DOI, work->doi, ing_json_get_text(record, "doi"));
	int pmcid = compare_ids(ING_PART_PMCID, work->pmcid, ing_json_get_text(record, "pmcid"));
	if (doi > 0 || (doi == 0 && pmcid > 0))
		add(m, PAGE_IDS);
	else if (doi < 0 || pmcid < 0)
		add(m, PAGE_OTHER_IDS);
	const char *title = ing_json_get_text(record, "title");
	if (title == NULL || work->title == NULL)
		return;
	struct ing_buf letters;
	ing_buf_init(&letters, 8192);
	add_letters(&letters, title, ing_utf8_cut(title, strlen(title), 1000));
	enum likeness like = find_title(work->title, &letters);
	ing_buf_done(&letters);
	if (like >= WORDS)
		add(m, PAGE_TITLE);
	else if (like == UNLIKE)
		add(m, PAGE_OTHER_TITLE);
}

json_t *ing_match_json(const struct ing_match *m)
{
	if (m->found == 0)
		return NULL;
	double sum = 0;
	json_t *o = json_object(), *list = json_array();
	for (unsigned r = 0; r < REASONS_; r++)
		if (has(m, (enum reason)r)) {
			sum += reasons[r].weight;
			ing_json_append(list, ing_json_text(reasons[r].name));
		}
	ing_json_set(o, "score", json_real(round(100 / (1 + exp(-sum))) / 100));
	ing_json_set(o, "reasons", list);
	return o;
}
