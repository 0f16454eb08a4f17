/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Services are believed no more than pages: what they say is copied, cut to its kind, and refused where
 * it is not of the form that it should have.
 */
#include "worker/document/publication/service_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/markup/strip_markup.h"
#include "common/net/url.h"
#include "worker/document/publication/ids.h"
#include "worker/document/publication/plain.h"
#include "worker/model/limits.h"
#include "worker/scrape/biblio/date.h"
#include "worker/scrape/biblio/ident.h"
#include "worker/scrape/publication/parts.h"

/* Crossref's record of a paper with 5,000 authors and as many references has 3 MB and 150,000 values;
 * parsing at these limits takes less than 100 ms. */
#define MAX_ANSWER_BYTES ((size_t)8 << 20)
#define MAX_ANSWER_VALUES 400000u
#define MAX_ANSWER_DEPTH 64
#define MAX_NAME_BYTES ((size_t)1000)

static const struct ing_json_limits limits = {
	.depth = MAX_ANSWER_DEPTH, .values = MAX_ANSWER_VALUES, .flags = ING_JSON_REPEATED_KEYS};

/* Identifiers of PubMed and PMC may stand at the end of a URL. */
static const char *last_segment(struct ing_arena *ar, const char *s)
{
	char *copy = ing_arena_strdup(ar, s);
	size_t n = strlen(copy);
	if (n > 1 && copy[n - 1] == '/')
		copy[n - 1] = '\0';
	char *slash = strrchr(copy, '/');
	return slash != NULL ? slash + 1 : copy;
}

/* Returns "https://orcid.org/0000-…", on the heap; NULL when s is no ORCID iD. */
static char *orcid_url(const char *s)
{
	struct ing_buf id;
	char *url = NULL;
	ing_buf_init(&id, 64);
	if (s != NULL && ing_ident_orcid(s, strlen(s), &id)) {
		size_t bytes = sizeof("https://orcid.org/") + id.len;
		url = ing_alloc(bytes);
		snprintf(url, bytes, "https://orcid.org/%s", ing_buf_str(&id));
	}
	ing_buf_done(&id);
	return url;
}

static char *join_names(const char *given, const char *family)
{
	char *first = ing_service_plain(given), *last = ing_service_plain(family);
	if (first != NULL && last != NULL) {
		struct ing_buf both;
		ing_buf_init(&both, strlen(first) + strlen(last) + 1);
		ing_buf_printf(&both, "%s %s", first, last);
		free(first);
		free(last);
		return ing_buf_steal(&both);
	}
	return first != NULL ? first : last;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_service_parse(
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	static const char mark[] = "\xef\xbb\xbf";
	const char *s = body->data;
	size_t bytes = body->bytes;
	struct ing_error err = {0};
	if (bytes > MAX_ANSWER_BYTES) {
		ing_publication_fail(ret, "too-large", "an answer of %zu bytes", bytes);
		return NULL;
	}
	if (bytes >= 3 && memcmp(s, mark, 3) == 0) {
		s += 3;
		bytes -= 3;
	}
	json_t *j = ing_json_parse(s, bytes, &limits, &err);
	if (json_is_object(j))
		return j;
	if (j == NULL)
		ing_publication_fail(ret, err.code == ING_FAIL_TOO_BIG ? "too-large" : "bad-answer",
			"%s", err.msg);
	else
		ing_publication_fail(ret, "bad-answer", "the answer is no JSON object");
	json_decref(j);
	return NULL;
}

const char *ing_service_first(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_string_value(json_is_array(value) ? json_array_get(value, 0) : value);
}

char *ing_service_plain(const char *s)
{
	if (s == NULL)
		return NULL;
	size_t bytes = ING_MIN(strlen(s), ING_MAX_PUBLICATION_TEXT_BYTES);
	bytes = ing_utf8_cut(s, bytes, bytes);
	struct ing_buf plain;
	ing_buf_init(&plain, bytes + 1);
	ing_strip_markup(s, bytes, &plain);
	if (plain.len > 0)
		return ing_buf_steal(&plain);
	ing_buf_done(&plain);
	return NULL;
}

void ing_service_set(char **field, const char *s)
{
	if (*field == NULL)
		*field = ing_service_plain(s);
}

void ing_service_offer(struct ing_publication_found *ret, enum ing_part_key key,
	enum ing_part_type type, const char *s)
{
	if (s == NULL)
		return;
	struct ing_arena ar;
	ing_arena_init(&ar);
	size_t bytes = strlen(s);
	const char *plain = key == ING_PART_ABSTRACT ? ing_publication_plain_blocks(&ar, s, bytes)
						     : ing_publication_plain(&ar, s, bytes);
	if (plain != NULL)
		ing_publication_offer_text(ret, key, type, plain, strlen(plain));
	ing_arena_done(&ar);
}

void ing_service_offer_title(struct ing_publication_found *ret, enum ing_part_type type,
	const char *title, const char *subtitle)
{
	char *first = ing_service_plain(title), *second = ing_service_plain(subtitle);
	struct ing_buf both;
	ing_buf_init(&both, ING_MAX_PUBLICATION_TEXT_BYTES);
	if (first != NULL)
		ing_buf_add_str(&both, first);
	/* Some have the subtitle in the title, too. */
	if (first != NULL && second != NULL && strcasestr(first, second) == NULL)
		ing_buf_printf(&both, " : %s", second);
	ing_publication_offer_text(ret, ING_PART_TITLE, type, ing_buf_str(&both), both.len);
	ing_buf_done(&both);
	free(first);
	free(second);
}

void ing_service_offer_keywords(struct ing_publication_found *ret, enum ing_part_type type,
	const json_t *list, const char *key)
{
	size_t count = ING_MIN(json_array_size(list), (size_t)ING_MAX_KEYWORDS);
	if (count == 0)
		return;
	struct ing_publication_term *terms = ing_alloc(count * sizeof(*terms));
	uint32_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_array_get(list, i);
		char *term = ing_service_plain(
			key != NULL ? ing_json_get_text(one, key) : json_string_value(one));
		bool again = false;
		for (uint32_t j = 0; j < kept && term != NULL; j++)
			again = again || strcmp(terms[j].term, term) == 0;
		if (term != NULL && !again)
			terms[kept++] = (struct ing_publication_term){.term = term};
		else
			free(term);
	}
	ing_publication_offer_list(ret, ING_PART_KEYWORDS, type, terms, kept);
}

