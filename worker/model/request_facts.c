/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/model/request_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/data/base32.h"
#include "common/data/digest.h"
#include "common/data/json.h"
#include "worker/model/request.h"

static const char *skip_prefix(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncasecmp(s, prefix, n) == 0 ? s + n : NULL;
}

static const char *behind_scheme(const char *href)
{
	size_t n =
		strspn(href, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
	return strncmp(href + n, "://", 3) == 0 ? href + n + 3 : href;
}

/* User information is not sent, and not stored. */
static const char *behind_userinfo(const char *authority)
{
	const char *start = authority;
	const char *end = authority + strcspn(authority, "/?#");
	for (const char *at = memchr(start, '@', (size_t)(end - start)); at != NULL;
		at = memchr(start, '@', (size_t)(end - start)))
		start = at + 1;
	return start;
}

static const char *doi_of_url(const char *url)
{
	char host[ING_URL_HOST_BYTES];
	ing_fact_host(url, host);
	if (!ing_is_doi_resolver(host))
		return NULL;
	const char *path = strchr(behind_scheme(url), '/');
	return path != NULL ? path + 1 : NULL;
}

static void fill_facts(const char key[41], const char *ingest_type, const char *base_url,
	const char *doi, struct ing_request_facts *ret)
{
	*ret = (struct ing_request_facts){0};
	unsigned char sha1[20];
	ing_must(ing_hex_decode(key, sha1, sizeof(sha1)));
	memcpy(ret->request_id, sha1, ING_FACT_ID_BYTES);
	ing_document_id(ingest_type, base_url, ret->document);
	ing_fact_host(base_url, ret->host);
	if (doi != NULL)
		ing_doi_prefix(doi, ret->doi_prefix);
	if (ret->doi_prefix[0] == '\0' && ing_is_doi_resolver(ret->host))
		ing_doi_prefix(base_url, ret->doi_prefix);
}

/* -------------------------------------------------------------------------------------------- */

void ing_fact_host(const char *url, char ret[ING_URL_HOST_BYTES])
{
	char host[ING_URL_HOST_BYTES];
	ret[0] = '\0';
	if (!ing_url_host(url, host, sizeof(host)))
		return;
	const char *bare = strncmp(host, "www.", 4) == 0 && host[4] != '\0' ? host + 4 : host;
	snprintf(ret, ING_URL_HOST_BYTES, "%s", bare);
}

bool ing_is_doi_resolver(const char *host)
{
	return strcmp(host, "doi.org") == 0 || strcmp(host, "dx.doi.org") == 0;
}

void ing_doi_prefix(const char *doi, char ret[ING_DOI_PREFIX_BYTES])
{
	ret[0] = '\0';
	doi += strspn(doi, " \t\r\n");
	const char *rest = skip_prefix(doi, "doi:");
	if (rest == NULL && strncmp(doi, "10.", 3) != 0)
		rest = doi_of_url(doi);
	if (rest == NULL)
		rest = doi;
	rest += strspn(rest, " ");
	/* ISO 26324: the directory indicator 10, and a registrant's code of digits that dots may divide. */
	size_t n = strncmp(rest, "10.", 3) == 0 ? 3 + strspn(rest + 3, "0123456789.") : 0;
	if (n <= 3 || n >= ING_DOI_PREFIX_BYTES || rest[n] != '/' || rest[n - 1] == '.')
		return;
	memcpy(ret, rest, n);
	ret[n] = '\0';
}

void ing_document_id(
	const char *ingest_type, const char *base_url, unsigned char ret[ING_FACT_ID_BYTES])
{
	char *clean = ing_url_clean(base_url, strlen(base_url));
	const char *rest = behind_scheme(clean);
	if (rest != clean)
		rest = behind_userinfo(rest);
	if (rest != clean && strncmp(rest, "www.", 4) == 0)
		rest += 4;
	struct ing_buf text;
	struct ing_digests d;
	ing_buf_init(&text, SIZE_MAX / 8);
	ing_buf_add_str(&text, ingest_type);
	ing_buf_add_char(&text, '\t');
	ing_buf_add_str(&text, rest);
	ing_must(!text.failed);
	ing_digest(ING_DIGEST_SHA1, text.data, text.len, &d);
	memcpy(ret, d.sha1, ING_FACT_ID_BYTES);
	ing_buf_done(&text);
	free(clean);
}

void ing_request_facts(const struct ing_request *r, struct ing_request_facts *ret)
{
	fill_facts(r->key, r->ingest_type, r->base_url,
		ing_json_get_text(json_object_get(r->json, "ext_ids"), "doi"), ret);
}

void ing_request_facts_of(const char *ingest_type, const char *base_url, const char *link_source,
	const char *link_source_id, const char *doi, struct ing_request_facts *ret)
{
	char key[41];
	ing_request_key(ingest_type, base_url, link_source, link_source_id, key);
	fill_facts(key, ingest_type, base_url, doi, ret);
}

void ing_fact_id_text(const unsigned char id[ING_FACT_ID_BYTES], char ret[ING_FACT_ID_TEXT_BYTES])
{
	static const unsigned ends[] = {8, 12, 16, 20, 32}; /* of the groups, in digits */
	char hex[2 * ING_FACT_ID_BYTES + 1];
	unsigned from = 0;
	ing_hex_encode(id, ING_FACT_ID_BYTES, hex);
	for (size_t i = 0; i < ING_ARRAY_LEN(ends); i++) {
		memcpy(ret, hex + from, ends[i] - from);
		ret += ends[i] - from;
		*ret++ = '-';
		from = ends[i];
	}
	ret[-1] = '\0';
}
