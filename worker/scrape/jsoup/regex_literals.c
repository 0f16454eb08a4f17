/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads a pattern that PCRE2 has accepted, without x or other flags that change its syntax, and
 * gives up at whatever it does not know. Of each part it keeps all texts that it can match, while
 * these are few ("java ?script" has two); when they become too many, or something follows that can
 * be any text, they are what a match must contain, and others are begun. Of several such sets in a
 * row the one counts whose shortest text is the longest; of alternatives, each needs one.
 *
 * Ignoring case where it counts only finds more. Where it does not count and texts are Unicode, K
 * and S have a third form outside ASCII, and are taken for any character.
 */
#include "worker/scrape/jsoup/regex_literals.h"

#include <string.h>

#include "common/base/macros.h"
#include "worker/scrape/jsoup/literals.h"

#define MAX_DEPTH 16  /* of groups */
#define MAX_CLASS 4   /* characters of a [class] that are tried one by one */
#define MAX_JOINED 12 /* texts that a part matches: alternatives have to have room for theirs */

struct words {
	size_t count;
	struct ing_literal items[ING_LITERALS_MAX];
};

/* Of a part of a pattern: all that it matches (exact), or what a match must contain one of; none
 * of these: it can be anything. */
struct part {
	bool exact;
	struct words words;
};

struct reader {
	const char *p, *end;
	bool fold, utf;
	bool failed;
	unsigned depth;
};

static void set_any(struct part *part)
{
	part->exact = false;
	part->words.count = 0;
}

/* Matches nothing but the empty text: where an anchor stands. */
static void set_empty(struct part *part)
{
	part->exact = true;
	part->words.count = 1;
	part->words.items[0].bytes = 0;
}

static size_t shortest(const struct words *w)
{
	size_t bytes = w->count > 0 ? SIZE_MAX : 0;
	for (size_t i = 0; i < w->count; i++)
		bytes = ING_MIN(bytes, (size_t)w->items[i].bytes);
	return bytes;
}

static bool has_word(const struct words *w, const struct ing_literal *x)
{
	for (size_t i = 0; i < w->count; i++) {
		if (w->items[i].bytes == x->bytes &&
			memcmp(w->items[i].text, x->text, x->bytes) == 0)
			return true;
	}
	return false;
}

/* False when there is no room. */
static bool add_word(struct words *w, const struct ing_literal *x)
{
	if (has_word(w, x))
		return true;
	if (w->count == ING_LITERALS_MAX)
		return false;
	w->items[w->count++] = *x;
	return true;
}

static bool add_words(struct words *to, const struct words *from)
{
	for (size_t i = 0; i < from->count; i++) {
		if (!add_word(to, &from->items[i]))
			return false;
	}
	return true;
}

static void keep_better(struct words *best, const struct words *other)
{
	size_t a = shortest(best), b = shortest(other);
	if (b > a || (b == a && b > 0 && other->count < best->count))
		*best = *other;
}

/* Every text of a, followed by every one of b; false when these are too many or too long. */
static bool join(struct words *a, const struct words *b)
{
	struct words joined = {0};
	for (size_t i = 0; i < a->count; i++) {
		for (size_t k = 0; k < b->count; k++) {
			struct ing_literal x = a->items[i];
			const struct ing_literal *tail = &b->items[k];
			if (x.bytes + tail->bytes > ING_LITERAL_BYTES)
				return false;
			memcpy(x.text + x.bytes, tail->text, tail->bytes);
			x.bytes = (uint8_t)(x.bytes + tail->bytes);
			if (!add_word(&joined, &x) || joined.count > MAX_JOINED)
				return false;
		}
	}
	*a = joined;
	return true;
}

/* --- characters and classes --- */

static void set_character(const struct reader *r, char c, struct part *part)
{
	if (r->fold && c >= 'A' && c <= 'Z')
		c = (char)(c | 0x20);
	bool third_form = r->fold && r->utf && (c == 'k' || c == 's');
	if ((unsigned char)c >= 0x80 || third_form) {
		set_any(part);
		return;
	}
	set_empty(part);
	part->words.items[0].bytes = 1;
	part->words.items[0].text[0] = c;
}