void ing_service_offer_id(struct ing_publication_found *ret, enum ing_part_key key,
	enum ing_part_type type, const char *s)
{
	if (s == NULL)
		return;
	struct ing_arena ar;
	ing_arena_init(&ar);
	const char *id =
		ing_publication_id(&ar, key, key == ING_PART_DOI ? s : last_segment(&ar, s));
	if (id != NULL)
		ing_publication_offer_text(ret, key, type, id, strlen(id));
	ing_arena_done(&ar);
}

bool ing_service_same_doi(const char *a, const char *b)
{
	struct ing_arena ar;
	ing_arena_init(&ar);
	const char *x = ing_publication_id(&ar, ING_PART_DOI, a);
	const char *y = ing_publication_id(&ar, ING_PART_DOI, b);
	bool same = x == NULL || y == NULL || ing_publication_same_doi(x, y);
	ing_arena_done(&ar);
	return same;
}

bool ing_service_is_asked(
	const struct ing_publication_ask *ask, const char *doi, struct ing_publication_found *ret)
{
	if (ing_service_same_doi(ask->doi, doi))
		return true;
	ing_publication_fail(ret, "wrong-record", "it is about %.200s", doi);
	return false;
}

void ing_service_add_link(
	struct ing_publication_found *ret, const char *url, enum ing_part_type type)
{
	if (url == NULL || strlen(url) > ING_MAX_URL_BYTES)
		return;
	char *clean = ing_url_parse(url, strlen(url));
	if (clean != NULL && ing_url_is_web(clean) && strlen(clean) <= ING_MAX_URL_BYTES)
		ing_publication_add_link(ret, clean, type);
	free(clean);
}

bool ing_service_is_pdf_url(const char *url)
{
	size_t n = url == NULL ? 0 : strcspn(url, "?#");
	return n > 4 && strncasecmp(url + n - 4, ".pdf", 4) == 0;
}

void ing_service_set_date(struct ing_publication_found *ret, const char *s)
{
	struct ing_date d;
	if (ret->pub_date != NULL || s == NULL || !ing_date_parse(s, strlen(s), &d) || d.day == 0)
		return;
	char date[40];
	snprintf(date, sizeof(date), "%04d-%02d-%02d", d.year, d.month, d.day);
	ret->pub_date = ing_strdup(date);
}

bool ing_service_is_year_only(const char *date)
{
	return date == NULL || (strlen(date) >= 10 && strncmp(date + 4, "-01-01", 6) == 0);
}

void ing_service_add_author(struct ing_publication_found *ret, const char *name, const char *given,
	const char *family, const char *orcid, bool corresponding)
{
	char *plain = ing_service_plain(name);
	if (plain == NULL)
		plain = join_names(given, family);
	if (plain == NULL)
		return;
	plain[ing_utf8_cut(plain, strlen(plain), MAX_NAME_BYTES)] = '\0';
	ing_publication_add_author(ret,
		(struct ing_publication_author){
			.name = plain, .orcid = orcid_url(orcid), .corresponding = corresponding});
}

void ing_service_set_licence(struct ing_publication_found *ret, const char *s)
{
	ing_service_set(&ret->licence, s);
	bool open =
		s != NULL && (strncasecmp(s, "cc-by", 5) == 0 || strncasecmp(s, "cc_by", 5) == 0 ||
				     strncasecmp(s, "cc0", 3) == 0 ||
				     strcasestr(s, "creativecommons.org/") != NULL);
	if (open)
		ret->flags |= ING_PUBLICATION_OA;
}
