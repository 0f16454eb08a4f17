/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * curl's idea of a URL against ours. Our parser cleans a URL, and its idea of the host is what
 * rules, robots.txt, the gate's keys and budgets go by; curl connects and asks by its own. Two that
 * differ are a way past all of these, so any difference is a defect: scheme, host, port, user
 * information, path, query. What fetch makes of the URL in between must agree with both.
 */
#include "tests/fuzz/target.h"

#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/addr.h"
#include "common/net/url.h"
#include "worker/fetch/route.h"
#include "worker/visit/target.h"

FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 10000, .heap_kb = 200, .heap_byte = 1000);

/* As curl_easy_perform() reads its CURLOPT_URL, with CURLOPT_PATH_AS_IS. */
#define EASY_FLAGS (CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS)

static void expect_same(const char *url, const char *what, const char *ours, const char *curls)
{
	if (strcmp(ours, curls) == 0)
		return;
	fprintf(stderr, "%s: %s is \"%s\" to us and \"%s\" to curl\n", url, what, ours, curls);
	abort();
}

/* "" when absent. */
static char *part_of(CURLU *u, CURLUPart part, unsigned flags)
{
	char *text = NULL;
	if (curl_url_get(u, part, &text, flags) != CURLUE_OK)
		return ing_strdup("");
	char *copy = ing_strdup(text);
	curl_free(text);
	return copy;
}

static void compare_part(const char *url, const char *what, const char *ours, CURLU *u,
	CURLUPart part, unsigned flags)
{
	char *curls = part_of(u, part, flags);
	expect_same(url, what, ours, curls);
	free(curls);
}

static void compare_with_curl(const char *url, const struct ing_url_parts *p)
{
	char port[16];
	char *scheme = ing_strndup(p->protocol, strlen(p->protocol) - 1);
	CURLU *u = curl_url();
	ing_must(u != NULL);
	CURLUcode rc = curl_url_set(u, CURLUPART_URL, url, EASY_FLAGS);
	if (rc != CURLUE_OK) {
		fprintf(stderr, "%s: curl says %s\n", url, curl_url_strerror(rc));
		abort();
	}
	snprintf(port, sizeof(port), "%u", ing_url_port(url));
	compare_part(url, "the scheme", scheme, u, CURLUPART_SCHEME, 0);
	compare_part(url, "the user", "", u, CURLUPART_USER, 0);
	compare_part(url, "the password", "", u, CURLUPART_PASSWORD, 0);
	compare_part(url, "the host", p->hostname, u, CURLUPART_HOST, 0);
	compare_part(url, "the zone", "", u, CURLUPART_ZONEID, 0);
	compare_part(url, "the port", port, u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	compare_part(url, "the path", p->pathname, u, CURLUPART_PATH, CURLU_URLENCODE);
	/* "/?" is not "/" */
	char *query = NULL;
	rc = curl_url_get(u, CURLUPART_QUERY, &query, 0);
	ing_must((rc == CURLUE_OK) == (strchr(url, '?') != NULL));
	expect_same(url, "the query", p->search[0] == '?' ? p->search + 1 : "",
		query != NULL ? query : "");
	curl_free(query);
	compare_part(url, "the fragment", "", u, CURLUPART_FRAGMENT, 0);
	curl_url_cleanup(u);
	free(scheme);
}

/* The standard allows hosts that no name server has, "a;b" for one. */
static bool is_host_of_dns(const char *host)
{
	return host[strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0';
}

/* False when fetch does not take it, for which there must be a reason. */
static bool compare_with_target(const char *url, const struct ing_url_parts *p)
{
	struct ing_target t;
	struct ing_error err = {0};
	struct ing_addr addr;
	char host[ING_URL_HOST_BYTES];
	char text[ING_ADDR_TEXT_BYTES];
	if (ing_target_init(&t, url, &err) != 0) {
		if (!is_host_of_dns(p->hostname) || ing_url_port(url) == 0)
			return false;
		fprintf(stderr, "%s: fetch says %s\n", url, err.msg);
		abort();
	}
	ing_must(ing_url_host(url, host, sizeof(host)));
	expect_same(url, "the host", p->hostname, host);
	if (ing_addr_parse(p->hostname, &addr)) { /* fetch writes addresses without brackets */
		ing_addr_format(&addr, text);
		expect_same(url, "the target's address", text, t.host);
	} else {
		expect_same(url, "the target's host", p->hostname, t.host);
	}
	expect_same(url, "the target's URL", url, t.url);
	ing_must(t.port == ing_url_port(url));
	ing_must(t.https == (strcmp(p->protocol, "https:") == 0));
	ing_must(!t.had_userinfo);
	ing_target_done(&t);
	return true;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	char *base_url = ing_strndup((const char *)data, size);
	struct ing_decision start = ing_target_start(base_url, NULL, NULL);
	struct ing_url_parts p;
	free(base_url);
	if (start.step != ING_STEP_LINK)
		return;
	ing_must(ing_url_parts(start.url, strlen(start.url), NULL, &p));
	if (compare_with_target(start.url, &p))
		compare_with_curl(start.url, &p);
	ing_url_parts_done(&p);
	free(start.url);
}
