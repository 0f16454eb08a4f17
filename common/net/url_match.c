/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Patterns and targets are both brought to the form that a reader of the URL sees, since a DOI
 * comes as 10.2307/X as well as 10.2307%2Fx; after that comparing is comparing of text.
 */
#include "common/net/url_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/url.h"

struct ing_url_target {
	struct ing_url_parts parts;
	const char *host;
	const char *path;   /* escapes undone */
	const char *params; /* "name=value" with escapes undone, a NUL behind each, "" at the end */
	char *whole;        /* escapes undone */
};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undo the escape at s, if it is one and not NUL's: the number of bytes it takes. */
static size_t read_escape(const char *s, char *ret)
{
	int high = s[0] == '%' ? hex_value(s[1]) : -1;
	int low = high >= 0 ? hex_value(s[2]) : -1;
	if (low < 0 || high + low == 0) {
		*ret = s[0];
		return 1;
	}
	*ret = (char)(high * 16 + low);
	return 3;
}

static char *undo_escapes(char *s)
{
	char *to = s;
	for (const char *from = s; *from != '\0'; to++)
		from += read_escape(from, to);
	*to = '\0';
	return s;
}

/* "?a=1&&b+c=%32" becomes "a=1" NUL "b c=2" NUL NUL, in place: both NULs fit, as '?' goes. */
static const char *split_query(char *query)
{
	const char *from = query;
	char *to = query;
	char *start = query;
	if (*from == '?')
		from++;
	while (*from != '\0') {
		if (*from == '&') {
			if (to != start)
				*to++ = '\0';
			start = to;
			from++;
		} else {
			from += read_escape(from, to);
			if (from[-1] == '+')
				*to = ' ';
			to++;
		}
	}
	if (to != start)
		*to++ = '\0';
	*to = '\0'; /* an empty query is a single NUL, which is the list's end too */
	return query;
}

static const char *plain_copy(struct ing_arena *ar, const char *text)
{
	return undo_escapes(ing_arena_strdup(ar, text));
}

static bool host_matches(const struct ing_url_pattern *p, const struct ing_url_target *t)
{
	size_t wanted = strlen(p->host);
	size_t bytes = strlen(t->host);
	if (bytes < wanted || strcmp(t->host + bytes - wanted, p->host) != 0)
		return false;
	return bytes == wanted || (p->below && t->host[bytes - wanted - 1] == '.');
}

static bool path_matches(const struct ing_url_pattern *p, const struct ing_url_target *t)
{
	if (p->path != NULL && strncasecmp(t->path, p->path, strlen(p->path)) != 0)
		return false;
	if (p->path_contains != NULL && strcasestr(t->path, p->path_contains) == NULL)
		return false;
	if (p->path_ends == NULL)
		return true;
	size_t bytes = strlen(t->path);
	size_t wanted = strlen(p->path_ends);
	return bytes >= wanted && strcasecmp(t->path + bytes - wanted, p->path_ends) == 0;
}

static bool query_matches(const struct ing_url_pattern *p, const struct ing_url_target *t)
{
	size_t name_bytes = strlen(p->query_name);
	for (const char *q = t->params; *q != '\0'; q += strlen(q) + 1) {
		if (strncasecmp(q, p->query_name, name_bytes) != 0 ||
			(q[name_bytes] != '=' && q[name_bytes] != '\0'))
			continue;
		const char *value = q[name_bytes] == '=' ? q + name_bytes + 1 : "";
		if (p->query_value == NULL || strcasecmp(value, p->query_value) == 0)
			return true;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

char *ing_url_bare_host(char *host)
{
	size_t bytes = strlen(host);
	if (bytes > 0 && host[bytes - 1] == '.')
		host[bytes - 1] = '\0';
	if (strncmp(host, "www.", 4) == 0 && strchr(host + 4, '.') != NULL)
		return host + 4;
	return host;
}

int ing_url_pattern_set_host(
	struct ing_url_pattern *p, struct ing_arena *ar, const char *text, struct ing_error *err)
{
	char url[sizeof("http://") + ING_URL_HOST_BYTES];
	char host[ING_URL_HOST_BYTES];
	bool below = text[0] == '.';
	if (below)
		text++;
	bool odd = text[strcspn(text, "/\\:@?#%*[] \t\r\n")] != '\0' || text[0] == '\0' ||
		   text[0] == '.' || strlen(text) >= ING_URL_HOST_BYTES - 1;
	if (!odd)
		snprintf(url, sizeof(url), "http://%s/", text);
	if (odd || !ing_url_host(url, host, sizeof(host)))
		return ing_error_set(err, ING_FAIL_INVALID,
			"host must be a host name, or .NAME for it and all names below");
	p->below = below;
	p->host = ing_arena_strdup(ar, ing_url_bare_host(host));
	return 0;
}

void ing_url_pattern_set_path(struct ing_url_pattern *p, struct ing_arena *ar, const char *text)
{
	p->path = plain_copy(ar, text);
}

void ing_url_pattern_set_path_contains(
	struct ing_url_pattern *p, struct ing_arena *ar, const char *text)
{
	p->path_contains = plain_copy(ar, text);
}

void ing_url_pattern_set_path_ends(
	struct ing_url_pattern *p, struct ing_arena *ar, const char *text)
{
	p->path_ends = plain_copy(ar, text);
}

void ing_url_pattern_set_contains(struct ing_url_pattern *p, struct ing_arena *ar, const char *text)
{
	p->contains = plain_copy(ar, text);
}

void ing_url_pattern_set_query(struct ing_url_pattern *p, struct ing_arena *ar, const char *text)
{
	char *name = ing_arena_strdup(ar, text);
	char *equals = strchr(name, '=');
	p->query_name = name;
	p->query_value = NULL;
	if (equals == NULL)
		return;
	*equals = '\0';
	p->query_value = equals + 1;
}

struct ing_url_target *ing_url_target_new(const char *url)
{
	struct ing_url_parts parts;
	if (!ing_url_parts(url, strlen(url), NULL, &parts))
		return NULL;
	struct ing_url_target *t = ing_alloc(sizeof(*t));
	t->whole = undo_escapes(ing_strdup(parts.href));
	t->path = undo_escapes(parts.pathname);
	t->params = split_query(parts.search);
	t->host = ing_url_bare_host(parts.hostname);
	t->parts = parts;
	return t;
}

void ing_url_target_free(struct ing_url_target *t)
{
	if (t == NULL)
		return;
	ing_url_parts_done(&t->parts);
	free(t->whole);
	free(t);
}

const char *ing_url_target_host(const struct ing_url_target *t)
{
	return t->host;
}

bool ing_url_matches(const struct ing_url_pattern *p, const struct ing_url_target *t)
{
	if (p->host != NULL && !host_matches(p, t))
		return false;
	if (!path_matches(p, t))
		return false;
	if (p->query_name != NULL && !query_matches(p, t))
		return false;
	return p->contains == NULL || strcasestr(t->whole, p->contains) != NULL;
}
