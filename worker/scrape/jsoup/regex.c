/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * PCRE2 behind regex.h. The JIT is not used: it writes code at run time, which the unit's
 * MemoryDenyWriteExecute and the examiners' sandbox forbid, and it counts steps differently. Each
 * match allocates its own match data, so that one expression serves any thread.
 */
#include "worker/scrape/jsoup/regex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "worker/scrape/jsoup/literals.h"
#include "worker/scrape/jsoup/regex_java.h"
#include "worker/scrape/jsoup/regex_literals.h"
#include "worker/scrape/jsoup/regex_priv.h"

#define MAX_PATTERN_BYTES ((size_t)64 << 10)
/* Steps of one match, about 50 ms: one step a byte is enough for a text of a megabyte, and more
 * than a few a byte are the pattern's fault. */
#define MATCH_LIMIT 2000000
/* Memory of one match: a group repeated for each character of a text of 100 KB needs 20 MB. */
#define HEAP_LIMIT_KIB (32 << 10)

struct ing_regex {
	pcre2_code *code;
	pcre2_match_context *limits;
	struct ing_literals *literals; /* every match contains one; NULL: unknown */
	unsigned groups;
	unsigned names;
	const unsigned char *name_table;
	unsigned name_entry_bytes;
};

pcre2_match_context *ing_regex_make_limits(void)
{
	pcre2_match_context *c = pcre2_match_context_create(NULL);
	ing_must(c != NULL);
	pcre2_set_match_limit(c, MATCH_LIMIT);
	pcre2_set_depth_limit(c, MATCH_LIMIT);
	pcre2_set_heap_limit(c, HEAP_LIMIT_KIB);
	return c;
}

pcre2_code *ing_regex_compile_code(
	const char *pattern, size_t bytes, unsigned flags, uint32_t options, struct ing_error *err)
{
	bool bytes_only = (flags & ING_REGEX_BYTES) != 0;
	options |= PCRE2_NEVER_UCP | PCRE2_NEVER_BACKSLASH_C;
	options |= bytes_only ? PCRE2_NEVER_UTF : PCRE2_UTF;
	if ((flags & ING_REGEX_NO_CASE) != 0)
		options |= PCRE2_CASELESS;
	pcre2_compile_context *c = pcre2_compile_context_create(NULL);
	ing_must(c != NULL);
	/* What ends a line for Java, but for VT and FF: NEL, U+2028 and U+2029 are in ANY alone. */
	pcre2_set_newline(c, bytes_only ? PCRE2_NEWLINE_ANYCRLF : PCRE2_NEWLINE_ANY);
	int number = 0;
	PCRE2_SIZE at = 0;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, bytes, options, &number, &at, c);
	pcre2_compile_context_free(c);
	if (code == NULL) {
		PCRE2_UCHAR why[200];
		pcre2_get_error_message(number, why, sizeof(why));
		ing_error_at(err, ING_FAIL_SYNTAX, 0,
			ing_regex_column(pattern, ING_MIN(at, bytes), bytes_only), "%s",
			(const char *)why);
	}
	return code;
}

static void learn_names(struct ing_regex *r)
{
	uint32_t groups = 0, names = 0, entry = 0;
	PCRE2_SPTR table = NULL;
	pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &groups);
	pcre2_pattern_info(r->code, PCRE2_INFO_NAMECOUNT, &names);
	pcre2_pattern_info(r->code, PCRE2_INFO_NAMEENTRYSIZE, &entry);
	pcre2_pattern_info(r->code, PCRE2_INFO_NAMETABLE, &table);
	r->groups = groups;
	r->names = names;
	r->name_entry_bytes = entry;
	r->name_table = table;
}

static unsigned entry_number(const unsigned char *entry)
{
	return (unsigned)entry[0] << 8 | entry[1];
}

/* --- replacements --- */

/* One element of a replacement: a stretch of text, or a group's number. */
struct piece {
	const char *text;
	size_t bytes;
	int group; /* -1: text */
};

static const char *read_name(const char *p, const struct ing_regex *r, const char **why, int *group)
{
	const char *from = p;
	char name[64];
	while (isalnum((unsigned char)*p))
		p++;
	size_t n = (size_t)(p - from);
	*why = "write ${name} with letters and digits";
	if (*p != '}' || n == 0 || n >= sizeof(name))
		return NULL;
	memcpy(name, from, n);
	name[n] = '\0';
	*group = ing_regex_group_number(r, name);
	*why = "no group has this name";
	return *group < 0 ? NULL : p + 1;
}

