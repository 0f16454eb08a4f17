/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl page save: the bytes of a page, for a test of a scraping rule. It is fetched as the worker
 * fetches, or taken out of a WARC file. Content codings are removed, in a child with limits.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/io.h"
#include "common/data/decode.h"
#include "worker/conf/conf.h"
#include "worker/ctl/child.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/rules/page_fetch.h"
#include "worker/ctl/rules/page_name.h"
#include "worker/ctl/reexamine/read.h"

#define VERB "page"
#define TIMEOUT_MS 30000

struct page {
	const char *out; /* NULL: named after the URL */
	bool is_warc;
	struct ing_page_record record;
	struct ing_reexamine_body body;
	struct ing_buf text; /* without codings */
};

static const struct ing_option options[] = {
	{"out", "FILE",
		"name of the file; default: made of the URL, in the current folder. An existing file is not "
		"overwritten",
		.code = 'o', .letter = 'o', .words = ING_WORDS_FILE},
	{"warc", NULL, "the page is the record of this WARC file that begins at OFFSET",
		.code = 'w'},
	{0},
};

static const struct ing_usage save_usage = {
	.name = "page save",
	.synopsis = "[--out FILE] URL\n[--out FILE] --warc FILE OFFSET",
	.summary = "save a page for the tests of a scraping rule",
	.text = "Saves a page for the tests of a scraping rule, without content codings: fetched with the "
		"configured politeness (robots.txt, pauses), or out of the record of a WARC file that begins "
		"at OFFSET. Prints the item for the tests of the rule, to which expectations are added; "
		"\"ingestctl scrape --url URL FILE\" shows what the rules find in it now.",
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_page_usage,
};

static const struct ing_usage *const verbs_below[] = {&save_usage, NULL};

/* --- decoding --- */

static void decode(void *ctx, struct ing_buf *out)
{
	const struct page *p = ctx;
	void *data = mmap(NULL, p->body.bytes, PROT_READ, MAP_PRIVATE, p->body.fd, 0);
	struct ing_error err = {0};
	ing_buf_add_char(out, '+');
	int rc = data == MAP_FAILED
			 ? ing_error_sys(&err, errno, "mmap")
			 : ing_decode(p->body.content_encoding, data, p->body.bytes, out, &err);
	if (rc == 0)
		return;
	ing_buf_clear(out);
	ing_buf_printf(out, "-%s", err.msg);
}

static int read_text(struct page *p)
{
	struct ing_error err = {0};
	if (p->body.bytes == 0)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "the answer has no body");
	if (ing_ctl_child(decode, p, TIMEOUT_MS, &p->text, &err) != 0)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s", err.msg);
	const char *answer = ing_buf_str(&p->text);
	return answer[0] == '+' ? ING_CTL_OK
				: ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s", answer + 1);
}

/* --- writing --- */

static char *name_of(const struct page *p)
{
	const char *type = p->body.content_type;
	bool is_xml = type != NULL && strstr(type, "xml") != NULL && strstr(type, "html") == NULL;
	return ing_page_name(p->body.url, is_xml);
}

static int write_file(const struct page *p, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: %s", path, strerror(errno));
	int failed = ing_write_all(fd, ing_buf_str(&p->text) + 1, p->text.len - 1);
	if (close(fd) != 0 && failed == 0)
		failed = errno;
	if (failed == 0)
		return ING_CTL_OK;
	(void)unlink(path);
	return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: %s", path, strerror(failed));
}

/* Single quotes are YAML's: what is inside is taken as it is, but for themselves. */
static void print_quoted(const char *s)
{
	putchar('\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'')
			putchar('\'');
		putchar(*s);
	}
	putchar('\'');
}

