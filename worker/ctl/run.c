/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl run: the whole pipeline without servers. The same stages as the daemon's, with lines of
 * a file in place of Kafka, no database, and under --out a folder that holds everything:
 * results.jsonl, pdf-text.jsonl, dead-letters.jsonl, warc/, index.cdx (sorted at the end),
 * rule-yield.json. A folder may be used again: everything is appended to, but for the last, which
 * is this run's.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "common/record/cdx.h"
#include "worker/conf/conf.h"
#include "worker/ctl/cdx_index.h"
#include "worker/ctl/ctl.h"
#include "worker/emit/emit.h"
#include "worker/engine.h"
#include "worker/job/job.h"

#define VERB "run"
#define POLL_MS 10
#define PROGRESS_MS 200
#define BAR_CHARS 30

struct run {
	const char *input_name, *out_dir;
	char temp_dir[64]; /* spool without --out; removed at the end */
	char *spool_dir;   /* ours: removed at the end; spool.dir may be another */
	int input_fd, results_fd, lock_fd;
	FILE *cdx;
	struct ing_conf *conf;
	struct ing_engine engine;
	struct ing_intake *intake;
	struct ing_emit *emit;
	uv_timer_t poll, progress;
	uv_signal_t on_term, on_int;
	bool ended, stopping, failed;
	uint64_t total_lines; /* 0: not known */
	uint64_t started_ms, done, hits, dead;
	struct ing_error error;
};

/* --- progress, on a terminal only --- */

static void print_progress(const struct run *r)
{
	char bar[BAR_CHARS + 1] = "";
	uint64_t finished = r->done + r->dead;
	uint64_t seconds = (ing_now_ms() - r->started_ms) / 1000;
	if (r->total_lines > 0) {
		size_t full =
			(size_t)(ING_MIN(finished, r->total_lines) * BAR_CHARS / r->total_lines);
		memset(bar, '.', BAR_CHARS);
		memset(bar, '#', full);
		fprintf(stderr,
			"\r[%s] %" PRIu64 "/%" PRIu64 "  %" PRIu64 " hits  %" PRIu64
			" bad  %" PRIu64 " s \033[K",
			bar, finished, r->total_lines, r->hits, r->dead, seconds);
	} else {
		fprintf(stderr,
			"\r%" PRIu64 " done  %" PRIu64 " hits  %" PRIu64 " bad  %" PRIu64
			" s \033[K",
			finished, r->hits, r->dead, seconds);
	}
}

static void on_progress(uv_timer_t *t)
{
	print_progress(t->data);
}

/* --- events --- */

static void stop_loop(struct run *r)
{
	uv_stop(&r->engine.loop);
}

static void on_poll(uv_timer_t *t)
{
	struct run *r = t->data;
	if (!r->ended && !r->stopping && !r->failed)
		return;
	ing_engine_settle(&r->engine);
	if (ing_engine_idle(&r->engine) && ing_emit_outstanding(r->emit) == 0)
		stop_loop(r);
	else if (r->failed)
		ing_engine_cancel(&r->engine);
}

static void on_message(void *ctx, const struct ing_message *m)
{
	struct run *r = ctx;
	ing_pipeline_on_message(r->engine.pipeline, m);
}

static void on_revoked(void *ctx, int32_t partition_slot, uint32_t epoch)
{
	(void)ctx; /* lines have one owner */
	(void)partition_slot;
	(void)epoch;
}

static void on_assigned(void *ctx, unsigned partitions)
{
	(void)ctx;
	(void)partitions;
}

static void on_end(void *ctx)
{
	struct run *r = ctx;
	r->ended = true;
}

/* Nothing more is read; on_poll() calls off what is under way. */
static void on_fatal(void *ctx, const struct ing_error *err)
{
	struct run *r = ctx;
	if (r->failed)
		return;
	r->error = *err;
	r->failed = true;
	ing_intake_stop(r->intake);
	ing_pipeline_drain(r->engine.pipeline);
}

/* The words may quote the line, and what a line does to a terminal is not its author's to say. */
static void print_harmless(const char *words)
{
	for (const char *c = words; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			fprintf(stderr, "\\x%02x", (unsigned)(unsigned char)*c);
		else
			fputc(*c, stderr);
	}
}

static void on_dead(void *ctx, const struct ing_message *m, const struct ing_error *err)
{
	struct run *r = ctx;
	r->dead++;
	fprintf(stderr, "%s%s:%lld: ", isatty(STDERR_FILENO) ? "\r\033[K" : "", m->topic,
		(long long)m->token.offset);
	print_harmless(err->msg);
	fputc('\n', stderr);
}

