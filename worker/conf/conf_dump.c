/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table in print: as a configuration file with the effective values, and as the list of keys of
 * the manual page.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "worker/conf/conf_priv.h"
#include "worker/model/version.h"

#define MAX_VALUE_BYTES ((size_t)16 << 20)
#define COMMENT_COLUMNS 96

static size_t count_dots(const char *s)
{
	size_t n = 0;
	for (; *s != '\0'; s++)
		n += *s == '.';
	return n;
}

static void print_indent(size_t levels, FILE *to)
{
	fprintf(to, "%*s", (int)(levels * 2), "");
}

/* text as comment lines that break between words. */
static void print_comment(const char *text, size_t levels, FILE *to)
{
	size_t width = COMMENT_COLUMNS - 2 - levels * 2;
	while (*text != '\0') {
		size_t n = strlen(text);
		if (n > width) {
			n = width;
			while (n > 0 && text[n] != ' ')
				n--;
			if (n == 0)
				n = width + strcspn(text + width, " ");
		}
		print_indent(levels, to);
		fprintf(to, "# %.*s\n", (int)n, text);
		text += n;
		text += strspn(text, " ");
	}
}

/* Open the sections of a key that the key before it was not in. */
static void print_sections(const char *before, const char *name, FILE *to)
{
	size_t level = 0;
	for (const char *dot = strchr(name, '.'); dot != NULL;
		dot = strchr(dot + 1, '.'), level++) {
		size_t upto = (size_t)(dot - name) + 1;
		if (strncmp(before, name, upto) == 0)
			continue;
		size_t start = upto - 1;
		while (start > 0 && name[start - 1] != '.')
			start--;
		if (level == 0)
			fputc('\n', to);
		print_indent(level, to);
		fprintf(to, "%.*s:\n", (int)(upto - 1 - start), name + start);
	}
}

/* Unit and range of a number, in words; empty for other types. */
static void add_range(const struct ing_conf_key *key, struct ing_buf *out)
{
	if (key->unit != NULL)
		ing_buf_printf(out, "%" PRIu64 " to %" PRIu64 " %s", key->min, key->max, key->unit);
}

static void print_man_key(const struct ing_conf_key *key, FILE *to)
{
	struct ing_buf range;
	ing_buf_init(&range, 200);
	add_range(key, &range);
	fprintf(to, ".It Ic %s\n%s\n", key->name, key->sentence);
	if (range.len > 0)
		fprintf(to, "From %s.\n", ing_buf_str(&range));
	if (key->type == ING_CONF_LIST)
		fprintf(to, "A list.\n");
	fprintf(to, "Default: %s.\n", ing_conf_fallback_words(key));
	ing_buf_done(&range);
}

/* -------------------------------------------------------------------------------------------- */

void ing_conf_dump(const struct ing_conf *conf, FILE *to)
{
	fprintf(to, "# Effective configuration of ingest-worker " ING_VERSION ".\n"
		    "# Passwords in it are replaced by asterisks.\n");
	const char *before = "";
	for (size_t i = 0; i < ing_conf_key_count; i++) {
		const struct ing_conf_key *key = &ing_conf_keys[i];
		size_t levels = count_dots(key->name);
		const char *leaf = levels > 0 ? strrchr(key->name, '.') + 1 : key->name;
		struct ing_buf words;
		struct ing_buf value;
		ing_buf_init(&words, 4096);
		ing_buf_init(&value, MAX_VALUE_BYTES);
		ing_buf_add_str(&words, key->sentence);
		if (key->unit != NULL) {
			ing_buf_add_str(&words, " (");
			add_range(key, &words);
			ing_buf_add_char(&words, ')');
		}
		ing_conf_format(conf, key, &value);
		print_sections(before, key->name, to);
		if (levels == 0)
			fputc('\n', to);
		print_comment(ing_buf_str(&words), levels, to);
		print_indent(levels, to);
		fprintf(to, "%s: %s\n", leaf, ing_buf_str(&value));
		ing_buf_done(&words);
		ing_buf_done(&value);
		before = key->name;
	}
}

void ing_conf_dump_man(FILE *to)
{
	fprintf(to, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < ing_conf_key_count; i++)
		print_man_key(&ing_conf_keys[i], to);
	fprintf(to, ".El\n");
}

const char *ing_conf_key_name(size_t i)
{
	return i < ing_conf_key_count ? ing_conf_keys[i].name : NULL;
}

void ing_conf_key_add_words(size_t i, struct ing_buf *out)
{
	const struct ing_conf_key *key = &ing_conf_keys[i];
	ing_buf_add_str(out, key->sentence);
	if (key->unit != NULL) {
		ing_buf_add_str(out, " From ");
		add_range(key, out);
		ing_buf_add_char(out, '.');
	}
	ing_buf_printf(out, "%s Default: %s.", key->type == ING_CONF_LIST ? " A list." : "",
		ing_conf_fallback_words(key));
}
