/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two texts. The ordinary page has the markup, scripts and words of article pages, of which nothing
 * should be tried: an expression that has no text of its own to be found by (ing_regex_literals())
 * is tried at every byte. The other is made of the expression's own texts, over and over: a server
 * that wants to can send it, and what takes more for each byte the longer it is would take minutes.
 */
#include "worker/scrape/rules/slow_patterns.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/scrape/jsoup/regex_steps.h"

#define PAGE_BYTES ((size_t)1 << 20)
#define HOSTILE_BYTES ((size_t)64 << 10)
#define SHORT_BYTES ((size_t)2 << 10)
/* In thousandths of a step per byte. A page has one byte in 20 of each letter: what is tried at one
 * letter alone passes. */
#define ORDINARY_LIMIT 250
#define HOSTILE_LIMIT 16000
/* What is quadratic passes: 10 ms for the longest URL. */
#define SHORT_LIMIT 4000000
#define MAX_RUNS 16
#define MAX_RUN_BYTES 64

struct ing_slow_patterns {
	struct ing_buf page, hostile;
};

/* Stretches of plain text in a pattern. */
struct runs {
	size_t count;
	struct run {
		size_t bytes;
		char text[MAX_RUN_BYTES];
	} items[MAX_RUNS];
};

/* --- the ordinary page --- */

static const char *const words[] = {"the", "of", "and", "in", "to", "a", "is", "for", "with",
	"that", "by", "on", "as", "were", "from", "results", "study", "data", "between", "method",
	"significant", "analysis", "patients", "temperature", "model", "however", "journal",
	"reference", "university", "review", "access", "please", "cookies", "browser", "window",
	"your", "enable", "required", "network", "security", "request", "server", "error", "cells",
	"protein", "species", "M\xc3\xbcller", "\xce\xb1-helix", "Fig.", "Table", "(2019)", "1.5",
	"12", "et al."};

static unsigned next(uint32_t *seed)
{
	*seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
	return *seed >> 16;
}

static void add_words(struct ing_buf *b, uint32_t *seed, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		ing_buf_add_str(b, words[next(seed) % ING_ARRAY_LEN(words)]);
		ing_buf_add_char(b, i + 1 < count ? ' ' : '.');
	}
}

static void add_head(struct ing_buf *b)
{
	static const char head[] =
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<title>On the tides | Journal of Examples</title>\n"
		"<meta name=\"citation_title\" content=\"On the tides\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<link rel=\"stylesheet\" href=\"/static/css/main.4f2a.css\">\n"
		"<style>.article-header{margin:0 auto;padding:12px 0;color:#333}</style>\n"
		"</head>\n<body class=\"journal article\">\n";
	ing_buf_add(b, head, sizeof(head) - 1);
}

static void add_section(struct ing_buf *b, uint32_t *seed, unsigned n)
{
	ing_buf_printf(b, "<section id=\"sec%u\" class=\"article-section js-toggle\">\n<h2>", n);
	add_words(b, seed, 4);
	ing_buf_add_str(b, "</h2>\n");
	for (unsigned i = 0; i < 4; i++) {
		ing_buf_add_str(b, "<p>");
		add_words(b, seed, 80);
		ing_buf_printf(b,
			" <a href=\"#ref%u\" class=\"xref\" data-rid=\"ref%u\">[%u]</a></p>\n",
			n + i, n + i, n + i);
	}
	ing_buf_add_str(b, "</section>\n");
}

static void add_reference(struct ing_buf *b, uint32_t *seed, unsigned n)
{
	ing_buf_printf(b, "<li id=\"ref%u\" class=\"c-article-references__item\"><p>", n);
	add_words(b, seed, 18);
	ing_buf_printf(b,
		"</p><a rel=\"nofollow noopener\" data-track=\"click\" "
		"href=\"https://doi.org/10.1000%%2Fexample.%u\">Article</a> "
		"<a href=\"http://scholar.example.org/lookup?&amp;title=x&amp;volume=%u\">"
		"Scholar</a></li>\n",
		n * 17, n % 90);
}

