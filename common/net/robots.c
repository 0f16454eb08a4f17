/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A parsed robots.txt is a single block of memory with the rules, longest pattern first, and the
 * patterns behind them. The first rule that matches a path then is the one that decides, so a file
 * for which thousands of rules are short costs no more than it must. robots_parse.c makes the rules
 * out of a file; they may also come from a process that did so, and cannot be trusted to have.
 */
#include "common/net/robots.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What the search for a match may cost in all, in bytes of paths that wildcards search: some 3 ms.
 * Four thousand wildcards in a URL of 200 bytes stay below. A wildcard costs as much as so many
 * bytes of path, where less of it is left, and a byte of path as much as so many where a word of
 * three bytes or more is searched: memmem() then takes 4 ns for a byte that is like the word. */
#define MAX_SEARCHED_BYTES ((size_t)4 << 20)
#define STEP_BYTES ((size_t)16)
#define WORD_BYTES ((size_t)3)
#define WORD_FACTOR ((size_t)5)

struct span {
	const char *s;
	size_t len;
};

struct rule {
	uint32_t at;  /* of the pattern in the text */
	uint32_t len; /* of the pattern: its weight */
	uint32_t line;
	bool allow;
};

struct ing_robots_txt {
	unsigned crawl_delay_ms;
	uint32_t count;
	size_t bytes;
	struct rule rules[]; /* by weight, then Allow first; the patterns follow */
};

static const char *text_of(const struct ing_robots_txt *r)
{
	return (const char *)(r->rules + r->count);
}

/* What a parser makes of any line: characters but for NUL and the ends of lines. */
static bool is_pattern(const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c == '\0' || c == '\n' || c == '\r' || c >= 0x80)
			return false;
	}
	return bytes > 0;
}

static bool are_good(const struct ing_robots_rule *rules, uint32_t count, size_t *ret_text_bytes)
{
	size_t bytes = 0;
	if (count > ING_ROBOTS_TXT_MAX_RULES)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct ing_robots_rule *rule = &rules[i];
		if (rule->bytes > ING_ROBOTS_TXT_MAX_PATTERN_BYTES - bytes || rule->line == 0 ||
			rule->line > ING_ROBOTS_TXT_MAX_BYTES + 1 ||
			(i > 0 && ing_robots_rule_compare(&rules[i - 1], rule) > 0) ||
			!is_pattern(rule->pattern, rule->bytes))
			return false;
		bytes += rule->bytes;
	}
	*ret_text_bytes = bytes;
	return true;
}

static size_t search_cost(size_t word, size_t path)
{
	return STEP_BYTES + path * (word < WORD_BYTES ? 1 : WORD_FACTOR);
}

/* The pieces between the stars in their order, each at the first place where it fits: if that leads
 * to no match, no other choice does. */
static bool matches(struct span pattern, struct span path, size_t *budget)
{
	bool to_end = pattern.len > 0 && pattern.s[pattern.len - 1] == '$';
	pattern.len -= to_end;
	bool first = true;
	for (;;) {
		const char *star = memchr(pattern.s, '*', pattern.len);
		size_t n = star != NULL ? (size_t)(star - pattern.s) : pattern.len;
		if (n > path.len)
			return false;
		const char *found = path.s;
		if (star == NULL && to_end && !first)
			found = path.s + path.len - n;
		else if (!first) {
			*budget -= ING_MIN(*budget, search_cost(n, path.len));
			found = n > 0 ? memmem(path.s, path.len, pattern.s, n) : path.s;
		}
		if (found == NULL || memcmp(found, pattern.s, n) != 0)
			return false;
		path.len -= (size_t)(found - path.s) + n;
		path.s = found + n;
		if (star == NULL)
			return !to_end || path.len == 0;
		pattern.s += n + 1;
		pattern.len -= n + 1;
		first = false;
	}
}

/* Path and query of a URL; without a slash in front when it is a query or parameters only. Empty
 * when there is neither. */
