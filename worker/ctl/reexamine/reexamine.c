/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl reexamine: documents are read back from our own WARC files, looked into by the examiners of today,
 * and what is found is written as a worker writes it. Nothing is fetched.
 *
 * This file has the command: options, what there is to look into, problems on stdout, the checkpoint, the
 * exit status. reexamine_work does the work.
 */
#include "worker/ctl/reexamine/reexamine.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/base/log.h"
#include "common/data/json.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/reexamine/checkpoint.h"
#include "worker/ctl/reexamine/compare.h"
#include "worker/ctl/reexamine/progress.h"
#include "worker/ctl/reexamine/work.h"

#define VERB ING_REEXAMINE
#define MAX_DIRS 16
#define MAX_SLICES 1000000
#define CHECKPOINT_MS 1000

#define PDFS                                                                                       \
	.types = {ING_INGEST_PDF, ING_INGEST_COMPONENT, ING_INGEST_SRC}, .type_count = 3,          \
	.mimetype = "application/pdf"

static const struct ing_reexamine_what whats[] = {
	{.name = "text",
		PDFS,
		.derived = 1u << ING_DERIVED_PDF_TEXT,
		.missing = "pdf_status IS DISTINCT FROM 'success'"},
	{.name = "thumbnail",
		PDFS,
		.derived = 1u << ING_DERIVED_THUMBNAIL,
		.missing = "has_page0_thumbnail IS NOT TRUE"},
	{.name = "html",
		.types = {ING_INGEST_HTML},
		.type_count = 1,
		.derived = 1u << ING_DERIVED_HTML_TEI,
		.missing = "html_status IS DISTINCT FROM 'success'"},
	{.name = "xml",
		.types = {ING_INGEST_XML},
		.type_count = 1,
		.derived = 1u << ING_DERIVED_JATS},
	{.name = "grobid",
		PDFS,
		.grobid = true,
		.derived = 1u << ING_DERIVED_GROBID_TEI,
		.missing =
			"(grobid_status_code = 200 AND coalesce(grobid_status, 'success') = 'success')"
			" IS NOT TRUE"},
	{.name = "scrape",
		.pages = true,
		.types = {ING_INGEST_PDF, ING_INGEST_HTML, ING_INGEST_XML, ING_INGEST_COMPONENT},
		.type_count = 4},
};

struct command {
	const char *what, *checkpoint;
	bool missing, all;
	const char *dirs[MAX_DIRS + 1];
	size_t dir_count, where_count;
	struct ing_conf *conf;
	struct ing_reexamine_task task;
	struct ing_reexamine_work work;
	struct ing_reexamine_progress progress;
	uint64_t started_ms, checkpoint_ms;
	bool checkpoint_failed;
};

/* --- what is told --- */

static void print_line(json_t *o)
{
	char *text = ing_json_dump(o, NULL);
	puts(text);
	free(text);
	json_decref(o);
}

static void on_problem(void *ctx, const struct ing_reexamine_document *d,
	const struct ing_reexamine_problem *problem)
{
	const struct command *c = ctx;
	json_t *o = json_object();
	ing_json_set_text(o, "sha1hex", d->sha1hex);
	ing_json_set_text(o, "ingest_type", ing_ingest_type_name(d->type));
	ing_json_set_text(o, "base_url", d->base_url);
	ing_json_set_text(o, "problem", problem->name);
	ing_json_set_text(o, "detail", problem->words);
	ing_json_set(o, "skipped", json_boolean(!problem->read_elsewhere));
	if (problem->capture != NULL) {
		ing_json_set_text(o, "url", problem->capture->url);
		ing_json_set_text(o, "datetime", problem->capture->datetime);
		ing_json_set_text(o, "warc_path", problem->capture->warc_path);
		ing_json_set_count(o, "warc_offset", problem->capture->warc_offset);
	}
	ing_reexamine_progress_clear(&c->progress);
	print_line(o);
}

static void print_summary(const struct command *c)
{
	const struct ing_reexamine_counts *n = &c->work.counts;
	uint64_t ms = ing_now_ms() - c->started_ms;
	json_t *o = json_object();
	ing_json_set_text(o, "what", c->task.what->name);
	ing_json_set_count(o, "examined", n->examined);
	ing_json_set_count(o, "skipped", n->skipped);
	ing_json_set_count(o, "bytes", n->bytes);
	if (c->work.compare != NULL)
		ing_json_set(o, "differences", ing_reexamine_compare_json(c->work.compare));
	ing_json_set(o, "seconds", json_real((double)ms / 1000));
	ing_json_set_text(o, "done_upto", c->work.done_upto);
	ing_json_set(o, "finished", json_boolean(c->work.finished));
	ing_reexamine_progress_clear(&c->progress);
	print_line(o);
}

