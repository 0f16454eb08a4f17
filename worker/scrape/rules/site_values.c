/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads values from a page's URL, scripts and elements. Each candidate is read once; their number
 * and size are limited, so that the cost of a source is linear in the page.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/json.h"
#include "worker/model/limits.h"
#include "worker/scrape/jsoup/text.h"
#include "worker/scrape/rules/site_values.h"

/* Elements or scripts that are read for one source; article pages have about 50 scripts. */
#define MAX_CANDIDATES 256
/* JSON that a page carries: the largest seen are 1 MB with some 50,000 lists and objects, of which
 * each takes up to 300 bytes of memory. */
#define MAX_JSON_BYTES ((size_t)2 << 20)
#define MAX_JSON_PARTS 100000
#define MAX_SCRIPT_BYTES ((size_t)4 << 20)
/* Of text for one source: elements are nested, so that their texts can add up to many times the
 * page. */
#define MAX_READ_BYTES ((size_t)32 << 20)
#define MAX_GROUPS 32

struct value_reader {
	const struct ing_site_source *source;
	const struct ing_view *v;
	const char **slots;
	size_t read_bytes; /* of text, so far */
	bool failed;
};

/* --- values --- */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number that `digits` hexadecimal digits at s are; -1 when they are not all there. */
static long read_hex(const char *s, unsigned digits)
{
	long n = 0;
	for (unsigned i = 0; i < digits; i++) {
		int digit = hex_value(s[i]);
		if (digit < 0)
			return -1;
		n = n * 16 + digit;
	}
	return n;
}

/* The code point of the \u escape at s (a surrogate pair is one, a lone half U+FFFD) and its
 * length; -1: it is none. */
