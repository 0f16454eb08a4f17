/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Identifiers are read in one pass and pieces of limited size: the cost is linear in the text,
 * whatever it contains.
 */
#include "worker/scrape/biblio/ident.h"

#include <string.h>
#include <strings.h>

#include "common/base/utf8.h"

#define MAX_DOI_BYTES 2048      /* the longest registered are SICIs of some 200 */
#define MAX_REGISTRANT_BYTES 32 /* "10.1000.10.123": nine characters in practice */
#define MAX_NUMBER_DIGITS 18    /* PubMed's have eight */

struct span {
	const char *p, *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	char lower = (char)(c | 0x20);
	return is_digit(c) || (lower >= 'a' && lower <= 'z');
}

/* Bytes of a space or control character (Unicode Z and Cc, and the zero-width ones) at p; 0:
 * none. */
static size_t space_bytes(struct span s)
{
	size_t left = (size_t)(s.end - s.p);
	if (left == 0)
		return 0;
	const unsigned char *u = (const unsigned char *)s.p;
	if (u[0] <= 0x20 || u[0] == 0x7F)
		return 1;
	if (left >= 2 && u[0] == 0xC2 && u[1] >= 0x80 && u[1] <= 0xA0)
		return 2;
	if (left < 3)
		return 0;
	bool general = u[0] == 0xE2 && u[1] == 0x80 &&
		       (u[2] <= 0x8F || u[2] == 0xA8 || u[2] == 0xA9 || u[2] == 0xAF);
	if (general || (u[0] == 0xE3 && u[1] == 0x80 && u[2] == 0x80) ||
		(u[0] == 0xEF && u[1] == 0xBB && u[2] == 0xBF))
		return 3;
	return 0;
}

static void skip_spaces(struct span *s)
{
	for (;;) {
		size_t n = space_bytes(*s);
		if (n == 0)
			return;
		s->p += n;
	}
}

static struct span trim(const char *text, size_t bytes)
{
	struct span s = {text, text + bytes};
	skip_spaces(&s);
	for (;;) {
		size_t n = 0;
		for (size_t back = 1; back <= 3 && n == 0 && back <= (size_t)(s.end - s.p);
			back++) {
			if (space_bytes((struct span){s.end - back, s.end}) == back)
				n = back;
		}
		if (n == 0)
			return s;
		s.end -= n;
	}
}

/* Skips `lower`, whatever the case, if the text goes on with it. */
static bool skip_word(struct span *s, const char *lower)
{
	size_t len = strlen(lower);
	if ((size_t)(s->end - s->p) < len || strncasecmp(s->p, lower, len) != 0)
		return false;
	s->p += len;
	return true;
}

/* The next place of `lower`, whatever the case; NULL: none. */
static const char *find_word(struct span s, const char *lower)
{
	size_t len = strlen(lower);
	const char both[3] = {lower[0], (char)(lower[0] & ~0x20), '\0'};
	for (; (size_t)(s.end - s.p) >= len; s.p++) {
		if ((*s.p == both[0] || *s.p == both[1]) && strncasecmp(s.p, lower, len) == 0)
			return s.p;
	}
	return NULL;
}

/* --- DOI --- */

/* Resolver, info: URI or "doi:" in front of a DOI, several of them too. *ret_url: one of them was a
 * resolver, so that what follows is a URL's path. */