/* Java takes further digits for as long as such a group exists. */
static const char *read_number(
	const char *p, const struct ing_regex *r, const char **why, int *group)
{
	unsigned number = (unsigned)(*p++ - '0');
	*why = "there is no group of this number";
	if (number > r->groups)
		return NULL;
	while (isdigit((unsigned char)*p) && number * 10 + (unsigned)(*p - '0') <= r->groups)
		number = number * 10 + (unsigned)(*p++ - '0');
	*group = (int)number;
	return p;
}

/* The next piece at *p, which is not at the end. False with *why when there is none. */
static bool read_piece(
	const struct ing_regex *r, const char **p, struct piece *ret, const char **why)
{
	const char *s = *p;
	ret->group = -1;
	if (*s == '\\') {
		*why = "a backslash at the end quotes nothing: write \\\\";
		if (s[1] == '\0')
			return false;
		ret->text = s + 1;
		ret->bytes = 1; /* of a longer character the rest follows as text */
		*p = s + 2;
		return true;
	}
	if (*s == '$') {
		*why = "write $1, ${name}, or \\$ for a dollar";
		const char *end = NULL;
		if (s[1] == '{')
			end = read_name(s + 2, r, why, &ret->group);
		else if (isdigit((unsigned char)s[1]))
			end = read_number(s + 1, r, why, &ret->group);
		if (end == NULL)
			return false;
		*p = end;
		return true;
	}
	ret->text = s;
	ret->bytes = strcspn(s, "\\$");
	*p = s + ret->bytes;
	return true;
}

static void add_replacement(const struct ing_regex *r, const char *text, const char *replacement,
	const size_t *pairs, struct ing_buf *out)
{
	const char *why;
	struct piece piece = {0};
	while (*replacement != '\0' && read_piece(r, &replacement, &piece, &why)) {
		if (piece.group < 0)
			ing_buf_add(out, piece.text, piece.bytes);
		else if (pairs[2 * piece.group] != PCRE2_UNSET)
			ing_buf_add(out, text + pairs[2 * piece.group],
				pairs[2 * piece.group + 1] - pairs[2 * piece.group]);
	}
}

/* --- matching --- */

/* Run; *ret_data (unless NULL) is the caller's to free. NO: it may be NULL. */
static enum ing_regex_end run(const struct ing_regex *r, const char *text, size_t bytes,
	uint32_t pairs, pcre2_match_data **ret_data)
{
	if (ret_data != NULL)
		*ret_data = NULL;
	if (r->literals != NULL && !ing_literals_in(r->literals, text, bytes))
		return ING_REGEX_NO;
	pcre2_match_data *data = pcre2_match_data_create(pairs, NULL);
	ing_must(data != NULL);
	int rc = pcre2_match(r->code, (PCRE2_SPTR)(text != NULL ? text : ""), bytes, 0,
		PCRE2_NO_UTF_CHECK, data, r->limits);
	if (ret_data != NULL)
		*ret_data = data;
	else
		pcre2_match_data_free(data);
	if (rc >= 0)
		return ING_REGEX_YES;
	return rc == PCRE2_ERROR_NOMATCH ? ING_REGEX_NO : ING_REGEX_LIMIT;
}

/* -------------------------------------------------------------------------------------------- */

int ing_regex_compile(const char *pattern, size_t bytes, unsigned flags, struct ing_regex **ret,
	struct ing_error *err)
{
	bool bytes_only = (flags & ING_REGEX_BYTES) != 0;
	if (bytes > MAX_PATTERN_BYTES)
		return ing_error_set(err, ING_FAIL_SYNTAX, "regular expression over %zu bytes",
			MAX_PATTERN_BYTES);
	if (!bytes_only && !ing_utf8_valid(pattern, bytes))
		return ing_error_at(
			err, ING_FAIL_SYNTAX, 0, 1, "regular expression is not valid UTF-8");
	int rc = ing_regex_check_java(pattern, bytes, bytes_only, err);
	if (rc < 0)
		return rc;
	pcre2_code *code = ing_regex_compile_code(pattern, bytes, flags, 0, err);
	if (code == NULL)
		return -ING_FAIL_SYNTAX;
	struct ing_regex *r = ing_alloc(sizeof(*r));
	r->code = code;
	r->limits = ing_regex_make_limits();
	if ((flags & ING_REGEX_PCRE2_ALONE) == 0)
		r->literals = ing_regex_literals(
			pattern, bytes, (flags & ING_REGEX_NO_CASE) != 0, !bytes_only);
	learn_names(r);
	*ret = r;
	return 0;
}