static long read_unicode(const char *s, size_t *ret_bytes)
{
	long c = read_hex(s + 2, 4);
	*ret_bytes = 6;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	long low = c < 0xdc00 && s[6] == '\\' && s[7] == 'u' ? read_hex(s + 8, 4) : -1;
	if (low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	*ret_bytes = 12;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* Undo JavaScript's escapes (ECMA-262, 12.9.4) in place: what is written never outruns what is
 * read. False: a NUL comes out. */
static bool undo_script_escapes(char *s)
{
	char *to = s;
	while (*s != '\0') {
		long c = (unsigned char)*s;
		size_t bytes = 1;
		if (*s != '\\' || s[1] == '\0') {
			*to++ = *s++;
			continue;
		}
		if (s[1] == 'u') {
			c = read_unicode(s, &bytes);
		} else if (s[1] == 'x') {
			c = read_hex(s + 2, 2);
			bytes = 4;
		} else {
			c = -1;
		}
		if (c == 0)
			return false;
		if (c < 0) { /* \/ and \" and what is no escape: the character itself */
			*to++ = s[1];
			s += 2;
			continue;
		}
		char utf8[ING_UTF8_BYTES];
		size_t n = ing_utf8_encode((uint32_t)c, utf8);
		memcpy(to, utf8, n);
		to += n;
		s += bytes;
	}
	*to = '\0';
	return true;
}

/* Undo percent-escapes in place. False: a NUL comes out. */
static bool undo_percent_escapes(char *s)
{
	char *to = s;
	while (*s != '\0') {
		long c = *s == '%' ? read_hex(s + 1, 2) : -1;
		if (c == 0)
			return false;
		*to++ = c < 0 ? *s : (char)c;
		s += c < 0 ? 1 : 3;
	}
	*to = '\0';
	return true;
}

/* Store a value, trimmed, with escapes undone and cut. Returns false when nothing is left, or when
 * it cannot be a part of a URL. */
static bool keep_value(struct value_reader *vr, unsigned slot, const char *s, size_t bytes)
{
	ing_text_trim(&s, &bytes);
	if (bytes == 0 || bytes > ING_MAX_URL_BYTES || memchr(s, '\0', bytes) != NULL)
		return false;
	char *value = ing_arena_strndup(vr->v->arena, s, bytes);
	if ((vr->source->unescape && !undo_script_escapes(value)) ||
		(vr->source->decode && !undo_percent_escapes(value)))
		return false;
	if (vr->source->cut != NULL) {
		size_t from, to;
		enum ing_regex_end end =
			ing_regex_groups(vr->source->cut, value, strlen(value), 1, &from, &to);
		vr->failed = vr->failed || end == ING_REGEX_LIMIT;
		if (end == ING_REGEX_YES)
			value[from] = '\0';
	}
	if (value[0] == '\0')
		return false;
	vr->slots[slot] = value;
	return true;
}

/* --- JSON --- */

/* One step of a path: a member, or an element of a list. Borrowed; NULL: there is none. */
static const json_t *step(const json_t *at, const char *name, size_t bytes)
{
	if (json_is_object(at))
		return json_object_getn(at, name, bytes);
	if (!json_is_array(at) || bytes == 0 || bytes > 6)
		return NULL;
	size_t index = 0;
	for (size_t i = 0; i < bytes; i++) {
		if (name[i] < '0' || name[i] > '9')
			return NULL;
		index = index * 10 + (size_t)(name[i] - '0');
	}
	return json_array_get(at, index);
}

static bool keep_json(struct value_reader *vr, const struct ing_site_value *value, const json_t *at)
{
	for (const char *name = value->path; at != NULL;) {
		size_t bytes = strcspn(name, ".");
		at = step(at, name, bytes);
		if (name[bytes] == '\0')
			break;
		name += bytes + 1;
	}
	if (json_is_string(at))
		return keep_value(vr, value->slot, json_string_value(at), json_string_length(at));
	if (!json_is_integer(at))
		return false;
	char number[32];
	int bytes =
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(at));
	return keep_value(vr, value->slot, number, (size_t)bytes);
}

/* Upper bound of the lists and objects in a JSON text. */
static size_t count_parts(const char *s, size_t bytes)
{
	size_t parts = 0;
	for (size_t i = 0; i < bytes; i++)
		parts += s[i] == '[' || s[i] == '{';
	return parts;
}

/* Parse the JSON at the start of s (`whole`: nothing may follow it). A string that contains JSON is
 * parsed again, because some sites encode it twice. jansson limits nesting to 2,048. Returns a new
 * reference or NULL. */
static json_t *read_json(const char *s, size_t bytes, bool whole)
{
	static const struct ing_json_limits all = {
		.flags = ING_JSON_SCALAR | ING_JSON_NUL | ING_JSON_REPEATED_KEYS};
	static const struct ing_json_limits front = {
		.flags = ING_JSON_SCALAR | ING_JSON_NUL | ING_JSON_REPEATED_KEYS | ING_JSON_TAIL};
	if (bytes > MAX_JSON_BYTES || count_parts(s, bytes) > MAX_JSON_PARTS)
		return NULL;
	json_t *root = ing_json_parse(s, bytes, whole ? &all : &front, NULL);
	if (!json_is_string(root))
		return root;
	json_t *inner =
		ing_json_parse(json_string_value(root), json_string_length(root), &all, NULL);
	json_decref(root);
	return inner;
}

static bool read_json_values(struct value_reader *vr, const char *s, size_t bytes, bool whole)
{
	json_t *root = read_json(s, bytes, whole);
	const struct ing_site_value *value = root != NULL ? vr->source->values : NULL;
	while (value != NULL && keep_json(vr, value, root))
		value = value->next;
	bool all = root != NULL && value == NULL;
	json_decref(root);
	return all;
}

/* --- candidates --- */

/* Read all values from a text, by the source's regular expression if it has one. */
static bool read_text_values(struct value_reader *vr, const char *s, size_t bytes)
{
	const struct ing_site_source *src = vr->source;
	size_t from[MAX_GROUPS], to[MAX_GROUPS];
	if (src->regex != NULL) {
		enum ing_regex_end end =
			ing_regex_groups(src->regex, s, bytes, MAX_GROUPS, from, to);
		vr->failed = vr->failed || end == ING_REGEX_LIMIT;
		if (end != ING_REGEX_YES)
			return false;
		if (src->json)
			return read_json_values(vr, s + to[0], bytes - to[0], false);
	} else if (src->json) {
		return read_json_values(vr, s, bytes, true);
	} else {
		from[0] = 0;
		to[0] = bytes;
	}
	for (const struct ing_site_value *value = src->values; value != NULL; value = value->next) {
		unsigned g = value->group;
		if (g >= MAX_GROUPS || from[g] == SIZE_MAX ||
			!keep_value(vr, value->slot, s + from[g], to[g] - from[g]))
			return false;
	}
	return true;
}

/* Read all values from an element's content: the data of scripts, the text of others. */
static bool read_element_content(struct value_reader *vr, ing_node n)
{
	struct ing_buf text;
	ing_buf_init(&text, MAX_SCRIPT_BYTES);
	if (ing_tree_is(vr->v->tree, n, "script") || ing_tree_is(vr->v->tree, n, "style"))
		ing_text_data(vr->v->tree, n, &text);
	else
		ing_text(vr->v->tree, n, &text);
	vr->read_bytes += text.len;
	bool found_all = text.len > 0 && read_text_values(vr, ing_buf_str(&text), text.len);
	ing_buf_done(&text);
	return found_all;
}

/* Whether to read another candidate; not after a limit of an expression, which would be met again.
 * */
static bool may_continue(const struct value_reader *vr)
{
	return !vr->failed && vr->read_bytes < MAX_READ_BYTES;
}

static bool read_scripts(struct value_reader *vr)
{
	ing_node n = ING_NODE_DOCUMENT;
	for (unsigned i = 0; i < MAX_CANDIDATES && may_continue(vr); i++) {
		n = ing_tree_next_named(vr->v->tree, n, ING_NODE_DOCUMENT, "script");
		if (n == ING_NODE_NONE)
			return false;
		if (read_element_content(vr, n))
			return true;
	}
	return false;
}

static bool read_elements(struct value_reader *vr)
{
	const struct ing_site_source *src = vr->source;
	struct ing_matches found = {0};
	struct ing_error err = {0};
	if (ing_select(vr->v->matcher, src->selector, ING_NODE_DOCUMENT, &found, &err) != 0) {
		vr->failed = true;
		return false;
	}
	for (size_t i = 0; i < found.count && i < MAX_CANDIDATES && may_continue(vr); i++) {
		size_t bytes = 0;
		const char *value = src->attr != NULL ? ing_tree_attr(vr->v->tree, found.nodes[i],
								src->attr, &bytes)
						      : NULL;
		if (src->attr == NULL ? read_element_content(vr, found.nodes[i])
				      : value != NULL && read_text_values(vr, value, bytes))
			return true;
	}
	return false;
}

static void clear_slots(struct value_reader *vr)
{
	for (const struct ing_site_value *value = vr->source->values; value != NULL;
		value = value->next)
		vr->slots[value->slot] = NULL;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_site_read_values(const struct ing_site_source *src, const struct ing_view *v,
	const char **slots, bool *failed)
{
	struct value_reader vr = {.source = src, .v = v, .slots = slots};
	bool found_all = false;
	if (src->kind == ING_SITE_FROM_URL)
		found_all = v->url != NULL && read_text_values(&vr, v->url, strlen(v->url));
	else if (src->kind == ING_SITE_FROM_SCRIPT)
		found_all = read_scripts(&vr);
	else
		found_all = read_elements(&vr);
	if (!found_all)
		clear_slots(&vr); /* values of a candidate that lacked others */
	*failed = *failed || vr.failed;
	return found_all;
}
