/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words of class names: a constant table, sorted for a binary search.
 */
#include "worker/document/text/class_words.h"

#include <stdbool.h>
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
#define TITLE ING_WORD_TITLE
#define ARTICLE ING_WORD_ARTICLE
#define BODY ING_WORD_BODY
#define MAIN ING_WORD_MAIN
#define AUTHOR ING_WORD_AUTHOR
#define CAPTION ING_WORD_CAPTION
#define LIST ING_WORD_LIST
#define NOT ING_WORD_NOT
#define EMBED ING_WORD_EMBED

static const struct entry {
	char word[LONGEST + 1];
	uint32_t bits;
} table[] = {
	{"ad", AD},
	{"addthis", SHARE},
	{"addtoany", SHARE},
	{"adsense", AD},
	{"ads", AD},
	{"adslot", AD},
	{"advert", AD},
	{"advertisement", AD},
	{"advertising", AD},
	{"anzeige", AD},
	{"article", ARTICLE},
	{"articlebody", ARTICLE | BODY},
	{"author", AUTHOR},
	{"banner", AD},
	{"bio", AUTHOR},
	{"body", BODY},
	{"bodytext", ARTICLE | BODY},
	{"breadcrumb", NAV},
	{"breadcrumbs", NAV},
	{"byline", META},
	{"caption", CAPTION},
	{"cards", LIST},
	{"categories", META},
	{"comment", COMMENT},
	{"commentlist", COMMENT},
	{"comments", COMMENT},
	{"consent", NOTICE},
	{"content", BODY},
	{"cookie", NOTICE},
	{"cookies", NOTICE},
	{"copyright", CREDIT},
	{"credit", CREDIT},
	{"credits", CREDIT},
	{"dateline", META},
	{"disqus", COMMENT},
	{"entry", ARTICLE},
	{"follow", SHARE},
	{"footer", CHROME},
	{"gdpr", NOTICE},
	{"has", NOT},
	{"hentry", ARTICLE},
	{"hidden", HIDDEN},
	{"jp", 0},
	{"kommentar", COMMENT},
	{"kommentare", COMMENT},
	{"login", NOTICE},
	{"main", MAIN},
	{"masthead", NAV},
	{"menu", NAV},
	{"meta", META},
	{"metadata", META},
	{"modal", NOTICE},
	{"nav", NAV},
	{"navbar", NAV},
	{"navigation", NAV},
	{"newsletter", NOTICE},
	{"no", NOT},
	{"noprint", HIDDEN},
	{"outbrain", RELATED},
	{"overlay", NOTICE},
	{"pager", NAV},
	{"pagination", NAV},
	{"paywall", NOTICE},
	{"popular", RELATED},
	{"popup", NOTICE},
	{"post", ARTICLE},
	{"postbody", ARTICLE | BODY},
	{"promo", AD},
	{"read", 0},
	{"recommend", RELATED},
	{"recommendation", RELATED},
	{"recommendations", RELATED},
	{"recommended", RELATED},
	{"references", REFERENCES},
	{"register", NOTICE},
	{"related", RELATED},
	{"relatedposts", RELATED},
	{"reply", COMMENT},
	{"respond", COMMENT},
	{"search", NAV},
	{"share", SHARE},
	{"sharedaddy", SHARE},
	{"sharing", SHARE},
	{"sidebar", CHROME},
	{"skip", NAV},
	{"social", SHARE},
	{"sponsor", AD},
	{"sponsored", AD},
	{"story", ARTICLE},
	{"storybody", ARTICLE | BODY},
	{"subscribe", NOTICE},
	{"subscription", NOTICE},
	{"taboola", RELATED},
	{"tagcloud", META},
	{"tags", META},
	{"taglist", META},
	{"teaser", RELATED},
	{"teasers", RELATED},
	{"text", BODY},
	{"timestamp", META},
	{"title", TITLE},
	{"toolbar", NAV},
	{"trending", RELATED},
	{"tweet", EMBED},
	{"widget", CHROME},
	{"widgets", CHROME},
	{"with", NOT},
	{"without", NOT},
};

static uint32_t look_up(const char *word)
{
	/* The table is small, and so is its sorted copy: see sort_table(). */
	static struct entry sorted[ING_ARRAY_LEN(table)];
	static bool is_sorted;
	if (!is_sorted) {
		size_t n = 0;
		for (size_t i = 0; i < ING_ARRAY_LEN(table); i++) {
			size_t j = n++;
			for (; j > 0 && strcmp(sorted[j - 1].word, table[i].word) > 0; j--)
				sorted[j] = sorted[j - 1];
			sorted[j] = table[i];
		}
		is_sorted = true;
	}
	size_t low = 0;
	size_t high = ING_ARRAY_LEN(table);
	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = strcmp(word, sorted[mid].word);
		if (order == 0)
			return sorted[mid].bits;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

uint32_t ing_class_words(const char *value, size_t bytes)
{
	uint32_t all = 0;
	size_t i = 0;
	while (i < bytes) {
		/* one name, up to white space */
		uint32_t bits = 0;
		bool first = true;
		while (i < bytes && value[i] > ' ') {
			char word[LONGEST + 1];
			size_t n = 0;
			bool lower = false;
			while (i < bytes) {
				char c = value[i];
				bool up = c >= 'A' && c <= 'Z';
				if (up && lower)
					break; /* camelCase */
				if (!up && !(c >= 'a' && c <= 'z'))
					break;
				lower = !up;
				if (n <= LONGEST)
					word[ING_MIN(n, LONGEST)] = (char)(up ? c + 32 : c);
				n++;
				i++;
			}
			if (n > 0 && n <= LONGEST) {
				word[n] = 0;
				uint32_t b = look_up(word);
				if (first && (b & ING_WORD_NOT)) {
					while (i < bytes && value[i] > ' ')
						i++;
					bits = 0;
					break;
				}
				bits |= b;
				first = false;
			}
			if (n == 0)
				i++;
		}
		all |= bits;
		while (i < bytes && (unsigned char)value[i] <= ' ')
			i++;
		if (i < bytes && (value[i] & 0x80)) /* not ASCII: skip */
			i++;
	}
	return all;
}
