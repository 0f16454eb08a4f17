/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What Crossref's records look like, with the conditions of the replaced system.
 */
#include "worker/ctl/reexamine/refs_record.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/markup/charset.h"
#include "common/markup/entity.h"
#include "common/net/url.h"
#include "worker/store/cell.h"

#define LEAST_CHARS 7 /* of a string that says something */
#define MAX_CITATION_BYTES ((size_t)1 << 20)
#define MAX_NAME_BYTES 32 /* of an entity; the longest has 31 */
#define MAX_DEPTH 64

/* --- cleaning --- */

static bool add_utf8(void *ctx, const char *utf8, size_t bytes)
{
	return ing_buf_add(ctx, utf8, bytes);
}

/* As HTML reads a number: that of a control character is one of Windows-1252. */
static void add_character(struct ing_buf *out, uint32_t number)
{
	char utf8[ING_UTF8_BYTES];
	char byte = (char)number;
	if (number >= 0x80 && number <= 0x9f)
		ing_charset_decode(
			ing_charset_of_label("windows-1252", 12), &byte, 1, add_utf8, out);
	else
		ing_buf_add(out, utf8, ing_utf8_encode(number > 0 ? number : 0xfffd, utf8));
}

static int digit_value(char c, int base)
{
	int v = c >= '0' && c <= '9'   ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : 99;
	return v < base ? v : -1;
}

/* At "&#". Returns the bytes that were taken, or 0. */
static size_t add_numbered(const char *s, struct ing_buf *out)
{
	int base = s[2] == 'x' || s[2] == 'X' ? 16 : 10;
	const char *first = s + (base == 16 ? 3 : 2);
	const char *at = first;
	uint32_t number = 0;
	for (int v; (v = digit_value(*at, base)) >= 0; at++)
		number = ING_MIN(number * (uint32_t)base + (uint32_t)v, 0x110000u);
	if (at == first)
		return 0;
	add_character(out, number);
	return (size_t)(at - s) + (*at == ';');
}

/* At "&". Returns the bytes that were taken, or 0. */
static size_t add_named(struct ing_entities *entities, const char *s, struct ing_buf *out)
{
	char name[MAX_NAME_BYTES + 1];
	size_t n = strcspn(s + 1, "; &<#\t\n\f");
	if (n == 0 || n > MAX_NAME_BYTES || s[1 + n] != ';')
		return 0;
	memcpy(name, s + 1, n);
	name[n] = '\0';
	const char *value = ing_entity(entities, name, false);
	if (value == NULL)
		return 0;
	ing_buf_add_str(out, value);
	return n + 2;
}

static void add_unescaped(const char *s, struct ing_buf *out)
{
	static struct ing_entities *entities; /* takes longer to make than to use: it is kept */
	if (entities == NULL)
		entities = ing_entities_new();
	while (*s != '\0' && !out->failed) {
		size_t n = 0;
		if (s[0] == '&')
			n = s[1] == '#' ? add_numbered(s, out) : add_named(entities, s, out);
		if (n == 0)
			ing_buf_add_char(out, *s);
		s += n > 0 ? n : 1;
	}
}

/* Only a text that somebody has escaped is unescaped: "AT&T;" may be what was meant. */
static bool is_escaped(const char *s)
{
	return strstr(s, "&#") != NULL || strstr(s, "&amp;") != NULL || strstr(s, "&gt;") != NULL ||
	       strstr(s, "&lt;") != NULL;
}

/* With one blank for each pair of them; a text that is there twice once. */
static char *undouble(const char *text)
{
	const char *gap = strstr(text, "  ");
	size_t half = gap != NULL ? (size_t)(gap - text) : 0;
	if (gap != NULL && strlen(gap + 2) == half && strncmp(text, gap + 2, half) == 0)
		return ing_strndup(text, half);
	struct ing_buf out;
	ing_buf_init(&out, strlen(text) + 1);
	for (; gap != NULL; text = gap + 2, gap = strstr(text, "  ")) {
		ing_buf_add(&out, text, (size_t)(gap - text));
		ing_buf_add_char(&out, ' ');
	}
	ing_buf_add_str(&out, text);
	char *copy = ing_strdup(ing_buf_str(&out));
	ing_buf_done(&out);
	return copy;
}