static void on_result(void *ctx, enum ing_status status, const char *url)
{
	struct run *r = ctx;
	(void)url;
	r->done++;
	r->hits += status == ING_STATUS_SUCCESS;
}

static void on_cdx(void *ctx, const struct ing_cdx *row)
{
	struct run *r = ctx;
	struct ing_buf line;
	ing_buf_init(&line, ING_CDX_MAX_BYTES);
	if (r->cdx != NULL && ing_cdx_format(row, &line) &&
		fwrite(line.data, 1, line.len, r->cdx) != line.len) {
		struct ing_error err = {0};
		ing_error_sys(&err, errno, "%s/index.cdx", r->out_dir);
		on_fatal(r, &err);
	}
	ing_buf_done(&line);
}

/* Our folders are empty by now; one that another process has put something into stays. */
static void remove_folders(const struct run *r)
{
	if (r->spool_dir != NULL)
		rmdir(r->spool_dir);
	if (r->temp_dir[0] != '\0')
		rmdir(r->temp_dir);
}

static void on_signal(uv_signal_t *s, int signum)
{
	struct run *r = s->data;
	(void)signum;
	if (r->stopping) {
		remove_folders(r);
		_exit(ING_CTL_NEGATIVE);
	}
	r->stopping = true;
	fprintf(stderr,
		"\ningestctl run: stopping; what is under way may finish (again to leave at once)\n");
	ing_intake_stop(r->intake);
	ing_pipeline_drain(r->engine.pipeline);
}

/* --- set-up --- */

/* A line that a crash has cut off is nobody's result: it goes, so that the next one does not
 * continue it. */
static int cut_partial_line(const char *path, struct ing_error *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : ing_error_sys(err, errno, "%s", path);
	off_t end = lseek(fd, 0, SEEK_END);
	off_t keep = end;
	char last = '\n';
	while (keep > 0 && pread(fd, &last, 1, keep - 1) == 1 && last != '\n')
		keep--;
	int rc = 0;
	if (keep != end && ftruncate(fd, keep) != 0)
		rc = ing_error_sys(err, errno, "%s", path);
	close(fd);
	return rc;
}

