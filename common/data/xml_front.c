/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A scanner for the prolog, which stops at the third start tag, and a table of roots.
 */
#include "common/data/xml_front.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"

#define MAX_TAGS 3 /* the root and what it begins with */

struct span {
	const char *at;
	size_t left;
};

struct tag {
	struct span name;  /* with its prefix */
	struct span attrs; /* all of them, as written */
};

struct front {
	bool declared;
	struct span doctype; /* what stands in the DOCTYPE, without its internal subset */
	struct tag tags[MAX_TAGS];
	size_t count;
};

/* --- scanning --- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip(struct span *s, size_t n)
{
	s->at += n;
	s->left -= n;
}

static void skip_space(struct span *s)
{
	while (s->left > 0 && is_space(*s->at))
		skip(s, 1);
}

static bool begins(const struct span *s, const char *word)
{
	size_t n = strlen(word);
	return s->left >= n && memcmp(s->at, word, n) == 0;
}

static bool skip_past(struct span *s, const char *word)
{
	size_t n = strlen(word);
	const char *found = memmem(s->at, s->left, word, n);
	if (found == NULL)
		return false;
	skip(s, (size_t)(found - s->at) + n);
	return true;
}

/* Goes to the first of these characters outside of quotes. */
static bool skip_to(struct span *s, const char *ends)
{
	while (s->left > 0 && strchr(ends, *s->at) == NULL) {
		bool quote = *s->at == '"' || *s->at == '\'';
		const char *close = quote ? memchr(s->at + 1, *s->at, s->left - 1) : s->at;
		if (close == NULL)
			return false;
		skip(s, (size_t)(close - s->at) + 1);
	}
	return s->left > 0 && *s->at != '\0';
}

/* An internal subset, s being on its '['. A bracket in a comment there ends the scan early, and
 * then the document is one that nothing is known of. */
static bool skip_subset(struct span *s)
{
	skip(s, 1);
	while (skip_to(s, "]<")) {
		if (*s->at == ']')
			return skip_to(s, ">");
		bool comment = begins(s, "<!--");
		if (comment ? !skip_past(s, "-->") : !skip_to(s, ">"))
			return false;
	}
	return false;
}

static bool read_doctype(struct span *s, struct front *ret)
{
	const char *start = s->at;
	if (!skip_to(s, "[>"))
		return false;
	ret->doctype = (struct span){.at = start, .left = (size_t)(s->at - start)};
	if (*s->at == '[' && !skip_subset(s))
		return false;
	skip(s, 1);
	return true;
}

/* s is on the '<'. The root's name is enough, where its attributes go on beyond what is read. */
static bool read_tag(struct span *s, struct front *ret)
{
	skip(s, 1);
	struct tag *tag = &ret->tags[ret->count];
	const char *start = s->at;
	while (s->left > 0 && !is_space(*s->at) && *s->at != '>' && *s->at != '/')
		skip(s, 1);
	tag->name = (struct span){.at = start, .left = (size_t)(s->at - start)};
	if (s->left == 0)
		return false;
	start = s->at;
	bool whole = skip_to(s, ">");
	tag->attrs = (struct span){.at = start, .left = (size_t)(s->at - start)};
	ret->count++;
	if (whole)
		skip(s, 1);
	return whole;
}

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c >= 0x80;
}

/* One piece of markup; false when there is nothing more to read. */
static bool read_piece(struct span *s, struct front *ret)
{
	skip_space(s);
	if (begins(s, "<?"))
		return skip_past(s, "?>");
	if (begins(s, "<!--"))
		return skip_past(s, "-->");
	if (ret->count == 0 && begins(s, "<!DOCTYPE")) {
		skip(s, strlen("<!DOCTYPE"));
		return read_doctype(s, ret);
	}
	return s->left >= 2 && *s->at == '<' && is_name_start(s->at[1]) && read_tag(s, ret);
}

static void read_front(struct span s, struct front *ret)
{
	if (begins(&s, "\xef\xbb\xbf"))
		skip(&s, 3);
	skip_space(&s); /* not allowed before a declaration, but seen */
	ret->declared = begins(&s, "<?xml") && s.left > 5 && is_space(s.at[5]);
	while (ret->count < MAX_TAGS && read_piece(&s, ret))
		;
}

/* --- what it is --- */