char *ing_refs_clean(const char *text)
{
	char *once = undouble(text);
	struct ing_buf out;
	ing_buf_init(&out, MAX_CITATION_BYTES);
	if (is_escaped(once))
		add_unescaped(once, &out);
	else
		ing_buf_add(&out, once, ing_utf8_cut(once, strlen(once), MAX_CITATION_BYTES));
	free(once);
	const char *s = ing_buf_str(&out);
	size_t bytes = out.len;
	ing_url_trim(&s, &bytes);
	char *clean = ing_strndup(s, bytes);
	ing_buf_done(&out);
	return clean;
}

/* --- references --- */

/* There, and not empty. */
static bool has(const json_t *reference, const char *key)
{
	const json_t *v = json_object_get(reference, key);
	if (json_is_string(v))
		return json_string_length(v) > 0;
	return v != NULL && !json_is_null(v) && !json_is_false(v);
}

static size_t count_chars(const char *s, size_t bytes)
{
	size_t chars = 0;
	for (size_t i = 0; i < bytes; i++)
		chars += ((unsigned char)s[i] & 0xc0) != 0x80;
	return chars;
}

static bool is_for_parsing(const json_t *reference)
{
	const char *text = ing_json_get_text(reference, "unstructured");
	if (text == NULL || has(reference, "DOI"))
		return false;
	size_t bytes = strlen(text);
	ing_url_trim(&text, &bytes);
	if (count_chars(text, bytes) < LEAST_CHARS)
		return false;
	bool titled = has(reference, "article-title") || has(reference, "series-title") ||
		      has(reference, "volume-title") || has(reference, "journal-title");
	bool placed = has(reference, "journal-title") && has(reference, "volume") &&
		      has(reference, "first-page");
	return !(has(reference, "year") && has(reference, "author") && titled) && !placed;
}

static void take_citations(struct ing_refs_record *r)
{
	const json_t *list = json_object_get(r->record, "reference");
	size_t most = ING_MIN(json_array_size(list), ING_REFS_MOST);
	r->citations = ing_alloc((most + 1) * sizeof(*r->citations));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *reference = json_array_get(list, i);
		if (!is_for_parsing(reference))
			continue;
		if (r->count == ING_REFS_MOST) {
			r->left_out++;
			continue;
		}
		r->citations[r->count++] = (struct ing_refs_citation){
			.text = ing_refs_clean(ing_json_get_text(reference, "unstructured")),
			.key = ing_json_get_text(reference, "key")};
	}
}

/* --- the record --- */

static char *lower_copy(const char *s)
{
	char *copy = ing_strdup(s);
	for (char *c = copy; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return copy;
}

/* -------------------------------------------------------------------------------------------- */

int ing_refs_record_read(
	const char *line, size_t bytes, struct ing_refs_record *ret, struct ing_error *err)
{
	static const struct ing_json_limits limits = {
		.depth = MAX_DEPTH, .flags = ING_JSON_REPEATED_KEYS | ING_JSON_NUL};
	json_t *o = ing_json_parse(line, bytes, &limits, err);
	if (o == NULL)
		return -(int)err->code;
	json_t *work = json_object_get(o, "DOI") == NULL ? json_object_get(o, "message") : NULL;
	struct ing_refs_record r = {.record = ing_json_ref(work != NULL ? work : o)};
	json_decref(o);
	const char *doi = ing_json_get_text(r.record, "DOI");
	r.indexed = ing_json_get_text(json_object_get(r.record, "indexed"), "date-time");
	const char *lack = doi == NULL || strchr(doi, '/') == NULL          ? "DOI"
			   : r.indexed == NULL || !ing_time_fits(r.indexed) ? "indexed.date-time"
									    : NULL;
	if (lack != NULL) {
		ing_refs_record_done(&r);
		return ing_error_set(err, ING_FAIL_INVALID,
			"no record of a work at Crossref: %s is missing or malformed", lack);
	}
	r.doi = lower_copy(doi);
	take_citations(&r);
	*ret = r;
	return 0;
}

void ing_refs_record_done(struct ing_refs_record *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->citations[i].text);
	free(r->citations);
	free(r->doi);
	json_decref(r->record);
	*r = (struct ing_refs_record){0};
}

bool ing_refs_record_name(const struct ing_refs_record *r, json_t *list)
{
	if (json_array_size(list) != r->count)
		return false;
	for (size_t i = 0; i < r->count; i++) {
		json_t *o = json_array_get(list, i);
		json_object_del(o, "id"); /* GROBID's own number */
		if (r->citations[i].key != NULL)
			ing_json_set_text(o, "id", r->citations[i].key);
	}
	return true;
}
