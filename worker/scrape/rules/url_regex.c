/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The literal start of an expression is taken from its text. In doubt there is none: it only saves
 * running the expression.
 */
#include "worker/scrape/rules/read_selector.h"
#include "worker/scrape/rules/url_regex.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"

static const char prefix[] = "(?i)^https?://(www\\.)?";
#define PREFIX_BYTES (sizeof(prefix) - 1)
#define ANY_CHARACTER '\1' /* in a literal beginning: for a dot that is not quoted */
#define MAX_START_BYTES 64

/* Where a [class] ends; NULL: it does not. */
static const char *skip_class(const char *p)
{
	p++;
	if (*p == '^')
		p++;
	if (*p == ']')
		p++;
	for (; *p != '\0' && *p != ']'; p++) {
		if (*p == '\\' && p[1] != '\0')
			p++;
	}
	return *p == ']' ? p : NULL;
}

/* Does the whole expression have to match where it begins? Not when it has alternatives outside
 * all groups. */
static bool is_one_branch(const char *pattern)
{
	int depth = 0;
	for (const char *p = pattern; *p != '\0'; p++) {
		if (*p == '\\') {
			p++;
			if (*p == '\0' || *p == 'Q')
				return false;
		} else if (*p == '[') {
			p = skip_class(p);
			if (p == NULL)
				return false;
		} else if (*p == '(') {
			depth++;
		} else if (*p == ')') {
			depth--;
		} else if (*p == '|' && depth <= 0) {
			return false;
		}
	}
	return true;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("-_/~%=&:;,@!", c) != NULL);
}

static bool is_quoted(const char *p)
{
	return p[0] == '\\' && p[1] > ' ' && p[1] < 0x7f && strchr("0123456789", p[1]) == NULL &&
	       !((p[1] | 0x20) >= 'a' && (p[1] | 0x20) <= 'z');
}

/* What every match begins with. NULL: nothing that could be told. */
static const char *literal_start(struct ing_arena *ar, const char *pattern)
{
	char start[MAX_START_BYTES];
	size_t used = 0;
	if (!is_one_branch(pattern))
		return NULL;
	for (const char *p = pattern; used < sizeof(start) - 1;) {
		char c;
		if (is_plain(*p)) {
			c = *p++;
		} else if (*p == '.') {
			c = ANY_CHARACTER;
			p++;
		} else if (is_quoted(p)) {
			c = p[1];
			p += 2;
		} else {
			break;
		}
		if (*p != '\0' && strchr("?*+{", *p) != NULL)
			break; /* the character may be missing */
		start[used++] = c;
	}
	return used > 0 ? ing_arena_strndup(ar, start, used) : NULL;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool starts_with(const char *s, const char *start)
{
	for (; *start != '\0'; s++, start++) {
		if (*s == '\0' || (*start != ANY_CHARACTER && lower(*s) != lower(*start)))
			return false;
	}
	return true;
}

static bool is_java_scheme(const char *s, size_t bytes)
{
	static const char *const known[] = {"http", "https", "ftp", "file", "jar"};
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++) {
		if (bytes == strlen(known[i]) && strncasecmp(s, known[i], bytes) == 0)
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_url_regex_compile(const struct ing_rule_reader *rd, const struct ing_yaml_node *node,
	struct ing_url_regex *ret)
{
	struct ing_error err = {0};
	struct ing_buf whole;
	bool as_it_is = node->text[0] == '^';
	*ret = (struct ing_url_regex){0};
	if (as_it_is) {
		ret->regex = ing_rule_read_regex_at(rd, node, ING_REGEX_BYTES);
		return ret->regex != NULL;
	}
	ing_buf_init(&whole, PREFIX_BYTES + node->bytes);
	ing_buf_add(&whole, prefix, PREFIX_BYTES);
	ing_buf_add(&whole, node->text, node->bytes);
	int rc = ing_regex_compile(
		ing_buf_str(&whole), whole.len, ING_REGEX_BYTES, &ret->regex, &err);
	if (rc == 0)
		ing_rule_check_speed(rd, node, ing_buf_str(&whole), whole.len, ING_REGEX_BYTES);
	ing_buf_done(&whole);
	if (rc != 0) {
		int character = ING_MAX(err.column - (int)PREFIX_BYTES, 1);
		ing_rule_read_error_in(rd, node, character, "regular expression: %s (character %d)",
			err.msg, character);
		return false;
	}
	if (strlen(node->text) == node->bytes)
		ret->start = literal_start(rd->arena, node->text);
	return true;
}

void ing_url_regex_done(struct ing_url_regex *r)
{
	ing_regex_free(r->regex);
	*r = (struct ing_url_regex){0};
}

void ing_java_url_init(struct ing_java_url *u, const char *url)
{
	*u = (struct ing_java_url){0};
	if (url == NULL)
		return;
	while (*url != '\0' && (unsigned char)*url <= 0x20)
		url++;
	size_t bytes = strlen(url);
	while (bytes > 0 && (unsigned char)url[bytes - 1] <= 0x20)
		bytes--;
	size_t scheme = strcspn(url, ":");
	if (scheme >= bytes || !is_java_scheme(url, scheme))
		return;
	u->text = ing_strndup(url, bytes);
	u->bytes = bytes;
	for (size_t i = 0; i < scheme; i++)
		u->text[i] = lower(u->text[i]);
	if (strncmp(u->text, "http", 4) != 0 || strncmp(u->text + scheme, "://", 3) != 0)
		return;
	u->host = u->text + scheme + 3;
	u->bare = strncasecmp(u->host, "www.", 4) == 0 ? u->host + 4 : u->host;
}

void ing_java_url_done(struct ing_java_url *u)
{
	free(u->text);
	*u = (struct ing_java_url){0};
}

enum ing_regex_end ing_url_regex_find(const struct ing_url_regex *r, const struct ing_java_url *u)
{
	if (r->regex == NULL || u->text == NULL)
		return ING_REGEX_NO;
	if (r->start != NULL && (u->host == NULL || (!starts_with(u->host, r->start) &&
							    !starts_with(u->bare, r->start))))
		return ING_REGEX_NO;
	return ing_regex_find(r->regex, u->text, u->bytes);
}