void ing_regex_free(struct ing_regex *r)
{
	if (r == NULL)
		return;
	ing_literals_free(r->literals);
	pcre2_match_context_free(r->limits);
	pcre2_code_free(r->code);
	free(r);
}

enum ing_regex_end ing_regex_find(const struct ing_regex *r, const char *text, size_t bytes)
{
	return run(r, text, bytes, 1, NULL);
}

enum ing_regex_end ing_regex_groups(const struct ing_regex *r, const char *text, size_t bytes,
	size_t max, size_t *from, size_t *to)
{
	pcre2_match_data *data;
	enum ing_regex_end end = run(r, text, bytes, r->groups + 1, &data);
	const size_t *pairs = end == ING_REGEX_YES ? pcre2_get_ovector_pointer(data) : NULL;
	for (size_t i = 0; i < max; i++) {
		bool took_part = pairs != NULL && i <= r->groups && pairs[2 * i] != PCRE2_UNSET;
		from[i] = took_part ? pairs[2 * i] : SIZE_MAX;
		to[i] = took_part ? pairs[2 * i + 1] : SIZE_MAX;
	}
	pcre2_match_data_free(data);
	return end;
}

int ing_regex_group_number(const struct ing_regex *r, const char *name)
{
	for (unsigned i = 0; i < r->names; i++) {
		const unsigned char *entry = r->name_table + (size_t)i * r->name_entry_bytes;
		if (strcmp((const char *)entry + 2, name) == 0)
			return (int)entry_number(entry);
	}
	return -1;
}

const char *ing_regex_group_name(const struct ing_regex *r, unsigned i, unsigned *ret_number)
{
	/* PCRE2's table is sorted by name; a pattern has few. */
	unsigned above = 0;
	const unsigned char *found = NULL;
	for (unsigned step = 0; step <= i; step++) {
		found = NULL;
		for (unsigned k = 0; k < r->names; k++) {
			const unsigned char *entry =
				r->name_table + (size_t)k * r->name_entry_bytes;
			unsigned number = entry_number(entry);
			if (number > above && (found == NULL || number < entry_number(found)))
				found = entry;
		}
		if (found == NULL)
			return NULL;
		above = entry_number(found);
	}
	if (found != NULL && ret_number != NULL)
		*ret_number = above;
	return found != NULL ? (const char *)found + 2 : NULL;
}

enum ing_regex_end ing_regex_replace_first(const struct ing_regex *r, const char *text,
	size_t bytes, const char *replacement, struct ing_buf *out)
{
	pcre2_match_data *data;
	enum ing_regex_end end = run(r, text, bytes, r->groups + 1, &data);
	if (end == ING_REGEX_YES) {
		const size_t *pairs = pcre2_get_ovector_pointer(data);
		/* \K within a lookahead may put the start behind the end: nothing is replaced. */
		size_t to = ING_MAX(pairs[0], pairs[1]);
		ing_buf_add(out, text, pairs[0]);
		add_replacement(r, text, replacement, pairs, out);
		ing_buf_add(out, text + to, bytes - to);
	} else if (end == ING_REGEX_NO) {
		ing_buf_add(out, text, bytes);
	}
	pcre2_match_data_free(data);
	return end;
}

int ing_regex_check_replacement(
	const struct ing_regex *r, const char *replacement, struct ing_error *err)
{
	const char *p = replacement, *why = NULL;
	struct piece piece;
	while (*p != '\0') {
		if (!read_piece(r, &p, &piece, &why))
			return ing_error_at(err, ING_FAIL_SYNTAX, 0,
				ing_regex_column(replacement, (size_t)(p - replacement), false),
				"replacement: %s", why);
	}
	return 0;
}
