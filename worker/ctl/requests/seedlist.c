/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl seedlist: lists of others to request lines, by the sources in seedlists.dir (worker/seeds).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/report.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/requests/seed_report.h"
#include "worker/ctl/requests/seed_source.h"
#include "worker/seeds/samples.h"

#define VERB "seedlist"
#define MAX_SETTINGS 32

struct seedlist {
	const char *settings[MAX_SETTINGS + 1];
	size_t setting_count;
	bool help, list, check;
	const char *dir;
	const struct ing_seed_source *source;
	struct ing_seed_bad_records bad;
	struct ing_seed_counts all; /* files */
	struct ing_seed_left_out *left_out;
	bool broken; /* nothing can be written */
};

static bool print_request(void *ctx, int64_t number, const char *json, size_t bytes)
{
	struct seedlist *s = ctx;
	(void)number;
	fwrite(json, 1, bytes, stdout);
	putchar_unlocked('\n');
	s->broken = ferror(stdout) != 0;
	return !s->broken;
}

static void print_bad(void *ctx, int64_t number, const char *why)
{
	struct seedlist *s = ctx;
	ing_seed_print_bad(&s->bad, number, why);
}

static void add_counts(struct seedlist *s, const struct ing_seed_counts *c)
{
	struct ing_seed_counts *all = &s->all;
	if (s->left_out == NULL) {
		all->reasons = c->reasons;
		s->left_out = ing_alloc(c->reasons * sizeof(*s->left_out));
		for (size_t i = 0; i < c->reasons; i++)
			s->left_out[i].reason = c->left_out[i].reason;
		all->left_out = s->left_out;
	}
	all->records += c->records;
	all->requests += c->requests;
	all->bad += c->bad;
	for (size_t i = 0; i < c->reasons; i++)
		s->left_out[i].count += c->left_out[i].count;
}

static int convert_file(struct seedlist *s, const char *path)
{
	const struct ing_seed_sink sink = {print_request, print_bad, s};
	struct ing_error err = {0};
	bool is_stdin = strcmp(path, "-") == 0;
	s->bad.file = is_stdin ? "stdin" : path;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: %s", path, strerror(errno));
	struct ing_seed_converter *c = ing_seed_converter_new(s->source, &sink);
	int rc = ing_seed_converter_read(c, fd, &err);
	add_counts(s, ing_seed_converter_counts(c));
	ing_seed_converter_free(c);
	if (!is_stdin)
		close(fd);
	if (rc == 0 || s->broken)
		return ING_CTL_OK;
	return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: %s", s->bad.file, err.msg);
}