static void write_checkpoint(struct command *c)
{
	struct ing_error err = {0};
	if (c->checkpoint == NULL || c->task.dry_run)
		return;
	if (ing_reexamine_checkpoint_write(
		    c->checkpoint, &c->task, c->work.done_upto, c->work.finished, &err) == 0 ||
		c->checkpoint_failed)
		return;
	c->checkpoint_failed = true;
	ing_reexamine_progress_clear(&c->progress);
	(void)ing_ctl_fail(ING_CTL_OK, VERB, "checkpoint: %s", err.msg);
}

static void on_tick(void *ctx)
{
	struct command *c = ctx;
	uint64_t now_ms = ing_now_ms();
	if (now_ms - c->checkpoint_ms >= CHECKPOINT_MS) {
		c->checkpoint_ms = now_ms;
		write_checkpoint(c);
		fflush(stdout);
	}
	ing_reexamine_progress_tick(
		&c->progress, c->work.done_upto, ing_reexamine_work_blocked_by(&c->work));
}

/* --- the work --- */

static int exit_code(const struct command *c)
{
	const struct ing_reexamine_work *w = &c->work;
	if (w->failed)
		return ing_ctl_fail(ing_ctl_exit_of(&w->error), VERB, "%s", w->error.msg);
	if (w->interrupted) {
		if (c->checkpoint == NULL)
			fprintf(stderr, "ingestctl " VERB ": --after %s goes on\n", w->done_upto);
		else
			fprintf(stderr, "ingestctl " VERB ": the same command goes on\n");
		return ING_CTL_INTERRUPTED;
	}
	return w->counts.skipped > 0 || c->checkpoint_failed ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

static int work(struct command *c)
{
	struct ing_reexamine_work *w = &c->work;
	struct ing_error err = {0};
	w->conf = c->conf;
	w->task = &c->task;
	w->on_problem = on_problem;
	w->on_tick = on_tick;
	w->ctx = c;
	c->started_ms = c->checkpoint_ms = ing_now_ms();
	if (ing_reexamine_work_open(w, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	ing_reexamine_progress_start(&c->progress, &c->task, &w->counts);
	ing_reexamine_work_do(w);
	write_checkpoint(c);
	print_summary(c);
	int code = exit_code(c);
	if (!ing_ctl_flush_stdout(VERB))
		code = ING_CTL_ENVIRONMENT;
	if (w->running > 0)
		_exit(code); /* a server holds them, and would hold the end of the process, too */
	return code;
}

/* --- the command line --- */

/* The K-th of N parts of all digests: greater than `after`, less than `to`. */
static void set_slice(struct ing_reexamine_task *t)
{
	uint64_t whole = (uint64_t)1 << 32;
	uint64_t from = whole * (t->slice - 1) / t->slices;
	uint64_t to = whole * t->slice / t->slices;
	snprintf(t->after, sizeof(t->after), "%s", "");
	if (from > 0)
		snprintf(t->after, sizeof(t->after), "%08" PRIx64, from);
	if (to == whole)
		snprintf(t->to, sizeof(t->to), "g"); /* behind every digit */
	else
		snprintf(t->to, sizeof(t->to), "%08" PRIx64, to);
}

static bool read_slice(const char *text, struct ing_reexamine_task *t)
{
	char *slash;
	errno = 0;
	unsigned long k = strtoul(text, &slash, 10);
	uint64_t n = 0;
	if (errno != 0 || text[0] < '0' || text[0] > '9' || *slash != '/' ||
		!ing_ctl_number(slash + 1, MAX_SLICES, &n) || k < 1 || k > n)
		return false;
	t->slice = (uint32_t)k;
	t->slices = (uint32_t)n;
	return true;
}

/* Is this a digest, or its beginning? */
static bool read_after(const char *text, char ret[41])
{
	size_t n = strlen(text);
	if (n > 40 || strspn(text, "0123456789abcdef") != n)
		return false;
	memcpy(ret, text, n + 1);
	return true;
}

static const struct ing_reexamine_what *find_what(const char *name)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(whats); i++)
		if (strcmp(whats[i].name, name) == 0)
			return &whats[i];
	return NULL;
}

static const struct ing_option options[] = {
	{"what", "WHAT", "what is made of them, as below", .code = 'w',
		.words = "text thumbnail html xml grobid scrape"},
	{"where", "CONDITION",
		"only documents for which this SQL condition holds, over the columns below; may be repeated: "
		"all must hold",
		.code = 'W'},
	{"missing", NULL, "only documents without a good row of it; not for xml and scrape",
		.code = 'm'},
	{"all", NULL, "with grobid: documents with a good row, too", .code = 'A'},
	{"slice", "K/N", "the K-th of N parts, for several machines", .code = 's'},
	{"after", "SHA1", "begin behind this digest", .code = 'a'},
	{"limit", "N", "end after N documents", .code = 'l'},
	{"checkpoint", "FILE", "keep in FILE how far it is; if it exists, go on there", .code = 'c',
		.words = ING_WORDS_FILE},
	{"warc-dir", "DIR", "look for files there, too, after warc.dir; may be repeated",
		.code = 'd', .words = ING_WORDS_DIR},
	{"dry-run", NULL, "read and examine, write nothing", .code = 'n'},
	{0},
};

/* -1: go on; else the exit code. */
static int take_option(void *ctx, int option)
{
	struct command *c = ctx;
	struct ing_reexamine_task *t = &c->task;
	switch (option) {
	case 'w':
		c->what = optarg;
		return -1;
	case 'W':
		if (c->where_count == ING_REEXAMINE_MAX_WHERE)
			return ing_ctl_fail(ING_CTL_USAGE, VERB,
				"--where: given more than %d times", ING_REEXAMINE_MAX_WHERE);
		t->where[c->where_count++] = optarg;
		return -1;
	case 'm':
		c->missing = true;
		return -1;
	case 'A':
		c->all = true;
		return -1;
	case 's':
		if (read_slice(optarg, t))
			return -1;
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--slice: expected K/N with 1 <= K <= N <= %d: %s", MAX_SLICES, optarg);
	case 'a':
		if (read_after(optarg, t->after))
			return -1;
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--after: no SHA-1 in hex: %s", optarg);
	case 'l':
		if (ing_ctl_number(optarg, UINT64_MAX / 2, &t->limit))
			return -1;
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--limit: not a positive number: %s", optarg);
	case 'c':
		c->checkpoint = optarg;
		return -1;
	case 'd':
		if (c->dir_count == MAX_DIRS - 1)
			return ing_ctl_fail(ING_CTL_USAGE, VERB, "--warc-dir: given too often");
		c->dirs[c->dir_count++] = optarg;
		return -1;
	case 'n':
		t->dry_run = true;
		return -1;
	default:
		return ING_CTL_USAGE;
	}
}

/* What the options mean together. -1: go on. */
static int settle_task(struct command *c)
{
	struct ing_reexamine_task *t = &c->task;
	char after[sizeof(t->after)];
	t->what = c->what != NULL ? find_what(c->what) : NULL;
	if (t->what == NULL)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--what must be one of text, thumbnail, html, xml");
	if (c->all && (!t->what->grobid || c->missing))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--all: only with --what grobid");
	c->missing |= t->what->grobid && !c->all;
	if (c->missing && t->what->missing == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--missing: the tables do not say which documents have no %s",
			t->what->name);
	if (c->missing)
		t->where[c->where_count++] = t->what->missing;
	memcpy(after, t->after, sizeof(after));
	set_slice(t);
	if (after[0] != '\0' && (strcmp(after, t->after) < 0 || strcmp(after, t->to) >= 0))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--after: %s is not in this slice", after);
	if (after[0] != '\0')
		memcpy(t->after, after, sizeof(after));
	return -1;
}

/* A folder that is missing would make every document a problem. -1: go on. */
static int check_folders(struct command *c)
{
	struct stat st;
	for (size_t i = c->dir_count; i > 0; i--)
		c->dirs[i] = c->dirs[i - 1];
	c->dirs[0] = c->conf->warc.dir;
	size_t first = c->conf->warc.dir[0] == '\0' ? 1 : 0;
	c->task.warc_dirs = c->dirs + first;
	if (c->task.warc_dirs[0] == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "neither warc.dir nor --warc-dir is set");
	for (const char *const *dir = c->task.warc_dirs; *dir != NULL; dir++) {
		if (stat(*dir, &st) != 0)
			return ing_ctl_fail(
				ING_CTL_ENVIRONMENT, VERB, "%s: %s", *dir, strerror(errno));
		if (!S_ISDIR(st.st_mode))
			return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: no folder", *dir);
	}
	return -1;
}

/* -1: go on. */
static int read_checkpoint(struct command *c)
{
	struct ing_error err = {0};
	bool finished = false;
	if (c->checkpoint == NULL)
		return -1;
	if (ing_reexamine_checkpoint_read(c->checkpoint, &c->task, &finished, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	if (!finished)
		return -1;
	return ing_ctl_fail(
		ING_CTL_OK, VERB, "%s: finished; remove it to begin again", c->checkpoint);
}

static int run(struct command *c)
{
	if (c->conf->postgres.dsn[0] == '\0')
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "postgres.dsn is not set");
	if (c->task.what->grobid && c->conf->grobid.url == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "grobid.url is not set");
	ing_log_init(ING_MIN(c->conf->log_level, ING_LOG_WARNING));
	ing_descriptors_reserve();
	int code = check_folders(c);
	if (code < 0)
		code = read_checkpoint(c);
	if (code >= 0)
		return code;
	code = work(c);
	ing_reexamine_work_close(&c->work);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_reexamine_usage = {
	.name = "reexamine",
	.synopsis = "--what WHAT [OPTION]...",
	.summary = "examine archived documents again, without fetching",
	.text = "Reads documents back from the WARC files in warc.dir, as the tables name them, examines them "
		"and writes rows, messages and objects as a worker does. Nothing is fetched.",
	.details =
		"That is for when a newer version extracts more, or when rows or messages were lost. The "
		"documents are those of the hits in ingest_file_result, in the order of their SHA-1; each is "
		"read where the table cdx has its bytes, and compared with the digests of the tables. In the "
		"JSON line of one that is skipped, problem is warc-missing, warc-damaged, warc-unreadable, "
		"no-capture, body-too-large, transfer-coding, digest-differs, wrong-mimetype or a status of "
		"examining; with skipped false another capture was read in its place. As everywhere, what is "
		"found by a failure never replaces what a success has found. The summary of scrape counts "
		"differences by rule and by host. A GROBID server that is away is waited for.\n\n"
		"After an interruption or a crash the same command with --checkpoint is given again, and at "
		"most the last documents are written twice, which changes nothing. Progress, rate and time "
		"left are shown on a terminal, otherwise a line every 10 s. A signal ends it when the "
		"documents that were begun are finished. Workers may run beside it.",
	.options = options,
	.notes =
		"WHAT is one of\n\n"
		"  text\ttext and facts of PDFs\n"
		"  thumbnail\tpicture of the first page of PDFs, and facts\n"
		"  html\tmain text and facts of pages\n"
		"  xml\tXML documents\n"
		"  grobid\twhat the GROBID server at grobid.url makes of PDFs; implies --missing\n"
		"  scrape\twrite nothing: compare what today's rules make of pages with what became of the "
		"requests that met them\n\n"
		"Columns: sha1hex, ingest_type, base_url, url, host, datetime, http_status, updated, mimetype, "
		"contains, size_bytes, pdf_status, has_page0_thumbnail, page_count, word_count, pdf_version, "
		"pdf_updated, html_status, scope, has_teixml, html_word_count, html_updated, resources, "
		"grobid_status, grobid_status_code, grobid_version, grobid_updated. Of pages (scrape): "
		"sha1hex, url, host, datetime, mimetype, and of the request ingest_type, base_url, "
		"terminal_url, hit, status, updated. For example:\n\n"
		"  --where \"host LIKE '%.example.org'\" --where \"pdf_updated < '2026-01-01'\"\n\n"
		"Documents that cannot be read back, or are others than the tables say, are skipped: a JSON "
		"line each on stdout. So are differences of scrape: a page has \"gained\" a link or document, "
		"\"lost\" it, or the status is \"changed\". The last line sums up. Conditions are run in a "
		"read-only session.",
	.exits = {ING_EXIT_OK, "documents were skipped", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT,
		ING_EXIT_INTERRUPTED},
	.examples =
		"Extract the text of all PDFs of a host again, on the second of four machines:\n\n"
		"  ingestctl reexamine --what text --where \"host = 'journal.example'\" \\\n"
		"      --slice 2/4 --checkpoint text-2.json",
};

int ing_ctl_reexamine(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct command c = {.task = {.slice = 1, .slices = 1}};
	optind = 1;
	int code = ing_usage_take_all(&ing_ctl_reexamine_usage, argc, argv, take_option, &c);
	if (code < 0)
		code = settle_task(&c);
	if (code >= 0)
		return code;
	code = ing_ctl_conf(ctl, &c.conf);
	if (code != ING_CTL_OK)
		return code;
	code = run(&c);
	ing_conf_free(c.conf);
	return code;
}
