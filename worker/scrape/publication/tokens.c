/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Words are looked up in tables by their first letter. Bytes are compared with 0x20 set: the words
 * consist of lower case letters, and no byte but a letter becomes one by that.
 */
#include "worker/scrape/publication/tokens.h"

#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "common/data/unicode.h"

/* The lists; a pattern is made of one or two of their words. */
enum {
	MENU = 1,  /* navigation itself */
	WITH = 2,  /* what navigation is qualified by */
	MAYBE = 4, /* what may be side matter */
};

struct word {
	const char *text;
	unsigned char bytes, list;
};

#define WORD(list, text)                                                                           \
	{                                                                                          \
		(text), sizeof(text) - 1, (list)                                                   \
	}
#define MAX_WORD_BYTES 13 /* "navigationbar", "complementary" */

static const struct word words['z' - 'a' + 1][9] = {
	['a' - 'a'] = {WORD(MAYBE, "accordion"), WORD(MAYBE, "aside")},
	['b' - 'a'] = {WORD(MENU, "breadcrumb"), WORD(MENU, "breadcrumbs"), WORD(WITH, "bottom"),
		WORD(MAYBE, "bar"), WORD(MAYBE, "bars")},
	['c' - 'a'] = {WORD(MAYBE, "complementary")},
	['h' - 'a'] = {WORD(MAYBE, "hidden")},
	['i' - 'a'] = {WORD(MAYBE, "invisible")},
	['j' - 'a'] = {WORD(MAYBE, "jump")},
	['l' - 'a'] = {WORD(WITH, "left"), WORD(MAYBE, "linklist"), WORD(MAYBE, "links"),
		WORD(MAYBE, "login")},
	['m' - 'a'] = {WORD(MENU, "menu"), WORD(MENU, "menubar"), WORD(WITH, "main"),
		WORD(WITH, "my")},
	['n' - 'a'] = {WORD(MENU, "nav"), WORD(MENU, "navigation"), WORD(MENU, "navbar"),
		WORD(MENU, "navigationbar")},
	['p' - 'a'] = {WORD(WITH, "page"), WORD(MAYBE, "pagination"), WORD(MAYBE, "path")},
	['r' - 'a'] = {WORD(WITH, "right"), WORD(MAYBE, "related")},
	['s' - 'a'] = {WORD(WITH, "side"), WORD(WITH, "site"), WORD(WITH, "sub"),
		WORD(MAYBE, "search"), WORD(MAYBE, "secondary"), WORD(MAYBE, "skip"),
		WORD(MAYBE, "social"), WORD(MAYBE, "socialmedia")},
	['t' - 'a'] = {WORD(WITH, "tool"), WORD(WITH, "top"), WORD(MAYBE, "tab"),
		WORD(MAYBE, "tabs")},
};

struct plain_word {
	const char *text;
	size_t bytes;
	unsigned means;
};

#define PLAIN(text, means)                                                                         \
	{                                                                                          \
		(text), sizeof(text) - 1, (means)                                                  \
	}

static const struct plain_word roles[] = {
	PLAIN("navigation", ING_TOKEN_ROLE_MENU),
	PLAIN("menu", ING_TOKEN_ROLE_MENU),
	PLAIN("menubar", ING_TOKEN_ROLE_MENU),
	PLAIN("menuitem", ING_TOKEN_ROLE_MENU),
	PLAIN("complementary", ING_TOKEN_ROLE_MENU),
	PLAIN("contentinfo", ING_TOKEN_ROLE_MENU),
	PLAIN("tab", ING_TOKEN_ROLE_MAYBE),
	PLAIN("search", ING_TOKEN_ROLE_MAYBE),
	PLAIN("main", ING_TOKEN_ROLE_MAIN),
	PLAIN("article", ING_TOKEN_ROLE_MAIN),
};

