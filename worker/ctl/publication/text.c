/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parts in their order, each with its source; then what is said of the whole; then the pages it was
 * found on.
 */
#include "worker/ctl/publication/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/ctl/publication/words.h"

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = ing_json_get_text(o, key);
	return s != NULL ? s : "";
}

/* C0 and C1 controls but for line ends and tabs. */
static void add_shown(struct ing_buf *out, const char *s)
{
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;
		bool is_c1 = c == 0xc2 && (unsigned char)s[1] >= 0x80 && (unsigned char)s[1] < 0xa0;
		bool is_control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || is_c1;
		ing_buf_add_char(out, is_control ? '?' : *s);
		s += is_c1;
	}
}

static void add_line(struct ing_buf *out, const char *name, const char *value)
{
	ing_buf_printf(out, "%s: ", name);
	add_shown(out, value);
	ing_buf_add_char(out, '\n');
}

static void add_upper(struct ing_buf *out, const char *s)
{
	for (; *s != '\0'; s++)
		ing_buf_add_char(out, (char)toupper((unsigned char)*s));
}

static void add_term(struct ing_buf *out, const json_t *term)
{
	static const char *const ids[] = {"uniqueId", "uri"};
	int64_t count = ing_json_get_number(term, "count");
	add_shown(out, json_is_string(term) ? json_string_value(term) : text_of(term, "term"));
	if (ing_json_get_true(term, "majorTopic"))
		ing_buf_add_str(out, "*");
	for (size_t i = 0; i < ING_ARRAY_LEN(ids); i++) {
		if (text_of(term, ids[i])[0] == '\0')
			continue;
		ing_buf_add_str(out, " (");
		add_shown(out, text_of(term, ids[i]));
		ing_buf_add_str(out, ")");
	}
	if (count > 1)
		ing_buf_printf(out, " %" PRId64 "x", count);
}

static void add_content(struct ing_buf *out, const json_t *part)
{
	const json_t *list = json_object_get(part, "list");
	size_t i;
	json_t *term;
	if (list == NULL) {
		add_shown(out, text_of(part, "content"));
		return;
	}
	ing_buf_add_str(out, "[");
	json_array_foreach (list, i, term) {
		ing_buf_add_str(out, i > 0 ? "; " : "");
		add_term(out, term);
	}
	ing_buf_add_str(out, "]");
}

/* An RFC 3339 time with the milliseconds it stands for. */
static void add_time(struct ing_buf *out, const json_t *o, const char *human, const char *key)
{
	add_shown(out, text_of(o, human));
	ing_buf_printf(out, " (%" PRId64 ")\n", ing_json_get_number(o, key));
}

static void add_part(struct ing_buf *out, const json_t *pub, enum ing_part_key key)
{
	const json_t *part = json_object_get(pub, ing_part_name(key));
	if (key == ING_PART_FULLTEXT)
		ing_buf_add_str(out, "FULLTEXT"); /* PubFetcher's name */
	else
		add_upper(out, ing_part_title(key));
	ing_buf_add_str(out, ": ");
	if (!json_is_object(part)) {
		ing_buf_add_str(out, "\n");
	} else {
		add_content(out, part);
		ing_buf_printf(out, "\n    type: %s\n", ing_part_source(text_of(part, "type")));
		add_line(out, "    url", text_of(part, "url"));
		ing_buf_add_str(out, "    timestamp: ");
		add_time(out, part, "timestampHuman", "timestamp");
		ing_buf_printf(out, "    size: %" PRId64 "\n", ing_json_get_number(part, "size"));
	}
	if (key == ING_PART_DOI || key == ING_PART_TITLE || key >= ING_PART_GO)
		ing_buf_add_char(out, '\n');
}

static const char *truth(const json_t *value)
{
	return json_is_true(value) ? "true" : json_is_false(value) ? "false" : "";
}

static void add_people(struct ing_buf *out, const char *name, const json_t *people)
{
	static const char *const keys[] = {"name", "orcid", "email", "phone", "uri"};
	size_t i;
	json_t *who;
	ing_buf_printf(out, "%s: ", name);
	json_array_foreach (people, i, who) {
		const char *between = i > 0 ? "; " : "";
		for (size_t k = 0; k < ING_ARRAY_LEN(keys); k++) {
			const char *s = text_of(who, keys[k]);
			if (s[0] == '\0')
				continue;
			ing_buf_add_str(out, between);
			add_shown(out, s);
			between = ", ";
		}
	}
	ing_buf_add_char(out, '\n');
}

