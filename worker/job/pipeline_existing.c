/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that the tables may answer (existing.h). Loop thread; the callback is the look-up's.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "worker/job/existing.h"
#include "worker/job/kept.h"
#include "worker/job/pipeline_priv.h"
#include "worker/model/limits.h"
#include "worker/model/mask.h"
#include "worker/store/lookup/lookup.h"

static struct ing_request *parse_again(const struct ing_job *job)
{
	struct ing_request *request = NULL;
	struct ing_error err = {0};
	int rc = ing_request_parse(job->message->data, job->message->value_bytes, &request, &err);
	ing_must(rc == 0); /* the same bytes were parsed at intake */
	return request;
}

static uint64_t max_age_ms(const struct ing_job *job, const struct ing_request *request)
{
	return ing_existing_max_age_ms(
		&job->pipeline->conf.settings, request, (enum ing_lane)job->lane);
}

static void wait_for_host(struct ing_job *job, const struct ing_request *request)
{
	struct ing_decision d = ing_pipeline_start(job->pipeline, request, NULL, NULL);
	ing_must(d.step == ING_STEP_LINK); /* it was at intake, rules and all */
	ing_job_wait(job, d.url);
	free(d.url);
}

static void end_as_before(struct ing_job *job, const struct ing_earlier_result *earlier)
{
	ing_job_start_work(job);
	struct ing_work *w = job->work;
	struct ing_earlier_result *copy = ing_arena_alloc(&w->ar, sizeof(*copy));
	*copy = *earlier;
	copy->updated = ing_arena_strdup(&w->ar, earlier->updated);
	ing_rows_copy(&w->ar, &earlier->rows, &copy->rows);
	w->existing = copy;
	ing_job_end(job, ING_STATUS_EXISTING, NULL);
}

/* What is kept of a publication or a web page, and may not be fetched yet. */
static void on_kept(void *ctx, const struct ing_earlier_result *earlier)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	job->question = NULL;
	if (earlier != NULL) {
		end_as_before(job, earlier);
		return;
	}
	struct ing_request *request = parse_again(job);
	wait_for_host(job, request);
	ing_request_free(request);
}

static bool ask_kept(struct ing_job *job, const struct ing_request *request)
{
	struct ing_lookup_kept what;
	struct ing_arena ar;
	ing_arena_init(&ar);
	bool may_be_there = ing_job_kept_question(job->pipeline, request, &ar, &what);
	if (may_be_there) {
		ing_job_set_state(job, ING_JOB_LOOKING_UP);
		job->question = ing_lookup_kept(job->pipeline->stages.lookup, &what, on_kept, job);
	}
	ing_arena_done(&ar);
	return may_be_there;
}

static void on_answer(void *ctx, const struct ing_earlier_result *earlier)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	struct ing_request *request = parse_again(job);
	job->question = NULL;
	if (earlier != NULL && ing_existing_counts(earlier, max_age_ms(job, request)))
		end_as_before(job, earlier);
	else
		wait_for_host(job, request);
	ing_request_free(request);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_pipeline_looks_up(
	const struct ing_pipeline *p, const struct ing_request *request, enum ing_lane lane)
{
	return p->stages.lookup != NULL &&
	       (ing_job_asks_kept(request) ||
		       ing_existing_max_age_ms(&p->conf.settings, request, lane) > 0);
}

bool ing_job_look_up(struct ing_job *job, const struct ing_request *request)
{
	struct ing_lookup *lookup = job->pipeline->stages.lookup;
	if (!ing_pipeline_looks_up(job->pipeline, request, (enum ing_lane)job->lane))
		return false;
	if (ing_job_asks_kept(request))
		return ask_kept(job, request);
	struct ing_arena ar;
	ing_arena_init(&ar);
	const char *base_url = ing_mask_url(&ar, request->base_url); /* as its row has it */
	bool may_be_there = strlen(base_url) <= ING_MAX_BASE_URL_BYTES;
	if (may_be_there) {
		ing_job_set_state(job, ING_JOB_LOOKING_UP);
		job->question =
			ing_lookup_result(lookup, request->ingest_type, base_url, on_answer, job);
	}
	ing_arena_done(&ar);
	return may_be_there;
}
