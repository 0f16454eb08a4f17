/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl run: the whole pipeline without servers. Under --out a folder holds everything:
 * results.jsonl, pdf-text.jsonl and other derived files, dead-letters.jsonl, warc/, index.cdx (sorted at the end),
 * rule-yield.json, summary.json, with store.dir files/, and while it runs run.sock, by which `ingestctl hosts` asks it. A folder may be
 * used again: everything is appended to, but for rule-yield.json, which is this run's.
 *
 * This file has the command: options, configuration, folders, exit status. run_input turns lists into request
 * lines, run_work does the work, run_folder has the folder, run_done what has a result already, run_progress the words on stderr.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/descriptors.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/run/done.h"
#include "worker/ctl/run/folder.h"
#include "worker/ctl/run/input.h"
#include "worker/ctl/run/summary.h"
#include "worker/ctl/run/work.h"
#include "worker/ctl/requests/seed_source.h"

#define VERB "run"
/* Without --max-wait a host that is held for longer is not waited for. Nobody who watches a run
 * waits for hours; that of the daemon is gate.max_wait_ms. */
#define MAX_HOLD_SET "gate.max_hold_ms=60000"
#define MAX_WAIT_S 86400
#define MAX_FIRST_SETS 3

struct run {
	bool resume;
	const char *source; /* of --source */
	struct ing_run_input_plan
		plan; /* of the input; its name and descriptor are the work's, too */
	const char *settings[ING_RUN_INPUT_SETTINGS + 1];
	size_t setting_count;
	char *type_setting;          /* of --type; heap */
	struct ing_run_input *input; /* NULL: the file itself is read */
	struct ing_run_input_end input_end;
	int file_fd;                       /* -1: none was opened */
	long max_wait_s;                   /* -1: not given */
	char temp_dir[ING_CTL_TEMP_BYTES]; /* spool without --out; removed at the end */
	char *spool_dir;                   /* ours: removed at the end; spool.dir may be another */
	struct ing_conf *conf;
	struct ing_run_work work;
};

/* Our folders are empty by now; one that another process has put something into stays. */
static void remove_folders(const struct run *r)
{
	if (r->spool_dir != NULL)
		rmdir(r->spool_dir);
	if (r->temp_dir[0] != '\0')
		rmdir(r->temp_dir);
}

static int open_file(struct run *r, struct ing_error *err)
{
	if (strcmp(r->plan.name, "-") == 0) {
		r->plan.name = "stdin";
		r->plan.fd = STDIN_FILENO;
		return 0;
	}
	r->plan.fd = r->file_fd = open(r->plan.name, O_RDONLY | O_CLOEXEC);
	return r->file_fd >= 0 ? 0 : ing_error_sys(err, errno, "%s", r->plan.name);
}

static int open_input(struct run *r, struct ing_error *err)
{
	int rc = open_file(r, err);
	r->plan.dir = r->conf->seedlists_dir;
	r->plan.settings = r->settings;
	r->plan.quiet = r->work.quiet;
	if (rc == 0)
		rc = ing_run_input_open(&r->plan, &r->input, err);
	r->work.input = r->input;
	r->work.input_name = r->plan.name;
	r->work.input_fd = r->input != NULL ? ing_run_input_fd(r->input) : r->plan.fd;
	return rc;
}

