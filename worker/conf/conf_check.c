/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What texts of the configuration must look like. Each check gets one text, or one item of a list,
 * and says what is wrong with it in words that fit behind the name of the key. A text that may hold
 * a password is never repeated.
 */
#include <ctype.h>
#include <string.h>

#include "common/data/pg_dsn.h"
#include "common/net/addr.h"
#include "common/net/url.h"
#include "worker/conf/conf_priv.h"

static bool is_made_of(const char *s, size_t bytes, const char *also)
{
	for (size_t i = 0; i < bytes; i++) {
		if (!isalnum((unsigned char)s[i]) && (s[i] == '\0' || strchr(also, s[i]) == NULL))
			return false;
	}
	return bytes > 0;
}

/* A decimal number from 1 to 65535, or nothing where that is allowed. */
static bool is_port(const char *s, size_t bytes, bool may_be_empty)
{
	unsigned port = 0;
	if (bytes == 0)
		return may_be_empty;
	for (size_t i = 0; i < bytes; i++) {
		if (bytes > 5 || s[i] < '0' || s[i] > '9')
			return false;
		port = port * 10 + (unsigned)(s[i] - '0');
	}
	return port >= 1 && port <= 65535;
}

/* Bytes of a host name, address or bracketed IPv6 address at the front of s. */
static size_t host_length(const char *s)
{
	if (s[0] != '[')
		return strcspn(s, ":,");
	struct ing_addr addr;
	char text[ING_ADDR_TEXT_BYTES];
	size_t n = strcspn(s, "]");
	if (s[n] != ']' || n < 2 || n - 1 >= sizeof(text))
		return 0;
	memcpy(text, s + 1, n - 1);
	text[n - 1] = '\0';
	return ing_addr_parse(text, &addr) && addr.family == 6 ? n + 1 : 0;
}

static bool is_address(const char *s, size_t bytes, int family)
{
	struct ing_addr addr;
	char text[ING_ADDR_TEXT_BYTES];
	if (bytes == 0 || bytes >= sizeof(text))
		return false;
	memcpy(text, s, bytes);
	text[bytes] = '\0';
	return ing_addr_parse(text, &addr) && addr.family == family;
}

/* An address; with a port behind it, one of IPv6 stands in brackets. */
static bool is_name_server(const char *s, size_t bytes)
{
	const char *colon = memchr(s, ':', bytes);
	if (bytes > 0 && s[0] == '[') {
		size_t host = host_length(s);
		return host > 0 &&
		       (host == bytes || (host < bytes && s[host] == ':' &&
						 is_port(s + host + 1, bytes - host - 1, false)));
	}
	if (is_address(s, bytes, 6))
		return true;
	size_t host = colon != NULL ? (size_t)(colon - s) : bytes;
	return is_address(s, host, 4) &&
	       (colon == NULL || is_port(colon + 1, bytes - host - 1, false));
}

/* What a request header may hold: printable ASCII (RFC 9110 section 5.5, without the obsolete
 * part). */
static bool is_header_text(const char *s)
{
	for (; *s != '\0'; s++) {
		if ((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e)
			return false;
	}
	return true;
}

/* -------------------------------------------------------------------------------------------- */

int ing_conf_check_instance(const char *text, struct ing_error *err)
{
	if (text[0] != '.' && is_made_of(text, strlen(text), "._@:-"))
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG,
		"must be made of letters, digits and . _ @ : - and not begin with a dot");
}

int ing_conf_check_file_part(const char *text, struct ing_error *err)
{
	if (text[0] != '.' && is_made_of(text, strlen(text), "._-"))
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG,
		"must be made of letters, digits and . _ - and not begin with a dot");
}

int ing_conf_check_topic(const char *text, struct ing_error *err)
{
	bool dots = strcmp(text, ".") == 0 || strcmp(text, "..") == 0;
	if (!dots && is_made_of(text, strlen(text), "._-"))
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG, "must be made of letters, digits and . _ -");
}

int ing_conf_check_endpoint(const char *text, struct ing_error *err)
{
	struct ing_url_parts parts;
	bool good = (strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0) &&
		    ing_url_parts(text, strlen(text), NULL, &parts);
	if (good) {
		good = strcmp(parts.pathname, "/") == 0 && parts.search[0] == '\0' &&
		       parts.hash[0] == '\0' && parts.hostname[0] != '\0' &&
		       strchr(text, '@') == NULL;
		ing_url_parts_done(&parts);
	}
	if (good)
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG, "not http://HOST[:PORT] or https://HOST[:PORT]");
}

