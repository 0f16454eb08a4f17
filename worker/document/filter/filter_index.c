/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which rules to look at for a URL. A word is a run of letters, digits and "%", whole in the URL as in the
 * pattern: it has something else, or an anchor, at both ends, but not a star. Each rule is found by the rarest
 * of its words; without any, by the pages that it names; the few others are always looked at.
 *
 * Of a regular expression a word counts that stands outside of all groups, if there is no "|" outside of
 * them either.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/document/filter/filter_priv.h"

#define COUNT_BITS 16
#define COUNTS (1u << COUNT_BITS)
#define NO_WORD UINT64_MAX

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '%';
}

static uint64_t hash_word(const char *s, size_t bytes)
{
	char word[64];
	uint64_t hash = 0;
	/* Longer ones by their first 64 bytes, in patterns and URLs alike. */
	bytes = ING_MIN(bytes, sizeof(word));
	for (size_t i = 0; i < bytes; i++)
		word[i] = lower(s[i]);
	hash = ing_filter_hash(word, bytes);
	return hash == NO_WORD ? 0 : hash;
}

/* In so many URLs that they tell nothing. */
static bool is_common(const char *s, size_t bytes)
{
	static const char *const words[] = {
		"https", "http", "www", "com", "net", "org", "js", "css", "html", "php"};
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++)
		if (strlen(words[i]) == bytes && memcmp(s, words[i], bytes) == 0)
			return true;
	return false;
}

/* --- words of a rule --- */

struct best {
	const uint32_t *counts; /* how many rules have a word; NULL: they are counted now */
	uint32_t *counting;
	uint64_t word;
	uint32_t count;
};

static void take_word(struct best *b, const char *s, size_t bytes)
{
	uint64_t hash = hash_word(s, bytes);
	uint32_t slot = (uint32_t)(hash >> (64 - COUNT_BITS));
	if (b->counting != NULL) {
		b->counting[slot]++;
		return;
	}
	uint32_t count = b->counts[slot] + (is_common(s, bytes) ? 1000000u : 0);
	if (b->word == NO_WORD || count < b->count) {
		b->word = hash;
		b->count = count;
	}
}

static void take_pattern(struct best *b, const struct ing_filter_rule *r, const char *p)
{
	bool anchored = (r->flags & (ING_FILTER_AT_HOST | ING_FILTER_AT_START)) != 0;
	for (size_t i = 0; i < r->bytes;) {
		size_t from = i;
		if (!is_word_char(p[i])) {
			i++;
			continue;
		}
		while (i < r->bytes && is_word_char(p[i]))
			i++;
		bool left = from > 0 ? p[from - 1] != '*' : anchored;
		bool right = i < r->bytes ? p[i] != '*' : (r->flags & ING_FILTER_AT_END) != 0;
		if (left && right)
			take_word(b, p + from, i - from);
	}
}

static bool has_alternatives(const char *p, size_t bytes)
{
	int depth = 0;
	for (size_t i = 0; i < bytes; i++) {
		if (p[i] == '\\')
			i++;
		else if (p[i] == '(')
			depth++;
		else if (p[i] == ')')
			depth--;
		else if (p[i] == '|' && depth == 0)
			return true;
	}
	return false;
}

/* The end of a group or class that begins here. */
static size_t skip_group(const char *p, size_t bytes, size_t i)
{
	int depth = 0;
	bool in_class = false;
	for (; i < bytes; i++) {
		if (p[i] == '\\')
			i++;
		else if (in_class)
			in_class = p[i] != ']';
		else if (p[i] == '[')
			in_class = true;
		else if (p[i] == '(')
			depth++;
		else if (p[i] == ')')
			depth--;
		if (!in_class && depth <= 0)
			return i + 1;
	}
	return bytes;
}

/* A character that stands for itself and is part of no word: "\/", "\.", "-", "=". */
static size_t literal_edge(const char *p, size_t bytes, size_t i)
{
	if (i + 1 < bytes && p[i] == '\\' && strchr("/.?-=&_+", p[i + 1]) != NULL)
		return 2;
	return i < bytes && strchr("/-=&_:,;", p[i]) != NULL ? 1 : 0;
}

static bool is_quantifier(const char *p, size_t bytes, size_t i)
{
	return i < bytes && strchr("?*+{", p[i]) != NULL;
}

