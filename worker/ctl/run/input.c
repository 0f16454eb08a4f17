/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One thread, which blocks in read(2) of the input and in write(2) of the pipe. It ends when the input does, or when the pipe
 * has no reader any more. Both sides hold the object: whoever leaves last frees it.
 */
#include "worker/ctl/run/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/io.h"
#include "common/base/signals.h"
#include "common/data/unpack.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/requests/seed_report.h"
#include "worker/ctl/requests/seed_source.h"
#include "worker/model/limits.h"
#include "worker/seeds/convert.h"

#define VERB "run"
#define URLS "urls" /* the source of lists of URLs */
#define BLOCK_BYTES ((size_t)64 << 10)
#define FRONT_BYTES 4096

struct ing_run_input {
	struct ing_run_input_plan plan; /* all of it copies: the thread may outlive who made it */
	char *settings[ING_RUN_INPUT_SETTINGS + 1];
	struct ing_seed_source *source; /* NULL: not known, or request lines */
	int fd;                         /* a descriptor of our own: the plan's may be closed */
	int pipe_fd[2];                 /* read, write */
	pthread_t thread;
	atomic_bool ended; /* nothing but freeing is left to the thread */
	atomic_int holders;
	struct ing_buf line;
	struct ing_seed_bad_records bad;
	atomic_bool failed;
};

static void release(struct ing_run_input *in)
{
	if (atomic_fetch_sub(&in->holders, 1) > 1)
		return;
	for (char **setting = in->settings; *setting != NULL; setting++)
		free(*setting);
	free((char *)(uintptr_t)in->plan.name);
	free((char *)(uintptr_t)in->plan.dir);
	close(in->fd);
	ing_seed_source_free(in->source);
	ing_buf_done(&in->line);
	free(in);
}

/* --- what it is --- */

enum form { UNDECIDED, REQUESTS, URL_LIST };

/* By the front of the input; at its end, or when there is enough of it, a decision is made. */
static enum form form_of(const char *front, size_t bytes, bool whole)
{
	const char *end = front + bytes;
	if (bytes >= 3 && memcmp(front, "\xef\xbb\xbf", 3) == 0)
		front += 3;
	while (front < end) {
		while (front < end && memchr(" \t\r\n", *front, 4) != NULL)
			front++;
		size_t left = (size_t)(end - front);
		if (left == 0)
			break;
		if (*front != '#') {
			if (left >= 8 && (strncasecmp(front, "http://", 7) == 0 ||
						 strncasecmp(front, "https://", 8) == 0))
				return URL_LIST;
			if (left >= 8 || whole || strncasecmp(front, "https://", left) != 0)
				return REQUESTS;
			break;
		}
		const char *newline = memchr(front, '\n', left);
		front = newline != NULL ? newline + 1 : end;
	}
	return whole ? REQUESTS : UNDECIDED;
}