/* For the bar: lines of a regular file. */
static void count_lines(struct run *r)
{
	struct stat st;
	if (fstat(r->work.input_fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	static char chunk[1 << 16];
	ssize_t n;
	bool open_line = false;
	off_t at = 0;
	while ((n = pread(r->work.input_fd, chunk, sizeof(chunk), at)) > 0) {
		at += n;
		for (ssize_t i = 0; i < n; i++) {
			r->work.counts.lines += chunk[i] == '\n';
			open_line = chunk[i] != '\n';
		}
	}
	r->work.counts.lines += open_line;
}

static char *join(const char *a, const char *b)
{
	struct ing_buf text;
	ing_buf_init(&text, 65536);
	ing_buf_printf(&text, "%s%s", a, b);
	return ing_buf_steal(&text);
}

/* Objects go to the worker's store no more than WARC files go to its folder: into files/, if there is a
 * folder for them at all. */
static int load_conf_with_store(
	const struct run *r, const struct ing_ctl *ctl, char **sets, struct ing_conf **ret)
{
	char no_bucket[] = "s3.endpoint=\"\"";
	char *first[MAX_FIRST_SETS + 3] = {0};
	size_t n = 0;
	for (; sets[n] != NULL; n++)
		first[n] = sets[n];
	first[n] = no_bucket;
	int code = ing_ctl_conf_over(ctl, first, ret);
	if (code != ING_CTL_OK)
		return code;
	bool wanted = r->work.out_dir != NULL && (*ret)->objects.dir[0] != '\0';
	char *dir = wanted ? join(r->work.out_dir, "/files") : ing_strdup("");
	ing_conf_free(ING_TAKE(*ret));
	first[n + 1] = ing_ctl_quoted_set("store.dir", dir);
	code = ing_ctl_conf_over(ctl, first, ret);
	free(first[n + 1]);
	free(dir);
	return code;
}

/* Our folders first, so that the command line's --set wins over them. */
static int load_conf(struct run *r, const struct ing_ctl *ctl)
{
	char max_hold[] = MAX_HOLD_SET;
	char *warc_dir = r->work.out_dir != NULL ? join(r->work.out_dir, "/warc") : ing_strdup("");
	r->spool_dir = join(r->work.out_dir != NULL ? r->work.out_dir : r->temp_dir, "/.spool");
	char *first[MAX_FIRST_SETS + 1] = {ing_ctl_quoted_set("warc.dir", warc_dir),
		ing_ctl_quoted_set("spool.dir", r->spool_dir), max_hold};
	int code = load_conf_with_store(r, ctl, first, &r->conf);
	free(first[0]);
	free(first[1]);
	free(warc_dir);
	if (code == ING_CTL_OK && r->max_wait_s >= 0) {
		r->conf->gate.max_wait_ms = (unsigned)r->max_wait_s * 1000;
		r->conf->gate.max_hold_ms = 0;
	}
	return code;
}

static void add_earlier(void *ctx, const struct json_t *result)
{
	ing_run_summary_add_earlier(ctx, result);
}

/* What the folder has: for the summary, and with --resume for what is to be skipped. */
static int read_earlier(struct run *r, struct ing_error *err)
{
	struct ing_run_done *before = NULL;
	r->work.summary = ing_run_summary_new(r->work.out_dir, r->conf->warc.dir);
	if (!r->resume && ing_run_folder_is_new(r->work.folder))
		return 0;
	int rc = ing_run_done_load(r->work.out_dir, add_earlier, r->work.summary, &before, err);
	if (rc == 0 && r->resume)
		r->work.before = before;
	else
		ing_run_done_free(before);
	return rc;
}

static int open_folder(struct run *r, struct ing_error *err)
{
	if (r->work.out_dir == NULL)
		return 0;
	int rc = ing_run_folder_open(r->work.out_dir, &r->work.folder, err);
	if (rc != 0)
		return rc;
	if (!r->resume && !ing_run_folder_is_new(r->work.folder))
		(void)ing_ctl_fail(ING_CTL_OK, VERB,
			"%s has results already: appending to them (--resume skips requests that have "
			"one)",
			r->work.out_dir);
	return read_earlier(r, err);
}

static void print_resumed(const struct run *r)
{
	if (r->work.before == NULL)
		return;
	fprintf(stderr, "ingestctl run: %s has %zu result%s\n", r->work.out_dir,
		ing_run_done_results(r->work.before),
		ING_PLURAL_S(ing_run_done_results(r->work.before)));
	if (ing_run_done_strange(r->work.before) > 0)
		fprintf(stderr,
			"ingestctl run: warning: lines of %s/results.jsonl that are not results: %zu\n",
			r->work.out_dir, ing_run_done_strange(r->work.before));
}

static void print_summary(const struct run *r)
{
	if (!r->work.quiet)
		ing_run_progress_summary(&r->work.progress);
	if (!r->work.interrupted)
		return;
	if (r->work.out_dir != NULL)
		fprintf(stderr,
			"ingestctl run: interrupted; the same command with --resume continues\n");
	else
		fprintf(stderr,
			"ingestctl run: interrupted; only a run with --out DIR can be resumed\n");
}

/* The daemon refuses to start without; here it may be a try on one's own server. */
static void warn_of_contact(const struct ing_conf *conf)
{
	if (!ing_conf_has_contact(conf->fetch.user_agent))
		(void)ing_ctl_fail(ING_CTL_OK, VERB,
			"warning: fetch.user_agent, \"%s\", contains no URL or mail address of the "
			"operator",
			conf->fetch.user_agent);
}

static int exit_code(const struct run *r)
{
	const struct ing_run_work *w = &r->work;
	if (w->failed)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", w->error.msg);
	if (w->interrupted)
		return ING_CTL_INTERRUPTED;
	if (r->input_end.failed)
		return ING_CTL_ENVIRONMENT;
	bool bad = w->counts.bad + w->counts.was_bad + r->input_end.bad > 0;
	return bad ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

static int run_all(struct run *r, const struct ing_ctl *ctl)
{
	struct ing_error err = {0};
	if (r->work.out_dir != NULL && !ing_utf8_valid(r->work.out_dir, strlen(r->work.out_dir)))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--out: the name is not valid UTF-8");
	int code = r->work.out_dir == NULL ? ing_ctl_temp_dir(VERB, r->temp_dir) : ING_CTL_OK;
	if (code == ING_CTL_OK)
		code = load_conf(r, ctl);
	if (code != ING_CTL_OK)
		return code;
	ing_log_init(ING_MIN(r->conf->log_level, ING_LOG_WARNING));
	ing_descriptors_reserve();
	warn_of_contact(r->conf);
	r->work.conf = r->conf;
	r->work.temp_dirs[0] = r->spool_dir;
	r->work.temp_dirs[1] = r->temp_dir[0] != '\0' ? r->temp_dir : NULL;
	if (r->source != NULL)
		code = ing_ctl_seed_source(
			VERB, r->conf->seedlists_dir, r->source, r->settings, &r->plan.source);
	if (code != ING_CTL_OK)
		return code;
	if (open_input(r, &err) != 0 || open_folder(r, &err) != 0 ||
		ing_run_work_open(&r->work, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	print_resumed(r);
	if (isatty(STDERR_FILENO) && r->input == NULL)
		count_lines(r);
	bool idle = ing_run_work_do(&r->work);
	print_summary(r);
	if (!idle)
		ing_run_work_leave(&r->work, exit_code(r));
	return ING_CTL_OK;
}

static void close_all(struct run *r)
{
	ing_run_work_close(&r->work);
	remove_folders(r);
	free(ING_TAKE(r->spool_dir));
	ing_seed_source_free(r->plan.source); /* when the input was not opened */
	r->input_end = ing_run_input_close(ING_TAKE(r->input));
	if (r->file_fd >= 0)
		close(r->file_fd);
	ing_conf_free(r->conf);
	ing_run_done_free(r->work.before);
	ing_run_summary_free(r->work.summary);
	free(ING_TAKE(r->type_setting));
}

/* The folder's last work: its index. */
static int finish_folder(struct run *r)
{
	struct ing_error err = {0};
	if (r->work.folder == NULL || ing_run_folder_finish(r->work.folder, &err) == 0)
		return exit_code(r);
	return r->work.failed ? exit_code(r)
			      : ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", err.msg);
}

static bool read_seconds(const char *text, long *ret)
{
	char *end;
	errno = 0;
	long n = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || n < 0 || n > MAX_WAIT_S)
		return false;
	*ret = n;
	return true;
}

static bool add_setting(struct run *r, const char *setting)
{
	if (r->setting_count < ING_RUN_INPUT_SETTINGS) {
		r->settings[r->setting_count++] = setting;
		return true;
	}
	(void)ing_ctl_fail(ING_CTL_USAGE, VERB, "more than %d options", ING_RUN_INPUT_SETTINGS);
	return false;
}

static const struct ing_option options[] = {
	{"out", "DIR", "output directory; existing files are appended to", .code = 'o',
		.letter = 'o', .words = ING_WORDS_DIR},
	{"resume", NULL,
		"skip requests that have a result in DIR: the same command continues after an interruption "
		"or a crash",
		.code = 'r'},
	{"source", "S",
		"the input is a list of this kind; without it, a file whose first line (after comments, #) "
		"begins with http:// or https:// is a list of URLs, and any other has requests",
		.code = 's', .words = ING_WORDS_SOURCES},
	{"option", "NAME=VALUE",
		"an option of the source, may be repeated; \"ingestctl seedlist S --help\" lists them",
		.code = 'O'},
	{"type", "TYPE",
		"what is wanted of each: --option ingest_type=TYPE. Default: pdf, or as the source says",
		.code = 't', .words = ING_WORDS_TYPES},
	{"max-wait", "S",
		"maximum time that a request waits in the queue of a host; if the host is held for longer, "
		"the request ends at once as host-backoff, with retry_after. 0: unlimited. Default: "
		"gate.max_wait_ms, and 60 s for hosts that are held (gate.max_hold_ms). With --out a "
		"request that may be worth another try is tried again, if that is due within this time",
		.code = 'w'},
	{"quiet", NULL, "no progress, and no summary at the end", .code = 'q'},
	{0},
};

/* -1: go on. */
static int read_options(struct run *r, int argc, char **argv)
{
	for (;;) {
		int c = ing_usage_next(&ing_ctl_run_usage, argc, argv);
		switch (c) {
		case -1:
			return -1;
		case 'o':
			r->work.out_dir = optarg;
			break;
		case 'r':
			r->resume = true;
			break;
		case 's':
			r->source = optarg;
			break;
		case 'O':
			if (!add_setting(r, optarg))
				return ING_CTL_USAGE;
			break;
		case 't':
			free(r->type_setting);
			r->type_setting = join("ingest_type=", optarg);
			break;
		case 'w':
			if (!read_seconds(optarg, &r->max_wait_s))
				return ing_ctl_fail(ING_CTL_USAGE, VERB,
					"--max-wait must be a number of seconds from 0 to %d",
					MAX_WAIT_S);
			break;
		case 'q':
			r->work.quiet = true;
			break;
		default:
			return ing_usage_code(c);
		}
	}
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_run_usage = {
	.name = "run",
	.synopsis = "[--out DIR [--resume]] [--source S [--option NAME=VALUE]...] [--type TYPE] "
		    "[--max-wait S] [--quiet] FILE|-",
	.summary = "run the whole pipeline without servers: requests in, results out",
	.text = "Reads ingest requests as JSON lines, or a list of URLs, a line each, or any other list by its "
		"source (\"ingestctl seedlist --list\"), also compressed (gzip, zstd, xz, bzip2), runs the whole "
		"pipeline without Kafka and PostgreSQL, and writes a result line for each: to stdout, or with "
		"--out to DIR/results.jsonl, beside\n\n"
		"  warc/*.warc.gz\twhat was fetched\n"
		"  index.cdx\tits index\n"
		"  pdf-text.jsonl\tthe text of PDF files\n"
		"  thumbnails.jsonl, xml-doc.jsonl, html-teixml.jsonl, grobid-output.jsonl\tother files that are "
		"made of documents, as a worker writes them to topics\n"
		"  dead-letters.jsonl\tlines that are not requests\n"
		"  rule-yield.json\tstatistics of the scraping rules\n"
		"  summary.json\twhat all runs in DIR have come to, brought up to date each minute\n"
		"  files/\tthe object store, if store.dir is set",
	.details =
		"summary.json says how many requests there were by status, type and host, hits, bytes, times, "
		"and the CPU time and TLS handshakes of the last run; its state is running, complete, interrupted or failed. s3.endpoint of the "
		"configuration file is not used. Only one run at a time can use a DIR. What of a list is left "
		"out is counted on standard error; records that cannot be read are named there. A list is "
		"converted to the same requests each time, so that --resume knows them. Requests beyond "
		"intake.host_share wait in hidden files of DIR, so a list may be in any order.\n\n"
		"SIGINT or SIGTERM stops the run: no request is started any more, and running ones may finish "
		"within stop.drain_ms; a second signal makes it exit at once. The exit status is then 4. The "
		"same command with --resume continues after a signal or a crash: it skips every request that "
		"has a result in DIR/results.jsonl, compared by ingest_type, base_url, link_source and "
		"link_source_id; a request that is in FILE several times gets as many results. A partial line "
		"left by a crash is removed. Requests that ended with host-backoff count as having a "
		"result.\n\n"
		"A warning is printed if fetch.user_agent contains no URL or mail address of the operator.",
	.options = options,
	.notes =
		"The hosts that are waited for are shown beside the progress bar, or, without a terminal, "
		"every 10 s. \"ingestctl hosts top --dir DIR\" and \"hosts explain --dir DIR HOST\" show "
		"details. SIGINT or SIGTERM stops the run, a second one at once.",
	.exits = {"all lines were valid", "some were not (reported on stderr)", ING_EXIT_USAGE,
		"the environment is not usable: a file, a permission, or a limit of file descriptors that is "
		"too low for gate.concurrency",
		ING_EXIT_INTERRUPTED},
	.examples =
		"Fetch one paper, without any server:\n\n"
		"  echo '{\"ingest_type\":\"pdf\",\"base_url\":\"https://journal.example/article/1\"}' |\n"
		"      ingestctl run --out d -\n\n"
		"Fetch the PDFs of a list of URLs, and the pages of a site:\n\n"
		"  ingestctl run --out d urls.txt.gz\n"
		"  ingestctl run --out pages --source sitemap --type html sitemap.xml.gz\n\n"
		"Resume a long list, waiting for slow hosts for at most five minutes, and show what it waits "
		"for:\n\n"
		"  ingestctl run --out d --resume --max-wait 300 list.jsonl\n"
		"  ingestctl hosts top --dir d",
	.operands = ING_WORDS_FILE,
};

int ing_ctl_run(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct run r = {.max_wait_s = -1,
		.file_fd = -1,
		.work = {.verb = VERB, .input_fd = -1, .results_fd = STDOUT_FILENO}};
	int code = read_options(&r, argc, argv);
	if (code >= 0)
		return code;
	if (optind != argc - 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give one FILE, or - for standard input");
	if (r.resume && r.work.out_dir == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--resume needs --out DIR");
	r.plan.name = argv[optind];
	if (r.type_setting == NULL || add_setting(&r, r.type_setting))
		code = run_all(&r, ctl);
	else
		code = ING_CTL_USAGE;
	close_all(&r);
	if (code == ING_CTL_OK)
		code = finish_folder(&r);
	ing_run_folder_free(r.work.folder);
	return code;
}
