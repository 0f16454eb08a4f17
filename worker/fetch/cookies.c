/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A jar is a curl share that has cookies only: connections and TLS sessions belong to the multi handle.
 * curl implements RFC 6265, the public suffix list included.
 *
 * The version is a hash of the cookies, independent of their order. A site that changes a cookie and
 * changes it back restores the earlier version, so that a URL that is visited again in the same state
 * is recognised as a redirect loop.
 */
#include "worker/fetch/cookies.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of all cookies of one request, as text: fifty of the largest ones (RFC 6265 6.1 asks for as many
 * of one domain). curl bounds what one answer may set and one request may send, not what many
 * answers set. */
#define MAX_JAR_BYTES ((size_t)256 << 10)
/* Of them, however small: curl's list of cookies takes the square of their number, and it is made
 * after every answer. A request meets ten sites or so, each of which needs room for fifty. */
#define MAX_JAR_COOKIES ((size_t)500)

struct ing_cookies {
	CURLSH *share;
	uint64_t version;
};

/* FNV-1a, then an avalanche, because the entries' hashes are added up. */
static uint64_t hash_bytes(uint64_t hash, const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)s[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t finish_hash(uint64_t hash)
{
	hash ^= hash >> 33;
	hash *= UINT64_C(0xff51afd7ed558ccd);
	hash ^= hash >> 33;
	return hash;
}

/* Netscape's line: domain, subdomains too, path, secure, expiry, name, value. The expiry is left
 * out: setting the same cookie again changes it and nothing else. 0 for a cookie that is over: curl
 * keeps a deleted one until the next is set. */
uint64_t ing_cookies_hash_line(const char *line, time_t now)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (int column = 0; column < 7; column++) {
		size_t len = column < 6 ? strcspn(line, "\t") : strlen(line);
		if (column == 4) {
			long long expiry = strtoll(line, NULL, 10);
			if (expiry != 0 && expiry < now)
				return 0;
		} else {
			hash = hash_bytes(hash, line, len);
		}
		hash = hash_bytes(hash, "\t", 1);
		line += len;
		if (*line == '\t')
			line++;
	}
	return finish_hash(hash);
}

void *ing_cookies_share(struct ing_cookies *jar)
{
	return jar->share;
}

void ing_cookies_refresh(struct ing_cookies *jar, void *easy)
{
	struct curl_slist *list = NULL;
	uint64_t sum = 0;
	size_t bytes = 0;
	size_t count = 0;
	time_t now = time(NULL);
	if (curl_easy_getinfo((CURL *)easy, CURLINFO_COOKIELIST, &list) != CURLE_OK)
		return;
	for (const struct curl_slist *item = list; item != NULL; item = item->next) {
		sum += ing_cookies_hash_line(item->data, now);
		bytes += strlen(item->data);
		count++;
	}
	curl_slist_free_all(list);
	if (bytes > MAX_JAR_BYTES || count > MAX_JAR_COOKIES) {
		curl_easy_setopt((CURL *)easy, CURLOPT_COOKIELIST, "ALL"); /* forget all */
		sum = 0;
	}
	jar->version = sum;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_cookies *ing_cookies_new(void)
{
	struct ing_cookies *jar = ing_alloc(sizeof(*jar));
	jar->share = curl_share_init();
	ing_must(jar->share != NULL);
	ing_must(curl_share_setopt(jar->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE) ==
		 CURLSHE_OK);
	return jar;
}

void ing_cookies_free(struct ing_cookies *jar)
{
	if (jar == NULL)
		return;
	ing_must(curl_share_cleanup(jar->share) == CURLSHE_OK); /* else a transfer still uses it */
	free(jar);
}

uint64_t ing_cookies_version(const struct ing_cookies *jar)
{
	return jar->version;
}
