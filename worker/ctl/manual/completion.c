/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What may stand where on a command line of ingestctl, as functions of the shell. deploy/completion has the rest of the scripts.
 */
#include "worker/ctl/manual/manual.h"

#include <string.h>

#include "common/base/buf.h"
#include "worker/conf/conf.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/verbs.h"
#include "worker/model/ingest_type.h"
#include "worker/model/status.h"

#define MAX_SENTENCE_BYTES 72 /* behind a word, where a shell shows it */

struct script {
	struct ing_buf *out;
	bool described;
};

/* A text within '…'. */
static void add_quoted(struct ing_buf *to, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			ing_buf_add_str(to, "'\\''");
		else
			ing_buf_add_char(to, *text);
	}
}

/* A word of a list: a line of its own with a colon and its sentence behind it, or just the word. */
static void add_word(const struct script *s, const char *before, const char *word, const char *text)
{
	if (!s->described) {
		ing_buf_printf(s->out, " %s%s", before, word);
		return;
	}
	ing_buf_printf(s->out, " '%s%s:", before, word);
	size_t n = 0;
	char sentence[MAX_SENTENCE_BYTES + 4];
	while (n < MAX_SENTENCE_BYTES && text[n] != '\0' && text[n] != '\n' &&
		(text[n] != ';' && (text[n] != '.' || text[n + 1] != ' ')))
		n++;
	bool cut = n == MAX_SENTENCE_BYTES;
	while (cut && n > 0 && text[n] != ' ')
		n--;
	snprintf(sentence, sizeof(sentence), "%.*s%s", (int)n, text, cut ? "…" : "");
	add_quoted(s->out, sentence);
	ing_buf_add_char(s->out, '\'');
}

static void open_list(const struct script *s, const char *name)
{
	ing_buf_printf(s->out, "\t'%s') %s", name, s->described ? "printf '%s\\n'" : "echo");
}

static void add_below(void *ctx, const struct ing_usage *u)
{
	const struct script *s = ctx;
	if (u->below == NULL)
		return;
	open_list(s, u->name);
	for (const struct ing_usage *const *b = u->below; *b != NULL; b++)
		add_word(s, "", ing_usage_last_word(*b), (*b)->summary);
	ing_buf_add_str(s->out, " ;;\n");
}

static void add_common(const struct script *s)
{
	for (const struct ing_option *o = ing_usage_common; o->name != NULL; o++)
		add_word(s, "--", o->name, o->text);
}

static void add_options(void *ctx, const struct ing_usage *u)
{
	const struct script *s = ctx;
	const struct ing_option *o;
	open_list(s, u->name);
	for (size_t i = 0; (o = ing_usage_option(u, i, NULL)) != NULL; i++)
		if (o->text != NULL)
			add_word(s, "--", o->name, o->text);
	add_common(s);
	ing_buf_add_str(s->out, " ;;\n");
}

static void add_keys(struct ing_buf *to)
{
	const char *name;
	for (size_t i = 0; (name = ing_conf_key_name(i)) != NULL; i++)
		ing_buf_printf(to, "%s%s=", i > 0 ? " " : "", name);
}

static void add_statuses(struct ing_buf *to)
{
	for (int i = 0; i < ING_STATUS_COUNT_; i++)
		ing_buf_printf(to, "%c%s", i > 0 ? ' ' : ',', ing_status_slug((enum ing_status)i));
}

/* What .words stands for. */
static void add_words(const struct ing_option *o, struct ing_buf *to)
{
	const char *words = o->words;
	if (words != NULL && strcmp(words, ING_WORDS_KEYS) == 0)
		add_keys(to);
	else if (words != NULL && strcmp(words, ING_WORDS_STATUSES) == 0)
		add_statuses(to);
	else if (words != NULL && strcmp(words, ING_WORDS_TYPES) == 0)
		ing_buf_printf(to, ",%s", ing_ingest_type_names + 1);
	else if (words != NULL)
		ing_buf_add_str(to, words);
	if (o->add_words == NULL)
		return;
	struct ing_buf more; /* in running text there are commas between */
	ing_buf_init(&more, ING_MANUAL_MAX_BYTES);
	o->add_words(&more);
	for (size_t i = 0; i < more.len; i++)
		if (more.data[i] != ',')
			ing_buf_add_char(to, more.data[i]);
	ing_buf_done(&more);
}