int ing_conf_check_bucket(const char *text, struct ing_error *err)
{
	if (text[0] != '.' && is_made_of(text, strlen(text), ".-"))
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG,
		"must be made of letters, digits and . - and not begin with a dot");
}

/* Nothing that a URL would encode, or that two servers take for different names. */
int ing_conf_check_prefix(const char *text, struct ing_error *err)
{
	size_t bytes = strlen(text);
	bool good = is_made_of(text, bytes, "._-/") && text[0] != '/' && text[bytes - 1] != '/' &&
		    strstr(text, "//") == NULL;
	for (const char *s = text; good && s != NULL; s = strchr(s, '/'), s += s != NULL) {
		size_t part = strcspn(s, "/");
		good = !(part == 1 && s[0] == '.') && !(part == 2 && strncmp(s, "..", 2) == 0);
	}
	if (good)
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG,
		"must be made of letters, digits and . _ - with single slashes between");
}

/* Port 0 is any, for tests. */
int ing_conf_check_metrics_listen(const char *text, struct ing_error *err)
{
	struct ing_addr addr;
	char host[ING_ADDR_TEXT_BYTES + 2];
	if (text[0] == '\0')
		return 0;
	if (strncmp(text, "unix:", 5) == 0)
		return text[5] != '\0' && text[strlen(text) - 1] != '/'
			       ? 0
			       : ing_error_set(err, ING_FAIL_CONFIG, "unix: without a file's path");
	const char *colon = strrchr(text, ':');
	size_t bytes = colon != NULL ? (size_t)(colon - text) : 0;
	if (bytes == 0 || bytes >= sizeof(host) ||
		!(is_port(colon + 1, strlen(colon + 1), false) || strcmp(colon + 1, "0") == 0))
		return ing_error_set(err, ING_FAIL_CONFIG, "neither ADDRESS:PORT nor unix:PATH");
	memcpy(host, text, bytes);
	host[bytes] = '\0';
	if (!ing_addr_parse(host, &addr) || (addr.family == 6) != (host[0] == '['))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"an address is of IPv4, or of IPv6 in brackets; names are not looked up");
	if (!ing_addr_is_loopback(&addr))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"only addresses of loopback (127.0.0.1, [::1]): what must be seen from "
			"elsewhere needs a proxy that says who may");
	return 0;
}

int ing_conf_check_brokers(const char *text, struct ing_error *err)
{
	for (const char *s = text;; s++) {
		s += strspn(s, " ");
		size_t host = host_length(s);
		bool bracketed = s[0] == '[';
		if (host == 0 || (!bracketed && !is_made_of(s, host, "._-")))
			return ing_error_set(err, ING_FAIL_CONFIG,
				"broker at character %zu: not HOST:PORT", (size_t)(s - text) + 1);
		const char *port = s + host;
		if (*port == ':') {
			size_t digits = strcspn(port + 1, ", ");
			if (!is_port(port + 1, digits, false))
				return ing_error_set(err, ING_FAIL_CONFIG,
					"broker at character %zu: a port is a number from 1 to 65535",
					(size_t)(s - text) + 1);
			port += 1 + digits;
		}
		port += strspn(port, " ");
		if (*port == '\0')
			return 0;
		if (*port != ',')
			return ing_error_set(err, ING_FAIL_CONFIG,
				"broker at character %zu: not HOST:PORT", (size_t)(s - text) + 1);
		s = port;
	}
}

int ing_conf_check_dsn(const char *text, struct ing_error *err)
{
	return ing_pg_dsn_check(text, err);
}

int ing_conf_check_property(const char *text, struct ing_error *err)
{
	size_t name = strcspn(text, "=");
	if (text[name] != '=' || !is_made_of(text, name, "._-"))
		return ing_error_set(err, ING_FAIL_CONFIG, "not NAME=VALUE");
	return 0;
}

/* RFC 9110 section 10.1.5: a product is a token, and a slash and another behind it perhaps. */
int ing_conf_check_agent(const char *text, struct ing_error *err)
{
	static const char token[] = "!#$%&'*+-.^_`|~";
	if (!is_header_text(text))
		return ing_error_set(
			err, ING_FAIL_CONFIG, "may hold printable ASCII characters only");
	size_t word = strcspn(text, " ");
	size_t product = strcspn(text, "/ ");
	bool versioned = text[product] == '/';
	if (!is_made_of(text, product, token) ||
		(versioned && !is_made_of(text + product + 1, word - product - 1, token)))
		return ing_error_set(err, ING_FAIL_CONFIG,
			"must begin with the name of a product, such as example-archive/1.0");
	return 0;
}