static void skip_doi_prefix(struct span *s, bool *ret_url)
{
	static const char *const schemes[] = {"https://", "http://", "//"};
	static const char *const hosts[] = {"doi.org/", "dx.doi.org/", "www.doi.org/",
		"www.dx.doi.org/", "dx.medra.org/", "doi.acm.org/", "hdl.handle.net/"};
	static const char *const names[] = {"info:doi/", "info:doi:", "urn:doi:", "doi:"};
	*ret_url = false;
	for (int round = 0; round < 3; round++) {
		struct span at = *s;
		bool found = false;
		for (size_t i = 0; i < ING_ARRAY_LEN(schemes); i++) {
			if (skip_word(&at, schemes[i]))
				break;
		}
		for (size_t i = 0; i < ING_ARRAY_LEN(hosts) && !found; i++)
			found = skip_word(&at, hosts[i]);
		*ret_url = *ret_url || found;
		if (!found)
			at = *s;
		for (size_t i = 0; i < ING_ARRAY_LEN(names) && !found; i++)
			found = skip_word(&at, names[i]);
		if (!found && skip_word(&at, "doi")) /* "DOI 10.1/x" */
			found = space_bytes(at) > 0;
		if (!found)
			return;
		skip_spaces(&at);
		*s = at;
	}
}