static void add_citations(struct ing_buf *out, const json_t *pub)
{
	const json_t *count = json_object_get(pub, "citationsCount");
	ing_buf_add_str(out, "CITATIONS: ");
	if (json_is_integer(count)) {
		ing_buf_printf(out, "%" PRId64 " (", (int64_t)json_integer_value(count));
		add_shown(out, text_of(pub, "citationsTimestampHuman"));
		ing_buf_add_char(out, ')');
	}
	ing_buf_add_char(out, '\n');
}

static void add_fetch(struct ing_buf *out, const json_t *o)
{
	ing_buf_add_str(out, "FETCH TIME: ");
	add_time(out, o, "fetchTimeHuman", "fetchTime");
	ing_buf_printf(out, "RETRY COUNTER: %" PRId64 "\nFETCH EXCEPTION: %s\n\n",
		ing_json_get_number(o, "retryCounter"),
		truth(json_object_get(o, "fetchException")));
}

static void add_fields(struct ing_buf *out, const json_t *pub)
{
	ing_buf_printf(out, "OPEN ACCESS: %s\nPREPRINT: %s\n", truth(json_object_get(pub, "oa")),
		truth(json_object_get(pub, "preprint")));
	add_line(out, "JOURNAL TITLE", text_of(pub, "journal_title"));
	add_line(out, "PUBLISHER", text_of(pub, "publisher"));
	add_line(out, "PUB. DATE", text_of(pub, "pub_date"));
	add_line(out, "LICENCE", text_of(pub, "licence"));
	add_line(out, "OPENALEX", text_of(pub, "openalex_id"));
	add_citations(out, pub);
	add_people(out, "CORRESP. AUTHOR", json_object_get(pub, "corresp_author"));
	add_people(out, "AUTHORS", json_object_get(pub, "authors"));
}

static void add_visited(struct ing_buf *out, const json_t *pub)
{
	size_t i;
	json_t *site;
	ing_buf_add_str(out, "\nVISITED SITES:\n");
	json_array_foreach (json_object_get(pub, "visitedSites"), i, site) {
		add_shown(out, text_of(site, "url"));
		ing_buf_printf(out, "\n    type: %s\n", ing_part_source(text_of(site, "type")));
		add_line(out, "    from", text_of(site, "from"));
		ing_buf_add_str(out, "    timestamp: ");
		add_time(out, site, "timestampHuman", "timestamp");
	}
}

static void add_publication(struct ing_buf *out, const json_t *pub)
{
	for (unsigned k = 0; k < ING_PARTS_; k++)
		add_part(out, pub, (enum ing_part_key)k);
	add_fetch(out, pub);
	add_fields(out, pub);
	add_visited(out, pub);
}

static void add_webpage(struct ing_buf *out, const json_t *page)
{
	static const struct {
		const char *name, *key;
	} texts[] = {{"START URL", "startUrl"}, {"FINAL URL", "finalUrl"},
		{"CONTENT TYPE", "contentType"}, {"LICENSE", "license"}, {"LANGUAGE", "language"}};
	add_fetch(out, page);
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		add_line(out, texts[i].name, text_of(page, texts[i].key));
	ing_buf_printf(out,
		"STATUS CODE: %" PRId64 "\nTITLE LENGTH: %" PRId64 "\nCONTENT LENGTH: %" PRId64
		"\n\n",
		ing_json_get_number(page, "statusCode"), ing_json_get_number(page, "titleLength"),
		ing_json_get_number(page, "contentLength"));
	add_line(out, "TITLE", text_of(page, "title"));
	add_line(out, "\nCONTENT", text_of(page, "content"));
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_text(json_t *const publications[], size_t n, struct ing_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		ing_buf_add_str(out, i > 0 ? ING_PUBLICATION_TEXT_DIVIDER : "");
		add_publication(out, publications[i]);
	}
}

void ing_webpage_text(json_t *const webpages[], size_t n, struct ing_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		ing_buf_add_str(out, i > 0 ? ING_PUBLICATION_TEXT_DIVIDER : "");
		add_webpage(out, webpages[i]);
	}
}