static void add_script(struct ing_buf *b, uint32_t *seed, unsigned n)
{
	ing_buf_printf(b,
		"<script>window.dataLayer = window.dataLayer || [];\n"
		"dataLayer.push({\"event\":\"view\",\"article\":{\"id\":\"%u\",\"title\":\"",
		n);
	add_words(b, seed, 12);
	ing_buf_printf(b,
		"\",\"url\":\"https:\\/\\/www.example.org\\/articles\\/%u\",\"free\":false,"
		"\"items\":[1,2,3]}});\n"
		"(function(d,t){var g=d.createElement(t),s=d.getElementsByTagName(t)[0];"
		"g.async=true;g.src='/static/js/app.%u.js';s.parentNode.insertBefore(g,s)}"
		"(document,'script'));</script>\n",
		n, n);
}

/* PCRE2 looks for a pattern's last letter before it tries any place: every one is there. In this
 * order hardly anything matches. */
static void add_every_character(struct ing_buf *b)
{
	ing_buf_add_char(b, ' ');
	for (char c = '~'; c >= ' '; c--)
		ing_buf_add_char(b, c);
}

static void make_page(struct ing_buf *b)
{
	uint32_t seed = 1;
	add_head(b);
	for (unsigned n = 1; b->len + 16384 < PAGE_BYTES; n++) {
		add_section(b, &seed, n);
		for (unsigned i = 0; i < 6; i++)
			add_reference(b, &seed, n * 6 + i);
		add_script(b, &seed, n);
	}
	ing_buf_add_str(b, "</body>\n</html>\n");
	add_every_character(b);
}

/* --- the page made of the pattern's own texts --- */

static bool is_plain(char c)
{
	return (unsigned char)c >= 0x80 || (c > 0 && strchr("\\^$.|?*+()[]{}\n", c) == NULL);
}

static void end_run(struct runs *r)
{
	if (r->count < MAX_RUNS && r->items[r->count].bytes > 0)
		r->count++;
}

static void add_to_run(struct runs *r, char c)
{
	struct run *run = r->count < MAX_RUNS ? &r->items[r->count] : NULL;
	if (run != NULL && run->bytes < MAX_RUN_BYTES)
		run->text[run->bytes++] = c;
}

/* Returns the place of the "]" that ends a class, or of its beginning when none does. */
static size_t end_of_class(const char *pattern, size_t bytes, size_t from)
{
	for (size_t i = from + 1; i < bytes; i++) {
		if (pattern[i] == '\\')
			i++;
		else if (pattern[i] == ']' && i > from + 1)
			return i;
	}
	return from;
}

/* Returns the place where "(?" and flags, a name and the like end. */
static size_t end_of_group_kind(const char *pattern, size_t bytes, size_t from)
{
	size_t i = from + 1;
	while (i < bytes && strchr(":)>=!", pattern[i]) == NULL)
		i++;
	return i < bytes ? i : from;
}

/* Not a parser: what is in a [class] counts as text, if asked for. */
static void find_runs(const char *pattern, size_t bytes, bool classes, struct runs *r)
{
	for (size_t i = 0; i < bytes; i++) {
		char c = pattern[i];
		bool quoted = c == '\\' && i + 1 < bytes && (unsigned char)pattern[i + 1] < 0x80;
		if (quoted)
			c = pattern[++i];
		bool letter = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
		if (quoted && (c == 's' || c == 'b')) {
			add_to_run(r, ' ');
		} else if (quoted && c == 'd') {
			add_to_run(r, '1');
		} else if (quoted ? !letter : is_plain(c)) {
			add_to_run(r, c);
		} else {
			end_run(r);
			if (!quoted && c == '[' && !classes)
				i = end_of_class(pattern, bytes, i);
			else if (!quoted && c == '(' && i + 1 < bytes && pattern[i + 1] == '?')
				i = end_of_group_kind(pattern, bytes, i);
		}
	}
	end_run(r);
}

