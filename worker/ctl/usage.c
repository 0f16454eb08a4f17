/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The walk through the tables of a verb, and getopt's options made of them.
 */
#include "worker/ctl/usage.h"

#include <getopt.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/nearest.h"
#include "worker/ctl/ctl.h"

#define MAX_OPTIONS 60 /* of a verb; the common ones are not among them */

/* NULL: all. */
static bool names_verb(const char *of, const char *word)
{
	if (of == NULL)
		return true;
	size_t bytes = strlen(word);
	for (const char *at = of; *at != '\0'; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");
		if (n == bytes && memcmp(at, word, n) == 0)
			return true;
		at += n;
	}
	return false;
}

struct getopt_tables {
	struct option longs[MAX_OPTIONS + 2];
	char shorts[2 * MAX_OPTIONS + 2];
};

static void fill_getopt(const struct ing_usage *u, struct getopt_tables *t)
{
	const struct ing_option *o;
	char *letter = t->shorts;
	size_t n = 0;
	*letter++ = 'h';
	for (; (o = ing_usage_option(u, n, NULL)) != NULL; n++) {
		ing_must(n < MAX_OPTIONS);
		t->longs[n] = (struct option){
			o->name, o->value != NULL ? required_argument : no_argument, NULL, o->code};
		if (o->letter == '\0')
			continue;
		*letter++ = o->letter;
		if (o->value != NULL)
			*letter++ = ':';
	}
	*letter = '\0';
	t->longs[n] = (struct option){"help", no_argument, NULL, 'h'};
	t->longs[n + 1] = (struct option){0};
}

/* What getopt returned for a short form. */
static int code_of(const struct ing_usage *u, int c)
{
	const struct ing_option *o;
	for (size_t i = 0; (o = ing_usage_option(u, i, NULL)) != NULL; i++)
		if (o->letter == c)
			return o->code;
	return c;
}

/* Of `hosts explain --help` the one below, else u. */
static const struct ing_usage *find_meant(const struct ing_usage *u, int argc, char **argv)
{
	for (int i = 1; u->below != NULL && i < argc; i++)
		for (const struct ing_usage *const *b = u->below; *b != NULL; b++)
			if (strcmp(argv[i], ing_usage_last_word(*b)) == 0)
				return *b;
	return u;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_option ing_usage_common[] = {
	{"config", "FILE", "read the configuration from this file", .words = ING_WORDS_FILE},
	{"set", "KEY=VALUE",
		"set a key after the file has been read; VALUE is YAML; may be repeated",
		.words = ING_WORDS_KEYS},
	{"help", NULL, "print what the verb does and takes", .letter = 'h'},
	{0},
};

const char *ing_usage_last_word(const struct ing_usage *u)
{
	const char *blank = strrchr(u->name, ' ');
	return blank != NULL ? blank + 1 : u->name;
}

const struct ing_option *ing_usage_option(
	const struct ing_usage *u, size_t i, const struct ing_options **ret_group)
{
	const struct ing_usage *tables = u->parent != NULL ? u->parent : u;
	const char *word = u->parent != NULL ? ing_usage_last_word(u) : NULL;
	const struct ing_options own = {.rows = tables->options};
	const struct ing_options *group = &own;
	for (size_t g = 0; group != NULL; g++) {
		for (const struct ing_option *o = group->rows; o != NULL && o->name != NULL; o++) {
			if (word != NULL && !names_verb(o->of, word))
				continue;
			if (i-- > 0)
				continue;
			if (ret_group != NULL)
				*ret_group = group == &own ? NULL : group;
			return o;
		}
		group = tables->shared != NULL ? tables->shared[g] : NULL;
	}
	return NULL;
}

int ing_usage_next(const struct ing_usage *u, int argc, char **argv)
{
	struct getopt_tables t;
	fill_getopt(u, &t);
	int c = ing_ctl_option(argc, argv, t.shorts, t.longs);
	if (c == 'h' && !u->own_help)
		ing_usage_print_help(find_meant(u, argc, argv), false, stdout);
	return c == -1 || c == '?' || c == 'h' ? c : code_of(u, c);
}

int ing_usage_code(int c)
{
	if (c != 'h')
		return ING_CTL_USAGE; /* it has been said why */
	return ing_ctl_flush_stdout("help") ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

int ing_usage_take(
	const struct ing_usage *u, int argc, char **argv, ing_usage_take_f *take, void *ctx)
{
	for (int c; (c = ing_usage_next(u, argc, argv)) != -1;) {
		int code = c == '?' || c == 'h' ? ing_usage_code(c) : take(ctx, c);
		if (code >= 0)
			return code;
	}
	return -1;
}

int ing_usage_take_all(
	const struct ing_usage *u, int argc, char **argv, ing_usage_take_f *take, void *ctx)
{
	int code = ing_usage_take(u, argc, argv, take, ctx);
	if (code < 0 && optind != argc)
		return ing_ctl_fail(
			ING_CTL_USAGE, u->name, "unexpected argument: %s", argv[optind]);
	return code;
}

int ing_usage_refuse_below(const struct ing_usage *u, const char *word)
{
	struct ing_buf known;
	struct ing_nearest near =
		ing_nearest_of(word != NULL ? word : "", word != NULL ? strlen(word) : 0);
	ing_buf_init(&known, 1000);
	for (const struct ing_usage *const *b = u->below; *b != NULL; b++) {
		const char *name = ing_usage_last_word(*b);
		ing_nearest_try(&near, name);
		ing_buf_printf(&known, "%s%s",
			b == u->below  ? ""
			: b[1] == NULL ? " or "
				       : ", ",
			name);
	}
	if (word != NULL)
		ing_ctl_fail(ING_CTL_USAGE, u->name, "expected %s, not %s%s%s%s",
			ing_buf_str(&known), word, near.best != NULL ? "; did you mean '" : "",
			near.best != NULL ? near.best : "", near.best != NULL ? "'?" : "");
	else
		ing_ctl_fail(ING_CTL_USAGE, u->name, "expected %s", ing_buf_str(&known));
	ing_buf_done(&known);
	return ING_CTL_USAGE;
}

void ing_usage_add_option_text(const struct ing_option *o, struct ing_buf *to)
{
	ing_buf_add_str(to, o->text);
	if (o->add_words == NULL)
		return;
	ing_buf_add_str(to, ": ");
	o->add_words(to);
}

void ing_usage_add_text(const struct ing_usage *u, struct ing_buf *to)
{
	if (u->text != NULL)
		ing_buf_add_str(to, u->text);
	if (u->add_text != NULL)
		u->add_text(to);
}

void ing_usage_add_notes(const struct ing_options *group, struct ing_buf *to)
{
	if (group->notes != NULL)
		ing_buf_add_str(to, group->notes);
	if (group->add_notes != NULL)
		group->add_notes(to);
}

void ing_usage_add_exits(const struct ing_usage *u, struct ing_buf *to)
{
	if (u->parent != NULL && u->exits[0] == NULL)
		u = u->parent;
	bool commas = false;
	for (size_t i = 0; i < ING_EXITS; i++)
		commas |= u->exits[i] != NULL && strchr(u->exits[i], ',') != NULL;
	const char *between = "Exit status: ";
	for (size_t i = 0; i < ING_EXITS; i++) {
		if (u->exits[i] == NULL)
			continue;
		ing_buf_printf(to, "%s%zu %s", between, i, u->exits[i]);
		between = commas ? "; " : ", ";
	}
	if (u->exits[0] != NULL)
		ing_buf_add_char(to, '.');
}
