/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * URLs are parsed by curl's own parser, so that the host that is checked and looked up here is the one
 * that curl connects to: two parsers that disagree are a way around address checks.
 */
#include "worker/fetch/route.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "common/base/key_file.h"
#include "common/net/addr.h"
#include "worker/fetch/fetch.h"
#include "worker/model/limits.h"

static char *take_part(CURLU *url, CURLUPart part, unsigned flags)
{
	char *text = NULL;
	if (curl_url_get(url, part, &text, flags) != CURLUE_OK)
		return NULL;
	char *copy = ing_strdup(text);
	curl_free(text);
	return copy;
}

/* "[::1]" to "::1", and every notation of an address to the same one. Takes host, returns the result. */
static char *plain_host(char *host)
{
	struct ing_addr addr;
	char text[ING_ADDR_TEXT_BYTES];
	if (host == NULL || !ing_addr_parse(host, &addr))
		return host;
	ing_addr_format(&addr, text);
	free(host);
	return ing_strdup(text);
}

static bool parse_port(const char *text, size_t bytes, unsigned *ret)
{
	unsigned value = 0;
	if (bytes > 5)
		return false;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	if (value > 65535 || (bytes > 0 && value == 0))
		return false;
	*ret = value; /* 0: empty */
	return true;
}

/* The fetched form: from the scheme on, without "user@" and without "#fragment". */
static char *strip_url(const char *url, bool *ret_userinfo)
{
	size_t len = strcspn(url, "#");
	const char *authority = strstr(url, "://");
	if (authority == NULL || (size_t)(authority - url) + 3 > len)
		return ing_strndup(url, len);
	authority += 3;
	size_t authority_bytes = strcspn(authority, "/?#");
	const char *at = memrchr(authority, '@', authority_bytes);
	const char *rest = at != NULL ? at + 1 : authority;
	*ret_userinfo = at != NULL;
	struct ing_buf b;
	ing_buf_init(&b, len);
	ing_buf_add(&b, url, (size_t)(authority - url));
	ing_buf_add(&b, rest, len - (size_t)(rest - url));
	return ing_buf_steal(&b);
}

static int check_bytes(const char *url, struct ing_error *err)
{
	size_t len = 0;
	for (; url[len] != '\0'; len++) {
		if (len >= ING_MAX_URL_BYTES)
			return ing_error_set(err, ING_FAIL_TOO_BIG,
				"the URL is longer than %zu bytes", ING_MAX_URL_BYTES);
		if (url[len] <= 0x20 || url[len] >= 0x7f)
			return ing_error_set(err, ING_FAIL_INVALID,
				"the URL has a byte at %zu that is not allowed in URLs", len);
	}
	return 0;
}

/* Whether the URL has exactly two slashes and then a host without percent signs. curl also accepts other
 * numbers of slashes, decodes hosts, and takes what follows "%" as an interface. */
static bool is_serialised(const char *url)
{
	const char *host = strchr(url, ':');
	if (host == NULL || strncmp(host, "://", 3) != 0)
		return false;
	host += 3;
	size_t bytes = strcspn(host, "/?#");
	return bytes > 0 && memchr(host, '%', bytes) == NULL;
}

static int read_target(struct ing_target *t, CURLU *url, struct ing_error *err)
{
	if (!is_serialised(t->url))
		return ing_error_set(err, ING_FAIL_INVALID, "not an absolute http or https URL");
	CURLUcode rc = curl_url_set(url, CURLUPART_URL, t->url, CURLU_PATH_AS_IS);
	if (rc != CURLUE_OK)
		return ing_error_set(err, ING_FAIL_INVALID, "the URL cannot be fetched: %s",
			curl_url_strerror(rc));
	ING_CLEANUP(ing_freep) char *scheme = take_part(url, CURLUPART_SCHEME, 0);
	ING_CLEANUP(ing_freep) char *port = take_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	t->https = scheme != NULL && strcasecmp(scheme, "https") == 0;
	if (!t->https && (scheme == NULL || strcasecmp(scheme, "http") != 0))
		return ing_error_set(err, ING_FAIL_INVALID, "not an http or https URL");
	if (port == NULL || !parse_port(port, strlen(port), &t->port))
		return ing_error_set(err, ING_FAIL_INVALID, "the URL has no valid port");
	t->host = plain_host(take_part(url, CURLUPART_HOST, 0));
	if (t->host == NULL || t->host[0] == '\0' || strpbrk(t->host, "%[]") != NULL)
		return ing_error_set(err, ING_FAIL_INVALID, "the URL has no valid host");
	return 0;
}

