/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words of class names: a constant table, sorted for a binary search, and how a name is divided.
 */
#include "worker/document/text/class_words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"

#define LONGEST 16 /* bytes of the longest word below */

#define NAV ING_WORD_NAV
#define SHARE ING_WORD_SHARE
#define RELATED ING_WORD_RELATED
#define COMMENT ING_WORD_COMMENT
#define AD ING_WORD_AD
#define NOTICE ING_WORD_NOTICE
#define META ING_WORD_META
#define CHROME ING_WORD_CHROME
#define HIDDEN ING_WORD_HIDDEN
#define CREDIT ING_WORD_CREDIT
#define REFERENCES ING_WORD_REFERENCES
#define ARTICLE ING_WORD_ARTICLE
#define BODY ING_WORD_BODY
#define MAIN ING_WORD_MAIN
#define AUTHOR ING_WORD_AUTHOR
#define CAPTION ING_WORD_CAPTION
#define NOT ING_WORD_NOT
#define LAYOUT ING_WORD_LAYOUT
#define WIDGET ING_WORD_WIDGET
#define GALLERY ING_WORD_GALLERY
#define MATH ING_WORD_MATH
#define TEASER ING_WORD_TEASER
#define SECTION ING_WORD_SECTION

static const struct entry {
	char word[LONGEST + 1];
	uint32_t bits;
} table[] = {
	{"abo", NOTICE},
	{"abonnement", NOTICE},
	{"abstract", SECTION},
	{"ad", AD},
	{"adbox", AD},
	{"adcontainer", AD},
	{"addthis", SHARE},
	{"addtoany", SHARE},
	{"ads", AD},
	{"adsense", AD},
	{"adslot", AD},
	{"adunit", AD},
	{"advert", AD},
	{"advertisement", AD},
	{"advertising", AD},
	{"advertorial", AD},
	{"aehnliche", RELATED},
	{"affiliate", AD},
	{"anzeige", AD},
	{"article", ARTICLE},
	{"articlebody", ARTICLE | BODY},
	{"articleinfo", META},
	{"aside", CHROME},
	{"attribution", CREDIT},
	{"author", AUTHOR},
	{"authorbox", AUTHOR},
	{"authorinfo", AUTHOR},
	{"authors", AUTHOR},
	{"autor", AUTHOR},
	{"autoren", AUTHOR},
	{"banner", AD},
	{"bibliography", REFERENCES},
	{"bildnachweis", CREDIT},
	{"bildunterschrift", CAPTION},
	{"billboard", AD},
	{"bio", AUTHOR},
	{"biography", AUTHOR},
	{"body", BODY},
	{"bodytext", ARTICLE | BODY},
	{"breadcrumb", NAV},
	{"breadcrumbs", NAV},
	{"byline", META},
	{"caption", CAPTION},
	{"carousel", GALLERY},
	{"categories", META},
	{"catlinks", META},
	{"citations", REFERENCES},
	{"colophon", CHROME},
	{"comment", COMMENT},
	{"commentform", COMMENT},
	{"commentlist", COMMENT},
	{"comments", COMMENT},
	{"commercial", AD},
	{"conclusion", SECTION},
	{"conclusions", SECTION},
	{"consent", NOTICE},
	{"content", BODY},
	{"cookie", NOTICE},
	{"cookies", NOTICE},
	{"copyright", CREDIT},
	{"copyrights", CREDIT},
	{"credit", CREDIT},
	{"credits", CREDIT},
	{"crosssell", RELATED},
	{"crossselling", RELATED},
	{"crumb", NAV},
	{"crumbs", NAV},
	{"cta", NOTICE},
	{"dachzeile", META},
	{"dateline", META},
	{"datetime", META},
	{"dfp", AD},
	{"discuss", COMMENT},
	{"discussion", SECTION},
	{"disqus", COMMENT},
	{"donate", NOTICE},
	{"donation", NOTICE},
	{"dropdown", NAV},
	{"editsection", SHARE},
	{"entry", ARTICLE},
	{"entrymeta", META},
	{"eyebrow", META},
	{"factbox", RELATED},
	{"fblike", SHARE},
	{"feedback", COMMENT},
	{"figcaption", CAPTION},
	{"flyout", NAV},
	{"follow", SHARE},
	{"followus", SHARE},
	{"footer", CHROME},
	{"format", NOT},
	{"fotocredit", CREDIT},
	{"fulltext", SECTION},
	{"further", RELATED},
	{"furtherreading", RELATED},
	{"galleria", GALLERY},
	{"gallery", GALLERY},
	{"gdpr", NOTICE},
	{"gpt", AD},
	{"grid", LAYOUT},
	{"has", NOT},
	{"hatnote", NAV},
	{"heateor", SHARE},
	{"helper", LAYOUT},
	{"hentry", ARTICLE},
	{"hidden", HIDDEN},
	{"highlights", SECTION},
	{"imagedescription", CAPTION},
	{"impressum", CHROME},
	{"infobar", NOTICE},
	{"interesting", RELATED},
	{"introduction", SECTION},
	{"invisible", HIDDEN},
	{"jax", MATH},
	{"js", NOT},
	{"katex", MATH},
	{"keywords", META},
	{"kicker", META},
	{"kommentar", COMMENT},
	{"kommentarbereich", COMMENT},
	{"kommentare", COMMENT},
	{"layout", LAYOUT},
	{"leaderboard", AD},
	{"legend", CAPTION},
	{"ligatus", RELATED},
	{"lightbox", NOTICE},
	{"linkbox", RELATED},
	{"login", NOTICE},
	{"mailchimp", NOTICE},
	{"main", MAIN},
	{"mainnav", NAV},
	{"marginal", CHROME},
	{"marginalia", CHROME},
	{"marginalie", CHROME},
	{"masthead", NAV},
	{"mathjax", MATH},
	{"membership", NOTICE},
	{"menu", NAV},
	{"menubar", NAV},
	{"meta", META},
	{"metadata", META},
	{"methods", SECTION},
	{"mjx", MATH},
	{"modal", NOTICE},
	{"morearticles", RELATED},
	{"morenews", RELATED},
	{"mostpopular", RELATED},
	{"mostread", RELATED},
	{"nav", NAV},
	{"navbar", NAV},
	{"navbox", NAV},
	{"navi", NAV},
	{"navigation", NAV},
	{"navigator", NAV},
	{"newsletter", NOTICE},
	{"newslist", RELATED},
	{"no", NOT},
	{"noprint", HIDDEN},
	{"notification", NOTICE},
	{"notifications", NOTICE},
	{"offcanvas", NAV},
	{"offscreen", HIDDEN},
	{"onetrust", NOTICE},
	{"optin", NOTICE},
	{"outbrain", RELATED},
	{"overlay", NOTICE},
	{"overline", META},
	{"pagenav", NAV},
	{"pager", NAV},
	{"pagination", NAV},
	{"paywall", NOTICE},
	{"permalink", META},
	{"photographer", CREDIT},
	{"piano", NOTICE},
	{"player", GALLERY},
	{"plista", RELATED},
	{"poll", COMMENT},
	{"popular", RELATED},
	{"popup", NOTICE},
	{"post", ARTICLE},
	{"postbody", ARTICLE | BODY},
	{"posted", META},
	{"postinfo", META},
	{"postmeta", META},
	{"preheadline", META},
	{"promo", AD},
	{"promobox", AD},
	{"promotion", AD},
	{"pubdate", META},
	{"publicidad", AD},
	{"publicite", AD},
	{"published", META},
	{"rating", COMMENT},
	{"ratings", COMMENT},
	{"readmore", RELATED},
	{"readtime", META},
	{"recirc", RELATED},
	{"recirculation", RELATED},
	{"recommend", RELATED},
	{"recommendation", RELATED},
	{"recommendations", RELATED},
	{"recommended", RELATED},
	{"recommends", RELATED},
	{"redakteur", AUTHOR},
	{"references", REFERENCES},
	{"reflist", REFERENCES},
	{"refs", REFERENCES},
	{"register", NOTICE},
	{"relacionadas", RELATED},
	{"relacionados", RELATED},
	{"related", RELATED},
	{"relatedcontent", RELATED},
	{"relatedlinks", RELATED},
	{"relatedposts", RELATED},
	{"relateds", RELATED},
	{"replies", COMMENT},
	{"reply", COMMENT},
	{"respond", COMMENT},
	{"results", SECTION},
	{"revcontent", RELATED},
	{"reviews", COMMENT},
	{"saboxplugin", AUTHOR},
	{"screenreader", HIDDEN},
	{"search", NAV},
	{"searchbox", NAV},
	{"searchform", NAV},
	{"share", SHARE},
	{"shareaholic", SHARE},
	{"sharebar", SHARE},
	{"sharebuttons", SHARE},
	{"sharedaddy", SHARE},
	{"sharethis", SHARE},
	{"shariff", SHARE},
	{"sharing", SHARE},
	{"sidebar", CHROME},
	{"sidebars", CHROME},
	{"signup", NOTICE},
	{"similar", RELATED},
	{"sitemap", NAV},
	{"skip", NAV},
	{"skiplink", NAV},
	{"skipnav", NAV},
	{"skyscraper", AD},
	{"slider", GALLERY},
	{"slideshow", GALLERY},
	{"sociable", SHARE},
	{"social", SHARE},
	{"socialmedia", SHARE},
	{"socials", SHARE},
	{"spenden", NOTICE},
	{"sponsor", AD},
	{"sponsored", AD},
	{"sponsors", AD},
	{"story", ARTICLE},
	{"storybody", ARTICLE | BODY},
	{"submenu", NAV},
	{"subnav", NAV},
	{"subscribe", NOTICE},
	{"subscriber", NOTICE},
	{"subscription", NOTICE},
	{"suggested", RELATED},
	{"suggestions", RELATED},
	{"swiper", GALLERY},
	{"taboola", RELATED},
	{"tagcloud", META},
	{"taglist", META},
	{"tags", META},
	{"taxonomy", META},
	{"teaser", TEASER},
	{"teasers", RELATED},
	{"template", LAYOUT},
	{"text", BODY},
	{"timestamp", META},
	{"toast", NOTICE},
	{"toolbar", NAV},
	{"tooltip", NOTICE},
	{"topbar", NAV},
	{"topics", META},
	{"topnav", NAV},
	{"topstories", RELATED},
	{"trending", RELATED},
	{"updated", META},
	{"upnext", RELATED},
	{"verwandte", RELATED},
	{"videoplayer", GALLERY},
	{"vjs", GALLERY},
	{"vote", COMMENT},
	{"votes", COMMENT},
	{"voting", COMMENT},
	{"werbung", AD},
	{"widget", WIDGET},
	{"widgets", WIDGET},
	{"with", NOT},
	{"without", NOT},
	{"writer", AUTHOR},
	{"yarpp", RELATED},
	{"zergnet", RELATED},
};