static int cut_partial_lines(const struct run *r, struct ing_error *err)
{
	static const char *const names[] = {
		"results.jsonl", "index.cdx", "pdf-text.jsonl", "dead-letters.jsonl"};
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		char path[4096];
		snprintf(path, sizeof(path), "%s/%s", r->out_dir, names[i]);
		int rc = cut_partial_line(path, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int open_folder(struct run *r, struct ing_error *err)
{
	char path[4096];
	if (mkdir(r->out_dir, 0755) != 0 && errno != EEXIST)
		return ing_error_sys(err, errno, "--out: cannot make %s", r->out_dir);
	snprintf(path, sizeof(path), "%s/.lock", r->out_dir);
	r->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (r->lock_fd < 0)
		return ing_error_sys(err, errno, "%s", path);
	if (flock(r->lock_fd, LOCK_EX | LOCK_NB) != 0)
		return ing_error_set(
			err, ING_FAIL_LOCKED, "%s: another run is using this folder", r->out_dir);
	int rc = cut_partial_lines(r, err);
	if (rc != 0)
		return rc;
	snprintf(path, sizeof(path), "%s/results.jsonl", r->out_dir);
	r->results_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (r->results_fd < 0)
		return ing_error_sys(err, errno, "%s", path);
	snprintf(path, sizeof(path), "%s/index.cdx", r->out_dir);
	r->cdx = fopen(path, "ae");
	if (r->cdx == NULL)
		return ing_error_sys(err, errno, "%s", path);
	setvbuf(r->cdx, NULL, _IOLBF, 0);
	return 0;
}

static int open_input(struct run *r, struct ing_error *err)
{
	if (strcmp(r->input_name, "-") == 0) {
		r->input_fd = STDIN_FILENO;
		r->input_name = "stdin";
		return 0;
	}
	r->input_fd = open(r->input_name, O_RDONLY | O_CLOEXEC);
	if (r->input_fd < 0)
		return ing_error_sys(err, errno, "%s", r->input_name);
	return 0;
}

/* For the bar: lines of a regular file. */
static void count_lines(struct run *r)
{
	struct stat st;
	if (fstat(r->input_fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	static char chunk[1 << 16];
	ssize_t n;
	bool open_line = false;
	off_t at = 0;
	while ((n = pread(r->input_fd, chunk, sizeof(chunk), at)) > 0) {
		at += n;
		for (ssize_t i = 0; i < n; i++) {
			r->total_lines += chunk[i] == '\n';
			open_line = chunk[i] != '\n';
		}
	}
	r->total_lines += open_line;
}

static char *join(const char *a, const char *b, const char *c)
{
	struct ing_buf text;
	ing_buf_init(&text, 65536);
	ing_buf_printf(&text, "%s%s%s", a, b, c);
	return ing_buf_steal(&text);
}

/* KEY="VALUE" with VALUE quoted as JSON, which YAML reads the same. Heap. */
static char *quoted_set(const char *key, const char *path)
{
	json_t *s = json_string(path);
	ing_must(s != NULL); /* run_all() has seen to UTF-8 */
	char *quoted = json_dumps(s, JSON_ENCODE_ANY);
	char *set = join(key, "=", quoted);
	free(quoted);
	json_decref(s);
	return set;
}

/* Our folders first, so that the command line's --set wins over them. */
static int load_conf(struct run *r, const struct ing_ctl *ctl)
{
	size_t n = 0;
	while (ctl->sets[n] != NULL)
		n++;
	char **sets = ing_alloc((n + 3) * sizeof(*sets));
	char *warc_dir = r->out_dir != NULL ? join(r->out_dir, "/warc", "") : ing_strdup("");
	r->spool_dir = join(r->out_dir != NULL ? r->out_dir : r->temp_dir, "/.spool", "");
	sets[0] = quoted_set("warc.dir", warc_dir);
	sets[1] = quoted_set("spool.dir", r->spool_dir);
	free(warc_dir);
	memcpy(sets + 2, ctl->sets, n * sizeof(*sets));
	struct ing_ctl with_ours = {.config_file = ctl->config_file, .sets = sets};
	int code = ing_ctl_conf(&with_ours, &r->conf);
	free(sets[0]);
	free(sets[1]);
	free(sets);
	return code;
}

static int open_stages(struct run *r, struct ing_error *err)
{
	struct ing_intake_events events = {
		.ctx = r,
		.on_message = on_message,
		.on_revoked = on_revoked,
		.on_assigned = on_assigned,
		.on_end = on_end,
		.on_fatal = on_fatal,
	};
	int rc = ing_engine_init(&r->engine, r->conf, ING_ENGINE_ALONE, err);
	if (rc == 0)
		rc = ing_emit_lines_new(&r->engine.loop, r->results_fd, r->out_dir, &r->emit, err);
	if (rc == 0)
		ing_emit_lines_on_fatal(r->emit, on_fatal, r);
	if (rc == 0)
		rc = ing_intake_lines_new(
			&r->engine.loop, r->input_fd, r->input_name, &events, &r->intake, err);
	if (rc != 0)
		return rc;
	ing_engine_wire(&r->engine, &(struct ing_stages){
					    .intake = r->intake,
					    .emit = r->emit,
					    .on_cdx = on_cdx,
					    .on_result = on_result,
					    .on_dead = on_dead,
					    .ctx = r,
					    .output = "output",
				    });
	return 0;
}

static void run_loop(struct run *r)
{
	uv_loop_t *loop = &r->engine.loop;
	bool bar = isatty(STDERR_FILENO) != 0;
	uv_timer_init(loop, &r->poll);
	uv_timer_init(loop, &r->progress);
	uv_signal_init(loop, &r->on_term);
	uv_signal_init(loop, &r->on_int);
	r->poll.data = r->progress.data = r->on_term.data = r->on_int.data = r;
	uv_timer_start(&r->poll, on_poll, POLL_MS, POLL_MS);
	uv_signal_start(&r->on_term, on_signal, SIGTERM);
	uv_signal_start(&r->on_int, on_signal, SIGINT);
	if (bar)
		uv_timer_start(&r->progress, on_progress, PROGRESS_MS, PROGRESS_MS);
	r->started_ms = ing_now_ms();
	ing_intake_start(r->intake);
	ing_engine_run(&r->engine);
	if (bar) {
		print_progress(r);
		fputc('\n', stderr);
	}
	uv_close((uv_handle_t *)&r->poll, NULL);
	uv_close((uv_handle_t *)&r->progress, NULL);
	uv_close((uv_handle_t *)&r->on_term, NULL);
	uv_close((uv_handle_t *)&r->on_int, NULL);
}

/* What came of each rule, beside the results. */
static void write_yield(const struct run *r)
{
	if (r->out_dir == NULL)
		return;
	char *path = join(r->out_dir, "/rule-yield.json", "");
	ing_engine_write_yield(&r->engine, path);
	free(path);
}

static void close_all(struct run *r)
{
	ing_intake_free(ING_TAKE(r->intake));
	ing_emit_free(ING_TAKE(r->emit));
	ing_engine_done(&r->engine);
	if (r->cdx != NULL && fclose(r->cdx) != 0 && !r->failed) {
		ing_error_sys(&r->error, errno, "%s/index.cdx", r->out_dir);
		r->failed = true;
	}
	remove_folders(r);
	free(ING_TAKE(r->spool_dir));
	if (r->input_fd > STDERR_FILENO)
		close(r->input_fd);
	if (r->out_dir != NULL && r->results_fd > STDERR_FILENO)
		close(r->results_fd);
	ing_conf_free(r->conf);
}

/* The daemon refuses to start without; here it may be a try on one's own server. */
static void warn_of_contact(const struct ing_conf *conf)
{
	if (!ing_conf_has_contact(conf->fetch.user_agent))
		(void)ing_ctl_fail(ING_CTL_OK, VERB,
			"warning: servers cannot tell who asks: fetch.user_agent, \"%s\", holds "
			"neither a URL nor a mail address",
			conf->fetch.user_agent);
}

static int run_all(struct run *r, const struct ing_ctl *ctl)
{
	struct ing_error err = {0};
	if (r->out_dir != NULL && !ing_utf8_valid(r->out_dir, strlen(r->out_dir)))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--out: the name is not valid UTF-8");
	if (r->out_dir == NULL) {
		const char *tmp = getenv("TMPDIR");
		if (tmp != NULL && !ing_utf8_valid(tmp, strlen(tmp)))
			tmp = NULL;
		snprintf(r->temp_dir, sizeof(r->temp_dir), "%s/ingestctl.XXXXXX",
			tmp != NULL && strlen(tmp) < 40 ? tmp : "/tmp");
		if (mkdtemp(r->temp_dir) == NULL) {
			int saved = errno;
			const char *words = strerror(saved);
			int code = ing_ctl_fail(
				ING_CTL_ENVIRONMENT, VERB, "%s: %s", r->temp_dir, words);
			r->temp_dir[0] = '\0';
			return code;
		}
	}
	int code = load_conf(r, ctl);
	if (code != ING_CTL_OK)
		return code;
	ing_log_init(ING_MIN(r->conf->log.level, ING_LOG_WARNING));
	ing_descriptors_reserve();
	warn_of_contact(r->conf);
	if (open_input(r, &err) != 0 || (r->out_dir != NULL && open_folder(r, &err) != 0) ||
		open_stages(r, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	if (isatty(STDERR_FILENO))
		count_lines(r);
	run_loop(r);
	write_yield(r);
	return ING_CTL_OK;
}

static void print_help(void)
{
	printf("usage: ingestctl [--config FILE] [--set KEY=VALUE]... run [--out DIR] FILE|-\n\n"
	       "Reads ingest requests as JSON lines, fetches and examines, and writes a result line for\n"
	       "each: to stdout, or with --out to DIR/results.jsonl beside DIR/warc/*.warc.gz, DIR/index.cdx,\n"
	       "DIR/pdf-text.jsonl, DIR/dead-letters.jsonl and DIR/rule-yield.json (what came of each\n"
	       "scraping rule). Needs neither Kafka nor PostgreSQL.\n\n"
	       "Exit status: 0 all lines were readable, 1 some were not (they are named on stderr),\n"
	       "2 usage or configuration, 3 something of the machine is missing or full.\n");
}

/* ----------------------------------------------------------------------------------------------------------
 */

int ing_ctl_run(int argc, char **argv, const struct ing_ctl *ctl)
{
	static const struct option options[] = {
		{"out", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct run r = {.input_fd = -1, .results_fd = STDOUT_FILENO, .lock_fd = -1};
	for (;;) {
		int c = ing_ctl_option(argc, argv, "o:h", options);
		if (c == -1)
			break;
		if (c == 'h') {
			print_help();
			return ING_CTL_OK;
		}
		if (c != 'o')
			return ING_CTL_USAGE;
		r.out_dir = optarg;
	}
	if (optind != argc - 1)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give one FILE, or - for standard input");
	r.input_name = argv[optind];
	int code = run_all(&r, ctl);
	close_all(&r);
	if (code == ING_CTL_OK && r.out_dir != NULL && !r.failed &&
		ing_cdx_index_sort(r.out_dir, &r.error) != 0)
		r.failed = true;
	if (r.lock_fd >= 0)
		close(r.lock_fd);
	if (code == ING_CTL_OK && r.failed)
		code = ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", r.error.msg);
	if (code == ING_CTL_OK && (r.dead > 0 || r.stopping))
		code = ING_CTL_NEGATIVE;
	return code;
}
