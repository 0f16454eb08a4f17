/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Identifiers as people write them. Several of one work may stand in one line, as PubFetcher writes
 * them: PMID, PMCID and DOI with white space between.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"
#include "common/net/url.h"
#include "worker/model/limits.h"
#include "worker/publication/assembly.h"
#include "worker/publication/identifiers.h"

#define SPACES " \t\r\n"

struct text {
	const char *s;
	size_t bytes;
};

static bool skip_word(struct text *t, const char *word)
{
	size_t n = strlen(word);
	if (t->bytes < n || strncasecmp(t->s, word, n) != 0)
		return false;
	t->s += n;
	t->bytes -= n;
	return true;
}

/* "PMID: 1", "pmcid PMC1": what is behind the word. */
static struct text behind_label(struct text t, const char *label)
{
	struct text rest = t;
	if (!skip_word(&rest, label) || rest.bytes == 0 || strchr(SPACES ":", *rest.s) == NULL)
		return t;
	while (rest.bytes > 0 && strchr(SPACES ":", *rest.s) != NULL) {
		rest.s++;
		rest.bytes--;
	}
	return rest;
}

static bool is_arxiv_number(struct text t)
{
	bool has_digit = false, good = t.bytes >= 9 && t.bytes < 40;
	for (size_t i = 0; i < t.bytes && good; i++) {
		has_digit = has_digit || (t.s[i] >= '0' && t.s[i] <= '9');
		good = strchr("0123456789.-/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
			       t.s[i]) != NULL;
	}
	return good && has_digit;
}

/* "arXiv:2101.00001", or a page or PDF of arXiv: its DOI. */
static bool take_arxiv(struct text t, struct ing_buf *ret)
{
	static const char *const urls[] = {"https://", "http://"};
	static const char *const paths[] = {"arxiv.org/abs/", "www.arxiv.org/abs/",
		"export.arxiv.org/abs/", "arxiv.org/pdf/", "www.arxiv.org/pdf/"};
	bool is_url = false, found = false;
	for (size_t i = 0; i < ING_ARRAY_LEN(urls) && !is_url; i++)
		is_url = skip_word(&t, urls[i]);
	for (size_t i = 0; i < ING_ARRAY_LEN(paths) && is_url && !found; i++)
		found = skip_word(&t, paths[i]);
	if (!found && (is_url || !skip_word(&t, "arxiv:")))
		return false;
	const char *end = memchr(t.s, '?', t.bytes);
	t.bytes = end != NULL ? (size_t)(end - t.s) : t.bytes;
	if (t.bytes > 4 && strncasecmp(t.s + t.bytes - 4, ".pdf", 4) == 0)
		t.bytes -= 4;
	size_t version = t.bytes; /* a version is no part of the DOI */
	while (version > 0 && t.s[version - 1] >= '0' && t.s[version - 1] <= '9')
		version--;
	if (version > 1 && version < t.bytes && t.s[version - 1] == 'v')
		t.bytes = version - 1;
	struct ing_buf doi;
	ing_buf_init(&doi, ING_MAX_PUBLICATION_ID_BYTES);
	ing_buf_printf(&doi, "10.48550/arXiv.%.*s", (int)ING_MIN(t.bytes, (size_t)100), t.s);
	bool good = is_arxiv_number(t) &&
		    ing_identifier_normal(ING_PART_DOI, ing_buf_str(&doi), doi.len, ret);
	ing_buf_done(&doi);
	return good;
}

static enum ing_part_key find_id(struct text t, struct ing_buf *ret)
{
	struct text pmid = behind_label(t, "pmid"), pmcid = behind_label(t, "pmcid");
	if (ing_identifier_normal(ING_PART_PMID, pmid.s, pmid.bytes, ret))
		return ING_PART_PMID;
	if (ing_identifier_normal(ING_PART_PMCID, pmcid.s, pmcid.bytes, ret))
		return ING_PART_PMCID;
	if (ing_identifier_normal(ING_PART_DOI, t.s, t.bytes, ret) || take_arxiv(t, ret))
		return ING_PART_DOI;
	return ING_PARTS_;
}

static const char **place_of(struct ing_assembly_request *r, enum ing_part_key key)
{
	if (key == ING_PART_PMID)
		return &r->pmid;
	return key == ING_PART_PMCID ? &r->pmcid : &r->doi;
}

/* Takes one identifier; false: it is none, or another one of its kind was taken. */
static bool take_one(struct text t, struct ing_arena *ar, struct ing_assembly_request *ret)
{
	struct ing_buf id;
	ing_buf_init(&id, ING_MAX_PUBLICATION_ID_BYTES);
	enum ing_part_key key = find_id(t, &id);
	bool good = key != ING_PARTS_ && *place_of(ret, key) == NULL;
	if (good)
		*place_of(ret, key) = ing_arena_strndup(ar, ing_buf_str(&id), id.len);
	ing_buf_done(&id);
	return good;
}

static bool take_several(struct text t, struct ing_arena *ar, struct ing_assembly_request *ret)
{
	while (t.bytes > 0) {
		size_t n = 0, gap;
		while (n < t.bytes && strchr(SPACES, t.s[n]) == NULL)
			n++;
		for (gap = 0; n + gap < t.bytes && strchr(SPACES, t.s[n + gap]) != NULL;)
			gap++;
		if (!take_one((struct text){t.s, n}, ar, ret))
			return false;
		t = (struct text){t.s + n + gap, t.bytes - n - gap};
	}
	return true;
}

static bool take_url(const char *text, struct ing_arena *ar, struct ing_assembly_request *ret)
{
	char *url = ing_url_clean(text, strlen(text));
	bool good = strlen(url) <= ING_MAX_URL_BYTES && ing_url_is_web(url);
	struct ing_buf id;
	enum ing_part_key key = ING_PARTS_;
	ing_buf_init(&id, ING_MAX_PUBLICATION_ID_BYTES);
	if (good && ing_identifier_of_url(url, &key, &id) && key != ING_PARTS_)
		*place_of(ret, key) = ing_arena_strndup(ar, ing_buf_str(&id), id.len);
	else if (good)
		ret->url = ing_arena_strdup(ar, url);
	ing_buf_done(&id);
	free(url);
	return good;
}

/* -------------------------------------------------------------------------------------------- */

int ing_assembly_parse_id(const char *text, struct ing_arena *ar, struct ing_assembly_request *ret,
	struct ing_error *err)
{
	struct text t = {text, strlen(text)};
	struct ing_assembly_request r = {.only = ING_PUBLICATION_RESOURCES_};
	ing_url_trim(&t.s, &t.bytes);
	bool good = take_one(t, ar, &r) || take_url(text, ar, &r);
	if (!good && t.bytes > 0)
		good = take_several(t, ar, &r);
	if (!good)
		return ing_error_set(err, ING_FAIL_INVALID,
			"%.100s: neither a PMID, PMCID or DOI nor an http(s) URL", text);
	*ret = r;
	return 0;
}
