/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A regular expression (first line), a replacement (second line), a text (the rest). Whatever
 * compiles must run to an end, and a replacement that was checked must apply.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/utf8.h"
#include "worker/scrape/jsoup/regex.h"

/* Patterns are the operator's; texts are anybody's, and each of the twenty searches ends at a
 * limit. */
#define MAX_PATTERN_BYTES 256

FUZZ_BUDGET(.cpu_us = 3000000, .cpu_byte_ns = 500, .heap_kb = 50, .heap_byte = 20);

static const char *cut_line(const char **p, const char *end, size_t *bytes)
{
	const char *line = *p;
	const char *lf = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
	*bytes = (size_t)((lf != NULL ? lf : end) - line);
	*p = lf != NULL ? lf + 1 : end;
	return line;
}

/* PCRE2 alone finds the same, unless it meets its limit where the quick look says no. */
static void compare(
	const char *pattern, size_t pattern_bytes, unsigned flags, const char *text, size_t bytes)
{
	struct ing_regex *quick = NULL, *alone = NULL;
	struct ing_error err = {0};
	if (ing_regex_compile(pattern, pattern_bytes, flags, &quick, &err) != 0)
		return;
	ing_must(ing_regex_compile(
			 pattern, pattern_bytes, flags | ING_REGEX_PCRE2_ALONE, &alone, &err) == 0);
	enum ing_regex_end end = ing_regex_find(quick, text, bytes);
	enum ing_regex_end want = ing_regex_find(alone, text, bytes);
	ing_must(end == want || (end == ING_REGEX_NO && want == ING_REGEX_LIMIT));
	ing_regex_free(quick);
	ing_regex_free(alone);
}

static void use(struct ing_regex *r, const char *replacement, const char *text, size_t bytes)
{
	struct ing_error err = {0};
	size_t from[4], to[4];
	struct ing_buf out;
	ing_buf_init(&out, (size_t)1 << 20);
	enum ing_regex_end found = ing_regex_find(r, text, bytes);
	enum ing_regex_end end = ing_regex_groups(r, text, bytes, ING_ARRAY_LEN(from), from, to);
	ing_must(end == found);
	for (size_t i = 0; i < ING_ARRAY_LEN(from); i++)
		ing_must(from[i] == SIZE_MAX || (from[i] <= bytes && to[i] <= bytes));
	if (ing_regex_check_replacement(r, replacement, &err) == 0)
		ing_must(ing_regex_replace_first(r, text, bytes, replacement, &out) == found);
	else
		ing_must(err.column > 0);
	ing_buf_done(&out);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	size_t pattern_bytes, replacement_bytes;
	const char *p = (const char *)data, *end = p + size;
	const char *pattern = cut_line(&p, end, &pattern_bytes);
	const char *line = cut_line(&p, end, &replacement_bytes);
	if (pattern_bytes > MAX_PATTERN_BYTES)
		return;
	char *replacement = ing_strndup(line != NULL ? line : "", replacement_bytes);
	size_t bytes;
	char *text = ing_utf8_clean(p != NULL ? p : "", (size_t)(end - p), &bytes);
	ing_must(text != NULL);
	for (unsigned flags = 0; flags < 4; flags++) {
		struct ing_regex *r = NULL;
		struct ing_error err = {0};
		if (ing_regex_compile(
			    pattern != NULL ? pattern : "", pattern_bytes, flags, &r, &err) == 0)
			use(r, replacement, text, bytes);
		else
			ing_must(err.msg[0] != '\0');
		ing_regex_free(r);
		compare(pattern != NULL ? pattern : "", pattern_bytes, flags, text, bytes);
	}
	ing_freep(&replacement);
	ing_freep(&text);
}