/* One part of a connect_to entry, up to the next colon outside brackets. Moves *text behind that
 * colon. */
static bool take_field(const char **text, const char **ret, size_t *ret_bytes, bool last)
{
	const char *s = *text;
	const char *end = s;
	if (*s == '[') {
		end = strchr(s, ']');
		if (end == NULL)
			return false;
		end++;
	} else {
		end += strcspn(s, ":");
	}
	if (*end != (last ? '\0' : ':'))
		return false;
	*ret = s;
	*ret_bytes = (size_t)(end - s);
	*text = end + (last ? 0 : 1);
	return true;
}

static int parse_rule(struct ing_connect_rule *rule, const char *entry, struct ing_error *err)
{
	const char *part[4];
	size_t bytes[4];
	const char *at = entry;
	for (int i = 0; i < 4; i++)
		if (!take_field(&at, &part[i], &bytes[i], i == 3))
			return ing_error_set(err, ING_FAIL_CONFIG,
				"fetch.connect_to: %.200s: not HOST:PORT:CONNECT-HOST:CONNECT-PORT",
				entry);
	if (!parse_port(part[1], bytes[1], &rule->port) ||
		!parse_port(part[3], bytes[3], &rule->connect_port))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"fetch.connect_to: %.200s: a port is a number from 1 to 65535", entry);
	if (bytes[0] > 0)
		rule->host = plain_host(ing_strndup(part[0], bytes[0]));
	if (bytes[2] > 0)
		rule->connect_host = plain_host(ing_strndup(part[2], bytes[2]));
	if ((rule->host != NULL && rule->host[0] == '[') ||
		(rule->connect_host != NULL && rule->connect_host[0] == '['))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"fetch.connect_to: %.200s: not an IPv6 address in brackets", entry);
	return 0;
}

