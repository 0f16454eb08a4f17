/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One list from its first request to its last answer.
 */
#include "worker/ctl/publication/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/descriptors.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/publication/ids.h"
#include "worker/ctl/run/work.h"

/* Somebody waits: as with `ingestctl run`, not for hours. */
#define MAX_HOLD_SET "gate.max_hold_ms=60000"
#define SETS 6

struct ask {
	const struct ing_publication_ask_options *o;
	struct ing_ask_ids ids;
	struct ing_publication_answers *answers;
	char temp_dir[ING_CTL_TEMP_BYTES];
	char *spool_dir;
	struct ing_conf *conf;
	struct ing_run_work work;
	int code; /* of the answers */
};

/* A worker with this configuration may be running: its leases are not ours. */
static char *own_instance(void)
{
	char host[65] = "";
	struct ing_buf name;
	if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
		memcpy(host, "localhost", sizeof("localhost"));
	ing_buf_init(&name, 256);
	ing_buf_printf(&name, "%s.ingestctl-%d", host, (int)getpid());
	char *set = ing_ctl_quoted_set("instance", ing_buf_str(&name));
	ing_buf_done(&name);
	return set;
}

static int load_conf(struct ask *a, const struct ing_ctl *ctl)
{
	char max_hold[] = MAX_HOLD_SET;
	char no_bucket[] = "s3.endpoint=\"\"";
	char no_store[] = "store.dir=\"\"";
	struct ing_buf spool;
	ing_buf_init(&spool, 65536);
	ing_buf_printf(&spool, "%s/.spool", a->temp_dir);
	a->spool_dir = ing_buf_steal(&spool);
	const char *warc_dir = a->o->warc_dir != NULL ? a->o->warc_dir : "";
	char *first[SETS + 1] = {ing_ctl_quoted_set("warc.dir", warc_dir),
		ing_ctl_quoted_set("spool.dir", a->spool_dir), max_hold, no_bucket, no_store,
		own_instance()};
	int code = ing_ctl_conf_over(ctl, first, &a->conf);
	free(first[0]);
	free(first[1]);
	free(first[SETS - 1]);
	if (code == ING_CTL_OK && a->o->max_wait_s >= 0) {
		a->conf->gate.max_wait_ms = (unsigned)a->o->max_wait_s * 1000;
		a->conf->gate.max_hold_ms = 0;
	}
	return code;
}

static void warn_of_contact(const struct ask *a)
{
	if (!ing_conf_has_contact(a->conf->fetch.user_agent))
		(void)ing_ctl_fail(ING_CTL_OK, a->o->verb,
			"warning: fetch.user_agent, \"%s\", contains no URL or mail address of the "
			"operator",
			a->conf->fetch.user_agent);
}

static int open_answers(struct ask *a, struct ing_error *err)
{
	const struct ing_publication_answers_conf conf = {
		.verb = a->o->verb,
		.pages = a->o->pages,
		.format = a->o->format,
		.path = a->o->path,
		.names = a->ids.names,
		.count = a->ids.count,
	};
	return ing_publication_answers_new(&conf, &a->answers, err);
}

static void begin_work(struct ask *a)
{
	bool shown = a->o->path == NULL && isatty(STDOUT_FILENO) != 0;
	a->work = (struct ing_run_work){
		.conf = a->conf,
		.verb = a->o->verb,
		.input_name = "requests",
		.input_fd = a->ids.fd,
		.results_fd = ing_publication_answers_fd(a->answers),
		.quiet = shown || a->ids.count == 1,
		.keeps = true,
		.counts.lines = a->ids.count,
		.temp_dirs = {a->spool_dir, a->temp_dir},
	};
}

/* Whatever happens the answers that have come are printed. */
static int work(struct ask *a)
{
	struct ing_error err = {0};
	bool idle = true;
	int rc = open_answers(a, &err);
	if (rc != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), a->o->verb, "%s", err.msg);
	begin_work(a);
	rc = ing_run_work_open(&a->work, &err);
	if (rc == 0)
		idle = ing_run_work_do(&a->work);
	if (rc == 0 && !a->work.quiet)
		ing_run_progress_summary(&a->work.progress);
	if (!idle)
		ing_run_work_leave(&a->work, ING_CTL_INTERRUPTED);
	ing_run_work_close(&a->work);
	if (rc != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), a->o->verb, "%s", err.msg);
	a->code = ing_publication_answers_end(a->answers);
	if (a->work.failed && a->code != ING_CTL_ENVIRONMENT)
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, a->o->verb, "%s", a->work.error.msg);
	return a->work.interrupted ? ING_CTL_INTERRUPTED : a->code;
}

static int ask_all(struct ask *a, const struct ing_ctl *ctl)
{
	int code = ing_ctl_temp_dir(a->o->verb, a->temp_dir);
	if (code == ING_CTL_OK)
		code = load_conf(a, ctl);
	if (code != ING_CTL_OK)
		return code;
	ing_log_init(ING_MIN(a->conf->log_level, ING_LOG_WARNING));
	ing_descriptors_reserve();
	warn_of_contact(a);
	return work(a);
}

/* -------------------------------------------------------------------------------------------- */

int ing_publication_ask(const struct ing_ctl *ctl, const struct ing_publication_ask_options *o,
	char *const *words, size_t count)
{
	struct ask a = {.o = o,
		.ids = {.verb = o->verb, .pages = o->pages, .members = o->members, .fd = -1}};
	int code = ING_CTL_USAGE;
	if (o->warc_dir != NULL && !ing_utf8_valid(o->warc_dir, strlen(o->warc_dir)))
		code = ing_ctl_fail(ING_CTL_USAGE, o->verb, "--warc: the name is not valid UTF-8");
	else if (ing_ask_ids_read(&a.ids, words, count))
		code = a.ids.count > 0 ? ask_all(&a, ctl) : ING_CTL_OK;
	if (code == ING_CTL_OK && a.ids.bad > 0)
		code = ING_CTL_NEGATIVE;
	ing_publication_answers_free(a.answers);
	ing_ask_ids_done(&a.ids);
	ing_conf_free(a.conf);
	if (a.spool_dir != NULL)
		rmdir(a.spool_dir);
	if (a.temp_dir[0] != '\0')
		rmdir(a.temp_dir);
	free(a.spool_dir);
	return code;
}