bool ing_conf_has_contact(const char *user_agent)
{
	const char *url = strstr(user_agent, "://");
	if (url != NULL && url > user_agent && isalpha((unsigned char)url[-1]) &&
		isalnum((unsigned char)url[3]))
		return true;
	for (const char *at = strchr(user_agent, '@'); at != NULL; at = strchr(at + 1, '@')) {
		size_t host = strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					     "0123456789.-");
		if (at > user_agent && isalnum((unsigned char)at[-1]) && host > 0 &&
			memchr(at + 1, '.', host) != NULL)
			return true;
	}
	return false;
}

int ing_conf_check_connect_to(const char *text, struct ing_error *err)
{
	const char *s = text;
	for (int i = 0; i < 4; i++) {
		bool host = i == 0 || i == 2;
		size_t n = host ? host_length(s) : strcspn(s, ":");
		bool good = host ? n == 0 ? *s == ':' : *s == '[' || is_made_of(s, n, "._-")
				 : is_port(s, n, true);
		if (!good && !host)
			return ing_error_set(err, ING_FAIL_CONFIG,
				"\"%.200s\": a port is a number from 1 to 65535, or empty", text);
		if (!good || s[n] != (i < 3 ? ':' : '\0'))
			return ing_error_set(err, ING_FAIL_CONFIG,
				"\"%.200s\": not HOST:PORT:CONNECT-HOST:CONNECT-PORT", text);
		s += n + 1;
	}
	return 0;
}

int ing_conf_check_proxy(const char *text, struct ing_error *err)
{
	struct ing_url_parts parts;
	bool good =
		strncmp(text, "http://", 7) == 0 && ing_url_parts(text, strlen(text), NULL, &parts);
	if (good) {
		/* The standard drops a port of 80, so the port is looked for in the text. */
		size_t authority = 7 + strcspn(text + 7, "/?#");
		const char *colon = memrchr(text, ':', authority);
		const char *at = memrchr(text, '@', authority);
		good = strcmp(parts.pathname, "/") == 0 && parts.search[0] == '\0' &&
		       parts.hash[0] == '\0' && parts.hostname[0] != '\0' &&
		       (at == NULL || colon > at) &&
		       is_port(colon + 1, authority - (size_t)(colon + 1 - text), false);
		ing_url_parts_done(&parts);
	}
	if (good)
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG,
		"not http://HOST:PORT or http://USER:PASSWORD@HOST:PORT"); /* unrepeated */
}

int ing_conf_check_cidr(const char *text, struct ing_error *err)
{
	struct ing_cidr block;
	return ing_cidr_parse(text, &block, err);
}

/* The look-up's library has the last word on them; it knows no blanks. */
int ing_conf_check_dns_servers(const char *text, struct ing_error *err)
{
	for (const char *s = text;; s++) {
		size_t bytes = strcspn(s, ",");
		if (!is_name_server(s, bytes))
			return ing_error_set(err, ING_FAIL_CONFIG,
				"name server at character %zu: not ADDRESS or ADDRESS:PORT",
				(size_t)(s - text) + 1);
		s += bytes;
		if (*s == '\0')
			return 0;
	}
}

int ing_conf_check_port(const char *text, struct ing_error *err)
{
	if (is_port(text, strlen(text), false))
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG, "must be a port, 1 to 65535");
}

/* One address, as it stands in a URL's query: local part, @, domain. */
int ing_conf_check_email(const char *text, struct ing_error *err)
{
	const char *at = strchr(text, '@');
	if (at != NULL && is_made_of(text, (size_t)(at - text), "._%+-") &&
		is_made_of(at + 1, strlen(at + 1), ".-"))
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG, "not a mail address");
}

/* Of a service, below which its paths are. */
int ing_conf_check_service(const char *text, struct ing_error *err)
{
	struct ing_url_parts parts;
	bool good = ing_url_parts(text, strlen(text), NULL, &parts);
	if (good) {
		good = (strcmp(parts.protocol, "http:") == 0 ||
			       strcmp(parts.protocol, "https:") == 0) &&
		       parts.hostname[0] != '\0' && parts.username[0] == '\0' &&
		       parts.password[0] == '\0' && strpbrk(text, "?#") == NULL &&
		       is_made_of(text, strlen(text), "!$%&'()*+,-./:;=@[]_~");
		ing_url_parts_done(&parts);
	}
	if (good)
		return 0;
	return ing_error_set(err, ING_FAIL_CONFIG,
		"not http://HOST:PORT/PATH or https://HOST:PORT/PATH"); /* unrepeated */
}