static int save(struct page *p)
{
	if (p->body.url == NULL)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "the record names no URL");
	char *made = p->out == NULL ? name_of(p) : NULL;
	const char *path = made != NULL ? made : p->out;
	int code = write_file(p, path);
	if (code == ING_CTL_OK) {
		fputs("- page: ", stdout);
		print_quoted(path);
		fputs("\n  url: ", stdout);
		print_quoted(p->body.url);
		putchar('\n');
	}
	free(made);
	return code == ING_CTL_OK && !ing_ctl_flush_stdout(VERB) ? ING_CTL_ENVIRONMENT : code;
}

/* --- where it comes from --- */

static enum ing_ctl_exit exit_of(int rc)
{
	return rc == -ING_FAIL_INVALID || rc == -ING_FAIL_UNSUPPORTED || rc == -ING_FAIL_TOO_BIG
		       ? ING_CTL_NEGATIVE
		       : ING_CTL_ENVIRONMENT;
}

static int read_record(struct page *p, const struct ing_ctl *ctl, const char *path, uint64_t offset)
{
	struct ing_error err = {0};
	struct ing_conf *conf;
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	char *dir = ing_strdup(path);
	char *slash = strrchr(dir, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	if (slash != NULL)
		*slash = '\0';
	const char *dirs[] = {slash == NULL ? "." : slash == dir ? "/" : dir, NULL};
	const struct ing_reexamine_folders folders = {
		.dirs = dirs, .max_body_bytes = conf->fetch.max_body_bytes};
	const struct ing_row_cdx row = {.warc_path = name, .warc_offset = offset};
	int rc = ing_reexamine_read(&folders, &row, &p->body, &err);
	free(dir);
	ing_conf_free(conf);
	return rc == 0 ? ING_CTL_OK : ing_ctl_fail(exit_of(rc), VERB, "%s", err.msg);
}

static int fetch(struct page *p, const struct ing_ctl *ctl, const char *url)
{
	struct ing_error err = {0};
	int rc = ing_page_fetch(ctl, url, &p->record, &err);
	if (rc != 0)
		return ing_ctl_fail(exit_of(rc), VERB, "%s: %s", url, err.msg);
	return read_record(p, ctl, p->record.warc, p->record.offset);
}

static bool read_offset(const char *text, uint64_t *ret)
{
	return strcmp(text, "0") == 0 || ing_ctl_number(text, INT64_MAX, ret);
}

static int work(struct page *p, char **args, int count, const struct ing_ctl *ctl)
{
	uint64_t offset = 0;
	if (count != (p->is_warc ? 2 : 1))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			p->is_warc ? "save --warc needs a file and an offset"
				   : "save needs one URL");
	if (p->is_warc && !read_offset(args[1], &offset))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s: not an offset in bytes", args[1]);
	int code = p->is_warc ? read_record(p, ctl, args[0], offset) : fetch(p, ctl, args[0]);
	if (code == ING_CTL_OK)
		code = read_text(p);
	return code == ING_CTL_OK ? save(p) : code;
}

/* -1: go on. */
static int read_options(struct page *p, int argc, char **argv)
{
	for (;;) {
		int c = ing_usage_next(&ing_ctl_page_usage, argc, argv);
		switch (c) {
		case -1:
			return -1;
		case 'o':
			p->out = optarg;
			break;
		case 'w':
			p->is_warc = true;
			break;
		default:
			return ing_usage_code(c);
		}
	}
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_page_usage = {
	.name = "page",
	.summary = "save a page for the tests of a scraping rule",
	.options = options,
	.exits = {"saved", "there is no page to be saved", "usage", ING_EXIT_ENVIRONMENT},
	.below = verbs_below,
};

int ing_ctl_page(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct page p = {.body = {.fd = -1}};
	int code = read_options(&p, argc, argv);
	if (code != -1)
		return code;
	if (optind >= argc || strcmp(argv[optind], "save") != 0)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "page save URL, or page save --warc FILE OFFSET");
	code = work(&p, argv + optind + 1, argc - optind - 1, ctl);
	ing_buf_done(&p.text);
	ing_reexamine_body_done(&p.body);
	ing_page_record_done(&p.record);
	return code;
}