static int compare(const void *key, const void *entry)
{
	return strcmp(key, ((const struct entry *)entry)->word);
}

static uint32_t look_up(const char *word)
{
	const struct entry *e =
		bsearch(word, table, ING_ARRAY_LEN(table), sizeof(table[0]), compare);
	return e != NULL ? e->bits : 0;
}

/* Bits that count only when the word is the whole name. */
#define ALONE HIDDEN
/* Bits that count only of a name's first word. */
#define FIRST WIDGET
/* Bits that count behind "--" too, where a name tells the state of its element. */
#define OF_MODIFIER (RELATED | COMMENT | SHARE | META | AUTHOR | CAPTION | NOT)
/* Bits that a name does not have when it says that it is the main part of something, or its frame. */
#define NOT_MAIN (CHROME | AD | NAV | NOTICE)

/* Bits that an element does not have beside the name of a paper's section. */
#define NOT_SECTION (AUTHOR | META | TEASER | RELATED | WIDGET)

/* A word of a name, in lower case. */
struct word {
	char text[LONGEST + 1]; /* cut when longer */
	size_t bytes;
	bool modifier; /* behind "--" */
	bool in_hash;  /* behind a figure, as in "c3ad" */
};

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_letter(char c)
{
	return is_upper(c) || (c >= 'a' && c <= 'z');
}