static int parse_proxy(struct ing_routes *r, const char *proxy, struct ing_error *err)
{
	int rc = -ING_FAIL_CONFIG;
	CURLU *url = curl_url();
	ing_must(url != NULL);
	ING_CLEANUP(ing_freep) char *scheme = NULL;
	ING_CLEANUP(ing_freep) char *port = NULL;
	if (curl_url_set(url, CURLUPART_URL, proxy, 0) == CURLUE_OK) {
		scheme = take_part(url, CURLUPART_SCHEME, 0);
		port = take_part(url, CURLUPART_PORT, 0);
		r->proxy_host = plain_host(take_part(url, CURLUPART_HOST, 0));
		r->proxy_user = take_part(url, CURLUPART_USER, CURLU_URLDECODE);
		r->proxy_password = take_part(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
		if (scheme != NULL && strcmp(scheme, "http") == 0 && r->proxy_host != NULL &&
			port != NULL && parse_port(port, strlen(port), &r->proxy_port))
			rc = 0;
	}
	curl_url_cleanup(url);
	if (rc != 0) /* the text is left out: it may hold a password */
		return ing_error_set(err, ING_FAIL_CONFIG,
			"fetch.proxy: not http://HOST:PORT or http://USER:PASSWORD@HOST:PORT");
	return 0;
}

/* The password may be in a file of its own. */
static int read_proxy_password(struct ing_routes *r, const char *file, struct ing_error *err)
{
	if (r->proxy_host == NULL || file == NULL || file[0] == '\0')
		return 0;
	free(ING_TAKE(r->proxy_password));
	int rc = ing_key_file_text(file, &r->proxy_password, err);
	if (rc != 0)
		ing_error_context(err, "fetch.proxy_password_file");
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_target_init(struct ing_target *t, const char *url, struct ing_error *err)
{
	*t = (struct ing_target){0};
	int rc = check_bytes(url, err);
	if (rc != 0)
		return rc;
	CURLU *parsed = curl_url();
	ing_must(parsed != NULL);
	t->url = strip_url(url, &t->had_userinfo);
	rc = read_target(t, parsed, err);
	curl_url_cleanup(parsed);
	if (rc != 0)
		ing_target_done(t);
	return rc;
}

void ing_target_done(struct ing_target *t)
{
	free(t->url);
	free(t->host);
	*t = (struct ing_target){0};
}

int ing_routes_init(
	struct ing_routes *r, const struct ing_fetch_settings *settings, struct ing_error *err)
{
	size_t count = 0;
	int rc = 0;
	*r = (struct ing_routes){0};
	while (settings->connect_to != NULL && settings->connect_to[count] != NULL)
		count++;
	if (count > 0)
		r->rules = ing_alloc(count * sizeof(*r->rules));
	for (; rc == 0 && r->rule_count < count; r->rule_count++)
		rc = parse_rule(&r->rules[r->rule_count], settings->connect_to[r->rule_count], err);
	if (rc == 0 && settings->proxy != NULL && settings->proxy[0] != '\0')
		rc = parse_proxy(r, settings->proxy, err);
	if (rc == 0)
		rc = read_proxy_password(r, settings->proxy_password_file, err);
	if (rc != 0)
		ing_routes_done(r);
	return rc;
}

void ing_routes_done(struct ing_routes *r)
{
	for (size_t i = 0; i < r->rule_count; i++) {
		free(r->rules[i].host);
		free(r->rules[i].connect_host);
	}
	free(r->rules);
	free(r->proxy_host);
	free(r->proxy_user);
	free(r->proxy_password);
	*r = (struct ing_routes){0};
}

int ing_ports_init(struct ing_ports *p, char *const *texts, struct ing_error *err)
{
	size_t count = 0;
	*p = (struct ing_ports){0};
	while (texts != NULL && texts[count] != NULL)
		count++;
	if (count == 0)
		return 0;
	p->list = ing_alloc(count * sizeof(*p->list));
	for (size_t i = 0; i < count; i++, p->count++) {
		if (parse_port(texts[i], strlen(texts[i]), &p->list[i]) && p->list[i] != 0)
			continue;
		ing_ports_done(p);
		return ing_error_set(err, ING_FAIL_CONFIG,
			"fetch.allow_port: %.20s: not a port from 1 to 65535", texts[i]);
	}
	return 0;
}

void ing_ports_done(struct ing_ports *p)
{
	free(p->list);
	*p = (struct ing_ports){0};
}

bool ing_ports_allow(const struct ing_ports *p, unsigned port)
{
	if (port == 80 || port == 443)
		return true;
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i] == port)
			return true;
	return false;
}

struct ing_route ing_routes_find(const struct ing_routes *r, const struct ing_target *t)
{
	for (size_t i = 0; i < r->rule_count; i++) {
		const struct ing_connect_rule *rule = &r->rules[i];
		if (rule->host != NULL && strcasecmp(rule->host, t->host) != 0)
			continue;
		if (rule->port != 0 && rule->port != t->port)
			continue;
		return (struct ing_route){
			.host = rule->connect_host != NULL ? rule->connect_host : t->host,
			.port = rule->connect_port != 0 ? rule->connect_port : t->port,
			.named = true,
		};
	}
	if (r->proxy_host != NULL)
		return (struct ing_route){
			.host = r->proxy_host, .port = r->proxy_port, .via_proxy = true};
	return (struct ing_route){.host = t->host, .port = t->port};
}