static bool is(const struct span *s, const char *word)
{
	return s->left == strlen(word) && memcmp(s->at, word, s->left) == 0;
}

static bool holds(const struct span *s, const char *word)
{
	size_t n = strlen(word);
	for (size_t i = 0; s->left >= n && i <= s->left - n; i++)
		if (strncasecmp(s->at + i, word, n) == 0)
			return true;
	return false;
}

static bool holds_any(const struct span *s, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (holds(s, words[i]))
			return true;
	return false;
}

static struct span local_name(struct span name)
{
	const char *colon = memchr(name.at, ':', name.left);
	if (colon != NULL)
		skip(&name, (size_t)(colon - name.at) + 1);
	return name;
}

/* Whether the root begins with a front that has the journal or the article in it. */
static bool has_jats_front(const struct front *f)
{
	return f->count == MAX_TAGS && is(&f->tags[1].name, "front") &&
	       (is(&f->tags[2].name, "journal-meta") || is(&f->tags[2].name, "article-meta"));
}

/* DocBook has an <article>, too, and so have others. */
static bool is_jats_article(const struct front *f)
{
	static const char *const doctypes[] = {"//DTD JATS", "//NLM//DTD", "JATS-", "NISO-STS",
		"archivearticle", "journalpublishing", "journalarchiving", "articleauthoring"};
	static const char *const attrs[] = {"article-type=", "dtd-version=", "xmlns:xlink=",
		"xmlns:mml=", "xmlns:ali=", "jats.nlm.nih.gov", "dtd.nlm.nih.gov"};
	const struct tag *root = &f->tags[0];
	if (holds_any(&f->doctype, doctypes, ING_ARRAY_LEN(doctypes)))
		return true;
	if (holds(&f->doctype, "docbook") || holds(&root->attrs, "docbook"))
		return false;
	return holds_any(&root->attrs, attrs, ING_ARRAY_LEN(attrs)) || has_jats_front(f);
}

static enum ing_xml_kind kind_of_root(const struct front *f)
{
	struct span root = local_name(f->tags[0].name);
	if (root.left == 4 && strncasecmp(root.at, "html", 4) == 0)
		return holds(&f->tags[0].attrs, "http://www.w3.org/1999/xhtml") ? ING_XML_XHTML
										: ING_XML_HTML;
	if (is(&root, "pmc-articleset") || (is(&root, "article") && is_jats_article(f)))
		return ING_XML_JATS;
	if (is(&root, "TEI") || is(&root, "TEI.2") || is(&root, "teiCorpus"))
		return ING_XML_TEI;
	if (is(&root, "PubmedArticleSet") || is(&root, "PubmedArticle") ||
		is(&root, "MedlineCitationSet"))
		return ING_XML_PUBMED;
	return is(&root, "svg") ? ING_XML_SVG : ING_XML_OTHER;
}

/* UTF-16 to bytes; what is not ASCII is a letter. Returns whether it was UTF-16. */
static bool narrow(const uint8_t *s, size_t bytes, char *to, size_t *ret_bytes)
{
	if (bytes < 4)
		return false;
	bool little = (s[0] == 0xff && s[1] == 0xfe) || memcmp(s, "<\0?\0", 4) == 0;
	bool big = (s[0] == 0xfe && s[1] == 0xff) || memcmp(s, "\0<\0?", 4) == 0;
	if (!little && !big)
		return false;
	size_t n = 0;
	for (size_t i = s[0] >= 0xfe ? 2 : 0; i + 1 < bytes; i += 2) {
		uint8_t high = little ? s[i + 1] : s[i], low = little ? s[i] : s[i + 1];
		to[n++] = high == 0 && low < 0x80 ? (char)low : 'x';
	}
	*ret_bytes = n;
	return true;
}

/* -------------------------------------------------------------------------------------------- */

enum ing_xml_kind ing_xml_front_kind(const void *data, size_t bytes, bool *ret_declared)
{
	char narrowed[ING_XML_FRONT_BYTES / 2];
	struct span s = {.at = data, .left = ING_MIN(bytes, ING_XML_FRONT_BYTES)};
	if (narrow(data, s.left, narrowed, &s.left))
		s.at = narrowed;
	struct front f = {0};
	read_front(s, &f);
	*ret_declared = f.declared;
	return f.count == 0 ? ING_XML_NONE : kind_of_root(&f);
}
