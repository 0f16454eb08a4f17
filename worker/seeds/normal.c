/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each form is read in one pass. What is no identifier of the kind has no normal form: a list that is wrong gives
 * fewer identifiers, not wrong ones.
 */
#include "worker/seeds/normal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/net/url.h"
#include "worker/scrape/biblio/ident.h"

#define MAX_ARXIV_BYTES 64
#define SHA1_DIGITS 40

struct text {
	const char *s;
	size_t bytes;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (char)(c | 0x20) >= 'a' && (char)(c | 0x20) <= 'z';
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool skip(struct text *t, const char *prefix)
{
	size_t n = strlen(prefix);
	if (t->bytes < n || strncasecmp(t->s, prefix, n) != 0)
		return false;
	t->s += n;
	t->bytes -= n;
	return true;
}

static size_t digits(struct text t)
{
	size_t n = 0;
	while (n < t.bytes && is_digit(t.s[n]))
		n++;
	return n;
}

static bool text(struct text t, struct ing_buf *ret)
{
	return ing_buf_add(ret, t.s, t.bytes);
}

static bool lower(struct text t, struct ing_buf *ret)
{
	char *to = ing_buf_reserve(ret, t.bytes);
	if (to == NULL)
		return false;
	for (size_t i = 0; i < t.bytes; i++)
		to[i] = to_lower(t.s[i]);
	ing_buf_commit(ret, t.bytes);
	return true;
}

static bool upper(struct text t, struct ing_buf *ret)
{
	for (size_t i = 0; i < t.bytes; i++)
		ing_buf_add_char(
			ret, t.s[i] >= 'a' && t.s[i] <= 'z' ? (char)(t.s[i] & ~0x20) : t.s[i]);
	return !ret->failed;
}

static bool doi(struct text t, struct ing_buf *ret)
{
	if (!ing_ident_doi(t.s, t.bytes, false, ret))
		return false;
	for (size_t i = 0; i < ret->len; i++)
		ret->data[i] = to_lower(ret->data[i]);
	return true;
}

/* Behind the number, "v2" or nothing. */
static bool is_version(struct text t)
{
	if (t.bytes == 0)
		return true;
	t.s++;
	t.bytes--;
	return to_lower(t.s[-1]) == 'v' && t.bytes > 0 && digits(t) == t.bytes;
}

/* 0704.0001 since April 2007, five digits behind the dot since 2015. */
static bool is_new_arxiv(struct text t)
{
	if (digits(t) != 4 || t.bytes < 9 || t.s[4] != '.')
		return false;
	t.s += 5;
	t.bytes -= 5;
	size_t n = digits(t);
	return (n == 4 || n == 5) && is_version((struct text){t.s + n, t.bytes - n});
}

/* math/0309136, math.GT/0309136, hep-th/9901001v2. */
static bool is_old_arxiv(struct text t)
{
	size_t n = 0;
	while (n < t.bytes && (is_letter(t.s[n]) || t.s[n] == '-' || t.s[n] == '.'))
		n++;
	if (n == 0 || n == t.bytes || t.s[n] != '/')
		return false;
	t.s += n + 1;
	t.bytes -= n + 1;
	return digits(t) == 7 && is_version((struct text){t.s + 7, t.bytes - 7});
}

static bool arxiv(struct text t, struct ing_buf *ret)
{
	static const char *const prefixes[] = {"https://", "http://", "www.", "export.",
		"arxiv.org/", "abs/", "pdf/", "oai:arXiv.org:", "arxiv:"};
	for (size_t i = 0; i < ING_ARRAY_LEN(prefixes); i++)
		skip(&t, prefixes[i]);
	if (t.bytes > 4 && strncasecmp(t.s + t.bytes - 4, ".pdf", 4) == 0)
		t.bytes -= 4;
	if (t.bytes > MAX_ARXIV_BYTES || !(is_new_arxiv(t) || is_old_arxiv(t)))
		return false;
	ing_buf_add(ret, t.s, t.bytes);
	char *version = strrchr(ret->data, 'V');
	if (version != NULL && is_digit(version[1]))
		*version = 'v';
	return true;
}

static bool pmid(struct text t, struct ing_buf *ret)
{
	static const char *const prefixes[] = {"https://", "http://", "pubmed.ncbi.nlm.nih.gov/",
		"www.ncbi.nlm.nih.gov/pubmed/", "pmid:"};
	for (size_t i = 0; i < ING_ARRAY_LEN(prefixes); i++)
		skip(&t, prefixes[i]);
	if (t.bytes > 0 && t.s[t.bytes - 1] == '/')
		t.bytes--;
	return ing_ident_pmid(t.s, t.bytes, ret);
}

static bool pmcid(struct text t, struct ing_buf *ret)
{
	static const char *const prefixes[] = {"https://", "http://",
		"pmc.ncbi.nlm.nih.gov/articles/", "www.ncbi.nlm.nih.gov/pmc/articles/", "pmcid:"};
	for (size_t i = 0; i < ING_ARRAY_LEN(prefixes); i++)
		skip(&t, prefixes[i]);
	skip(&t, "PMC");
	size_t n = digits(t);
	/* A slash of the URL, or the version of a manuscript: "PMC1234.2". */
	bool whole =
		n == t.bytes || (t.s[n] == '/' && n + 1 == t.bytes) ||
		(t.s[n] == '.' &&
			n + 1 + digits((struct text){t.s + n + 1, t.bytes - n - 1}) == t.bytes);
	if (!whole || n == 0 || n > 18 || t.s[0] == '0')
		return false;
	ing_buf_add_str(ret, "PMC");
	return ing_buf_add(ret, t.s, n);
}

static bool url(struct text t, struct ing_buf *ret)
{
	ing_url_trim(&t.s, &t.bytes);
	char *href = ing_url_parse(t.s, t.bytes);
	bool good = href != NULL && ing_buf_add_str(ret, href);
	free(href);
	return good;
}

static bool id(struct text t, struct ing_buf *ret)
{
	struct text rest = t;
	if (doi(t, ret))
		return true;
	ing_buf_clear(ret);
	if (skip(&rest, "PMC") && pmcid(t, ret))
		return true;
	ing_buf_clear(ret);
	return skip(&rest, "oai:") ? lower(t, ret) : text(t, ret);
}

static bool is_clock(const char *s)
{
	static const char form[] = "00:00:00";
	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == '0' ? !is_digit(s[i]) : s[i] != form[i])
			return false;
	return true;
}

