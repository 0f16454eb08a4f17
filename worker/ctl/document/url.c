/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl url clean | parse | surt: what the worker makes of URLs. A line out for each URL in, in
 * order, so that the output can be pasted beside the input.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/net/surt.h"
#include "common/net/url.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/json_line.h"

#define VERB "url"
/* The rest of a longer one is dropped; no URL comes near. */
#define MAX_LINE_BYTES ((size_t)1 << 20)

struct task {
	bool (*print)(const char *s, size_t bytes, const char *base); /* false: not a URL */
	const char *base;
	bool says_why; /* a refusal has words: what it prints does not tell it from an answer */
};

static bool print_clean(const char *s, size_t bytes, const char *base)
{
	(void)base;
	char *clean = ing_url_clean(s, bytes);
	for (const char *p = clean; *p != '\0'; p++) {
		if (*p == '\n') /* only in what is not a URL; a line stays a line */
			fputs("%0A", stdout);
		else
			putchar(*p);
	}
	putchar('\n');
	free(clean);
	return true;
}

static void print_json(json_t *o)
{
	if (o != NULL)
		ing_ctl_json_print(o);
	else
		puts("{\"failure\":true}");
}

static bool print_parts(const char *s, size_t bytes, const char *base)
{
	struct ing_url_parts p;
	bool good = ing_url_parts(s, bytes, base, &p);
	if (good)
		print_json(json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "href", p.href,
			"protocol", p.protocol, "username", p.username, "password", p.password,
			"hostname", p.hostname, "port", p.port, "pathname", p.pathname, "search",
			p.search, "hash", p.hash));
	else
		puts("{\"failure\":true}");
	ing_url_parts_done(&p);
	return good;
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a text says where it leads: by a scheme, or, as lists of captures are often written, by a
 * host name with a dot in it. A key can be made of any text; of a single word it would be that of a
 * host that nobody has meant. */
static bool leads_somewhere(const char *s, size_t bytes)
{
	bool dotted = false;
	size_t i = 0;
	while (i < bytes && s[i] != '/' && s[i] != '?' && s[i] != '#' && s[i] != ':')
		dotted |= s[i++] == '.';
	if (i + 1 >= bytes || s[i] != ':')
		return dotted;
	bool scheme = is_alnum(s[0]) && s[0] > '9'; /* RFC 3986 section 3.1 */
	for (size_t k = 1; k < i; k++)
		scheme = scheme && (is_alnum(s[k]) || s[k] == '+' || s[k] == '-' || s[k] == '.');
	return scheme || dotted;
}

static bool print_surt(const char *s, size_t bytes, const char *base)
{
	(void)base;
	struct ing_buf key;
	ing_buf_init(&key, ING_URL_MAX_BYTES * 8);
	bool good = leads_somewhere(s, bytes) && ing_surt_bytes(s, bytes, &key);
	puts(good ? ing_buf_str(&key) : "-");
	ing_buf_done(&key);
	return good;
}

/* A base may hold a NUL, its serialised form does not. */
static void print_beside(const json_t *input, const json_t *base)
{
	char *href = NULL;
	if (json_is_string(base)) {
		href = ing_url_parse(json_string_value(base), json_string_length(base));
		if (href == NULL) {
			print_json(NULL);
			return;
		}
	}
	print_parts(json_string_value(input), json_string_length(input), href);
	free(href);
}

/* A line {"input": URL, "base": URL or null}; false when it is none. */
static bool parse_batch_line(void *ctx, const struct ing_buf *line, unsigned long number)
{
	(void)ctx;
	struct ing_error err = {0};
	json_t *o = NULL;
	if (line->failed)
		ing_error_set(&err, ING_FAIL_TOO_BIG, "the line is too long");
	else
		o = ing_ctl_json_line(ing_buf_str(line), line->len, &err);
	const json_t *input = json_object_get(o, "input");
	const json_t *base = json_object_get(o, "base");
	bool good = json_is_string(input) && ing_ctl_is_text_or_none(base);
	if (good) {
		print_beside(input, base);
	} else {
		const char *why =
			o == NULL ? err.msg : "not {\"input\": TEXT, \"base\": TEXT or null}";
		ing_ctl_fail(ING_CTL_NEGATIVE, VERB " parse", "line %lu: %s", number, why);
		json_t *refusal = json_object();
		ing_json_set_text(refusal, "error", why);
		ing_ctl_json_print(refusal);
	}
	json_decref(o);
	return good;
}