static const struct plain_word content_marks[] = {
	PLAIN("main", ING_CONTENT_MAIN),
	PLAIN("maincontent", ING_CONTENT_MAIN),
	PLAIN("maincontents", ING_CONTENT_MAIN),
	PLAIN("content", ING_CONTENT_MAIN),
	PLAIN("contents", ING_CONTENT_MAIN),
	PLAIN("article", ING_CONTENT_MAIN),
	PLAIN("title", ING_CONTENT_TITLE),
	PLAIN("heading", ING_CONTENT_TITLE),
};

static bool same_letters(const char *s, const char *lower, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if ((s[i] | 0x20) != lower[i])
			return false;
	return true;
}

static bool begins_with(const char *s, size_t bytes, const char *lower, size_t lower_bytes)
{
	return bytes >= lower_bytes && same_letters(s, lower, lower_bytes);
}

static bool ends_with(const char *s, size_t bytes, const char *lower, size_t lower_bytes)
{
	return bytes >= lower_bytes && same_letters(s + bytes - lower_bytes, lower, lower_bytes);
}

/* The words that begin as s does; an empty list when none can. */
static const struct word *words_at(const char *s)
{
	static const struct word none[1];
	unsigned letter = (unsigned char)(s[0] | 0x20);
	return letter >= 'a' && letter <= 'z' ? words[letter - 'a'] : none;
}

/* The list of the word that s is as a whole; 0 when it is none. */
static unsigned list_of(const char *s, size_t bytes)
{
	if (bytes == 0 || bytes > MAX_WORD_BYTES)
		return 0;
	for (const struct word *w = words_at(s); w->text != NULL; w++)
		if (w->bytes == bytes && same_letters(s, w->text, bytes))
			return w->list;
	return 0;
}

/* All words of navigation begin with one of these three, which are words of it themselves. */
static bool begins_menu(const char *s, size_t bytes)
{
	return begins_with(s, bytes, "nav", 3) || begins_with(s, bytes, "menu", 4) ||
	       begins_with(s, bytes, "breadcrumb", 10);
}

/* One word, two words, or a word of navigation in front. */
static unsigned classify_prefix(const char *s, size_t bytes)
{
	unsigned found = 0;
	for (const struct word *w = words_at(s); w->text != NULL; w++) {
		if (!begins_with(s, bytes, w->text, w->bytes))
			continue;
		size_t rest_bytes = bytes - w->bytes;
		const char *rest = s + w->bytes;
		if (rest_bytes == 0) {
			found |= w->list == MENU ? ING_TOKEN_MENU : 0;
			found |= w->list == MAYBE ? ING_TOKEN_MAYBE : 0;
			continue;
		}
		unsigned next = list_of(rest, rest_bytes);
		if (next != 0 && (w->list | next) & MENU)
			found |= ING_TOKEN_MENU;
		else if (next != 0 && (w->list | next) & MAYBE)
			found |= ING_TOKEN_MAYBE;
		if (w->list == MENU || begins_menu(rest, rest_bytes))
			found |= ING_TOKEN_MAYBE;
	}
	return found;
}

/* A word of navigation at the end, or before a last word that qualifies it. */
static bool ends_menu(const char *s, size_t bytes)
{
	for (size_t i = 1; i + 3 <= bytes; i++) {
		if (!begins_menu(s + i, bytes - i))
			continue;
		for (const struct word *w = words_at(s + i); w->text != NULL; w++) {
			if (w->list != MENU || !begins_with(s + i, bytes - i, w->text, w->bytes))
				continue;
			size_t rest = bytes - i - w->bytes;
			if (rest == 0 || list_of(s + i + w->bytes, rest) & (WITH | MAYBE))
				return true;
		}
	}
	return false;
}

static bool is_references(const char *s, size_t bytes)
{
	static const char *const ends[] = {
		"ref", "refs", "reflist", "reference", "references", "related"};
	if (begins_with(s, bytes, "ref", 3) || begins_with(s, bytes, "related", 7))
		return true;
	for (size_t i = 0; i < ING_ARRAY_LEN(ends); i++)
		if (ends_with(s, bytes, ends[i], strlen(ends[i])))
			return true;
	return false;
}

