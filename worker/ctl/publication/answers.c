/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The thread that reads results is the only one that touches an answer until ing_publication_answers_end()
 * has joined it.
 */
#include "worker/ctl/publication/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/signals.h"
#include "common/data/json.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/publication/html.h"
#include "worker/ctl/publication/ids.h"
#include "worker/ctl/publication/text.h"
#include "worker/model/status.h"

#define MAX_LINE_BYTES ((size_t)64 << 20) /* twice of what is written as one */
#define MAX_PAGE_BYTES ((size_t)1 << 30)

struct slot {
	long at;      /* in the file of those that wait */
	size_t bytes; /* 0: none */
	bool come;
};

struct ing_publication_answers {
	struct ing_publication_answers_conf conf;
	int pipe[2]; /* -1: closed */
	pthread_t thread;
	bool started;
	FILE *in, *out, *waiting;
	struct slot *slots;
	size_t next;   /* the first that is not printed */
	json_t **all;  /* for a page with all */
	bool negative; /* one is empty or failed */
	bool broken;   /* cannot be written */
};

/* --- one result --- */

static bool is_empty(const struct ing_publication_answers *a, const json_t *result)
{
	const json_t *found = json_object_get(result, a->conf.pages ? "webpage" : "publication");
	return !ing_json_get_true(result, "hit") || !json_is_object(found) ||
	       ing_json_get_true(found, "empty");
}

static void say_why(const struct ing_publication_answers *a, size_t number, const json_t *result)
{
	const char *status = ing_json_get_text(result, "status");
	const char *words = ing_json_get_text(result, "error_message");
	if (words == NULL && ing_json_get_true(result, "hit"))
		words = "it is empty";
	fprintf(stderr, "ingestctl %s: ", a->conf.verb);
	ing_ctl_print_harmless(a->conf.names[number]);
	fprintf(stderr, ": %s%s", status != NULL ? status : "no result", words != NULL ? ": " : "");
	ing_ctl_print_harmless(words != NULL ? words : "");
	fputc('\n', stderr);
}

/* In place of a publication that there is none of. */
static json_t *error_object(const char *name, const json_t *result)
{
	json_t *o = json_object();
	ing_json_set_text(o, "error", result != NULL ? ing_json_get_text(result, "status") : NULL);
	ing_json_set_text(o, "error_message",
		result != NULL ? ing_json_get_text(result, "error_message") : NULL);
	ing_json_set_text(o, "id", name);
	return o;
}

/* A new reference. */
static json_t *object_of(
	const struct ing_publication_answers *a, size_t number, const json_t *result)
{
	json_t *found = json_object_get(result, a->conf.pages ? "webpage" : "publication");
	return json_is_object(found) ? json_incref(found)
				     : error_object(a->conf.names[number], result);
}

static void format(const struct ing_publication_answers *a, json_t *object, struct ing_buf *out)
{
	if (a->conf.format == ING_ANSWERS_JSON) {
		ing_json_add(out, object);
		ing_buf_add_char(out, '\n');
	} else if (a->conf.pages) {
		ing_webpage_text(&object, 1, out);
	} else {
		ing_publication_text(&object, 1, out);
	}
}

/* --- in order --- */

static void put_out(struct ing_publication_answers *a, const char *text, size_t bytes)
{
	if (a->conf.format == ING_ANSWERS_PLAIN && a->next > 0)
		fputs(ING_PUBLICATION_TEXT_DIVIDER, a->out);
	fwrite(text, 1, bytes, a->out);
	a->next++;
}

static void let_wait(
	struct ing_publication_answers *a, struct slot *slot, const char *text, size_t bytes)
{
	fseek(a->waiting, 0, SEEK_END);
	slot->at = ftell(a->waiting);
	slot->bytes = bytes;
	if (fwrite(text, 1, bytes, a->waiting) != bytes || fflush(a->waiting) != 0)
		a->broken = true;
}

/* Those that have waited for the one before. */
static void put_out_waiting(struct ing_publication_answers *a)
{
	while (a->next < a->conf.count && a->slots[a->next].bytes > 0 && !a->broken) {
		struct slot *slot = &a->slots[a->next];
		char *text = ing_alloc(slot->bytes + 1);
		if (pread(fileno(a->waiting), text, slot->bytes, slot->at) == (ssize_t)slot->bytes)
			put_out(a, text, slot->bytes);
		else
			a->broken = true;
		free(text);
		slot->bytes = 0;
	}
}

static void deliver(struct ing_publication_answers *a, size_t number, json_t *object)
{
	if (a->conf.format == ING_ANSWERS_HTML) {
		a->all[number] = json_incref(object);
		return;
	}
	struct ing_buf text;
	ing_buf_init(&text, MAX_PAGE_BYTES);
	format(a, object, &text);
	if (number == a->next) {
		put_out(a, ing_buf_str(&text), text.len);
		put_out_waiting(a);
		fflush(a->out);
	} else {
		let_wait(a, &a->slots[number], ing_buf_str(&text), text.len);
	}
	ing_buf_done(&text);
}