static bool print_one(
	const struct task *task, const char *s, size_t bytes, const char *what, size_t number)
{
	if (task->print(s, bytes, task->base))
		return true;
	if (task->says_why)
		ing_ctl_fail(ING_CTL_NEGATIVE, VERB " surt", "%s %zu is no URL", what, number);
	return false;
}

static int run_urls(const struct task *task, char **urls, int count)
{
	bool good = true;
	struct ing_buf line;
	ing_buf_init(&line, MAX_LINE_BYTES);
	for (int i = 0; i < count; i++)
		good = print_one(task, urls[i], strlen(urls[i]), "argument", (size_t)i + 1) && good;
	for (size_t n = 1; count == 0 && ing_ctl_read_line(stdin, &line); n++)
		good = print_one(task, ing_buf_str(&line), line.len, "line", n) && good;
	ing_buf_done(&line);
	if (count == 0 && ferror(stdin))
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "standard input cannot be read");
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
	return good ? ING_CTL_OK : ING_CTL_NEGATIVE;
}

static const struct ing_option options[] = {
	{"base", "URL", "resolve relative URLs by this one", .code = 'b', .of = "parse"},
	{"batch", "FILE", "read JSON lines {\"input\": TEXT, \"base\": TEXT or null}", .code = 'f',
		.of = "parse", .words = ING_WORDS_FILE},
	{0},
};

static const struct ing_usage clean_usage = {
	.name = "url clean",
	.synopsis = "[--] [URL...]",
	.summary = "print the form in which a URL is fetched",
	.text = "Prints the cleaned form of each URL, in which it is fetched (user name and password are never "
		"sent). What is not an absolute URL is printed unchanged.",
	.parent = &ing_ctl_url_usage,
};

static const struct ing_usage parse_usage = {
	.name = "url parse",
	.synopsis = "[--base URL] [--] [URL...]\n--batch FILE|-",
	.summary = "print the parts of a URL as JSON",
	.text = "Prints the parts of each URL as JSON {\"href\", \"protocol\", \"username\", \"password\", "
		"\"hostname\", \"port\", \"pathname\", \"search\", \"hash\"}, or {\"failure\":true}.",
	.parent = &ing_ctl_url_usage,
};

static const struct ing_usage surt_usage = {
	.name = "url surt",
	.synopsis = "[--] [URL...]",
	.summary = "print the SURT of a URL",
	.text = "Prints the SURT of each URL, the key of web archive indexes, or - if it has none. Without a "
		"scheme it must begin with a host name that contains a dot.",
	.parent = &ing_ctl_url_usage,
};

static const struct ing_usage *const verbs_below[] = {
	&clean_usage, &parse_usage, &surt_usage, NULL};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_url_usage = {
	.name = "url",
	.summary = "clean or parse URLs, or print their SURT",
	.text = "Reads URLs from the arguments, or from lines of standard input. Longer than 64 KiB is invalid.",
	.options = options,
	.exits = {ING_EXIT_OK, "a URL or a line of a batch is invalid", "usage",
		"a file cannot be read"},
	.below = verbs_below,
};

int ing_ctl_url(int argc, char **argv, const struct ing_ctl *ctl)
{
	static const struct {
		const char *name;
		bool (*print)(const char *s, size_t bytes, const char *base);
	} actions[] = {{"clean", print_clean}, {"parse", print_parts}, {"surt", print_surt}};
	struct task task = {0};
	const char *batch = NULL;
	(void)ctl;
	for (;;) {
		int c = ing_usage_next(&ing_ctl_url_usage, argc, argv);
		if (c == -1)
			break;
		switch (c) {
		case 'b':
			task.base = optarg;
			break;
		case 'f':
			batch = optarg;
			break;
		default:
			return ing_usage_code(c);
		}
	}
	for (size_t i = 0; optind < argc && i < ING_ARRAY_LEN(actions); i++) {
		if (strcmp(argv[optind], actions[i].name) == 0)
			task.print = actions[i].print;
	}
	if (task.print == NULL)
		return ing_usage_refuse_below(
			&ing_ctl_url_usage, optind < argc ? argv[optind] : NULL);
	task.says_why = task.print == print_surt;
	optind++;
	if ((task.base != NULL || batch != NULL) && task.print != print_parts)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--base and --batch are options of parse");
	if (batch != NULL && (task.base != NULL || optind < argc))
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--batch cannot be combined with --base or URLs");
	return batch != NULL
		       ? ing_ctl_batch(VERB " parse", batch, MAX_LINE_BYTES, parse_batch_line, NULL)
		       : run_urls(&task, argv + optind, argc - optind);
}
