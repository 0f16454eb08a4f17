/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dates are read in two steps: the text becomes tokens (numbers with their count of digits, names
 * of months, separators), then forms are tried from the most to the least certain: units
 * (2019年4月22日), a month's name, three numbers, two numbers, a year alone. Words that are no months
 * are skipped, so that "Published online: 22 April 2019" is read.
 */
#include "worker/scrape/biblio/date.h"

#include <stdint.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/scrape/biblio/month_names.h"

#define MAX_TEXT_BYTES 512 /* of the text that is read */
#define MAX_TOKENS 48
#define MAX_WORD_BYTES 40 /* folded; the longest name has 26 bytes */
#define MIN_YEAR 1000
#define MAX_YEAR 2200

/* Separator of a token from the one before: its strongest character. */
enum gap { GAP_NONE, GAP_SPACE, GAP_DOT, GAP_DASH, GAP_SLASH, GAP_COMMA, GAP_COLON, GAP_OTHER };

struct token {
	enum gap gap;
	int month;  /* of a word: 1 to 12; 0: a number */
	int digits; /* of a number; 0: a word */
	int value;  /* of a number: its first 8 digits */
	char unit;  /* 'y' 'm' 'd' where the number has one, else 0 */
};

struct tokens {
	struct token items[MAX_TOKENS];
	size_t count;
};

struct cursor {
	const char *p, *end;
};

/* The next character, U+0000 at the end; text that is not UTF-8 reads as U+FFFD by the byte. */
static uint32_t peek_char(const struct cursor *c, size_t *ret_bytes)
{
	size_t bytes = ing_utf8_sequence(c->p, (size_t)(c->end - c->p));
	const unsigned char *u = (const unsigned char *)c->p;
	*ret_bytes = bytes == 0 && c->p < c->end ? 1 : bytes;
	switch (bytes) {
	case 0:
		return c->p < c->end ? 0xFFFD : 0;
	case 1:
		return u[0];
	case 2:
		return (uint32_t)(u[0] & 0x1F) << 6 | (u[1] & 0x3F);
	case 3:
		return (uint32_t)(u[0] & 0x0F) << 12 | (uint32_t)(u[1] & 0x3F) << 6 | (u[2] & 0x3F);
	default:
		return 0x10FFFF; /* no letter or digit that matters here */
	}
}

/* ASCII and full-width digits; -1 for anything else. */
static int digit_value(uint32_t ch)
{
	if (ch >= '0' && ch <= '9')
		return (int)(ch - '0');
	return ch >= 0xFF10 && ch <= 0xFF19 ? (int)(ch - 0xFF10) : -1;
}

/* Letters U+00C0 to U+017F without their diacritics and case; '.' where there is no single one. */
static const char latin[] = "aaaaaaaceeeeiiiidnooooo.ouuuuy.saaaaaaaceeeeiiiidnooooo.ouuuuy.y"
			    "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll"
			    "lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

/* Greek letters U+03AC to U+03CE that carry an accent, and what they are without. */
static uint32_t fold_greek(uint32_t ch)
{
	switch (ch) {
	case 0x386:
	case 0x3AC:
		return 0x3B1;
	case 0x388:
	case 0x3AD:
		return 0x3B5;
	case 0x389:
	case 0x3AE:
		return 0x3B7;
	case 0x38A:
	case 0x390:
	case 0x3AF:
	case 0x3CA:
		return 0x3B9;
	case 0x38C:
	case 0x3CC:
		return 0x3BF;
	case 0x38E:
	case 0x3CB:
	case 0x3CD:
		return 0x3C5;
	case 0x38F:
	case 0x3CE:
		return 0x3C9;
	default:
		return ch >= 0x391 && ch <= 0x3AB ? ch + 0x20 : ch;
	}
}

/* A letter as month_names.h writes it; 0 for what is no letter. */
static uint32_t fold_letter(uint32_t ch)
{
	_Static_assert(sizeof(latin) - 1 == 0x180 - 0xC0, "a letter for each of U+00C0 to U+017F");
	if (ch < 0x80) {
		ch |= 0x20;
		return ch >= 'a' && ch <= 'z' ? ch : 0;
	}
	if (ch >= 0xC0 && ch < 0x180)
		return latin[ch - 0xC0] == '.' ? 0 : (uint32_t)latin[ch - 0xC0];
	if (ch >= 0x218 && ch <= 0x21B)
		return ch <= 0x219 ? 's' : 't'; /* Romanian, with comma below */
	if (ch >= 0x386 && ch <= 0x3CE)
		return fold_greek(ch);
	if (ch >= 0x400 && ch <= 0x45F)
		return ch < 0x410 ? ch + 0x50 : ch < 0x430 ? ch + 0x20 : ch;
	if (ch >= 0x621 && ch <= 0x64A)
		return ch;
	return 0;
}