static int convert(struct seedlist *s, int count, char **paths)
{
	static char buffer[(size_t)256 << 10];
	int code = ING_CTL_OK;
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	if (count == 0)
		code = convert_file(s, "-");
	for (int i = 0; i < count && !s->broken; i++) {
		int failed = convert_file(s, paths[i]);
		code = failed != ING_CTL_OK ? failed : code;
	}
	ing_seed_print_counts(VERB, &s->all);
	free(s->left_out);
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
	return code != ING_CTL_OK ? code : s->bad.count > 0 ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

static int run(struct seedlist *s, int argc, char **argv)
{
	struct ing_seed_source *source;
	int code = ing_ctl_seed_source(VERB, s->dir, argv[0], s->settings, &source);
	if (code != ING_CTL_OK)
		return code;
	s->source = source;
	code = convert(s, argc - 1, argv + 1);
	ing_seed_source_free(source);
	return code;
}

static int list(const struct seedlist *s)
{
	struct ing_error err = {0};
	int code = ING_CTL_OK;
	char **names = ing_seed_source_names(s->dir, &err);
	if (names == NULL)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", err.msg);
	for (char **name = names; *name != NULL; name++) {
		struct ing_seed_source *source;
		int failed = ing_ctl_seed_source(VERB, s->dir, *name, NULL, &source);
		if (failed != ING_CTL_OK) {
			code = failed;
			continue;
		}
		printf("%-14s %-6s %s\n", *name, ing_seed_source_format(source),
			ing_seed_source_about(source));
		ing_seed_source_free(source);
	}
	free(names);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}

static bool check_source(const struct seedlist *s, const char *name)
{
	struct ing_report report = {0};
	struct ing_error err = {0};
	size_t count, failed;
	int rc = ing_seed_samples_check(s->dir, name, stdout, &count, &failed, &report, &err);
	ing_report_sort(&report);
	ing_report_print_errors(&report, stdout);
	if (rc != 0 && report.errors == 0)
		ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s", err.msg);
	else if (rc == 0)
		printf("%s: %zu sample%s, %zu failed\n", name, count, ING_PLURAL_S(count), failed);
	bool good = rc == 0 && failed == 0 && report.errors == 0;
	ing_report_done(&report);
	return good;
}

static int check(const struct seedlist *s, int argc, char **argv)
{
	struct ing_error err = {0};
	bool good = true;
	char **names = argc == 0 ? ing_seed_source_names(s->dir, &err) : NULL;
	if (argc == 0 && names == NULL)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", err.msg);
	for (char **name = names; name != NULL && *name != NULL; name++)
		good = check_source(s, *name) && good;
	for (int i = 0; i < argc; i++)
		good = check_source(s, argv[i]) && good;
	free(names);
	if (!ing_ctl_flush_stdout(VERB))
		return ING_CTL_ENVIRONMENT;
	return good ? ING_CTL_OK : ING_CTL_NEGATIVE;
}

static const struct ing_option verb_options[] = {
	{"option", "NAME=VALUE",
		"an option of the source, may be repeated; SOURCE --help lists them", .code = 'o',
		.letter = 'o'},
	{"list", NULL, "print the sources: name, format, what they are", .code = 'l'},
	{"check", NULL, "convert the samples in the sources' files, and compare", .code = 'c'},
	{0},
};

static int describe(const struct seedlist *s, const char *name)
{
	struct ing_seed_source *source;
	int code = ing_ctl_seed_source(VERB, s->dir, name, NULL, &source);
	if (code != ING_CTL_OK)
		return code;
	size_t count;
	const struct ing_seed_option *options = ing_seed_source_options(source, &count);
	printf("usage: ingestctl seedlist %s%s [FILE...|-]\n\n%s\n", name,
		count > 0 ? " [--option NAME=VALUE]..." : "", ing_seed_source_about(source));
	if (count > 0)
		puts("");
	for (size_t i = 0; i < count; i++) {
		const struct ing_seed_option *o = &options[i];
		printf("  %-22s  %s", o->name, o->about);
		for (const char *const *v = o->values; v != NULL && *v != NULL; v++)
			printf("%s%s", v == o->values ? ": " : ", ", *v);
		if (o->fallback != NULL)
			printf(" (default: %s)", o->fallback);
		puts(o->fallback == NULL && !o->optional ? " (needed)" : "");
	}
	ing_seed_source_free(source);
	return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
}

static int parse_options(int argc, char **argv, struct seedlist *s)
{
	optind = 1;
	for (;;) {
		int c = ing_usage_next(&ing_ctl_seedlist_usage, argc, argv);
		if (c == -1)
			break;
		if (c == 'o' && s->setting_count == MAX_SETTINGS)
			return ing_ctl_fail(
				ING_CTL_USAGE, VERB, "more than %d options", MAX_SETTINGS);
		if (c == 'o')
			s->settings[s->setting_count++] = optarg;
		else if (c == 'l')
			s->list = true;
		else if (c == 'c')
			s->check = true;
		else if (c == 'h')
			s->help = true;
		else
			return ING_CTL_USAGE;
	}
	if (!s->help && !s->check && !s->list && optind == argc)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give a source; --list prints them");
	if (s->list && (s->check || optind < argc))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--list stands alone");
	return ING_CTL_OK;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_seedlist_usage = {
	.name = "seedlist",
	.synopsis =
		"SOURCE [--option NAME=VALUE]... [FILE...|-]\nSOURCE --help\n--list\n--check [SOURCE...]",
	.summary = "turn a list of others (Unpaywall, a CSV file …) into request lines",
	.text = "Turns a list into request lines on standard output. What is left out is counted by reason on "
		"standard error; records that cannot be read are named there and skipped. Files may be "
		"compressed (gzip, zstd, xz, bzip2). SOURCE is one of seedlists.dir, or a file of that form "
		"(with a slash in its name). The same list gives the same lines in the same order.",
	.options = verb_options,
	.exits = {ING_EXIT_OK, "some records were bad or a sample differs",
		"usage, or errors in the source", "a file cannot be read"},
	.operands = ING_WORDS_SOURCES,
	.own_help = true,
};

int ing_ctl_seedlist(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct seedlist s = {.bad.verb = VERB};
	struct ing_conf *conf;
	int code = parse_options(argc, argv, &s);
	if (code != ING_CTL_OK)
		return code;
	if (s.help && optind == argc) {
		ing_usage_print_help(&ing_ctl_seedlist_usage, false, stdout);
		return ing_usage_code('h');
	}
	code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	s.dir = conf->seedlists_dir;
	if (s.help)
		code = describe(&s, argv[optind]);
	else if (s.list)
		code = list(&s);
	else if (s.check)
		code = check(&s, argc - optind, argv + optind);
	else
		code = run(&s, argc - optind, argv + optind);
	ing_conf_free(conf);
	return code;
}