static struct span find_path(const char *url)
{
	const char *end = url + strcspn(url, "#");
	const char *start = strncmp(url, "//", 2) == 0 ? url + 2 : url;
	const char *early = start + strcspn(start, "/?;");
	const char *scheme = strstr(start, "://");
	if (scheme != NULL && scheme <= early)
		start = scheme + 3;
	const char *path = start + strcspn(start, "/?;");
	if (path >= end)
		return (struct span){"", 0};
	return (struct span){path, (size_t)(end - path)};
}

static bool find_rule(const struct ing_robots_txt *r, struct span path, unsigned *ret_line)
{
	const char *text = text_of(r);
	size_t budget = MAX_SEARCHED_BYTES;
	for (uint32_t i = 0; i < r->count; i++) {
		const struct rule *rule = &r->rules[i];
		if (matches((struct span){text + rule->at, rule->len}, path, &budget)) {
			*ret_line = rule->line;
			return rule->allow;
		}
		if (budget == 0) { /* made to cost time: no rule is known to allow it */
			*ret_line = rule->line;
			return false;
		}
	}
	return true;
}

/* -------------------------------------------------------------------------------------------- */

int ing_robots_rule_compare(const struct ing_robots_rule *a, const struct ing_robots_rule *b)
{
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	if (a->allow != b->allow)
		return a->allow ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

struct ing_robots_txt *ing_robots_txt_new(
	const struct ing_robots_rule *rules, uint32_t count, unsigned crawl_delay_ms)
{
	size_t text_bytes;
	if (crawl_delay_ms > INT_MAX || !are_good(rules, count, &text_bytes))
		return NULL;
	size_t bytes = sizeof(struct ing_robots_txt) + count * sizeof(struct rule) + text_bytes;
	struct ing_robots_txt *r = ing_alloc(bytes);
	r->crawl_delay_ms = crawl_delay_ms;
	r->bytes = bytes;
	r->count = count;
	char *text = (char *)(r->rules + count);
	size_t at = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct ing_robots_rule *rule = &rules[i];
		r->rules[i] = (struct rule){(uint32_t)at, rule->bytes, rule->line, rule->allow};
		memcpy(text + at, rule->pattern, rule->bytes);
		at += rule->bytes;
	}
	return r;
}

struct ing_robots_txt *ing_robots_txt_copy(const struct ing_robots_txt *r)
{
	struct ing_robots_txt *copy = ing_alloc(r->bytes);
	memcpy(copy, r, r->bytes);
	return copy;
}

uint32_t ing_robots_txt_count(const struct ing_robots_txt *r)
{
	return r->count;
}

struct ing_robots_rule ing_robots_txt_rule(const struct ing_robots_txt *r, uint32_t i)
{
	const struct rule *rule = &r->rules[i];
	return (struct ing_robots_rule){.pattern = text_of(r) + rule->at,
		.bytes = rule->len,
		.line = rule->line,
		.allow = rule->allow};
}

void ing_robots_txt_free(struct ing_robots_txt *r)
{
	free(r);
}

bool ing_robots_txt_allows(const struct ing_robots_txt *r, const char *url, unsigned *ret_line)
{
	static const char self[] = "/robots.txt";
	unsigned line = 0;
	bool allowed;
	struct span path = find_path(url);
	if (path.len > 0 && path.s[0] == '/') {
		bool is_self = path.len == sizeof(self) - 1 && memcmp(path.s, self, path.len) == 0;
		allowed = is_self || find_rule(r, path, &line);
	} else {
		char *whole = ing_alloc(path.len + 2);
		whole[0] = '/';
		memcpy(whole + 1, path.s, path.len);
		allowed = find_rule(r, (struct span){whole, path.len + 1}, &line);
		free(whole);
	}
	if (ret_line != NULL)
		*ret_line = line;
	return allowed;
}

unsigned ing_robots_txt_crawl_delay_ms(const struct ing_robots_txt *r)
{
	return r->crawl_delay_ms;
}

size_t ing_robots_txt_bytes(const struct ing_robots_txt *r)
{
	return r->bytes;
}