static void add_letter(char *word, size_t *len, uint32_t ch)
{
	if (*len + 2 > MAX_WORD_BYTES) {
		*len = MAX_WORD_BYTES + 1; /* too long for any name */
	} else if (ch < 0x80) {
		word[(*len)++] = (char)ch;
	} else { /* all that fold_letter() leaves is below U+0800 */
		word[(*len)++] = (char)(0xC0 | ch >> 6);
		word[(*len)++] = (char)(0x80 | (ch & 0x3F));
	}
}

static int find_month(const char *word, size_t len)
{
	char spaced[MAX_WORD_BYTES + 2];
	if (len < 3 || len > MAX_WORD_BYTES)
		return 0;
	spaced[0] = ' ';
	memcpy(spaced + 1, word, len);
	spaced[len + 1] = ' ';
	for (int i = 0; i < 12; i++) {
		if (memmem(month_names[i], strlen(month_names[i]), spaced, len + 2) != NULL)
			return i + 1;
	}
	return 0;
}

static bool is_one_of(const char *word, size_t len, const char *spaced_list)
{
	char spaced[MAX_WORD_BYTES + 2];
	if (len == 0 || len > MAX_WORD_BYTES)
		return false;
	spaced[0] = ' ';
	memcpy(spaced + 1, word, len);
	spaced[len + 1] = ' ';
	return memmem(spaced_list, strlen(spaced_list), spaced, len + 2) != NULL;
}

static enum gap gap_of(uint32_t ch)
{
	switch (ch) {
	case '.':
		return GAP_DOT;
	case '-':
	case 0x2212:
		return GAP_DASH;
	case '/':
		return GAP_SLASH;
	case ',':
	case 0x60C:
		return GAP_COMMA;
	case ':':
		return GAP_COLON;
	case '\'':
	case 0x2019: /* d'avril */
	case ' ':
	case 0xAA: /* ordinal indicators */
	case 0xBA:
	case 0xA0:
	case 0x202F:
	case 0x3000:
		return GAP_SPACE;
	default:
		if (ch >= 0x2010 && ch <= 0x2015)
			return GAP_DASH;
		return ch < 0x20 || (ch >= 0x2000 && ch <= 0x200B) ? GAP_SPACE : GAP_OTHER;
	}
}

/* Two separators between the same tokens: one with spaces counts as that one, two different ones as
 * none. */
static enum gap join_gaps(enum gap a, enum gap b)
{
	if (a <= GAP_SPACE || a == b)
		return b > a ? b : a;
	return b <= GAP_SPACE ? a : GAP_OTHER;
}

static char unit_of(uint32_t ch)
{
	switch (ch) {
	case 0x5E74: /* year: Chinese and Japanese, Korean */
	case 0xB144:
		return 'y';
	case 0x6708:
	case 0xC6D4:
		return 'm';
	case 0x65E5:
	case 0xC77C:
	case 0x53F7:
		return 'd';
	default:
		return 0;
	}
}

/* Digits, and the unit behind them. */
static void read_number(struct cursor *c, struct token *t)
{
	size_t bytes;
	for (;;) {
		int digit = digit_value(peek_char(c, &bytes));
		if (digit < 0)
			break;
		c->p += bytes;
		t->digits++;
		if (t->digits <= 8)
			t->value = t->value * 10 + digit;
	}
	struct cursor ahead = *c;
	while (peek_char(&ahead, &bytes) == ' ')
		ahead.p += bytes;
	t->unit = unit_of(peek_char(&ahead, &bytes));
	if (t->unit != 0) {
		ahead.p += bytes;
		*c = ahead;
	}
}

static size_t read_word(struct cursor *c, char *word)
{
	size_t len = 0, bytes;
	for (;;) {
		uint32_t ch = fold_letter(peek_char(c, &bytes));
		if (ch == 0)
			return len;
		add_letter(word, &len, ch);
		c->p += bytes;
	}
}