/* "10.", registrant and slash; `numeric`: as registrants are given out today. */
static bool skip_doi_registrant(struct span *s, bool numeric)
{
	struct span at = *s;
	if (!skip_word(&at, "10."))
		return false;
	const char *start = at.p;
	while (at.p < at.end && at.p - start < MAX_REGISTRANT_BYTES &&
		(is_digit(*at.p) || *at.p == '.' ||
			(!numeric && (is_alnum(*at.p) || *at.p == '-'))))
		at.p++;
	if (at.p == start || at.p == at.end || *at.p != '/')
		return false;
	s->p = at.p + 1;
	return true;
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	char lower = (char)(c | 0x20);
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* A URL's path: percent-escapes undone, without query and fragment. */
static void decode_path(struct span s, struct ing_buf *out)
{
	for (; s.p < s.end && *s.p != '?' && *s.p != '#'; s.p++) {
		int high = s.end - s.p > 2 && *s.p == '%' ? hex_value(s.p[1]) : -1;
		int low = high >= 0 ? hex_value(s.p[2]) : -1;
		if (low >= 0) {
			ing_buf_add_char(out, (char)(high << 4 | low));
			s.p += 2;
		} else {
			ing_buf_add_char(out, *s.p);
		}
	}
}

static bool has_space(struct span s)
{
	for (; s.p < s.end; s.p++) {
		if (space_bytes(s) > 0)
			return true;
	}
	return false;
}

static void make_upper(struct span doi, struct ing_buf *ret, bool upper)
{
	for (; doi.p < doi.end; doi.p++) {
		bool change = upper && *doi.p >= 'a' && *doi.p <= 'z';
		ing_buf_add_char(ret, change ? (char)(*doi.p & ~0x20) : *doi.p);
	}
}

/* s is a DOI from its first to its last character. */
static bool take_doi(struct span s, bool upper, struct ing_buf *ret)
{
	struct span suffix = s;
	size_t bytes = (size_t)(s.end - s.p);
	if (bytes > MAX_DOI_BYTES || !skip_doi_registrant(&suffix, false) ||
		suffix.p == suffix.end || !ing_utf8_valid(s.p, bytes) || has_space(suffix))
		return false;
	make_upper(s, ret, upper);
	if (!ret->failed)
		return true;
	ing_buf_clear(ret);
	return false;
}

bool ing_ident_doi(const char *s, size_t bytes, bool upper, struct ing_buf *ret)
{
	struct span doi = trim(s, bytes);
	bool url;
	skip_doi_prefix(&doi, &url);
	if (!url || (size_t)(doi.end - doi.p) > (size_t)MAX_DOI_BYTES * 3)
		return take_doi(doi, upper, ret);
	struct ing_buf path;
	ing_buf_init(&path, (size_t)MAX_DOI_BYTES * 3);
	decode_path(doi, &path);
	bool good = take_doi(trim(ing_buf_str(&path), path.len), upper, ret);
	ing_buf_done(&path);
	return good;
}

/* Punctuation that ends a DOI in running text though a DOI may hold it: white space, quotation
 * marks, ideographic and full-width punctuation. */
static bool ends_doi(struct span s)
{
	const unsigned char *u = (const unsigned char *)s.p;
	if (*s.p == '"' || space_bytes(s) > 0)
		return true;
	if (s.end - s.p < 3)
		return false;
	return (u[0] == 0xE2 && u[1] == 0x80 && u[2] >= 0x98 && u[2] <= 0x9F) ||
	       (u[0] == 0xE3 && u[1] == 0x80) || (u[0] == 0xEF && u[1] == 0xBC && u[2] <= 0x9F);
}

/* Remove from the end of a DOI in running text what belongs to the sentence: full stops, and
 * closing brackets that were opened before it. */
static void trim_sentence(struct span *doi)
{
	static const char pairs[] = "()[]{}<>";
	int open[4] = {0};
	for (const char *p = doi->p; p < doi->end; p++) {
		const char *bracket = memchr(pairs, *p, sizeof(pairs) - 1);
		if (bracket != NULL)
			open[(bracket - pairs) / 2] += (bracket - pairs) % 2 == 0 ? 1 : -1;
	}
	while (doi->end > doi->p) {
		char last = doi->end[-1];
		const char *bracket = memchr(pairs, last, sizeof(pairs) - 1);
		int side = bracket == NULL ? 0 : (int)((bracket - pairs) / 2);
		bool stray = bracket != NULL && ((bracket - pairs) % 2 == 0 || open[side] < 0);
		if (!stray && (last == '\0' || strchr(".,;:!?'*&|", last) == NULL))
			return;
		if (stray)
			open[side] += (bracket - pairs) % 2 == 0 ? -1 : 1;
		doi->end--;
	}
}

/* A DOI at the front of s, and whatever text behind it. *end moves behind what was looked at, where
 * a search goes on. */
static bool take_doi_front(struct span s, bool url, const char **end, struct ing_buf *ret)
{
	struct span at = s;
	if (!skip_doi_registrant(&at, true))
		return false;
	while (at.p < at.end && at.p - s.p < MAX_DOI_BYTES && !ends_doi(at))
		at.p++;
	*end = at.p;
	struct span doi = {s.p, at.p};
	trim_sentence(&doi);
	if (!url)
		return take_doi(doi, false, ret);
	struct ing_buf path;
	ing_buf_init(&path, MAX_DOI_BYTES);
	decode_path(doi, &path);
	bool good = take_doi(trim(ing_buf_str(&path), path.len), false, ret);
	ing_buf_done(&path);
	return good;
}

bool ing_ident_doi_in(const char *s, size_t bytes, struct ing_buf *ret)
{
	struct span all = {s, s + bytes};
	if (ing_ident_doi(s, bytes, false, ret))
		return true;
	for (struct span at = all;;) { /* "doi", what may follow it, and the DOI */
		at.p = find_word(at, "doi");
		if (at.p == NULL)
			break;
		at.p += strlen("doi");
		struct span doi = at;
		bool url = skip_word(&doi, ".org/"), again;
		while (!url && doi.p < doi.end && (*doi.p == ':' || space_bytes(doi) > 0))
			doi.p += *doi.p == ':' ? 1 : space_bytes(doi);
		at.p = doi.p;
		skip_doi_prefix(&doi, &again);
		if (take_doi_front(doi, url || again, &at.p, ret))
			return true;
	}
	for (struct span at = all;;) { /* one that stands alone */
		at.p = at.p < at.end ? memmem(at.p, (size_t)(at.end - at.p), "10.", 3) : NULL;
		if (at.p == NULL)
			return false;
		struct span doi = at;
		bool alone = at.p == all.p || (!is_alnum(at.p[-1]) && at.p[-1] != '.');
		size_t digits = 3;
		while (digits < 8 && at.end - at.p > (ptrdiff_t)digits && is_digit(at.p[digits]))
			digits++;
		/* fewer than four digits are more likely a version or a section */
		at.p++;
		if (alone && digits >= 7 && take_doi_front(doi, false, &at.p, ret))
			return true;
	}
}

/* --- PMID, PMCID --- */

/* Digits that begin with 1 to 9; how many bytes, 0: none. */
static size_t number_bytes(struct span s)
{
	size_t n = 0;
	while (s.p + n < s.end && is_digit(s.p[n]))
		n++;
	return n == 0 || n > MAX_NUMBER_DIGITS || s.p[0] == '0' ? 0 : n;
}

bool ing_ident_pmid(const char *s, size_t bytes, struct ing_buf *ret)
{
	struct span id = trim(s, bytes);
	size_t n = number_bytes(id);
	return n > 0 && id.p + n == id.end && ing_buf_add(ret, id.p, n);
}

static bool take_pmcid_front(struct span s, bool whole, struct ing_buf *ret)
{
	if (!skip_word(&s, "pmc"))
		return false;
	size_t n = number_bytes(s);
	if (n == 0 || (whole && s.p + n != s.end))
		return false;
	if (ing_buf_add_str(ret, "PMC") && ing_buf_add(ret, s.p, n))
		return true;
	ing_buf_clear(ret);
	return false;
}

bool ing_ident_pmcid(const char *s, size_t bytes, struct ing_buf *ret)
{
	return take_pmcid_front(trim(s, bytes), true, ret);
}

/* Behind the next `label` and the spaces and colons that follow it; false: no more. */
static bool find_labelled(struct span *at, const char *label, struct span *ret_value)
{
	at->p = find_word(*at, label);
	if (at->p == NULL)
		return false;
	at->p += strlen(label);
	while (at->p < at->end && (*at->p == ':' || space_bytes(*at) > 0))
		at->p += *at->p == ':' ? 1 : space_bytes(*at);
	*ret_value = *at;
	return true;
}

bool ing_ident_pmid_in(const char *s, size_t bytes, struct ing_buf *ret)
{
	struct span at = {s, s + bytes}, value;
	if (ing_ident_pmid(s, bytes, ret))
		return true;
	while (find_labelled(&at, "pmid", &value)) {
		size_t n = number_bytes(value);
		if (n > 0)
			return ing_buf_add(ret, value.p, n);
	}
	return false;
}

bool ing_ident_pmcid_in(const char *s, size_t bytes, struct ing_buf *ret)
{
	struct span at = {s, s + bytes}, value;
	if (ing_ident_pmcid(s, bytes, ret))
		return true;
	while (find_labelled(&at, "pmcid", &value)) {
		if (take_pmcid_front(value, false, ret))
			return true;
	}
	return false;
}

/* --- identifiers with a check digit --- */

/* A hyphen or dash between groups of digits; how many bytes. */
static size_t dash_bytes(struct span s)
{
	const unsigned char *u = (const unsigned char *)s.p;
	if (s.p < s.end && *s.p == '-')
		return 1;
	if (s.end - s.p < 3 || u[0] != 0xE2)
		return 0;
	return (u[1] == 0x80 && u[2] >= 0x90 && u[2] <= 0x95) || (u[1] == 0x88 && u[2] == 0x92) ? 3
												: 0;
}

/* The characters 0-9 and X of a number that may be written in groups, at most max of them, from the
 * front of s; what follows must be no letter or digit. `spaces`: groups may be divided by one.
 * Returns their count; 0: something else follows. */
static size_t read_grouped(struct span s, bool spaces, size_t max, char *ret)
{
	size_t n = 0;
	while (s.p < s.end) {
		bool is_x = (*s.p | 0x20) == 'x' && n > 0;
		struct span behind = {s.p + 1, s.end};
		size_t dash = dash_bytes(s);
		if (is_digit(*s.p) || is_x) {
			if (n == max)
				return 0;
			ret[n++] = is_x ? 'X' : *s.p;
			s = behind;
		} else if (n > 0 && dash > 0 && s.p + dash < s.end && is_alnum(s.p[dash])) {
			s.p += dash;
		} else if (spaces && n > 0 && n < max && *s.p == ' ' && behind.p < s.end &&
			   (is_digit(*behind.p) || (*behind.p | 0x20) == 'x')) {
			s = behind;
		} else {
			break;
		}
	}
	return s.p < s.end && is_alnum(*s.p) ? 0 : n;
}

/* Check digit of ISO 7064 MOD 11-2, as ORCID uses it: of n digits. */
static char mod_11_2(const char *digits, size_t n)
{
	unsigned total = 0;
	for (size_t i = 0; i < n; i++)
		total = (total + (unsigned)(digits[i] - '0')) * 2 % 11;
	unsigned check = (12 - total) % 11;
	return check == 10 ? 'X' : (char)('0' + check);
}

/* Weighted sum n+1, n, … 2 modulo 11: ISSN (7 digits), ISBN-10 (9). */
static char mod_11(const char *digits, size_t n)
{
	unsigned total = 0;
	for (size_t i = 0; i < n; i++)
		total += (unsigned)(digits[i] - '0') * (unsigned)(n + 1 - i);
	unsigned check = (11 - total % 11) % 11;
	return check == 10 ? 'X' : (char)('0' + check);
}

/* Weights 1, 3, 1, 3…: the 13th digit of an ISBN. */
static char mod_10(const char *digits)
{
	unsigned total = 0;
	for (size_t i = 0; i < 12; i++)
		total += (unsigned)(digits[i] - '0') * (i % 2 == 0 ? 1 : 3);
	return (char)('0' + (10 - total % 10) % 10);
}

static bool all_digits(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(s[i]))
			return false;
	}
	return true;
}