static void add_value(const struct script *s, const char *verb, const char *dashes,
	const char *name, const struct ing_option *o)
{
	struct ing_buf words;
	ing_buf_init(&words, ING_MANUAL_MAX_BYTES);
	add_words(o, &words);
	ing_buf_printf(s->out, "\t%s' %s%s') echo '", verb, dashes, name);
	add_quoted(s->out, ing_buf_str(&words));
	ing_buf_add_str(s->out, "' ;;\n");
	ing_buf_done(&words);
}

static void add_values(void *ctx, const struct ing_usage *u)
{
	const struct script *s = ctx;
	const struct ing_option *o;
	for (size_t i = 0; (o = ing_usage_option(u, i, NULL)) != NULL; i++) {
		char verb[64];
		char letter[2] = {o->letter, '\0'};
		if (o->value == NULL)
			continue;
		snprintf(verb, sizeof(verb), "'%s'", u->name);
		add_value(s, verb, "--", o->name, o);
		if (o->letter != '\0')
			add_value(s, verb, "-", letter, o);
	}
}

static void add_operands(void *ctx, const struct ing_usage *u)
{
	const struct script *s = ctx;
	if (u->operands == NULL)
		return;
	ing_buf_printf(s->out, "\t'%s') echo '", u->name);
	add_quoted(s->out, u->operands);
	ing_buf_add_str(s->out, "' ;;\n");
}

static void add_verbs(const struct script *s)
{
	open_list(s, "");
	for (const struct ing_verb *v = ing_verbs; v->usage != NULL; v++)
		add_word(s, "", v->usage->name, v->usage->summary);
	ing_buf_add_str(s->out, " ;;\n");
}

static void add_list(void *ctx, const struct ing_usage *u)
{
	const struct ing_option *o;
	for (size_t i = 0; (o = ing_usage_option(u, i, NULL)) != NULL; i++)
		if (o->text != NULL)
			ing_buf_printf(ctx, "%s\t--%s\n", u->name, o->name);
	if (ing_usage_option(u, 0, NULL) == NULL)
		ing_buf_printf(ctx, "%s\t\n", u->name);
}

/* -------------------------------------------------------------------------------------------- */

void ing_completion_add(bool described, struct ing_buf *to)
{
	struct script s = {.out = to, .described = described};
	ing_buf_add_str(to, "# Verbs, by the words before them.\n"
			    "_ingestctl_below()\n{\n\tcase $1 in\n");
	add_verbs(&s);
	ing_verbs_walk(add_below, &s);
	ing_buf_add_str(to, "\tesac\n}\n\n"
			    "# Options, by the verb.\n"
			    "_ingestctl_options()\n{\n\tcase $1 in\n");
	open_list(&s, "");
	add_common(&s);
	add_word(&s, "--", "version", "print the version");
	ing_buf_add_str(to, " ;;\n");
	ing_verbs_walk(add_options, &s);
	ing_buf_add_str(to,
		"\tesac\n}\n\n"
		"# What the value of an option may be, by the verb and the option. Fails for one that takes none.\n"
		"_ingestctl_value()\n{\n\tcase \"$1 $2\" in\n");
	for (const struct ing_option *o = ing_usage_common; o->name != NULL; o++)
		if (o->value != NULL)
			add_value(&s, "*", "--", o->name, o);
	ing_verbs_walk(add_values, &s);
	ing_buf_add_str(to, "\t*) return 1 ;;\n\tesac\n}\n\n"
			    "# What operands may be, by the verb.\n"
			    "_ingestctl_operands()\n{\n\tcase $1 in\n");
	ing_verbs_walk(add_operands, &s);
	ing_buf_add_str(to, "\tesac\n}\n");
}

void ing_completion_add_list(struct ing_buf *to)
{
	ing_verbs_walk(add_list, to);
}

void ing_completion_add_help_words(struct ing_buf *to)
{
	for (const struct ing_verb *v = ing_verbs; v->usage != NULL; v++)
		ing_buf_printf(to, "%s\n", v->usage->name);
	for (const struct ing_topic *t = ing_topics; t->name != NULL; t++)
		ing_buf_printf(to, "%s\n", t->name);
	for (int i = 0; i < ING_STATUS_COUNT_; i++)
		ing_buf_printf(to, "%s\n", ing_status_slug((enum ing_status)i));
}