/* A file that intake reads by itself. */
static bool is_direct(const struct ing_run_input_plan *plan)
{
	struct stat st;
	char front[FRONT_BYTES];
	if (plan->source != NULL)
		return false;
	if (isatty(plan->fd))
		return true;
	if (fstat(plan->fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	off_t at = lseek(plan->fd, 0, SEEK_CUR);
	ssize_t n = at >= 0 ? pread(plan->fd, front, sizeof(front), at) : -1;
	size_t blank = 0;
	while (n > 0 && blank < (size_t)n && memchr(" \t\r\n", front[blank], 4) != NULL)
		blank++;
	return n >= 0 && blank < (size_t)n && front[blank] == '{';
}

/* --- the thread --- */

static bool put_line(void *ctx, int64_t number, const char *json, size_t bytes)
{
	struct ing_run_input *in = ctx;
	(void)number;
	ing_buf_clear(&in->line);
	ing_buf_add(&in->line, json, bytes);
	ing_buf_add_char(&in->line, '\n');
	return !in->line.failed && ing_write_all(in->pipe_fd[1], in->line.data, in->line.len) == 0;
}

static void print_bad(void *ctx, int64_t number, const char *why)
{
	struct ing_run_input *in = ctx;
	ing_seed_print_bad(&in->bad, number, why);
}

static void fail(struct ing_run_input *in, const struct ing_error *err)
{
	atomic_store(&in->failed, true);
	(void)ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s: %s", in->plan.name, err->msg);
}

static void end_conversion(
	struct ing_run_input *in, struct ing_seed_converter *c, int rc, const struct ing_error *err)
{
	if (rc != 0 && rc != -ING_FAIL_CANCELLED)
		fail(in, err);
	if (!in->plan.quiet && rc != -ING_FAIL_CANCELLED)
		ing_seed_print_counts(VERB, ing_seed_converter_counts(c));
	ing_seed_converter_free(c);
}

static void convert(struct ing_run_input *in)
{
	const struct ing_seed_sink sink = {put_line, print_bad, in};
	struct ing_error err = {0};
	struct ing_seed_converter *c = ing_seed_converter_new(in->source, &sink);
	int rc = ing_seed_converter_read(c, in->fd, &err);
	end_conversion(in, c, rc, &err);
}

/* The front, and what comes behind it, to the converter or as it is. */
static void read_on(struct ing_run_input *in, struct ing_unpack *u, struct ing_buf *front,
	struct ing_seed_converter *c)
{
	struct ing_error err = {0};
	char *block = ing_alloc(BLOCK_BYTES);
	const char *from = ing_buf_str(front);
	ssize_t n = (ssize_t)front->len;
	int rc = 0;
	do {
		if (n > 0 && c != NULL)
			rc = ing_seed_converter_feed(c, from, (size_t)n, &err);
		else if (n > 0 && ing_write_all(in->pipe_fd[1], from, (size_t)n) != 0)
			rc = -ING_FAIL_CANCELLED;
		from = block;
		if (rc == 0)
			n = ing_unpack_read(u, block, BLOCK_BYTES, &err);
	} while (n > 0 && rc == 0);
	free(block);
	if (rc == 0 && n < 0)
		rc = (int)n;
	if (c != NULL && rc == 0)
		rc = ing_seed_converter_end(c, &err);
	if (c != NULL)
		end_conversion(in, c, rc, &err);
	else if (rc != 0 && rc != -ING_FAIL_CANCELLED)
		fail(in, &err);
}

static void read_urls(struct ing_run_input *in, struct ing_unpack *u, struct ing_buf *front)
{
	const struct ing_seed_sink sink = {put_line, print_bad, in};
	if (ing_ctl_seed_source(VERB, in->plan.dir, URLS, (const char *const *)in->settings,
		    &in->source) != ING_CTL_OK) {
		atomic_store(&in->failed, true);
		return;
	}
	if (!in->plan.quiet)
		fprintf(stderr, "ingestctl " VERB ": %s is a list of URLs (--source " URLS ")\n",
			in->plan.name);
	read_on(in, u, front, ing_seed_converter_new(in->source, &sink));
}

static void decide(struct ing_run_input *in)
{
	struct ing_unpack *u = ing_unpack_new(in->fd);
	struct ing_error err = {0};
	struct ing_buf front;
	enum form form = UNDECIDED;
	ing_buf_init(&front, BLOCK_BYTES);
	ssize_t n = 0;
	while (form == UNDECIDED) {
		size_t room = BLOCK_BYTES - front.len;
		n = ing_unpack_read(u, ing_buf_reserve(&front, room), room, &err);
		ing_buf_commit(&front, n > 0 ? (size_t)n : 0);
		form = form_of(front.data, front.len, n <= 0 || front.len == BLOCK_BYTES);
	}
	if (form == REQUESTS && in->settings[0] != NULL)
		ing_error_set(&err, ING_FAIL_USAGE,
			"these are request lines: --type and --option are for lists");
	if (err.code == ING_FAIL_USAGE)
		fail(in, &err);
	else if (form == URL_LIST)
		read_urls(in, u, &front);
	else
		read_on(in, u, &front, NULL);
	ing_buf_done(&front);
	ing_unpack_free(u);
}

static void *run_thread(void *ctx)
{
	struct ing_run_input *in = ctx;
	if (in->source != NULL)
		convert(in);
	else
		decide(in);
	atomic_store(&in->ended, true);
	close(in->pipe_fd[1]);
	release(in);
	return NULL;
}

static void copy_plan(struct ing_run_input *in, const struct ing_run_input_plan *plan)
{
	in->plan = (struct ing_run_input_plan){
		.name = ing_strdup(plan->name), .dir = ing_strdup(plan->dir), .quiet = plan->quiet};
	for (size_t i = 0; plan->settings[i] != NULL && i < ING_RUN_INPUT_SETTINGS; i++)
		in->settings[i] = ing_strdup(plan->settings[i]);
}

/* -------------------------------------------------------------------------------------------- */

int ing_run_input_open(
	struct ing_run_input_plan *plan, struct ing_run_input **ret, struct ing_error *err)
{
	*ret = NULL;
	if (is_direct(plan)) {
		if (plan->settings[0] != NULL)
			return ing_error_set(err, ING_FAIL_USAGE,
				"%s: these are request lines: --type and --option are for lists",
				plan->name);
		return 0;
	}
	struct ing_run_input *in = ing_alloc(sizeof(*in));
	copy_plan(in, plan);
	in->source = ING_TAKE(plan->source);
	in->bad = (struct ing_seed_bad_records){.verb = VERB, .file = in->plan.name};
	atomic_store(&in->holders, 2);
	ing_buf_init(&in->line, 2 * ING_MAX_REQUEST_BYTES);
	in->fd = fcntl(plan->fd, F_DUPFD_CLOEXEC, 3);
	if (in->fd < 0 || pipe2(in->pipe_fd, O_CLOEXEC) != 0) {
		int rc = ing_error_sys(err, errno, "%s", plan->name);
		atomic_store(&in->holders, 1);
		release(in);
		return rc;
	}
	int failed = ing_thread_create(&in->thread, run_thread, in);
	if (failed != 0) {
		close(in->pipe_fd[0]);
		close(in->pipe_fd[1]);
		atomic_store(&in->holders, 1);
		release(in);
		return ing_error_sys(err, failed, "threads");
	}
	*ret = in;
	return 0;
}

int ing_run_input_fd(const struct ing_run_input *in)
{
	return in->pipe_fd[0];
}

bool ing_run_input_failed(const struct ing_run_input *in)
{
	return in != NULL && atomic_load(&in->failed);
}

struct ing_run_input_end ing_run_input_close(struct ing_run_input *in)
{
	struct ing_run_input_end end = {0};
	if (in == NULL)
		return end;
	close(in->pipe_fd[0]);
	if (atomic_load(&in->ended)) {
		pthread_join(in->thread, NULL);
		end = (struct ing_run_input_end){
			.bad = in->bad.count, .failed = atomic_load(&in->failed)};
	} else {
		pthread_detach(in->thread);
	}
	release(in);
	return end;
}
