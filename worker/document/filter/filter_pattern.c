/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Does a URL match a pattern: text in which "*" is any number of characters and "^" a separator, or the
 * end. A part between two stars is looked for as far to the left as it can be, so nothing is tried twice:
 * the cost is at most the length of the pattern times that of the URL.
 */
#include <string.h>

#include "worker/document/filter/filter_priv.h"

/* Anything but a letter, a digit, "_", "-", "." or "%". */
static bool is_separator(char c)
{
	return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		 c == '_' || c == '-' || c == '.' || c == '%');
}

struct part {
	const char *at;
	size_t bytes;
};

/* Up to the next star, or the end. */
static struct part next_part(const char *p, const char *end)
{
	const char *star = memchr(p, '*', (size_t)(end - p));
	return (struct part){p, (size_t)((star != NULL ? star : end) - p)};
}

/* Where the part ends that begins at `at`; SIZE_MAX: it is not there. */
static size_t match_here(const struct part *part, const char *url, size_t bytes, size_t at)
{
	for (size_t i = 0; i < part->bytes; i++) {
		char c = part->at[i];
		if (at == bytes) /* the end is a separator, once */
			return c == '^' && i + 1 == part->bytes ? at : SIZE_MAX;
		bool same = c == '^' ? is_separator(url[at]) : c == url[at];
		if (!same)
			return SIZE_MAX;
		at++;
	}
	return at;
}

/* Of the first place from `at` on. */
static size_t find(const struct part *part, const char *url, size_t bytes, size_t at)
{
	char first = part->bytes > 0 ? part->at[0] : '\0';
	for (; at <= bytes; at++) {
		if (first != '^' && first != '\0') {
			const char *hit = at < bytes ? memchr(url + at, first, bytes - at) : NULL;
			if (hit == NULL)
				return SIZE_MAX;
			at = (size_t)(hit - url);
		}
		size_t end = match_here(part, url, bytes, at);
		if (end != SIZE_MAX)
			return end;
	}
	return SIZE_MAX;
}

/* The last part of an anchored pattern: at the very end, which may count as its separator. */
static bool ends_with(const struct part *part, const char *url, size_t bytes, size_t from)
{
	for (size_t less = 0; less < 2; less++) {
		if (less > part->bytes || part->bytes - less > bytes - from)
			continue;
		if (match_here(part, url, bytes, bytes - (part->bytes - less)) == bytes)
			return true;
	}
	return false;
}

/* The rest of the pattern, behind a star, anywhere from `at` on. */
static bool match_rest(
	const char *p, const char *end, bool at_end, const char *url, size_t bytes, size_t at)
{
	for (;;) {
		struct part part = next_part(p, end);
		bool is_last = part.at + part.bytes == end;
		if (is_last && at_end)
			return ends_with(&part, url, bytes, at);
		at = find(&part, url, bytes, at);
		if (at == SIZE_MAX || is_last)
			return at != SIZE_MAX;
		p = part.at + part.bytes + 1;
	}
}

/* All of the pattern, its first part at this place. */
static bool match_at(
	const char *p, const char *end, bool at_end, const char *url, size_t bytes, size_t at)
{
	struct part part = next_part(p, end);
	bool is_last = part.at + part.bytes == end;
	size_t to = match_here(&part, url, bytes, at);
	if (to == SIZE_MAX)
		return false;
	if (is_last)
		return !at_end || to == bytes;
	return match_rest(part.at + part.bytes + 1, end, at_end, url, bytes, to);
}

static bool match_in_host(const struct ing_filter_url *url, const char *text, const char *p,
	const char *end, bool at_end)
{
	for (size_t at = url->host; at < url->host_end; at++) {
		bool is_label = at == url->host || text[at - 1] == '.';
		if (is_label && match_at(p, end, at_end, text, url->bytes, at))
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_filter_pattern_matches(
	const struct ing_filter_rule *rule, const char *pattern, const struct ing_filter_url *url)
{
	const char *text = (rule->flags & ING_FILTER_MATCH_CASE) != 0 ? url->text : url->lower;
	const char *end = pattern + rule->bytes;
	bool at_end = (rule->flags & ING_FILTER_AT_END) != 0;
	if ((rule->flags & ING_FILTER_AT_HOST) != 0)
		return match_in_host(url, text, pattern, end, at_end);
	if ((rule->flags & ING_FILTER_AT_START) != 0)
		return match_at(pattern, end, at_end, text, url->bytes, 0);
	return match_rest(pattern, end, at_end, text, url->bytes, 0);
}