static bool take_issn(const char *c, size_t n, struct ing_buf *ret)
{
	if (n != 8 || !all_digits(c, 7) || mod_11(c, 7) != c[7])
		return false;
	return ing_buf_printf(ret, "%.4s-%.4s", c, c + 4);
}

static bool take_isbn(const char *c, size_t n, struct ing_buf *ret)
{
	char isbn[13];
	if (n == 10 && all_digits(c, 9) && mod_11(c, 9) == c[9]) {
		memcpy(isbn, "978", 3);
		memcpy(isbn + 3, c, 9);
		isbn[12] = mod_10(isbn);
		return ing_buf_add(ret, isbn, 13);
	}
	bool book = n == 13 && c[0] == '9' && c[1] == '7' && (c[2] == '8' || c[2] == '9');
	return book && all_digits(c, 13) && mod_10(c) == c[12] && ing_buf_add(ret, c, 13);
}

static bool take_orcid(const char *c, size_t n, struct ing_buf *ret)
{
	if (n != 16 || !all_digits(c, 15) || mod_11_2(c, 15) != c[15] || memcmp(c, "000", 3) != 0)
		return false;
	return ing_buf_printf(ret, "%.4s-%.4s-%.4s-%.4s", c, c + 4, c + 8, c + 12);
}

typedef bool take_f(const char *chars, size_t n, struct ing_buf *ret);

/* The first number in the text that `take` accepts. Each digit is the front of one bounded look. */
static bool find_checked(
	const char *s, size_t bytes, bool spaces, size_t max, take_f *take, struct ing_buf *ret)
{
	struct span at = {s, s + bytes};
	char chars[16];
	for (bool inside = false; at.p < at.end; at.p++) {
		bool digit = is_digit(*at.p);
		size_t n = digit && !inside ? read_grouped(at, spaces, max, chars) : 0;
		if (n > 0 && take(chars, n, ret))
			return true;
		ing_buf_clear(ret);
		inside = is_alnum(*at.p);
	}
	return false;
}

bool ing_ident_issn(const char *s, size_t bytes, struct ing_buf *ret)
{
	return find_checked(s, bytes, false, 8, take_issn, ret);
}

bool ing_ident_isbn13(const char *s, size_t bytes, struct ing_buf *ret)
{
	return find_checked(s, bytes, true, 13, take_isbn, ret);
}

bool ing_ident_orcid(const char *s, size_t bytes, struct ing_buf *ret)
{
	return find_checked(s, bytes, true, 16, take_orcid, ret);
}