/* Behind a backslash. */
static void read_escape(struct reader *r, struct part *part)
{
	char c = r->p < r->end ? *r->p++ : 'Q';
	bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
	if (!letter)
		set_character(r, c, part);
	else if (strchr("bBAzZG", c) != NULL)
		set_empty(part);
	else if (strchr("dDwWsShHvVNRtnrfae", c) != NULL)
		set_any(part);
	else
		r->failed = true;
}

/* Behind "[". A class of a few characters is their alternatives, any other one any character. */
static void read_class(struct reader *r, struct part *part)
{
	const char *from = r->p;
	bool few = true;
	part->exact = true;
	part->words.count = 0;
	for (; r->p < r->end && (*r->p != ']' || r->p == from); r->p++) {
		struct part one;
		char c = *r->p;
		if (c == '\\') {
			r->p++;
			if (r->p == r->end || strchr("QEc", *r->p) != NULL)
				break;
			few = false;
		} else if (c == '[' ||
			   (c == '^' && r->p == from && r->p + 1 < r->end && r->p[1] == ']')) {
			r->failed = true; /* [:class:], or "]" as the first after "^" */
			return;
		}
		set_character(r, c, &one);
		few = few && c != '-' && c != '^' && one.exact && part->words.count < MAX_CLASS &&
		      add_words(&part->words, &one.words);
	}
	if (r->p >= r->end || *r->p != ']') {
		r->failed = true;
		return;
	}
	r->p++;
	if (!few)
		set_any(part);
}

/* --- groups, quantifiers --- */

static void read_alternatives(struct reader *r, struct part *part);

/* Flags within "(?", up to ")" or ":". True when it is nothing but flags. */
static bool skip_flags(struct reader *r)
{
	const char *p = r->p;
	while (p < r->end && strchr("ims-", *p) != NULL && *p != '\0')
		p++;
	if (p == r->p || p == r->end || (*p != ')' && *p != ':'))
		return false;
	r->p = p;
	return true;
}

/* Behind "(?": up to where the group's content begins. */
static void read_group_kind(struct reader *r, bool *ret_looks_around)
{
	static const struct {
		const char *text;
		bool looks_around;
	} kinds[] = {
		{":", false}, {">", false}, {"=", true}, {"!", true}, {"<=", true}, {"<!", true}};
	size_t left = (size_t)(r->end - r->p);
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++) {
		size_t bytes = strlen(kinds[i].text);
		if (left >= bytes && memcmp(r->p, kinds[i].text, bytes) == 0) {
			*ret_looks_around = kinds[i].looks_around;
			r->p += bytes;
			return;
		}
	}
	const char *name_end = left > 0 && *r->p == '<' ? memchr(r->p, '>', left) : NULL;
	if (name_end != NULL)
		r->p = name_end + 1;
	else
		r->failed = true;
}