static void add_run(struct ing_buf *b, const struct run *run)
{
	ing_buf_add(b, run->text, run->bytes);
}

/* What is repeated: all runs, also with spaces; the first up to one of them; one of them, behind
 * those in front of it. */
static size_t count_forms(const struct runs *r)
{
	return r->count > 0 ? 1 + 2 * r->count : 0;
}

static void add_form(struct ing_buf *b, const struct runs *r, size_t form)
{
	bool one = form > r->count;
	size_t last = form == 0 ? r->count - 1 : (form - 1) % r->count;
	for (size_t i = one ? last : 0; i <= last; i++) {
		add_run(b, &r->items[i]);
		if (form == 0)
			ing_buf_add_char(b, ' ');
	}
}

/* turned: the runs stand in front, the last first, so that all are there and nothing matches. */
static void fill_hostile(
	struct ing_buf *b, const struct runs *r, size_t form, bool turned, size_t bytes)
{
	ing_buf_clear(b);
	for (size_t i = r->count; turned && i > 0; i--) {
		add_run(b, &r->items[i - 1]);
		ing_buf_add_char(b, '\n');
	}
	for (size_t i = 0; form > r->count && i < (form - 1) % r->count; i++)
		add_run(b, &r->items[i]);
	while (b->len < bytes)
		add_form(b, r, form);
	add_every_character(b);
}

/* --- the count --- */

/* Whether looking for the pattern takes more than `limit` thousandths of a step per byte. */
static bool is_over(const char *pattern, size_t bytes, unsigned flags, const struct ing_buf *text,
	uint64_t limit)
{
	uint64_t max = text->len * limit / 1000;
	return ing_regex_steps(pattern, bytes, flags, ing_buf_str(text), text->len, max) > max;
}

static bool is_over_in_its_own(struct ing_slow_patterns *s, enum ing_pattern_scope scope,
	const char *pattern, size_t bytes, unsigned flags)
{
	uint64_t limit = scope == ING_PATTERN_PAGE ? HOSTILE_LIMIT : SHORT_LIMIT;
	size_t size = scope == ING_PATTERN_PAGE ? HOSTILE_BYTES : SHORT_BYTES;
	for (unsigned variant = 0; variant < 4; variant++) {
		struct runs runs = {0};
		find_runs(pattern, bytes, (variant & 1) != 0, &runs);
		for (size_t form = 0; form < count_forms(&runs); form++) {
			fill_hostile(&s->hostile, &runs, form, (variant & 2) != 0, size);
			if (is_over(pattern, bytes, flags, &s->hostile, limit))
				return true;
		}
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_slow_patterns *ing_slow_patterns_new(void)
{
	struct ing_slow_patterns *s = ing_alloc(sizeof(*s));
	ing_buf_init(&s->page, PAGE_BYTES * 2);
	ing_buf_init(&s->hostile, HOSTILE_BYTES * 2);
	make_page(&s->page);
	return s;
}

void ing_slow_patterns_free(struct ing_slow_patterns *s)
{
	if (s == NULL)
		return;
	ing_buf_done(&s->page);
	ing_buf_done(&s->hostile);
	free(s);
}

const char *ing_slow_patterns_judge(struct ing_slow_patterns *s, enum ing_pattern_scope scope,
	const char *pattern, size_t bytes, unsigned flags)
{
	if (scope == ING_PATTERN_PAGE && is_over(pattern, bytes, flags, &s->page, ORDINARY_LIMIT))
		return "it is tried too often on an ordinary page (over 0.25 steps a byte): begin it "
		       "with a text that is rare, or have one of 3 bytes or more in each alternative";
	if (is_over_in_its_own(s, scope, pattern, bytes, flags))
		return scope == ING_PATTERN_PAGE
			       ? "a page that repeats its texts makes it slow (over 16 steps a byte): "
				 "do not let a part of any length follow where many tries begin"
			       : "a text of 2 KB that repeats its texts makes it slow (over 4,000 steps a "
				 "byte): do not let a part of any length follow where many tries begin";
	return NULL;
}