static void take_regex(struct best *b, const char *p, size_t bytes)
{
	bool after_edge = false;
	if (has_alternatives(p, bytes))
		return;
	for (size_t i = 0; i < bytes;) {
		size_t edge = literal_edge(p, bytes, i);
		size_t from = i;
		if (edge > 0) {
			after_edge = !is_quantifier(p, bytes, i + edge);
			i += edge;
		} else if (is_word_char(p[i]) && p[i] != '%') {
			while (i < bytes && is_word_char(p[i]))
				i++;
			size_t next = literal_edge(p, bytes, i);
			if (after_edge && next > 0 && !is_quantifier(p, bytes, i + next))
				take_word(b, p + from, i - from);
			after_edge = false;
		} else {
			i = p[i] == '\\' ? i + 2 : skip_group(p, bytes, i);
			after_edge = false;
		}
	}
}

static void take_rule(struct best *b, const struct ing_filters *f, const struct ing_filter_rule *r)
{
	const char *pattern = ing_buf_str(&f->text) + r->pattern;
	if ((r->flags & ING_FILTER_REGEX) != 0)
		take_regex(b, pattern, r->bytes);
	else
		take_pattern(b, r, pattern);
}

/* --- tables --- */

static void make_table(struct ing_filter_table *t, size_t entries)
{
	uint32_t size = 16;
	while (size < 2 * entries && size < 1u << 30)
		size *= 2;
	t->heads = ing_alloc(size * sizeof(*t->heads));
	t->mask = size - 1;
}

static void add_link(struct ing_filters *f, uint32_t *head, uint32_t rule)
{
	if (f->link_count == 0)
		f->link_count = 1;
	ING_FILTER_GROW(f->links, f->link_count, f->link_room);
	f->links[f->link_count] = (struct ing_filter_link){.rule = rule, .next = *head};
	*head = (uint32_t)f->link_count++;
}

static uint32_t *head_of(const struct ing_filter_table *t, uint64_t hash)
{
	return &t->heads[(uint32_t)hash & t->mask];
}

static void add_rule(struct ing_filters *f, uint32_t number, uint64_t word)
{
	const struct ing_filter_rule *r = &f->rules[number];
	bool is_exception = (r->flags & ING_FILTER_EXCEPTION) != 0;
	struct ing_filter_index *index = is_exception ? &f->exceptions : &f->blocking;
	const struct ing_filter_hosts *pages = r->pages > 0 ? &f->hosts[r->pages] : NULL;
	if (word != NO_WORD) {
		add_link(f, head_of(&index->words, word), number);
		return;
	}
	if (pages == NULL || pages->with == 0) {
		add_link(f, &index->others, number);
		return;
	}
	for (uint32_t i = 0; i < pages->with; i++)
		add_link(f, head_of(&index->hosts, f->hashes[pages->first + i]), number);
}

static bool try_chain(const struct ing_filters *f, uint32_t link, ing_filter_try_f *fn, void *ctx)
{
	for (; link != 0; link = f->links[link].next)
		if (!fn(ctx, &f->rules[f->links[link].rule]))
			return false;
	return true;
}

/* -------------------------------------------------------------------------------------------- */

void ing_filter_make_index(struct ing_filters *f)
{
	uint32_t *counts = ing_alloc(COUNTS * sizeof(*counts));
	struct best counting = {.counting = counts};
	for (size_t i = 0; i < f->rule_count; i++)
		take_rule(&counting, f, &f->rules[i]);
	make_table(&f->blocking.words, f->rule_count);
	make_table(&f->blocking.hosts, f->rule_count / 8);
	make_table(&f->exceptions.words, f->rule_count / 8);
	make_table(&f->exceptions.hosts, f->rule_count / 8);
	for (size_t i = 0; i < f->rule_count; i++) {
		struct best best = {.counts = counts, .word = NO_WORD};
		take_rule(&best, f, &f->rules[i]);
		add_rule(f, (uint32_t)i, best.word);
	}
	free(counts);
}

void ing_filter_each(const struct ing_filters *f, const struct ing_filter_index *index,
	const struct ing_filter_url *url, const struct ing_filter_names *page, ing_filter_try_f *fn,
	void *ctx)
{
	for (size_t i = 0; i < url->bytes;) {
		size_t from = i;
		while (i < url->bytes && is_word_char(url->lower[i]))
			i++;
		if (i > from) {
			uint64_t word = hash_word(url->lower + from, i - from);
			if (!try_chain(f, *head_of(&index->words, word), fn, ctx))
				return;
		} else {
			i++;
		}
	}
	for (unsigned i = 0; i < page->count; i++)
		if (!try_chain(f, *head_of(&index->hosts, page->hashes[i]), fn, ctx))
			return;
	try_chain(f, index->others, fn, ctx);
}