/* Behind "(". */
static void read_group(struct reader *r, struct part *part)
{
	bool looks_around = false;
	if (r->p < r->end && *r->p == '*')
		r->failed = true;
	if (r->p < r->end && *r->p == '?') {
		r->p++;
		bool flags = skip_flags(r);
		if (flags && *r->p == ')') {
			r->p++;
			set_empty(part);
			return;
		}
		if (flags)
			r->p++; /* the colon */
		else
			read_group_kind(r, &looks_around);
	}
	if (r->failed || ++r->depth > MAX_DEPTH) {
		r->failed = true;
		return;
	}
	read_alternatives(r, part);
	r->depth--;
	if (r->p == r->end || *r->p != ')')
		r->failed = true;
	else
		r->p++;
	if (looks_around)
		set_empty(part);
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* Behind "{". False: it is no quantifier, or none that is known. */
static bool read_least(struct reader *r, bool *ret_zero)
{
	const char *p = skip_digits(r->p, r->end);
	if (p == r->p)
		return false;
	*ret_zero = true;
	for (const char *digit = r->p; digit < p; digit++)
		*ret_zero = *ret_zero && *digit == '0';
	if (p < r->end && *p == ',')
		p = skip_digits(p + 1, r->end);
	if (p == r->end || *p != '}')
		return false;
	r->p = p + 1;
	return true;
}

static void read_quantifier(struct reader *r, struct part *part)
{
	static const struct ing_literal empty = {.bytes = 0};
	bool zero;
	switch (r->p < r->end ? *r->p : '\0') {
	case '?':
		r->p++;
		if (!part->exact || !add_word(&part->words, &empty))
			set_any(part);
		break;
	case '*':
		r->p++;
		set_any(part);
		break;
	case '+':
		r->p++;
		part->exact = false;
		break;
	case '{':
		r->p++;
		part->exact = false;
		if (!read_least(r, &zero))
			r->failed = true;
		else if (zero)
			set_any(part);
		break;
	default:
		return;
	}
	if (r->p < r->end && (*r->p == '?' || *r->p == '+'))
		r->p++;
	if (r->p < r->end && *r->p != '\0' && strchr("?*+{", *r->p) != NULL)
		r->failed = true;
}

static void read_item(struct reader *r, struct part *part)
{
	char c = *r->p++;
	switch (c) {
	case '(':
		read_group(r, part);
		break;
	case '[':
		read_class(r, part);
		break;
	case '\\':
		read_escape(r, part);
		break;
	case '.':
		set_any(part);
		break;
	case '^':
	case '$':
		set_empty(part);
		break;
	case '?':
	case '*':
	case '+':
	case '{':
		r->failed = true;
		break;
	default:
		set_character(r, c, part);
	}
	if (!r->failed)
		read_quantifier(r, part);
}

static void read_sequence(struct reader *r, struct part *part)
{
	struct words best = {0};
	set_empty(part);
	while (!r->failed && r->p < r->end && *r->p != '|' && *r->p != ')') {
		struct part item;
		set_any(&item);
		read_item(r, &item);
		if (item.exact && join(&part->words, &item.words))
			continue;
		keep_better(&best, &part->words);
		part->exact = false;
		if (item.exact) {
			part->words = item.words;
		} else {
			keep_better(&best, &item.words);
			part->words.count = 1;
			part->words.items[0].bytes = 0;
		}
	}
	if (!part->exact) {
		keep_better(&best, &part->words);
		part->words = best;
	}
}

static void read_alternatives(struct reader *r, struct part *part)
{
	read_sequence(r, part);
	while (!r->failed && r->p < r->end && *r->p == '|') {
		struct part other;
		r->p++;
		read_sequence(r, &other);
		part->exact = part->exact && other.exact;
		/* Of inexact ones none is any text. */
		bool none = part->words.count == 0 || other.words.count == 0 ||
			    (!part->exact &&
				    (shortest(&part->words) == 0 || shortest(&other.words) == 0));
		if (none || !add_words(&part->words, &other.words))
			set_any(part);
	}
}

/* Is there a flag i anywhere? */
static bool has_fold_flag(const char *pattern, size_t bytes)
{
	const char *end = pattern + bytes;
	for (const char *p = pattern; p + 2 < end; p++) {
		if (p[0] != '(' || p[1] != '?')
			continue;
		for (const char *f = p + 2; f < end && strchr("imsx-", *f) != NULL && *f != '\0';
			f++) {
			if (*f == 'i')
				return true;
		}
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_literals *ing_regex_literals(const char *pattern, size_t bytes, bool fold, bool utf)
{
	struct reader r = {.p = pattern,
		.end = pattern + bytes,
		.fold = fold || has_fold_flag(pattern, bytes),
		.utf = utf};
	struct part whole;
	read_alternatives(&r, &whole);
	if (r.failed || r.p != r.end || shortest(&whole.words) < ING_LITERAL_LEAST)
		return NULL;
	return ing_literals_new(whole.words.items, whole.words.count, r.fold);
}
