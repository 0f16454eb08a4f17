/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file is read line by line, and the rules of groups that concern us are gathered twice: of those
 * that name our token, and of those for everybody. At the end one of the two becomes the result.
 */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/net/robots.h"

#define MAX_LINE_BYTES (2083 * 8 - 1) /* the rest of a longer line does not count */
#define ASCII_SPACE " \t\n\v\f\r"

struct span {
	const char *s;
	size_t len;
};

struct rule {             /* as it is gathered: the text may still move */
	uint32_t at, len; /* of the pattern in the group's text */
	uint32_t line;
	bool allow;
};

/* What has been gathered for one kind of group. */
struct group {
	bool open; /* the lines being read belong to it */
	unsigned crawl_delay_ms;
	struct ing_buf rules; /* of struct rule */
	struct ing_buf text;
};

struct reader {
	struct span token; /* ours */
	bool unnamed;      /* the agent is "": groups whose name is no token are ours */
	bool named;        /* the file has a group for us */
	bool ruled;        /* the group being read has rules: a new name begins another */
	uint32_t line;
	struct group own, global;
};

static bool is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

static struct span token_of(const char *s, size_t len)
{
	size_t n = 0;
	while (n < len && is_token_char(s[n]))
		n++;
	return (struct span){s, n};
}

static bool is_space(char c)
{
	return c != '\0' && strchr(ASCII_SPACE, c) != NULL;
}

static struct span trim(struct span in)
{
	while (in.len > 0 && is_space(in.s[0])) {
		in.s++;
		in.len--;
	}
	while (in.len > 0 && is_space(in.s[in.len - 1]))
		in.len--;
	return in;
}

static bool begins(struct span in, const char *word)
{
	size_t n = strlen(word);
	return in.len >= n && strncasecmp(in.s, word, n) == 0;
}

/* ---- lines ---- */

enum key { KEY_USER_AGENT, KEY_ALLOW, KEY_DISALLOW, KEY_CRAWL_DELAY, KEY_OTHER };

/* A key is known by how it begins, misspelt in ways that are common. */
static enum key read_key(struct span name)
{
	static const struct {
		const char *word;
		enum key key;
	} words[] = {
		{"user-agent", KEY_USER_AGENT},
		{"useragent", KEY_USER_AGENT},
		{"user agent", KEY_USER_AGENT},
		{"allow", KEY_ALLOW},
		{"disallow", KEY_DISALLOW},
		{"dissallow", KEY_DISALLOW},
		{"dissalow", KEY_DISALLOW},
		{"disalow", KEY_DISALLOW},
		{"diasllow", KEY_DISALLOW},
		{"disallaw", KEY_DISALLOW},
		{"crawl-delay", KEY_CRAWL_DELAY},
		{"crawldelay", KEY_CRAWL_DELAY},
		{"crawl delay", KEY_CRAWL_DELAY},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++) {
		if (begins(name, words[i].word))
			return words[i].key;
	}
	return KEY_OTHER;
}

/* "key: value", or "key value" when there is no colon and neither holds a blank. */
static bool split_line(struct span line, struct span *ret_key, struct span *ret_value)
{
	size_t sep = 0;
	const char *colon = memchr(line.s, ':', line.len);
	if (colon != NULL) {
		sep = (size_t)(colon - line.s);
	} else {
		while (sep < line.len && line.s[sep] != ' ' && line.s[sep] != '\t')
			sep++;
		if (sep == line.len)
			return false;
	}
	struct span value = {line.s + sep + 1, line.len - sep - 1};
	if (colon == NULL) {
		/* Blanks only here: a vertical tab or a form feed parts no words. */
		while (value.len > 0 && (value.s[0] == ' ' || value.s[0] == '\t')) {
			value.s++;
			value.len--;
		}
		if (memchr(value.s, ' ', value.len) != NULL ||
			memchr(value.s, '\t', value.len) != NULL)
			return false;
	}
	*ret_key = trim((struct span){line.s, sep});
	*ret_value = trim(value);
	return ret_key->len > 0;
}