/* The next word from *at on; returns false at the end of the name. */
static bool next_word(const char *name, size_t bytes, size_t *at, struct word *w)
{
	size_t i = *at;
	for (; i < bytes && !is_letter(name[i]); i++) {
		if (i > 0 && name[i] == '-' && name[i - 1] == '-')
			w->modifier = true;
	}
	size_t n = 0;
	w->in_hash = i > 0 && name[i - 1] >= '0' && name[i - 1] <= '9';
	for (; i < bytes && is_letter(name[i]); i++, n++) {
		if (n > 0 && is_upper(name[i]) && !is_upper(name[i - 1]))
			break;
		if (n < LONGEST)
			w->text[n] = (char)(is_upper(name[i]) ? name[i] + ('a' - 'A') : name[i]);
	}
	w->text[ING_MIN(n, (size_t)LONGEST)] = '\0';
	w->bytes = n;
	*at = i;
	return n > 0;
}

static unsigned count_words(const char *name, size_t bytes)
{
	struct word w = {0};
	unsigned count = 0;
	for (size_t at = 0; next_word(name, bytes, &at, &w);)
		count++;
	return count;
}

/* The notations of utility classes, "md:hidden" or "Mb(20px)", name no thing. */
static bool is_style(const char *name, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (name[i] == '(' || name[i] == ':' || name[i] == '[' || name[i] == '/' ||
			name[i] == '@' || name[i] == '!' || name[i] == '%')
			return true;
	}
	return false;
}