/* Whether a time of day, with a fraction or not, is UTC's or does not say. */
static bool is_utc(struct text t)
{
	if (t.bytes > 0 && t.s[0] == '.') {
		size_t n = 1 + digits((struct text){t.s + 1, t.bytes - 1});
		t = (struct text){t.s + n, t.bytes - n};
	}
	return t.bytes == 0 || (t.bytes == 1 && t.s[0] == 'Z') ||
	       (t.bytes == 6 && memcmp(t.s, "+00:00", 6) == 0);
}

/* Year, month and day, and the time if it is UTC's; a year or month alone says too little. */
static bool date(struct text t, struct ing_buf *ret)
{
	if (t.bytes < 10 || digits(t) != 4 || t.s[4] != '-' || !is_digit(t.s[5]) ||
		!is_digit(t.s[6]) || t.s[7] != '-' || !is_digit(t.s[8]) || !is_digit(t.s[9]))
		return false;
	int month = (t.s[5] - '0') * 10 + t.s[6] - '0';
	int day = (t.s[8] - '0') * 10 + t.s[9] - '0';
	if (month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	ing_buf_add(ret, t.s, 10);
	if (t.bytes < 19 || (t.s[10] != 'T' && t.s[10] != ' ') || !is_clock(t.s + 11) ||
		!is_utc((struct text){t.s + 19, t.bytes - 19}))
		return !ret->failed;
	ing_buf_add_char(ret, 'T');
	ing_buf_add(ret, t.s + 11, 8);
	return ing_buf_add_char(ret, 'Z');
}

/* The same, of a day its beginning: `created` of a request. */
static bool moment(struct text t, struct ing_buf *ret)
{
	return date(t, ret) && (ret->len > 10 || ing_buf_add_str(ret, "T00:00:00Z"));
}

static bool sha1(struct text t, struct ing_buf *ret)
{
	if (t.bytes != SHA1_DIGITS)
		return false;
	for (size_t i = 0; i < t.bytes; i++) {
		char c = to_lower(t.s[i]);
		if (!is_digit(c) && (c < 'a' || c > 'f'))
			return false;
		ing_buf_add_char(ret, c);
	}
	return !ret->failed;
}

static bool slug(struct text t, struct ing_buf *ret)
{
	for (size_t i = 0; i < t.bytes; i++) {
		char c = to_lower(t.s[i]);
		if (is_digit(c) || is_letter(c))
			ing_buf_add_char(ret, c);
		else if (ret->len > 0 && ret->data[ret->len - 1] != '-')
			ing_buf_add_char(ret, '-');
	}
	if (ret->len > 0 && ret->data[ret->len - 1] == '-')
		ret->data[--ret->len] = '\0';
	return !ret->failed && ret->len > 0;
}

/* -------------------------------------------------------------------------------------------- */

const char *const ing_seed_normal_names[] = {
#define NORMAL(id, name, function) name,
#include "worker/seeds/normal.def"
#undef NORMAL
	NULL,
};

bool ing_seed_normalise(enum ing_seed_normal as, const char *s, size_t bytes, struct ing_buf *ret)
{
	static bool (*const functions[])(struct text t, struct ing_buf * ret) = {
#define NORMAL(id, name, function) function,
#include "worker/seeds/normal.def"
#undef NORMAL
	};
	return functions[as]((struct text){s, bytes}, ret);
}