static unsigned find_plain(const struct plain_word *list, size_t count, const char *s, size_t bytes)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].bytes == bytes && same_letters(s, list[i].text, bytes))
			return list[i].means;
	return 0;
}

/* ing_char_class() of ASCII, with '_' and '-' dividing as white space does. */
static const unsigned char ascii_classes[128] = {
	[0 ... ' '] = ING_CHAR_SPACE,
	['-'] = ING_CHAR_SPACE,
	['0' ... '9'] = ING_CHAR_DIGIT,
	['A' ... 'Z'] = ING_CHAR_UPPER,
	['_'] = ING_CHAR_SPACE,
	['a' ... 'z'] = ING_CHAR_LOWER,
	[0x7f] = ING_CHAR_SPACE,
};

static inline enum ing_char_class class_at(const char *s, const char *end, size_t *ret_bytes)
{
	unsigned char c = (unsigned char)*s;
	*ret_bytes = 1;
	if (c < 0x80)
		return (enum ing_char_class)ascii_classes[c];
	uint32_t point;
	*ret_bytes = ing_utf8_decode(s, (size_t)(end - s), &point);
	return ing_char_class(point);
}

static bool is_letter(enum ing_char_class class)
{
	return class >= ING_CHAR_UPPER;
}

/* Is there a word's end between two characters that are both no white space? */
static bool divides(enum ing_char_class before, enum ing_char_class after)
{
	return (before == ING_CHAR_LOWER && after == ING_CHAR_UPPER) ||
	       (is_letter(before) && after == ING_CHAR_DIGIT) ||
	       (before == ING_CHAR_DIGIT && is_letter(after));
}

/* -------------------------------------------------------------------------------------------- */

bool ing_tokens_next(struct ing_tokens *ts, const char **ret, size_t *ret_bytes)
{
	enum ing_char_class before = ING_CHAR_SPACE;
	size_t n = 0;
	for (; ts->s < ts->end; ts->s += n) {
		before = class_at(ts->s, ts->end, &n);
		if (before != ING_CHAR_SPACE)
			break;
	}
	const char *from = ts->s;
	while (ts->s < ts->end) {
		enum ing_char_class class = class_at(ts->s, ts->end, &n);
		if (class == ING_CHAR_SPACE || divides(before, class))
			break;
		before = class;
		ts->s += n;
	}
	*ret = from;
	*ret_bytes = (size_t)(ts->s - from);
	return *ret_bytes > 0;
}

unsigned ing_token_classify_name(const char *s, size_t bytes)
{
	if (bytes < 3) /* the shortest word that says something by itself */
		return 0;
	unsigned found = classify_prefix(s, bytes);
	if (!(found & ING_TOKEN_MENU) && bytes == 6 && same_letters(s, "footer", 6))
		found |= ING_TOKEN_MENU;
	if (found == 0 && ends_menu(s, bytes))
		found |= ING_TOKEN_MAYBE;
	if (is_references(s, bytes))
		found |= ING_TOKEN_REFERENCES;
	return found;
}

unsigned ing_token_classify_role(const char *s, size_t bytes)
{
	return find_plain(roles, ING_ARRAY_LEN(roles), s, bytes);
}

enum ing_content_mark ing_token_content_mark(const char *s, size_t bytes)
{
	const char *end = s + bytes;
	size_t n = 0;
	while (s < end && !is_letter(class_at(s, end, &n)))
		s += n;
	while (end > s) {
		const char *last = end - 1;
		while (last > s && ((unsigned char)*last & 0xc0) == 0x80)
			last--;
		if (is_letter(class_at(last, end, &n)))
			break;
		end = last;
	}
	return (enum ing_content_mark)find_plain(
		content_marks, ING_ARRAY_LEN(content_marks), s, (size_t)(end - s));
}