/* Seconds, perhaps with decimals, as milliseconds rounded up. 0 when it is no number. */
static unsigned read_delay(struct span value)
{
	uint64_t ms = 0;
	size_t i = 0;
	for (; i < value.len && value.s[i] >= '0' && value.s[i] <= '9' && ms < INT_MAX; i++)
		ms = ms * 10 + (uint64_t)(value.s[i] - '0') * 1000;
	if (i < value.len && value.s[i] == '.') {
		unsigned unit = 100;
		bool rest = false;
		for (i++; i < value.len && value.s[i] >= '0' && value.s[i] <= '9'; i++) {
			ms += (uint64_t)(value.s[i] - '0') * unit;
			rest = rest || (unit == 0 && value.s[i] != '0');
			unit /= 10;
		}
		ms += rest;
	}
	return ms < INT_MAX ? (unsigned)ms : INT_MAX;
}

/* ---- rules ---- */

static int hex_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

/* The pattern as URLs are written: bytes above 127 escaped, escapes in capitals. */
static void add_pattern(struct ing_buf *out, struct span value)
{
	static const char hex[] = "0123456789ABCDEF";
	for (size_t i = 0; i < value.len; i++) {
		unsigned char c = (unsigned char)value.s[i];
		if (c >= 0x80) {
			const char escape[] = {'%', hex[c >> 4], hex[c & 15]};
			ing_buf_add(out, escape, sizeof(escape));
		} else if (c == '%' && i + 2 < value.len && hex_digit(value.s[i + 1]) &&
			   hex_digit(value.s[i + 2])) {
			ing_buf_add_char(out, '%');
			for (int n = 0; n < 2; n++) {
				char digit = value.s[++i];
				ing_buf_add_char(
					out, (char)(digit >= 'a' ? digit - 'a' + 'A' : digit));
			}
		} else {
			ing_buf_add_char(out, (char)c);
		}
	}
}

static void add_rule(struct group *g, struct rule rule)
{
	ing_buf_add(&g->rules, &rule, sizeof(rule));
}

/* Whether "/index.htm…" is what the pattern's last segment is; then *ret_len is the length up to
 * its slash. */
static bool is_index(const char *pattern, size_t len, size_t *ret_len)
{
	static const char page[] = "/index.htm";
	const char *slash = memrchr(pattern, '/', len);
	if (slash == NULL)
		return false;
	size_t at = (size_t)(slash - pattern);
	*ret_len = at + 1;
	return len - at >= sizeof(page) - 1 && memcmp(slash, page, sizeof(page) - 1) == 0;
}

/* Allowing a folder's index page allows the folder's own URL as well. An empty rule says
 * nothing. */
static void read_rule(struct reader *r, struct span value, bool allow)
{
	if (!r->own.open && !r->global.open)
		return;
	r->ruled = true;
	if (value.len == 0)
		return;
	struct group *g = r->own.open ? &r->own : &r->global;
	size_t at = g->text.len;
	add_pattern(&g->text, value);
	size_t len = g->text.len - at;
	add_rule(g, (struct rule){(uint32_t)at, (uint32_t)len, r->line, allow});
	size_t folder;
	if (!allow || g->text.failed || !is_index(g->text.data + at, len, &folder))
		return;
	size_t second = g->text.len;
	if (ing_buf_reserve(&g->text, folder + 1) == NULL)
		return;
	ing_buf_add(&g->text, g->text.data + at, folder);
	ing_buf_add_char(&g->text, '$');
	add_rule(g, (struct rule){(uint32_t)second, (uint32_t)folder + 1, r->line, true});
}

static void read_agent(struct reader *r, struct span value)
{
	if (r->ruled)
		r->own.open = r->global.open = r->ruled = false;
	if (value.len > 0 && value.s[0] == '*' && (value.len == 1 || is_space(value.s[1]))) {
		r->global.open = true;
		return;
	}
	struct span name = token_of(value.s, value.len);
	if (name.len != r->token.len || strncasecmp(name.s, r->token.s, name.len) != 0 ||
		(name.len == 0 && !r->unnamed))
		return;
	r->named = r->own.open = true;
}

static void read_crawl_delay(struct reader *r, struct span value)
{
	struct group *g = r->own.open ? &r->own : &r->global;
	if (g->open)
		g->crawl_delay_ms = ING_MAX(g->crawl_delay_ms, read_delay(value));
}