static uint32_t bits_of_word(const struct word *w, bool first)
{
	uint32_t bits = w->bytes <= LONGEST && !w->in_hash ? look_up(w->text) : 0;
	if (!first)
		bits &= ~(uint32_t)FIRST;
	if (w->modifier)
		bits &= OF_MODIFIER;
	return bits;
}

static uint32_t bits_of_name(const char *name, size_t bytes, unsigned most_words)
{
	struct word w = {0};
	uint32_t bits = 0;
	unsigned count = count_words(name, bytes);
	if (count == 0 || count > most_words || is_style(name, bytes))
		return 0;
	bool first = true;
	for (size_t at = 0; next_word(name, bytes, &at, &w); first = false) {
		uint32_t of_word = bits_of_word(&w, first);
		if (of_word & NOT)
			break; /* "has-sidebar": has, not is */
		bits |= of_word;
	}
	if (count > 1)
		bits &= ~(uint32_t)ALONE;
	else if (bits & (CHROME | COMMENT | NAV))
		bits |= ING_WORD_STRONG;
	if (bits & (LAYOUT | MAIN))
		bits &= ~(uint32_t)NOT_MAIN;
	return bits;
}

/* -------------------------------------------------------------------------------------------- */

uint32_t ing_class_words(const char *value, size_t bytes, unsigned most_words)
{
	uint32_t all = 0;
	for (size_t i = 0; i < bytes;) {
		while (i < bytes && (unsigned char)value[i] <= ' ')
			i++;
		size_t start = i;
		while (i < bytes && (unsigned char)value[i] > ' ')
			i++;
		all |= bits_of_name(value + start, i - start, most_words);
	}
	if (all & SECTION)
		all &= ~(uint32_t)NOT_SECTION;
	return all & MATH ? MATH : all;
}
