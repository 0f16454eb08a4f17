/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl requests dump: stored requests as the lines that they came from.
 */
#include "worker/ctl/requests/dump.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/requests/requests.h"
#include "worker/ctl/requests/selection_options.h"
#include "worker/ctl/usage.h"

#define VERB "requests dump"
#define LINES_PER_LOOK 4096 /* at the clock */
#define SHOW_MS 1000

struct dump {
	struct ing_selection_options options;
	bool created, force_recrawl, interleave;
	const char *folder; /* NULL: standard output */
	uint64_t files;
	struct ing_dump_output output;
	bool shows; /* progress, on a terminal */
	uint64_t begun_ms, shown_ms;
};

static void show(struct dump *d, const char *end)
{
	uint64_t now = ing_now_ms();
	double s = (double)ING_MAX(now - d->begun_ms, (uint64_t)1) / 1000;
	d->shown_ms = now;
	fprintf(stderr, "%singestctl " VERB ": %" PRIu64 " requests, %.1f MB, %.0f requests/s%s",
		d->shows ? "\r" : "", d->output.lines, (double)d->output.bytes / 1e6,
		(double)d->output.lines / s, end);
}

static int add_line(struct dump *d, const struct ing_stored_request *q, struct ing_error *err)
{
	struct ing_buf *lines = ing_dump_line(&d->output);
	size_t before = lines->len;
	ing_stored_request_line(q, d->force_recrawl, d->created, lines);
	if (!ing_buf_add_char(lines, '\n'))
		return ing_error_set(err, ING_FAIL_TOO_BIG, "a request is too long");
	return ing_dump_added(&d->output, lines->len - before, err);
}

static int copy_lines(struct dump *d, struct ing_selection_reader *r, struct ing_error *err)
{
	struct ing_stored_request q;
	int rc;
	while ((rc = ing_selection_next(r, &q, err)) == 1) {
		rc = add_line(d, &q, err);
		if (rc != 0)
			return rc;
		if (d->shows && d->output.lines % LINES_PER_LOOK == 0 &&
			ing_now_ms() >= d->shown_ms + SHOW_MS)
			show(d, "");
	}
	return rc;
}

/* What was read before the server went away is as good as the rest would have been. */
static int end_broken(struct dump *d, const struct ing_error *err)
{
	struct ing_error ignored = {0};
	bool kept = d->folder == NULL && err->code != ING_FAIL_SYSTEM &&
		    ing_dump_finish(&d->output, &ignored) == 0;
	if (d->shows)
		putc('\n', stderr);
	if (d->folder != NULL)
		return ing_ctl_fail(
			ing_ctl_exit_of(err), VERB, "%s; no file was written", err->msg);
	return ing_ctl_fail(ing_ctl_exit_of(err), VERB, "%s; %s%" PRIu64 " requests were written",
		err->msg, kept ? "" : "at most ", d->output.lines);
}

static int write_all(struct dump *d, struct ing_selection_reader *r)
{
	struct ing_error err = {0};
	int rc = ing_dump_open(&d->output, d->folder, d->files, &err);
	if (rc != 0)
		return ing_selection_fail(VERB, &err);
	rc = copy_lines(d, r, &err);
	if (rc == 0)
		rc = ing_dump_finish(&d->output, &err);
	if (rc != 0)
		return end_broken(d, &err);
	ing_selection_explain(VERB, &d->options.selection, ing_selection_facts(r));
	show(d, "\n");
	return ING_CTL_OK;
}

static int dump(struct dump *d, const struct ing_conf *conf)
{
	struct ing_error err = {0};
	struct ing_selection_reader *r = NULL;
	d->begun_ms = ing_now_ms();
	d->shown_ms = d->begun_ms;
	d->shows = isatty(STDERR_FILENO) == 1;
	int rc = ing_selection_open(conf->postgres.dsn, &d->options.selection,
		d->interleave ? ING_ORDER_INTERLEAVED : ING_ORDER_STORED, &r, &err);
	if (rc != 0)
		return ing_selection_fail(VERB, &err);
	int code = write_all(d, r);
	ing_dump_close(&d->output);
	ing_selection_close(r);
	return code;
}

static const struct ing_option options[] = {
	{"out", "DIR",
		"into files of this folder: requests-0001.jsonl and so on, which are there when all of them "
		"are whole",
		.code = 'o', .words = ING_WORDS_DIR},
	{"files", "N", "so many files; lines go to them in turn (1)", .code = 'n'},
	{"interleave", NULL,
		"hosts (at a DOI resolver: DOI prefixes) spread evenly over the whole, each document once",
		.code = 'i'},
	{"created", NULL, "with the time when each was created", .code = 'c'},
	{"force-recrawl", NULL, "with force_recrawl: true", .code = 'f'},
	{0},
};

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int option)
{
	struct dump *d = ctx;
	int code;
	if (ing_selection_take_option(&d->options, VERB, option, &code))
		return code;
	switch (option) {
	case 'o':
		d->folder = optarg;
		return -1;
	case 'n':
		if (ing_ctl_number(optarg, ING_DUMP_MAX_FILES, &d->files))
			return -1;
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--files: no number from 1 to %d: %s",
			ING_DUMP_MAX_FILES, optarg);
	case 'i':
		d->interleave = true;
		return -1;
	case 'c':
		d->created = true;
		return -1;
	case 'f':
		d->force_recrawl = true;
		return -1;
	default:
		return ING_CTL_USAGE;
	}
}

static int run(struct dump *d, int argc, char **argv, const struct ing_ctl *ctl)
{
	struct ing_conf *conf;
	int code = ing_usage_take_all(&ing_ctl_requests_dump_usage, argc, argv, take_option, d);
	if (code >= 0)
		return code;
	if (d->folder == NULL && d->files > 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--files needs --out");
	code = ing_ctl_conf_with_database(ctl, VERB, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = dump(d, conf);
	ing_conf_free(conf);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_requests_dump_usage = {
	.name = "requests dump",
	.synopsis =
		"[--out DIR [--files N]] [--interleave] [--created] [--force-recrawl] [SELECTION]",
	.summary = "print stored requests as request lines",
	.text = "Prints the selected requests as the request lines that they came from, all of one moment.",
	.details =
		"When the database goes away (exit status 3), what was printed ends with a whole line.",
	.options = options,
	.shared = ing_selection_shared,
	.exits = {ING_EXIT_OK, NULL, ING_EXIT_USAGE,
		"the database cannot be reached or went away: then it is said how many lines were written"},
};

int ing_ctl_requests_dump(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct dump d = {.files = 1};
	ing_selection_options_init(&d.options);
	int code = run(&d, argc, argv, ctl);
	ing_selection_options_done(&d.options);
	return code;
}