static void take(struct ing_publication_answers *a, size_t number, const json_t *result)
{
	bool negative = result == NULL || is_empty(a, result);
	if (negative && result != NULL)
		say_why(a, number, result);
	a->negative = a->negative || negative;
	json_t *object = object_of(a, number, result);
	a->slots[number].come = true;
	deliver(a, number, object);
	json_decref(object);
}

static void take_line(struct ing_publication_answers *a, const struct ing_buf *line)
{
	json_t *result =
		line->failed ? NULL
			     : ing_json_parse(ing_buf_str(line), line->len, &ing_json_own, NULL);
	const json_t *number = json_object_get(json_object_get(result, "request"), ING_ASK_NUMBER);
	size_t n = json_is_integer(number) ? (size_t)json_integer_value(number) : a->conf.count;
	if (n < a->conf.count && !a->slots[n].come)
		take(a, n, result);
	json_decref(result);
}

static void *run(void *arg)
{
	struct ing_publication_answers *a = arg;
	struct ing_buf line;
	ing_buf_init(&line, MAX_LINE_BYTES);
	while (ing_ctl_read_line(a->in, &line)) {
		take_line(a, &line);
		if (a->broken || ferror(a->out))
			break;
	}
	ing_buf_done(&line);
	fclose(ING_TAKE(a->in)); /* whoever writes gets EPIPE */
	return NULL;
}

/* --- the end --- */

static void print_page(struct ing_publication_answers *a)
{
	struct ing_buf page;
	ing_buf_init(&page, MAX_PAGE_BYTES);
	if (a->conf.pages)
		ing_webpage_html(a->all, a->conf.count, &page);
	else
		ing_publication_html(a->all, a->conf.count, &page);
	if (page.failed)
		(void)ing_ctl_fail(
			ING_CTL_NEGATIVE, a->conf.verb, "the page is over 1 GiB: it is cut");
	a->negative = a->negative || page.failed;
	fwrite(ing_buf_str(&page), 1, page.len, a->out);
	ing_buf_done(&page);
}

static bool flush_out(struct ing_publication_answers *a)
{
	bool good = !a->broken && fflush(a->out) == 0 && !ferror(a->out);
	if (!good)
		(void)ing_ctl_fail(ING_CTL_ENVIRONMENT, a->conf.verb, "%s: cannot be written",
			a->conf.path != NULL ? a->conf.path : "standard output");
	return good;
}

static int open_files(struct ing_publication_answers *a, struct ing_error *err)
{
	if (pipe2(a->pipe, O_CLOEXEC) != 0)
		return ing_error_sys(err, errno, "pipe");
	a->in = fdopen(a->pipe[0], "r");
	ing_must(a->in != NULL);
	a->waiting = tmpfile();
	if (a->waiting == NULL)
		return ing_error_sys(err, errno, "temporary file");
	a->out = a->conf.path != NULL ? fopen(a->conf.path, "we") : stdout;
	return a->out != NULL ? 0 : ing_error_sys(err, errno, "%s", a->conf.path);
}

/* -------------------------------------------------------------------------------------------- */

int ing_publication_answers_new(const struct ing_publication_answers_conf *conf,
	struct ing_publication_answers **ret, struct ing_error *err)
{
	struct ing_publication_answers *a = ing_alloc(sizeof(*a));
	a->conf = *conf;
	a->pipe[0] = a->pipe[1] = -1;
	a->slots = ing_alloc((conf->count + 1) * sizeof(*a->slots));
	a->all = ing_alloc((conf->count + 1) * sizeof(*a->all));
	int rc = open_files(a, err);
	if (rc == 0) {
		int errnum = ing_thread_create(&a->thread, run, a);
		a->started = errnum == 0;
		rc = errnum == 0 ? 0 : ing_error_sys(err, errnum, "thread");
	}
	if (rc != 0)
		ing_publication_answers_free(a);
	else
		*ret = a;
	return rc;
}

int ing_publication_answers_fd(const struct ing_publication_answers *a)
{
	return a->pipe[1];
}

int ing_publication_answers_end(struct ing_publication_answers *a)
{
	close(a->pipe[1]);
	a->pipe[1] = -1;
	pthread_join(a->thread, NULL);
	a->started = false;
	size_t missing = 0;
	for (size_t i = 0; i < a->conf.count && !a->broken; i++) {
		if (a->slots[i].come)
			continue;
		missing++;
		take(a, i, NULL);
	}
	if (missing > 0)
		fprintf(stderr, "ingestctl %s: %zu of %zu have no result\n", a->conf.verb, missing,
			a->conf.count);
	if (a->conf.format == ING_ANSWERS_HTML)
		print_page(a);
	if (!flush_out(a))
		return ING_CTL_ENVIRONMENT;
	return a->negative ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

void ing_publication_answers_free(struct ing_publication_answers *a)
{
	if (a == NULL)
		return;
	if (a->pipe[1] >= 0)
		close(a->pipe[1]);
	if (a->started)
		pthread_join(a->thread, NULL);
	if (a->in != NULL)
		fclose(a->in);
	if (a->waiting != NULL)
		fclose(a->waiting);
	if (a->out != NULL && a->out != stdout)
		fclose(a->out);
	for (size_t i = 0; i < a->conf.count; i++)
		json_decref(a->all[i]);
	free(a->all);
	free(a->slots);
	free(a);
}