static void tokenize(const char *s, size_t bytes, struct tokens *ts)
{
	struct cursor c = {s, s + ING_MIN(bytes, (size_t)MAX_TEXT_BYTES)};
	enum gap gap = GAP_OTHER;
	char word[MAX_WORD_BYTES + 2];
	ts->count = 0;
	while (c.p < c.end && ts->count < MAX_TOKENS) {
		size_t n;
		uint32_t ch = peek_char(&c, &n);
		struct token t = {.gap = gap};
		if (digit_value(ch) >= 0) {
			read_number(&c, &t);
		} else if (fold_letter(ch) != 0) {
			size_t len = read_word(&c, word);
			t.month = find_month(word, len);
			if (t.month == 0 && gap == GAP_NONE &&
				is_one_of(word, len, " st nd rd th er re e de o a ter ten ste "))
				continue;   /* 22nd, 1er */
			if (t.month == 0) { /* "22 de abril": as if only a space; others divide */
				bool joins = is_one_of(word, len, " de of del di d the den do ");
				gap = join_gaps(gap, joins ? GAP_SPACE : GAP_OTHER);
				continue;
			}
		} else {
			gap = join_gaps(gap, gap_of(ch));
			c.p += n;
			continue;
		}
		ts->items[ts->count++] = t;
		gap = GAP_NONE;
	}
}

static bool is_year(const struct token *t)
{
	return t->digits == 4 && t->value >= MIN_YEAR && t->value <= MAX_YEAR;
}

static int month_days(int year, int month)
{
	static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return month == 2 && leap ? 29 : days[month - 1];
}

/* Set a full date; zeros at its end are unknown. Of an impossible day only the year is kept, as
 * either month or day is wrong. */
static void set_date(int year, int month, int day, struct ing_date *ret)
{
	if (month == 0 || month > 12 || day > month_days(year, month))
		month = day = 0;
	*ret = (struct ing_date){.year = year, .month = month, .day = day};
}

/* A number that can be the day beside a month's name: not an hour, not one end of a range. */
static bool is_day(const struct tokens *ts, size_t i)
{
	const struct token *t = &ts->items[i];
	if (t->digits < 1 || t->digits > 2 || t->value < 1 || t->value > 31 || t->gap == GAP_COLON)
		return false;
	return i + 1 >= ts->count || ts->items[i + 1].gap != GAP_COLON;
}

static bool is_range(const struct tokens *ts, size_t i)
{
	const struct token *t = &ts->items[i];
	return t->gap == GAP_DASH && t->digits > 0 && t->digits <= 2 && i > 0 &&
	       ts->items[i - 1].digits > 0 && ts->items[i - 1].digits <= 2;
}

static int find_day(const struct tokens *ts, size_t month)
{
	size_t next = month + 1, prev = month - 1; /* prev wraps when there is none */
	bool has_next = next < ts->count && ts->items[next].gap <= GAP_DASH && is_day(ts, next);
	bool has_prev = month > 0 && ts->items[month].gap <= GAP_SLASH && is_day(ts, prev);
	if (has_next && has_prev) /* "No 3 March 15, 2015" */
		has_prev = next + 1 >= ts->count || !is_year(&ts->items[next + 1]);
	if (has_prev)
		return is_range(ts, prev) ? 0 : ts->items[prev].value;
	if (has_next)
		return next + 1 < ts->count && is_range(ts, next + 1) ? 0 : ts->items[next].value;
	return 0;
}

/* The first month's name; one with a day and another name behind it is a day of the week. */
static size_t find_name(const struct tokens *ts)
{
	size_t i = 0;
	while (i < ts->count && ts->items[i].month == 0)
		i++;
	if (i + 2 < ts->count && is_day(ts, i + 1) && ts->items[i + 2].month != 0 &&
		ts->items[i + 1].gap <= GAP_DOT && ts->items[i + 2].gap <= GAP_SLASH)
		return i + 2;
	return i;
}

