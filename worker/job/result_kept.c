/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records are the objects of results, whole: what a message cannot hold is kept all the same. One of a page
 * that could not be had says so, and when that was.
 */
#include "worker/job/result_kept.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/data/json.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/publication.h"
#include "worker/job/publication_request.h"
#include "worker/job/result.h"
#include "worker/model/mask.h"
#include "worker/publication/freshness.h"

/* Written in one turn of the loop, in 15 ms. A record of nothing but backslashes has 14 MiB, a text of nothing but
 * control characters six times its length. */
#define MAX_RECORD_BYTES ((size_t)24 << 20)

/* Takes o; NULL for what is too long. */
static const char *write_record(struct ing_arena *ar, json_t *o)
{
	struct ing_buf out;
	ing_buf_init(&out, MAX_RECORD_BYTES);
	bool fits = ing_json_write(&out, o);
	const char *record = fits ? ing_arena_take(ar, ing_buf_steal(&out)) : NULL;
	ing_buf_done(&out);
	json_decref(o);
	return record;
}

static void fill_row(struct ing_job *job, struct ing_arena *ar, const char *url, json_t *record,
	struct ing_row_kept *ret)
{
	ret->url = ing_arena_strdup(ar, ing_mask_url(ar, url));
	ret->record_json = write_record(ar, record);
	ret->present = ret->record_json != NULL;
	ret->rules = ing_refetch_rules(&job->pipeline->conf.publication);
}

/* --- publications --- */

/* The page that it was asked by, if that was all. */
static const char *page_of(struct ing_work *w)
{
	struct ing_assembly_request asked;
	struct ing_error err = {0};
	if (ing_publication_request(w->request, &w->ar, &asked, &err) != 0 || asked.pmid != NULL ||
		asked.pmcid != NULL || asked.doi != NULL)
		return NULL;
	return asked.url;
}

static void fill_publication(struct ing_job *job, struct ing_arena *ar, struct ing_rows *ret)
{
	struct ing_work *w = job->work;
	const struct ing_request_publication *asked = &w->request->publication;
	json_t *record = ing_job_publication_json(job);
	if (record == NULL)
		return;
	fill_row(job, ar, page_of(w), record, &ret->publication);
	if (asked->parts != 0 || asked->resource != NULL)
		ret->publication.how = ING_KEEP_PARTIAL;
}

/* --- web pages --- */

static json_t *failed_page(const struct ing_work *w)
{
	const struct ing_visit_step *end = w->terminal;
	struct timespec now = ing_wall_now();
	char human[ING_ISO8601_BYTES];
	json_t *o = json_object();
	ing_format_iso8601(now, 3, human);
	ing_json_set_text(o, "startUrl", w->start);
	ing_json_set_text(o, "finalUrl", end->url);
	ing_json_set(
		o, "statusCode", end->answered ? json_integer(end->capture.http_status) : NULL);
	ing_json_set_number(o, "fetchTime", (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
	ing_json_set_text(o, "fetchTimeHuman", human);
	ing_json_set_number(o, "retryCounter", 0);
	ing_json_set_bool(o, "fetchException", ing_status_retry(w->status) == ING_STATUS_SOON);
	ing_json_set_bool(o, "empty", true);
	ing_json_set_bool(o, "usable", false);
	ing_json_set_bool(o, "final", false);
	ing_json_set_bool(o, "broken", true);
	return o;
}

/* Of one for which nothing was asked there is nothing to tell. */
static void fill_webpage(struct ing_job *job, struct ing_arena *ar, struct ing_rows *ret)
{
	struct ing_work *w = job->work;
	if (w->terminal == NULL)
		return;
	json_t *record = ing_result_webpage(w);
	if (record == NULL)
		record = failed_page(w);
	fill_row(job, ar, w->request->base_url, record, &ret->webpage);
}

/* -------------------------------------------------------------------------------------------- */

void ing_result_kept_rows(struct ing_job *job, struct ing_arena *ar, struct ing_rows *ret)
{
	if (job->work->existing != NULL)
		return;
	if (job->work->request->type == ING_INGEST_PUBLICATION)
		fill_publication(job, ar, ret);
	else if (job->work->request->type == ING_INGEST_WEBPAGE)
		fill_webpage(job, ar, ret);
}
