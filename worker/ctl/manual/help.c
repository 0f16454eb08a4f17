/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl help: all about a verb, a topic, a status, a metric or a configuration key; and, for the build, the parts of
 * manual pages and completions that come from tables.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/nearest.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/manual/manual.h"
#include "worker/ctl/sockets.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/usage_text.h"
#include "worker/ctl/verbs.h"
#include "worker/model/status.h"

#define VERB "help"

static void add_topics(struct ing_buf *to)
{
	for (const struct ing_topic *t = ing_topics; t->name != NULL; t++)
		ing_buf_printf(to, "  %s\t%s\n", t->name, t->summary);
}

static void add_overview(struct ing_buf *to)
{
	ing_buf_add_str(to, "Topics of \"ingestctl help\":\n");
	add_topics(to);
}

static void add_bash(struct ing_buf *to)
{
	ing_completion_add(false, to);
}

static void add_zsh(struct ing_buf *to)
{
	ing_completion_add(true, to);
}

/* For the build, by the word behind --print. */
static const struct {
	const char *name;
	void (*add)(struct ing_buf *to);
} parts[] = {
	{"verbs", ing_manual_add_verbs},
	{"examples", ing_manual_add_examples},
	{"statuses", ing_manual_add_statuses},
	{"metrics", ing_manual_add_metrics},
	{"keys", ing_manual_add_keys},
	{"bash", add_bash},
	{"zsh", add_zsh},
	{"options", ing_completion_add_list},
	{"words", ing_completion_add_help_words},
};

static int print(const struct ing_buf *text)
{
	ing_must(!text->failed);
	fputs(ing_buf_str(text), stdout);
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

/* Names of the workers on this machine, by their sockets; one a line. Nothing without a configuration that can be read. */
static int print_instances(const struct ing_ctl *ctl)
{
	struct ing_conf *conf;
	struct ing_ctl_sockets sockets = {0};
	struct ing_error err = {0};
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	if (ing_ctl_sockets_find(conf->state_dir, &sockets, &err) != 0)
		code = ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", err.msg);
	for (size_t i = 0; i < sockets.count; i++) {
		const char *slash = strrchr(sockets.paths[i], '/');
		const char *name = slash != NULL ? slash + 1 : sockets.paths[i];
		printf("%.*s\n", (int)(strlen(name) - strlen(".sock")), name);
	}
	ing_ctl_sockets_done(&sockets);
	ing_conf_free(conf);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}

static int print_part(const char *name, const struct ing_ctl *ctl)
{
	if (strcmp(name, "instances") == 0)
		return print_instances(ctl);
	for (size_t i = 0; i < ING_ARRAY_LEN(parts); i++) {
		if (strcmp(parts[i].name, name) != 0)
			continue;
		struct ing_buf out;
		ing_buf_init(&out, ING_MANUAL_MAX_BYTES);
		parts[i].add(&out);
		int code = print(&out);
		ing_buf_done(&out);
		return code;
	}
	return ing_ctl_fail(ING_CTL_USAGE, VERB, "--print: there is no part %s", name);
}

static int print_text(const char *text)
{
	struct ing_buf out;
	ing_buf_init(&out, ING_MANUAL_MAX_BYTES);
	ing_usage_add_lines(&out, text, 0, ing_usage_width(stdout));
	int code = print(&out);
	ing_buf_done(&out);
	return code;
}

static int print_topic(const struct ing_topic *t)
{
	struct ing_buf text;
	ing_buf_init(&text, ING_MANUAL_MAX_BYTES);
	t->add(&text);
	int code = print_text(ing_buf_str(&text));
	ing_buf_done(&text);
	return code;
}

static const struct ing_topic *find_topic(const char *name)
{
	for (const struct ing_topic *t = ing_topics; t->name != NULL; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

static int refuse(const char *word)
{
	struct ing_nearest n = ing_nearest_of(word, strlen(word));
	for (const struct ing_verb *v = ing_verbs; v->usage != NULL; v++)
		ing_nearest_try(&n, v->usage->name);
	for (const struct ing_topic *t = ing_topics; t->name != NULL; t++)
		ing_nearest_try(&n, t->name);
	for (int i = 0; i < ING_STATUS_COUNT_; i++)
		ing_nearest_try(&n, ing_status_slug((enum ing_status)i));
	for (size_t i = 0; ing_conf_key_name(i) != NULL; i++)
		ing_nearest_try(&n, ing_conf_key_name(i));
	if (n.best != NULL)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB,
			"there is nothing about %s; did you mean '%s'?", word, n.best);
	return ing_ctl_fail(ING_CTL_NEGATIVE, VERB,
		"there is nothing about %s; ingestctl help lists topics", word);
}

/* Neither a verb nor a topic: a status, a metric, a key. */
static int print_entry(const char *word)
{
	struct ing_buf text;
	ing_buf_init(&text, ING_MANUAL_MAX_BYTES);
	int code = ing_topic_add_entry(word, &text) ? print_text(ing_buf_str(&text)) : refuse(word);
	ing_buf_done(&text);
	return code;
}

/* The one below u of this name, or NULL after a message. */
static const struct ing_usage *find_below(const struct ing_usage *u, const char *word)
{
	for (const struct ing_usage *const *b = u->below; b != NULL && *b != NULL; b++)
		if (strcmp(ing_usage_last_word(*b), word) == 0)
			return *b;
	if (u->below != NULL)
		(void)ing_usage_refuse_below(u, word);
	else
		(void)ing_ctl_fail(ING_CTL_USAGE, VERB, "%s has no verb %s", u->name, word);
	return NULL;
}

static int print_verb(const struct ing_usage *u, char *const *words, int count)
{
	for (int i = 0; u != NULL && i < count; i++)
		u = find_below(u, words[i]);
	if (u == NULL)
		return ING_CTL_USAGE;
	ing_usage_print_help(u, true, stdout);
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

static int print_about(char *const *words, int count)
{
	const struct ing_verb *verb = ing_verb_of_name(words[0]);
	if (verb != NULL)
		return print_verb(verb->usage, words + 1, count - 1);
	if (count > 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s is no verb", words[0]);
	const struct ing_topic *topic = find_topic(words[0]);
	return topic != NULL ? print_topic(topic) : print_entry(words[0]);
}

static const struct ing_option options[] = {
	{"print", "PART", NULL, .code = 'p'},
	{0},
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_help_usage = {
	.name = "help",
	.synopsis = "VERB...\nTOPIC | STATUS | METRIC | KEY",
	.summary = "say all about a verb, a topic, a status, a metric or a configuration key",
	.text = "Says all about a verb, also one below another (\"help requests load\"), about a status of "
		"results, a metric, a key of the configuration or all keys that begin alike (\"help gate\"), or "
		"about a topic:\n\n",
	.add_text = add_topics,
	.options = options,
	.exits = {ING_EXIT_OK, "there is nothing about it", "usage", ING_EXIT_ENVIRONMENT},
	.examples = "What may a request that ended so become?\n\n"
		    "  ingestctl help no-pdf-link",
	.operands = "!help --print words",
};

int ing_ctl_help(int argc, char **argv, const struct ing_ctl *ctl)
{
	const char *part = NULL;
	for (int c; (c = ing_usage_next(&ing_ctl_help_usage, argc, argv)) != -1;) {
		if (c != 'p')
			return ing_usage_code(c);
		part = optarg;
	}
	if (part != NULL)
		return print_part(part, ctl);
	if (optind < argc)
		return print_about(argv + optind, argc - optind);
	ing_verbs_print(stdout);
	putchar('\n');
	return print_topic(&(const struct ing_topic){"", "", add_overview});
}
