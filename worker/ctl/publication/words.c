/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of words, and the few values that are made.
 */
#include "worker/ctl/publication/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/clock.h"

#define CC "creativecommons.org/"
/* What may stand in a URL's path, or behind its '?', as it is. */
#define URL_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/:@!$'()*,"

static const char *const titles[ING_PARTS_] = {
	[ING_PART_PMID] = "PMID",
	[ING_PART_PMCID] = "PMCID",
	[ING_PART_DOI] = "DOI",
	[ING_PART_TITLE] = "Title",
	[ING_PART_KEYWORDS] = "Keywords",
	[ING_PART_MESH] = "MeSH terms",
	[ING_PART_EFO] = "EFO terms",
	[ING_PART_GO] = "GO terms",
	[ING_PART_ABSTRACT] = "Abstract",
	[ING_PART_FULLTEXT] = "Full text",
};

static enum ing_part_type type_of(const json_t *part)
{
	const char *name = ing_json_get_text(part, "type");
	return name != NULL ? ing_part_type_of_name(name) : ING_PART_TYPES_;
}

/* "by-nc/4.0" … as "CC BY-NC 4.0". */
static const char *cc_words(const char *path, char *to, size_t bytes)
{
	char kind[24];
	size_t n = strcspn(path, "/");
	if (n == 0 || n >= sizeof(kind))
		return NULL;
	for (size_t i = 0; i < n; i++)
		kind[i] = (char)(path[i] >= 'a' && path[i] <= 'z' ? path[i] - 'a' + 'A' : path[i]);
	kind[n] = '\0';
	const char *version = path + n + (path[n] == '/');
	snprintf(to, bytes, "CC %s %.*s", kind, (int)strcspn(version, "/?#"), version);
	size_t end = strlen(to);
	if (to[end - 1] == ' ')
		to[end - 1] = '\0';
	return to;
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_part_title(enum ing_part_key key)
{
	return titles[key];
}

enum ing_part_quality ing_part_quality(enum ing_part_key key, const json_t *part)
{
	int64_t size = ing_json_get_number(part, "size");
	enum ing_part_type type = type_of(part);
	if (!json_is_object(part) || size <= 0)
		return ING_QUALITY_NONE;
	if (type == ING_PART_TYPES_ || !ing_part_size_usable(key, type, (unsigned long)size))
		return ING_QUALITY_POOR;
	bool is_final = ing_part_type_final(type) || key <= ING_PART_DOI;
	return is_final ? ING_QUALITY_FINAL : ING_QUALITY_USABLE;
}

const char *ing_part_quality_name(enum ing_part_quality q)
{
	static const char *const names[] = {[ING_QUALITY_NONE] = "none",
		[ING_QUALITY_POOR] = "poor",
		[ING_QUALITY_USABLE] = "fair",
		[ING_QUALITY_FINAL] = "good"};
	return names[q];
}

const char *ing_part_quality_words(
	enum ing_part_key key, enum ing_part_quality q, const json_t *part)
{
	enum ing_part_type type = type_of(part);
	if (q == ING_QUALITY_NONE)
		return "Not found";
	if (key <= ING_PART_DOI)
		return type == ING_PART_TYPE_EXTERNAL ? "As it was given" : "Confirmed";
	if (q == ING_QUALITY_FINAL)
		return "Reliable";
	if (type == ING_PART_TYPE_WEBPAGE)
		return "A page without rules: may hold more than the publication";
	if (q == ING_QUALITY_POOR)
		return "Shorter than such a part should be";
	if (ing_part_type_is_pdf(type))
		return "Read from a PDF: layout is lost, words may be broken";
	return "Usable; a better source may exist";
}

const char *ing_part_source(const char *type)
{
	enum ing_part_type t = ing_part_type_of_name(type);
	return t != ING_PART_TYPES_ ? ing_part_type_label(t) : "unknown source";
}

const char *ing_licence_words(const char *licence, char *to, size_t bytes)
{
	/* A text of any length and script is no name of a licence. */
	if (strlen(licence) >= bytes || licence[strspn(licence, URL_CHARS " ?#")] != '\0')
		return licence;
	if (strncasecmp(licence, "cc ", 3) == 0 || strncasecmp(licence, "cc-", 3) == 0) {
		snprintf(to, bytes, "CC %s", licence + 3);
		for (char *s = to; *s != '\0'; s++)
			*s = (char)toupper((unsigned char)*s);
		return to;
	}
	const char *at = strstr(licence, CC);
	const char *words = NULL;
	if (at == NULL)
		return licence;
	at += strlen(CC);
	if (strncmp(at, "licenses/", 9) == 0)
		words = cc_words(at + 9, to, bytes);
	else if (strncmp(at, "publicdomain/zero", 17) == 0)
		words = "CC0";
	return words != NULL ? words : licence;
}

char *ing_id_url(const char *base, const char *id)
{
	struct ing_buf url;
	ing_buf_init(&url, 16384);
	ing_buf_add_str(&url, base);
	for (const char *s = id; *s != '\0'; s++) {
		if (strchr(URL_CHARS, *s) != NULL)
			ing_buf_add_char(&url, *s);
		else
			ing_buf_printf(&url, "%%%02X", (unsigned)(unsigned char)*s);
	}
	return ing_buf_steal(&url);
}

const char *ing_words_time(int64_t ms, char *to, size_t bytes)
{
	char text[ING_ISO8601_BYTES];
	if (ms <= 0)
		return NULL;
	struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
	ing_format_iso8601(t, t.tv_nsec != 0 ? 3 : 0, text);
	snprintf(to, bytes, "%s", text);
	return to;
}