static bool read_named(const struct tokens *ts, size_t name, struct ing_date *ret)
{
	size_t year = name + 1;
	while (year < ts->count && !is_year(&ts->items[year]))
		year++;
	if (year == ts->count) { /* 2019 Apr 22 */
		year = name;
		while (year > 0 && !is_year(&ts->items[year - 1]))
			year--;
		if (year == 0)
			return false;
		year--;
	}
	const struct token *t = &ts->items[name];
	/* March-April 2010, 28 Feb - 2 Mar 2015: between two months */
	bool divided = name + 1 < ts->count && (t[1].gap == GAP_DASH || t[1].gap == GAP_SLASH);
	bool second = divided &&
		      (t[1].month != 0 ||
			      (name + 2 < ts->count && is_day(ts, name + 1) && t[2].month != 0));
	set_date(ts->items[year].value, second ? 0 : t->month, find_day(ts, name), ret);
	return true;
}

static bool read_units(const struct tokens *ts, struct ing_date *ret)
{
	for (size_t i = 0; i < ts->count; i++) {
		const struct token *t = &ts->items[i];
		if (t->unit != 'y' || !is_year(t))
			continue;
		int month = i + 1 < ts->count && t[1].unit == 'm' ? t[1].value : 0;
		int day = month != 0 && i + 2 < ts->count && t[2].unit == 'd' ? t[2].value : 0;
		set_date(t->value, month, day, ret);
		return true;
	}
	return false;
}

/* 20190422, 20190422101500, 201904. Digits that cannot be read so are some other number, of which
 * no part is a year; 20200931 can. */
static bool read_run(const struct token *t, struct ing_date *ret)
{
	bool whole = t->digits == 8 || t->digits == 14;
	if (!whole && (t->digits != 6 || t->value % 100 == 0))
		return false;
	int month = whole ? t->value / 100 : t->value; /* with the year */
	int day = whole ? t->value % 100 : 0;
	int year = month / 100;
	if (year < MIN_YEAR || year > MAX_YEAR || month % 100 > 12 || day > 31)
		return false;
	set_date(year, month % 100, day, ret);
	return true;
}

static bool is_short(const struct token *t)
{
	return t->digits == 1 || t->digits == 2;
}

/* Three numbers, or two, beginning at t. */
static bool read_numbers(const struct token *t, size_t left, struct ing_date *ret)
{
	enum gap gap = left >= 2 ? t[1].gap : GAP_OTHER;
	if (gap < GAP_SPACE || gap > GAP_SLASH || t->gap == GAP_COLON)
		return false;
	bool three = left >= 3 && t[2].gap == gap && t[2].digits > 0 && t[1].digits > 0;
	if (three && is_year(t) && is_short(&t[1]) && is_short(&t[2])) {
		set_date(t->value, t[1].value, t[2].value, ret);
	} else if (three && is_short(t) && is_short(&t[1]) && is_year(&t[2])) {
		bool day_first = t->value > 12;
		set_date(t[2].value, t[day_first].value, t[!day_first].value, ret);
	} else if (gap == GAP_SPACE || (left >= 3 && t[2].gap == gap)) {
		return false;
	} else if (is_year(t) && t[1].digits == 2 && t[1].value <= 12) {
		set_date(t->value, t[1].value, 0, ret);
	} else if (is_short(t) && is_year(&t[1]) && t->value >= 1 && t->value <= 12) {
		set_date(t[1].value, t->value, 0, ret);
	} else {
		return false;
	}
	return true;
}

static bool read_year(const struct tokens *ts, struct ing_date *ret)
{
	const struct token *year = NULL;
	for (size_t i = 0; i < ts->count; i++) {
		const struct token *t = &ts->items[i];
		if (!is_year(t))
			continue;
		if (year == NULL)
			year = t;
		if (t->value >= 1500 && t->value <= 2100) { /* the likelier of two */
			year = t;
			break;
		}
	}
	if (year != NULL)
		set_date(year->value, 0, 0, ret);
	return year != NULL;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_date_parse(const char *s, size_t bytes, struct ing_date *ret)
{
	struct tokens ts;
	tokenize(s, bytes, &ts);
	if (read_units(&ts, ret))
		return true;
	size_t name = find_name(&ts);
	for (size_t i = 0; i < ts.count && (name == ts.count || i + 3 <= name); i++) {
		if (read_numbers(&ts.items[i], ts.count - i, ret) || read_run(&ts.items[i], ret))
			return true;
	}
	if (name < ts.count)
		return read_named(&ts, name, ret);
	return read_year(&ts, ret);
}