static void read_line(struct reader *r, struct span line)
{
	struct span key, value;
	line.len = ING_MIN(line.len, (size_t)MAX_LINE_BYTES);
	line.len = strnlen(line.s, line.len);
	const char *comment = memchr(line.s, '#', line.len);
	if (comment != NULL)
		line.len = (size_t)(comment - line.s);
	if (!split_line(trim(line), &key, &value))
		return;
	switch (read_key(key)) {
	case KEY_USER_AGENT:
		read_agent(r, value);
		break;
	case KEY_ALLOW:
		read_rule(r, value, true);
		break;
	case KEY_DISALLOW:
		read_rule(r, value, false);
		break;
	case KEY_CRAWL_DELAY:
		read_crawl_delay(r, value);
		break;
	case KEY_OTHER:
		break;
	}
}

/* Lines end with LF, CR or both; a byte order mark in front, or the beginning of one, is none of
 * the text. */
static void read_lines(struct reader *r, const char *text, size_t bytes)
{
	static const char mark[] = {'\xef', '\xbb', '\xbf'};
	size_t at = 0;
	while (at < sizeof(mark) && at < bytes && text[at] == mark[at])
		at++;
	for (;;) {
		size_t len = 0;
		while (at + len < bytes && text[at + len] != '\n' && text[at + len] != '\r')
			len++;
		r->line++;
		read_line(r, (struct span){text + at, len});
		at += len;
		if (at >= bytes)
			break;
		at += text[at] == '\r' && at + 1 < bytes && text[at + 1] == '\n' ? 2 : 1;
	}
}

/* Of a file that is too long, the lines that are whole before the limit: half a rule is another
 * rule. */
static size_t cut_file(const char *text, size_t bytes)
{
	if (bytes <= ING_ROBOTS_TXT_MAX_BYTES)
		return bytes;
	size_t n = ING_ROBOTS_TXT_MAX_BYTES;
	while (n > 0 && text[n - 1] != '\n' && text[n - 1] != '\r')
		n--;
	return n;
}

/* The rules as the parsed file has them. Their patterns stay in the group. */
static struct ing_robots_rule *list_rules(const struct group *g, uint32_t *ret_count)
{
	size_t count = g->rules.len / sizeof(struct rule);
	struct ing_robots_rule *list = ing_alloc((count + 1) * sizeof(*list));
	for (size_t i = 0; i < count; i++) {
		struct rule rule;
		memcpy(&rule, g->rules.data + i * sizeof(rule), sizeof(rule));
		list[i] = (struct ing_robots_rule){.pattern = g->text.data + rule.at,
			.bytes = rule.len,
			.line = rule.line,
			.allow = rule.allow};
	}
	*ret_count = (uint32_t)count;
	return list;
}

static int compare_rules(const void *a, const void *b)
{
	return ing_robots_rule_compare(a, b);
}

static struct ing_robots_txt *pack_group(const struct group *g)
{
	uint32_t count;
	struct ing_robots_rule *list = list_rules(g, &count);
	qsort(list, count, sizeof(*list), compare_rules);
	struct ing_robots_txt *r = ing_robots_txt_new(list, count, g->crawl_delay_ms);
	ing_must(r != NULL);
	free(list);
	return r;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_robots_txt *ing_robots_txt_parse(const char *text, size_t bytes, const char *agent)
{
	struct reader r = {.token = token_of(agent, strlen(agent)), .unnamed = agent[0] == '\0'};
	struct group *groups[] = {&r.own, &r.global};
	for (size_t i = 0; i < ING_ARRAY_LEN(groups); i++) {
		/* A rule takes eight bytes of the file at least, and none is added to a full
		 * one. */
		ing_buf_init(&groups[i]->rules, ING_ROBOTS_TXT_MAX_RULES * sizeof(struct rule));
		ing_buf_init(&groups[i]->text, ING_ROBOTS_TXT_MAX_PATTERN_BYTES);
	}
	read_lines(&r, text, cut_file(text, bytes));
	struct ing_robots_txt *ret = pack_group(r.named ? &r.own : &r.global);
	for (size_t i = 0; i < ING_ARRAY_LEN(groups); i++) {
		ing_must(!groups[i]->rules.failed && !groups[i]->text.failed);
		ing_buf_done(&groups[i]->rules);
		ing_buf_done(&groups[i]->text);
	}
	return ret;
}
